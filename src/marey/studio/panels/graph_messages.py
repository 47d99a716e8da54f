"""What the panel Graph says and is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from marey.studio.messages import Message, MotionInfo


@dataclass(frozen=True, slots=True)
class PairLimit:
    """A threshold in metres for going from frames of one label to those of another; 0 forbids it."""

    before: str
    after: str
    metres: float


@dataclass(frozen=True, slots=True)
class PairCount:
    """How many transitions lead from frames of one label to those of another."""

    before: str
    after: str
    transitions: int


@dataclass(frozen=True, slots=True)
class LabelPart:
    """How much of a label can be played endlessly, of how much there is, and which other labels can be got to."""

    label: str
    seconds: float
    of_seconds: float
    reaches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphLinks:
    """What thresholds leave: `share` is of all frames, in the largest part in which everything leads to everything."""

    transitions: int
    share: float
    labels: tuple[LabelPart, ...]
    pairs: tuple[PairCount, ...]


@dataclass(frozen=True, slots=True)
class LimitPoint:
    """What one threshold for all, in metres, leaves."""

    metres: float
    share: float
    transitions: int


@dataclass(frozen=True, slots=True)
class BuildGraph(Message):
    """Compare clips with each other: open motions, files of the folder, or both.

    Files of another skeleton than the first clip's are left out. `window` is the length of transitions in seconds;
    `rate` in frames per second, or null for the lowest of the clips'.
    """

    do: ClassVar[str] = "graph_build"
    motions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    window: float = 0.5
    rate: float | None = 30.0


@dataclass(frozen=True, slots=True)
class GraphBuilt:
    """What was compared. `curve` goes up to the largest threshold that can be chosen; `suggested` is one that will do.

    `left_out` are files and why; `links` is what the suggested threshold leaves.
    """

    clips: tuple[str, ...]
    seconds: float
    rate: float
    left_out: tuple[str, ...]
    labels: tuple[str, ...]
    curve: tuple[LimitPoint, ...]
    suggested: float
    links: GraphLinks


@dataclass(frozen=True, slots=True)
class ShowGraph(Message):
    """What was compared last, for a page that has been loaded again."""

    do: ClassVar[str] = "graph_show"


@dataclass(frozen=True, slots=True)
class GraphShown:
    """The graph as it stands; `built` is null where there is none yet.

    `motions` and `files` are those that it was asked to be built of, `threshold` and `pairs` the last that were asked
    for, and `links` of `built` what those leave.
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
    """What these thresholds would leave, without building anything."""

    do: ClassVar[str] = "graph_links"
    threshold: float
    pairs: tuple[PairLimit, ...] = ()


@dataclass(frozen=True, slots=True)
class WalkGraph(Message):
    """A walk by chance; the same seed gives the same."""

    do: ClassVar[str] = "graph_walk"
    threshold: float
    pairs: tuple[PairLimit, ...] = ()
    seconds: float = 20.0
    seed: int = 0
    label: str | None = None
    clean: bool = True


@dataclass(frozen=True, slots=True)
class Walked:
    """The motion, and what is to be known of the graph that it walks."""

    motion: MotionInfo
    transitions: int
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PathStretch:
    """A line as it was drawn, x, z in metres, and what to do along it; null for anything."""

    points: tuple[tuple[float, float], ...]
    label: str | None


@dataclass(frozen=True, slots=True)
class FollowGraph(Message):
    """A walk along stretches that follow each other; between two, the straight line."""

    do: ClassVar[str] = "graph_follow"
    threshold: float
    stretches: tuple[PathStretch, ...]
    pairs: tuple[PairLimit, ...] = ()
    clean: bool = True


@dataclass(frozen=True, slots=True)
class PathFollowed:
    """The motion, the smoothed path that it was to follow, and the way it went, both x, z; distances in metres.

    `why` says why the way is far off somewhere; "" where it is not.
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
    """Play the graph live, steered by `graph_wish`; `clean` plants the feet, which shows everything later."""

    do: ClassVar[str] = "graph_steer"
    threshold: float
    pairs: tuple[PairLimit, ...] = ()
    direction: float = 0.0
    label: str | None = None
    clean: bool = False


@dataclass(frozen=True, slots=True)
class GraphSteered:
    """The stream's number, its rate, the figure that it moves, and by how many seconds planting the feet puts it off.

    Frames tell `note` where a wish could not be had.
    """

    stream: int
    rate: float
    body: MotionInfo
    delay: float


@dataclass(frozen=True, slots=True)
class WishGraph(Message):
    """Where to go, radians from +Z, positive to the left; what to do, and how fast in m/s, null for any."""

    do: ClassVar[str] = "graph_wish"
    direction: float
    label: str | None = None
    speed: float | None = None


@dataclass(frozen=True, slots=True)
class SaveGraph(Message):
    """The graph with its clips as a file for download, which `marey graph` takes."""

    do: ClassVar[str] = "graph_save"
    threshold: float
    pairs: tuple[PairLimit, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphSaved:
    """Where the file can be fetched."""

    url: str
    name: str
    size: int
