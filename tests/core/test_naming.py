"""Names of motions that are made from others."""

from __future__ import annotations

from marey.core.naming import blend_name, join_names, layer_name, target_name, transition_name


def test_names_are_listed_once_and_counted_if_there_are_many() -> None:
    assert join_names(["walk"]) == "walk"
    assert join_names(["walk", "walk", "run"]) == "walk and run"
    assert join_names(["walk", "run", "jog"]) == "walk, run and jog"
    assert join_names(["walk", "run", "jog", "hop"]) == "walk, run and 2 more"
    assert join_names([]) == ""


def test_a_blend_names_its_clips_and_an_uneven_weight_of_two() -> None:
    assert blend_name(["walk", "run"]) == blend_name(["walk", "run"], [0.5, 0.5]) == "Blend of walk and run"
    assert blend_name(["walk", "run"], [0.75, 0.25]) == "Blend of walk and run at 25 %"
    assert blend_name(["walk", "run", "hop"], [0.5, 0.0, 0.5]) == "Blend of walk and hop"
    assert blend_name(["walk", "run", "hop"], [0.6, 0.2, 0.2]) == "Blend of walk, run and hop"
    assert blend_name(["walk", "run"], [1.0, 0.0]) == "walk"
    assert blend_name(["Blend of walk and run", "hop"]) == "Blend of walk and run and hop"


def test_a_transition_names_the_moment_only_if_it_was_chosen() -> None:
    assert transition_name("walk", "jog") == "walk to jog"
    assert transition_name("walk", "jog", 0.5) == "walk to jog at 50 %"


def test_long_and_missing_names_are_replaced() -> None:
    long = "a_very_long_name_of_a_take_with_date_and_performer"
    assert transition_name(long, "") == "a_very_long_name_of_a_take_with… to clip"
    assert layer_name("walk", "right_arm", long) == "walk with right arm of a_very_long_name_of_a_take_with…"
    assert layer_name("walk", "upper_body", "walk") == "walk"


def test_a_target_is_a_point_or_a_list_of_parameters() -> None:
    assert (
        target_name("kick", ["toe x", "toe y", "toe z"], ["m"] * 3, [0.1, -0.001, 2.0]) == "kick at 0.10, 0.00, 2.00 m"
    )
    turns = ["head turn x", "head turn y", "head turn z"]
    assert target_name("look", turns, ["rad"] * 3, [0.0, 0.5, 0.0]).startswith(
        "look, head turn x 0.00°, head turn y 28.65°"
    )
    assert target_name("count", ["steps"], [""], [3.0]) == "count, steps 3.00"
