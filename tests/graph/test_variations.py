"""Variations: random blends of takes, with their provenance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.blend import blend
from marey.core import Label, Labels, Motion
from marey.errors import InvalidValue, MareyWarning, NoResult, NotBlendable
from marey.graph import MotionGraph
from marey.graph.variations import more_takes, variations
from marey.register import register
from marey.samples import sample
from tests.graph.clips import one_label, sneaks


@pytest.fixture(scope="module")
def takes() -> tuple[Motion, ...]:
    """Three walks of different speeds."""
    return tuple(
        one_label(replace(sample("walk", rng=k, fps=30, seconds=4, speed=speed).motion, name=f"take{k}"), "walk")
        for k, speed in enumerate((1.0, 1.2, 1.4))
    )


@pytest.fixture(scope="module")
def registered(takes):
    return register(takes)


@pytest.fixture(scope="module")
def variants(registered) -> tuple[Motion, ...]:
    return variations(registered, 4, rng=1)


def test_each_has_a_name_weights_and_a_story(variants, takes):
    assert len({motion.name for motion in variants}) == 4
    for k, motion in enumerate(variants):
        step = motion.source.provenance[-1]
        assert (step["op"], step["number"], step["of"]) == ("variation", k + 1, 4)
        assert step["takes"] == [take.name for take in takes]
        assert sum(step["weights"]) == pytest.approx(1.0)
        assert min(step["weights"]) >= 0.0
        assert any(earlier["op"] == "blend" for earlier in motion.source.provenance)
        assert motion.labels.names == ("walk",)
        assert motion.contacts is not None


def test_each_is_the_blend_of_its_weights(variants, registered):
    weights = variants[2].source.provenance[-1]["weights"]
    np.testing.assert_array_equal(variants[2].rotations, blend(registered, weights).rotations)


def test_they_differ_and_lie_between_the_takes(variants, registered):
    speeds = [float(np.linalg.norm(m.travel[-1] - m.travel[0])) / m.duration for m in (*registered.motions, *variants)]
    between, own = speeds[3:], speeds[:3]
    assert min(own) < min(between) < max(between) < max(own)
    assert np.ptp(between) > 0.02


def test_the_same_seed_gives_the_same_and_another_another(variants, registered):
    again, other = variations(registered, 1, rng=1)[0], variations(registered, 1, rng=2)[0]
    np.testing.assert_array_equal(again.root_positions, variants[0].root_positions)
    assert again.source.provenance[-1]["weights"] != other.source.provenance[-1]["weights"]


def test_without_spread_every_one_is_the_mean(registered):
    one, other = variations(registered, 2, spread=0.0, feet=None)
    np.testing.assert_array_equal(one.rotations, other.rotations)
    assert one.source.provenance[-1]["weights"] == pytest.approx([1 / 3] * 3)


def test_beyond_one_they_go_beyond_the_takes(registered):
    found = [m.source.provenance[-1]["weights"] for m in variations(registered, 6, spread=1.5, feet=None)]
    assert min(map(min, found)) < 0.0


def test_a_graph_takes_them_as_clips(takes, variants):
    graph = MotionGraph.build((*takes, *variants), 0.1)
    names = {part.clip for part in graph.random_walk(60.0, rng=0).parts}
    assert names & {motion.name for motion in variants}


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (0, {}, "n, the number of variations, must be at least 1, not 0"),
        (2, {"spread": 2.0}, "spread must be from 0 to 1.5"),
        (2, {"spread": -1.0}, "spread"),
    ],
)
def test_what_makes_no_sense_is_refused(registered, n, options, message):
    with pytest.raises(InvalidValue, match=message):
        variations(registered, n, **options)


def test_motions_that_do_not_go_together_are_refused(takes):
    sits = replace(sample("sit", fps=30).motion, name="other")
    with pytest.raises((NotBlendable, InvalidValue)):
        variations((takes[0], sits), 1)


def test_a_build_adds_variations_of_each_action(takes):
    found = more_takes((*takes, *sneaks()), 2, rng=3)
    assert sorted(motion.name for motion in found) == [
        "sneak variation 1", "sneak variation 2", "walk variation 1", "walk variation 2",
    ]  # fmt: skip
    graph = MotionGraph.build(takes, 0.1, variations=2, rng=3)
    assert [clip.name for clip in graph.clips[3:]] == ["walk variation 1", "walk variation 2"]
    np.testing.assert_array_equal(
        graph.clips[3].rotations,
        MotionGraph.build(takes, 0.1, variations=2, rng=3).clips[3].rotations,
    )
    assert len(MotionGraph.build_by_similarity(takes, 0.8, variations=1).random_walk(5.0)) == 150


def test_clips_without_their_like_are_named(takes):
    alone = replace(sample("sit", fps=30).motion, name="sits")
    with pytest.warns(MareyWarning, match="no variations of sits"):
        found = more_takes((*takes, alone), 1)
    assert [motion.name for motion in found] == ["walk variation 1"]
    with pytest.raises(NoResult, match="found no two takes of the same action"):
        more_takes((takes[0], one_label(alone, "sit")), 1)
    with pytest.raises(InvalidValue, match="n, the number of variations, must be at least 1, not 0"):
        more_takes(takes, 0)


def test_two_labels_as_long_are_decided_by_all_clips(takes):
    both = tuple(
        replace(take, labels=Labels((Label("walk", 0, len(take)), Label(f"a{k}", 0, len(take)))))
        for k, take in enumerate(takes)
    )
    assert {motion.name for motion in more_takes(both, 1)} == {"walk variation 1"}
