"""`marey solve`: turn positions of joints or markers into the motion of a skeleton."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings
from marey.cli.files import check_output, print_report
from marey.cli.shared_options import output_argument
from marey.errors import plural

if TYPE_CHECKING:
    from marey.io import SolveResult

_N_GAPS = 5


@click.command("solve", cls=SettingsCommand)
@click.argument("file", metavar="IN")
@output_argument
@add_settings("marey.io.settings:SolveSettings")
@click.option(
    "--names", metavar="SET|NAME,...",
    help="The points of an NPY file, in order: humanml3d, coco, human36m, mediapipe, or names separated by commas.  "
    "[default: the set with this number of points]",
)  # fmt: skip
@click.option(
    "--joints", metavar="FILE",
    help='Map from points to joints: a CSV file with rows such as RKNE,right_lower_leg, or JSON {"RKNE": '
    '"right_lower_leg"}.',
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(file: str, output: str, names: str | None, as_json: bool, **options: Any) -> None:
    """Fit a skeleton to the positions of joints or markers in IN (NPY, TRC, C3D) and write its motion to OUT.

    Bones get constant lengths, noise is removed, and short gaps are filled. The command prints how far the joints are
    from the given positions.

    \b
    Example:
      marey solve pose.npy walk.bvh --names mediapipe --file-fps 30
      marey solve walk.trc walk.glb --joints markers.csv
    """
    from marey.io import SolveSettings, save, solve_with_report
    from marey.io.files import SAVE_SUFFIXES

    check_output(output, suffixes=SAVE_SUFFIXES)
    chosen = names.split(",") if names is not None and "," in names else names
    result = solve_with_report(file, settings=read_settings(SolveSettings, options, names=chosen))
    save(result.motion, output)
    print_report(result.to_dict(), as_json, lambda _: _describe(result, output))


def _describe(result: SolveResult, output: str) -> str:
    motion = result.motion
    lines = [
        f"wrote {output}: {plural(len(motion), 'frame')} of {plural(len(motion.skeleton), 'joint')}",
        f"  error   {1000 * result.mean_error:.1f} mm mean, {1000 * result.max_error:.1f} mm at most, against the "
        f"given positions; their noise is {1000 * result.noise:.1f} mm",
    ]
    lines += [f"  detected  {each}" for each in motion.source.evidence]
    for gap in result.gaps[:_N_GAPS]:
        lines.append(f"  filled  frames {gap.start} to {gap.stop} of {gap.joint}")
    if len(result.gaps) > _N_GAPS:
        lines.append(f"  filled  {len(result.gaps) - _N_GAPS} more gaps (--json lists them)")
    if result.unused:
        lines.append(f"  unused  {', '.join(result.unused)}")
    return "\n".join(lines)
