"""Saving and loading of spaces, and invalid input with its messages."""

from dataclasses import replace

import numpy as np
import pytest

from marey.core.resample import resample
from marey.errors import InvalidValue, MareyWarning, NotBlendable, ParseError, UnknownVersion
from marey.io import archive
from marey.parametric import ParametricMotion, SpaceSettings, function, position, turn
from marey.register import register
from tests.parametric.takes import FEATURES, space, takes, walks
from tests.tiers import mostly_slow


class FoundOf:
    """The result of a search: motions and the tree by which they were found."""

    def __init__(self, motions, parents):
        self.motions, self.parents = motions, parents


@pytest.mark.parametrize("kind", mostly_slow(["reach", "walk"], "builds another space", n_fast=1))
def test_a_space_is_the_same_after_loading(tmp_path, kind):
    result = space(kind)
    result.save(tmp_path / "space.npz")
    back = ParametricMotion.load(tmp_path / "space.npz")
    assert (back.names, back.units, back.k, back.delta) == (result.names, result.units, result.k, result.delta)
    assert back.notes == result.notes
    target = result.samples[-1] + 0.1 * result.scale
    a, b = result(target), back(target)
    np.testing.assert_array_equal(a.rotations, b.rotations)
    np.testing.assert_array_equal(a.root_positions, b.root_positions)
    assert a.source.provenance == b.source.provenance
    result.save(tmp_path / "again.npz")
    assert (tmp_path / "space.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()


def test_functions_are_given_again(tmp_path):
    def height(motion):
        return float(motion.travel[:, 1].min())

    result = ParametricMotion.build(takes("reach", 4), function(height, units=["m"]), samples=20)
    result.save(tmp_path / "space.npz")
    with pytest.raises(
        InvalidValue, match="a Python function, which cannot be saved, measures 'height'; pass the function again"
    ):
        ParametricMotion.load(tmp_path / "space.npz")
    back = ParametricMotion.load(tmp_path / "space.npz", feature=function(height, units=["m"]))
    assert back.synthesize(result.samples[-1]).distances()["m"] < 0.05
    with pytest.raises(InvalidValue, match="feature must have the 1 feature of the space, in order"):
        ParametricMotion.load(tmp_path / "space.npz", feature=position("head"))


def test_one_function_requires_all_features_again(tmp_path):
    def height(motion):
        return float(motion.travel[:, 1].min())

    features = [position("right_hand"), function(height, units=["m"])]
    ParametricMotion.build(takes("reach", 4), features, samples=20).save(tmp_path / "space.npz")
    with pytest.raises(InvalidValue, match="measures 'height'; pass all 2 features again"):
        ParametricMotion.load(tmp_path / "space.npz")


def test_values_given_by_hand_are_restored(tmp_path):
    result = ParametricMotion.build(takes("reach", 3), values=np.arange(3.0), names=["mood"])
    result.save(tmp_path / "space.npz")
    assert ParametricMotion.load(tmp_path / "space.npz").names == ("mood",)


def test_broken_files_are_refused(tmp_path):
    path = tmp_path / "space.npz"
    result = space("reach")
    result.save(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ParseError):
        ParametricMotion.load(path)
    path.write_bytes(archive.pack("marey.graph", 1, {"a": np.zeros(1)}))
    with pytest.raises(UnknownVersion, match="expected a parametric motion"):
        ParametricMotion.load(path)


def test_a_search_is_taken_with_its_tree():
    motions = takes("punch", 6)
    result = ParametricMotion.build(FoundOf(motions, [-1, 0, 0, 1, 1, 2]), FEATURES["punch"], samples=40)
    assert result.registration.reference == 0
    assert result.registration.n_motions == 6


def test_a_search_keeps_its_tree_without_those_that_do_not_fit():
    motions = takes("punch", 6)
    apexes = [FEATURES["punch"].find_frame(motion) for motion in motions]
    apexes[1] = 1
    found = FoundOf(motions, [-1, 0, 0, 1, 1, 2])
    with pytest.warns(MareyWarning, match="1 of 6 examples is left out: 'punch 1': the time of the feature, frame 1"):
        result = ParametricMotion.build(found, FEATURES["punch"], samples=0, settings=SpaceSettings(apexes=apexes))
    assert result.example_indices.tolist() == [0, 2, 3, 4, 5]
    assert result.registration.reference == 0
    apexes[0] = 1
    with pytest.warns(MareyWarning, match="2 of 6 examples are left out"):
        result = ParametricMotion.build(found, FEATURES["punch"], samples=0, settings=SpaceSettings(apexes=apexes))
    assert result.example_indices.tolist() == [2, 3, 4, 5]


def test_examples_at_different_rates_keep_their_moments():
    motions = list(takes("punch", 4))
    motions[2] = resample(motions[2], 30.0)
    with pytest.warns(MareyWarning, match="resampled from 30 to 60 Hz"):
        result = ParametricMotion.build(motions, FEATURES["punch"], samples=0)
    whole = ParametricMotion.build(takes("punch", 4), FEATURES["punch"], samples=0)
    # At half the rate, a fast punch is known less accurately.
    np.testing.assert_allclose(result.parameters, whole.parameters, atol=0.04)


def test_without_landmarks_the_reference_determines_the_time():
    motions = takes("punch", 6)
    result = ParametricMotion.build(motions, FEATURES["punch"], samples=0, settings=SpaceSettings(landmarks=False))
    reg, frame = result.registration, FEATURES["punch"].find_frame(motions[result.registration.reference])
    assert reg.timewarp(result.moments[0])[reg.reference] * reg.fps == pytest.approx(frame)


def test_a_registration_is_taken_as_it_is():
    reg = register(takes("punch", 4), crop=None)
    result = ParametricMotion.build(reg, FEATURES["punch"], samples=40)
    assert result.registration is reg
    assert result.synthesize(result.samples[-1], feet=None).distances()["m"] < 1e-6


def test_a_moment_of_the_first_motion_is_carried_over():
    motions = takes("punch", 5)
    frame = FEATURES["punch"].find_frame(motions[0])
    result = ParametricMotion.build(motions, position("right_hand", frame / motions[0].fps), samples=20)
    assert result.registration.reference == 0
    np.testing.assert_allclose(result.parameters[0], FEATURES["punch"](motions[0]), atol=1e-3)


def test_apexes_may_be_given():
    motions = takes("punch", 4)
    apexes = [FEATURES["punch"].find_frame(motion) for motion in motions]
    given = ParametricMotion.build(
        motions, position("right_hand", "highest"), settings=SpaceSettings(apexes=apexes), samples=0
    )
    found = ParametricMotion.build(motions, FEATURES["punch"], samples=0)
    np.testing.assert_allclose(given.parameters, found.parameters)


def test_motions_that_do_not_fit_are_left_out_and_named():
    motions = list(takes("punch", 5))
    short = replace(motions[2][:5], name="stub")
    far = replace(walks(1)[0], name="stranger")
    with pytest.warns(MareyWarning, match="2 of 7 examples are left out: 'stub': .*; 'stranger': "):
        result = ParametricMotion.build(
            [*motions, short, far],
            position("right_hand"),
            samples=20,
            settings=SpaceSettings(apexes=[20, 20, 20, 20, 20, 2, 20]),
        )
    assert result.example_indices.tolist() == [0, 1, 2, 3, 4]
    report = " ".join(result.notes)
    assert "'stub' is left out" in report
    assert "'stranger' is left out" in report


@pytest.mark.parametrize("by_hand", [False, True])
def test_examples_with_equal_names_are_numbered(by_hand):
    motions = [replace(motion, name="punch") for motion in takes("punch", 3)]
    far = replace(walks(1)[0], name="punch", contacts=None)
    given = [*motions, far, replace(takes("punch", 4)[3], name="")]
    options = {"values": np.arange(5.0)} if by_hand else {"feature": "duration", "samples": 5}
    with pytest.warns(MareyWarning, match=r"1 of 5 examples is left out: 'punch \(motion 3\)': "):
        result = ParametricMotion.build(given, **options)
    assert result.example_indices.tolist() == [0, 1, 2, 4]
    assert [motion.name for motion in result.registration.motions] == ["punch", "punch", "punch", ""]
    # There are no other notes about what was left out.
    assert [note for note in result.notes if "motion 3" in note] == [n for n in result.notes if "is left out" in n]
    assert not any("contacts of" in note for note in result.notes)


def test_a_failing_feature_names_the_motion():
    def halves(motion):
        return 1.0 / (motion.name == "no such name")

    with pytest.raises(
        InvalidValue, match=r"the feature cannot be measured on 'punch 0': halves failed: ZeroDivisionError"
    ):
        ParametricMotion.build(takes("punch", 3), halves)
    with pytest.raises(InvalidValue, match="halves failed on 'punch 1': ZeroDivisionError"):
        function(halves)(takes("punch", 3)[1])
    seen = []

    def later(motion):
        seen.append(1)
        return 1.0 / (len(seen) <= 3)

    with pytest.raises(InvalidValue, match="the feature cannot be measured on a blend of examples: later failed: Zero"):
        ParametricMotion.build(takes("punch", 3), later, samples=5)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda m: ParametricMotion.build(m[:1], "turn"), InvalidValue, "at least two examples, not 1"),
        (lambda m: ParametricMotion.build(m[0], "turn"), InvalidValue, "at least two examples, not one"),
        (lambda m: ParametricMotion.build(m), InvalidValue, "either `feature=` to measure or `values=`"),
        (lambda m: ParametricMotion.build(["a", "b"], "turn"), InvalidValue, "needs motions, got a list with str"),
        (lambda m: ParametricMotion.build(m, turn(), values=[1, 2]), InvalidValue, "not both"),
        (
            lambda m: ParametricMotion.build(m, lambda motion: np.nan if motion.name.endswith("2") or True else 0.0),
            InvalidValue,
            "of 'punch 0' is nan, not a finite number",
        ),
        (
            lambda m: ParametricMotion.build(m, lambda motion: [][1]),
            InvalidValue,
            "the feature cannot be measured on 'punch 0': .* IndexError",
        ),
        (
            lambda m: ParametricMotion.build(m, "position:wing"),
            InvalidValue,
            "cannot find the moment at which to measure position wing in 'punch 0'",
        ),
        (lambda m: ParametricMotion.build(m, "turn", samples=-1), InvalidValue, "samples must be from 0"),
        (
            lambda m: ParametricMotion.build(m, "turn", settings=SpaceSettings(delta=-1)),
            InvalidValue,
            "delta must be at least 0",
        ),
        (
            lambda m: ParametricMotion.build(m, "turn", settings=SpaceSettings(scale=[1, 2])),
            InvalidValue,
            r"scale must have shape \(1,\)",
        ),
        (
            lambda m: ParametricMotion.build(m, "turn", settings=SpaceSettings(scale=[-1])),
            InvalidValue,
            "scale must be greater than 0",
        ),
        (lambda m: ParametricMotion.build(m, "turn", rng="x"), InvalidValue, "rng must be an integer"),
        (
            lambda m: ParametricMotion.build(m, "turn", redundant=0),
            InvalidValue,
            "redundant must be one number greater than 0",
        ),
        (lambda m: ParametricMotion.build(m, values=[1, 2]), InvalidValue, r"values must have shape \(3, any\)"),
        (
            lambda m: ParametricMotion.build(m, "position:head@9.5"),
            InvalidValue,
            "is measured at 9.5 s, but 'punch 0' lasts only",
        ),
        (
            lambda m: ParametricMotion.build(m, FEATURES["punch"], settings=SpaceSettings(apexes=[1, 1])),
            InvalidValue,
            "apexes must be one frame for each of 3 motions",
        ),
        (
            lambda m: ParametricMotion.build(m, FEATURES["punch"], settings=SpaceSettings(apexes=[999, 1, 1])),
            InvalidValue,
            "the apex of 'punch 0' must be a frame",
        ),
        (
            lambda m: ParametricMotion.build(m, FEATURES["punch"], settings=SpaceSettings(apexes=[20, 1, 1])),
            NotBlendable,
            "only 1 can be used. Rejected: the time of the feature, frame 1 of",
        ),
        (
            lambda m: ParametricMotion.build(m, FEATURES["punch"], max_distance=1e-4),
            NotBlendable,
            "at least two motions, but only 1 of 3 can be used. Rejected: .* more than 0.0001 m",
        ),
    ],
)
def test_bad_input_is_refused(build, error, message):
    with pytest.raises(error, match=message):
        build(takes("punch", 3))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ([0.1, 0.2], r"target must have 3 numbers \(right_hand x in m, .*\), not 2"),
        ([[0.1, 0.2, 0.3]], r"not shape \(1, 3\)"),
        ([0.1, np.nan, 0.2], "target must be finite"),
        ("here", "target must be an array of numbers"),
    ],
)
def test_bad_targets_are_refused(target, message):
    with pytest.raises(InvalidValue, match=message):
        space("reach")(target)


def test_bad_refinement_is_refused():
    with pytest.raises(InvalidValue, match="must be True, False, or a number of steps from 0 to 50, not 99"):
        space("reach")(space("reach").samples[0], refine=99)
