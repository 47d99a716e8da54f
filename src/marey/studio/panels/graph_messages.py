"""Messages of the Graph panel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from marey.studio.messages import Message, MotionInfo


@dataclass(frozen=True, slots=True)
class PairLimit:
    """A threshold in meters for transitions from one label to another; 0 forbids them."""

    before: str
    after: str
    metres: float


@dataclass(frozen=True, slots=True)
class PairCount:
    """Number of transitions from one label to another."""

    before: str
    after: str
    transitions: int


@dataclass(frozen=True, slots=True)
class LabelPart:
    """How many seconds of a label are connected, out of how many, and which other labels can be reached."""

    label: str
    seconds: float
    of_seconds: float
    reaches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphLinks:
    """Connectivity: `share` is the fraction of all frames in the largest strongly connected component."""

    transitions: int
    share: float
    labels: tuple[LabelPart, ...]
    pairs: tuple[PairCount, ...]


@dataclass(frozen=True, slots=True)
class LimitPoint:
    """Connectivity for one threshold in meters."""

    metres: float
    share: float
    transitions: int


@dataclass(frozen=True, slots=True)
class BuildGraph(Message):
    """Find transitions between clips: open motions, files in the folder, or both.

    Files with another skeleton than the first clip's are skipped. `window` is the transition length in seconds;
    `rate` is in frames per second, or null for the lowest rate of the clips.
    """

    do: ClassVar[str] = "graph_build"
    motions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    window: float = 0.5
    rate: float | None = 30.0


@dataclass(frozen=True, slots=True)
class GraphBuilt:
    """The compared clips. `curve` goes up to the largest threshold; `suggested` is a good default.

    `skipped` lists files and reasons; `links` is the connectivity at the suggested threshold.
    """

    clips: tuple[str, ...]
    seconds: float
    rate: float
    skipped: tuple[str, ...]
    labels: tuple[str, ...]
    curve: tuple[LimitPoint, ...]
    suggested: float
    links: GraphLinks


@dataclass(frozen=True, slots=True)
class ShowGraph(Message):
    """Get the last graph, as after a reload of the page."""

    do: ClassVar[str] = "graph_show"


@dataclass(frozen=True, slots=True)
class GraphShown:
    """The current graph; `built` is null if there is none.

    `motions` and `files` are its inputs, `threshold` and `pairs` the last requested
    thresholds, and `links` of `built` the connectivity for them.
    """

    built: GraphBuilt | None
    motions: tuple[str, ...]
    files: tuple[str, ...]
    window: float
    rate: float | None
    threshold: float
    pairs: tuple[PairLimit, ...]


@dataclass(frozen=True, slots=True)
class LinkGraph(Message):
    """Get the connectivity for these thresholds, without building the graph."""

    do: ClassVar[str] = "graph_links"
    threshold: float
    pairs: tuple[PairLimit, ...] = ()


@dataclass(frozen=True, slots=True)
class WalkGraph(Message):
    """Make a random walk; the same seed gives the same walk."""

    do: ClassVar[str] = "graph_walk"
    threshold: float
    pairs: tuple[PairLimit, ...] = ()
    seconds: float = 20.0
    seed: int = 0
    label: str | None = None
    clean: bool = True


@dataclass(frozen=True, slots=True)
class Walked:
    """The motion, and notes about its graph."""

    motion: MotionInfo
    transitions: int
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PathStretch:
    """A drawn segment, x, z in meters, and the action along it; null for any."""

    points: tuple[tuple[float, float], ...]
    label: str | None


@dataclass(frozen=True, slots=True)
class FollowGraph(Message):
    """Make a walk along consecutive segments, joined by straight lines."""

    do: ClassVar[str] = "graph_follow"
    threshold: float
    stretches: tuple[PathStretch, ...]
    pairs: tuple[PairLimit, ...] = ()
    clean: bool = True


@dataclass(frozen=True, slots=True)
class PathFollowed:
    """The motion, the smoothed path, and the walked way, both x, z; distances in meters.

    `why` explains a large deviation; "" if there is none.
    """

    motion: MotionInfo
    path: tuple[tuple[float, float], ...]
    way: tuple[tuple[float, float], ...]
    length: float
    mean_distance: float
    largest_distance: float
    end_distance: float
    why: str


@dataclass(frozen=True, slots=True)
class SteerGraph(Message):
    """Play the graph live, steered by `graph_request`; `clean` locks the feet, which adds delay."""

    do: ClassVar[str] = "graph_steer"
    threshold: float
    pairs: tuple[PairLimit, ...] = ()
    direction: float = 0.0
    label: str | None = None
    clean: bool = False


@dataclass(frozen=True, slots=True)
class GraphSteered:
    """The stream's number, rate, character, and delay in seconds caused by foot locking.

    Frames have a `note` if a request cannot be met.
    """

    stream: int
    rate: float
    body: MotionInfo
    delay: float


@dataclass(frozen=True, slots=True)
class SteerRequest(Message):
    """Direction in radians from +Z, positive to the left; action, and speed in m/s, null for any."""

    do: ClassVar[str] = "graph_request"
    direction: float
    label: str | None = None
    speed: float | None = None


@dataclass(frozen=True, slots=True)
class SaveGraph(Message):
    """Prepare the graph with its clips for download; `marey graph` can read it."""

    do: ClassVar[str] = "graph_save"
    threshold: float
    pairs: tuple[PairLimit, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphSaved:
    """The file's download address."""

    url: str
    name: str
    size: int
