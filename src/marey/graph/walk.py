"""Walks along the edges of a graph, and the motion they play (Kovar 4.1.2, 4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marey.core.annotations import join_contacts
from marey.core.arrays import Floats, FrozenRecord, Ints, freeze_array, set_readonly
from marey.core.contacts import Contacts
from marey.core.feet import Feet, check_feet, feet_from_flag
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.core.placement import find_placement, mix_frames
from marey.core.source import Source
from marey.deprecation import renamed_methods, renamed_parameters
from marey.errors import InvalidValue
from marey.graph.approach import extend_into_clip as _extend_into_clip
from marey.graph.approach import extend_to as _extend_to
from marey.graph.approach import replan_end as _replan_end
from marey.graph.edge_paths import edge_paths
from marey.graph.landing import land_at as _land_at
from marey.maths import quat, rigid2d
from marey.maths.ease import ease_in

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from marey.graph.motion_graph import MotionGraph


# Plants before and after a transition that are farther apart than this, in meters, are different plants.
_SAME_PLACE = 0.1


class WalkPart(NamedTuple):
    """A section of a walk's motion, and the clip frames it comes from.

    start, stop : frames of the walk's motion, half-open.
    clip, frame : name of the clip that is played, and its first frame.
    into, into_frame : name of the clip that is blended into, and its first frame; None outside transitions.
    """

    start: int
    stop: int
    clip: str
    frame: int
    into: str | None
    into_frame: int | None


@renamed_methods(
    begun_at="place_at", ended="replan_end", landed="land_at",
    led_into="extend_into_clip", led_to="extend_to", padded="pad",
)  # fmt: skip
@dataclass(frozen=True, slots=True, eq=False)
class Walk(FrozenRecord):
    """A path through a graph: each edge starts where the previous one ends.

    Attributes
    ----------
    graph : the graph.
    edges : (N,) indices of the edges, in order.
    start : (3,) rigid2d (theta, x, z) that places the first edge's clip in the world.
    n_frames : number of frames to play; the last edge may be cut short.

    Examples
    --------
    >>> route = marey.graph.random_walk(graph, seconds=5.0).place_at((1.0, 0.0), heading=0.0)
    >>> route.n_frames, route.end.shape
    (300, (3,))
    >>> route.parts[0].clip in [clip.name for clip in graph.clips]
    True
    >>> route.motion().duration == route.duration
    True
    """

    graph: MotionGraph
    edges: Ints
    start: Floats
    n_frames: int

    def __post_init__(self) -> None:
        graph = self.graph
        edges = freeze_array(self.edges, "edges", (None,), np.int64)
        if not len(edges):
            raise InvalidValue("edges must contain at least one edge")
        if edges.min() < 0 or edges.max() >= len(graph.edges):
            raise InvalidValue(
                f"edges must be numbers from 0 to {len(graph.edges) - 1}, not {edges.min()} to {edges.max()}"
            )
        broken = np.flatnonzero(graph.edges.heads[edges[:-1]] != graph.edges.tails[edges[1:]])
        if len(broken):
            k = int(broken[0])
            raise InvalidValue(f"edge {edges[k + 1]} does not begin at the node where edge {edges[k]} ends")
        played = graph.edges.n_frames[edges]
        total = int(played.sum())
        if not total - int(played[-1]) < self.n_frames <= total:
            raise InvalidValue(
                f"n_frames must be from {total - int(played[-1]) + 1} to {total}, so that the walk ends "
                f"within its last edge, not {self.n_frames}"
            )
        self._put(edges=edges)
        self._freeze(start=(3,))

    def __len__(self) -> int:
        return self.n_frames

    @property
    def places(self) -> Floats:
        """(N + 1, 3) rigid2d that place each edge's first clip in the world; the last one places the clip after the
        walk."""
        moves = self.graph.edges.moves[self.edges]
        blends = self.graph.edges.blends[self.edges]
        out = np.empty((len(moves) + 1, 3))
        here = out[0] = self.start
        for k, move in enumerate(moves):
            if blends[k]:
                here = rigid2d.compose(here, move)
            out[k + 1] = here
        return out

    @property
    def end(self) -> Floats:
        """(3,) placement of the last frame before cleanup: facing direction in radians, and x, z of the hips in
        meters."""
        last = self._join("walk")[-1:]
        return find_placement(last, 0)

    @renamed_parameters(at="position")
    def place_at(self, position: ArrayLike = (0.0, 0.0), heading: float | None = None) -> Walk:
        """Move the walk to start at a position.

        Parameters
        ----------
        position : (2,) x, z in meters of the hips on the first frame.
        heading : direction of travel at the start, radians from +Z, positive to the left; by default unchanged.

        Examples
        --------
        >>> route = marey.graph.random_walk(graph, seconds=2.0).place_at((1.0, 2.0))
        >>> route.motion().travel[0, [0, 2]].round(3)  # x, z in meters
        array([1., 2.])
        """
        paths = edge_paths(self.graph)
        ahead = float(paths.headings[self.graph.edges.tails[self.edges[0]]])
        turn = float(self.start[0]) if heading is None else heading - ahead
        clip, frame = self.graph.edges.clips[self.edges[0], 0], self.graph.edges.starts[self.edges[0], 0]
        here = rigid2d.apply(np.array([turn, 0.0, 0.0]), self.graph.clips[clip].travel[frame, [0, 2]])
        return replace(self, start=np.array([turn, *(freeze_array(position, "the position to start at", (2,)) - here)]))

    def pad(self, before: float, after: float) -> Walk:
        """Extend the walk by up to `before` seconds of its first clip and up to `after` seconds of its last, as far as
        the graph has them."""
        edges = self.graph.edges
        chosen = self.edges.tolist()
        frames = round(before * self.graph.fps)
        while frames > 0:
            into = np.flatnonzero((edges.heads == edges.tails[chosen[0]]) & ~edges.blends)
            if not len(into) or int(into[0]) in chosen:
                break
            chosen.insert(0, int(into[0]))
            frames -= int(edges.n_frames[chosen[0]])
        frames = round(after * self.graph.fps)
        while frames > 0:
            out_of = [e for e in self.graph.out_edges(int(edges.heads[chosen[-1]])) if not edges.blends[e]]
            if not out_of:
                break
            chosen.append(out_of[0])
            frames -= int(edges.n_frames[out_of[0]])
        # Clip edges do not change the placement, so the start stays the same.
        return self.graph.walk(chosen, self.start, int(edges.n_frames[chosen].sum()) + min(0, frames))

    @property
    def parts(self) -> tuple[WalkPart, ...]:
        """The sections of the walk: which clip frames are played when. Adjacent sections of one clip are merged."""
        return tuple(self._parts())

    def _parts(self) -> Iterator[WalkPart]:
        names = [clip.name for clip in self.graph.clips]
        edges = self.graph.edges
        at = 0
        open_part: WalkPart | None = None
        for e in self.edges:
            stop = min(at + int(edges.n_frames[e]), self.n_frames)
            (a, b), (i, j) = edges.clips[e], edges.starts[e]
            part = WalkPart(
                at, stop, names[a], int(i), names[b] if edges.blends[e] else None, int(j) if edges.blends[e] else None
            )
            if open_part is not None and part.into is None and open_part.into is None:
                open_part = open_part._replace(stop=stop)
            else:
                if open_part is not None:
                    yield open_part
                open_part = part
            at = stop
        if open_part is not None:
            yield open_part

    @renamed_parameters(clean=("feet", feet_from_flag))
    def motion(self, *, feet: Feet = "clean", name: str = "walk") -> Motion:
        """Generate the motion that the walk plays.

        Transitions are blended as in Kovar 4.11 to 4.13. Their contacts come from the first clip in the first half and
        from the second clip in the second half, their labels from both clips. A foot that is planted before and after
        a transition stays planted only if it stands in the same place, within 10 cm. The provenance lists `parts`.

        Parameters
        ----------
        feet : ``"clean"`` removes foot skate where the contacts say a foot is planted. With None, a walk within one
            clip equals that clip exactly.
        name : name of the motion.

        Examples
        --------
        >>> route = marey.graph.random_walk(graph, seconds=2.0)
        >>> route.motion(feet=None, name="wander")
        <Motion 'wander': 120 frames at 60 Hz, 27 joints>
        """
        check_feet(feet)
        joined = self._join(name)
        if feet is None or joined.contacts is None or not joined.contacts.mask.any():
            return joined
        from marey.clean import clean

        return clean(joined)

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last, as of a motion."""
        return (self.n_frames - 1) / self.graph.fps

    def to_dict(self) -> dict[str, Any]:
        """Return what the walk plays, JSON-ready."""
        return {
            "frames": self.n_frames,
            "seconds": self.duration,
            "transitions": sum(part.into is not None for part in self.parts),
            "parts": [part._asdict() for part in self.parts],
        }

    extend_to = _extend_to
    extend_into_clip = _extend_into_clip
    replan_end = _replan_end
    land_at = _land_at

    def _join(self, name: str) -> Motion:
        graph = self.graph
        edges, clips = graph.edges, graph.clips
        places = self.places
        counts = edges.n_frames[self.edges].copy()
        counts[-1] -= int(counts.sum()) - self.n_frames
        runs = [
            (int(a), int(i), int(n))
            for (a, _), (i, _), n in zip(edges.clips[self.edges], edges.starts[self.edges], counts, strict=True)
        ]
        roots, rotations, offsets = _gather(clips, runs)
        placed = np.repeat(places[:-1], counts, axis=0)
        roots, rotations = _move_frames(roots, rotations, placed)
        jumps = [k for k, e in enumerate(self.edges) if edges.blends[e]]
        first_frames = np.cumsum(counts) - counts
        if jumps:
            into = [
                (int(edges.clips[e, 1]), int(edges.starts[e, 1]), int(counts[k]))
                for k, e in ((k, self.edges[k]) for k in jumps)
            ]
            steps = np.concatenate([np.arange(n) for _, _, n in into])
            frames = np.concatenate([np.arange(first_frames[k], first_frames[k] + counts[k]) for k in jumps])
            other_roots, other_rotations, other_offsets = _gather(clips, into)
            carried = np.repeat(places[1:][jumps], counts[jumps], axis=0)
            other_roots, other_rotations = _move_frames(other_roots, other_rotations, carried)
            alpha = ease_in((steps + 1.0) / (2 * graph.half_width + 2))
            roots[frames], rotations[frames], bones = mix_frames(
                graph.skeleton,
                (roots[frames], rotations[frames], None if offsets is None else offsets[frames]),
                (other_roots, other_rotations, other_offsets),
                alpha,
            )
            if offsets is not None:
                offsets[frames] = bones
        parts = [part._asdict() for part in self.parts]
        spans = [(int(first), int(first + n)) for first, n in zip(first_frames[jumps], counts[jumps], strict=True)]
        floors = [clip.source.floor for clip in clips if clip.source.floor is not None]
        joined = Motion(
            graph.skeleton,
            set_readonly(roots),
            set_readonly(quat.unroll(rotations)),
            graph.fps,
            name=name,
            contacts=self._contacts(counts),
            labels=self._labels(counts),
            bone_offsets=None if offsets is None else set_readonly(offsets),
            source=replace(Source(), floor=floors[0] if len(floors) == len(clips) else None).with_step(
                op="graph walk", parts=parts
            ),
        )
        return _part_plants(joined, spans)

    def _contacts(self, counts: Ints) -> Contacts | None:
        edges, clips = self.graph.edges, self.graph.clips
        pieces: list[tuple[Contacts | None, int]] = []
        for e, n in zip(self.edges, counts.tolist(), strict=True):
            (a, b), (i, j) = edges.clips[e].tolist(), edges.starts[e].tolist()
            half = min(n, self.graph.half_width + 1) if edges.blends[e] else n
            pieces.append((_slice_contacts(clips[a].contacts, i, i + half), half))
            if n > half:
                pieces.append((_slice_contacts(clips[b].contacts, j + half, j + n), n - half))
        return join_contacts(pieces)

    def _labels(self, counts: Ints) -> Labels:
        edges, clips = self.graph.edges, self.graph.clips
        spans: dict[str, list[tuple[int, int]]] = {}
        at = 0
        for e, n in zip(self.edges, counts.tolist(), strict=True):
            sides = [0, 1] if edges.blends[e] else [0]
            for side in sides:
                clip, start = int(edges.clips[e, side]), int(edges.starts[e, side])
                for label in clips[clip].labels.crop(start, start + n):
                    spans.setdefault(label.name, []).append((at + label.start, at + label.stop))
            at += n
        return Labels(tuple(Label(name, *span) for name, runs in spans.items() for span in _merge_runs(runs)))


def _part_plants(motion: Motion, transitions: Sequence[tuple[int, int]]) -> Motion:
    """Free feet that are planted throughout a transition, but in different places before and after it."""
    if motion.contacts is None or not any(motion.contacts.mask[a:b].all(axis=0).any() for a, b in transitions):
        return motion
    from marey.clean import point_paths

    paths, mask = point_paths(motion, motion.contacts.points), motion.contacts.mask.copy()
    for start, stop in transitions:
        held = mask[start:stop].all(axis=0)
        held &= np.linalg.norm(paths[stop - 1] - paths[start], axis=-1) > _SAME_PLACE
        mask[start + 1 : stop - 1, held] = False
    return replace(motion, contacts=Contacts(motion.contacts.points, mask))


def _slice_contacts(contacts: Contacts | None, start: int, stop: int) -> Contacts | None:
    return None if contacts is None else contacts.crop(start, stop)


def _merge_runs(runs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Merge half-open runs that touch or overlap."""
    start, stop = -1, -1
    for a, b in sorted(runs):
        if a > stop:
            if stop > start:
                yield start, stop
            start, stop = a, b
        else:
            stop = max(stop, b)
    yield start, stop


def _gather(clips: Sequence[Motion], runs: Sequence[tuple[int, int, int]]) -> tuple[Floats, Floats, Floats | None]:
    """Concatenate the root positions, rotations and bone offsets (None if no clip has any) of runs (clip, start,
    n_frames)."""
    roots = np.concatenate([clips[c].root_positions[i : i + n] for c, i, n in runs])
    rotations = np.concatenate([clips[c].rotations[i : i + n] for c, i, n in runs])
    if all(clip.bone_offsets is None for clip in clips):
        return roots, rotations, None
    return roots, rotations, np.concatenate([clips[c].frame_offsets[i : i + n] for c, i, n in runs])


def _move_frames(roots: Floats, rotations: Floats, places: Floats) -> tuple[Floats, Floats]:
    """Move each frame in place by its row of `places` (n, 3), a rigid2d; return both arrays. Frames with an identity
    transform keep their exact values."""
    moved = places.any(axis=1)
    if moved.any():
        roots[moved] = rigid2d.apply(places[moved], roots[moved])
        rotations[moved, 0] = quat.mul(rigid2d.to_quat(places[moved]), rotations[moved, 0])
    return roots, rotations
