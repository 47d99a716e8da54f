"""Messages of the Graph panel."""

from __future__ import annotations

from marey.studio.messages import Download, Message, MotionInfo, Value


class PairLimit(Value):
    """A threshold in meters for transitions from one label to another; 0 forbids them."""

    before: str
    after: str
    meters: float


class PairCount(Value):
    """Number of transitions from one label to another."""

    before: str
    after: str
    transitions: int


class LabelPart(Value):
    """How many seconds of a label are connected, out of how many, and which other labels can be reached."""

    label: str
    seconds: float
    of_seconds: float
    reaches: tuple[str, ...]


class GraphLinks(Value):
    """Connectivity: `share` is the fraction of all frames in the largest strongly connected component."""

    transitions: int
    share: float
    labels: tuple[LabelPart, ...]
    pairs: tuple[PairCount, ...]


class LimitPoint(Value):
    """Connectivity for one threshold in meters."""

    meters: float
    share: float
    transitions: int


class GraphCommand(Message):
    """A command for the graph at a threshold in meters, with other thresholds for pairs of labels."""

    threshold: float
    pairs: tuple[PairLimit, ...] = ()


class BuildGraph(Message, do="graph_build"):
    """Find transitions between clips: open motions, files in the folder, or both.

    Files with another skeleton than the first clip's are skipped. `window` is the transition length in seconds;
    `rate` is in frames per second, or null for the highest rate of the clips.
    """

    motions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    window: float = 0.5
    rate: float | None = 30.0


class GraphBuilt(Value):
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


class ShowGraph(Message, do="graph_show"):
    """Get the last graph, as after a reload of the page."""


class GraphShown(Value):
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


class LinkGraph(GraphCommand, do="graph_links"):
    """Get the connectivity for these thresholds, without building the graph."""


class WalkGraph(GraphCommand, do="graph_walk"):
    """Make a random walk; the same seed gives the same walk."""

    seconds: float = 20.0
    seed: int = 0
    label: str | None = None
    clean: bool = True


class Walked(Value):
    """The motion, and notes about its graph."""

    motion: MotionInfo
    transitions: int
    findings: tuple[str, ...]


class PathStretch(Value):
    """A drawn segment, x, z in meters, and the action along it; null for any."""

    points: tuple[tuple[float, float], ...]
    label: str | None


class FollowGraph(Message, do="graph_follow"):
    """Make a walk along consecutive segments, joined by straight lines."""

    threshold: float
    stretches: tuple[PathStretch, ...]
    pairs: tuple[PairLimit, ...] = ()
    clean: bool = True


class PathFollowed(Value):
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


class SteerGraph(GraphCommand, do="graph_steer"):
    """Play the graph live, steered by `graph_request`; `clean` locks the feet, which adds delay."""

    direction: float = 0.0
    label: str | None = None
    clean: bool = False


class GraphSteered(Value):
    """The stream's number, rate, character, and delay in seconds caused by foot locking.

    Frames have a `note` if a request cannot be met.
    """

    stream: int
    rate: float
    body: MotionInfo
    delay: float


class SteerRequest(Message, do="graph_request"):
    """Direction in radians from +Z, positive to the left; action, and speed in m/s, null for any."""

    direction: float
    label: str | None = None
    speed: float | None = None


class SaveGraph(GraphCommand, do="graph_save"):
    """Prepare the graph with its clips for download; `marey graph` can read it."""


class GraphSaved(Download):
    """The file's download address."""
