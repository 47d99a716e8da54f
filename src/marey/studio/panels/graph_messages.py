"""Messages of the Graph panel."""

from __future__ import annotations

from marey.graph.settings import GraphPathSettings, GraphSettings, GraphWalkSettings
from marey.studio.messages import Download, Message, MotionInfo, SkippedClips, Value


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
    """How much of the footage with a label is connected: `seconds` of its `of_seconds`.

    `reaches` lists the other labels that can be reached from it.
    """

    label: str
    seconds: float
    of_seconds: float
    reaches: tuple[str, ...]


class GraphLinks(Value):
    """Connectivity of a graph. `connected` is the fraction of frames in the largest strongly connected component."""

    transitions: int
    connected: float
    labels: tuple[LabelPart, ...]
    pairs: tuple[PairCount, ...]


class LimitPoint(Value):
    """Connectivity for one threshold in meters; `connected` is as in `GraphLinks`."""

    meters: float
    connected: float
    transitions: int


class GraphCommand(
    Message,
    control_labels={"threshold": "Threshold", "thresholds": "Thresholds per pair of labels"},
):
    """A command about the graph with a threshold in meters, and with other thresholds for some pairs of labels."""

    threshold: float
    pairs: tuple[PairLimit, ...] = ()


class BuildGraph(Message, do="graph_build"):
    """Find transitions between clips: open motions, files in the folder, or both.

    Unless they are retargeted, files are skipped if their skeleton is not that of the motions or, without motions, that
    of most files.
    """

    motions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    settings: GraphSettings = GraphSettings()


class GraphBuilt(Value):
    """The compared clips: their names, total duration in seconds, and common frame rate.

    `number` counts the graphs of the session.
    `skipped` are the skipped files, grouped by reason. `curve` is the connectivity for all thresholds, `suggested` a
    good default threshold (m), and `links` the connectivity at that threshold.
    """

    number: int
    clips: tuple[str, ...]
    seconds: float
    rate: float
    skipped: tuple[SkippedClips, ...]
    labels: tuple[str, ...]
    curve: tuple[LimitPoint, ...]
    suggested: float
    links: GraphLinks


class ShowGraph(Message, do="graph_show"):
    """Get the last graph, for example after a page reload."""


class UseGraph(Message, do="graph_use"):
    """Make an earlier graph of the session the current one, by its number; 0 for none."""

    number: int


class GraphShown(Value):
    """The current graph; `built` is null if there is none.

    `motions`, `files` and `settings` are the inputs of the build. `threshold` and `pairs` are the last requested
    thresholds, and `built.links` is the connectivity for them.
    """

    built: GraphBuilt | None
    motions: tuple[str, ...]
    files: tuple[str, ...]
    settings: GraphSettings
    threshold: float
    pairs: tuple[PairLimit, ...]


class LinkGraph(GraphCommand, do="graph_links"):
    """Get the connectivity for some thresholds, without building the graph."""


class WalkGraph(GraphCommand, do="graph_walk"):
    """Generate a random walk; `clean` removes foot skate."""

    settings: GraphWalkSettings = GraphWalkSettings()
    clean: bool = True


class Walked(Value):
    """The motion, the number of transitions of its graph, and notes about the requested label, if any (`findings`)."""

    motion: MotionInfo
    transitions: int
    findings: tuple[str, ...]


class PathStretch(Value):
    """A segment of a drawn path: points (x, z) in meters, and the action along it, null for any."""

    points: tuple[tuple[float, float], ...]
    label: str | None


class FollowGraph(GraphCommand, do="graph_follow"):
    """Generate a walk along consecutive segments, joined by straight lines. `clean` removes foot skate."""

    stretches: tuple[PathStretch, ...] = ()
    settings: GraphPathSettings = GraphPathSettings()
    clean: bool = True


class StylePlayed(Value):
    """The part of a walk in one style: seconds of the motion, and seconds `own` of clips without transitions.

    `through` lists the labels that the walk passes to get into this style, if no transition leads there directly from
    the previous style.
    """

    label: str
    start: float
    stop: float
    own: float
    through: tuple[str, ...]


class PathFollowed(Value):
    """The motion, the smoothed path, and the path actually walked (`way`), both as points (x, z).

    `length` is the length of the path. `mean_distance`, `largest_distance` and `end_distance` measure the deviation
    from it. All are in meters. `why` explains a large deviation; "" if there is none.
    """

    motion: MotionInfo
    path: tuple[tuple[float, float], ...]
    way: tuple[tuple[float, float], ...]
    length: float
    mean_distance: float
    largest_distance: float
    end_distance: float
    why: str
    styles: tuple[StylePlayed, ...]


class SaveGraph(GraphCommand, do="graph_save"):
    """Prepare the graph with its clips for download. `marey graph` can read the file."""


class GraphSaved(Download):
    """The download address of the graph."""
