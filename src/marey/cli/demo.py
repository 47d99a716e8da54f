"""`marey demo`: the main job from end to end, on generated motion."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from marey.core import Label, Motion
    from marey.core._arrays import Floats
    from marey.find.found import Match
    from marey.parametric import ParametricMotion

# How far a joint may be from where it was after a file was written and read back, in metres.
TOLERANCE = {".bvh": 1e-6, ".glb": 1e-5, ".npz": 0.0}
# What is added to a walk so that its feet skate: m/s by which it slides along, and metres by which it sinks.
DRIFT, SINK = (0.08, 0.1), 0.012
# The share of a skated walk's slide that cleanup takes away, at least.
SLIDE_GONE = 0.95
# Frames up to this far apart, in metres, are joined in the demo's graph, and how far from a path it may walk.
PLACES, OFF_PATH = 0.08, 0.15
# Kicks within this distance of one another, in metres, are found; a new one may miss its target by so much.
KICKS, MISS = 0.07, 0.005
# How far joints may be from the truth of a box carried on a curve, in metres, and a look from its goal, in degrees.
CARRIED, OFF_GOAL = 0.02, 0.05
# Detected contacts agree with the truth in at least this share, as F1.
CONTACT_F1 = 0.97

CLIPS: dict[str, dict[str, Any]] = {
    "walk": {"speed": 1.3, "seconds": 4.0},
    "walk_left": {"speed": 1.3, "turn_rate": 0.5, "seconds": 4.0},
    "walk_right": {"speed": 1.3, "turn_rate": -0.5, "seconds": 4.0},
    "run": {"speed": 3.0, "seconds": 3.0},
    "stairs": {},
    "kick": {},
}


MARK = ".marey-demo"
FILES = (
    *(f"walk{suffix}" for suffix in (".bvh", ".glb", ".npz", ".marey.json", ".png")),
    *("clips.glb", "contacts.bvh", "contacts.marey.json", "run.png", "stairs.png", "kick.png", "feet.png", "paths.png"),
    *("skated.bvh", "skated.marey.json", "held.bvh", "held.marey.json", "held.png"),
    *(
        "jog.bvh",
        "jog.marey.json",
        "jog.png",
        "jog_feet.png",
        "graph.npz",
        "along.bvh",
        "along.marey.json",
        "along.png",
    ),
    *("web.npz", "kicks.npz", "found.png", "aimed.png", "reach.png"),
    *("carry.bvh", "carry.marey.json", "carry.png", "look.bvh", "look.marey.json", "look.png"),
    *(f"aimed_{k}{suffix}" for k in (1, 2, 3) for suffix in (".bvh", ".marey.json")),
)


class Made(NamedTuple):
    """A file that the demo made."""

    path: Path
    what: str
    checked: str
    look: str
    ok: bool = True


@click.command("demo")
@click.argument("outdir", default="demo_out")
def command(outdir: str) -> int:
    """Generate motion; write, measure, clean, blend and draw it, walk a path, aim kicks and add layers, in OUTDIR.

    \b
    Example:
      marey demo
      marey demo /tmp/marey
    """
    from marey.errors import UnwritableFile

    folder = Path(outdir or ".")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _clear(folder)
    except OSError as error:
        if isinstance(error, UnwritableFile):
            raise
        raise UnwritableFile(f"cannot be made a folder ({error.strerror})", path=outdir) from None
    made = list(_make(folder))
    _table(made)
    failed = [item for item in made if not item.ok]
    for item in failed:
        click.echo(f"marey: {item.path}: {item.checked}", err=True)
    return 1 if failed else 0


def _clear(folder: Path) -> None:
    """Take away what an earlier demo made, which a mark tells from what somebody else put there."""
    from marey.errors import UnwritableFile

    mark = folder / MARK
    there = [path for name in FILES if (path := folder / name).exists()]
    if there and not mark.exists():
        raise UnwritableFile(f"is not the demo's ({folder / MARK} is missing); choose another folder", path=there[0])
    for path in there:
        path.unlink()
    mark.touch()


def _make(folder: Path) -> Iterator[Made]:
    """Make every file; each is checked before the next is made."""
    from dataclasses import replace

    from marey.samples import sample

    clips = {
        name: replace(sample(name.split("_")[0], **parameters).motion, name=name) for name, parameters in CLIPS.items()
    }
    walk = clips["walk"]
    click.echo(f"Generated {len(clips)} clips with exact contacts, labels and parameters: {', '.join(clips)}.\n")
    yield from _write(folder, walk)
    yield from _write_together(folder, clips)
    yield _find_contacts(folder, clips)
    _measure(walk)
    yield from _clean(folder, walk)
    yield from _blend(folder, clips)
    yield from _graph(folder, clips)
    yield from _find(folder)
    yield from _layers(folder, clips)
    yield from _draw(folder, clips)


def _write(folder: Path, walk: Motion) -> Iterator[Made]:
    """One clip in every format, read back."""
    from marey.io import save, sidecar_path

    looks = {
        ".bvh": ("a walk, BVH in centimetres", "marey info walk.bvh; Blender"),
        ".glb": ("the same with a simple figure", "any glTF viewer, Blender"),
        ".npz": ("the same as NumPy arrays", "numpy.load"),
    }
    for suffix, (what, look) in looks.items():
        path = folder / f"walk{suffix}"
        save(walk, path)
        error = _largest_error(walk, path)
        told = f"read back to {1e6 * error:.2g} um"
        yield Made(path, what, told, look, error <= TOLERANCE[suffix])
    yield Made(sidecar_path(folder / "walk.bvh"), "its contacts and labels", "read back equal", "any text editor")


def _write_together(folder: Path, clips: dict[str, Motion]) -> Iterator[Made]:
    """All clips in one GLB."""
    from dataclasses import replace

    from marey.core import Labels
    from marey.io import clip_names, save

    path = folder / "clips.glb"
    save([replace(clip, contacts=None, labels=Labels()) for clip in clips.values()], path)
    names = clip_names(path)
    yield Made(
        path, "all clips in one file", f"{len(names)} animations", "any glTF viewer, Blender", names == tuple(clips)
    )


def _find_contacts(folder: Path, clips: dict[str, Motion]) -> Made:
    """Contacts as detected from the joints alone, against the truth that samples carry."""
    import numpy as np

    from marey.clean import detect_contacts
    from marey.io import save

    hits = wrong = 0
    for clip in clips.values():
        found = detect_contacts(_bare(clip)).contacts
        if clip.contacts is None or found is None:
            continue
        truth = np.stack([clip.contacts.mask[:, clip.contacts.index(name)] for name in found.names], axis=1)
        hits += int((truth & found.mask).sum())
        wrong += int((truth ^ found.mask).sum())
    f1 = 2 * hits / (2 * hits + wrong)
    path = folder / "contacts.bvh"
    save(detect_contacts(_bare(clips["walk"])), path)
    click.echo(f"Contacts found from the joints alone agree with the truth: F1 {f1:.3f} over {len(clips)} clips.\n")
    return Made(
        path, "the walk with detected contacts", f"F1 {f1:.3f}", "marey contacts contacts.bvh", f1 >= CONTACT_F1
    )


def _bare(clip: Motion) -> Motion:
    """The joints alone: without the truth that a sample carries, floor included."""
    from dataclasses import replace

    return replace(clip, contacts=None, source=replace(clip.source, floor=None))


def _measure(walk: Motion) -> None:
    from marey.measure import measure

    report = measure(walk)
    shown = ("slide_contact", "skate_ratio", "penetration_max", "jitter", "speed_mean", "stride_rate")
    figures = "; ".join(
        f"{name} {report[name].value:.3g} {report[name].unit}" for name in shown if report[name].value is not None
    )
    click.echo(f"Measured: {figures}.\n")


def _clean(folder: Path, walk: Motion) -> Iterator[Made]:
    """The walk with skating feet, and held again where its contacts say."""
    from dataclasses import replace

    from marey.clean import cleaned
    from marey.io import save
    from marey.measure import measure
    from marey.plot.cleanup import before_after

    skated = replace(_skated(walk), name="skated")
    result = cleaned(skated)
    held = replace(result.motion, name="held")
    report = measure(held, skated)
    shown = {
        "slide_contact": ("slide of planted feet", 1000.0, "mm/s"),
        "penetration_max": ("depth under the floor", 1.0, "mm"),
        "jitter": ("jitter", 1.0, "10^2 m/s^3"),
    }
    click.echo("A walk that slides along and sinks into the floor, and what cleanup makes of it:")
    click.echo(f"  {'':<24}{'before':>8}{'after':>8}")
    for name, (title, scale, unit) in shown.items():
        was, now = (scale * (value or 0.0) for value in (report[name].against, report[name].value))
        click.echo(f"  {title:<24}{was:>8.2f}{now:>8.2f}  {unit}")
    figures = result.figures
    click.echo(f"  limbs scaled by {100 * figures['limb_scaling_mean']:.2f} % on average\n")
    save(skated, folder / "skated.bvh")
    yield Made(folder / "skated.bvh", "the walk with skating feet", "", "marey clean skated.bvh again.bvh")
    save(held, folder / "held.bvh")
    slide = report["slide_contact"]
    gone = 0.0 if not slide.against or slide.value is None else 1.0 - slide.value / slide.against
    told = f"{100 * gone:.3g} % of the slide is gone"
    yield Made(folder / "held.bvh", "the same with feet that hold", told, "Blender", gone >= SLIDE_GONE)
    before_after(skated, held, folder / "held.png")
    yield Made(folder / "held.png", "its feet before and after", "", "any image viewer")


def _skated(walk: Motion) -> Motion:
    """The walk, sliding along and sinking into the floor."""
    from dataclasses import replace

    import numpy as np

    seconds = np.arange(len(walk)) / walk.fps
    root = walk.root_positions + np.outer(seconds, [DRIFT[0], 0.0, DRIFT[1]])
    root[:, 1] -= SINK * (0.5 - 0.5 * np.cos(2.0 * np.pi * 0.5 * seconds))
    return replace(walk, root_positions=root)


def _blend(folder: Path, clips: dict[str, Motion]) -> Iterator[Made]:
    """A jog, halfway between the walk and the run."""
    from marey.blend import blend
    from marey.io import save
    from marey.measure import measure
    from marey.plot import filmstrip
    from marey.plot.registration import foot_heights
    from marey.register import register

    reg = register([clips["walk"], clips["run"]])
    jog = blend(reg, [0.5, 0.5], name="jog")
    speeds = [float(measure(motion)["speed_mean"].value or 0.0) for motion in (*reg.motions, jog)]
    slide = measure(jog)["slide_contact"].value
    click.echo(
        f"A walk at {speeds[0]:.2f} m/s and a run at {speeds[1]:.2f} m/s, {reg.distance:.2f} m apart in step, blended"
        f" half and half: {speeds[2]:.2f} m/s, planted feet slide by {1000 * (slide or 0.0):.2g} mm/s.\n"
    )
    save(jog, folder / "jog.bvh")
    between = min(speeds[:2]) < speeds[2] < max(speeds[:2])
    yield Made(folder / "jog.bvh", "halfway from the walk to the run", f"{speeds[2]:.2f} m/s", "Blender", between)
    filmstrip(jog, folder / "jog.png")
    yield Made(folder / "jog.png", "filmstrip of the jog", "", "any image viewer")
    foot_heights(reg.motions, jog, folder / "jog_feet.png", registration=reg)
    yield Made(folder / "jog_feet.png", "feet of walk, run and jog", "", "any image viewer")


def _graph(folder: Path, clips: dict[str, Motion]) -> Iterator[Made]:
    """A motion graph of walks, and a walk along a path that none of them goes."""
    import numpy as np

    from marey.graph import MotionGraph
    from marey.io import save
    from marey.plot.graph import followed
    from marey.samples import sample

    walks = [clips[name] for name in ("walk", "walk_left", "walk_right")]
    walks += [sample("walk", rng=k, seconds=8.0, turn_rate=turn).motion for k, turn in enumerate((0.0, 0.9, -0.9), 1)]
    graph = MotionGraph.build(walks, PLACES, fps=30.0)
    graph.save(folder / "graph.npz")
    yield Made(
        folder / "graph.npz",
        f"{len(walks)} walks, joined",
        f"{graph.n_transitions} transitions",
        "marey graph info graph.npz",
    )
    z = np.linspace(0.0, 14.0, 200)
    found = graph.follow(np.stack([1.5 * np.sin(z / 14.0 * 2.0 * np.pi), z], axis=1))
    save(found.walk.motion(name="along"), folder / "along.bvh")
    centimetres = 100.0 * found.mean_distance
    click.echo(
        f"{graph.n_transitions} places to go over from one of {len(walks)} walks to another; along a curve that none of"
        f" them goes, for {len(found.walk) / graph.fps:.1f} s, {centimetres:.1f} cm from it in the mean.\n"
    )
    told = f"{centimetres:.1f} cm from the path"
    yield Made(folder / "along.bvh", "a walk along a new path", told, "Blender", found.mean_distance <= OFF_PATH)
    followed(found, folder / "along.png")
    yield Made(folder / "along.png", "the path and the way gone", "", "any image viewer")


def _find(folder: Path) -> Iterator[Made]:
    """All kicks in long takes from one example, and three new ones that hit where they are told to."""
    from dataclasses import replace

    from marey.find import MatchWeb
    from marey.io import save
    from marey.parametric import ParametricMotion, position
    from marey.plot.find import matches
    from marey.plot.parametric import aimed, reachable, told_size
    from marey.samples import sample

    takes = [sample("medley", rng=k, fps=30.0, kicks=6, punches=2, reaches=2) for k in range(2)]
    clips = [replace(take.motion, name=f"take{k}") for k, take in enumerate(takes, 1)]
    web = MatchWeb.build(clips)
    web.save(folder / "web.npz")
    yield Made(folder / "web.npz", "two long takes, compared", f"{web.nbytes / 1e6:.1f} MB", "marey find info web.npz")
    kicks = [(clip.name, label) for clip in clips for label in clip.labels if label.name == "kick"]
    name, one = kicks[0]
    found = web.search(name, one.start, one.stop, KICKS)
    right = [any(_same(match, where, label) for where, label in kicks) for match in found]
    told = f"{sum(right)} of {len(kicks)} kicks, {len(found) - sum(right)} others"
    matches(found, folder / "found.png", most=8)
    yield Made(folder / "found.png", "a kick, and what is like it", told, "any image viewer", sum(right) == len(kicks))
    space = ParametricMotion.build(found, position("right_ball"))
    space.save(folder / "kicks.npz")
    yield Made(folder / "kicks.npz", "kicks to anywhere between", f"{len(space.samples)} samples",
               "marey parametric range kicks.npz")  # fmt: skip
    targets = _kick_targets(space)
    misses = []
    for k, target in enumerate(targets, 1):
        path = folder / f"aimed_{k}.bvh"
        save(space(target, refine=True, name=f"aimed_{k}"), path)
        misses.append(space.error(target, refine=True).distances()["m"])
        yield Made(path, f"a new kick, {target[1]:.2f} m high", f"{told_size(misses[-1], 'm')} off", "Blender",
                   misses[-1] <= MISS)  # fmt: skip
    seconds = sum(len(clip) for clip in clips) / web.fps
    click.echo(
        f"From one kick, {told} found in {seconds:.0f} s of long takes; three new ones hit targets that nobody kicked"
        f" at, {told_size(max(misses), 'm')} off at most.\n"
    )
    aimed(space, targets, folder / "aimed.png", refine=True)
    yield Made(folder / "aimed.png", "the three with their targets", "", "any image viewer")
    reachable(space, folder / "reach.png", targets=targets, refine=True)
    yield Made(folder / "reach.png", "where kicks can be aimed", "", "any image viewer")


def _kick_targets(space: ParametricMotion) -> list[Floats]:
    """Three places one above the other, nearly straight ahead, that kicks can reach."""
    import numpy as np

    low, high = space.parameters.min(axis=0), space.parameters.max(axis=0)
    middle = space.parameters.mean(axis=0)
    targets = []
    for share in (0.25, 0.5, 0.75):
        wanted = [middle[0], low[1] + share * (high[1] - low[1]), middle[2]]
        # Half a step of the way from a sample: it can be reached, and was not sampled.
        near = space.samples[int(np.argmin(np.linalg.norm(space.samples - wanted, axis=1)))]
        away = float(np.linalg.norm((wanted - near) / space.scale))
        targets.append(near + (wanted - near) * min(0.5 / max(away, 1e-9), 1.0))
    return targets


def _layers(folder: Path, clips: dict[str, Motion]) -> Iterator[Made]:
    """A box carried on a curve, from a walk on the curve and a box carried straight on; and a look to the side."""
    import math

    import numpy as np

    from marey.io import save
    from marey.layer import GazeMap, splice
    from marey.plot import filmstrip
    from marey.plot.gaze import gaze_track
    from marey.samples import sample

    left = clips["walk_left"]
    both = splice(left, sample("carry_box", seconds=4.0).motion)
    truth = sample("carry_box", **CLIPS["walk_left"]).motion
    off = float(np.linalg.norm(both.world().positions - truth.world().positions[: len(both)], axis=-1).mean())
    save(both, folder / "carry.bvh")
    yield Made(folder / "carry.bvh", "a box, carried on a curve", f"{100 * off:.1f} cm off the truth", "Blender",
               off <= CARRIED)  # fmt: skip
    filmstrip(both, folder / "carry.png")
    yield Made(folder / "carry.png", "the same, drawn", "", "any image viewer")
    track = GazeMap.default().trace(both, [(1.0, math.radians(60.0), math.radians(10.0))])
    miss = math.degrees(track.misses()[-1])  # by then it has settled
    save(track.motion, folder / "look.bvh")
    yield Made(folder / "look.bvh", "the same, looking to the left", f"{miss:.3f} degrees off", "Blender",
               miss <= OFF_GOAL)  # fmt: skip
    gaze_track(track, folder / "look.png")
    yield Made(folder / "look.png", "the look, and how it settles", "", "any image viewer")
    click.echo(
        f"A box carried straight on, spliced onto a walk on a curve: {100 * off:.1f} cm from how that is done; then it"
        f" looks to the left, {miss:.3f} degrees off.\n"
    )


def _same(match: Match, where: str, label: Label) -> bool:
    """Whether a match and a labelled stretch share most of their frames."""
    shared = min(match.stop, label.stop) - max(match.start, label.start)
    return match.clip == where and shared > 0.7 * max(len(match), label.stop - label.start)


def _draw(folder: Path, clips: dict[str, Motion]) -> Iterator[Made]:
    from marey.plot import feet, filmstrip, path

    for name in ("walk", "run", "stairs", "kick"):
        picture = folder / f"{name}.png"
        filmstrip(clips[name], picture)
        yield Made(picture, f"filmstrip of {name}", "", "any image viewer")
    feet(clips["walk"], folder / "feet.png")
    yield Made(folder / "feet.png", "foot heights, speeds and contacts", "", "any image viewer")
    path([clips[name] for name in ("walk", "walk_left", "walk_right")], folder / "paths.png")
    yield Made(folder / "paths.png", "three walks from above", "", "any image viewer")


def _largest_error(walk: Motion, path: Path) -> float:
    """Farthest that any joint comes to lie from where it was, in metres; infinite if annotations differ."""
    import numpy as np

    from marey.io import load_motion

    again = load_motion(path)
    if walk.contacts is None or again.contacts is None or again.labels != walk.labels:
        return float("inf")
    if not np.array_equal(walk.contacts.mask, again.contacts.mask):
        return float("inf")
    return float(np.linalg.norm(again.world().positions - walk.world().positions, axis=-1).max())


def _table(made: list[Made]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("file", "what it is", "checked", "how to look at it"):
        table.add_column(title, no_wrap=title == "file")
    for item in made:
        table.add_row(item.path.name, item.what, item.checked, item.look)
    click.echo(f"Made in {made[0].path.parent}:")
    Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else 110).print(table)
