"""`marey splice`: combine the upper body of one motion with the lower body of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from marey.cli.blend import Clock, describe_saved, describe_written, save_as
from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.files import check_output, make_plot_folder, print_report, warn_of_rate, write_report
from marey.cli.shared_options import add_reading_options, frames_between, read_motion, take_reading_options
from marey.cli.values import Moment
from marey.errors import plural

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from marey.core.motion import Motion
    from marey.layer.time_alignment import TimeMap


@click.command("splice", cls=SettingsCommand)
@click.argument("lower", metavar="LOWER")
@click.argument("upper", metavar="UPPER")
@click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, FBX, GLB or NPZ.")
@add_settings("marey.layer.settings:SpliceSettings")
@click.option("--lower-from", type=Moment(), help="Start of the part of LOWER to use: seconds (1.2) or a frame (36f).")
@click.option("--lower-to", type=Moment(), help="End of the part of LOWER to use.")
@click.option(
    "--upper-from", type=Moment(), help="Start of the part of UPPER to use, such as where it carries something."
)
@click.option("--upper-to", type=Moment(), help="End of the part of UPPER to use.")
@click.option("--naive", is_flag=True, help="For comparison, copy UPPER's joint angles frame by frame.")
@add_settings("marey.layer.settings:NaiveSpliceSettings", prefix="naive_")
@add_reading_options
@click.option("--rigid", is_flag=True, help="Keep bone lengths constant in OUT.")
@click.option(
    "--report", "folder", metavar="DIR", help="Write a plot of the neck's path, and report.json, to this folder."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(lower: str, upper: str, output: str, folder: str | None, as_json: bool, **options: Any) -> None:
    """Combine the upper body of UPPER with the lower body of LOWER, and write the result to OUT.

    UPPER is synchronized with the steps of LOWER, and looped if it is too short; its trunk follows LOWER's steps but
    keeps its own posture. If either has no steps, the two are aligned by the movement of
    hips and knees only, and a warning is shown.

    \b
    Example:
      marey splice walk.bvh carry.bvh -o carry_walk.bvh
      marey splice stairs.bvh carry.bvh -o up.bvh --upper-from 2 --upper-to 6 --report up/
    """
    from marey.layer import splice_naive

    check_output(output)
    into = make_plot_folder(folder)
    how = take_reading_options(options)
    clock = Clock()
    with clock("load"):
        legs, arms = (read_motion(path, how) for path in (lower, upper))
    for path, motion in ((lower, legs), (upper, arms)):
        warn_of_rate(path, motion, is_only=False)
    spans = [
        frames_between(motion, options[f"{which}_from"], options[f"{which}_to"], which)
        for motion, which in ((legs, "lower"), (arms, "upper"))
    ]
    legs, arms = (motion[start:stop] for motion, (start, stop) in zip((legs, arms), spans, strict=True))
    if options["retarget"] is not None:
        from marey.edit import share_skeleton

        legs, arms = share_skeleton((legs, arms), options["retarget"] or legs)
    with clock("splice"):
        result, times = _splice(legs, arms, options)
    copied = result if times is None else splice_naive(legs[: len(result)], arms)
    with clock("save"):
        saved = save_as(result, output, options["rigid"])
    step = result.source.provenance[-1]
    report: dict[str, Any] = {
        "op": step["op"],
        **describe_saved(saved, output),
        "inputs": [
            {"file": path, "name": motion.name, "frames": list(span), "fps": motion.fps}
            for path, motion, span in zip((lower, upper), (legs, arms), spans, strict=True)
        ],
        **_shift_times(step, spans[1][0] / arms.fps),
        "metrics": _compute_metrics(legs, arms, result, copied, times),
        "timings_s": clock.times,
    }
    if into is not None:
        report["pictures"] = _draw_plots(legs, result, copied, into)
        write_report(report, into)
    print_report(report, as_json, _format_report)


def _splice(legs: Motion, arms: Motion, options: dict[str, Any]) -> tuple[Motion, TimeMap | None]:
    """Return the spliced motion and the time in UPPER of each frame; the times are None if angles are only copied."""
    from marey.layer import SpliceSettings, align_motions, splice, splice_naive
    from marey.layer.settings import AlignSettings, NaiveSpliceSettings

    naive = read_settings(NaiveSpliceSettings, options, prefix="naive_")
    if options["naive"]:
        return splice_naive(legs, arms, settings=naive), None
    if naive.aligned:
        raise click.UsageError("--naive-aligned needs --naive")
    settings = read_settings(SpliceSettings, options)
    times = align_motions(legs, arms, **settings.select(AlignSettings))
    return splice(legs, arms, settings=settings, times=times), times


def _shift_times(step: Mapping[str, Any], begin: float) -> dict[str, Any]:
    """Return the provenance record of a splice, with its times converted to times in the file of UPPER.

    begin : seconds in the file at which the used part of UPPER begins.
    """
    report = {key: value for key, value in step.items() if key not in ("op", "lower", "upper")}
    if report.get("loop"):
        report["loop"] = _shift_times(report["loop"], begin)
    return report | {key: report[key] + begin for key in ("start", "stop") if key in report}


def _compute_metrics(
    legs: Motion, arms: Motion, result: Motion, copied: Motion, times: TimeMap | None
) -> dict[str, float]:
    """Measure how steady and how well synchronized the result is. Ratios of wobble are ratios of its energy."""
    import numpy as np

    from marey.layer import neck_deviation, phase_errors, splice_naive, wobble
    from marey.layer.gait import track_legs

    stride = legs.fps / track_legs(legs).cycle
    legs = legs[: len(result)]
    own, below = wobble(result, stride), wobble(legs, stride)
    out = {
        "wobble_mm": 1e3 * own**0.5,
        "wobble_lower_mm": 1e3 * below**0.5,
        "wobble_against_lower": own / max(below, 1e-12),
        "neck_deviation_mm": 1e3 * neck_deviation(result, legs),
    }
    if times is None:
        return out
    naive = wobble(copied, stride)
    out |= {"wobble_naive_mm": 1e3 * naive**0.5, "wobble_against_naive": own / max(naive, 1e-12)}
    in_step = 1e3 * neck_deviation(splice_naive(legs, arms, times=times), legs)
    out["neck_deviation_in_step_mm"] = in_step
    out["neck_deviation_against_in_step"] = out["neck_deviation_mm"] / max(in_step, 1e-6)
    errors = np.abs(phase_errors(legs, arms, times))
    if len(errors):
        out["phase_error_p95_cycles"] = float(np.quantile(errors, 0.95))
    return out


def _draw_plots(legs: Motion, result: Motion, copied: Motion, folder: Path) -> list[str]:
    from marey.plot.layer import neck

    paths = {"lower clip": legs[: len(result)], "copied angles": copied}
    neck(paths if copied is result else {"spliced": result, **paths}, folder / "neck.png")
    return ["neck.png"]


def _format_report(report: dict[str, Any]) -> str:
    """Format a report as text."""
    import math

    legs, arms = (each["name"] for each in report["inputs"])
    lines = [describe_written(report)]
    if report["op"] == "splice":
        loop = report["loop"]
        until = f" to {report['stop']:.2f} s" if loop is None else " s on"
        lines.append(
            f"  {arms!r} from {report['start']:.2f}{until}, on {legs!r}, mean distance of hips and knees "
            f"{report['distance']:.3f} m"
        )
        if loop is not None:
            times = plural(loop["passes"], "time")
            lines.append(
                f"  looped {times} from {loop['start']:.2f} to {loop['stop']:.2f} s; the last pass ends at "
                f"{report['stop']:.2f} s"
            )
        if report["seams"] is not None:
            changed = f"{math.degrees(report['seams']['angle']):.1f} degrees"
            hands = report["seams"].get("hands")
            changed += "" if hands is None else f", the distance between the hands by {100 * hands:.1f} cm"
            lines.append(f"  closing the loop rotates joints by up to {changed}")
        turn = math.degrees(math.hypot(*report["posture_turn"]))
        lines.append(f"  posture {report['posture'] or 'none'}: upper body rotated by {turn:.1f} degrees")
    lines += _metric_lines(report["metrics"], legs)
    return "\n".join(lines)


def _metric_lines(metrics: dict[str, float], legs: str) -> list[str]:
    naive = metrics.get("wobble_naive_mm")
    lines = [
        f"  wobble {metrics['wobble_mm']:.1f} mm; {legs!r} {metrics['wobble_lower_mm']:.1f} mm"
        + ("" if naive is None else f", copied angles {naive:.1f} mm"),
        f"  wobble energy {metrics['wobble_against_lower']:.2f} times that of {legs!r}"
        + ("" if naive is None else f", {metrics['wobble_against_naive']:.2f} times that of copied angles"),
        f"  neck deviation {metrics['neck_deviation_mm']:.1f} mm"
        + (
            ""
            if naive is None
            else f", {metrics['neck_deviation_against_in_step']:.2f} times that of synchronized copied angles"
        ),
    ]
    if "phase_error_p95_cycles" in metrics:
        lines.append(f"  phase error {metrics['phase_error_p95_cycles']:.3f} cycles at the 95th percentile")
    return lines
