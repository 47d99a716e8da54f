"""Summaries of the clips in a folder: what each contains, stored in the index, so that it can be found quickly."""

from __future__ import annotations

import base64
import csv
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from marey.check.across_clips import ClipDigest, compare_clips, digest_clip
from marey.check.check import check_subject
from marey.check.report import KINDS, CheckReport, Finding
from marey.check.takes import KeyPoses
from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion
from marey.core.settings import Settings, operation, option
from marey.errors import MareyError, ParseError, UnknownName, UnreadableFile, plural, similar, warn_user
from marey.io.files import read_bytes
from marey.measure.subject import Subject
from marey.store.building import TRIES, ClipJob, Progress, SetSource, SkippedFile, list_jobs
from marey.store.cache import BatchWriter, Cache, close_results
from marey.store.index import Index
from marey.store.labels import strip_suffix
from marey.store.prepare import Job, has_changed, load_clip, run_job
from marey.store.settings import OpenSettings

# Increase this whenever the same clip would have a different summary.
_VERSION = 2
_MAX_TABLE = 2**26


@dataclass(frozen=True, slots=True, eq=False)
class ClipSummary:
    """What a clip contains.

    Attributes
    ----------
    name, file : name of the clip, and its file relative to the folder.
    format, fps : format of the file, and its frame rate.
    n_frames, duration : length in frames and in seconds.
    skeleton, n_joints, stature : hash of the skeleton, its number of joints, and the height of the body in meters.
    labels : seconds of each label.
    contacts : fraction of the frames in which a foot is planted; None without feet.
    speed, top_speed : mean and 95th percentile of the speed of the hips on the floor, m/s.
    distance, turn : length of the path on the floor in meters, and how far the body turns to the left, radians.
    stride_rate : strides per second, 0 if it does not walk or run.
    report : what `marey.check` finds, with duplicates in the same folder.
    poses : (16, J, 3) poses at equal times, relative to the hips, meters, for thumbnails.
    parents, roles : parent of each joint, -1 for the root, and the joint of each role, to draw the poses.

    Examples
    --------
    >>> marey.save(walk, "walk.bvh")
    >>> summary = marey.MotionSet.open(".").summarize()[0]
    >>> summary.name, summary.duration, round(summary.speed, 1)  # seconds, m/s
    ('walk', 4.0, 1.3)
    """

    name: str
    file: str
    format: str
    fps: float
    n_frames: int
    duration: float
    skeleton: str
    n_joints: int
    stature: float
    labels: Mapping[str, float]
    contacts: float | None
    speed: float
    top_speed: float
    distance: float
    turn: float
    stride_rate: float
    report: CheckReport
    poses: Floats
    parents: tuple[int, ...]
    roles: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, without the poses."""
        left_out = ("report", "poses", "parents", "roles")
        out = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in left_out}
        out["labels"] = dict(self.labels)
        return {**out, "findings": [finding.to_dict() for finding in self.report]}


class Summaries(NamedTuple):
    """The summaries of the clips in a folder, and the files that cannot be read (`skipped`)."""

    clips: tuple[ClipSummary, ...]
    skipped: tuple[SkippedFile, ...]


def summarize_clips(source: SetSource, run: Callable[..., Any], progress: Progress | None) -> Summaries:
    """Summarize all clips of a set; see `MotionSet.summarize`."""
    # Summaries describe the files, before the set resamples, mirrors or retargets them.
    plain = OpenSettings(settings=source.settings, fps=30.0, mirrored=False, retarget=False)
    source = replace(source, settings=plain)
    for _ in range(TRIES):
        named, skipped = list_jobs(source)
        keys = {each.job.key: _key(each.job.key) for each in named}
        known = source.cache.index.summaries(keys.values())
        missing = {each.job.key: each for each in named if keys[each.job.key] not in known}
        if missing:
            source.cache.index.make()  # before the work, which would be lost if it could not be stored
        changed = _summarize_missing(source.cache.index, missing, len(named), run, progress)
        if not changed:
            break
    else:
        raise UnreadableFile("keeps changing while it is being read; try again later", path=changed[0])
    if progress is not None:
        progress(1.0)
    return _collect(source, named, skipped, source.cache.index.summaries(keys.values()))


def _summarize_missing(
    index: Index, missing: Mapping[str, ClipJob], n: int, run: Callable[..., Any], progress: Progress | None
) -> list[str]:
    """Summarize clips that are not in the index yet. Return the files that changed meanwhile.

    Summaries are written here, in batches: workers may be on other machines, and each transaction takes milliseconds.
    """
    changed = []
    outcomes = run(summarize_clip, [each.job for each in missing.values()])
    with close_results(outcomes), BatchWriter(index.put_summaries) as writer:
        for k, (each, content) in enumerate(zip(missing.values(), outcomes, strict=True), start=1):
            if content is None:
                changed.append(each.path)
            else:
                writer.add(_key(each.job.key), content)
            if progress is not None:
                progress((n - len(missing) + k) / n)
    return changed


def _key(clip: str) -> str:
    return Cache.key("summary", _VERSION, clip)


def summarize_clip(job: Job) -> dict[str, Any] | None:
    """Load a clip and return its summary, or the reason why it cannot be loaded; None if its file has changed."""
    made: list[dict[str, Any]] = []

    def put(content: dict[str, Any] | None, reason: str | None) -> None:
        made.append({"reason": reason} if content is None else content)

    run_job(job.key, partial(_summarize, job), put, partial(has_changed, job))
    return made[0] if made else None


def _summarize(job: Job) -> dict[str, Any]:
    motion = load_clip(job)
    subject = Subject(motion)
    report = check_subject(subject)
    return {
        "facts": _collect_facts(motion, subject),
        "report": report.to_dict(),
        "digest": _pack_digest(digest_clip(motion)),
        "body": {"parents": motion.skeleton.parents.tolist(), "roles": dict(motion.skeleton.roles.items())},
    }


def _collect_facts(motion: Motion, subject: Subject) -> dict[str, Any]:
    from marey.io.unit_and_up_axis import stature
    from marey.measure.gait import median_stride_rate

    steps = np.diff(subject.travel, axis=0)
    steps = np.sqrt(steps[:, 0] * steps[:, 0] + steps[:, 1] * steps[:, 1])
    body = motion.skeleton
    labels: dict[str, float] = {}
    for label in motion.labels:
        labels[label.name] = labels.get(label.name, 0.0) + (label.stop - label.start) / motion.fps
    contacts: float | None = None
    with suppress(MareyError):  # no feet
        contacts = float(subject.is_standing.mean())
    rate = median_stride_rate(subject.strides, motion.fps)
    return {
        "format": motion.source.format,
        "fps": motion.fps,
        "n_frames": len(motion),
        "duration": motion.duration,
        "n_joints": len(body),
        "stature": float(stature(body) or 0.0),
        "labels": labels,
        "contacts": contacts,
        "speed": float(steps.sum() / motion.duration) if motion.duration > 0.0 else 0.0,
        "top_speed": _find_percentile(steps, 95.0) * motion.fps,
        "distance": float(steps.sum()),
        "turn": _measure_turn(motion),
        "stride_rate": 0.0 if rate is None else float(rate),
    }


def _find_percentile(values: Floats, percent: float) -> float:
    """Return a percentile like `np.percentile`, which takes a tenth of a millisecond; 0 without values."""
    if not len(values):
        return 0.0
    ordered, at = np.sort(values), percent / 100.0 * (len(values) - 1)
    low = int(at)
    a, b = float(ordered[low]), float(ordered[min(low + 1, len(values) - 1)])
    return a + (at - low) * (b - a)


def _measure_turn(motion: Motion) -> float:
    """Return by how much the body turns to the left from the first frame to the last, in radians."""
    from marey.core.placement import find_facing

    try:
        heading = find_facing(motion.skeleton, motion.world().positions)
    except MareyError:  # no sides
        return 0.0
    return float(heading[-1] - heading[0])


def _pack_digest(digest: ClipDigest) -> dict[str, Any]:
    out = {each.name: getattr(digest, each.name) for each in fields(digest)}
    keys = digest.key_poses
    return out | {
        "poses": _pack_array(digest.poses),
        "key_poses": [_pack_array(keys.times), _pack_array(keys.rotations)],
    }


def _unpack_digest(content: Mapping[str, Any], name: str) -> ClipDigest:
    arrays = {
        "poses": _unpack_array(content["poses"]),
        "key_poses": KeyPoses(*map(_unpack_array, content["key_poses"])),
    }
    return ClipDigest(**{**content, **arrays, "name": name})


def _pack_array(values: Floats) -> dict[str, Any]:
    data = np.ascontiguousarray(values, "<f4").tobytes()
    return {"shape": values.shape, "data": base64.b64encode(data).decode()}


def _unpack_array(content: Mapping[str, Any]) -> Floats:
    flat = np.frombuffer(base64.b64decode(content["data"]), "<f4").astype(np.float64)
    return set_readonly(flat.reshape(content["shape"]))


def _collect(
    source: SetSource, named: Sequence[ClipJob], unread: list[SkippedFile], stored: Mapping[str, dict[str, Any]]
) -> Summaries:
    skipped = list(unread)
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    keys = []
    for name, path, job in named:
        content = stored.get(_key(job.key))
        if content is None:
            raise UnreadableFile(
                "the cache was deleted while clips were being read; try again", path=source.cache.folder
            )
        if "reason" in content:
            skipped.append(SkippedFile(name, content["reason"]))
            continue
        found[name] = path, content
        keys.append((name, job.key))
    contents = {name: content for name, (_, content) in found.items()}
    reports = {name: content["report"] for name, content in contents.items()}
    reports |= _compare(source.cache.index, keys, contents)
    clips = [
        ClipSummary(
            name=name,
            file=Path(os.path.relpath(path, source.folder)).as_posix(),
            skeleton=content["digest"]["skeleton"],
            report=_read_report(name, reports[name]),
            poses=_unpack_array(content["digest"]["poses"]),
            parents=tuple(content["body"]["parents"]),
            roles=content["body"]["roles"],
            **content["facts"],
        )
        for name, (path, content) in found.items()
    ]
    return Summaries(tuple(clips), tuple(skipped))


def _compare(
    index: Index, keys: Sequence[tuple[str, str]], contents: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Compare all clips, and return the reports that got new findings, keyed by clip name.

    The reports are stored in the index, because comparing the clips of a large library takes long.
    """
    key = Cache.key("compared", _VERSION, [list(each) for each in keys])
    known = index.summaries([key])
    if key not in known:
        reports = [_read_report(name, content["report"]) for name, content in contents.items()]
        digests = [_unpack_digest(content["digest"], name) for name, content in contents.items()]
        compared = zip(reports, compare_clips(reports, digests), strict=True)
        known[key] = {after.name: after.to_dict() for before, after in compared if after is not before}
        index.put_summaries(known)
    return known[key]


def _read_report(name: str, content: Mapping[str, Any]) -> CheckReport:
    findings = tuple(Finding(**{**each, "joints": tuple(each["joints"])}) for each in content["findings"])
    return CheckReport(name, content["frames"], content["fps"], findings)


# Searching ----------------------------------------------------------------------------------------------------


class ClipSearchSettings(Settings):
    """Settings of `marey.store.search_clips`."""

    words: str = option("", "Words that must all occur in the clip's name, labels or description.", label="Search text")
    label: str = option("", "Only clips with this label.", label="Label")
    min_duration: float | None = option(None, "Shortest duration.", unit="s", min=0)
    max_duration: float | None = option(None, "Longest duration.", unit="s", min=0)
    min_speed: float | None = option(None, "Lowest mean speed.", unit="m/s", min=0)
    max_speed: float | None = option(None, "Highest mean speed.", unit="m/s", min=0)
    min_turn: float | None = option(None, "Smallest turn from start to end, left or right.", unit="rad", min=0)
    finding: str = option("", f"Only clips with this finding: any, none, {', '.join(KINDS)}.", label="Finding")
    order: Literal["name", "duration", "speed", "distance", "turn"] = option(
        "name", "Sort the clips by this. Numbers are sorted from high to low.", label="Order"
    )


@operation(ClipSearchSettings)
def search_clips(
    clips: Iterable[ClipSummary], descriptions: Mapping[str, str] | None = None, *, settings: ClipSearchSettings
) -> tuple[ClipSummary, ...]:
    """Select clips by their summaries.

    Parameters
    ----------
    clips : summaries, from `MotionSet.summarize`.
    descriptions : a text for each file or name; see `read_descriptions`.

    Examples
    --------
    >>> from pathlib import Path
    >>> Path("clips").mkdir()
    >>> for clip in (walk, run):
    ...     marey.save(clip, f"clips/{clip.name}.bvh")
    >>> clips = marey.MotionSet.open("clips").summarize()
    >>> [clip.name for clip in marey.store.search_clips(clips, min_speed=2.0)]
    ['run']
    """
    texts = descriptions or {}
    wanted = settings.words.casefold().split()
    listed = tuple(clips)
    if settings.label and not any(settings.label in clip.labels for clip in listed):
        known = sorted({label for clip in listed for label in clip.labels})
        raise UnknownName(
            f"no clip has the label {settings.label!r}{similar(settings.label, known)}", parameter="label"
        )
    if settings.finding not in ("", "any", "none", *KINDS):
        near = similar(settings.finding, ("any", "none", *KINDS))
        raise UnknownName(f"no clip can have the finding {settings.finding!r}{near}", parameter="finding")
    found = [clip for clip in listed if _matches(clip, settings)]
    unknown = [key for key in texts if not any(key in _keys_of(clip) for clip in listed)]
    if unknown:
        warn_user(f"{plural(len(unknown), 'description')} matched no clip or file, such as that of {unknown[0]!r}")
    if wanted:
        found = [clip for clip in found if all(word in _text_of(clip, texts) for word in wanted)]
    if settings.order == "name":
        return tuple(sorted(found, key=lambda clip: clip.name))
    return tuple(sorted(found, key=lambda clip: (-abs(getattr(clip, settings.order)), clip.name)))


def _matches(clip: ClipSummary, settings: ClipSearchSettings) -> bool:
    ranges = (
        (clip.duration, settings.min_duration, settings.max_duration),
        (clip.speed, settings.min_speed, settings.max_speed),
        (abs(clip.turn), settings.min_turn, None),
    )
    within = all((low is None or value >= low) and (high is None or value <= high) for value, low, high in ranges)
    kinds = clip.report.kinds
    wanted = settings.finding
    has_finding = not wanted or (bool(kinds) if wanted == "any" else not kinds if wanted == "none" else wanted in kinds)
    return within and has_finding and (not settings.label or settings.label in clip.labels)


def _keys_of(clip: ClipSummary) -> tuple[str, ...]:
    """Return the keys under which a table may describe a clip."""
    return clip.file, clip.name, strip_suffix(clip.file)


def _text_of(clip: ClipSummary, descriptions: Mapping[str, str]) -> str:
    described = (descriptions.get(key, "") for key in _keys_of(clip))
    return " ".join((clip.name, clip.file, *clip.labels, *described)).casefold()


def read_descriptions(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read a CSV file with the columns ``file`` and ``description``; return the description of each file.

    `file` is the path of a file relative to the folder of the clips, with or without its suffix, or a clip's name.

    Examples
    --------
    >>> import csv
    >>> with open("texts.csv", "w", newline="") as file:
    ...     csv.writer(file).writerows([("file", "description"), ("walk.bvh", "a person walks")])
    >>> marey.store.read_descriptions("texts.csv")
    {'walk.bvh': 'a person walks'}
    """
    data = read_bytes(path)
    if len(data) > _MAX_TABLE:
        raise ParseError(f"has {len(data):,} bytes (maximum {_MAX_TABLE:,})", path=path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(f"is not UTF-8 text ({error.reason})", path=path) from None
    rows = csv.reader(io.StringIO(text))
    try:
        heading = [each.strip().lower() for each in next(rows, [])]
        missing = [each for each in ("file", "description") if each not in heading]
        if missing:
            raise ParseError(
                f"expected the columns 'file' and 'description'; {missing[0]!r} is missing", path=path, line=1
            )
        at, what = heading.index("file"), heading.index("description")
        out: dict[str, str] = {}
        for row in rows:
            if not any(each.strip() for each in row):
                continue
            if len(row) <= max(at, what):
                raise ParseError(f"expected {len(heading)} columns, got {len(row)}", path=path, line=rows.line_num)
            out[row[at].strip()] = row[what].strip()
    except csv.Error as error:
        raise ParseError(f"is not a CSV file ({error})", path=path, line=rows.line_num) from None
    if not out:
        raise ParseError("has no descriptions", path=path)
    return out
