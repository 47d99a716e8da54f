"""Registration as a whole: the value, the recovered ground truth, refusals, files."""

import contextlib
import copy
import io
import itertools
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.core import Motion, Skeleton
from marey.edit import cycle, mirror, resample
from marey.errors import (
    InvalidValue,
    MareyWarning,
    NotBlendable,
    NoTimewarp,
    ParseError,
    UnknownVersion,
    UnreadableFile,
)
from marey.maths import rigid2d
from marey.register import RegistrationCurve, register
from marey.register.files import content_key
from marey.register.steps import find_steps
from marey.register.support import find_foot_support, measure_opposite_feet
from marey.samples import sample
from tests.register.takes import loop, nine_loops, warped_copy

U = np.linspace(0.0, 1.0, 800)


@pytest.fixture(scope="module")
def walk() -> Motion:
    return sample("walk", seconds=4.0).motion


@pytest.fixture(scope="module")
def run() -> Motion:
    return sample("run", seconds=3.0).motion


@pytest.fixture(scope="module")
def both(walk: Motion, run: Motion) -> RegistrationCurve:
    return register([walk, run])


@pytest.fixture(scope="module")
def nine() -> RegistrationCurve:
    return register(nine_loops(), cyclic=True)


def hips_apart(reg: RegistrationCurve, u: np.ndarray) -> np.ndarray:
    """Return the distances (N, n) in meters, on the floor, from the reference's hips to those of each motion."""
    seconds, moves = reg.timewarp(u), reg.alignment(u)
    at = [motion.at(seconds[:, j]).travel for j, motion in enumerate(reg.motions)]
    carried = [rigid2d.apply(moves[:, j], at[j]) for j in range(reg.n_motions)]
    return np.stack([np.linalg.norm((each - at[reg.reference])[:, [0, 2]], axis=1) for each in carried], axis=1)


# The result ----------------------------------------------------------------------------------------------------------


def test_register_is_public(walk: Motion, run: Motion) -> None:
    assert isinstance(marey.register([walk, run]), RegistrationCurve)


def test_curves_cover_the_motions_from_first_frame_to_last(both: RegistrationCurve) -> None:
    assert both.timewarp(0.0) == pytest.approx([0.0, 0.0], abs=1e-9)
    assert both.timewarp(1.0) == pytest.approx([motion.duration for motion in both.motions], abs=1e-9)
    assert (both.timewarp.slope(U) > 0).all()
    assert both.distance == both.distances.max()
    assert both.distances[both.reference] == 0.0
    assert "half cycles of gait" in both.notes[0]
    for motion, (start, stop) in zip(both.motions, both.crops, strict=True):
        assert len(motion) == stop - start


def test_neither_runs_more_than_twice_as_fast_relative_to_their_ratio(both: RegistrationCurve) -> None:
    slope = both.timewarp.slope(U) / both.timewarp.durations
    ratio = slope[:, 1] / slope[:, 0]
    # The path keeps to ratios of 1/2 and 2; the spline that smooths it may exceed them a little at a step.
    assert ratio.min() > 0.4
    assert ratio.max() < 2.5


def test_every_stance_is_matched_and_in_order(both: RegistrationCurve) -> None:
    matched = {name: [m for m in both.matches if m.point == name] for name in ("left_ball", "right_ball")}
    assert all(len(found) >= 3 for found in matched.values())
    for found in matched.values():
        for before, after in itertools.pairwise(found):
            assert (before.stops < after.starts).all()
    walk, run = both.motions
    assert measure_opposite_feet(walk, run, *both.timewarp(U).T) < 0.05


def test_inputs_are_left_alone_and_the_value_is_frozen(walk: Motion, run: Motion) -> None:
    before = content_key(walk), content_key(run)
    reg = register([walk, run])
    assert (content_key(walk), content_key(run)) == before
    with pytest.raises(AttributeError):
        reg.reference = 1  # type: ignore[misc]
    again = copy.deepcopy(reg)
    assert (again.timewarp(U) == reg.timewarp(U)).all()
    assert not again.distances.flags.writeable
    assert repr(reg).startswith("<RegistrationCurve: 2 motions")


@pytest.mark.parametrize(("fps", "crop"), [(30.0, None), (60.0, None), (120.0, None), (60.0, "auto"), (120.0, "auto")])
def test_a_warped_turned_and_moved_copy_is_found_out(fps: float, crop: str | None) -> None:
    motion = sample("walk", seconds=4.0, fps=fps).motion
    other, seconds = warped_copy(motion)
    reg = register([motion, other], crop=crop)  # type: ignore[arg-type]
    found = reg.timewarp(U) + reg.crops[:, 0] / fps
    truth = np.interp(found[:, 1], np.arange(len(motion)) / fps, seconds)
    off = (found[:, 0] - truth) * fps
    assert np.abs(off).max() < 0.5  # frames
    assert np.sqrt((off**2).mean()) < 0.1
    # The alignment undoes the move at the copy (a rotation about a far origin appears as a shift there).
    apart = hips_apart(reg, U)
    assert np.quantile(apart, 0.95) < 0.004
    assert rigid2d.wrap_angle(reg.alignment(U)[:, 1, 0] + 2.5) == pytest.approx(0.0, abs=0.01)


def test_a_kick_and_its_copy() -> None:
    motion = sample("kick").motion
    other, seconds = warped_copy(motion)
    reg = register([motion, other])
    found = reg.timewarp(U) + reg.crops[:, 0] / motion.fps
    truth = np.interp(found[:, 1], np.arange(len(motion)) / motion.fps, seconds)
    assert np.abs(found[:, 0] - truth).max() * motion.fps < 1.0


@pytest.mark.parametrize("far", [(1.0, 0.5, -0.3), (-2.0, 80.0, 60.0)])
def test_order_and_place_do_not_matter(
    walk: Motion, run: Motion, both: RegistrationCurve, far: tuple[float, float, float]
) -> None:
    turned = register([run.moved(far), walk], reference=1)
    assert (turned.crops == both.crops[::-1]).all()
    assert turned.timewarp(U)[:, ::-1] == pytest.approx(both.timewarp(U), abs=1e-6)
    assert turned.distance == pytest.approx(both.distance, abs=1e-9)
    # The alignment is a spline of positions in the world; it depends on their arrangement, but not on how far away they
    # are.
    assert hips_apart(turned, U)[:, 0] == pytest.approx(hips_apart(both, U)[:, 1], abs=2e-3)


def test_mirrored_motions_register_as_the_mirror_image(walk: Motion, run: Motion, both: RegistrationCurve) -> None:
    reg = register([mirror(walk), mirror(run)])
    assert (reg.crops == both.crops).all()
    assert reg.timewarp(U) == pytest.approx(both.timewarp(U), abs=1e-3)
    assert reg.alignment(U)[..., 0] == pytest.approx(-both.alignment(U)[..., 0], abs=1e-3)


def test_the_reference_is_nearest_to_all_and_each_pair_agrees_with_two_alone() -> None:
    motions = [sample("walk", rng=k, speed=speed, seconds=3.0).motion for k, speed in enumerate((0.8, 1.2, 1.3, 1.7))]
    reg = register(motions)
    assert reg.reference in (1, 2)
    assert (reg.distances < 0.1).all()
    cut = [reg.motions[reg.reference], reg.motions[3]]
    pair = register(cut, crop=None)
    seconds = pair.timewarp(pair.timewarp.inverse(0, reg.timewarp(U)[:, reg.reference]))[:, 1]
    assert seconds == pytest.approx(reg.timewarp(U)[:, 3], abs=1.0 / 60.0)
    assert register(motions, reference=3).reference == 3


def test_from_frames_in_the_middle(walk: Motion, run: Motion) -> None:
    whole = register([walk, run])
    middle = whole.timewarp(0.5) * 60.0 + whole.crops[:, 0]
    start = round(float(middle[0])), round(float(middle[1]))
    reg = register([walk, run], start=start)
    u = [float(reg.timewarp.inverse(j, (start[j] - reg.crops[j, 0]) / 60.0)) for j in (0, 1)]
    assert u[0] == pytest.approx(u[1], abs=0.02)
    assert 0 in reg.crops[:, 0]
    assert (reg.crops[:, 1] == [len(walk), len(run)]).any()
    assert reg.timewarp(1.0) == pytest.approx([motion.duration for motion in reg.motions], abs=1e-9)


# Loops ---------------------------------------------------------------------------------------------------------------


def test_nine_loops_register_around_the_seam(nine: RegistrationCurve) -> None:
    assert nine.cyclic
    assert nine.loops is not None
    assert nine.timewarp.durations == pytest.approx([len(motion) / 60.0 for motion in nine.motions])
    assert nine.timewarp(0.0) * 60.0 == pytest.approx(np.zeros(9), abs=0.6)
    assert nine.timewarp(0.0)[nine.reference] == pytest.approx(0.0, abs=1e-9)
    assert nine.timewarp(1.25) == pytest.approx(nine.timewarp(0.25) + nine.timewarp.durations)
    slope = nine.timewarp.slope(U) / nine.timewarp.durations
    assert slope.min() > 0.5
    assert slope.max() < 2.0
    ref = nine.loops[nine.reference]
    for j, travel in enumerate(nine.loops):
        carried = rigid2d.compose(rigid2d.compose(ref, nine.alignment(0.3)[j]), rigid2d.invert(travel))
        assert nine.alignment(1.3)[j][1:] == pytest.approx(carried[1:], abs=1e-6)


def test_nine_loops_have_the_same_feet_planted(nine: RegistrationCurve) -> None:
    assert {match.point for match in nine.matches} == {"left_heel", "left_ball", "right_heel", "right_ball"}
    assert len(nine.matches) == 4
    for match in nine.matches:
        middle = 0.5 * (match.starts + match.stops)
        assert np.ptp(middle) < 0.2
        assert 0.0 <= match.starts.mean() < 1.0
    seconds = nine.timewarp(U)
    for j, motion in enumerate(nine.motions):
        args = motion, seconds[:, nine.reference], seconds[:, j]
        assert measure_opposite_feet(nine.motions[nine.reference], *args) < 0.05


def test_a_loop_and_the_same_loop_begun_elsewhere() -> None:
    a, b = loop("walk", 0.4, variation=0.0, seconds=5.0), loop("walk", 0.4, 0.37, variation=0.0, seconds=5.0)
    reg = register([a, b], cyclic=True)
    seconds = reg.timewarp(U)
    assert (seconds[:, 1] - seconds[:, 0]) * 60.0 == pytest.approx(np.zeros(len(U)), abs=0.6)
    assert reg.distance < 0.02


def test_a_motion_that_is_not_a_loop_is_refused_with_a_remedy(walk: Motion, run: Motion) -> None:
    with pytest.raises(InvalidValue, match=r"'walk' is not a loop: .* 0\.\d+ m from its first.*marey.edit.cycle"):
        register([walk, run], cyclic=True)
    two = cycle(sample("walk", variation=0.0).motion, 10, 76, repeats=2)
    with pytest.raises(NotBlendable, match="the same number of gait half cycles.* 'walk' 4"):
        register([two, loop("run", seconds=3.0)], cyclic=True)


# Refusals ------------------------------------------------------------------------------------------------------------


def test_different_skeletons_name_the_joints_and_the_remedy(walk: Motion, run: Motion) -> None:
    body = run.skeleton
    names = tuple("Tail" if name == body.names[-1] else name for name in body.names)
    other = replace(run, skeleton=Skeleton(names, body.parents, body.offsets), contacts=None)
    with pytest.raises(InvalidValue, match=f"only the first has '{body.names[-1]}', only the second has 'Tail'"):
        register([walk, other])
    offsets = body.offsets.copy()
    offsets[-1] *= 1.5
    longer = replace(run, skeleton=Skeleton(body.names, body.parents, offsets), contacts=None)
    with pytest.raises(
        InvalidValue, match=f"different proportions: .*'{body.names[-1]}' by .*; retarget them onto one"
    ):
        register([walk, longer])


def test_different_rates_are_resampled_with_a_warning(walk: Motion) -> None:
    slow = resample(sample("run", seconds=3.0).motion, 30.0)
    with pytest.warns(MareyWarning, match="'run' was resampled from 30 to 60 Hz"):
        reg = register([walk, slow])
    assert reg.fps == 60.0
    assert any("resampled" in note for note in reg.notes)


def test_contacts_are_detected_where_there_are_none(walk: Motion, run: Motion) -> None:
    reg = register([replace(walk, contacts=None), run])
    assert "contacts of 'walk' were detected" in reg.notes
    assert reg.motions[0].contacts is not None


def test_too_short_and_too_few(walk: Motion, run: Motion) -> None:
    with pytest.raises(InvalidValue, match="'run' is too short to register: it must have at least 8 frames, not 5"):
        register([walk, run[:5]])
    with pytest.raises(InvalidValue, match="at least two clips, got 1"):
        register([walk])
    with pytest.raises(InvalidValue, match="needs motions, got a list with str"):
        register([walk, "run.bvh"])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"crop": "all"}, "must be 'auto' or None, not 'all'"),
        ({"slope_limit": 0}, "must be from 1 to 60"),
        ({"slope_limit": 1.5}, "must be an integer"),
        ({"window": -1}, "window must be at least 0 seconds"),
        ({"max_distance": 0}, "max_distance must be greater than 0 meters"),
        ({"max_opposite": "no"}, "max_opposite must be a number"),
        ({"reference": 2}, "reference, the index of a motion, must be from 0 to 1, not 2"),
        ({"start": (5, 9000)}, "of 'run', must be"),
        ({"start": 5}, "`start=` must be two frames"),
        ({"start": (5, 5), "cyclic": True}, "`start=` applies only to two motions that are not loops"),
    ],
)
def test_bad_options(walk: Motion, run: Motion, options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        register([walk, run], **options)  # type: ignore[arg-type]


def test_no_path_within_the_slope_limit(walk: Motion) -> None:
    with pytest.raises(NoTimewarp):
        register([walk, walk[:100]], crop=None)
    slow = sample("walk", speed=0.6, seconds=6.0).motion
    slower = slow.at(np.linspace(0.0, slow.duration, 4 * len(slow)))
    fast = sample("run", speed=5.0, seconds=3.0).motion
    with pytest.raises(NoTimewarp, match=r"times as long as 'run', but registration allows at most 4 times"):
        register([slower, fast])


def test_the_cost_gate_gives_numbers_and_can_be_forced(walk: Motion, run: Motion) -> None:
    with pytest.raises(
        NotBlendable, match=r"'run' and 'walk' are 0\.1\d\d m apart .* more than 0\.05 m.*use `force=True`"
    ):
        register([walk, run], max_distance=0.05)
    reg = register([walk, run], max_distance=0.05, force=True)
    assert any("by force" in note and "m apart" in note for note in reg.notes)


def test_opposite_feet_are_refused() -> None:
    # Whole clips of a walk and its mirror image: left feet stand where right ones do, and no slope limit allows to
    # wait.
    plain = sample("walk", variation=0.0, seconds=4.0).motion
    with pytest.raises(NotBlendable, match=r"stand on opposite feet for \d+ % of the time, more than 5 %"):
        register([plain, mirror(plain)], crop=None, slope_limit=1, max_distance=1.0)
    reg = register([plain, mirror(plain)])  # in phase, they can be registered
    assert not any("opposite" in note for note in reg.notes)


def test_opposite_feet_can_be_forced() -> None:
    plain = sample("walk", variation=0.0, seconds=4.0).motion
    stride = round(2 * float(np.diff(find_steps(plain).frames).mean()))
    late = plain[stride // 8 :]
    with pytest.raises(NotBlendable, match="opposite feet"):
        register([plain[: len(late)], late], crop=None, slope_limit=1, max_opposite=0.01)
    reg = register([plain[: len(late)], late], crop=None, slope_limit=1, max_opposite=0.01, force=True)
    assert any("accepted by force, although" in note and "opposite feet" in note for note in reg.notes)


def test_opposite_fraction_by_hand() -> None:
    plain = sample("walk", variation=0.0, seconds=4.0).motion
    feet = find_foot_support(plain)
    assert feet is not None
    seconds = np.arange(len(plain)) / plain.fps
    single = float((feet[:, 0] != feet[:, 1]).mean())
    assert measure_opposite_feet(plain, plain, seconds, seconds) == 0.0
    assert measure_opposite_feet(plain, mirror(plain), seconds, seconds) == pytest.approx(single)
    assert measure_opposite_feet(plain, replace(plain, contacts=None), seconds, seconds) == 0.0


# Files ---------------------------------------------------------------------------------------------------------------


def same(a: RegistrationCurve, b: RegistrationCurve) -> None:
    assert (a.timewarp(U) == b.timewarp(U)).all()
    assert (a.alignment(U) == b.alignment(U)).all()
    assert [content_key(motion) for motion in a.motions] == [content_key(motion) for motion in b.motions]
    for one, other in zip(a.matches, b.matches, strict=True):
        assert one.point == other.point
        assert (one.starts == other.starts).all()
        assert (one.stops == other.stops).all()
    for name in ("reference", "distance", "cyclic", "notes"):
        assert getattr(a, name) == getattr(b, name)
    assert (a.crops == b.crops).all()


def test_saved_and_loaded_with_inputs_or_as_registered(
    both: RegistrationCurve, walk: Motion, run: Motion, tmp_path: Path
) -> None:
    path = tmp_path / "jog.npz"
    both.save(path)
    same(both, RegistrationCurve.load(path, [walk, run]))
    same(both, RegistrationCurve.load(path, both.motions))
    first = path.read_bytes()
    both.save(path)
    assert path.read_bytes() == first
    saved = []
    for k, motion in enumerate(both.motions):
        marey.save(motion, tmp_path / f"{k}.npz")
        saved.append((tmp_path / f"{k}.npz").stat().st_size)
    assert len(first) <= 0.03 * sum(saved)


def test_loops_are_saved_too(nine: RegistrationCurve, tmp_path: Path) -> None:
    path = tmp_path / "nine.npz"
    nine.save(path)
    same(nine, RegistrationCurve.load(path, nine_loops()))
    arrays = sum(motion.rotations.nbytes + motion.root_positions.nbytes for motion in nine.motions)
    assert path.stat().st_size <= 0.03 * arrays


def test_other_motions_are_refused(both: RegistrationCurve, walk: Motion, run: Motion, tmp_path: Path) -> None:
    path = tmp_path / "jog.npz"
    both.save(path)
    with pytest.raises(InvalidValue, match="'run' is not the motion 'walk' that was registered"):
        RegistrationCurve.load(path, [run, walk])
    with pytest.raises(InvalidValue, match="'walk' is not the motion 'walk'"):
        RegistrationCurve.load(path, [walk.moved((0.1, 0.0, 0.0)), run])
    with pytest.raises(InvalidValue, match="the 2 motions that were registered, not 3"):
        RegistrationCurve.load(path, [walk, run, run])


def rewritten(path: Path, **changes: np.ndarray | None) -> None:
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files} | changes
    stream = io.BytesIO()
    np.savez(stream, **{name: array for name, array in arrays.items() if array is not None})
    path.write_bytes(stream.getvalue())


def test_older_files_without_the_alignment_of_the_reference(
    both: RegistrationCurve, walk: Motion, run: Motion, tmp_path: Path
) -> None:
    path = tmp_path / "jog.npz"
    both.save(path)
    rewritten(path, alignment=np.delete(both.alignment.points, both.reference, axis=1))
    again = RegistrationCurve.load(path, [walk, run])
    assert (again.alignment(U) == both.alignment(U)).all()


def test_bad_files(both: RegistrationCurve, walk: Motion, run: Motion, tmp_path: Path) -> None:
    path = tmp_path / "jog.npz"
    with pytest.raises(UnreadableFile, match="no such file"):
        RegistrationCurve.load(path, [walk, run])
    cases: list[tuple[dict[str, np.ndarray | None], type[Exception], str]] = [
        ({"version": np.array(2)}, UnknownVersion, "the file has format version 2, but this version of marey reads 1;"),
        (
            {"format": np.array("marey.motion")},
            UnknownVersion,
            "expected a registration curve .marey.registration., got a motion",
        ),
        ({"format": None}, ParseError, "not a registration curve written by marey, but an NPZ file of another program"),
        ({"timewarp": None}, ParseError, "array 'timewarp' is missing; this is not a complete file of"),
        ({"timewarp": np.zeros(3)}, ParseError, r"timewarp must have shape \(timewarp points, motions\), not \(3,\)"),
        ({"timewarp": both.timewarp.points[::-1]}, ParseError, "must be strictly increasing"),
        ({"about": np.array("{}")}, ParseError, "not a valid registration"),
        ({"crops": both.crops[:1]}, ParseError, r"crops must have shape \(2, 2\), not \(1, 2\)"),
    ]
    for changes, error, message in cases:
        both.save(path)
        rewritten(path, **changes)
        with pytest.raises(error, match=message):
            RegistrationCurve.load(path, [walk, run])
    path.write_bytes(b"no zip at all")
    with pytest.raises(ParseError, match="not a readable NPZ file"):
        RegistrationCurve.load(path, [walk, run])


def test_damaged_files_give_typed_errors_only(
    both: RegistrationCurve, walk: Motion, run: Motion, tmp_path: Path
) -> None:
    path = tmp_path / "jog.npz"
    both.save(path)
    whole = path.read_bytes()
    assert zipfile.is_zipfile(path)
    rng = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), 3):
            damaged[at] = int(rng.integers(0, 256))
        path.write_bytes(bytes(damaged[: int(rng.integers(len(whole) // 2, len(whole) + 1))]))
        with contextlib.suppress(ParseError, UnknownVersion, InvalidValue):
            same(both, RegistrationCurve.load(path, [walk, run]))


@pytest.mark.filterwarnings("ignore::marey.errors.MareyWarning")
def test_start_counts_the_frames_of_motions_with_different_rates(walk: Motion) -> None:
    slow = marey.edit.resample(walk, walk.fps / 2)
    frame = 2 * (len(walk) // 4)
    reg = register([walk, slow], start=(frame, frame // 2))
    np.testing.assert_allclose(reg.crops[0], reg.crops[1], atol=4)


def test_a_registration_knows_its_motions_though_their_last_bits_differ(tmp_path: Path) -> None:
    motions = [sample(name, fps=20.0, seconds=1.5).motion for name in ("walk", "run")]
    register(motions).save(tmp_path / "reg.npz")
    nearly = [replace(motion, root_positions=motion.root_positions * (1.0 + 4e-16)) for motion in motions]
    RegistrationCurve.load(tmp_path / "reg.npz", nearly)
    other = [replace(motion, root_positions=motion.root_positions + 1e-5) for motion in motions]
    with pytest.raises(InvalidValue, match="is not the motion"):
        RegistrationCurve.load(tmp_path / "reg.npz", other)
