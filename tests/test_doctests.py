"""The examples in docstrings: they run and print what they say, and every public name has one."""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import inspect
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marey
from marey.core.settings import Settings

READY = Path(__file__).parents[1] / "docs" / "example_names.py"
PACKAGES = (
    *("core", "io", "clean", "measure", "check", "edit", "compare", "register", "blend", "graph", "find", "parametric"),
    *("layer", "pmg", "control", "play", "store", "samples", "plot", "studio", "maths", "errors"),
)
# Plain results have no example of their own. Functions that return them have one, which shows them.
RECORDS = {
    "blend.TransitionPoint": "blend.best_transition",
    "check.CheckedFile": "check.check_files",
    "check.Finding": "check.check",
    "clean.BelowFloor": "clean.clean_with_report",
    "clean.CleanFrame": "clean.CleanStream",
    "clean.CleanResult": "clean.clean_with_report",
    "clean.ContactResult": "clean.find_contacts",
    "clean.FloorPlane": "clean.find_floor_plane",
    "clean.PlantUsed": "clean.clean_with_report",
    "clean.StretchedPart": "clean.clean_with_report",
    "compare.GridBlock": "compare.grid_blocks",
    "control.ClipLengths": "control.clip_lengths",
    "check.Fix": "check.plan_fixes",
    "control.GaitMetrics": "control.gait_metrics",
    "control.Hit": "control.HitPoint",
    "control.KeyPress": "control.parse_keys",
    "control.NodeLimit": "control.find_limits",
    "control.ResponseBound": "control.bound_response",
    "control.StreamMetrics": "control.evaluate_stream",
    "control.TurnLimit": "control.find_limits",
    "core.LimbPose": "core.solve_limb",
    "find.Match": "find.MatchResult",
    "graph.Connectivity": "graph.connectivity",
    "graph.Crowd": "graph.crowd",
    "graph.FootSkate": "graph.foot_skate",
    "graph.GraphStatistics": "graph.graph_statistics",
    "graph.LabelPair": "graph.graph_statistics",
    "graph.LandingResult": "graph.land_at",
    "graph.PathResult": "graph.follow",
    "graph.ReductionResult": "graph.reduce_transitions",
    "graph.SearchResult": "graph.search",
    "graph.Usefulness": "graph.reduce_transitions",
    "graph.WalkPart": "graph.Walk",
    "io.ConvertReport": "io.convert_folder",
    "io.SolveResult": "io.solve_with_report",
    "layer.Trend": "layer.find_correlations",
    "measure.Glitch": "measure.find_glitches",
    "measure.LooseJoints": "measure.find_loose_joints",
    "measure.Stride": "measure.find_strides",
    "play.ReleasedPlant": "play.Player",
    "pmg.Transition": "pmg.CharacterStream",
    "pmg.TransitionOption": "pmg.Controller",
    "pmg.TransitionRange": "pmg.Edge",
    "register.TimeAlignment": "register.dtw",
    "register.TreeRegistration": "register.register_tree",
    "samples.LibraryClip": "samples.sample_library",
    "store.Cluster": "store.cluster",
    "store.LabelRow": "store.read_label_csv",
    "store.SkippedFile": "store.MotionSet",
}
DEPRECATED = {"blend.TransitionSearch"}
# Examples that need a server are shown and not run.
NOT_RUN = {"store.cluster"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

pytestmark = pytest.mark.skipif(not READY.exists(), reason="no docs folder beside the tests")


def find_public() -> Iterator[tuple[str, Any]]:
    """Yield the public functions and classes as ("edit.mirror", value), each once, and those of modules of `maths`."""
    seen = set()
    for package in PACKAGES:
        module = importlib.import_module(f"marey.{package}")
        names = [(package, name, getattr(module, name)) for name in module.__all__]
        for _, inner, value in tuple(names):
            if package == "maths" and inspect.ismodule(value):
                names += [(f"maths.{inner}", name, getattr(value, name)) for name in value.__all__]
        for path, name, value in names:
            if (inspect.isclass(value) or inspect.isroutine(value)) and id(value) not in seen:
                seen.add(id(value))
                yield f"{path}.{name}", value


PUBLIC = dict(find_public())


@functools.cache
def parse_ready() -> dict[str, ast.Assign]:
    """Return the assignments of the file with ready-made motions, by name."""
    found = ast.parse(READY.read_text(encoding="utf-8")).body
    return {ast.unparse(each.targets[0]): each for each in found if isinstance(each, ast.Assign)}


def find_names(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


@functools.cache
def make_ready(name: str) -> Any:
    """Return a ready-made motion or result; only those that an example uses are made, and once."""
    scope = {}
    source = READY.read_text(encoding="utf-8")
    imports = [each for each in ast.parse(source).body if isinstance(each, ast.Import | ast.ImportFrom)]
    exec(compile(ast.Module(imports, []), READY, "exec"), scope)
    value = ast.unparse(parse_ready()[name].value)
    scope.update({each: make_ready(each) for each in find_names(value) & parse_ready().keys()})
    return eval(compile(value, READY, "eval"), scope)


def find_examples(name: str, value: Any) -> list[doctest.DocTest]:
    """Return the examples of a name and of its methods, and the names that they use; not those of methods that are
    public functions too."""
    others = {each.__doc__ for other, each in PUBLIC.items() if other != name}
    found = [test for test in doctest.DocTestFinder().find(value, name, False, globs={}) if test.examples]
    found = [test for test in found if test.docstring not in others]
    for test in found:
        used = find_names("".join(example.source for example in test.examples))
        ready = {each: make_ready(each) for each in sorted(used & parse_ready().keys())}
        test.globs = {"marey": marey, "np": np, "__name__": "example", **ready}
    return found


def has_example(value: Any) -> bool:
    return ">>> " in (value.__doc__ or "")


def refuse_network(*_: Any) -> None:
    raise OSError("examples run without a network")


@pytest.mark.parametrize("name", ["marey", *(name for name, value in PUBLIC.items() if has_example(value))])
def test_the_example_runs(name, tmp_path, monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", refuse_network)
    said: list[str] = []
    for i, test in enumerate(find_examples(name, PUBLIC.get(name, marey))):
        folder = tmp_path / str(i)
        folder.mkdir()
        monkeypatch.chdir(folder)
        doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test, out=said.append)
    assert not said, "\n".join(said)


def test_every_public_function_and_class_has_an_example():
    def needs_one(name: str, value: Any) -> bool:
        return not (
            name in DEPRECATED
            or name in RECORDS
            or (inspect.isclass(value) and issubclass(value, Settings | BaseException))
        )

    assert [name for name, value in PUBLIC.items() if needs_one(name, value) and not has_example(value)] == []


def test_records_are_shown_by_what_returns_them():
    assert [record for record, maker in RECORDS.items() if not has_example(PUBLIC[maker])] == []
    assert [record for record in RECORDS if record not in PUBLIC or has_example(PUBLIC[record])] == []
    assert [name for name in DEPRECATED if name not in PUBLIC] == []


def test_only_examples_that_need_a_server_are_skipped():
    assert {name for name, value in PUBLIC.items() if "+SKIP" in (value.__doc__ or "")} == NOT_RUN
