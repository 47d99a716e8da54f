"""Recipes for the results of the page's operations; see `marey.studio.recipes`.

If an operation calls a function of the library, its recipe is that call. For functions of
`marey.studio.operation_work`, this module writes equivalent calls of the library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from marey.core.settings import Settings, options_of
from marey.studio.operation_work import find_speed_keys
from marey.studio.operations import Inputs, Operation
from marey.studio.recipes import CodeRecipe, call, list_of, write_options, write_rows, write_value

# Public names of functions that the table of operations names by another module.
_PUBLIC = {"marey.core.resample:resample": "marey.edit.resample"}


class Use:
    """One use of an operation.

    operation : the row of the table.
    data : recipes of motions and graphs, and plain values, in the order of `Operation.takes`.
    motion : the selected motion itself; None if the operation takes none.
    values : the options that were given.
    name : name of the result.
    """

    def __init__(self, operation: Operation, data: Sequence[Any], motion: Any, values: Mapping[str, Any], name: str):
        self.operation = operation
        self.data = data
        self.motion = motion
        self.name = name
        self.settings = [self._make(kind, values) for kind in operation.settings]

    @staticmethod
    def _make(kind: type[Settings], values: Mapping[str, Any]) -> Settings:
        known = {each.name for each in options_of(kind)}
        return kind(**{name: value for name, value in values.items() if name in known})

    def input(self, name: str) -> Any:
        """Return the value of an input."""
        return next(getattr(each, name) for each in self.settings if isinstance(each, Inputs) and hasattr(each, name))

    @property
    def options(self) -> list[Settings]:
        """The settings that are not inputs."""
        return [each for each in self.settings if not isinstance(each, Inputs)]

    def call(self, function: str, *arguments: Any, end: str = "", imports: tuple[str, ...] = ()) -> CodeRecipe:
        """Return the recipe of a call of `function`, with the options of all settings."""
        options, needed = write_options(*self.options)
        return call(self.name, function, *arguments, options=options, end=end, imports=(*imports, *needed))


def write_operation(use: Use, n_results: int) -> list[CodeRecipe | None]:
    """Return the recipe of each result of an operation; None for those that cannot be written."""
    row = use.operation
    module, _, function = row.call.partition(":")
    if module == "marey.studio.operation_work":
        write = _WRITERS.get(function)
        if write is None:
            return [None] * n_results
        written = write(use)
        return written if isinstance(written, list) else [written] + [None] * (n_results - 1)
    if row.in_server:
        return [None] * n_results
    arguments: list[Any] = []
    for take, each in zip(row.takes, use.data, strict=True):
        if isinstance(each, CodeRecipe):
            arguments.append(each)
        elif take == "range":
            arguments += [str(frame) for frame in each]
        else:
            arguments.append(write_rows(each) if take == "points" else write_value(each)[0])
    inputs = [
        write_value(getattr(each, one.name))[0]
        for each in use.settings
        if isinstance(each, Inputs)
        for one in options_of(type(each))
    ]
    return [use.call(_PUBLIC.get(row.call, f"{module}.{function}"), *arguments, *inputs)]


def _split(use: Use) -> list[CodeRecipe | None]:
    motion, frame = use.data
    return [
        call(f"{use.name} {k}", "marey.edit.crop", motion, *map(str, span))
        for k, span in enumerate(((0, frame), (frame, len(use.motion))), start=1)
    ]


def _change_speed(use: Use) -> CodeRecipe:
    motion, span = use.data
    duration, fps = use.motion.duration, use.motion.fps
    start, stop = (0.0, duration) if span is None else (frame / fps for frame in span)
    stop = min(stop, duration)
    keys = [*([(start, start)] if start > 0.0 else []), (stop, start + (stop - start) / use.input("speed"))]
    return use.call("marey.edit.timewarp", motion, repr(keys))


def _speed_curve(use: Use) -> CodeRecipe:
    motion, curve = use.data
    return use.call("marey.edit.timewarp", motion, repr(find_speed_keys(use.motion, curve)))


def _timewarp(use: Use) -> CodeRecipe:
    rows = [each.split("=") for each in use.input("keys").replace(";", ",").split(",") if each.strip()]
    return use.call("marey.edit.timewarp", use.data[0], repr([(float(old), float(new)) for old, new in rows]))


def _move(use: Use) -> CodeRecipe:
    offset = tuple(use.input(name) for name in ("left", "up", "forward"))
    return _warp(use, "MoveKey", use.input("part"), f"offset={offset!r}")


def _rotate(use: Use) -> CodeRecipe:
    turn = tuple(use.input(name) for name in ("bend", "twist", "lean"))
    return _warp(use, "TurnKey", use.input("joint"), repr(turn))


def _warp(use: Use, kind: str, name: str, change: str) -> CodeRecipe:
    """Return the recipe of a warp with one key of the class `kind`."""
    motion, frame = use.data
    axes, hold = use.input("axes"), use.input("hold")
    key = f"[{kind}({name!r}, {frame / use.motion.fps!r}, {change}, axes={axes!r}, hold={hold!r})]"
    return use.call("marey.edit.warp", motion, key, imports=(f"from marey.edit import {kind}",))


def _solve(use: Use) -> CodeRecipe:
    return use.call("marey.solve", repr(use.data[0]))


def _clean(use: Use) -> CodeRecipe:
    return use.call("marey.clean", use.data[0])


def _limit(use: Use) -> CodeRecipe:
    motion, motions = use.data
    learning, cleaning = use.options
    options, needed = write_options(learning)
    limits = call("joint_limits", "marey.core.learn_joint_limits", list_of(motions), options=options, imports=needed)
    options, needed = write_options(cleaning)
    return call(use.name, "marey.clean", motion, ("joint_limits=", limits), options=options, imports=needed)


def _splice(use: Use) -> CodeRecipe:
    return use.call("marey.splice", *use.data)


def _transplant(use: Use) -> CodeRecipe:
    return use.call("marey.transplant", *use.data, f"joints={use.input('part')!r}")


def _reach(use: Use) -> CodeRecipe | list[CodeRecipe | None]:
    (graph,) = use.data
    reach: Any
    reach, landing = use.options
    point = repr((use.input("x"), use.input("z")))
    if reach.clip is not None:
        return [None]
    options, needed = write_options(reach)
    walk = CodeRecipe("graph_walk", (graph, *call("", ".reach", point, options=options).parts), needed)
    options, needed = write_options(landing)
    return CodeRecipe(use.name, (walk, *call("", ".land_at", point, options=options, end=".motion()").parts), needed)


def _crowd(use: Use) -> list[CodeRecipe | None]:
    (graph,) = use.data
    settings: Any = use.options[0]
    options, needed = write_options(settings)
    paths = f"crossing_paths({use.input('characters')}, {use.input('radius')!r}, {settings.rng!r})"
    made = call("crowd", ".crowd", paths, options=options, end=".motions()")
    crowd = CodeRecipe("crowd", (graph, *made.parts), ("from marey.graph import crossing_paths", *needed))
    return [CodeRecipe(f"character {k + 1}", (crowd, f"[{k}]")) for k in range(use.input("characters"))]


def _variations(use: Use) -> list[CodeRecipe | None]:
    (motions,) = use.data
    takes = use.call("marey.graph.variations", list_of(motions), str(use.input("n")))
    return [CodeRecipe(f"variation {k + 1}", (takes, f"[{k}]")) for k in range(use.input("n"))]


def _reduce(use: Use) -> CodeRecipe:
    (graph,) = use.data
    return CodeRecipe("reduced_graph", (graph, *use.call(".reduce_transitions", end=".graph").parts))


def _register(use: Use) -> CodeRecipe:
    (graph,) = use.data
    return CodeRecipe("registered_graph", (graph, *use.call(".with_registered_transitions").parts))


def _similarity(use: Use) -> CodeRecipe:
    return use.call("marey.MotionGraph.build_by_similarity", list_of(use.data[0]))


_WRITERS: Mapping[str, Callable[[Use], CodeRecipe | list[CodeRecipe | None]]] = {
    "split": _split, "change_speed": _change_speed, "timewarp": _timewarp, "follow_speed_curve": _speed_curve,
    "move_part": _move, "rotate_joint": _rotate, "limit_joints": _limit,
    "solve_positions": _solve, "clean_motion": _clean, "splice_bodies": _splice, "transplant_part": _transplant,
    "reach_point": _reach, "make_crowd": _crowd, "make_variations": _variations, "reduce_graph": _reduce,
    "register_graph": _register, "build_by_similarity": _similarity,
}  # fmt: skip
