"""Blend panel: synchronized blends, simpler methods for comparison, distance grids, and transitions."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from marey.core.arrays import check_index
from marey.errors import InvalidValue
from marey.studio.forms import word_notes
from marey.studio.messages import MotionInfo
from marey.studio.object_options import locate_files
from marey.studio.panel_recipes import blend_recipe, retarget_recipe, transition_recipe
from marey.studio.panels import blend_messages as messages
from marey.studio.panels.replace_result import replace_result
from marey.studio.registry import command
from marey.studio.wire import fill

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.studio.recipes import CodeRecipe
    from marey.studio.session import Session

_WORK = "marey.studio.panels.blend_work"
# Limits: motions in one blend, and cached registrations, which are reused while only weights change.
_MAX_MOTIONS = 16
_MAX_KEPT = 8


@command(messages.StudyBlend, reads=True)
async def study_blend(session: Session, message: messages.StudyBlend) -> messages.BlendStudy:
    """Register (time-align) motions, and compute the distance grid of two of them."""
    from marey.io.rest import starts_with_rest_pose

    motions = _get_motions(session, message.motions)
    if not 0 < message.other < len(motions):
        raise InvalidValue(f"expected the index of another motion, 1 to {len(motions) - 1}, got {message.other}")
    found = await session.jobs.run(
        f"{_WORK}:study",
        motions=motions,
        other=message.other,
        window=message.window,
        registration=message.registration.to_dict(),
        cache_file=_registration_file(session, message),
    )
    rests = [k for k, motion in enumerate(motions) if starts_with_rest_pose(motion)]
    return fill(messages.BlendStudy, found, rests=rests)


@command(messages.FitMotion)
async def fit_motion(session: Session, message: messages.FitMotion) -> messages.Fitted:
    """Retarget a motion to another skeleton."""
    motion, to = (session.motions.motion(each) for each in (message.motion, message.to))
    for body, frame in ((motion, message.frame), (to, message.to_frame)):
        check_index(frame, f"frame of {body.name!r}", len(body))
    done = await session.jobs.run(
        f"{_WORK}:fit_skeleton", motion=motion, target=to, frame=message.frame, to_frame=message.to_frame
    )
    source, onto = (session.motions.recipe(each) for each in (message.motion, message.to))
    recipe = retarget_recipe(done["motion"].name, source, onto, done["pose"], done["target_pose"])
    return messages.Fitted(
        session.info(session.motions.add_result(done["motion"], message.motion, recipe=recipe)),
        word_notes(done["notes"], messages.FitMotion),
    )


@command(messages.TrimRestPose)
def trim_rest_pose(session: Session, message: messages.TrimRestPose) -> MotionInfo:
    """Remove the leading rest pose of a motion."""
    if not session.motions.trim_rest(message.motion):
        raise InvalidValue(f"{session.motions.motion(message.motion).name!r} does not start with a rest pose")
    return session.info(message.motion)


@command(messages.PlaceFrames, reads=True)
def place_frames(session: Session, message: messages.PlaceFrames) -> messages.FramesPlaced:
    """Align one frame each of two motions."""
    import numpy as np

    from marey.compare.clouds import frame_weights, point_clouds
    from marey.compare.distance import frame_distance

    if not 0.0 <= message.window <= 5.0:
        raise InvalidValue(f"frames are compared over a window of 0 to 5 s, got {message.window:g} s")
    motion, other = (session.motions.motion(each) for each in (message.motion, message.to))
    rate = max(motion.fps, other.fps)
    weights = frame_weights(message.window, rate)
    half = len(weights) // 2
    window, center = _select_frames(motion, message.seconds, half, rate)
    other_window, other_center = _select_frames(other, message.to_seconds, half, rate)
    left, move = frame_distance(point_clouds(other_window), other_center, point_clouds(window), center, weights)
    return messages.FramesPlaced(float(move[0]), float(move[1]), float(move[2]), float(np.sqrt(left)))


@command(messages.BlendMotions)
async def blend_motions(session: Session, message: messages.BlendMotions) -> messages.Blended:
    """Blend motions, as a new motion or replacing the previous result."""
    return await _make(
        session, message, "blend_motions", weights=message.weights, curves=message.curves,
        registration=message.registration.to_dict(), cache_file=_registration_file(session, message),
    )  # fmt: skip


@command(messages.JoinMotions)
async def join_motions(session: Session, message: messages.JoinMotions) -> messages.Blended:
    """Make a transition, as a new motion or replacing the previous result."""
    return await _make(session, message, "make_transition", at=message.at)


@command(messages.CompareBlends, reads=True)
async def compare_blends(session: Session, message: messages.CompareBlends) -> messages.BlendTable:
    """Compare all methods on two motions."""
    motions = _get_motions(session, message.motions)
    settings = message.settings.to_dict()
    found = await session.jobs.run(f"{_WORK}:statistics", motions=motions, weights=message.weights, settings=settings)
    return fill(messages.BlendTable, found, notes=word_notes(found["notes"], messages.CompareBlends))


def _get_motions(session: Session, names: tuple[str, ...]) -> list[Motion]:
    if not 2 <= len(names) <= _MAX_MOTIONS:
        raise InvalidValue(f"select 2 to {_MAX_MOTIONS} clips to blend, not {len(names)}")
    return [session.motions.motion(name) for name in names]


def _registration_file(session: Session, message: messages.StudyBlend | messages.BlendMotions) -> str:
    """Return the cache file for the registration of these motions, and delete the least recently used cache files."""
    digest = hashlib.sha256(repr(message.registration).encode())
    for name in message.motions:
        digest.update(f"{name} {session.motions.opened(name).now.revision} ".encode())
        contacts = session.motions.motion(name).contacts  # editing contacts does not change the revision
        digest.update(b"" if contacts is None else contacts.mask.tobytes())
    key = digest.hexdigest()[:16]
    folder = session.places.own / "blend"
    folder.mkdir(exist_ok=True)
    recent: dict[str, None] = session.state.get_or_create("blend", dict)
    recent.pop(key, None)
    recent[key] = None
    while len(recent) > _MAX_KEPT:
        oldest = next(iter(recent))
        del recent[oldest]
        (folder / f"{oldest}.npz").unlink(missing_ok=True)
    return str(folder / f"{key}.npz")


async def _make(
    session: Session, message: messages.BlendMotions | messages.JoinMotions, work: str, **arguments: Any
) -> messages.Blended:
    """Run the function `work` in the worker and publish its motion, replacing the previous result if still open."""
    motions = _get_motions(session, message.motions)
    recipes = [session.motions.recipe(name) for name in message.motions]
    settings = locate_files([type(message.settings)], message.settings.to_dict(), session.places.find_file)
    done = await session.jobs.run(f"{_WORK}:{work}", motions=motions, settings=settings, **arguments)
    recipe = _write_recipe(message, recipes, done)
    shown = replace_result(
        session, message.result, done["motion"], "blended", message.merge_undo, *message.motions, recipe=recipe
    )
    return fill(messages.Blended, done, motion=session.info(shown), notes=word_notes(done["notes"], type(message)))


def _write_recipe(
    message: messages.BlendMotions | messages.JoinMotions, recipes: list[CodeRecipe], done: dict[str, Any]
) -> CodeRecipe | None:
    from marey.studio.panels.blend_work import UNSYNCHRONIZED

    if isinstance(message, messages.JoinMotions):
        return transition_recipe(recipes, "transition", message.at, message.settings)
    if any(UNSYNCHRONIZED in note for note in done["notes"]):
        return None
    return blend_recipe(message, recipes, "blended", done.get("keys"))


def _select_frames(motion: Motion, seconds: float, half: int, rate: float) -> tuple[Motion, int]:
    """Return the frames within `half` frames of a time, sampled at `rate`, and the index of that time among them."""
    from dataclasses import replace

    import numpy as np

    if not 0.0 <= seconds <= motion.duration + 1e-6:
        raise InvalidValue(f"expected a time in {motion.name!r} from 0 to {motion.duration:.2f} s, got {seconds:g} s")
    at = np.arange(-half, half + 1) / rate + min(seconds, motion.duration)
    inside = (at > -1e-9) & (at < motion.duration + 1e-9)
    part = motion.at(np.clip(at[inside], 0.0, motion.duration))
    return replace(part, fps=rate), int(inside[:half].sum())
