"""Sampled characters: a parametric motion graph as a finite set of clips, which needs no blending of examples to play.

Each node is sampled on a grid of its parameters. A transition leads from one clip to another if the graph has an edge
and the transition is not worse than the edge allows. Such a character can leave Python: `SampledCharacter.save` writes
the clips as glTF animations and the rest as JSON, which docs/exporting.md describes and ``web/player`` plays.

A state is a clip at its frame `decide`, where the next clip is chosen. Places are rigid2d (theta, x, z).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marey.control.settings import SampledStreamSettings, SampleSettings
from marey.core.arrays import Bools, Floats, Ints
from marey.core.motion import Motion
from marey.core.settings import operation
from marey.errors import UnknownName, similar
from marey.maths import rigid2d
from marey.maths.value_kernels import GoalGrid
from marey.pmg import ParametricMotionGraph

if TYPE_CHECKING:
    from marey.control.sampled_stream import SampledStream

__all__ = ["ClipTransitions", "SampledCharacter", "SampledClip", "SampledNode", "ValueTables"]

TURNING = 0.3
"""Cost, in meters, of turning by one radian while the character should stand."""


class SampledNode(NamedTuple):
    """A node: its name, and the names and units of its d parameters.

    steers : whether its clips are used to go somewhere; others are played only on request, such as a punch.
    """

    name: str
    parameters: tuple[str, ...]
    units: tuple[str, ...]
    steers: bool


class SampledClip(NamedTuple):
    """One clip of a sampled character.

    node : index of its node.
    parameters : (d,) parameters of the node.
    motion : its frames, with contacts.
    decide : frame at which the next clip is chosen.
    place : (3,) placement of the character in that frame.
    path : (P, 2) x and z of the hips at evenly spaced times, from the first frame to `decide`.
    hit : (3,) position that the action hits, if its node is aimed at points.

    Places and positions are in the clip's own coordinates.
    """

    node: int
    parameters: Floats
    motion: Motion
    decide: int
    place: Floats
    path: Floats
    hit: Floats | None


class ClipTransitions(NamedTuple):
    """The E transitions between N clips, ordered by the clip that they leave.

    first : (N + 1,) transitions ``first[i]`` to ``first[i + 1]``, half-open, leave clip i.
    target : (E,) the clip that follows.
    leave, enter : (E,) middle frame of the transition in both clips.
    moves : (E, 3) rigid2d that takes the second clip's coordinates to those of the first.
    costs : (E,) distance of the poses in meters.
    """

    first: Ints
    target: Ints
    leave: Ints
    enter: Ints
    moves: Floats
    costs: Floats


class ValueTables(NamedTuple):
    """Seconds until goals are reached from each of N states; see `marey.maths.value_kernels` for the columns.

    speeds : (L,) speeds in m/s that can be requested.
    direction : (L, N, H) cost of not moving at a speed in a direction.
    point : (N, C) time to a point.
    node : (N, K) time until a clip of each node begins.
    rest : (N,) cost of moving at all.
    grid : columns of `point`.
    """

    speeds: Floats
    direction: Floats
    point: Floats
    node: Floats
    rest: Floats
    grid: GoalGrid


@dataclass(frozen=True, eq=False, repr=False)
class SampledCharacter:
    """A character as a finite set of clips.

    name : name of the character.
    nodes, clips, transitions, tables : see their classes.
    half : frames of a transition on each side of its middle frame.
    start : index of the first clip.

    Examples
    --------
    >>> sampled = marey.control.SampledCharacter.build(character, max_clips=9)
    >>> stream = sampled.stream()
    >>> stream.request(direction=1.57)
    >>> len(stream.record(2.0))
    60
    """

    name: str
    nodes: tuple[SampledNode, ...]
    clips: tuple[SampledClip, ...]
    transitions: ClipTransitions
    tables: ValueTables
    half: int
    start: int

    def __repr__(self) -> str:
        return f"<SampledCharacter {self.name!r}: {len(self.clips)} clips, {len(self.transitions.target)} transitions>"

    @classmethod
    @operation(SampleSettings)
    def build(cls, graph: ParametricMotionGraph, settings: SampleSettings) -> SampledCharacter:
        """Sample a character.

        Parameters
        ----------
        graph : the character.
        """
        from marey.control.sampled_build import sample_character

        return sample_character(graph, settings)

    def save(self, path: str | os.PathLike[str]) -> tuple[str, str]:
        """Write the character as ``.json`` and its clips as ``.glb`` of the same name; `path` is either of the two.

        Return the paths of both files.
        """
        from marey.control.sampled_files import save_sampled

        return save_sampled(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SampledCharacter:
        """Read the files written by `save`.

        Examples
        --------
        >>> sampled = marey.control.SampledCharacter.build(character, max_clips=9)
        >>> files = sampled.save("walker.json")
        >>> len(marey.control.SampledCharacter.load("walker.json").clips) == len(sampled.clips)
        True
        """
        from marey.control.sampled_files import load_sampled

        return load_sampled(path)

    @operation(SampledStreamSettings)
    def stream(self, settings: SampledStreamSettings) -> SampledStream:
        """Start endless motion that is steered by commands."""
        from marey.control.sampled_stream import SampledStream

        return SampledStream(self, settings=settings)

    @property
    def fps(self) -> float:
        """Frames per second."""
        return self.clips[0].motion.fps

    def node_index(self, name: str) -> int:
        """Return the index of a node."""
        names = [node.name for node in self.nodes]
        if name not in names:
            known = ", ".join(map(repr, names))
            raise UnknownName(f"{self.name!r} has no node {name!r}{similar(str(name), names)}; known: {known}")
        return names.index(name)

    @cached_property
    def sources(self) -> Ints:
        """(E,) the clip that each transition leaves."""
        return np.repeat(np.arange(len(self.clips)), np.diff(self.transitions.first))

    @cached_property
    def steps(self) -> Floats:
        """(E, 3) rigid2d of the next state, relative to the previous state, for each transition."""
        places = np.stack([clip.place for clip in self.clips])
        after = rigid2d.compose(self.transitions.moves, places[self.transitions.target])
        return np.asarray(rigid2d.compose(rigid2d.invert(places[self.sources]), after))

    @cached_property
    def seconds(self) -> Floats:
        """(E,) time from one state to the next for each transition."""
        decide = np.array([clip.decide for clip in self.clips])
        move = self.transitions
        frames = move.leave - decide[self.sources] + decide[move.target] - move.enter
        return np.asarray(frames / self.fps)

    @cached_property
    def paths(self) -> Floats:
        """(E, P + 1, 2) x and z of the hips between one state and the next, relative to the previous state."""
        places = np.stack([clip.place for clip in self.clips])
        local = rigid2d.compose(rigid2d.invert(places[self.sources]), self.transitions.moves)
        inside = rigid2d.apply(local[:, None], np.stack([self.clips[j].path for j in self.transitions.target]))
        return np.concatenate([np.zeros((len(inside), 1, 2)), inside], axis=1)

    @cached_property
    def useful(self) -> Bools:
        """(E,) whether a transition is used to go somewhere.

        True if its target node steers, and for all transitions of a clip that no such node can follow.
        """
        steers = np.array([node.steers for node in self.nodes])
        nodes = np.array([clip.node for clip in self.clips])[self.transitions.target]
        return np.asarray(steers[nodes] | ~np.isin(self.sources, self.sources[steers[nodes]]))

    @cached_property
    def rest_costs(self) -> Floats:
        """(E,) cost of each transition while the character should stand: path length plus weighted turn, in meters."""
        length = np.linalg.norm(np.diff(self.paths, axis=1), axis=2).sum(axis=1)
        return np.asarray(length + TURNING * np.abs(rigid2d.wrap_angle(self.steps[:, 0])))

    @cached_property
    def middles(self) -> tuple[tuple[Floats, Floats], ...]:
        """For each node, mean (d,) and range (d,) of its clips' parameters."""
        out = []
        for k in range(len(self.nodes)):
            given = np.stack([clip.parameters for clip in self.clips if clip.node == k])
            width = np.ptp(given, axis=0)
            out.append((given.mean(axis=0), np.where(width > 0.0, width, 1.0)))
        return tuple(out)
