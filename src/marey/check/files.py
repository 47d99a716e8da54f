"""Check files and folders: every clip in them, then all clips together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from marey.check.across_clips import ClipDigest, compare_clips, digest_clip
from marey.check.check import check
from marey.check.report import CheckReport, Finding
from marey.check.settings import CheckSettings
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.errors import MareyError, UnreadableFile, collect_warnings
from marey.io.files import MARKER_SUFFIXES, MOTION_SUFFIXES, split_name
from marey.io.folder import CLIP_SUFFIXES, describe_other, walk_files
from marey.io.loading import clip_names, load_markers, load_motion
from marey.io.raw import CUT_OFF
from marey.io.settings import LoadSettings

StrPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, eq=False)
class CheckedFile:
    """The report on a clip of a file.

    path : the file.
    clip : name of the clip if the file has several, else "".
    """

    path: str
    clip: str
    report: CheckReport

    @property
    def label(self) -> str:
        """Name for reports: the file, and the clip if the file has several."""
        return f"{self.path} ({self.clip})" if self.clip else self.path

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"file": self.path, **({"clip": self.clip} if self.clip else {}), **self.report.to_dict()}


@operation(CheckSettings)
def check_files(
    paths: Iterable[StrPath],
    *,
    reading: LoadSettings | None = None,
    run: Callable[..., Any] = map,
    progress: Callable[[float], None] | None = None,
    settings: CheckSettings,
) -> tuple[CheckedFile, ...]:
    """Check files, and all files in folders, like `check_clips`; a file that cannot be read is reported as a finding.

    Parameters
    ----------
    paths : files and folders.
    reading : how to read them.
    run : runner, such as `marey.store.processes()`; results do not depend on it.
    progress : called with the fraction done, from 0 to 1.

    Examples
    --------
    >>> from marey.check import check_files
    >>> marey.save(walk, "walk.bvh")
    >>> [(file.label, file.report.kinds) for file in check_files(["walk.bvh"])]
    [('walk.bvh', ())]
    """
    files = list_clip_files(paths)
    found: list[tuple[CheckedFile, ClipDigest | None]] = []
    for i, clips in enumerate(run(partial(_check_file, reading=reading or LoadSettings()), files), start=1):
        found += clips
        if progress is not None:
            progress(i / len(files))
    reports = compare_clips([file.report for file, _ in found], [digest for _, digest in found])
    return tuple(
        CheckedFile(file.path, file.clip, report.select(settings.severity))
        for (file, _), report in zip(found, reports, strict=True)
    )


def list_clip_files(paths: Iterable[StrPath]) -> list[str]:
    """Return the given files, and the clips in the given folders, without built results; each once."""
    out: dict[str, None] = {}
    for path in paths:
        name = os.fspath(path)
        if not os.path.isdir(name):
            out[name] = None
            continue
        for folder, names in walk_files(name):
            for each in names:
                file = os.fspath(folder / each)
                suffix = os.path.splitext(each)[1].lower()
                if suffix in (*CLIP_SUFFIXES, *MARKER_SUFFIXES) and describe_other(file) is None:
                    out[file] = None
    if not out:
        raise UnreadableFile("has no motion files", path=os.fspath(next(iter(paths), "")))
    return list(out)


def _check_file(path: str, reading: LoadSettings) -> list[tuple[CheckedFile, ClipDigest | None]]:
    """Check every clip of a file. At module level, so that worker processes can call it."""
    known = (*MOTION_SUFFIXES, *MARKER_SUFFIXES)
    if not os.path.exists(path):
        return _report_unreadable(path, "no such file", "check its name")
    if split_name(path)[1] not in known:
        return _report_unreadable(path, "not a motion file", f"supported formats are {', '.join(known)}")
    try:
        names = clip_names(path) if reading.clip is None else ()
        clips = [(name, LoadSettings(settings=reading, clip=name)) for name in names] if len(names) > 1 else []
        return [_check_clip(path, name, how) for name, how in clips or [("", reading)]]
    except MareyError as error:
        return _report_unreadable(path, f"cannot be read: {error.message}", error.remedy or "export it again")


def _report_unreadable(path: str, message: str, remedy: str) -> list[tuple[CheckedFile, ClipDigest | None]]:
    finding = Finding("unreadable", "severe", 0, 0, 0.0, "", message, remedy)
    return [(CheckedFile(path, "", CheckReport(split_name(path)[0], 0, 0.0, (finding,))), None)]


def _check_clip(path: str, name: str, how: LoadSettings) -> tuple[CheckedFile, ClipDigest | None]:
    with collect_warnings() as caught:
        value = _read(path, how)
    report = check(value)
    texts = [text.removeprefix(f"{path}: ") for text in caught]
    is_ours = isinstance(value, Motion) and bool(value.source.provenance)
    known = [reference for kind, reference in (("unit", "`unit="), ("axis", "`up=")) if is_ours or kind in report.kinds]
    doubts = tuple(
        Finding("file", severity, 0, len(value), 0.0, "", text, "see whether the file was exported completely")
        for text in texts
        for severity in ["severe" if CUT_OFF in text else "mild"]
        if not any(reference in text for reference in known)
    )
    file = CheckedFile(path, name, report.extend(doubts))
    return file, digest_clip(value, file.label) if isinstance(value, Motion) else None


def _read(path: str, how: LoadSettings) -> Motion | Markers:
    if split_name(path)[1] in MARKER_SUFFIXES:
        return load_markers(path, unit=how.unit, up=how.up)
    return load_motion(path, settings=how)
