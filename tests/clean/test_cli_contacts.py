"""`marey contacts`: what it prints and writes, and with which exit code."""

import json
from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.cli import main as cli
from marey.core import Labels
from marey.samples import sample
from tests.clean.puppets import unmarked

POINTS = ["left_heel", "left_ball", "right_heel", "right_ball"]


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = cli.main(["contacts", *map(str, arguments)])
        out = capsys.readouterr()
        assert "Traceback" not in out.err
        return code, out.out, out.err

    return call


@pytest.fixture
def clip(tmp_path):
    path = tmp_path / "walk.bvh"
    marey.save(unmarked(sample("walk").motion), path)
    (tmp_path / "walk.marey.json").unlink(missing_ok=True)
    return path


def test_help_has_an_example(run):
    code, out, _ = run("--help")
    assert code == 0
    assert "Example:" in out


def test_a_table_of_intervals(run, clip):
    code, out, err = run(clip)
    assert (code, err) == (0, "")
    assert "floor at 0.000 m" in out
    for name in POINTS:
        assert f"  {name}" in out
    assert not clip.with_suffix(".marey.json").exists()


def test_json_has_the_numbers(run, clip):
    code, out, _ = run(clip, "--json", "--hands")
    report = json.loads(out)
    assert code == 0
    assert list(report["points"])[:4] == POINTS
    assert "left_wrist" in report["points"]
    truth = sample("walk").motion.contacts
    assert len(report["points"]["left_ball"]["intervals"]) == len(truth.intervals("left_ball"))
    assert report["floor_m"] == pytest.approx(0.0, abs=1e-4)
    assert report["raised_m"] == report["written"] == []


def test_write_counts_the_frames_of_a_file_that_starts_with_a_rest_pose(run, tmp_path):
    walk = unmarked(sample("walk").motion)
    rest = np.tile([1.0, 0.0, 0.0, 0.0], (1, len(walk.skeleton), 1))
    whole = replace(
        walk,
        rotations=np.concatenate([rest, walk.rotations]),
        root_positions=np.concatenate([walk.root_positions[:1], walk.root_positions]),
    )
    path = tmp_path / "rest.bvh"
    marey.save(whole, path)
    code, _, err = run(path, "--write")
    assert code == 0
    assert "frame 0 is a rest pose and is skipped; --keep-rest-pose keeps it" in err
    assert json.loads(path.with_suffix(".marey.json").read_text())["frames"] == len(whole)
    trimmed, kept = marey.load(path), marey.load(path, trim_rest=False)
    np.testing.assert_array_equal(trimmed.contacts.mask, marey.detect_contacts(unmarked(trimmed)).contacts.mask)
    np.testing.assert_array_equal(kept.contacts.mask[1:], trimmed.contacts.mask)
    assert not kept.contacts.mask[0].any()


def test_write_makes_the_sidecar_and_load_reads_it(run, clip):
    code, out, _ = run(clip, "--write", "--json")
    spans = json.loads(out)["points"]["left_ball"]["intervals"]
    assert code == 0
    assert [list(span) for span in marey.load(clip).contacts.intervals("left_ball")] == spans


def test_contacts_that_may_be_edited_by_hand_are_not_overwritten(run, clip):
    side = clip.with_suffix(".marey.json")
    assert run(clip, "--write", "--edit-friendly")[0] == 0
    text = side.read_text()
    edited = json.loads(text)
    edited["contacts"]["intervals"]["left_ball"] = [[3, 9]]
    side.write_text(json.dumps(edited))
    code, _, err = run(clip, "--write")
    assert code == 2
    assert "perhaps edited by hand; use --replace" in err
    code, out, _ = run(clip, "--show", "--json")
    assert code == 0
    assert json.loads(out)["points"]["left_ball"]["intervals"] == [[3, 9]]
    assert run(clip, "--write", "--replace", "--edit-friendly")[0] == 0
    assert json.loads(side.read_text()) == json.loads(text)


def test_the_editable_form_has_one_line_per_point_and_the_same_content(run, clip):
    code, out, _ = run(clip, "--edit-friendly")
    assert code == 0
    lines = [line for line in out.splitlines() if line.strip().startswith('"left_ball"')]
    assert len(lines) == 2  # its definition and its intervals
    assert max(map(len, out.splitlines())) <= 120
    run(clip, "--write")
    assert json.loads(out) == json.loads(clip.with_suffix(".marey.json").read_text())


def test_points_of_the_sidecar_are_kept(run, clip):
    run(clip, "--write")
    side = clip.with_suffix(".marey.json")
    content = json.loads(side.read_text())
    content["contacts"]["points"]["left_heel"]["offset"] = [0.0, -0.07, -0.03]
    side.write_text(json.dumps(content))
    assert run(clip, "--write", "--replace")[0] == 0
    assert marey.load(clip).contacts.points[0].offset.tolist() == [0.0, -0.07, -0.03]


def test_a_copy_with_its_sidecar(run, clip, tmp_path):
    out_path = tmp_path / "copy.glb"
    code, out, _ = run(clip, "-o", out_path, "--edit-friendly")
    assert code == 0
    assert str(out_path) in out
    assert marey.load(out_path).contacts.names == tuple(POINTS)
    code, _, err = run(clip, "-o", clip)
    assert code == 2
    assert "this is an input file; choose another name" in err


def test_stairs_name_their_supports_and_planes_can_be_given(run, tmp_path):
    path = tmp_path / "stairs.bvh"
    marey.save(unmarked(sample("stairs").motion), path)
    code, out, _ = run(path)
    assert code == 0
    assert "other surfaces at 0.17" in out
    raised = json.loads(run(path, "--json")[1])
    planes = [part for height in raised["raised_m"] for part in ("--plane", height)]
    assert json.loads(run(path, "--json", *planes)[1])["points"].keys() == raised["points"].keys()
    floor_only = json.loads(run(path, "--json", "--floor-only")[1])
    assert floor_only["points"]["left_ball"]["fraction"] < raised["points"]["left_ball"]["fraction"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--plane", "high"], "a height such as 0.45"),
        (["--plane", "1,2"], "a height such as 0.45"),
        (["--plane", "0.2", "--floor-only"], "exclude each other"),
        (["--show", "--hands"], "--show cannot be combined"),
        (["--show"], "has no contacts; run without --show"),
        (["--replace"], "--replace requires --write"),
        (["--write", "--fps", "30"], "write a copy with -o OUT"),
        (["--write", "-o", "x.bvh"], "give only one"),
        (["--enter-speed", "2"], "--enter-speed must be at most 0.6 (the value of --keep-speed), not 2"),
        (["--gap", "-1"], "--gap must be at least 0 seconds, not -1.0"),
        (["--floor", "-2", "--floor-only"], "nothing touches the floor at -2.000 m"),
    ],
)
def test_wrong_use_gives_a_sentence(run, clip, options, message):
    code, _, err = run(clip, *options)
    assert code == 2
    assert message in err


def test_bad_input_raises_a_one_sentence_error(run, clip, tmp_path):
    walk = unmarked(sample("walk").motion)
    one = tmp_path / "one.npz"
    marey.save(walk[0], one)
    code, _, err = run(one)
    assert code == 2
    assert "must have at least 4 frames for contacts to be detected, not 1" in err
    box = tmp_path / "box.bvh"
    box.write_text(
        "HIERARCHY\nROOT Box\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
        "End Site\n{\nOFFSET 0 1 0\n}\n}\n"
        "MOTION\nFrames: 5\nFrame Time: 0.1\n" + "0 0 0\n" * 5
    )
    code, _, err = run(box)
    assert code == 2
    assert "role 'left_foot' was not found" in err
    code, _, err = run(tmp_path / "none.bvh")
    assert code == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"frames": 12}, "annotations are for 12 frames"),
        ({"contacts": {"points": {"left_heel": {"joint": "Nose"}}}}, "Nose"),
        (
            {"contacts": {"points": {"a": {"joint": "Hips"}}, "intervals": {"a": [[5, 99999]]}}},
            "must have 0 <= start < stop <=",
        ),
        (
            {"contacts": {"points": {}, "intervals": {"a": [[5, 9]]}}},
            "no contact point 'a'; there are no contact points",
        ),
        ({"contacts": [1, 2]}, 'expected "contacts" to be an object'),
    ],
)
def test_contact_files_that_do_not_fit_are_refused(run, clip, change, message):
    content = {"format": "marey.sidecar", "version": 1, "files": [clip.name], **change}
    clip.with_suffix(".marey.json").write_text(json.dumps(content))
    code, _, err = run(clip)
    assert code == 2
    assert message in err


def test_a_clip_without_rest_raises_a_one_sentence_error(run, tmp_path):
    from dataclasses import replace

    walk = unmarked(sample("walk").motion)
    root = walk.root_positions + np.arange(len(walk))[:, None] * np.array([0.05, 0.0, 0.0])
    path = tmp_path / "flying.npz"
    marey.save(replace(walk, root_positions=root), path)
    code, _, err = run(path)
    assert code == 2
    assert "no foot comes to rest" in err


def test_a_file_of_several_clips_takes_no_sidecar(run, tmp_path):
    walk = replace(unmarked(sample("walk").motion), labels=Labels())
    path = tmp_path / "two.glb"
    marey.save([walk, replace(walk, name="again")], path)
    code, _, err = run(str(path), "--clip", "again", "--write")
    assert code == 2
    assert "contains several clips, but a sidecar describes only one" in err
    assert not (tmp_path / "two.marey.json").exists()


def test_two_ways_to_print_are_one_too_many(run, clip):
    code, _, err = run(str(clip), "--edit-friendly", "--json")
    assert code == 2
    assert "both print to the terminal" in err
