"""How visible an edit is: an estimate of perceived error, from studies of what viewers notice.

Every frame of an edited motion is compared with the same frame of its source in three ways, each as a multiple of the
smallest change that an attentive viewer can notice:

- stretch: a bone changes its length by 3 %. Viewers who watch a limb notice 3 %; others miss changes of 20 % (Harrison,
  Rensink, van de Panne: Obscuring Length Changes During Animated Motion, SIGGRAPH 2004).
- slide: a planted foot is 2 cm farther from its median position during the plant than in the source.
- velocity: the hips gain 0.15 m/s or lose 0.2 m/s of horizontal speed, or change by 0.25 m/s vertically. Errors of
  horizontal velocity are easier to see than vertical ones, and gains easier than losses (Reitsma, Pollard: Perceptual
  Metrics for Character Animation, SIGGRAPH 2003, on jumps).

The 3 % are measured by the first study and the order of the velocities by the second; the 2 cm and the sizes of the
velocities are chosen here. The result does not model a viewer; it shows where to look first.
"""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats, find_runs
from marey.errors import InvalidValue
from marey.measure.body import length_changes
from marey.measure.metrics import Reading, measures
from marey.measure.subject import Subject

# Fraction of a bone's length.
STRETCH = 0.03
# Meters.
SLIDE = 0.02
# Meters per second: gained and lost horizontal speed, and vertical velocity.
GAINED, LOST, VERTICAL = 0.15, 0.2, 0.25
# Seconds over which velocities are measured.
_SPAN = 0.1

_DEFINITION = (
    "of the largest of three: change of a bone's length / 3 %, distance of a planted foot from its median position"
    " during the plant, minus that in the source, / 2 cm, and gain / 0.15 m/s or loss / 0.2 m/s of the hips' "
    "horizontal speed or change of their vertical velocity / 0.25 m/s"
)
_SOURCE = (
    "thresholds after Harrison, Rensink, van de Panne 2004 (3 %) and Reitsma, Pollard 2003 (order of the velocities);"
    " the others are chosen here"
)


@measures(
    "edit_visible", "fraction", definition=f"fraction of the frames with a value over 1 {_DEFINITION}", source=_SOURCE
)
def edit_visible(subject: Subject) -> Reading:
    """Fraction of the frames in which a viewer can notice the edit; the note gives the causes."""
    parts = measure_visibility(subject)
    noticed = {name: float((part > 1.0).mean()) for name, part in parts.items()}
    listed = ", ".join(f"{name} {100 * each:.3g} %" for name, each in noticed.items() if each)
    return float((np.max(list(parts.values()), axis=0) > 1.0).mean()), listed


@measures(
    "edit_visibility_max", "times threshold", definition=f"largest value over frames {_DEFINITION}", source=_SOURCE
)
def edit_visibility_max(subject: Subject) -> Reading:
    """Visibility of the edit in its most visible frame, as a multiple of the smallest noticeable change; the note gives
    cause and frame."""
    parts = measure_visibility(subject)
    name = max(parts, key=lambda each: float(parts[each].max()))
    return float(parts[name].max()), f"{name}, frame {int(parts[name].argmax())}"


def measure_visibility(subject: Subject) -> dict[str, Floats]:
    """Return how visible stretch, foot sliding and velocity changes are in each frame (F,); 1 is just noticeable."""
    if subject.source is None:
        raise InvalidValue("needs the source of the motion", parameter="against", remedy="pass `against=`")
    motion, source = subject.motion, subject.source.motion
    if len(motion) != len(source) or abs(motion.fps - source.fps) > 1e-6 * source.fps:
        raise InvalidValue(
            f"the motion must have the frames of its source, {len(source)} at {source.fps:.6g} Hz, not {len(motion)}"
            f" at {motion.fps:.6g} Hz"
        )
    return {"stretch": _find_stretch(subject), "slide": _find_slide(subject), "velocity": _find_velocity(subject)}


def _find_stretch(subject: Subject) -> Floats:
    """Return how visible changes of bone length since the source are in each frame (F,)."""
    assert subject.source is not None
    if not subject.motion.skeleton.fits(subject.source.motion.skeleton):
        raise InvalidValue("the motion must have the same joints as its source")
    bones, _ = length_changes(subject)
    now, before = (np.linalg.norm(each.motion.frame_offsets[:, bones], axis=2) for each in (subject, subject.source))
    change = np.abs(now / np.maximum(before, 1e-9) - 1.0)
    return np.asarray(change.max(axis=1)) / STRETCH


def _find_slide(subject: Subject) -> Floats:
    """Return how visible foot sliding is in each frame (F,): the distance of a planted point from its median position
    during the plant, minus the same distance in the source.
    """
    assert subject.source is not None
    contacts, _ = subject.foot_contacts
    out = np.zeros(len(subject.motion))
    if not contacts.points:
        return out
    both = [each.paths(contacts.points)[..., [0, 2]] for each in (subject, subject.source)]
    for k in range(len(contacts.points)):
        for start, stop in find_runs(contacts.mask[:, k]):
            now, before = (
                np.linalg.norm(paths[start:stop, k] - np.median(paths[start:stop, k], axis=0), axis=-1)
                for paths in both
            )
            out[start:stop] = np.maximum(out[start:stop], (now - before) / SLIDE)
    return out


def _find_velocity(subject: Subject) -> Floats:
    """Return the visibility (F,) of changes of the hips' velocity relative to the source."""
    assert subject.source is not None
    fps = subject.motion.fps
    reach = max(round(0.5 * _SPAN * fps), 1)
    frames = np.arange(len(subject.motion))
    after, before = np.minimum(frames + reach, frames[-1]), np.maximum(frames - reach, 0)
    level, rise = [], []
    for each in (subject, subject.source):
        path = each.world.positions[:, each.hips]
        velocity = (path[after] - path[before]) * fps / (after - before)[:, None]
        level.append(np.hypot(velocity[:, 0], velocity[:, 2]))
        rise.append(velocity[:, 1])
    gain = level[0] - level[1]
    level_change = np.where(gain > 0.0, gain / GAINED, -gain / LOST)
    return np.asarray(np.maximum(level_change, np.abs(rise[0] - rise[1]) / VERTICAL))
