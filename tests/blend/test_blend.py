"""Blends of generated motion with known ground truth."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import marey.blend
from marey.blend import blend
from marey.blend.baselines.linear import linear_blend
from marey.blend.blend import BlendTrack, _advance
from marey.blend.weights import Weighting
from marey.edit import mirror, retarget, timewarp
from marey.errors import InvalidValue
from marey.io import load, save
from marey.maths import rigid2d
from marey.measure import measure
from marey.register import register
from marey.samples import sample
from tests.blend.helpers import furthest, gait, heading_change, in_phase, net_way, path_length


@pytest.fixture(scope="module")
def walk_and_run():
    return in_phase(gait("walk"), gait("run"))


@pytest.fixture(scope="module")
def curves():
    """Walks to the left and to the right, each by more than 180 degrees."""
    return in_phase(gait("walk", turn_rate=0.7, strides=6), gait("walk", turn_rate=-0.7, strides=6))


@pytest.fixture(scope="module")
def three():
    return in_phase(gait("walk"), gait("run", turn_rate=0.4), gait("walk", speed=1.7, turn_rate=-0.5), reference=1)


# One motion -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("given", ["constant", "function"])
def test_all_the_weight_on_one_gives_it_back(three, k, given):
    weights = np.eye(3)[k]
    result = blend(three, weights if given == "constant" else lambda t: weights, feet=None)
    source = three.motions[k]
    assert abs(len(result) - len(source)) <= 1
    n = min(len(result), len(source))
    assert furthest(result[:n], source[:n]) < 1e-5
    np.testing.assert_array_equal(result.contacts.mask[:n], source.contacts.mask[:n])
    assert result.labels.names == source.labels.names


def test_a_copy_that_is_warped_turned_and_moved_changes_nothing():
    """Frame t of the blend is the original at S_1(u(t))."""
    original = sample("walk", rng=1, seconds=4.0, turn_rate=0.3).motion
    seconds = original.duration
    keys = np.array([[0.0, 0.0], [1.0, 1.3], [2.2, 2.4], [3.0, 3.5], [seconds, seconds + 0.4]])
    copy = timewarp(original, keys).moved([2.0, 3.0, -7.0])
    reg = register([original, copy], crop=None)
    result = blend(reg, [0.5, 0.5], feet=None)
    track = _advance(reg, Weighting.of([0.5, 0.5], 2), result.fps, None)
    there = reg.timewarp(track.u)[:, 0]
    assert furthest(result, reg.motions[0].at(np.clip(there, 0.0, seconds))) < 2e-3


# The path -------------------------------------------------------------------------------------------------------------


def test_left_and_right_walk_straight_where_linear_blending_collapses(curves):
    left, right = curves.motions
    assert heading_change(left) - heading_change(right) > 360.0
    result = blend(curves, [0.5, 0.5])
    lengths = sorted([path_length(left), path_length(right)])
    assert abs(heading_change(result)) < 5.0
    assert lengths[0] - 0.01 <= path_length(result) <= lengths[1] + 0.01
    assert net_way(result) > 0.99 * path_length(result)
    here = linear_blend([left, right.moved(curves.alignment(0.0)[1])], [0.5, 0.5])
    assert path_length(here) < 0.8 * lengths[0]
    assert net_way(here) < 0.5 * lengths[0]


def test_turns_add_up_by_their_weights(curves):
    turns = [heading_change(motion) for motion in curves.motions]
    for w in (0.25, 0.6):
        result = blend(curves, [1.0 - w, w], feet=None)
        assert heading_change(result) == pytest.approx((1.0 - w) * turns[0] + w * turns[1], abs=2.0)


def test_the_start_can_be_chosen(walk_and_run):
    from marey.core.placement import find_placement

    here = blend(walk_and_run, [0.5, 0.5], feet=None)
    there = blend(walk_and_run, [0.5, 0.5], feet=None, start=[1.0, 20.0, -3.0])
    np.testing.assert_allclose(find_placement(there, 0), [1.0, 20.0, -3.0], atol=1e-9)
    move = rigid2d.between(find_placement(here, 0), [1.0, 20.0, -3.0])
    assert furthest(there, here.moved(move)) < 1e-9


def test_by_default_it_starts_where_the_heaviest_motion_does(walk_and_run):
    for k, weights in enumerate(([0.6, 0.4], [0.4, 0.6])):
        result = blend(walk_and_run, weights, feet=None)
        apart = result.travel[0] - walk_and_run.motions[k].travel[0]
        assert np.linalg.norm(apart) < 0.1


# Gait -----------------------------------------------------------------------------------------------------------------


def stance(motion):
    """Return the mean duration in seconds of plants that do not touch the clip's ends."""
    spans = [span for name in motion.contacts.names for span in motion.contacts.intervals(name)]
    return float(np.mean([b - a for a, b in spans if a > 0 and b < len(motion)])) / motion.fps


def step(motion):
    """Return the meters between the balls of the feet from one plant to the next."""
    from marey.clean import point_paths

    contacts = motion.contacts
    paths = point_paths(motion, contacts.points)
    plants = sorted(
        (a + b, *paths[(a + b) // 2, contacts.index(name)][[0, 2]])
        for name in ("left_ball", "right_ball")
        for a, b in contacts.intervals(name)
    )
    return float(np.mean(np.linalg.norm(np.diff(np.array(plants)[:, 1:], axis=0), axis=1)))


def test_walk_and_run_make_a_jog():
    reg = register([sample("walk", seconds=6.0).motion, sample("run", seconds=5.0).motion])
    jog = blend(reg, [0.5, 0.5])
    for value_of in (stance, step, lambda motion: measure(motion)["speed_mean"].value):
        low, high = sorted(value_of(motion) for motion in reg.motions)
        assert low < value_of(jog) < high
    for name in jog.contacts.names:
        assert jog.contacts.intervals(name)
    worst = max(measure(motion)["slide_contact"].value for motion in reg.motions)
    assert measure(jog)["slide_contact"].value <= worst + 1e-6
    # This metric also counts feet that swing low over the floor, so it cannot be 0 in a run.
    assert measure(jog)["skate_ratio"].value <= max(measure(motion)["skate_ratio"].value for motion in reg.motions)


def test_enforcing_is_a_cleanup_of_the_same_blend(walk_and_run):
    raw, held = (blend(walk_and_run, [0.4, 0.6], feet=feet) for feet in (None, "clean"))
    np.testing.assert_array_equal(raw.contacts.mask, held.contacts.mask)
    assert measure(held)["slide_contact"].value < 1e-4 < measure(raw)["slide_contact"].value
    assert [step["op"] for step in held.source.provenance] == ["blend", "clean"]


# Laws -----------------------------------------------------------------------------------------------------------------


def test_weights_that_change_smoothly_leave_no_jump_in_velocity(three):
    """Second differences are no larger than those of the motions themselves."""

    def weights(t):
        fraction = 0.5 + 0.5 * np.sin(2.0 * t)
        return [fraction, 0.6 * (1.0 - fraction), 0.4 * (1.0 - fraction)]

    def jump(motion):
        return float(np.linalg.norm(np.diff(motion.world().positions, n=2, axis=0), axis=-1).max())

    result = blend(three, weights, feet=None)
    assert jump(result) < max(jump(motion) for motion in three.motions)


def test_a_jump_in_the_weights_is_seen_by_that_measure(three):
    result = blend(three, lambda t: [1.0, 0.0, 0.0] if t < 1.0 else [0.0, 1.0, 0.0], feet=None)
    jump = np.linalg.norm(np.diff(result.world().positions, n=2, axis=0), axis=-1).max()
    steps = [np.linalg.norm(np.diff(m.world().positions, n=2, axis=0), axis=-1).max() for m in three.motions]
    assert jump > 2.0 * max(steps)


def test_mirrored_inputs_give_the_mirrored_blend(three):
    mirrored = replace(
        three,
        motions=tuple(mirror(motion) for motion in three.motions),
        alignment=replace(three.alignment, points=three.alignment.points * [-1.0, -1.0, 1.0]),
        matches=tuple(
            replace(m, point=m.point.replace("left", "x").replace("right", "left").replace("x", "right"))
            for m in three.matches
        ),
    )
    for options in ({"feet": None}, {"feet": "clean"}):
        one = blend(mirrored, [0.5, 0.2, 0.3], **options)
        two = mirror(blend(three, [0.5, 0.2, 0.3], **options))
        assert furthest(one, two) < (1e-3 if options["feet"] else 1e-9)
        order = [two.contacts.index(name) for name in one.contacts.names]
        np.testing.assert_array_equal(one.contacts.mask, two.contacts.mask[:, order])


def test_mirrored_inputs_are_registered_and_blended_as_mirrored():
    """Blends of the motions themselves, each registered alone."""
    pair = [sample("walk", seconds=5.0, turn_rate=0.3).motion, sample("run", seconds=4.0, turn_rate=-0.2).motion]
    one = blend([mirror(motion) for motion in pair], [0.4, 0.6], feet=None)
    two = mirror(blend(pair, [0.4, 0.6], feet=None))
    assert len(one) == len(two)
    assert furthest(one, two) < 1e-3


def test_the_order_of_the_motions_does_not_matter(three):
    order = [2, 0, 1]
    weights = np.array([0.5, 0.2, 0.3])
    other = replace(
        three,
        motions=tuple(three.motions[j] for j in order),
        timewarp=replace(three.timewarp, points=three.timewarp.points[:, order]),
        alignment=replace(three.alignment, points=three.alignment.points[:, order], reference=order.index(1)),
        matches=tuple(replace(m, starts=m.starts[order], stops=m.stops[order]) for m in three.matches),
        reference=order.index(1),
    )
    assert furthest(blend(other, weights[order]), blend(three, weights)) < 1e-9


def test_the_reference_hardly_matters():
    pairs = gait("walk"), gait("run", turn_rate=0.4)
    one, two = (blend(in_phase(*pairs, reference=k), [0.5, 0.5], feet=None, start=[0, 0, 0]) for k in (0, 1))
    assert furthest(one, two) < 5e-3


def test_the_output_rate_changes_the_frames_not_the_motion(three):
    usual = blend(three, [0.3, 0.3, 0.4], feet=None)
    slow = blend(three, [0.3, 0.3, 0.4], feet=None, fps=15.0)
    assert slow.fps == 15.0
    assert abs(slow.duration - usual.duration) <= 1 / 15
    assert furthest(slow, replace(usual.at(np.arange(len(slow)) / 15.0), fps=15.0)) < 2e-3


def test_weights_beyond_one_exaggerate(walk_and_run):
    result = blend(walk_and_run, [1.2, -0.2], feet=None)
    walk = walk_and_run.motions[0]
    assert measure(result)["speed_mean"].value < measure(walk)["speed_mean"].value
    assert np.isfinite(result.world().positions).all()


def test_the_inputs_are_left_alone(walk_and_run):
    before = [(m.rotations.copy(), m.root_positions.copy()) for m in walk_and_run.motions]
    blend(walk_and_run, [0.5, 0.5])
    for motion, (rotations, root) in zip(walk_and_run.motions, before, strict=True):
        np.testing.assert_array_equal(motion.rotations, rotations)
        np.testing.assert_array_equal(motion.root_positions, root)


# Floors, bodies, files -----------------------------------------------------------------------------------------------


def raised(motion, height):
    up = motion.root_positions + [0.0, height, 0.0]
    return replace(motion, root_positions=up, source=replace(motion.source, floor=motion.source.floor + height))


def test_different_floors_are_brought_to_one():
    (walk, phase), (run, fast) = gait("walk"), gait("run")
    reg = in_phase((raised(walk, 0.3), phase), (run, fast))
    result = blend(reg, [0.5, 0.5])
    assert result.source.floor == pytest.approx(0.15)
    assert result.world().positions[..., 1].min() > 0.15 - 0.01
    changing = blend(reg, lambda t: [1.0 - t / 5.0, t / 5.0], feet=None)
    level = changing.source.floor
    toes = changing.world().positions[..., 1].min(axis=1)
    assert np.abs(toes - level).max() < 0.1


def traveling_hips(motion):
    """The same character with joint 0 at the origin and hips that travel, as some files have it."""
    from marey.core.skeleton import Skeleton

    body = motion.skeleton
    skeleton = Skeleton(
        ("Origin", *body.names), np.concatenate([[-1], body.parents + 1]), np.concatenate([[[0.0] * 3], body.offsets])
    ).with_roles({"hips": body.names[0]})
    n = len(motion)
    rotations = np.concatenate([np.tile([1.0, 0.0, 0.0, 0.0], (n, 1, 1)), motion.rotations], axis=1)
    offsets = np.tile(skeleton.offsets, (n, 1, 1))
    offsets[:, 1] = motion.root_positions
    contacts = replace(
        motion.contacts, points=tuple(replace(point, joint=point.joint + 1) for point in motion.contacts.points)
    )
    return replace(
        motion, skeleton=skeleton, root_positions=np.zeros((n, 3)), rotations=rotations, bone_offsets=offsets,
        contacts=contacts,
    )  # fmt: skip


def test_hips_that_travel_under_a_fixed_root_blend_the_same(curves):
    given = replace(curves, motions=tuple(traveling_hips(motion) for motion in curves.motions))
    for weights in ([0.5, 0.5], [0.3, 0.7]):
        one, two = (blend(reg, weights, feet=None).world().positions for reg in (curves, given))
        np.testing.assert_allclose(two[:, 1:], one, atol=1e-9)
    for k in (0, 1):
        whole = blend(given, np.eye(2)[k], feet=None)
        assert furthest(whole, given.motions[k]) < 1e-5


def test_files_keep_what_a_blend_is(tmp_path, walk_and_run):
    result = blend(walk_and_run, [0.5, 0.5], name="jog")
    save(result, tmp_path / "jog.bvh")
    back = load(tmp_path / "jog.bvh")
    assert furthest(back, result) < 1e-4
    record = back.source.provenance[0]
    assert record["op"] == "blend"
    assert record["weights"] == [0.5, 0.5]
    assert [each["name"] for each in record["inputs"]] == ["walk", "run"]
    assert record["inputs"][0]["frames"] == [0, len(walk_and_run.motions[0])]


def test_changing_weights_are_noted_at_some_moments(walk_and_run):
    result = blend(walk_and_run, lambda t: [1.0, t], feet=None)
    noted = result.source.provenance[-1]["weights_at"]
    assert noted[0] == [0.0, 1.0, 0.0]
    assert noted[-1][1] == pytest.approx(1.0 / (1.0 + noted[-1][0]))


def test_blend_takes_motions():
    walk, run = sample("walk", seconds=4.0).motion, sample("run", seconds=3.0).motion
    one = marey.blend([walk, run], [0.5, 0.5])
    two = blend(register([walk, run]), [0.5, 0.5])
    assert furthest(one, two) == 0.0
    assert one.name == "Blend of walk and run"


def test_the_simpler_methods_are_there_after_importing_the_package_alone():
    code = (
        "import sys, marey.blend; package = sys.modules['marey.blend']; marey.blend; "
        "assert 'marey.blend.baselines' not in sys.modules; "
        "assert 'baselines' in dir(package); print(package.baselines.compare.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "compare"
    with pytest.raises(ImportError, match="cannot import name 'baseline'"):
        from marey.blend import baseline  # noqa: F401


def test_extrapolation_continues_away_from_the_other_motion(walk_and_run):
    """Frames of a walk extrapolated away from a run, and of a run extrapolated away from a walk."""
    slower = [len(blend(walk_and_run, [w, 1.0 - w], feet=None)) for w in (0.5, 1.0, 1.1, 1.3, 1.5, 3.0)]
    assert (np.diff(slower) >= 0).all()
    assert (np.diff(slower[:5]) > 0).all()
    quicker = [len(blend(walk_and_run, [1.0 - w, w], feet=None)) for w in (0.5, 1.0, 1.1, 1.3, 1.5, 3.0)]
    assert (np.diff(quicker) < 0).all()


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "options", "message"),
    [
        ([1.0], {}, "weights must be 2 numbers"),
        ([0.0, 0.0], {}, "sum greater than 0"),
        ([np.nan, 1.0], {}, "finite"),
        (lambda t: [1.0, 0.0, 0.0], {}, "weights must be 2 numbers.*at 0 s"),
        ([0.5, 0.5], {"fps": 0.0}, "fps must be greater than 0 frames per second"),
        ([0.5, 0.5], {"start": [1.0]}, r"start must have shape \(3,\)"),
        ([0.5, 0.5], {"seconds": 2.0}, "not registered as loops"),
    ],
)
def test_bad_arguments(walk_and_run, weights, options, message):
    with pytest.raises(InvalidValue, match=message):
        blend(walk_and_run, weights, **options)


def test_motions_of_different_bodies_are_refused(walk_and_run):
    walk, run = walk_and_run.motions
    skeleton = replace(run.skeleton, offsets=1.2 * run.skeleton.offsets)
    big = replace(walk_and_run, motions=(walk, replace(run, skeleton=skeleton)))
    with pytest.raises(InvalidValue, match="retarget"):
        blend(big, [0.5, 0.5])
    with pytest.raises(InvalidValue, match="retarget"):
        blend([walk, retarget(run, skeleton)], [0.5, 0.5])


def test_a_track_is_what_compose_takes(walk_and_run):
    from marey.blend.blend import compose

    u = np.linspace(0.2, 0.4, 5)
    result, onwards = compose(walk_and_run, BlendTrack(u, u, np.tile([1.0, 0.0], (5, 1))), 60.0)
    wanted = walk_and_run.motions[0].at(walk_and_run.timewarp(u)[:, 0])
    assert furthest(result, wanted) < 1e-9
    np.testing.assert_allclose(onwards[0], 0.0, atol=1e-9)
