"""Layers & gaze panel: combine body parts of two motions, and make a motion look at targets."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marey.errors import InvalidValue
from marey.studio.panels import layer_messages as messages
from marey.studio.panels.aim_files import motion_files
from marey.studio.panels.replace_result import replace_dragged
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.studio.session import Session

_WORK = "marey.studio.panels.layer_work"
_MAX_GOALS = 100


@command(messages.SpliceMotions)
async def splice_motions(session: Session, message: messages.SpliceMotions) -> messages.SpliceDone:
    """Put the upper body of one motion on the lower body of another, as a new motion."""
    lower, upper = (session.motions.motion(each) for each in (message.lower, message.upper))
    done = await session.jobs.run(f"{_WORK}:splice", lower=lower, upper=upper, settings=message.settings.to_dict())
    result = session.motions.add_result(done.pop("motion"), message.lower, message.upper)
    return messages.SpliceDone(session.info(result), notes=tuple(done.pop("notes")), **done)


@command(messages.TransplantLimb)
async def transplant_limb(session: Session, message: messages.TransplantLimb) -> messages.TransplantDone:
    """Copy a body part of one motion to another, as a new motion."""
    base, donor = (session.motions.motion(each) for each in (message.base, message.donor))
    settings = {"joints": message.part, **message.settings.to_dict()}
    done = await session.jobs.run(f"{_WORK}:transplant", base=base, donor=donor, settings=settings)
    result = replace(done["motion"], name=f"{base.name} + {message.part.replace('_', ' ')} of {donor.name}")
    return messages.TransplantDone(
        session.info(session.motions.add_result(result, message.base, message.donor)), tuple(done["notes"])
    )


@command(messages.LookAt)
async def look_at(session: Session, message: messages.LookAt) -> messages.LookDone:
    """Make a motion look at points, as a new motion or updating an earlier result."""
    if not 0 < len(message.goals) <= _MAX_GOALS:
        raise InvalidValue(f"expected 1 to {_MAX_GOALS} gaze targets, got {len(message.goals)}")
    _check_own_result(session, message.made)
    base = session.motions.motion(message.motion)
    file = await asyncio.to_thread(motion_files(session).file_of, session, message.motion)
    done = await session.jobs.run(
        f"{_WORK}:look",
        file=file,
        goals=[(goal.time, goal.point) for goal in message.goals],
        settings=message.settings.to_dict() | {"eyes": "add" if message.eyes else None},
    )
    result = done["motion"] if message.eyes else _apply_rotations(base, done)
    _check_own_result(session, message.made)
    name = replace_dragged(session, message.made, replace(result, name=f"{base.name} (looking)"), message.motion)
    _own_results(session).add(name)
    session.send_frames_with_reply(name)
    return messages.LookDone(
        session.info(name),
        tuple(messages.LookReport(**each) for each in done["looks"]),
        done["step"],
        tuple(done["places"]),
        tuple(done["directions"]),
        tuple(done["notes"]),
    )


def _apply_rotations(base: Motion, done: dict[str, Any]) -> Motion:
    """Return the motion with the rotations of some joints replaced by the worker's result."""
    rotations = base.rotations.copy()
    rotations[:, done["joints"]] = done["rotations"]
    source = replace(base.source, channel_values=None).with_step(**done["record"])
    return replace(base, rotations=rotations, source=source)


def _own_results(session: Session) -> set[str]:
    """Return the ids of this panel's results, which it may replace."""
    result: set[str] = session.state.get_or_create("layer", set)
    return result


def _check_own_result(session: Session, name: str | None) -> None:
    """Raise an error if the motion to replace is not a result of this panel."""
    if name is not None and name not in _own_results(session):
        raise InvalidValue(f"motion {name[:40]!r} is not a gaze result; omit it to make a new one")
