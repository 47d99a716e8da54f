"""`marey transition`: blend from one motion into another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from marey.cli.blend import Clock, describe_notes, describe_written, format_metrics, result_report, save_as
from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.files import check_output, make_plot_folder, print_report, write_report
from marey.cli.shared_options import (
    add_reading_options,
    contacts_option,
    markers_option,
    read_motion,
    renamed_option,
    take_reading_options,
)
from marey.cli.values import Moment, to_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from marey.core.motion import Motion

# The metrics that a transition should not degrade.
_SHOWN = ("speed_mean", "slide_contact", "skate_ratio", "penetration_max", "jitter", "angular_velocity_max")


@click.command("transition", cls=SettingsCommand)
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, FBX, GLB or NPZ.")
@click.option(
    "--at", type=Moment(), nargs=2, metavar="IN_A IN_B",
    help="Middle of the transition in A and in B: seconds (1.2) or frames (36f).  [default: at the most similar poses]",
)  # fmt: skip
@add_settings("marey.blend.settings:TransitionSettings")
@click.option(
    "--region-a", type=Moment(), nargs=2, metavar="FROM TO", help="Search this part of A for the best transition point."
)
@click.option("--region-b", type=Moment(), nargs=2, metavar="FROM TO", help="Search this part of B.")
@contacts_option
@renamed_option("--same-contacts", "--contacts refuse", sets={"contacts": "refuse"})
@renamed_option("--no-cleanup", "--feet none", sets={"feet": "none"})
@markers_option()
@add_settings("marey.io.settings:SaveSettings", skip=("unit", "up", "body"))
@click.option(
    "--report", "folder", metavar="DIR", help="Write plots of grid and feet, and report.json, to this folder."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@add_reading_options
def command(first: str, second: str, output: str, folder: str | None, as_json: bool, **options: Any) -> None:
    """Blend from A into B, and write A, the transition and B as one motion.

    B is moved to continue from the position of A. Without --at, the transition is made where A and B are most similar,
    skipping points where they are too far apart or on opposite feet. If --at gives such a point, that is an error.

    \b
    Example:
      marey transition walk.bvh run.bvh -o walk_to_run.bvh
      marey transition walk.bvh run.bvh -o both.bvh --at 2.1 0.8 --length 1.5 --report both/
    """
    from marey.blend import TransitionSettings, transition

    check_output(output)
    into = make_plot_folder(folder)  # before long computations and before anything is written
    how = take_reading_options(options)
    clock = Clock()
    with clock("load"):
        a, b = (read_motion(path, how) for path in (first, second))
    for each, pair in (("at", (a, b)), ("region_a", (a, a)), ("region_b", (b, b))):
        options[each] = _convert_to_seconds(options[each], *pair)
    name = options.pop("name")
    with clock("transition"):
        settings = read_settings(TransitionSettings, options)
        result = transition(a, b, settings=settings)
    with clock("save"):
        result = save_as(result, output, options["rigid"], name)
    step = next(step for step in result.source.provenance if step["op"].endswith("transition"))
    report: dict[str, Any] = {
        "op": "transition",
        "method": settings.method,
        "written": output,
        "inputs": [
            {"file": path, "name": motion.name, "frames": len(motion), "fps": motion.fps}
            for path, motion in ((first, a), (second, b))
        ],
        **{name: step[name] for name in ("at", "length", "from", "to")},
        "boundaries": step.get("boundaries"),
        "notes": step.get("notes", []),
        "transition_frames": step["frames"],
        "distance_m": step.get("distance"),
        "search_window_s": step.get("search_window"),
        "path_distance_m": step.get("path_distance"),
        "window_s": step.get("window"),
        **result_report(result, [a, b], _SHOWN),
        "timings_s": clock.times,
    }
    if into is not None:
        report["pictures"] = _draw_plots(a, b, result, step, into)
        write_report(report, into)
    print_report(report, as_json, _format_report)


def _convert_to_seconds(
    moments: tuple[float | int, float | int] | None, first: Motion, second: Motion
) -> tuple[float, float] | None:
    """Convert two times, in the first and the second motion, to seconds."""
    if moments is None:
        return None
    return to_seconds(moments[0], first.fps), to_seconds(moments[1], second.fps)


def _draw_plots(a: Motion, b: Motion, result: Motion, step: Mapping[str, Any], folder: Path) -> list[str]:
    """Plot the distance grid with the warp path of the transition, and the feet of all three motions around it.

    Return the file names.
    """
    import numpy as np

    from marey.compare import distance_grid
    from marey.edit import resample
    from marey.plot.grid import grid
    from marey.plot.transition import SIDES, transition_feet

    names = []
    one, two = (motion if motion.fps == result.fps else resample(motion, result.fps) for motion in (a, b))
    if "cells" in step:
        cells = np.clip(np.array(step["cells"], dtype=np.int64), 0, [len(one) - 1, len(two) - 1])
        grid(distance_grid(one, two, window=step["window"]), folder / "grid.png", cells=cells)
        names.append("grid.png")
    if result.contacts is not None and {f"{side}_ball" for side in SIDES} <= set(result.contacts.names):
        transition_feet(one, two, result, step, folder / "feet.png")
        names.append("feet.png")
    return names


def _format_report(report: dict[str, Any]) -> str:
    """Format a report as text."""
    start, stop = report["transition_frames"]
    a, b = (each["name"] for each in report["inputs"])
    lines = [
        describe_written(report),
        f"  {a!r} until {report['from']:.2f} s, transition in frames {start} to {stop - 1}, then {b!r} from "
        f"{report['to']:.2f} s",
    ]
    if report["distance_m"] is not None:
        lines.append(
            f"  distance in the middle {report['distance_m']:.3f} m ({report['search_window_s']:g} s window), along "
            f"the transition {report['path_distance_m']:.3f} m ({report['window_s']:g} s window)"
        )
    lines += describe_notes(report)
    lines += format_metrics(report["metrics"], [a, b], "result")
    return "\n".join(lines)
