"""Pictures of docs/cleanup.md and docs/editing.md; prints the numbers of docs/cleanup.md."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import marey
from marey import Motion, Skeleton, plot
from marey.clean import clean_with_report, detect_contacts
from marey.edit import MoveKey, TurnKey, cycle, edit_path, extract_path, retarget, warp
from marey.plot.cleanup import before_after
from marey.samples import body_skeleton, sample

LEFT = ("left_heel", "left_ball")


def clip(kind: str, name: str, **parameters: float) -> Motion:
    return replace(sample(kind, **parameters).motion, name=name)


def skated(motion: Motion, drift: tuple[float, float] = (0.08, 0.1), sink: float = 0.012) -> Motion:
    """The motion sliding along, in m/s across the floor, and sinking into it now and then, in meters."""
    seconds = np.arange(len(motion)) / motion.fps
    root = motion.root_positions + np.outer(seconds, [drift[0], 0.0, drift[1]])
    root[:, 1] -= sink * (0.5 - 0.5 * np.cos(np.pi * seconds))
    return replace(motion, root_positions=root)


def child() -> Skeleton:
    """The samples' skeleton with shorter limbs and a larger head for its height."""
    body = body_skeleton()
    scale = np.full(len(body), 0.72)
    for side in ("left", "right"):
        for part in ("lower_leg", "foot", "forearm", "hand"):
            scale[body.roles[f"{side}_{part}"]] = 0.6
    return replace(body, offsets=body.offsets * scale[:, None])


def held(motion: Motion, path: Path, points: tuple[str, ...] = LEFT, **frames: int) -> None:
    """Feet before and after; the metrics go to standard output."""
    result = clean_with_report(motion)
    before_after(motion, result.motion, path, points=points, **frames)
    before = replace(motion, contacts=result.motion.contacts, source=result.motion.source)
    report = marey.measure(result.motion, before)
    shown = "; ".join(f"{n} {report[n].against:.3g} -> {report[n].value:.3g}" for n in ("slide_contact", "jitter"))
    metrics = result.metrics
    scaling = f"limbs scaled {100 * metrics['limb_scaling_mean']:.2f} %, p99 {100 * metrics['limb_scaling_p99']:.2f} %"
    print(f"{path.name}: {shown}; {scaling}; penetration {report['penetration_max'].against:.1f} mm before")


def draw(folder: Path) -> None:
    walk = clip("walk", "walk", speed=1.3, seconds=4.0)
    plot.feet(walk, folder / "feet.png")
    plot.filmstrip(clip("kick", "kick"), folder / "kick.png")
    held(replace(skated(walk), name="skated walk"), folder / "clean_sample.png")

    duck = warp(
        walk,
        [
            MoveKey("hips", 2.0, offset=(0.0, -0.28, 0.0), hold=0.4),
            TurnKey("spine", 2.0, (0.6, 0.0, 0.0), axes="body", hold=0.4),
        ],
        ease=0.9,
    )
    plot.filmstrip(replace(duck, name="walk, ducking under a bar"), folder / "edit_warp.png")
    high = warp(clip("kick", "kick"), [MoveKey("right_foot", 1.28, offset=(0.0, 0.35, -0.1))], ease=0.35)
    plot.filmstrip(replace(high, name="kick, higher"), folder / "edit_kick.png")

    path = extract_path(walk)
    way = np.linspace(0.0, 1.3 * float(np.linalg.norm(path[-1] - path[0])), 40)
    bent = edit_path(walk, np.stack([0.9 * np.sin(way * 1.1), way], axis=1))
    plot.filmstrip(replace(bent, name="walk, on a winding path"), folder / "edit_path.png")
    plot.filmstrip(
        replace(cycle(walk, repeats=4), name="one stride of the walk, four times"), folder / "edit_cycle.png"
    )
    small = retarget(clip("kick", "kick"), child())
    plot.filmstrip(replace(small, name="kick, by a child"), folder / "edit_retarget.png")


def draw_recorded(folder: Path, data: Path) -> None:
    walk, run = (marey.load(data / "cmu" / "016" / f"16_{number}.bvh") for number in (15, 35))
    held(walk, folder / "clean_cmu_walk.png")
    held(run, folder / "clean_cmu_run.png")
    plot.filmstrip(detect_contacts(run), folder / "cmu_run.png")
    ours = replace(retarget(run, body_skeleton()), name="16_35, on the samples' skeleton")
    plot.filmstrip(ours, folder / "edit_retarget_cmu.png")
