"""`marey transplant`: copy some joints of one motion onto another."""

from __future__ import annotations

from typing import Any

import click

from marey.cli.blend import describe_saved, describe_written, save_as
from marey.cli.derived_options import SettingsCommand, add_settings, read_settings, word_options
from marey.cli.files import check_output, print_report, warn_of_rate
from marey.cli.shared_options import add_reading_options, frames_between, read_motion, take_reading_options
from marey.cli.values import Moment, to_seconds


@click.command("transplant", cls=SettingsCommand)
@click.argument("base", metavar="BASE")
@click.argument("donor", metavar="DONOR")
@click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, FBX, GLB or NPZ.")
@click.option(
    "--joints", required=True, metavar="NAMES",
    help="Limbs (left_arm, right_arm, arms, left_leg, right_leg, legs, head, upper_body), roles or joint names, "
    "separated by commas; each includes its descendants. With weights, as head=0.5,neck=0.2, exactly these joints.",
)  # fmt: skip
@click.option("--at", type=Moment(), help="Time in BASE at which DONOR begins: seconds (1.2) or a frame (36f).")
@add_settings("marey.layer.settings:TransplantSettings", skip=("at",))
@click.option("--donor-from", type=Moment(), help="Start of the part of DONOR to use.")
@click.option("--donor-to", type=Moment(), help="End of the part of DONOR to use.")
@add_reading_options
@click.option("--rigid", is_flag=True, help="Keep bone lengths constant in OUT.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(base: str, donor: str, output: str, as_json: bool, **options: Any) -> None:
    """Copy some joints of DONOR onto BASE, such as a waving arm onto a walk, and write the result to OUT.

    The joints between the copied joints and the hips are blended. The motions need not be walks.

    \b
    Example:
      marey transplant walk.bvh wave.bvh -o walk_wave.bvh --joints right_arm
      marey transplant run.bvh catch.bvh -o both.bvh --joints arms,head --falloff 2 --at 1.5
    """
    from marey.layer import TransplantSettings, transplant

    check_output(output)
    how = take_reading_options(options)
    body, limb = (read_motion(path, how) for path in (base, donor))
    for path, motion in ((base, body), (donor, limb)):
        warn_of_rate(path, motion, is_only=False)
    start, stop = frames_between(limb, options["donor_from"], options["donor_to"], "donor")
    at = None if options["at"] is None else to_seconds(options["at"], body.fps)
    settings = read_settings(TransplantSettings, options, at=at, joints=_parse_joints(options["joints"]))
    result = transplant(body, limb[start:stop], settings=settings)
    step = result.source.provenance[-1]
    saved = save_as(result, output, options["rigid"])
    report = {
        "op": "transplant",
        **describe_saved(saved, output),
        "transplanted_frames": step["frames"],
        "weights": step["weights"],
        "notes": step["notes"],
    }
    print_report(report, as_json, _format_report)


def _parse_joints(text: str) -> list[str] | dict[str, float]:
    """Parse names, or names with weights."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if "=" not in text:
        return words
    try:
        return {name.strip(): float(weight) for name, weight in (word.split("=") for word in words)}
    except ValueError:
        raise click.UsageError(f"--joints must be names, or NAME=WEIGHT for all of them, not {text!r}") from None


def _format_report(report: dict[str, Any]) -> str:
    """Format a report as text."""
    replaced = [name for name, weight in report["weights"].items() if weight == 1.0]
    graded = [f"{name} {weight:.2f}" for name, weight in report["weights"].items() if weight < 1.0]
    first, stop = report["transplanted_frames"]
    lines = [
        describe_written(report),
        f"  frames {first} to {stop}: {', '.join(replaced) or 'no joint'} from the donor",
    ]
    if graded:
        lines.append(f"  blended, with the donor's weight: {', '.join(graded)}")
    lines += [f"  {word_options(note)}" for note in report["notes"]]
    return "\n".join(lines)
