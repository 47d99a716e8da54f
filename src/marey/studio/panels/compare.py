"""Compare panel: align and measure two motions, and clean motions with metrics before and after."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marey.studio.panels.compare_messages import (
    AlignMotions,
    CleanDone,
    CleanMotion,
    Measure,
    Measured,
    MeasureMotion,
    Placed,
)
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.studio.session import Session


@command(CleanMotion)
async def clean_motion(session: Session, message: CleanMotion) -> CleanDone:
    """Clean a motion in the worker; the result replaces it or is a new motion."""
    before = session.motions.motion(message.motion)
    done = await session.jobs.run(
        "marey.studio.work:clean",
        motion=before,
        hands=message.hands,
        floor=message.floor,
        max_stretch=message.max_stretch,
        flat=message.flat,
        smooth=message.smooth,
    )
    made = done["motion"]
    source = replace(before.source, floor=made.source.floor, provenance=made.source.provenance, channel_values=None)
    after = replace(made, name=before.name, source=source)
    if message.as_new:
        shown = session.motions.add_result(replace(after, name=f"{before.name} (clean)"), message.motion)
    else:
        session.motions.change(message.motion, before, after, "cleaned")
        shown = message.motion
    return CleanDone(
        session.info(shown),
        _measures(done["measures"]),
        done["plants"],
        done["residue_max"],
        done["limb_scaling_max"],
        done["shift_max"],
    )


@command(MeasureMotion, reads=True)
async def measure_motion(session: Session, message: MeasureMotion) -> Measured:
    """Measure one motion, or compare two."""
    arguments = {"motion": session.motions.motion(message.motion)}
    if message.against is not None:
        arguments["against"] = session.motions.motion(message.against)
    done = await session.jobs.run("marey.studio.work:measure_motion", **arguments)
    return Measured(_measures(done["measures"]))


@command(AlignMotions, reads=True)
def align_motions(session: Session, message: AlignMotions) -> Placed:
    """Align one motion with another."""
    from marey.studio.curves import align_frames

    motion, other = (session.motions.motion(each) for each in (message.motion, message.to))
    return align_frames(motion, message.frame, other, message.to_frame)


def _measures(rows: list[dict[str, Any]]) -> tuple[Measure, ...]:
    return tuple(Measure(**row) for row in rows)
