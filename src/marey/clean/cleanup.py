"""End-effector cleanup: planted points stand still, nothing is under the floor, nothing jumps (Kovar, chapter 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.clean import layout_kernels as layout
from marey.clean.contacts import Plane, checked_plane, find_contacts
from marey.clean.layout_kernels import CleanOptions
from marey.clean.limbs import Limbs, find_limbs
from marey.clean.pipeline import Pipeline, make_options
from marey.clean.points import leg_length, paths_in, side_of
from marey.clean.settings import CleanSettings, PlantAt, Target, check_apart, check_plants_apart
from marey.clean.track import REFERENCE_LEG
from marey.core.arrays import Floats, set_readonly
from marey.core.contacts import Contacts
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue, UnknownName, similar

# A foot no higher than this above the floor stands on it, metres for the reference figure: legs of a wrong length
# leave it there, while stairs are higher.
_NEAR_FLOOR = 0.12
# A foot on average this much above its plants is that of a leg too short; metres for the reference figure.
_HOVERS = 0.03
# Metres; a bone that changes by less has not changed.
_ROUNDING = 1e-9
# A floor further than this above all plants is no floor of theirs, in legs.
_FAR = 1.0


@dataclass(frozen=True, slots=True)
class PlantUsed:
    """A plant as it was held: contact point, frames `start` to `stop` (half-open), place (x, y, z) in metres."""

    point: str
    start: int
    stop: int
    position: tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Cleaned:
    """A cleaned motion, and what it took.

    motion : with the contacts that were held, and `bone_offsets` where limbs were scaled.
    limbs : names of the hands and feet that were looked after.
    scale : (F, E) factor of each limb's length against the motion before; 1 where it was not scaled.
    residue : (F, E) metres that a planted point or a wrist or ankle with a target is away from where it should be.
    shift : (F, 3) metres, displacement of the whole figure.
    plants : in order of their frames.
    foot_scale : (F, E) factor of the distance between the two points of each hand and foot, such as heel and ball.
    """

    motion: Motion
    limbs: tuple[str, ...]
    scale: Floats
    residue: Floats
    shift: Floats
    plants: tuple[PlantUsed, ...]
    foot_scale: Floats

    @property
    def figures(self) -> dict[str, float]:
        """Limb scaling as a share of the limb's length, or of the foot's where that changes more (mean, 99th
        percentile, largest), the largest residue and the largest displacement of the figure in metres."""
        change = np.maximum(np.abs(self.scale - 1.0), np.abs(self.foot_scale - 1.0))
        empty = change.size == 0
        return {
            "limb_scaling_mean": 0.0 if empty else float(change.mean()),
            "limb_scaling_p99": 0.0 if empty else float(np.quantile(change, 0.99)),
            "limb_scaling_max": 0.0 if empty else float(change.max()),
            "residue_max": 0.0 if empty else float(self.residue.max()),
            "shift_max": float(np.linalg.norm(self.shift, axis=1).max()),
        }


def clean(
    motion: Motion,
    contacts: Contacts | None = None,
    *,
    hands: bool = False,
    floor: float | None = None,
    planes: Sequence[Plane] | None = None,
    plants: Sequence[PlantAt] = (),
    targets: Sequence[Target] = (),
    settings: CleanSettings | None = None,
) -> Motion:
    """The motion with its feet, and hands where they are in contact, held where they stand.

    Every point that is in contact stays in one place for as long as it is; nothing is under the floor; joints turn
    without jumps where contacts begin and end. Limbs are scaled a little where they would have to snap straight.

    Parameters
    ----------
    contacts : when which point is in contact; else the motion's own, else they are detected.
    hands : where contacts are detected, those of hands too.
    floor : metres; else the one noted with the motion, else found.
    planes : supports besides the floor, as in `detect_contacts`. By default a foot clearly above the floor stands on
        whatever is at its height; with () everything stands on the floor.
    plants : points that are to stand at given places, for the whole of the contacts that they are part of.
    targets : where hands and feet are to be for a while, standing or moving.
    settings : windows, limb scaling, damping, smoothness.

    Run again on its result, it changes nothing.
    """
    return cleaned(
        motion, contacts, hands=hands, floor=floor, planes=planes, plants=plants, targets=targets, settings=settings
    ).motion


def cleaned(
    motion: Motion,
    contacts: Contacts | None = None,
    *,
    hands: bool = False,
    floor: float | None = None,
    planes: Sequence[Plane] | None = None,
    plants: Sequence[PlantAt] = (),
    targets: Sequence[Target] = (),
    settings: CleanSettings | None = None,
) -> Cleaned:
    """As `clean`, with limb scaling, residue and plants."""
    chosen = settings or CleanSettings()
    motion = _with_contacts(motion, contacts, hands, floor, planes)
    held = motion.contacts
    if held is None or motion.source.floor is None:
        raise InvalidValue("a cleanup needs contacts and a floor, and neither was given nor found")
    limbs = find_limbs(motion.skeleton, held.points, {target.effector for target in targets})
    _check_carried(motion, held, limbs)
    wanted = _whole_plants(held, plants)
    slots = place_plants(held.names, limbs, wanted)
    check_apart(targets)
    _check_within(len(motion), wanted, targets)
    options = find_options(motion.skeleton, motion.fps, limbs, chosen, motion.source.floor, planes)
    pipeline = Pipeline(motion.skeleton, limbs, options, capacity=len(motion))
    offsets = motion.skeleton.offsets if motion.bone_offsets is None else motion.bone_offsets
    rows = pipeline.put(motion.root_positions, motion.rotations, offsets, held.mask)
    pipeline.ask(rows, 0, slots, targets)
    pipeline.run(ended=True)
    _check_floor(pipeline, motion)
    return _collect(motion, held, limbs, pipeline, targets)


def find_options(
    skeleton: Skeleton,
    fps: float,
    limbs: Limbs,
    settings: CleanSettings,
    floor: float,
    planes: Sequence[Plane] | None,
) -> CleanOptions:
    """The settings for one body, as the kernels take them."""
    scale = 1.0
    if any(name.endswith("foot") for name in limbs.names):
        scale = leg_length(skeleton) / REFERENCE_LEG
    near = _NEAR_FLOOR * scale
    others = [] if planes is None else [checked_plane(plane) for plane in planes]
    if planes is not None and not others:
        near = np.inf  # the floor alone
    return make_options(settings, fps, floor=floor, near=near, hover=_HOVERS * scale, planes=others)


def place_plants(names: Sequence[str], limbs: Limbs, plants: Sequence[PlantAt]) -> list[tuple[int, int, PlantAt]]:
    """Each given plant with its limb and which of the limb's points it is."""
    check_plants_apart(plants)
    placed = []
    for plant in plants:
        if plant.point not in names:
            raise UnknownName(
                f"a plant is given for {plant.point!r}, which is not among the contact points {', '.join(names)}"
                f"{similar(plant.point, names)}"
            )
        where = np.argwhere(limbs.columns == names.index(plant.point))
        if not len(where):
            raise InvalidValue(f"a plant is given for {plant.point!r}, which is on no hand or foot")
        placed.append((int(where[0, 0]), int(where[0, 1]), plant))
    return placed


def _with_contacts(
    motion: Motion, contacts: Contacts | None, hands: bool, floor: float | None, planes: Sequence[Plane] | None
) -> Motion:
    """The motion with contacts and floor: given, its own, or found."""
    if floor is not None and not np.isfinite(floor):
        raise InvalidValue(f"the floor's height must be a finite number of metres, got {floor}")
    level = motion.source.floor if floor is None else float(floor)
    held = motion.contacts if contacts is None else contacts
    if held is None:
        found = find_contacts(motion, hands=hands, floor=level, planes=planes)
        held, level = found.contacts, found.floor
    if level is None:
        level = _floor_from(replace(motion, contacts=held))
    return replace(motion, contacts=held, source=replace(motion.source, floor=level))


def _floor_from(motion: Motion) -> float:
    """The floor from the points in contact: below most of what stands."""
    contacts = motion.contacts
    if contacts is None:
        raise InvalidValue("the floor cannot be told without contacts; give it as floor= or --floor")
    feet = [k for k, point in enumerate(contacts.points) if side_of(motion.skeleton, point) is not None]
    heights = paths_in(motion.world(), contacts.points)[:, feet, 1][contacts.mask[:, feet]]
    if heights.size == 0:
        raise InvalidValue("no foot is in contact, so nothing tells where the floor is; give it as floor= or --floor")
    return float(np.quantile(heights, 0.05))


def _check_carried(motion: Motion, contacts: Contacts, limbs: Limbs) -> None:
    """Refuse contacts that cannot be held."""
    carried = set(limbs.columns.ravel().tolist())
    for k, point in enumerate(contacts.points):
        if k not in carried and contacts.mask[:, k].any():
            raise InvalidValue(
                f"contact point {point.name!r} sits on {motion.skeleton.names[point.joint]!r}, which is part of no "
                "hand or foot, so it cannot be held; leave its contacts out"
            )


def _check_within(n_frames: int, plants: Sequence[PlantAt], targets: Sequence[Target]) -> None:
    spans = [(plant.point, plant.start, plant.stop) for plant in plants]
    spans += [(target.effector, target.start, target.stop) for target in targets]
    for name, start, stop in spans:
        if stop > n_frames:
            raise InvalidValue(f"{name!r} is wanted at frames {start} to {stop} of a motion of {n_frames} frames")


def _whole_plants(contacts: Contacts, plants: Sequence[PlantAt]) -> list[PlantAt]:
    """Given plants over the whole of the contacts that they are part of, as half a plant would have to jump."""
    whole = []
    for plant in plants:
        if plant.point not in contacts.names:
            whole.append(plant)  # told later, with all names
            continue
        start, stop = plant.start, plant.stop
        rivals = [other for other in plants if other.point == plant.point and other is not plant]
        for a, b in contacts.intervals(plant.point):
            if a < plant.stop and b > plant.start and not any(r.start < b and r.stop > a for r in rivals):
                start, stop = min(start, a), max(stop, b)
        whole.append(replace(plant, start=start, stop=stop))
    return whole


def _check_floor(pipeline: Pipeline, motion: Motion) -> None:
    """Refuse a floor that is nowhere near: the figure would be torn up to it."""
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
            f"the floor at {floor:.2f} m is more than a leg above the highest foot ({float(seen.max()):.2f} m); check "
            "floor= or --floor, or let it be found"
        )


def _collect(
    motion: Motion, contacts: Contacts, limbs: Limbs, pipeline: Pipeline, targets: Sequence[Target]
) -> Cleaned:
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
    used = _plants_used(contacts, limbs, pipeline)
    residue = _residue(result, contacts, limbs, pipeline)
    shift = set_readonly(pipeline.state.shifts[:n, layout.SHIFT : layout.SHIFT + 3].copy())
    done = Cleaned(
        result,
        limbs.names,
        set_readonly(scale),
        set_readonly(residue),
        shift,
        used,
        set_readonly(_foot_scale(pipeline)),
    )
    record: dict[str, Any] = {"op": "clean", "plants": len(used), **done.figures}
    if targets:
        record["targets"] = len(targets)
    return replace(done, motion=replace(result, source=result.source.with_step(**record)))


def _foot_scale(pipeline: Pipeline) -> Floats:
    """(F, E) how much further apart the two points of each hand and foot are, as the bone between them is changed."""
    rows = pipeline.state.values[: pipeline.n]
    own = rows[:, :, layout.O2 : layout.O2 + 3] - rows[:, :, layout.O1 : layout.O1 + 3]
    length = np.linalg.norm(own, axis=-1)
    moved = np.linalg.norm(own + rows[:, :, layout.W : layout.W + 3], axis=-1)
    joints = pipeline.limbs.table[:, [layout.POINT1, layout.POINT2, layout.SHIFTED]]
    changes = (joints >= 0).all(axis=1) & (length > 0.0)
    return np.where(changes, moved / np.where(changes, length, 1.0), 1.0)


def _plants_used(contacts: Contacts, limbs: Limbs, pipeline: Pipeline) -> tuple[PlantUsed, ...]:
    used = []
    for e, columns in enumerate(limbs.columns):
        for k, column in enumerate(columns):
            if column < 0:
                continue
            name = contacts.names[column]
            held = pipeline.state.flags[: pipeline.n, e, layout.F1 + k] != 0
            places = pipeline.state.values[: pipeline.n, e, layout.C1 + 3 * k : layout.C1 + 3 * k + 3]
            starts = held & np.r_[True, ~held[:-1] | (places[1:] != places[:-1]).any(axis=1)]
            for start in np.flatnonzero(starts).tolist():
                stop = start + 1
                while stop < pipeline.n and held[stop] and not starts[stop]:
                    stop += 1
                x, y, z = places[start].tolist()
                used.append(PlantUsed(name, start, stop, (x, y, z)))
    return tuple(sorted(used, key=lambda plant: (plant.start, plant.point)))


def _residue(motion: Motion, contacts: Contacts, limbs: Limbs, pipeline: Pipeline) -> Floats:
    """(F, E) metres, from the finished motion itself."""
    world = motion.world()
    paths = paths_in(world, contacts.points)
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
