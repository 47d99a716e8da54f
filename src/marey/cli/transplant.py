"""`marey transplant`: copy some joints of one motion onto another."""

from __future__ import annotations

import json
from typing import Any

import click

from marey.cli.blend import save_as, written
from marey.cli.files import check_output, warn_of_rate
from marey.cli.layers import get_span
from marey.cli.options import Moment, read_motion, reading, reading_options
from marey.cli.settings import SettingsCommand


@click.command("transplant", cls=SettingsCommand)
@click.argument("base", metavar="BASE")
@click.argument("donor", metavar="DONOR")
@click.option("-o", "--output", required=True, metavar="OUT", help="The motion to write: BVH, GLB or NPZ.")
@click.option(
    "--joints", required=True, metavar="NAMES",
    help="Limbs (left_arm, right_arm, arms, left_leg, right_leg, legs, head, upper_body), roles or joint names, "
    "separated by commas; each includes its descendants.",
)  # fmt: skip
@click.option(
    "--falloff", type=int, help="Number of joints toward the hips over which the effect fades.  [default: all of them]"
)
@click.option(
    "--at", type=Moment(), default=0.0, help="Time in BASE at which DONOR begins: seconds (1.2) or a frame (36f)."
)
@click.option("--ease", type=float, default=0.3, show_default=True, help="Seconds to blend in and out.")
@click.option("--donor-from", type=Moment(), help="Start of the part of DONOR to use.")
@click.option("--donor-to", type=Moment(), help="End of the part of DONOR to use.")
@reading
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
    from marey.layer import transplant

    check_output(output, [base, donor])
    how = reading_options(options)
    body, limb = (read_motion(path, how) for path in (base, donor))
    for path, motion in ((base, body), (donor, limb)):
        warn_of_rate(path, motion)
    start, stop = get_span(limb, "donor", options["donor_from"], options["donor_to"])
    at = options["at"] / body.fps if isinstance(options["at"], int) else options["at"]
    names = [name.strip() for name in options["joints"].split(",") if name.strip()]
    result = transplant(body, limb[start:stop], joints=names, falloff=options["falloff"], at=at, ease=options["ease"])
    step = result.source.provenance[-1]
    saved = save_as(result, output, options["rigid"])
    report = {
        "op": "transplant",
        "written": output,
        "frames": len(saved),
        "fps": saved.fps,
        "seconds": saved.duration,
        "transplanted_frames": step["frames"],
        "weights": step["weights"],
        "notes": step["notes"],
    }
    click.echo(json.dumps(report, indent=1, ensure_ascii=False) if as_json else _text(report))


def _text(report: dict[str, Any]) -> str:
    """Format a report as text."""
    replaced = [name for name, weight in report["weights"].items() if weight == 1.0]
    graded = [f"{name} {weight:.2f}" for name, weight in report["weights"].items() if weight < 1.0]
    first, stop = report["transplanted_frames"]
    lines = [written(report), f"  frames {first} to {stop}: {', '.join(replaced) or 'no joint'} from the donor"]
    if graded:
        lines.append(f"  blended, with the donor's weight: {', '.join(graded)}")
    lines += [f"  {note}" for note in report["notes"]]
    return "\n".join(lines)
