"""Sample a parametric motion graph: choose clips, find the transitions between them, and compute value tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from marey.clean import get_floor
from marey.compare.clouds import Clouds, frame_weights, point_clouds
from marey.compare.distance import frame_distances
from marey.control.planner_kernels import find_ends
from marey.control.planner_tables import NEVER
from marey.control.sampled import ClipTransitions, SampledCharacter, SampledClip, SampledNode, ValueTables
from marey.control.settings import SampleSettings
from marey.core.arrays import Bools, Floats, Ints, set_readonly
from marey.core.motion import Motion
from marey.core.placement import find_placement
from marey.core.resample import resample
from marey.errors import NoResult
from marey.io.glb_write import round_rotations
from marey.maths import rigid2d
from marey.maths.value_kernels import GoalGrid, Steps, iterate_values
from marey.pmg import Node, ParametricMotionGraph, request_at_point
from marey.pmg.costs import find_best_pairs, half_window, make_windows, sole_points
from marey.pmg.seam import match_plants

__all__ = ["sample_character"]

# Frame rates to try, in Hz. The lower the rate, the less similar are the nearest frames of two clips.
_RATES = (30.0, 60.0, 120.0)
# Maximum step between samples of a parameter, by its unit; number of samples for other units.
_STEPS = {"rad": np.radians(12.0), "m": 0.1, "m/s": 0.25}
_OTHER = 5
# Points on a clip's path.
_N_PATH = 8
# Number of speeds that can be requested, and speed in m/s below which a clip does not travel.
_N_SPEEDS, _STILL = 3, 0.15
# Goals: time constant of the discount in seconds, number of directions.
HORIZON, N_DIRECTIONS = 8.0, 72
# Tolerance for reaching a point, as in `marey.control.planner`: meters, and seconds per meter.
POINT_LIMITS = set_readonly(np.array([0.25, 1.0, np.pi, 0.0]))
# Grid of points: first step of the distances in meters, growth factor of the steps, number of bearings. The last
# distance is `_N_FAR` times the longest clip, clamped to `_FAR` meters. Beyond it, the character is assumed to walk
# straight.
_POINT_GRID, _N_FAR, _FAR = (0.15, 0.2, 40), 8.0, (3.0, 10.0)
# Maximum number of transitions from which the table of points is computed; excess ones are left out evenly. Choices
# during playback still try all of them.
_MAX_STEPS = 2500
_TOLERANCE, _MAX_SWEEPS = 2e-4, 80
# Meters, roughly the height of a body's center. It is subtracted from all heights, so single precision is enough.
_HEIGHT = 0.9
# Minimum sum of speed in m/s and turn rate in rad/s of nodes that count as moving the character.
_MOVES = 0.25
_AXES = ("x", "y", "z")


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """One clip before its transitions are known.

    node, parameters, motion : as in `SampledClip`. clouds : its point cloud. soles : (F, K, 3) world positions of its
        contact points.
    at_start : (3,) placement of the character in its first frame.
    """

    node: str
    parameters: Floats
    motion: Motion
    clouds: Clouds
    soles: Floats
    at_start: Floats


def sample_character(graph: ParametricMotionGraph, settings: SampleSettings) -> SampledCharacter:
    """Build a sampled character; see `SampledCharacter.build`."""
    stuck = graph.dead_ends()
    if not graph.nodes or stuck:
        reason = (
            f"{', '.join(map(repr, stuck))} cannot continue; connect or remove them" if stuck else "it has no nodes"
        )
        raise NoResult(f"character {graph.name!r} cannot be sampled: {reason}")
    wanted = [(node, each) for node in graph.nodes.values() for each in _choose_parameters(node, settings.max_clips)]
    rates = _RATES if settings.fps is None else (settings.fps,)
    floor = _find_floor(graph)
    for fps in rates:
        samples = [_make_sample(node, parameters, fps, graph.seams.markers, floor) for node, parameters in wanted]
        half = half_window(graph.seams, fps)
        links = _find_links(graph, samples, half)
        kept = _keep_connected(len(samples), links)
        if kept.any():
            return _assemble(graph, samples, links, kept, half)
    raise NoResult(
        f"none of the {len(wanted)} sampled clips of {graph.name!r}, at {rates[-1]:g} Hz, can be followed by others "
        "forever",
        parameter="max_clips",
        remedy="raise `max_clips=`" + (f" or `fps=`, for example to {2 * settings.fps:g}" if settings.fps else ""),
    )


# Clips ---------------------------------------------------------------------------------------------------------------


def _choose_parameters(node: Node, most: int) -> Floats:
    """Return parameters (n, d) of at most `most` motions, on a grid that contains 0 if the node's range does."""
    widths = node.high - node.low
    counts = np.ones(node.n_dims, dtype=np.int64)
    for k, unit in enumerate(node.units):
        if widths[k] > 0.0:
            counts[k] = 1 + int(np.ceil(widths[k] / _STEPS[unit])) if unit in _STEPS else _OTHER
            counts[k] = max(counts[k], 2)
    while True:
        chosen = _lay_grid(node, counts)
        if len(chosen) <= most or counts.max() <= 2:
            return chosen[:most]
        counts[int(np.argmax(counts))] -= 1


def _lay_grid(node: Node, counts: Ints) -> Floats:
    """Return a grid of distinct, allowed parameters (n, d), with `counts` (d,) values per parameter."""
    axes = [_spread(low, high, int(n)) for low, high, n in zip(node.low, node.high, counts, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, node.n_dims)
    spacing = (node.high - node.low) / np.maximum(counts - 1, 1)
    apart = 0.5 * np.where(spacing > 0.0, spacing, 1.0)
    # Grid points outside the region move onto its boundary, where some coincide. Those inside come first.
    inside = node.region.contains(grid)
    tried = np.concatenate([grid[inside], node.project(grid[~inside])]) if not inside.all() else grid
    chosen: list[Floats] = []
    for each in tried:
        if not chosen or np.abs((each - np.stack(chosen)) / apart).max(axis=1).min() >= 1.0:
            chosen.append(each)
    return np.stack(chosen)


def _spread(low: float, high: float, n: int) -> Floats:
    """Return n values from low to high, with 0 among them if it is in between, evenly spaced on each side."""
    if n < 3 or not low < 0.0 < high:
        return np.linspace(low, high, n) if n > 1 else np.array([0.5 * (low + high)])
    below = int(np.clip(round((n - 1) * -low / (high - low)), 1, n - 2))
    return np.concatenate([np.linspace(low, 0.0, below + 1), np.linspace(0.0, high, n - below)[1:]])


def _find_floor(graph: ParametricMotionGraph) -> float:
    """Return the floor height of a character in meters: the median over its nodes, 0 if it is unknown."""
    known = [get_floor(node.motion(0.5 * (node.low + node.high)), np.nan) for node in graph.nodes.values()]
    return 0.0 if np.isnan(known).all() else float(np.nanmedian(known))


def _make_sample(node: Node, parameters: Floats, fps: float, markers: str, floor: float) -> _Sample:
    motion = node.motion(parameters)
    motion = motion if motion.fps == fps else resample(motion, fps)
    bones = motion.bone_offsets
    motion = replace(
        motion,
        root_positions=_round(motion.root_positions - [0.0, floor, 0.0]),
        rotations=set_readonly(round_rotations(motion.rotations)),
        bone_offsets=None if bones is None else _round(bones),
        name=f"{node.name} {' '.join(_describe(node, parameters))}".strip(),
        source=replace(motion.source, floor=0.0),
    )
    soles = sole_points(motion.world(), motion.contacts)
    return _Sample(node.name, parameters, motion, point_clouds(motion, markers), soles, find_placement(motion, 0))


def _describe(node: Node, parameters: Floats) -> list[str]:
    """Return the parameters as short texts, angles in degrees."""
    return [
        f"{round(float(np.degrees(value)))}" if unit == "rad" else f"{value:.2f}"
        for value, unit in zip(parameters, node.units, strict=True)
    ]


def _round(values: Floats) -> Floats:
    """Round to the precision of a GLB file."""
    return set_readonly(values.astype(np.float32).astype(np.float64))


# Transitions ---------------------------------------------------------------------------------------------------------


def _find_links(graph: ParametricMotionGraph, samples: list[_Sample], half: int) -> ClipTransitions:
    """Find the transitions between samples that are not worse than the edges allow."""
    by_node = {name: [k for k, each in enumerate(samples) if each.node == name] for name in graph.nodes}
    windows = {
        (name, end): make_windows([samples[k].motion for k in rows], graph.seams, end=end, height=_HEIGHT)
        for name, rows in by_node.items()
        for end in (False, True)
    }
    fps = samples[0].motion.fps
    weights = frame_weights(2.0 * half / fps, fps)
    rows: list[tuple[int, int, int, int, float, float, float, float]] = []
    for (source, target), edge in graph.edges.items():
        pairs = find_best_pairs(windows[source, True], windows[target, False], range(len(by_node[source])))
        for i, (costs, at) in zip(by_node[source], pairs, strict=True):
            for k in np.flatnonzero(costs <= edge.bad).tolist():
                j = by_node[target][k]
                leave = round(at[k, 0] * (len(samples[i].motion) - 1))
                enter = round(at[k, 1] * (len(samples[j].motion) - 1))
                move = _align(samples[i], samples[j], leave, enter, half, weights)
                rows.append((i, j, leave, enter, *move, float(costs[k])))
    rows.sort()
    first = np.searchsorted([row[0] for row in rows], np.arange(len(samples) + 1))
    table = np.array(rows, dtype=np.float64).reshape(-1, 8)
    target, leave, enter = (column.astype(np.int64) for column in table[:, 1:4].T)
    return ClipTransitions(first, target, leave, enter, np.round(table[:, 4:7], 5), np.round(table[:, 7], 4))


def _align(a: _Sample, b: _Sample, leave: int, enter: int, half: int, weights: Floats) -> list[float]:
    """Return the rigid2d that places clip b after clip a, with planted feet at the same position."""
    moves, _ = frame_distances(a.clouds, [float(leave)], b.clouds, [float(enter)], weights)
    shift, first, second = np.zeros(2), a.motion.contacts, b.motion.contacts
    if first is not None and second is not None and first.names == second.names:
        out, into = (slice(at - half, at + half + 1) for at in (leave, enter))
        planted = first.mask[out] & second.mask[into]
        shift = match_plants((a.soles[out], b.soles[into]), planted, moves[0], weights)
    return [float(moves[0, 0]), *(moves[0, 1:] + shift).tolist()]


def _keep_connected(n: int, links: ClipTransitions) -> Bools:
    """Return which clips to keep (n,): the largest set in which every clip can reach every other one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    source = np.repeat(np.arange(n), np.diff(links.first))
    matrix = coo_array((np.ones(len(source)), (source, links.target)), shape=(n, n))
    _, groups = connected_components(matrix, directed=True, connection="strong")
    largest = int(np.argmax(np.bincount(groups)))
    kept = np.asarray(groups == largest)
    inside = kept[source] & kept[links.target]
    return kept if inside.any() else np.zeros(n, dtype=bool)


# Assembly ------------------------------------------------------------------------------------------------------------


def _assemble(
    graph: ParametricMotionGraph, samples: list[_Sample], links: ClipTransitions, kept: Bools, half: int
) -> SampledCharacter:
    """Renumber clips, cut off frames that are never played, and compute the tables."""
    source = np.repeat(np.arange(len(samples)), np.diff(links.first))
    used = kept[source] & kept[links.target]
    renumber = np.cumsum(kept) - 1
    source, target = renumber[source[used]], renumber[links.target[used]]
    leave, enter = links.leave[used], links.enter[used]
    inside = [each for each, keep in zip(samples, kept, strict=True) if keep]
    names = [name for name in graph.nodes if any(each.node == name for each in inside)]
    nodes = tuple(SampledNode(name, graph[name].names, graph[name].units, True) for name in names)
    clips, starts = [], np.zeros(len(inside), dtype=np.int64)
    for k, each in enumerate(inside):
        begin, stop = int(enter[target == k].min()) - half, int(leave[source == k].max()) + half + 1
        decide = int(leave[source == k].min()) - half
        starts[k] = begin
        hips = each.motion[begin : decide + 1].travel[:, [0, 2]]
        frames = np.linspace(0.0, len(hips) - 1.0, _N_PATH)
        path = np.stack([np.interp(frames, np.arange(len(hips)), column) for column in hips.T], axis=1)
        place = np.round(find_placement(each.motion, decide), 5)
        parts = names.index(each.node), each.parameters, each.motion[begin:stop], decide - begin, place
        clips.append(SampledClip(*parts, np.round(path, 4), _find_hit(graph[each.node], each)))
    transitions = ClipTransitions(
        np.searchsorted(source, np.arange(len(inside) + 1)),
        target, leave - starts[source], enter - starts[target], links.moves[used], links.costs[used],
    )  # fmt: skip
    none = np.zeros(0)
    nothing = ValueTables(none, none, none, none, none, GoalGrid(np.zeros(1), 1, 1, 0.0))
    bare = SampledCharacter(graph.name, nodes, tuple(clips), transitions, nothing, half, 0)
    bare = replace(bare, nodes=_find_steering(graph, bare))
    tables = _build_tables(bare)
    return replace(bare, tables=tables, start=int(np.argmin(tables.rest)))


def _find_steering(graph: ParametricMotionGraph, char: SampledCharacter) -> tuple[SampledNode, ...]:
    """Return the nodes with `steers` set: True if they move or turn the character and are not aimed at points."""
    rates = (np.linalg.norm(char.steps[:, 1:], axis=1) + np.abs(rigid2d.wrap_angle(char.steps[:, 0]))) / char.seconds
    nodes = np.array([clip.node for clip in char.clips])[char.transitions.target]
    fastest = [rates[nodes == k].max(initial=0.0) for k in range(len(char.nodes))]
    aimed = [graph[node.name].request is request_at_point for node in char.nodes]
    steers = [rate > _MOVES and not aim for rate, aim in zip(fastest, aimed, strict=True)]
    return tuple(
        node._replace(steers=bool(each or not any(steers))) for node, each in zip(char.nodes, steers, strict=True)
    )


def _find_hit(node: Node, sample: _Sample) -> Floats | None:
    """Return the position that a clip hits in its own coordinates; None if its node is not aimed at points."""
    axes = [name.split(" ")[-1] for name in node.names]
    if node.request is not request_at_point or sorted(axes) != list(_AXES):
        return None
    local = node.reached(sample.parameters)[[axes.index(axis) for axis in _AXES]]
    return np.round(rigid2d.apply(sample.at_start, local), 4)


# Value tables --------------------------------------------------------------------------------------------------------


def direction_costs(steps: Floats, seconds: Floats, speed: float, directions: Floats) -> Floats:
    """Return the costs (E, H), in seconds, of steps (E, 3) if a speed and directions (H,) are requested.

    The cost is the distance between the end of the step and the requested position, divided by the speed.
    """
    x = steps[:, None, 1] - speed * seconds[:, None] * np.sin(directions)
    z = steps[:, None, 2] - speed * seconds[:, None] * np.cos(directions)
    return np.asarray(np.sqrt(x * x + z * z) / speed)


def _build_tables(char: SampledCharacter) -> ValueTables:
    steps, seconds = char.steps, char.seconds
    none = np.zeros(0, dtype=np.int64)
    no_ends: tuple[Ints, Ints, Floats] = np.zeros(len(seconds) + 1, dtype=np.int64), none, np.zeros(0)
    fades = np.exp(-seconds / HORIZON)
    pace = np.linalg.norm(steps[:, 1:], axis=1) / seconds
    moving = pace[(pace > _STILL) & char.useful]
    low, high = np.quantile(moving, (0.05, 0.95)) if len(moving) else (1.0, 1.0)
    speeds: Floats = np.unique(np.round(np.linspace(low, high, _N_SPEEDS), 2))
    angles = np.linspace(0.0, 2.0 * np.pi, N_DIRECTIONS, endpoint=False)
    round_grid = GoalGrid(np.zeros(1), 1, N_DIRECTIONS, 0.0)
    direction = np.stack(
        [
            _iterate(char, round_grid, _avoid(char, direction_costs(steps, seconds, s, angles)), fades, no_ends)
            for s in speeds
        ]
    )
    rest = _iterate(char, GoalGrid(np.zeros(1), 1, 1, 0.0), _avoid(char, char.rest_costs[:, None]), fades, no_ends)
    node_grid, whole = GoalGrid(np.zeros(1), 1, len(char.nodes), 0.0), np.ones(len(seconds))
    nodes = np.array([clip.node for clip in char.clips])
    ends = np.arange(len(seconds) + 1), nodes[char.transitions.target], np.zeros(len(seconds))
    node = _iterate(char, node_grid, seconds[:, None], whole, ends, moves=np.zeros_like(steps))
    grid = _point_grid(1.0 / max(float(pace.max()), 1e-3), float(np.linalg.norm(steps[:, 1:], axis=1).max()))
    thin = _thin_out(char)
    point = _iterate(thin, grid, thin.seconds[:, None], np.ones(len(thin.seconds)), _find_ends(thin, grid))
    return ValueTables(speeds, direction, point, node, rest[:, 0], grid)


def _avoid(char: SampledCharacter, costs: Floats) -> Floats:
    """Return the costs as (E, C), infinite for transitions that are not useful for going somewhere."""
    return np.asarray(np.where(char.useful[:, None], costs, np.inf))


def _thin_out(char: SampledCharacter) -> SampledCharacter:
    """Leave out transitions that are not useful for going somewhere and, if there are too many, some of the others."""
    links = char.transitions
    every = np.flatnonzero(char.useful)
    index = every[:: max(1, round(len(every) / _MAX_STEPS))]
    _, one_each = np.unique(char.sources[every], return_index=True)
    index = np.union1d(index, every[one_each])
    first = np.searchsorted(char.sources[index], np.arange(len(char.clips) + 1))
    whole = links.target[index], links.leave[index], links.enter[index]
    return replace(char, transitions=ClipTransitions(first, *whole, links.moves[index], links.costs[index]))


def _point_grid(slowness: float, longest: float) -> GoalGrid:
    step, growth, n_bearings = _POINT_GRID
    last = float(np.clip(_N_FAR * longest, *_FAR))
    distances = [0.0]
    while distances[-1] < last:
        distances.append(round(distances[-1] + max(step, growth * distances[-1]), 3))
    return GoalGrid(np.array(distances), n_bearings, 1, round(slowness, 4))


def _find_ends(char: SampledCharacter, grid: GoalGrid) -> tuple[Ints, Ints, Floats]:
    paths = np.concatenate([np.zeros((*char.paths.shape[:2], 1)), char.paths], axis=2)
    first, none = np.empty(len(paths) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    count = find_ends(paths, char.seconds, grid, POINT_LIMITS, first, none, np.zeros(0))
    columns, costs = np.empty(count, dtype=np.int64), np.empty(count)
    find_ends(paths, char.seconds, grid, POINT_LIMITS, first, columns, costs)
    return first, columns, costs


def _iterate(
    char: SampledCharacter,
    grid: GoalGrid,
    costs: Floats,
    fades: Floats,
    ends: tuple[Ints, Ints, Floats],
    moves: Floats | None = None,
) -> Floats:
    """Compute a value table (N, C) by value iteration, in seconds rounded to milliseconds.

    costs, fades, moves : as in `Steps`; by default, `moves` are those of the transitions.
    ends : the fields `first_end`, `end_columns` and `end_costs` of `Steps`.
    """
    links = char.transitions
    n_columns = len(grid.distances) * grid.n_bearings * grid.n_headings
    values = np.full((len(char.clips), n_columns), NEVER)
    choices = np.empty(values.shape, dtype=np.int64)
    heads = np.ascontiguousarray(links.target[:, None])
    first, given = np.ascontiguousarray(links.first), char.steps if moves is None else moves
    steps = Steps(first, heads, np.ones(heads.shape), given, np.ascontiguousarray(costs), fades, *ends)
    iterate_values(steps, grid, _TOLERANCE, _MAX_SWEEPS, NEVER, values, choices)
    return set_readonly(np.round(np.minimum(values, NEVER), 3))
