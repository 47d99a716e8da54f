"""Layers & gaze panel: make a motion look at targets. `marey.studio.operations` combines body parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marey.errors import InvalidValue
from marey.layer.settings import GazeSettings
from marey.studio.forms import word_notes
from marey.studio.messages import MotionCommand, MotionInfo, Value
from marey.studio.panel_recipes import gaze_recipe
from marey.studio.panels.aim_files import motion_files
from marey.studio.panels.author_files import find_authored
from marey.studio.panels.replace_result import replace_dragged
from marey.studio.registry import command
from marey.studio.threads import to_thread
from marey.studio.wire import fill

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.studio.session import Session

_WORK = "marey.studio.panels.layer_work"
_MAX_GOALS = 100


class LookGoal(Value):
    """A gaze target from `time` seconds on: a point in the world (m), or a direction.

    `angles` are yaw to the left and pitch upward, relative to the body's heading (radians). If both are null, the
    motion returns to its original gaze.
    """

    time: float
    point: tuple[float, float, float] | None = None
    angles: tuple[float, float] | None = None


class LookAt(MotionCommand, do="layer_look"):
    """Make a motion look at points or in directions, one after another.

    `made` is the id of an earlier result to update, for example while a point is dragged. `eyes` adds a joint to the
    head that points along the gaze. `map` is the path of a gaze map in the folder; null is the built-in one.
    """

    goals: tuple[LookGoal, ...]
    made: str | None = None
    eyes: bool = False
    map: str | None = None
    settings: GazeSettings = GazeSettings()


class LookReport(Value):
    """The result for one gaze target. `settled` is the time in seconds at which the gaze reaches it.

    `settled` is null if there is not enough time. `missed` is the remaining error in degrees, null if not applicable.
    `outside` is the angle in degrees by which the target lies outside the range of the gaze map.
    """

    time: float
    settled: float | None
    outside: float
    missed: float | None


class LookDone(Value):
    """The motion, the result for each gaze target, and the gaze over time.

    `places` (eye positions in meters) and `directions` (unit vectors) are flat x y z lists, for every `step`-th frame.
    """

    motion: MotionInfo
    looks: tuple[LookReport, ...]
    step: int
    places: tuple[float, ...]
    directions: tuple[float, ...]
    notes: tuple[str, ...]


@command(LookAt)
async def look_at(session: Session, message: LookAt) -> LookDone:
    """Make a motion look at its targets, as a new motion or updating an earlier result."""
    if not 0 < len(message.goals) <= _MAX_GOALS:
        raise InvalidValue(f"expected 1 to {_MAX_GOALS} gaze targets, got {len(message.goals)}")
    _check_own_result(session, message.made)
    base, source = session.motions.motion(message.motion), session.motions.recipe(message.motion)
    file = await to_thread(motion_files(session).file_of, session, message.motion)
    done = await session.jobs.run(
        f"{_WORK}:look",
        file=file,
        goals=[(goal.time, *(goal.angles or (goal.point,))) for goal in message.goals],
        gaze_map=None if message.map is None else str(find_authored(session.places, message.map, "gaze")),
        settings=message.settings.to_dict() | {"eyes": "add" if message.eyes else None},
    )
    result = done["motion"] if message.eyes else _apply_rotations(base, done)
    _check_own_result(session, message.made)
    named = replace(result, name=f"{base.name} (looking)")
    recipe = gaze_recipe(message, source, named.name)
    name = replace_dragged(session, message.made, named, message.motion, recipe=recipe)
    _own_results(session).add(name)
    session.send_frames_with_reply(name)
    return fill(LookDone, done, motion=session.info(name), notes=word_notes(done["notes"], type(message)))


def _apply_rotations(base: Motion, done: dict[str, Any]) -> Motion:
    """Return the motion with the rotations of some joints replaced by the worker's result."""
    rotations = base.rotations.copy()
    rotations[:, done["joints"]] = done["rotations"]
    source = replace(base.source, channel_values=None).with_step(**done["record"])
    return replace(base, rotations=rotations, source=source)


def _own_results(session: Session) -> set[str]:
    """Return the ids of the panel's results, which it may replace."""
    result: set[str] = session.state.get_or_create("layer", set)
    return result


def _check_own_result(session: Session, name: str | None) -> None:
    """Raise an error if the motion to replace is not a result of the panel."""
    if name is not None and name not in _own_results(session):
        raise InvalidValue(f"motion {name[:40]!r} is not a gaze result; omit it to make a new one")
