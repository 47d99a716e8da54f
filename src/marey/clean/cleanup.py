"""End-effector cleanup: hold planted points in place, keep feet above the floor, avoid jumps (Kovar chapter 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from marey.clean import layout_kernels as layout
from marey.clean.body_hold import BodyHold, find_parts, hold_body
from marey.clean.contacts import check_planes, find_contacts
from marey.clean.layout_kernels import CleanOptions
from marey.clean.limbs import Limbs, find_limbs
from marey.clean.move_limits import limit_feet, limit_moves
from marey.clean.pipeline import Pipeline, make_options
from marey.clean.points import find_side, leg_length, point_paths
from marey.clean.result import BelowFloor, CleanResult, PlantUsed, StretchedPart
from marey.clean.settings import CleanSettings, PlantAt, Target, check_plants_apart, check_targets_apart
from marey.clean.track import REFERENCE_LEG
from marey.core.arrays import Bools, Floats, Ints, find_runs, set_readonly
from marey.core.contacts import Contacts
from marey.core.motion import Motion, check_motion
from marey.core.settings import operation
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, UnknownName, similar

# Maximum height of a foot that stands on the floor, in meters for the reference body: errors in leg length can leave
# feet this high, while stairs are higher.
_NEAR_FLOOR = 0.12
# If a foot is on average this far above its plants, in meters for the reference body, its leg is too short.
_HOVER_HEIGHT = 0.03
# Parts are reported if they are left this many meters below the floor, or are scaled by more than a tenth.
_BELOW, _STRETCHED = 0.005, 0.1001
# Smaller changes of a bone offset, in meters, are rounding errors.
_ROUNDING = 1e-9
GIVE_FLOOR = "pass its height as `floor=`"
# A floor more than this far above all plants, in leg lengths, cannot be their floor.
_FAR = 1.0


@operation(CleanSettings, positional=("contacts",))
def clean(motion: Motion, settings: CleanSettings) -> Motion:
    """Remove foot skate: hold feet, and hands that are in contact, in place while they are planted.

    Each contact point stays in one place while its contact lasts, no foot sinks below the floor, and joints rotate
    without jumps where contacts begin and end. Limbs that would otherwise snap straight are scaled slightly.

    Cleaning a cleaned motion changes nothing.

    Examples
    --------
    >>> jog = marey.blend([walk, run], [0.5, 0.5], feet=None)
    >>> marey.measure(jog)["slide_contact"].value > 0.02  # m/s
    True
    >>> marey.measure(marey.clean(jog))["slide_contact"].value < 0.001
    True
    >>> marey.clean(jog, max_stretch=0.0).bone_offsets is None  # constant bone lengths
    True
    """
    return clean_with_report(motion, settings=settings).motion


@operation(CleanSettings, positional=("contacts",))
def clean_with_report(motion: Motion, settings: CleanSettings) -> CleanResult:
    """Clean a motion like `clean`, but also return limb scaling, residue and plants.

    Examples
    --------
    >>> from marey.clean import clean_with_report
    >>> result = clean_with_report(walk)
    >>> result.limbs, result.residue.shape
    (('left_foot', 'right_foot'), (241, 2))
    >>> result.plants[0].point
    'right_ball'
    """
    if settings.joint_limits is not None:
        from marey.clean.within_limits import clean_within_limits
        from marey.io.joint_limits import read_joint_limits

        limits = read_joint_limits(settings.joint_limits)
        assert limits is not None
        return clean_within_limits(motion, settings, limits)
    plants, targets = settings.plants, settings.targets
    motion = _add_contacts(motion, settings)
    held = motion.contacts
    if held is None or motion.source.floor is None:
        raise InvalidValue(
            "cleanup needs contacts and a floor, but none were given or detected",
            remedy="pass `contacts=` and `floor=`",
        )
    limbs = find_limbs(motion.skeleton, held.points, {target.effector for target in targets})
    _check_carried(motion, held, limbs)
    wanted = _extend_plants(held, plants)
    slots = place_plants(held.names, limbs, wanted)
    check_targets_apart(targets)
    _check_within(len(motion), wanted, targets)
    options = find_options(motion.skeleton, motion.fps, limbs, settings, motion.source.floor)
    pipeline = Pipeline(motion.skeleton, limbs, options, capacity=len(motion))
    rows = pipeline.put(motion.root_positions, motion.rotations, motion.frame_offsets, held.mask)
    pipeline.set_targets(rows, 0, slots, targets)
    pipeline.run(ended=True)
    _check_floor(pipeline, motion)
    return _collect_result(motion, held, limbs, pipeline, targets)


def find_options(skeleton: Skeleton, fps: float, limbs: Limbs, settings: CleanSettings, floor: float) -> CleanOptions:
    """Convert the settings to the kernels' options for one body."""
    planes = check_planes(settings.planes)
    scale = measure_scale(skeleton) if any(name.endswith("foot") for name in limbs.names) else 1.0
    near = _NEAR_FLOOR * scale
    if planes == []:
        near = np.inf  # only the floor
    return make_options(settings, fps, floor=floor, near=near, hover=_HOVER_HEIGHT * scale, planes=planes or [])


def measure_scale(skeleton: Skeleton) -> float:
    """Return the size of the body relative to the reference body of the thresholds."""
    return leg_length(skeleton) / REFERENCE_LEG


def place_plants(names: Sequence[str], limbs: Limbs, plants: Sequence[PlantAt]) -> list[tuple[int, int, PlantAt]]:
    """Return each given plant with the index of its limb and of its point on the limb."""
    check_plants_apart(plants)
    placed = []
    for plant in plants:
        if plant.point not in names:
            raise UnknownName(
                f"point of a plant must be one of the contact points {', '.join(names)}, not {plant.point!r}"
                f"{similar(plant.point, names)}"
            )
        where = np.argwhere(limbs.columns == names.index(plant.point))
        if not len(where):
            raise InvalidValue(f"point of a plant must be on a hand or foot, not {plant.point!r}")
        placed.append((int(where[0, 0]), int(where[0, 1]), plant))
    return placed


def _add_contacts(motion: Motion, settings: CleanSettings) -> Motion:
    """Return the motion with contacts and floor: those of the settings, else its own, else detected ones."""
    check_motion(motion)
    level = motion.source.floor if settings.floor is None else settings.floor
    held = motion.contacts if settings.contacts is None else settings.contacts
    wants_more = (settings.hands or settings.body) and settings.contacts is None
    if held is None or wants_more:
        found = find_contacts(motion, hands=settings.hands, body=settings.body, floor=level, planes=settings.planes)
        held = found.contacts if held is None else _add_points(held, found.contacts)
        level = found.floor if level is None else level
    if level is None:
        level = _estimate_floor(replace(motion, contacts=held))
    return replace(motion, contacts=held, source=replace(motion.source, floor=level))


def _add_points(contacts: Contacts, extra: Contacts) -> Contacts:
    """Return the contacts, extended by the contacts of points that only `extra` has."""
    new = [k for k, name in enumerate(extra.names) if name not in contacts.names]
    points = (*contacts.points, *(extra.points[k] for k in new))
    return Contacts(points, set_readonly(np.concatenate([contacts.mask, extra.mask[:, new]], axis=1)))


def _estimate_floor(motion: Motion) -> float:
    """Estimate the floor height in meters: the 5th percentile of the foot points in contact."""
    contacts = motion.contacts
    if contacts is None:
        raise InvalidValue("the floor cannot be found without contacts", remedy=GIVE_FLOOR)
    feet = [k for k, point in enumerate(contacts.points) if find_side(motion.skeleton, point) is not None]
    heights = point_paths(motion, contacts.points)[:, feet, 1][contacts.mask[:, feet]]
    if heights.size == 0:
        raise InvalidValue("no foot is in contact, so the floor cannot be found", remedy=GIVE_FLOOR)
    return float(np.quantile(heights, 0.05))


def _check_carried(motion: Motion, contacts: Contacts, limbs: Limbs) -> None:
    """Raise an error if a contact is of a point that no limb or body part can hold in place."""
    carried = {*limbs.columns.ravel().tolist(), *(k for k, _ in find_parts(motion.skeleton, contacts))}
    for k, point in enumerate(contacts.points):
        if k not in carried and contacts.mask[:, k].any():
            raise InvalidValue(
                f"contact point {point.name!r} is on {motion.skeleton.names[point.joint]!r}, which cleanup does not "
                "move: hands, feet, knees, elbows, hips, chest and head can be held in place; remove its contacts"
            )


def _check_within(n_frames: int, plants: Sequence[PlantAt], targets: Sequence[Target]) -> None:
    spans = [(plant.point, plant.start, plant.stop) for plant in plants]
    spans += [(target.effector, target.start, target.stop) for target in targets]
    for name, start, stop in spans:
        if stop > n_frames:
            raise InvalidValue(
                f"stop of {name!r} must be at most {n_frames} (the number of frames), got frames {start} to {stop}"
            )


def _extend_plants(contacts: Contacts, plants: Sequence[PlantAt]) -> list[PlantAt]:
    """Extend given plants to the entire contact that they are part of; a partial plant would cause a jump."""
    extended = []
    for plant in plants:
        if plant.point not in contacts.names:
            extended.append(plant)  # `place_plants` raises the error, with all names
            continue
        start, stop = plant.start, plant.stop
        rivals = [other for other in plants if other.point == plant.point and other is not plant]
        for a, b in contacts.intervals(plant.point):
            if a < plant.stop and b > plant.start and not any(r.start < b and r.stop > a for r in rivals):
                start, stop = min(start, a), max(stop, b)
        extended.append(replace(plant, start=start, stop=stop))
    return extended


def _check_floor(pipeline: Pipeline, motion: Motion) -> None:
    """Raise an error if the floor is far above the feet: the body would be pulled up to it."""
    floor = motion.source.floor
    kinds = pipeline.state.flags[: pipeline.n, :, layout.KIND]
    feet = np.flatnonzero(pipeline.limbs.table[:, layout.IS_FOOT] == 1)
    if floor is None or len(feet) == 0:
        return
    heights = pipeline.state.values[: pipeline.n][:, feet, layout.P + 1]
    planted = (kinds[:, feet] > layout.FREE) & (kinds[:, feet] < layout.POSE)
    seen = heights[planted] if planted.any() else heights.ravel()
    leg = leg_length(motion.skeleton)
    if floor - float(seen.max()) > _FAR * leg:
        raise InvalidValue(
            f"the floor is at {floor:.2f} m, more than a leg length above the highest foot ({float(seen.max()):.2f} m)",
            parameter="floor",
            remedy="check `floor=`, or leave it out to detect it",
        )


def _collect_result(
    motion: Motion, contacts: Contacts, limbs: Limbs, pipeline: Pipeline, targets: Sequence[Target]
) -> CleanResult:
    n = pipeline.n
    bones = pipeline.output.bone_offsets[:n]
    rigid = motion.bone_offsets is None and float(np.abs(bones - pipeline.frames.bone_offsets[:n]).max()) < _ROUNDING
    scale = pipeline.output.limb_fits[:n, :, layout.SCALE].copy()
    result = replace(
        motion,
        root_positions=set_readonly(pipeline.output.root_positions[:n].copy()),
        rotations=set_readonly(pipeline.output.rotations[:n].copy()),
        bone_offsets=None if rigid else set_readonly(bones.copy()),
        source=replace(motion.source, channel_values=None),
    )
    used = _list_plants(contacts, limbs, pipeline)
    mask = contacts.mask & ~pipeline.find_released(slice(0, n), len(contacts.points))
    shift = pipeline.state.shifts[:n, layout.SHIFT : layout.SHIFT + 3].copy()
    planted = pipeline.state.flags[:n, :, layout.KIND] != layout.FREE
    lifted = pipeline.state.values[:n, :, layout.LIFT]
    body = hold_body(result, motion, contacts, limbs, planted, lifted, pipeline.options, measure_scale(motion.skeleton))
    if body is not None:
        result, shift = body.motion, shift + body.shift
        mask &= ~body.free
        for e, columns in enumerate(limbs.columns):
            mask[:, columns[columns >= 0]] &= ~body.freed_ends[:, e, None]
        used = _sort_plants((*used, *_list_part_plants(contacts, body)))
    turned_back, turned_feet = np.zeros((2, n, len(limbs.names)), dtype=bool)
    given = pipeline.state.flags[:n, :, [layout.WANTED, layout.GIVEN1, layout.GIVEN2]]
    if not given.any():  # positions that the caller gives may be far away
        result, turned_feet = limit_feet(result, motion, limbs, pipeline.options.pull)
        result, turned_back = limit_moves(result, motion, limbs, contacts, pipeline.options.pull)
    for column, rows in ((layout.BASE, turned_back), (layout.END, turned_feet)):
        mask &= ~_find_points_turned_back(motion.skeleton, contacts, limbs.table[:, column], rows)
    turned_back |= turned_feet
    cut = contacts.mask & ~mask
    cuts = dict(zip(contacts.names, cut.T, strict=True))
    released = tuple(plant for plant in used if _is_released(plant, cuts[plant.point]))
    if turned_back.any():
        used = tuple(part for plant in used for part in _cut_plant(plant, cuts[plant.point]))
    if cut.any():
        result = replace(result, contacts=Contacts(contacts.points, mask))
    residue, names = _measure_residue(result, contacts, limbs, pipeline), limbs.names
    residue[turned_back] = 0.0
    if body is not None:
        residue[body.freed_ends & (pipeline.state.flags[:n, :, layout.KIND] < layout.POSE)] = 0.0
    foot_scale = _measure_foot_scale(pipeline)
    if body is not None:
        names += tuple(contacts.names[k] for k in body.columns)
        scale, residue = np.hstack([scale, body.scale]), np.hstack([residue, body.residue])
        foot_scale = np.hstack([foot_scale, np.ones_like(body.scale)])
    done = CleanResult(
        result,
        names,
        set_readonly(scale),
        set_readonly(residue),
        set_readonly(shift),
        used,
        set_readonly(foot_scale),
        released,
        _find_below_floor(result, contacts, limbs, names),
        _find_stretched(scale, foot_scale, contacts, limbs, names, used),
    )
    record: dict[str, Any] = {"op": "clean", "plants": len(used), **done.metrics}
    if targets:
        record["targets"] = len(targets)
    return replace(done, motion=replace(result, source=result.source.with_step(**record)))


def _find_below_floor(motion: Motion, contacts: Contacts, limbs: Limbs, names: Sequence[str]) -> tuple[BelowFloor, ...]:
    """Return the intervals in which a hand, a foot or another part, named in `names`, is below the floor."""
    floor, world, skeleton = motion.source.floor or 0.0, motion.world(), motion.skeleton
    paths = point_paths(motion, contacts.points)[:, :, 1]
    found = []
    for p, name in enumerate(names):
        columns = limbs.columns[p][limbs.columns[p] >= 0] if p < len(limbs.names) else [contacts.index(name)]
        if not len(columns):
            continue
        heights = paths[:, columns].min(axis=1)
        if p < len(limbs.names) and limbs.table[p, layout.IS_FOOT]:
            below = [j for j in range(len(skeleton)) if limbs.table[p, layout.END] in skeleton.chain(j)]
            heights = np.minimum(heights, world.positions[:, below, 1].min(axis=1))
        for start, stop in find_runs(heights < floor - _BELOW):
            found.append(BelowFloor(name, start, stop, float(floor - heights[start:stop].min())))
    return tuple(sorted(found, key=lambda one: one.start))


def _find_stretched(
    scale: Floats,
    foot_scale: Floats,
    contacts: Contacts,
    limbs: Limbs,
    names: Sequence[str],
    used: Sequence[PlantUsed],
) -> tuple[StretchedPart, ...]:
    """Find where limbs, feet and other parts are scaled visibly, and by which plant: the nearest of the same part."""
    most = np.where(np.abs(scale - 1.0) >= np.abs(foot_scale - 1.0), scale, foot_scale)
    found = []
    for p, name in enumerate(names):
        columns = limbs.columns[p] if p < len(limbs.names) else [contacts.index(name)]
        points = {contacts.names[k] for k in columns if k >= 0}
        for start, stop in find_runs(np.abs(most[:, p] - 1.0) > _STRETCHED):
            worst = start + int(np.abs(most[start:stop, p] - 1.0).argmax())
            plants = [plant for plant in used if plant.point in points and plant.start < stop and start < plant.stop]
            near = min(plants, key=lambda plant: max(plant.start - worst, worst - plant.stop), default=None)
            found.append(StretchedPart(name, start, stop, float(most[worst, p]), near))
    return tuple(sorted(found, key=lambda one: one.start))


def _measure_foot_scale(pipeline: Pipeline) -> Floats:
    """Return the scale (F, E) of the distance between the two points of each hand and foot."""
    rows = pipeline.state.values[: pipeline.n]
    own = rows[:, :, layout.O2 : layout.O2 + 3] - rows[:, :, layout.O1 : layout.O1 + 3]
    length = np.linalg.norm(own, axis=-1)
    moved = np.linalg.norm(own + rows[:, :, layout.W : layout.W + 3], axis=-1)
    joints = pipeline.limbs.table[:, [layout.POINT1, layout.POINT2, layout.SHIFTED]]
    changes = (joints >= 0).all(axis=1) & (length > 0.0)
    return np.where(changes, moved / np.where(changes, length, 1.0), 1.0)


def _list_plants(contacts: Contacts, limbs: Limbs, pipeline: Pipeline) -> tuple[PlantUsed, ...]:
    used = []
    for e, columns in enumerate(limbs.columns):
        for k, column in enumerate(columns):
            if column < 0:
                continue
            name = contacts.names[column]
            held = pipeline.state.flags[: pipeline.n, e, layout.F1 + k] != 0
            places = pipeline.state.values[: pipeline.n, e, layout.C1 + 3 * k : layout.C1 + 3 * k + 3]
            starts = held & np.r_[True, ~held[:-1] | (places[1:] != places[:-1]).any(axis=1)]
            begins = np.flatnonzero(starts)
            # A plant ends where the point is not held, or where the next plant begins.
            bounds = np.append(np.flatnonzero(starts | ~held), pipeline.n)
            stops = bounds[np.searchsorted(bounds, begins) + 1]
            for start, stop, (x, y, z) in zip(
                *(each.tolist() for each in (begins, stops, places[begins])), strict=True
            ):
                used.append(PlantUsed(name, start, stop, (x, y, z)))
    return _sort_plants(used)


def _find_points_turned_back(skeleton: Skeleton, contacts: Contacts, joints: Ints, turned_back: Bools) -> Bools:
    """Return a mask (F, K) of the contact points that are not held because a joint (E,) above them was rotated back in
    frames `turned_back` (F, E)."""
    found = np.zeros_like(contacts.mask)
    for joint, rows in zip(joints.tolist(), turned_back.T, strict=True):
        below = skeleton.is_below(joint)
        found |= rows[:, None] & np.array([below[point.joint] for point in contacts.points], dtype=bool)
    return found


def _cut_plant(plant: PlantUsed, cut: Bools) -> Iterator[PlantUsed]:
    """Yield the parts of a plant in the frames in which its contact is not `cut` (F,)."""
    for start, stop in find_runs(~cut[plant.start : plant.stop]):
        yield replace(plant, start=plant.start + start, stop=plant.start + stop)


def _is_released(plant: PlantUsed, cut: Bools) -> bool:
    """Return whether a plant was released: its contact is `cut` (F,) within the plant, or at its end."""
    return bool(cut[plant.start : plant.stop + 1].any())


def _list_part_plants(contacts: Contacts, body: BodyHold) -> Iterator[PlantUsed]:
    for plant in body.plants:
        x, y, z = plant.place.tolist()
        yield PlantUsed(contacts.names[plant.column], plant.start, plant.stop, (x, y, z))


def _sort_plants(plants: Iterable[PlantUsed]) -> tuple[PlantUsed, ...]:
    return tuple(sorted(plants, key=lambda plant: (plant.start, plant.point)))


def _measure_residue(motion: Motion, contacts: Contacts, limbs: Limbs, pipeline: Pipeline) -> Floats:
    """Return the residue (F, E) in meters, measured on the finished motion."""
    world = motion.world()
    paths = point_paths(motion, contacts.points)
    residue = np.zeros((pipeline.n, len(limbs.names)))
    for e, columns in enumerate(limbs.columns):
        wanted = pipeline.state.flags[: pipeline.n, e, layout.WANTED] != 0
        if wanted.any():
            gap = (
                world.positions[:, limbs.table[e, layout.END]]
                - pipeline.state.values[: pipeline.n, e, layout.TP : layout.TP + 3]
            )
            residue[:, e] = np.where(wanted, np.linalg.norm(gap, axis=1), 0.0)
        for k, column in enumerate(columns):
            if column >= 0:
                places = pipeline.state.values[: pipeline.n, e, layout.C1 + 3 * k : layout.C1 + 3 * k + 3]
                held = (pipeline.state.flags[: pipeline.n, e, layout.F1 + k] != 0) & ~wanted
                gap = np.linalg.norm(paths[:, column] - places, axis=1)
                residue[:, e] = np.maximum(residue[:, e], np.where(held, gap, 0.0))
    return residue
