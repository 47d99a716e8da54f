"""Check several clips together: the findings of each clip, clips that are the same motion, and wrong frame rates."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from marey.check.check import check
from marey.check.report import CheckReport, Finding
from marey.check.settings import CheckSettings
from marey.check.takes import KeyPoses, find_key_poses, find_same_takes
from marey.core.arrays import Floats
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.errors import format_list, warn_user, word_parameters

# Number of poses of a clip that are compared with those of other clips, and number of poses that are hashed.
_N_POSES, _N_HASHED = 16, 64
# Clips are the same motion if their durations differ by less than this fraction, and their joints by less than this
# distance in meters.
# Formats change joints by 0.3 micrometers at most; those of different clips of one person differ by 0.37 m at least.
_LENGTH, _DISTANCE = 0.005, 0.005


@dataclass(frozen=True, slots=True, eq=False)
class ClipDigest:
    """The data of a clip that is compared with other clips, small enough to be sent between processes.

    name : name of the clip in messages.
    seconds : its duration.
    file_fps : frame rate at which its file was read.
    content : hash of the path of the root, and of 64 poses bit by bit: different recordings never agree in these.
    skeleton : hash of the skeleton.
    poses : (16, J, 3) positions relative to the hips, meters.
    key_poses : poses that are the same in other clips of the same take.
    """

    name: str
    seconds: float
    file_fps: float
    content: str
    skeleton: str
    poses: Floats
    key_poses: KeyPoses


def digest_clip(motion: Motion, name: str = "") -> ClipDigest:
    """Return the digest of a clip; `name` replaces that of the motion."""
    sampled = np.linspace(0, len(motion) - 1, _N_HASHED).round().astype(int)
    content = hashlib.blake2b(motion.rotations[sampled].data, digest_size=16)
    content.update(np.ascontiguousarray(motion.root_positions).data)
    body = motion.skeleton
    skeleton = hashlib.blake2b(repr((body.names, body.parents.tolist())).encode(), digest_size=16)
    skeleton.update((np.round(body.offsets, 6) + 0.0).tobytes())
    frames = np.linspace(0, len(motion) - 1, _N_POSES).round().astype(int)
    positions = motion.world().positions[frames]
    hips = body.roles.get("hips", 0)
    poses = positions - positions[:, [hips]]
    file_fps = motion.source.fps or motion.fps
    return ClipDigest(
        name or motion.name, motion.duration, file_fps, content.hexdigest(), skeleton.hexdigest(), poses,
        find_key_poses(motion),
    )  # fmt: skip


@operation(CheckSettings)
def check_clips(motions: Iterable[Motion | Markers], settings: CheckSettings) -> tuple[CheckReport, ...]:
    """Check several clips: the findings of `check` for each, and those that only a comparison shows.

    Duplicates, the same motion under two names, are found even if their formats differ. If the strides of some clips
    show a wrong frame rate, the other clips of the same skeleton are reported too, because they probably come from the
    same session.

    Parameters
    ----------
    motions : the clips, such as a `MotionSet`.

    Examples
    --------
    >>> from marey.check import check_clips
    >>> first, second = check_clips([walk, walk])
    >>> first.kinds, second.kinds
    ((), ('duplicate',))
    """
    reports: list[CheckReport] = []
    digests: list[ClipDigest | None] = []
    for motion in motions:
        reports.append(check(motion))
        digests.append(digest_clip(motion) if isinstance(motion, Motion) else None)
    return tuple(report.select(settings.severity) for report in compare_clips(reports, digests))


def compare_clips(reports: Sequence[CheckReport], digests: Sequence[ClipDigest | None]) -> list[CheckReport]:
    """Return the reports of clips, extended by findings from comparing the clips; clips without a digest are not
    compared."""
    more: list[list[Finding]] = [[] for _ in reports]
    known = {i: digest for i, digest in enumerate(digests) if digest is not None}
    for i, other, message in _find_duplicates(list(known.items())):
        remedy = f"use only one of {other} and {known[i].name}"
        more[i].append(Finding("duplicate", "mild", 0, reports[i].n_frames, 0.0, "m", message, remedy))
    by_skeleton: dict[str, list[int]] = {}
    for i, digest in known.items():
        by_skeleton.setdefault(digest.skeleton, []).append(i)
    for group in by_skeleton.values():
        new = [i for i in group if not more[i]]
        for later, earlier, start, stop in find_same_takes([known[i].key_poses for i in new]):
            i, name = new[later], known[new[earlier]].name
            rows = (int(start * reports[i].fps), min(int(stop * reports[i].fps) + 1, reports[i].n_frames))
            message = f"from the same take as {name}, cleaned, cropped or resampled"
            remedy = f"use only one of {name} and {known[i].name}"
            more[i].append(Finding("duplicate", "mild", *rows, 0.0, "m", message, remedy))
        for i, finding in _share_rates({i: known[i] for i in group}, reports):
            more[i].append(finding)
    return [report.extend(tuple(found)) if found else report for report, found in zip(reports, more, strict=True)]


def _find_duplicates(digests: list[tuple[int, ClipDigest]]) -> list[tuple[int, str, str]]:
    """Return the clips that duplicate an earlier clip: index, name of the earlier clip, and a message."""
    out = []
    by_content: dict[str, ClipDigest] = {}
    different: list[tuple[int, ClipDigest]] = []
    for i, digest in digests:
        if digest.content in by_content:
            name = by_content[digest.content].name
            out.append((i, name, f"the same motion as {name}, frame by frame"))
        else:
            by_content[digest.content] = digest
            different.append((i, digest))
    different.sort(key=lambda pair: pair[1].seconds)
    for k, (i, digest) in enumerate(different):
        for earlier, other in reversed(different[:k]):
            if other.seconds < digest.seconds * (1.0 - _LENGTH) - 1e-9:
                break
            if other.poses.shape == digest.poses.shape and np.abs(other.poses - digest.poses).max() < _DISTANCE:
                later, first = (i, other) if i > earlier else (earlier, digest)
                out.append((later, first.name, f"nearly the same motion as {first.name}"))
                break
    return out


def _share_rates(group: Mapping[int, ClipDigest], reports: Sequence[CheckReport]) -> list[tuple[int, Finding]]:
    """Return findings of a wrong frame rate for clips without such a finding, if other clips of the group have one.

    group : clips with the same skeleton, keyed by their indices in `reports`.
    """
    wrong = {i: f for i in group for f in reports[i].findings if f.kind == "frame_rate"}
    rates = {finding.options.get("file_fps") for finding in wrong.values()}
    if len(rates) != 1 or None in rates:
        return []
    example = next(iter(wrong.values()))
    others = format_list([group[i].name for i in wrong], 3)
    message = f"the frame rate seems wrong, as in other clips of the same skeleton: {others}"
    return [
        (i, replace(example, stop=reports[i].n_frames, message=message, severity="mild"))
        for i, digest in group.items()
        if i not in wrong and digest.file_fps == example.value
    ]


def warn_of_findings(motions: Iterable[Motion], name_parameter: Callable[[str, str], str] | None = None) -> None:
    """Issue one warning if clips have severe findings: how many, which, and the true frame rates of wrong ones.

    name_parameter : function that words a parameter and its value for the caller's users; see
        `marey.errors.word_parameters`.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from marey.check import warn_of_findings
    >>> with marey.errors.collect_warnings() as texts:
    ...     warn_of_findings([replace(walk, fps=240.0), run])
    >>> len(texts)
    1
    """
    names, kinds, n = [], dict[str, None](), 0
    wrong: dict[tuple[float, float], list[str]] = {}  # by rate of the file and true rate
    for motion in motions:
        n += 1
        report = check(motion, severity="severe")
        if report:
            names.append(motion.name)
        for finding in report:
            if finding.kind == "frame_rate" and finding.options:
                wrong.setdefault((finding.value, finding.options["file_fps"]), []).append(motion.name)
            else:
                kinds[finding.kind.replace("_", " ")] = None
    if not names:
        return
    found = f": {format_list(tuple(kinds), 3)}" if kinds else ""
    verb = "has" if len(names) == 1 else "have"
    parts = [f"{len(names)} of {n} clips {verb} severe findings ({format_list(names, 3)}){found}"]
    for (rate, fps), clips in wrong.items():
        whose = "their frame rate" if len(clips) == len(names) else f"the frame rate of {format_list(clips, 3)}"
        if len(clips) == n:
            remedy = f"read the clips with `file_fps={fps:.6g}`"
        elif name_parameter is not None:
            remedy = f"read only these with `file_fps={fps:.6g}`"
        else:
            remedy = f"first correct only these: `marey.load(path, file_fps={fps:.6g})`"
        text = f"{whose} seems wrong ({rate:.6g} Hz): {remedy}"
        parts.append(text if name_parameter is None else word_parameters(text, name_parameter))
    if sum(map(len, wrong.values())) < len(names):
        parts.append("run `marey.check` on them first")
    warn_user("; ".join(parts))
