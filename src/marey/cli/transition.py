"""`marey transition`: from one motion into another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from marey.cli.blend import Clock, figures_table, make_folder, result_report, save_as, write_report, written
from marey.cli.files import check_output
from marey.cli.options import reading, reading_options
from marey.cli.params import Moment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from marey.core.motion import Motion

# What a transition should not spoil; where it goes is the motions' own matter.
_SHOWN = ("speed_mean", "slide_contact", "skate_ratio", "penetration_max", "jitter", "angular_velocity_max")


@click.command("transition")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, GLB or NPZ.")
@click.option(
    "--at", type=Moment(), nargs=2, metavar="IN_A IN_B",
    help="The middle of the transition: seconds (1.2) or frames (36f) in both.  [default: where they are most alike]",
)  # fmt: skip
@click.option("--length", type=float, default=1.0, show_default=True, help="Seconds that the transition takes.")
@click.option(
    "--region-a", type=Moment(), nargs=2, metavar="FROM TO", help="Look for the best point in this part of A."
)
@click.option("--region-b", type=Moment(), nargs=2, metavar="FROM TO", help="Likewise in B.")
@click.option("--same-contacts", is_flag=True, help="The best point is one where the same feet stand in both.")
@click.option(
    "--search-window", type=float, default=0.5, show_default=True,
    help="Seconds that are compared around a frame to choose the point, and for the distance in the middle.",
)  # fmt: skip
@click.option(
    "--boundaries", type=click.Choice(["resample", "integer"]), default="resample", show_default=True,
    help="Take frames of B between its own, or begin and end the transition on whole frames.",
)  # fmt: skip
@reading
@click.option("--trim-rest", is_flag=True, help="Drop frame 0 where it is a rest pose put before the motion.")
@click.option("--no-cleanup", is_flag=True, help="Leave feet as they are averaged, without holding them in place.")
@click.option(
    "--window", type=float, default=0.1, show_default=True,
    help="Seconds that are compared around a frame to bring A and B in step, once the point is known.",
)  # fmt: skip
@click.option("--slope-limit", type=int, default=2, show_default=True, help="How many times faster one may be played.")
@click.option(
    "--force", is_flag=True, help="Go over where A and B are too far apart, or on opposite feet, all the same."
)
@click.option("--rigid", is_flag=True, help="Leave changes of bone length out of OUT.")
@click.option("--report", "folder", metavar="DIR", help="Write pictures of grid and feet, and report.json, to there.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(first: str, second: str, output: str, folder: str | None, as_json: bool, **options: Any) -> None:
    """Go over from A into B, and write A, the transition and B as one motion.

    The result goes on in A's place. Without --at, the transition is made where A and B are most alike. A point where
    they are too far apart or stand on opposite feet is refused, or passed over for the next best.

    \b
    Example:
      marey transition walk.bvh run.bvh -o walk_to_run.bvh
      marey transition walk.bvh run.bvh -o both.bvh --at 2.1 0.8 --length 1.5 --report both/
    """
    from marey.io import load_motion

    check_output(output, [first, second])
    _check_point(options)
    into = None if folder is None else make_folder(folder)  # before long work, and before anything is written
    how = reading_options(options)
    clock = Clock()
    with clock("load"):
        a, b = (load_motion(path, trim_rest=options["trim_rest"], **how) for path in (first, second))
    with clock("transition"):
        made = _made(a, b, options)
    with clock("save"):
        made = save_as(made, output, options["rigid"])
    step = next(step for step in made.source.provenance if step["op"] == "transition")
    report: dict[str, Any] = {
        "op": "transition",
        "written": output,
        "inputs": [
            {"file": path, "name": motion.name, "frames": len(motion), "fps": motion.fps}
            for path, motion in ((first, a), (second, b))
        ],
        **{name: step[name] for name in ("at", "length", "boundaries", "from", "to", "notes")},
        "transition_frames": step["frames"],
        "distance_m": step["distance"],
        "search_window_s": step["search_window"],
        "path_distance_m": step["path_distance"],
        "window_s": step["window"],
        **result_report(made, [a, b], _SHOWN),
        "timings_s": clock.times,
    }
    if folder is not None and into is not None:
        report["pictures"] = _pictures(a, b, made, step, into)
        write_report(report, folder)
    click.echo(json.dumps(report, indent=1, ensure_ascii=False) if as_json else _text(report))


def _check_point(options: dict[str, Any]) -> None:
    """Refuse what says where to look for the point, where the point is given."""
    if options["at"] is None:
        return
    for name in ("region_a", "region_b", "same_contacts"):
        if options[name]:
            flag = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{flag} says where to look for the best point, but --at gives it; leave one out")


def _made(a: Motion, b: Motion, options: dict[str, Any]) -> Motion:
    from marey.blend import transition

    return transition(
        a,
        b,
        at=_seconds(options["at"], a, b),
        length=options["length"],
        boundaries=options["boundaries"],
        enforce=not options["no_cleanup"],
        region_a=_seconds(options["region_a"], a, a),
        region_b=_seconds(options["region_b"], b, b),
        window=options["window"],
        search_window=options["search_window"],
        slope_limit=options["slope_limit"],
        contacts="refuse" if options["same_contacts"] else None,
        force=options["force"],
    )


def _seconds(
    moments: tuple[float | int, float | int] | None, first: Motion, second: Motion
) -> tuple[float, float] | None:
    """Two moments, each of its motion, in seconds."""
    if moments is None:
        return None
    one, two = (
        moment / motion.fps if isinstance(moment, int) else moment
        for moment, motion in zip(moments, (first, second), strict=True)
    )
    return one, two


def _pictures(a: Motion, b: Motion, made: Motion, step: Mapping[str, Any], into: Path) -> list[str]:
    """The grid with the way through the transition, and the feet of all three about it."""
    import numpy as np

    from marey.compare import distance_grid
    from marey.edit import resample
    from marey.plot.grid import grid
    from marey.plot.transition import SIDES, transition_feet

    one, two = (motion if motion.fps == made.fps else resample(motion, made.fps) for motion in (a, b))
    cells = np.clip(np.array(step["cells"], dtype=np.int64), 0, [len(one) - 1, len(two) - 1])
    grid(distance_grid(one, two, window=step["window"]), into / "grid.png", cells=cells)
    names = ["grid.png"]
    if made.contacts is not None and {f"{side}_ball" for side in SIDES} <= set(made.contacts.names):
        transition_feet(one, two, made, step, into / "feet.png")
        names.append("feet.png")
    return names


def _text(report: dict[str, Any]) -> str:
    """A report for people."""
    start, stop = report["transition_frames"]
    a, b = (each["name"] for each in report["inputs"])
    lines = [
        written(report),
        f"  {a!r} until {report['from']:.2f} s, {b!r} from {report['to']:.2f} s on, frames {start} to {stop} between",
        f"  {report['distance_m']:.3f} m apart in the middle over {report['search_window_s']:g} s, "
        f"{report['path_distance_m']:.3f} m in step over {report['window_s']:g} s",
    ]
    lines += [f"  {note}" for note in report["notes"] if note.startswith("taken by force")]
    lines += figures_table(report["figures"], [a, b], "result")
    if "pictures" in report:
        lines.append(f"pictures: {', '.join(report['pictures'])}")
    return "\n".join(lines)
