"""Compare panel: align and measure two motions, and clean motions with metrics before and after."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marey.studio.panels import compare_messages as messages
from marey.studio.registry import command
from marey.studio.wire import fill

if TYPE_CHECKING:
    from marey.studio.session import Session


@command(messages.CleanMotion)
async def clean_motion(session: Session, message: messages.CleanMotion) -> messages.CleanDone:
    """Clean a motion in the worker. The result replaces it or is a new motion."""
    before = session.motions.motion(message.motion)
    done = await session.jobs.run("marey.studio.work:clean", motion=before, settings=message.settings.to_dict())
    result = done["motion"]
    source = replace(before.source, floor=result.source.floor, provenance=result.source.provenance, channel_values=None)
    after = replace(result, name=before.name, source=source)
    if message.as_new:
        shown = session.motions.add_result(replace(after, name=f"{before.name} (clean)"), message.motion)
    else:
        session.motions.change(message.motion, before, after, "cleaned")
        shown = message.motion
    return fill(messages.CleanDone, done, motion=session.info(shown), measures=_measures(done["measures"]))


@command(messages.MeasureMotion, reads=True)
async def measure_motion(session: Session, message: messages.MeasureMotion) -> messages.Measured:
    """Measure one motion, or compare two."""
    arguments = {"motion": session.motions.motion(message.motion)}
    if message.against is not None:
        arguments["against"] = session.motions.motion(message.against)
    done = await session.jobs.run("marey.studio.work:measure_motion", **arguments)
    return messages.Measured(_measures(done["measures"]))


@command(messages.AlignMotions, reads=True)
def align_motions(session: Session, message: messages.AlignMotions) -> messages.Placed:
    """Align a frame of one motion with a frame of another."""
    from marey.studio.curves import align_frames

    motion, other = (session.motions.motion(each) for each in (message.motion, message.to))
    return align_frames(motion, message.frame, other, message.to_frame)


def _measures(rows: list[dict[str, Any]]) -> tuple[messages.Measure, ...]:
    """Convert metrics to the names and units that the page shows."""
    from marey.measure.display import shown_metric

    out = []
    for row in rows:
        shown = shown_metric(row["name"], row["unit"])
        values = {k: shown.convert(row[k]) for k in ("value", "against")}
        out.append(messages.Measure(**{**row, "name": shown.title, "unit": shown.unit, **values}))
    return tuple(out)
