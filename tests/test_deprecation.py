"""Old names work, warn with the new name, and do not appear in signatures."""

import importlib
import inspect
import operator
import sys
import types

import pytest

from marey.deprecation import renamed_method, renamed_names, renamed_parameters
from marey.errors import InvalidValue

# Exported names of earlier releases and the ones that replace them.
RENAMED = {
    "marey.bench": {"Figure": "BenchResult"},
    "marey.blend": {"keyed_weights": "interpolate_weights"},
    "marey.blend.baselines": {
        "PathSearch": "ComparisonSettings",
        "correspondence": "match_frames",
        "thresholded": "threshold_search",
    },
    "marey.clean": {
        "Cleaned": "CleanResult",
        "Found": "ContactResult",
        "Thresholds": "ContactSettings",
        "cleaned": "clean_with_report",
    },
    "marey.control": {
        "Clip": "LoopNode",
        "FatGraph": "baselines.FatGraph",
        "FatGraphStream": "baselines.FatGraphStream",
        "GaitFigures": "GaitMetrics",
        "Layer": "LayerNode",
        "Mix": "MixNode",
        "MoveTree": "baselines.MoveTree",
        "MoveTreeStream": "baselines.MoveTreeStream",
        "Press": "KeyPress",
        "Succession": "baselines.Succession",
        "StreamFigures": "StreamMetrics",
        "clip_figures": "clip_metrics",
        "gait_figures": "gait_metrics",
        "try_stream": "evaluate_stream",
        "try_streams": "evaluate_streams",
    },
    "marey.edit": {"traveled_path": "extract_path", "travelled_path": "extract_path"},
    "marey.find": {"Found": "MatchResult", "WebOptions": "WebSettings"},
    "marey.graph": {
        "Followed": "PathResult",
        "Function": "FunctionObjective",
        "GraphFigures": "GraphStatistics",
        "GraphOptions": "GraphSettings",
        "How": "BuildInfo",
        "Landing": "LandingResult",
        "Part": "WalkPart",
        "Partial": "PartialWalk",
        "SearchLimits": "GraphSearchSettings",
        "Searched": "SearchResult",
        "SimilarityOptions": "SimilaritySettings",
        "Thinning": "ReductionResult",
        "described": "measure_path",
        "ended": "replan_end",
        "figures": "graph_statistics",
        "landed": "land_at",
        "led_into": "extend_into_clip",
        "led_to": "extend_to",
        "reached": "reach",
        "thinned": "reduce_transitions",
    },
    "marey.layer": {"correlations": "find_correlations"},
    "marey.measure": {"Figure": "Metric"},
    "marey.parametric": {"Reached": "ReachResult", "travelled": "traveled"},
    "marey.samples": {"figure_skeleton": "body_skeleton"},
    "marey.store": {"Skipped": "SkippedFile"},
    "marey.plot.graph": {"draw_followed": "draw_route", "followed": "route"},
    "marey.pmg": {
        "Compared": "NodeComparison",
        "Moment": "ControlState",
        "Onward": "TransitionRange",
        "Option": "TransitionOption",
        "Seams": "SeamSettings",
        "at_point": "request_at_point",
        "by_name": "request_by_name",
    },
    "marey.register": {
        "Along": "TreeRegistration",
        "merged_timewarp": "merge_timewarps",
        "register_along": "register_tree",
    },
}

# Parameters of public functions in earlier releases and the ones that replace them.
PARAMETERS = {
    "marey.blend.blend.blend": {"enforce": "feet"},
    "marey.blend.baselines.paths.start_cell": {"share": "fraction"},
    "marey.blend.baselines.compare.compare": {"search": "settings"},
    "marey.blend.transition.transition": {"enforce": "feet", "search": "settings"},
    "marey.compare.blocks.grid_blocks": {"window": "settings"},
    "marey.compare.blocks.grid_minima": {"align": "settings"},
    "marey.compare.clouds.point_clouds": {"figure": "recording"},
    "marey.core.limb.solve_limb": {"swivel": "settings", "max_stretch": "settings"},
    "marey.edit.connect.connect": {"replant": "feet"},
    "marey.edit.cycle.cycle": {"replant": "feet"},
    "marey.edit.path.edit_path": {"replant": "feet"},
    "marey.edit.retarget.retarget": {"replant": "feet"},
    "marey.edit.warp.warp": {"hold_feet": "feet"},
    "marey.find.build.build_web": {
        "alpha": "max_rise",
        "bridge": "max_bridge_seconds",
        "chain": "min_chain_seconds",
        "level": "min_level_seconds",
        "limit": "max_distance",
        "near": "max_chain_distance",
        "options": "settings",
        "reach": "max_extension_seconds",
    },
    "marey.find.search.search": {"most": "max_matches", "tiers": "max_tiers"},
    "marey.find.suggest.count_matches": {"most": "max_matches"},
    "marey.find.suggest.suggest_threshold": {"most": "max_matches", "tiers": "max_tiers"},
    "marey.graph.approach.extend_into_clip": {"at": "position", "within": "max_error"},
    "marey.graph.approach.extend_to": {"at": "position"},
    "marey.graph.approach.reach": {"at": "position", "begin": "start_clip", "within": "max_error"},
    "marey.graph.approach.replan_end": {"at": "position"},
    "marey.graph.build.build_graph": {"options": "settings", "coarse": "coarse_step", "least_seconds": "min_seconds"},
    "marey.graph.crowd.crowd": {"apart": "min_distance", "width": "beam_width"},
    "marey.graph.follow.follow": {
        "others": "other_characters",
        "apart": "min_distance",
        "early": "style_overlap",
        "width": "beam_width",
    },
    "marey.graph.landing.land_at": {
        "at": "position",
        "most": "max_shift",
        "most_turn": "max_turn",
        "seconds": "landing_seconds",
        "clean": "feet",
    },
    "marey.graph.random_walk.random_walk": {"between": "transition_interval"},
    "marey.graph.registered.with_registered_transitions": {"most": "max_transitions"},
    "marey.graph.routes.shortest_walk": {"before": "start", "after": "goal"},
    "marey.graph.search.search": {
        "limits": "settings",
        "among": "tolerance",
        "good_enough": "cost_threshold",
        "most_expanded": "max_expanded",
        "most_of_piece": "max_expanded_per_window",
        "most_seconds": "max_seconds",
    },
    "marey.graph.similar.build_by_similarity": {
        "options": "settings",
        "least_seconds": "min_seconds",
        "most_apart": "max_distance",
    },
    "marey.graph.skate.foot_skate": {"made": "motion"},
    "marey.register.dtw.dtw_around": {"centre": "center"},
    "marey.graph.variations.variations": {"enforce": "feet"},
    "marey.io.saving.save": {"figure": "body"},
    "marey.layer.steadiness.phase_errors": {"found": "times"},
}

# Methods and properties of public classes.
METHODS = {
    "marey.find.cells.Cells": {
        "listed": "to_lists",
        "mirrored": "mirror",
        "saved": "arrays",
        "transposed": "transpose",
    },
    "marey.find.match_web.MatchWeb": {"counts": "count_matches", "info": "statistics", "suggest": "suggest_threshold"},
    "marey.find.settings.WebSettings": {
        "alpha": "max_rise",
        "bridge": "max_bridge_seconds",
        "chain": "min_chain_seconds",
        "level": "min_level_seconds",
        "limit": "max_distance",
        "near": "max_chain_distance",
        "reach": "max_extension_seconds",
    },
    "marey.find.suggest.Suggestion": {"level": "plateau", "stands_out": "has_plateau", "still": "still_distance"},
    "marey.graph.follow.PathResult": {"way": "walked_path"},
    "marey.core.contacts.Contacts": {"sliced": "crop"},
    "marey.core.labels.Labels": {"sliced": "crop"},
    "marey.core.source.Source": {"sliced": "crop"},
    "marey.parametric.space.ReachResult": {"moved": "measure_projection"},
    "marey.graph.objectives.FollowPath": {"placed": "place_start"},
    "marey.graph.objectives.KeepOut": {"placed": "place_start"},
    "marey.graph.motion_graph.MotionGraph": {
        "allowed": "select_edges",
        "clip_index": "index",
        "figures": "statistics",
        "how": "build_info",
        "reached": "reach",
        "thinned": "reduce_transitions",
    },
    "marey.graph.network.Edges": {"taken": "select"},
    "marey.graph.transitions.Transitions": {"taken": "select"},
    "marey.store.motion_set.MotionSet": {"build": "prepare", "chosen": "select"},
    "marey.measure.metrics.Metric": {"as_dict": "to_dict"},
    "marey.measure.report.Report": {"as_dict": "to_dict", "figures": "metrics"},
    "marey.layer.correlation.Correlations": {"named": "select"},
    "marey.layer.gaze_map.GazeMap": {"aim": "project"},
    "marey.layer.gaze_model.GazeShift": {"row": "to_row", "turns": "rotations_at"},
    "marey.graph.walk.Walk": {
        "begun_at": "place_at",
        "ended": "replan_end",
        "landed": "land_at",
        "led_into": "extend_into_clip",
        "led_to": "extend_to",
        "padded": "pad",
    },
}


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [(function, old, new) for function, names in PARAMETERS.items() for old, new in names.items()],
)
def test_old_parameters_are_accepted_and_name_the_new_one(function: str, old: str, new: str) -> None:
    module, name = function.rsplit(".", 1)
    call = getattr(importlib.import_module(module), name)
    assert new in inspect.signature(call).parameters
    with (
        pytest.warns(DeprecationWarning, match=rf"{name}\({old}=\) is deprecated, use {new}="),
        pytest.raises((TypeError, InvalidValue), match="missing|expected|must be"),
    ):
        call(**{old: False})


@pytest.mark.parametrize(
    ("cls", "old", "new"), [(cls, old, new) for cls, names in METHODS.items() for old, new in names.items()]
)
def test_old_methods_name_the_new_ones(cls: str, old: str, new: str) -> None:
    module, name = cls.rsplit(".", 1)
    owner = getattr(importlib.import_module(module), name)
    assert inspect.getdoc(inspect.getattr_static(owner, old)) == f"Deprecated: use `{new}`."
    assert hasattr(owner, new)


@pytest.mark.parametrize(
    ("package", "old", "new"), [(package, old, new) for package, names in RENAMED.items() for old, new in names.items()]
)
def test_old_exports_give_the_new_object_and_name_it(package: str, old: str, new: str) -> None:
    importlib.import_module(package)
    module = sys.modules[package]
    with pytest.warns(DeprecationWarning, match=rf"{package}\.{old} is deprecated, use {package}\.{new}$") as caught:
        value = getattr(module, old)
    assert value is operator.attrgetter(new)(module)
    assert caught[0].filename == __file__


def test_a_module_without_the_name_raises_an_attribute_error() -> None:
    module = types.ModuleType("some.module")
    module.__getattr__ = renamed_names("some.module", {"a": "b"})  # type: ignore[method-assign]
    with pytest.raises(AttributeError, match=r"module 'some\.module' has no attribute 'c'"):
        _ = module.c


def test_old_parameters_are_passed_on_and_hidden() -> None:
    @renamed_parameters(count="n", clean=("feet", lambda on: "clean" if on else None))
    def repeat(n: int, *, feet: str | None = "clean") -> tuple[int, str | None]:
        return n, feet

    with pytest.warns(DeprecationWarning, match=r"repeat\(count=\) is deprecated, use n=") as caught:
        assert repeat(count=3) == (3, "clean")  # type: ignore[call-arg]
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="use feet="):
        assert repeat(1, clean=False) == (1, None)  # type: ignore[call-arg]
    with (
        pytest.warns(DeprecationWarning, match="use feet="),
        pytest.raises(TypeError, match="got both feet= and its old name clean="),
    ):
        repeat(1, feet=None, clean=True)  # type: ignore[call-arg]
    assert list(inspect.signature(repeat).parameters) == ["n", "feet"]


def test_old_methods_and_properties_are_passed_on() -> None:
    class Walk:
        place = 3

        def extend(self, by: int) -> int:
            return self.place + by

        led = renamed_method("led", "extend")
        at = renamed_method("at", "place")

    with pytest.warns(DeprecationWarning, match=r"Walk\.led is deprecated, use Walk\.extend") as caught:
        assert Walk().led(2) == 5
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=r"use Walk\.place"):
        assert Walk().at == 3
