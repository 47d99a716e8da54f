"""The first part of the demo: one clip in every format, its contacts and metrics, cleanup, and plots."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from marey.core import Motion

# Maximum error of a joint position after writing and reading a file, in meters.
TOLERANCE = {".bvh": 1e-6, ".glb": 1e-5, ".npz": 0.0}
# Foot skate added to a walk: drift in m/s (x and z), and sinking in meters.
DRIFT, SINK = (0.08, 0.1), 0.012
# Minimum fraction of the foot slide that cleanup must remove.
SLIDE_GONE = 0.95
# Minimum F1 score of detected contacts.
CONTACT_F1 = 0.97


class DemoFile(NamedTuple):
    """A file written by the demo.

    what : its content. check, ok : result of its check as text, and whether it passed. look : how to look at it.
    """

    path: Path
    what: str
    check: str
    look: str
    ok: bool = True


def write_formats(folder: Path, walk: Motion) -> Iterator[DemoFile]:
    """Write one clip in every format and read it back."""
    from marey.io import save, sidecar_path

    looks = {
        ".bvh": ("a walk, BVH in centimeters", "marey info walk.bvh; Blender"),
        ".glb": ("the same with a simple body", "any glTF viewer, Blender"),
        ".npz": ("the same as NumPy arrays", "numpy.load"),
    }
    for suffix, (what, look) in looks.items():
        path = folder / f"walk{suffix}"
        save(walk, path)
        error = _largest_error(walk, path)
        result = f"read back with an error of {1e6 * error:.2g} um"
        yield DemoFile(path, what, result, look, error <= TOLERANCE[suffix])
    yield DemoFile(sidecar_path(folder / "walk.bvh"), "its contacts and labels", "read back equal", "any text editor")


def write_together(folder: Path, clips: dict[str, Motion]) -> Iterator[DemoFile]:
    """Write all clips to one GLB."""
    from dataclasses import replace

    from marey.core import Labels
    from marey.io import clip_names, save

    path = folder / "clips.glb"
    save([replace(clip, contacts=None, labels=Labels()) for clip in clips.values()], path)
    names = clip_names(path)
    yield DemoFile(
        path, "all clips in one file", f"{len(names)} animations", "any glTF viewer, Blender", names == tuple(clips)
    )


def find_contacts(folder: Path, clips: dict[str, Motion]) -> DemoFile:
    """Detect contacts from the joints alone and compare them with the ground truth of the samples."""
    import numpy as np

    from marey.clean import detect_contacts
    from marey.io import save

    hits = wrong = 0
    for clip in clips.values():
        found = detect_contacts(_strip_truth(clip)).contacts
        if clip.contacts is None or found is None:
            continue
        truth = np.stack([clip.contacts.mask[:, clip.contacts.index(name)] for name in found.names], axis=1)
        hits += int((truth & found.mask).sum())
        wrong += int((truth ^ found.mask).sum())
    f1 = 2 * hits / (2 * hits + wrong)
    path = folder / "contacts.bvh"
    save(detect_contacts(_strip_truth(clips["walk"])), path)
    click.echo(f"Detected contacts from the joints alone: F1 score {f1:.3f} over {len(clips)} clips.\n")
    return DemoFile(
        path, "the walk with detected contacts", f"F1 {f1:.3f}", "marey contacts contacts.bvh", f1 >= CONTACT_F1
    )


def _strip_truth(clip: Motion) -> Motion:
    """Return the clip without the ground truth of the sample (contacts and floor)."""
    from dataclasses import replace

    return replace(clip, contacts=None, source=replace(clip.source, floor=None))


def print_metrics(walk: Motion) -> None:
    from marey.measure import measure
    from marey.measure.display import get_metric_format

    report = measure(walk)
    shown = ("slide_contact", "skate_ratio", "penetration_max", "jitter", "speed_mean", "stride_rate")
    metrics = {name: get_metric_format(name, report[name].unit) for name in shown if report[name].value is not None}
    lines = [f"  {each.title}: {each.format(report[name].value)} {each.unit}" for name, each in metrics.items()]
    click.echo("\n".join(["Metrics of the walk:", *lines, ""]))


def clean_feet(folder: Path, walk: Motion) -> Iterator[DemoFile]:
    """Add foot skate to the walk, and remove it by cleanup."""
    from dataclasses import replace

    from marey.clean import clean_with_report
    from marey.io import save
    from marey.measure import measure
    from marey.plot.cleanup import before_after

    skated = replace(_add_skate(walk), name="skated")
    result = clean_with_report(skated)
    held = replace(result.motion, name="held")
    report = measure(held, skated)
    shown = {
        "slide_contact": ("foot slide while planted", 1000.0, "mm/s"),
        "penetration_max": ("floor penetration", 1.0, "mm"),
        "jitter": ("jitter", 100.0, "m/s³"),
    }
    click.echo("Cleanup of a walk that slides and sinks into the floor:")
    click.echo(f"  {'':<24}{'before':>8}{'after':>8}")
    for name, (title, scale, unit) in shown.items():
        was, now = (scale * (value or 0.0) for value in (report[name].against, report[name].value))
        click.echo(f"  {title:<24}{was:>8.2f}{now:>8.2f}  {unit}")
    click.echo(f"  limbs scaled by {100 * result.metrics['limb_scaling_mean']:.2f} % on average\n")
    save(skated, folder / "skated.bvh")
    yield DemoFile(folder / "skated.bvh", "the walk with skating feet", "", "marey clean skated.bvh again.bvh")
    save(held, folder / "held.bvh")
    slide = report["slide_contact"]
    gone = 0.0 if not slide.against or slide.value is None else 1.0 - slide.value / slide.against
    removed = f"{100 * gone:.3g} % of the slide removed"
    yield DemoFile(folder / "held.bvh", "the same after cleanup", removed, "Blender", gone >= SLIDE_GONE)
    before_after(skated, held, folder / "held.png")
    yield DemoFile(folder / "held.png", "its feet before and after", "", "any image viewer")


def _add_skate(walk: Motion) -> Motion:
    """Return the walk with feet that slide and sink into the floor."""
    from dataclasses import replace

    import numpy as np

    seconds = np.arange(len(walk)) / walk.fps
    root = walk.root_positions + np.outer(seconds, [DRIFT[0], 0.0, DRIFT[1]])
    root[:, 1] -= SINK * (0.5 - 0.5 * np.cos(2.0 * np.pi * 0.5 * seconds))
    return replace(walk, root_positions=root)


def draw_clips(folder: Path, clips: dict[str, Motion]) -> Iterator[DemoFile]:
    from marey.plot import feet, filmstrip, path

    for name in ("walk", "run", "stairs", "kick"):
        picture = folder / f"{name}.png"
        filmstrip(clips[name], picture)
        yield DemoFile(picture, f"filmstrip of {name}", "", "any image viewer")
    feet(clips["walk"], folder / "feet.png")
    yield DemoFile(folder / "feet.png", "foot heights, speeds and contacts", "", "any image viewer")
    path([clips[name] for name in ("walk", "walk_left", "walk_right")], folder / "paths.png")
    yield DemoFile(folder / "paths.png", "three walks from above", "", "any image viewer")


def _largest_error(walk: Motion, path: Path) -> float:
    """Read the walk back and return the largest error of a joint position in meters; infinite if annotations differ."""
    import numpy as np

    from marey.io import load_motion

    again = load_motion(path)
    if walk.contacts is None or again.contacts is None or again.labels != walk.labels:
        return float("inf")
    if not np.array_equal(walk.contacts.mask, again.contacts.mask):
        return float("inf")
    return float(np.linalg.norm(again.world().positions - walk.world().positions, axis=-1).max())
