"""Motion sets of recorded markers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import marey
from marey.cli.main import main
from marey.samples import straight_walk
from tests.io.make_c3d import c3d_bytes, standing, texts


def write_take(path: Path, seed: int) -> None:
    """Write markers that circle around the origin more than twice."""
    cloud = standing(1)[0] - standing(1)[0].mean(axis=0) * [1, 1, 0] + [800.0, 0.0, 0.0]
    angles = np.arange(600 + 10 * seed) * 2.0 * np.pi / 200.0
    turned = np.stack([np.cos(angles), -np.sin(angles), np.sin(angles), np.cos(angles)], axis=1).reshape(-1, 2, 2)
    points = np.repeat(cloud[None], len(angles), axis=0)
    points[..., :2] = np.einsum("fij,mj->fmi", turned, cloud[:, :2])
    path.write_bytes(c3d_bytes(points, LABELS=texts("LA", "RA", "LB", "RB", "LC", "RC", "LD", "RD")))


def test_a_folder_of_c3d_files_is_a_set_of_marker_motions(tmp_path):
    for seed in (0, 1):
        write_take(tmp_path / f"take{seed}.c3d", seed)
    recording = marey.load_markers(tmp_path / "take0.c3d")
    clips = marey.MotionSet.open(tmp_path, fps=recording.fps)
    assert clips.names == ("take0", "take1")
    np.testing.assert_allclose(clips.motion(0).world().positions[:, 1:], recording.positions, atol=1e-9)
    assert clips.motion(0).skeleton.names[1:] == recording.names


def test_c3d_files_beside_motions_are_left_alone(tmp_path):
    write_take(tmp_path / "take.c3d", 0)
    marey.save(straight_walk(seconds=1.0), tmp_path / "walk.bvh")
    assert marey.MotionSet.open(tmp_path).names == ("walk",)


def test_a_graph_and_a_web_are_built_from_a_folder_of_c3d_files(tmp_path, capsys):
    folder = tmp_path / "takes"
    folder.mkdir()
    for seed in (0, 1):
        write_take(folder / f"take{seed}.c3d", seed)
    assert main(["graph", "build", str(folder), "-o", str(tmp_path / "g.npz"), "--threshold", "0.1"]) in (0, 1)
    assert main(["graph", "walk", str(tmp_path / "g.npz"), "-o", str(tmp_path / "w.npz"), "--seconds", "4"]) == 0
    assert len(marey.load(tmp_path / "w.npz").skeleton) == 9
    assert main(["find", "build", str(folder), "-o", str(tmp_path / "web.npz")]) == 0
    assert "2 clips" in capsys.readouterr().out
