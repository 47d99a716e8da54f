"""Hold knees, elbows, pelvis, back and head in place while they touch the floor, and lift them out of it.

This runs after hands and feet were held (`marey.clean.pipeline`), on entire arrays of frames. Every part has a target
path: its plant while it is planted; elsewhere its own path, kept above the floor, with an offset that fades out from
the plants. First the entire body moves toward these targets, by least squares over neighboring frames. The remaining
offsets are then closed from the pelvis outward: the spine moves the back, the neck the head, thighs and upper arms the
knees and elbows. Parts keep their orientation. Hands and feet return to where they were.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from marey.clean.body_parts import BodyPart, find_body_part, find_thickness, subtract_rolling
from marey.clean.body_paths import damp_reach, fade_out, normalize, smooth_frames, smooth_peak, swing_out, swivel_up
from marey.clean.layout_kernels import BASE, END, MID, CleanOptions
from marey.clean.limbs import Limbs
from marey.clean.points import point_paths
from marey.core.arrays import Bools, Floats, Ints, find_runs, set_readonly
from marey.core.contacts import Contacts
from marey.core.kinematics import World, forward_kinematics
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.maths import ease, quat

_UP = np.array([0.0, 1.0, 0.0])
# Cost of moving the body relative to moving a part.
_RIDGE = 0.05
# Meters: smaller moves, and shorter bones, are rounding errors.
_ROUNDING = 1e-12
# Weight of a limb's usual bend in the direction of its knee. It matters for nearly straight limbs, whose knee is at
# most this far from the line between hip and ankle, as a fraction of the thigh.
_USUAL, _BENT = 0.05, 0.2
# A part drops plants that it misses by more than this, in meters; and the maximum number of rounds in which it does.
_MISSED, _N_ROUNDS = 0.001, 4
# Meters, for the reference body: hip joints and shoulders are at least this far above the floor.
_JOINTS_ABOVE = 0.03
# Maximum scaling of the bones that lead to a part, as a fraction of that of limbs; plants that need more are dropped.
# The neck is short, and may be scaled as much as limbs.
_STRETCH = 0.5
# A leg is folded if its ankle is nearer to its hip than this fraction of its length.
_FOLDED = 0.5
_BESIDE = {"pelvis": ("left_upper_leg", "right_upper_leg"), "back": ("left_upper_arm", "right_upper_arm")}


@dataclass(frozen=True, slots=True, eq=False)
class PartPlant:
    """A plant of a body part.

    column : column of its contact point. start, stop : frames, half-open. place : (3,) position in meters.
    """

    column: int
    start: int
    stop: int
    place: Floats


@dataclass(frozen=True, slots=True, eq=False)
class BodyHold:
    """A motion whose body is held; F frames, P parts.

    motion : the result.
    columns : (P,) columns of the parts' contact points.
    scale : (F, P) factor for the length of the bones that lead to each part.
    residue : (F, P) meters by which a planted part misses its position.
    shift : (F, 3) displacement of the entire body, meters.
    plants : the plants of the parts.
    free : (F, K) contacts that were released.
    freed_ends : (F, E) True where hands and feet were released, because they could not stay in place.
    """

    motion: Motion
    columns: tuple[int, ...]
    scale: Floats
    residue: Floats
    shift: Floats
    plants: tuple[PartPlant, ...]
    free: Bools
    freed_ends: Bools


def hold_body(
    motion: Motion,
    source: Motion,
    contacts: Contacts,
    limbs: Limbs,
    planted: Bools,
    lifted: Floats,
    options: CleanOptions,
    scale: float,
) -> BodyHold | None:
    """Hold the parts that have contact points in place; return None if there are no such parts.

    motion : the motion, with hands and feet held.
    source : the motion before the cleanup.
    limbs : hands and feet.
    planted : (F, E) True where hands and feet are planted or have a target.
    lifted : (F, E) meters by which they were lifted above the floor.
    scale : size of the body relative to the reference body.
    """
    parts = find_parts(motion.skeleton, contacts)
    if not parts:
        return None
    dropped: set[tuple[int, int]] = set()
    still_planted = planted.copy()
    for _ in range(_N_ROUNDS):
        holder = _Holder(motion, source, contacts, parts, limbs, still_planted, lifted, options, scale)
        result = holder.run(dropped)
        missed = holder.find_missed()
        if not missed and not holder.free_missed_ends(still_planted):
            break
        dropped |= missed
    return replace(result, freed_ends=planted & ~still_planted)


def find_parts(skeleton: Skeleton, contacts: Contacts) -> list[tuple[int, BodyPart]]:
    """Return the columns of contact points on parts of the body, and the parts, from the pelvis outward."""
    order = ("pelvis", "back", "head", "knee", "elbow")
    found = [(k, part) for k, point in enumerate(contacts.points) if (part := find_body_part(skeleton, point))]
    return sorted(found, key=lambda pair: order.index(pair[1].kind))


class _Holder:
    """The state of one run of `hold_body`; `root`, `rotations` and `bones` change from step to step."""

    def __init__(
        self,
        motion: Motion,
        source: Motion,
        contacts: Contacts,
        parts: list[tuple[int, BodyPart]],
        limbs: Limbs,
        planted: Bools,
        lifted: Floats,
        options: CleanOptions,
        scale: float,
    ) -> None:
        self.motion, self.contacts, self.parts, self.options = motion, contacts, parts, options
        self.limbs, self.planted, self.lifted = limbs, planted, lifted
        self.source = source.world()
        self.size, n = scale, len(motion)
        self.stretch = _STRETCH * options.stretch
        self.root, self.rotations = motion.root_positions.copy(), motion.rotations.copy()
        self.bones = motion.frame_offsets.copy()
        self.before = motion.world()
        self.heights = point_paths(motion, contacts.points)[:, :, 1]
        self.scale, self.residue = np.ones((n, len(parts))), np.zeros((n, len(parts)))
        self.held = np.zeros(contacts.mask.shape, dtype=bool)
        self.needed = np.zeros((n, len(contacts.points), 3))  # offset of each plant from the path of its part
        self.plants: list[PartPlant] = []
        self.end_residue = np.zeros((n, len(limbs.names)))

    def run(self, dropped: Collection[tuple[int, int]]) -> BodyHold:
        """Hold all parts. `dropped` lists plants, by contact point and first frame, that are out of reach."""
        for k, part in self.parts:
            self._plant(k, part, dropped)
        shift = self._find_shift()
        self.root += shift
        for p, (k, part) in enumerate(self.parts):
            moved = self._find_move(k, part)
            if part.base < 0:
                self.root += moved
                shift = shift + moved
            else:
                stretch = self.options.stretch if part.kind == "head" else self.stretch
                self.scale[:, p], missing = self._move_joint(part.base, part.joint, moved, stretch)
                self.residue[:, p] = np.where(self.held[:, k], missing, 0.0)
        for e in range(len(self.limbs.names)):
            self._reach_end(e)
        offsets = self.bones
        rigid = self.motion.bone_offsets is None and float(np.abs(offsets - self.motion.skeleton.offsets).max()) < 1e-9
        result = replace(
            self.motion, root_positions=set_readonly(self.root), rotations=set_readonly(self.rotations),
            bone_offsets=None if rigid else set_readonly(offsets),
        )  # fmt: skip
        columns = tuple(k for k, _ in self.parts)
        free = self.contacts.mask & ~self.held
        free[:, [k for k in range(len(self.contacts.points)) if k not in columns]] = False
        return BodyHold(
            result, columns, self.scale, self.residue, shift, tuple(self.plants), free, np.zeros_like(self.planted)
        )

    def find_missed(self) -> set[tuple[int, int]]:
        """Return the plants that their parts miss, and the plants that keep a hand or foot from its place, each as
        (contact point, first frame)."""
        missed = {k: self.residue[:, p] > _MISSED for p, (k, _) in enumerate(self.parts)}
        for e in range(len(self.limbs.names)):
            for k, part in self.parts:
                if part.joint == self.limbs.table[e, MID]:
                    missed[k] |= self.end_residue[:, e] > _MISSED
        return {
            (plant.column, plant.start) for plant in self.plants if missed[plant.column][plant.start : plant.stop].any()
        }

    def free_missed_ends(self, planted: Bools) -> bool:
        """Clear the plants (F, E) of hands and feet that could not stay in place, in place; return whether there were
        any."""
        found = False
        for e in range(planted.shape[1]):
            for start, stop in find_runs(planted[:, e]):
                if (self.end_residue[start:stop, e] > _MISSED).any():
                    planted[start:stop, e], found = False, True
        return found

    def _find_depth(self, part: BodyPart, positions: Floats, heights: Floats) -> Floats:
        """Return how far (F,), in meters, a part must rise for its point, hip joints and shoulders to be above the
        floor.

        positions : (F, J, 3) meters. heights : (F,) heights of its point.
        """
        floor = self.options.floor
        depth = floor + find_thickness(part) * self.size - heights
        roles = self.motion.skeleton.roles
        for role in _BESIDE.get(part.kind, ()):
            if role in roles:
                depth = np.maximum(depth, floor + _JOINTS_ABOVE * self.size - positions[:, roles[role], 1])
        return depth

    def _compute_world(self) -> World:
        return forward_kinematics(self.motion.skeleton, self.root, self.rotations, self.bones)

    def _plant(self, k: int, part: BodyPart, dropped: Collection[tuple[int, int]]) -> None:
        """Find the plants of a part, and how far each planted frame is from its plant."""
        point, options = self.contacts.points[k], self.options
        path = point_paths(self.motion, [point])[:, :1].copy()
        subtract_rolling(self.motion.skeleton, [point], [self.before.rotations[:, point.joint]], self.size, path)
        risen = path[:, 0, 1] + self._find_depth(part, self.before.positions, self.heights[:, k])
        for first, last in find_runs(self.contacts.mask[:, k]):
            start = first
            while start < last:
                place = path[start : min(start + options.average, last), 0].mean(axis=0)
                away = np.linalg.norm(path[start:last, 0] - place, axis=1) > options.pull
                stop = start + int(away.argmax()) if away.any() else last
                place[1] = max(place[1], min(risen[start:stop].max(initial=-np.inf), place[1] + options.pull))
                if stop > start and (k, start) not in dropped:
                    self.held[start:stop, k] = True
                    self.needed[start:stop, k] = place - path[start:stop, 0]
                    self.plants.append(PartPlant(k, start, stop, place))
                start = last if stop == last else max(stop, start + 1) + options.release

    def _find_shift(self) -> Floats:
        """Return the displacement (F, 3) of the entire body that brings all parts closest to their targets.

        A knee or elbow constrains the displacement only along its upper bone, because that bone cannot change its
        length. A straight limb with a planted hand or foot resists any displacement along the limb.
        """
        n, positions = len(self.root), self.before.positions
        square, right = np.zeros((n, 3, 3)), np.zeros((n, 3))
        for k, part in self.parts:
            depth = self._find_depth(part, positions, self.heights[:, k])
            lift = np.clip(depth, 0.0, self.options.pull)[:, None] * _UP
            needed = np.where(self.held[:, k, None], self.needed[:, k], lift)
            weight = np.where(self.held[:, k] | (depth > 0.0), 1.0, 0.0)
            along = np.broadcast_to(np.eye(3), (n, 3, 3))
            if part.kind in ("knee", "elbow"):
                along = _outer(normalize(positions[:, part.joint] - positions[:, part.base]))
            square += weight[:, None, None] * along
            right += weight[:, None] * np.einsum("fij,fj->fi", along, needed)
        for e in range(len(self.limbs.names)):
            base, mid, end = (positions[:, self.limbs.table[e, joint]] for joint in (BASE, MID, END))
            straight = np.einsum("fk,fk->f", normalize(mid - base), normalize(end - mid)).clip(0.0, 1.0) ** 4
            weight = straight * self.planted[:, e]
            square += weight[:, None, None] * _outer(normalize(end - base))
        taps = self.options.taps
        square, right = smooth_frames(square, taps), smooth_frames(right, taps)
        return np.asarray(np.linalg.solve(square + _RIDGE * np.eye(3), right[:, :, None])[:, :, 0], dtype=np.float64)

    def _find_move(self, k: int, part: BodyPart) -> Floats:
        """Return the displacement (F, 3) in meters from a part's current position to its target."""
        options, joint, world = self.options, self.contacts.points[k].joint, self._compute_world()
        now = world.positions[:, joint] - self.before.positions[:, joint]
        moved = fade_out(self.needed[:, k] - now, self.held[:, k], options.fade)
        depth = self._find_depth(part, world.positions, self.heights[:, k] + now[:, 1]) - moved[:, 1]
        moved[:, 1] += self._lift(depth, self.held[:, k])
        if part.kind in ("knee", "elbow"):
            bone = world.positions[:, joint] - world.positions[:, part.base]
            outward = swing_out(bone, moved, self.stretch, options.lift) - moved
            moved = moved + outward * self._weigh_free(self.held[:, k])[:, None]
        return moved

    def _lift(self, depth: Floats, held: Bools) -> Floats:
        """Return the lift (F,) in meters, smooth over time, of a part at `depth` (F,) below the floor; 0 in held
        frames."""
        half = 4 * self.options.lift // 3
        wanted = smooth_peak(np.clip(depth, 0.0, self.options.pull), half, self.options.pull / self._n_rise_frames)
        return wanted * self._weigh_free(held)

    def _weigh_free(self, held: Bools) -> Floats:
        """Return weights (F,): 0 in held frames, rising to 1 in the free frames beside them."""
        return 1.0 - fade_out(np.ones((len(held), 1)), held, 2 * self.options.lift // 3)[:, 0]

    @property
    def _n_rise_frames(self) -> float:
        """Return the number of frames in which a part may rise by the distance `max_pull`."""
        return max(0.5 * self.options.fade, 1.0)

    def _move_joint(self, base: int, joint: int, moved: Floats, stretch: float) -> tuple[Floats, Floats]:
        """Move a joint by rotating `base` and scaling the bones between them; the joint keeps its orientation.

        Return the scale (F,) of the bones, and the remaining distance (F,) in meters. `stretch` limits the scale.

        moved : (F, 3) displacements of the joint in the world, in meters.
        """
        n = len(moved)
        if np.abs(moved).max(initial=0.0) < _ROUNDING:
            return np.ones(n), np.zeros(n)
        world, parents = self._compute_world(), self.motion.skeleton.parents
        chain = self.motion.skeleton.chain(joint)
        before = world.positions[:, joint] - world.positions[:, base]
        after = before + moved
        swing = quat.between(before, after)
        ratio = np.linalg.norm(after, axis=1) / np.maximum(np.linalg.norm(before, axis=1), _ROUNDING)
        factor = np.clip(ratio, 1.0 - stretch, 1.0 + stretch)
        self._turn(base, world, parents, quat.mul(swing, world.rotations[:, base]))
        for between in chain[chain.index(base) + 1 :]:
            self.bones[:, between] *= factor[:, None]
        parent = world.rotations[:, parents[joint]]
        local = quat.inv_mul(quat.mul(swing, parent), world.rotations[:, joint])
        self.rotations[:, joint] = _nearest_sign(local, self.rotations[:, joint])
        return factor, np.abs(ratio - factor) * np.linalg.norm(before, axis=1)

    def _turn(self, joint: int, world: World, parents: Ints, rotation: Floats) -> None:
        above = int(parents[joint])
        local = rotation if above < 0 else quat.inv_mul(world.rotations[:, above], rotation)
        self.rotations[:, joint] = _nearest_sign(local, self.rotations[:, joint])

    def _reach_end(self, e: int) -> None:
        """Move a hand or foot back to where it was before the body moved; a free one moves with the body, but stays
        above the floor."""
        options, table = self.options, self.limbs.table[e]
        base, mid, end = (int(table[joint]) for joint in (BASE, MID, END))
        columns = self.limbs.columns[e][self.limbs.columns[e] >= 0]
        planted = self.planted[:, e]
        follow: Floats = self._compute_world().positions[:, end] - self.before.positions[:, end]
        if np.abs(follow).max(initial=0.0) < _ROUNDING:
            return
        wanted = follow - fade_out(follow, planted, options.fade)
        # A free foot that was lifted out of the floor need not follow a body that is lifted, too.
        lifted = self.lifted[:, e] * self._weigh_free(planted)
        wanted[:, 1] -= np.clip(np.minimum(wanted[:, 1], lifted), 0.0, None)
        below = [j for j in range(len(self.motion.skeleton)) if end in self.motion.skeleton.chain(j)]
        lowest = np.minimum(
            self.before.positions[:, below, 1].min(axis=1), self.heights[:, columns].min(axis=1, initial=np.inf)
        )
        depth = np.where(planted, 0.0, np.minimum(options.floor, lowest) - lowest - wanted[:, 1])
        wanted[:, 1] += self._lift(depth, planted)
        # Leaving a foot below the floor is better than pulling it sideways, or lifting it farther than others.
        total = self.before.positions[:, end] + wanted - self.source.positions[:, end]
        size = np.linalg.norm(total / [options.pull, options.highest, options.pull], axis=1)
        excess = 1.0 - 1.0 / np.maximum(size, 1.0)
        wanted -= np.where(planted, 0.0, excess)[:, None] * total
        target = self.before.positions[:, end] + wanted
        knee = next((p for p, (_, part) in enumerate(self.parts) if part.joint == mid), None)
        held, least = np.zeros(len(target), dtype=bool), -np.inf
        if knee is not None:
            k, part = self.parts[knee]
            held, least = self.held[:, k], options.floor + find_thickness(part) * self.size
        self._bend((base, mid, end), target, held, least)
        now = self._compute_world().positions[:, end]
        _, missing = self._move_joint(mid, end, target - now, self.stretch)
        self.end_residue[:, e] = np.where(planted, missing, 0.0)

    def _bend(self, joints: tuple[int, int, int], target: Floats, held: Bools, least: float) -> None:
        """In frames where the knee is not held, move it so that the shin reaches the target.

        joints : hip, knee and ankle.
        least : minimum height of the knee in meters, where swiveling can reach it.

        If the shin of a held knee is scaled, the scale fades back to 1 over the neighboring free frames.
        """
        world, stretch = self._compute_world(), self.stretch
        base, mid, _ = joints
        hip, knee, ankle = (world.positions[:, joint] for joint in joints)
        upper, lower = np.linalg.norm(knee - hip, axis=1), np.linalg.norm(ankle - knee, axis=1)
        shin = np.clip(np.linalg.norm(target - knee, axis=1) / lower, 1.0 - stretch, 1.0 + stretch) - 1.0
        lower = lower * (1.0 + fade_out(shin[:, None], held, self.options.fade)[:, 0])
        distance = np.linalg.norm(target - hip, axis=1)
        now = np.linalg.norm(ankle - hip, axis=1)
        spanned = damp_reach(distance, now, upper, lower, self.options.damping if stretch > 0.0 else np.pi)
        near = fade_out(np.ones((len(held), 1)), held, self.options.fade)
        spanned += near[:, 0] * (np.minimum(distance, upper + lower) - spanned)
        longer = np.clip(distance / np.maximum(spanned, _ROUNDING), 1.0 - stretch, 1.0 + stretch)
        upper, lower = upper * longer, lower * longer
        reach = np.clip(distance, np.abs(upper - lower) + 1e-9, upper + lower - 1e-9)
        line = normalize(target - hip)
        # The knee moves along with the line from hip to ankle; near frames in which it is held, it stays where it is.
        # It also stays in a folded leg, where the line is short and every millimeter changes its direction.
        stays = np.maximum(near[:, 0], ease(now / (_FOLDED * (upper + lower))))[:, None]
        bent = quat.rotate(quat.between(ankle - hip, target - hip), knee - hip) * (1.0 - stays) + (knee - hip) * stays
        aside = bent - np.einsum("fk,fk->f", bent, line)[:, None] * line
        pole = self._find_pole(aside / upper[:, None], line, world.rotations[:, base])
        along = (upper**2 - lower**2 + reach**2) / (2.0 * reach)
        out = np.sqrt(np.maximum(upper**2 - along**2, 0.0))
        foot = hip + along[:, None] * line
        rise = np.where(held, -np.inf, least - foot[:, 1])
        pole = swivel_up(pole, line, out, rise, self.options.lift, self.options.pull / self._n_rise_frames, near[:, 0])
        place = foot + out[:, None] * pole
        self._move_joint(base, mid, np.where(held[:, None], 0.0, place - knee), stretch)

    def _find_pole(self, aside: Floats, line: Floats, rotations: Floats) -> Floats:
        """Return unit vectors (F, 3), perpendicular to a line (F, 3), that point from this line to the knee or elbow.

        aside : (F, 3) offset of the knee from the line, relative to the length of the upper bone. If the knee is nearly
            on the line, this direction is noise and may flip between frames; the direction of its usual bend, smoothed
            over time, is used instead.
        rotations : (F, 4) world rotations of the upper bone.
        """
        usual = quat.inv_rotate(rotations, aside).sum(axis=0)
        usual = quat.rotate(rotations, usual / max(float(np.linalg.norm(usual)), _ROUNDING))
        ahead = normalize(usual - np.einsum("fk,fk->f", usual, line)[:, None] * line)
        across = np.cross(line, ahead)
        x, y = np.einsum("fk,fk->f", aside, ahead), np.einsum("fk,fk->f", aside, across)
        straight = ease(np.hypot(x, y) / _BENT)
        angle = np.unwrap(np.arctan2(y, x + _USUAL * straight))
        angle += straight * (smooth_frames(angle, self.options.taps) - angle)
        return np.asarray(np.cos(angle)[:, None] * ahead + np.sin(angle)[:, None] * across)


def _outer(direction: Floats) -> Floats:
    return direction[:, :, None] * direction[:, None, :]


def _nearest_sign(rotations: Floats, reference: Floats) -> Floats:
    """Return q or -q, whichever is closer to `reference`, normalized: signs stay continuous over time."""
    return quat.normalize(np.where(quat.dot(rotations, reference)[:, None] < 0.0, -rotations, rotations))
