"""Layer: an upper body or an arm of one motion on another, and a gaze that follows what is dragged."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marey.errors import InvalidValue
from marey.studio.panels.aim_files import motion_files
from marey.studio.panels.aim_made import made_again
from marey.studio.panels.layer_messages import (
    LookAt,
    LookDone,
    LookReport,
    SpliceDone,
    SpliceMotions,
    TransplantDone,
    TransplantLimb,
)
from marey.studio.panels.page_words import page_words
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.studio.session import Session

_WORK = "marey.studio.panels.layer_work"
_MOST_GOALS = 100


@command(SpliceMotions)
async def splice_motions(session: Session, message: SpliceMotions) -> SpliceDone:
    """An upper body on other legs, as a new motion."""
    lower, upper = (session.motions.motion(each) for each in (message.lower, message.upper))
    with page_words():
        done = await session.jobs.run(
            f"{_WORK}:splice", lower=lower, upper=upper, align=message.align, posture=message.posture
        )
    made = session.motions.add_made(done.pop("motion"), message.lower, message.upper)
    return SpliceDone(session.info(made), notes=tuple(done.pop("notes")), **done)


@command(TransplantLimb)
async def transplant_limb(session: Session, message: TransplantLimb) -> TransplantDone:
    """A part of another motion, as a new motion."""
    base, donor = (session.motions.motion(each) for each in (message.base, message.donor))
    with page_words():
        done = await session.jobs.run(
            f"{_WORK}:transplant", base=base, donor=donor, part=message.part, at=message.at, ease=message.ease
        )
    made = replace(done["motion"], name=f"{base.name} + {message.part.replace('_', ' ')} of {donor.name}")
    return TransplantDone(
        session.info(session.motions.add_made(made, message.base, message.donor)), tuple(done["notes"])
    )


@command(LookAt)
async def look_at(session: Session, message: LookAt) -> LookDone:
    """A motion that looks at points: a new one, or one of before made again."""
    if not 0 < len(message.goals) <= _MOST_GOALS:
        raise InvalidValue(f"expected 1 to {_MOST_GOALS} looks, got {len(message.goals)}")
    _check_made(session, message.made)
    base = session.motions.motion(message.motion)
    file = await asyncio.to_thread(motion_files(session).file_of, session, message.motion)
    done = await session.jobs.run(
        f"{_WORK}:look",
        file=file,
        goals=[(goal.time, goal.point) for goal in message.goals],
        steady=message.steady,
        eyes=message.eyes,
    )
    made = done["motion"] if message.eyes else _turned(base, done)
    _check_made(session, message.made)
    name = made_again(session, message.made, replace(made, name=f"{base.name} (looking)"), message.motion)
    _made(session).add(name)
    return LookDone(
        session.info(name),
        tuple(LookReport(**each) for each in done["looks"]),
        done["step"],
        tuple(done["places"]),
        tuple(done["directions"]),
        tuple(done["notes"]),
    )


def _turned(base: Motion, done: dict[str, Any]) -> Motion:
    """The motion with some joints turned otherwise."""
    rotations = base.rotations.copy()
    rotations[:, done["joints"]] = done["rotations"]
    source = replace(base.source, channel_values=None).with_step(**done["record"])
    return replace(base, rotations=rotations, source=source)


def _made(session: Session) -> set[str]:
    """The motions that this panel has made, which it may make again."""
    made: set[str] = session.kept.once("layer", set)
    return made


def _check_made(session: Session, name: str | None) -> None:
    """Refuse to put a look in the place of a motion that is none."""
    if name is not None and name not in _made(session):
        raise InvalidValue(f"motion {name[:40]!r} was not made by looking; leave it out to make a new one")
