"""The tables of a cleanup and the frames that move through them, for batch and stream alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marey.clean import layout
from marey.clean.limbs import Limbs
from marey.clean.settings import CleanSettings, PlantAt, Target
from marey.core._arrays import Bools, Floats
from marey.core.skeleton import Skeleton

_KINDS = {False: layout.POSITION, True: layout.POSE}


def _bell(half: int) -> Floats:
    """(half + 1,) weights by distance: a Gaussian of sigma half / 2 that ends smoothly, as a cut would leave steps."""
    u = np.arange(half + 1) / (half + 1)
    return np.asarray(np.exp(-2.0 * u**2) * (1.0 - u**2) ** 2)


class Pipeline:
    """`capacity` frames of all tables; `n` of them hold frames, `finished` of these are done.

    floor : metres. near : metres; a foot this near above the floor stands on it, and one this much above its plants
    hovers. planes : (N, 3) other supports.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        fps: float,
        limbs: Limbs,
        settings: CleanSettings,
        floor: float,
        near: float,
        hovers: float,
        planes: Sequence[tuple[float, float, float]],
        capacity: int,
    ) -> None:
        n_joints, n_limbs = len(skeleton), len(limbs.names)
        self.limbs, self.capacity, self.n = limbs, capacity, 0
        self.spans = settings.spans(fps)
        self._amounts = np.array(
            [floor, near, settings.damping_from, settings.swivel, settings.max_stretch, hovers], dtype=np.float64
        )
        self._planes = np.array([(floor, 0.0, 0.0), *planes], dtype=np.float64).reshape(-1, 3)
        self._taps = _bell(int(self.spans[layout.L3]))
        self._parents = np.array(skeleton.parents, dtype=np.int64)
        self.root, self.out_root = np.zeros((capacity, 3)), np.zeros((capacity, 3))
        self.local, self.out_local = np.zeros((capacity, n_joints, 4)), np.zeros((capacity, n_joints, 4))
        self.bone, self.out_bone = np.zeros((capacity, n_joints, 3)), np.zeros((capacity, n_joints, 3))
        self.positions, self.world = np.zeros((capacity, n_joints, 3)), np.zeros((capacity, n_joints, 4))
        self.state = np.zeros((capacity, n_limbs, layout.N_STATE))
        self.flags = np.zeros((capacity, n_limbs, layout.N_FLAGS), dtype=np.int64)
        self.shifts = np.zeros((capacity, layout.N_SHIFTS))
        self.figures = np.zeros((capacity, n_limbs, 2))
        self._done = np.zeros(layout.N_STEPS, dtype=np.int64)
        self._tables = (
            self.root, self.local, self.bone, self.positions, self.world, self.state, self.flags, self.shifts,
            self.out_root, self.out_local, self.out_bone, self.figures,
        )  # fmt: skip
        self._limb_tables = tuple(np.array(table) for table in (limbs.table, limbs.offsets, limbs.hinges))

    @property
    def finished(self) -> int:
        """Frames that are done, counted in the tables."""
        return int(self._done[-1])

    @property
    def delay(self) -> int:
        """Frames from one that comes in to the one that is then finished."""
        spans = self.spans
        return int(
            2 * (spans[layout.GAP] + 1)
            + spans[layout.L1 : layout.L4 + 1].sum()
            + 4 * spans[layout.LIFTING]
            + 2 * spans[layout.SEEN]
            + spans[layout.CALM]
        )

    @property
    def behind(self) -> int:
        """Frames before an unfinished one that are still needed."""
        return int(max(self.spans[: layout.L4 + 1].max(), 2 * self.spans[layout.LIFTING]) + self.spans[layout.SEEN]) + 2

    def put(self, root: Floats, local: Floats, bone: Floats, mask: Bools) -> slice:
        """Add frames: (n, 3), (n, J, 4), (n, J, 3) or (J, 3), and contacts (n, K); the rows that they took."""
        rows = slice(self.n, self.n + len(root))
        self.root[rows], self.local[rows], self.bone[rows] = root, local, bone
        self.out_root[rows], self.out_local[rows], self.out_bone[rows] = root, local, bone
        self.flags[rows] = 0
        self.state[rows] = 0.0
        for e, columns in enumerate(self.limbs.columns):
            for k, column in enumerate(columns):
                if column >= 0:
                    self.flags[rows, e, layout.M1 + k] = mask[:, column]
        self.n = rows.stop
        return rows

    def ask(
        self, rows: slice, first: int, plants: Sequence[tuple[int, int, PlantAt]], targets: Sequence[Target]
    ) -> None:
        """Note what is wanted of the frames in `rows`, of which `first` is the first one's number."""
        stop = first + rows.stop - rows.start
        for number, (e, k, plant) in enumerate(plants, start=1):
            a, b = max(plant.start, first), min(plant.stop, stop)
            if a < b:
                at = slice(rows.start + a - first, rows.start + b - first)
                self.flags[at, e, layout.M1 + k] = 1
                self.flags[at, e, layout.GIVEN1 + k] = number
                column = layout.G1 + 3 * k
                self.state[at, e, column : column + 3] = plant.position
        for target in targets:
            a, b = max(target.start, first), min(target.stop, stop)
            if a < b:
                e = self.limbs.names.index(target.effector)
                at, own = (
                    slice(rows.start + a - first, rows.start + b - first),
                    slice(a - target.start, b - target.start),
                )
                self.flags[at, e, layout.WANTED] = _KINDS[target.orientation is not None]
                self.state[at, e, layout.TP : layout.TP + 3] = target.position[own]
                if target.orientation is not None:
                    self.state[at, e, layout.TQ : layout.TQ + 4] = target.orientation[own]

    def run(self, ended: bool) -> None:
        """Take all steps as far as the frames allow, or to their end where no more will come."""
        from marey.clean import cleanup_kernels

        table, offsets, hinges = self._limb_tables
        cleanup_kernels.advance(
            self._parents, table, offsets, hinges, self._planes, self._taps, self.spans, self._amounts,
            *self._tables, self._done, self.n, ended,
        )  # fmt: skip

    def forget(self) -> int:
        """Drop frames that are finished and no longer needed; how many went."""
        gone = max(self.finished - self.behind, 0)
        if gone:
            for table in self._tables:
                table[: self.n - gone] = table[gone : self.n].copy()
            self.n -= gone
            self._done -= gone
        return gone
