"""Rendered animations: the camera sees everything, files have the right length, and invalid input is refused."""

from __future__ import annotations

import io
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.cli.main import main
from marey.core import Motion
from marey.errors import InvalidValue, MissingDependency, UnknownFormat
from marey.plot.body import UP, extract_body
from marey.plot.camera import FIELD_OF_VIEW, plan_camera, view_axes
from marey.samples import sample
from marey.studio import headless
from marey.studio.page_files import PAGE
from marey.studio.render import render

Image = pytest.importorskip("PIL.Image")
WALK = sample("walk", fps=30.0, seconds=2.0).motion
SMALL = "96x64"


@pytest.fixture(autouse=True)
def _no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAREY_BROWSER", "")


def project(points: np.ndarray, eye: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return coordinates in the image in units of its half height, for a camera with this field of view."""
    right, up, away = view_axes(eye, target)
    seen = points - eye
    return np.stack([seen @ right, seen @ up], -1) / -(seen @ away)[..., None] / np.tan(FIELD_OF_VIEW / 2)


@pytest.mark.parametrize("kind", ["follow", "side", "front", "top", "turntable"])
@pytest.mark.parametrize("aspect", [0.5, 16 / 9])
def test_the_camera_always_sees_all_joints(kind, aspect):
    motions = [WALK, sample("kick", fps=30.0).motion.moved((1.0, 2.0, -3.0))]
    bodies = [extract_body(motion) for motion in motions]
    frames = [np.minimum(np.arange(60), len(motion) - 1).tolist() for motion in motions]
    path = plan_camera(bodies, frames, kind, aspect, 30.0)
    fullest = 0.0
    for k in range(60):
        for body, shown in zip(bodies, frames, strict=True):
            flat = project(body.positions[shown[k]] + body.floor * UP, path.eyes[k], path.targets[k])
            assert np.abs(flat[:, 0]).max() <= aspect
            assert np.abs(flat[:, 1]).max() <= 1.0
            fullest = max(fullest, np.abs(flat[:, 0]).max() / aspect, np.abs(flat[:, 1]).max())
    assert fullest > 0.75  # as large as possible


def test_following_does_not_shake_and_others_stand_still():
    body, frames = extract_body(WALK), [list(range(len(WALK)))]
    moving = plan_camera([body], frames, "follow", 1.5, 30.0)
    assert np.ptp(moving.targets[:, 1]) < 1e-12
    jolts = np.linalg.norm(np.diff(moving.targets, 2, axis=0), axis=1).max()
    assert jolts < 0.5 * np.linalg.norm(np.diff(body.travel, 2, axis=0), axis=1).max()
    np.testing.assert_allclose(np.linalg.norm(moving.eyes - moving.targets, axis=1).std(), 0.0, atol=1e-9)
    for kind in ("side", "front", "top"):
        still = plan_camera([body], frames, kind, 1.5, 30.0)
        assert np.ptp(still.eyes, axis=0).max() == 0.0


def test_front_and_side_are_those_of_the_body():
    for angle in (0.0, 1.0, 2.5):
        body = extract_body(WALK.moved((angle, 0.0, 0.0)))
        front = plan_camera([body], [[10]], "front", 1.5, 30.0)
        side = plan_camera([body], [[10]], "side", 1.5, 30.0)
        facing = np.array([np.sin(body.heading[10]), 0.0, np.cos(body.heading[10])])
        assert (front.eyes[0] - front.targets[0]) @ facing > 0.99 * np.linalg.norm(front.eyes[0] - front.targets[0])
        right, _, _ = view_axes(side.eyes[0], side.targets[0])
        assert right @ facing > 0.99  # it walks to the right


def open_image(path: Path):
    return Image.open(io.BytesIO(path.read_bytes()))


def durations(path: Path) -> list[float]:
    """Return the seconds for which each frame of an animation is shown."""
    image, out = open_image(path), []
    for k in range(image.n_frames):
        image.seek(k)
        image.load()
        out.append(image.info["duration"] / 1000)
    return out


@pytest.mark.parametrize("suffix", ["gif", "webp"])
def test_an_animation_lasts_as_long_as_the_motion(tmp_path, suffix):
    fractions: list[float] = []
    render(WALK, tmp_path / f"a.{suffix}", size=SMALL, fps=12.0, progress=fractions.append)
    image = open_image(tmp_path / f"a.{suffix}")
    n = round(WALK.duration * 12) + 1
    assert (image.n_frames, image.size) == (n, (96, 64))
    assert sum(durations(tmp_path / f"a.{suffix}")) == pytest.approx(n / 12.0, abs=0.02)
    assert fractions[-1] == 1.0
    assert fractions == sorted(fractions)


def test_the_same_call_gives_the_same_bytes(tmp_path):
    for name in ("a.gif", "b.gif"):
        render(WALK[:8], tmp_path / name, size=SMALL, labels=True, path=True)
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_the_body_is_drawn_where_the_camera_sees_it(tmp_path):
    render(WALK, tmp_path / "a.png", size="320x240", frame=20, contacts=False)
    pixels = np.asarray(open_image(tmp_path / "a.png").convert("RGB")).astype(int)
    body = extract_body(WALK)
    camera = plan_camera([body], [[20]], "follow", 320 / 240, 25.0)
    flat = project(body.positions[20, body.joints] + body.floor * UP, camera.eyes[0], camera.targets[0])
    columns, rows = (160 + 120 * flat[:, 0]).astype(int), (120 - 120 * flat[:, 1]).astype(int)
    assert (np.ptp(pixels[rows, columns], axis=1) > 30).mean() > 0.6  # colored, not gray: limbs of both sides
    assert (np.ptp(pixels[:20], axis=2) < 12).all()  # and nothing above the body


def test_side_by_side_and_themes_change_the_picture(tmp_path):
    def draw(**options) -> np.ndarray:
        render([WALK, WALK], tmp_path / "a.png", size=SMALL, **options)
        return np.asarray(open_image(tmp_path / "a.png"))

    plain, apart, dark = draw(), draw(apart=True), draw(theme="dark")
    assert (plain != apart).any()
    assert dark.mean() < plain.mean() - 50


def test_a_video_goes_through_ffmpeg(tmp_path, monkeypatch):
    """A stand-in for ffmpeg that writes the number of bytes it was given."""
    tool = tmp_path / "ffmpeg"
    tool.write_text(
        f"#!{sys.executable}\nimport sys\nn = len(sys.stdin.buffer.read())\nopen(sys.argv[-1], 'w').write(str(n))\n"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + os.environ["PATH"])
    render(WALK[:10], tmp_path / "a.mp4", size=SMALL, fps=30.0)
    assert (tmp_path / "a.mp4").read_text() == str(10 * 96 * 64 * 3)
    tool.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no such codec')\n")
    with pytest.raises(UnknownFormat, match=r"ffmpeg failed \(no such codec\); choose \.gif or \.webp"):
        render(WALK[:10], tmp_path / "b.mp4", size=SMALL)
    assert not (tmp_path / "b.mp4").exists()


def test_without_ffmpeg_the_message_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingDependency, match=r"'\.\[video\]'"):
        render(WALK, tmp_path / "a.mp4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": "big"}, "size must be WIDTHxHEIGHT, such as 640x360, not 'big'"),
        ({"size": "8x8"}, "size must be from 16x16 to 3840x2160 pixels, not '8x8'"),
        ({"size": "9000x9000"}, "from 16x16 to 3840x2160"),
        ({"camera": "behind"}, "camera must be 'follow', 'side', 'front', 'top' or 'turntable', not 'behind'"),
        ({"fps": 0}, "fps must be"),
        ({"fps": 60}, "a GIF shows at most 50 frames per second, not 60"),
        ({"frame": 1}, "a still image of one frame is saved as .png"),
    ],
)
def test_wrong_options_are_refused(tmp_path, options, message):
    with pytest.raises(InvalidValue, match=message):
        render(WALK, tmp_path / "a.gif", **options)
    assert not list(tmp_path.iterdir())


def test_wrong_motions_and_files_are_refused(tmp_path):
    with pytest.raises(UnknownFormat, match=r"saved as \.gif, \.webp, \.mp4 or \.png, got \.avi"):
        render(WALK, tmp_path / "a.avi")
    with pytest.raises(InvalidValue, match="at least one motion"):
        render([], tmp_path / "a.gif")
    with pytest.raises(InvalidValue, match="motion"):
        render([3], tmp_path / "a.gif")  # type: ignore[list-item]
    with pytest.raises(InvalidValue, match=r"frame must be from 0 to 60 \(2\.00 s\), not 61"):
        render(WALK, tmp_path / "a.png", frame=61)
    with pytest.raises(InvalidValue, match="maximum 20,000"):
        render(replace(WALK, fps=0.01), tmp_path / "a.webp", fps=120)
    with pytest.raises(MissingDependency, match="needs Chromium or Chrome"):
        render(WALK, tmp_path / "a.gif", drawing="browser")


def test_the_command_draws_a_part(tmp_path, capsys):
    marey.save(WALK, tmp_path / "walk.bvh")
    file = str(tmp_path / "walk.bvh")
    assert main(["render", file, "-o", str(tmp_path / "a.gif"), "--size", SMALL, "--from", "0.5", "--to", "1"]) == 0
    assert open_image(tmp_path / "a.gif").n_frames == round((15 - 1) / 30 * 25) + 1
    assert main(["render", file, "-o", str(tmp_path / "a.png"), "--size", SMALL, "--at", "9"]) == 2
    assert "--at must be from 0 to 2.00 s (frame 60) of 'walk', not 9 s" in capsys.readouterr().err
    assert main(["render", file, "-o", file]) == 2


def _browser() -> str:
    found = next((path for name in headless._COMMANDS if (path := shutil.which(name))), None)
    if found is None or not (PAGE / "view.js").is_file():
        pytest.skip("no browser, or the studio's page is not built")
    return found


@pytest.mark.parametrize(
    ("drawing", "fps"),
    [("plot", 10.0), ("plot", 45.0), pytest.param("browser", 10.0, marks=pytest.mark.slow("starts a browser"))],
)
def test_the_command_draws_as_many_pictures_per_second_as_requested(tmp_path, monkeypatch, drawing, fps):
    if drawing == "browser":
        monkeypatch.setenv("MAREY_BROWSER", _browser())
    marey.save(WALK, tmp_path / "walk.bvh")
    for suffix, tick in (("gif", 0.01), ("webp", 0.001)):
        file = tmp_path / f"a.{suffix}"
        options = ["-o", str(file), "--size", SMALL, "--fps", f"{fps:g}", "--drawing", drawing]
        assert main(["render", str(tmp_path / "walk.bvh"), *options]) == 0
        shown = durations(file)
        assert len(shown) == round(WALK.duration * fps) + 1
        assert np.allclose(shown, 1 / fps, rtol=0, atol=tick)
        assert sum(shown) == pytest.approx(WALK.duration + 1 / fps, abs=tick)


@pytest.mark.slow("starts a browser")
def test_a_browser_draws_the_same_scene(tmp_path, monkeypatch):
    """Solid bodies and line drawings cover the same part of the image."""
    masks = {}
    for drawing in ("plot", "browser"):
        if drawing == "browser":
            monkeypatch.setenv("MAREY_BROWSER", _browser())
        render(WALK, tmp_path / "a.png", frame=20, size="320x240", drawing=drawing, contacts=False, camera="side")
        pixels = np.asarray(open_image(tmp_path / "a.png")).astype(int)
        masks[drawing] = np.abs(pixels - pixels[5, 5]).max(axis=2) > 60
    both = (masks["plot"] & masks["browser"]).sum()
    assert both > 0.6 * masks["plot"].sum()
    assert masks["browser"].sum() < 4 * masks["plot"].sum()


@pytest.mark.slow("starts a browser")
def test_a_browser_draws_the_mesh_of_a_file(tmp_path, monkeypatch, data_folder):
    monkeypatch.setenv("MAREY_BROWSER", _browser())
    motion = marey.edit.mirror(marey.load(data_folder / "gltf" / "RiggedFigure.glb"))
    pictures = []
    for skin in (True, False):
        render(motion, tmp_path / "a.png", frame=5, size="160x120", skin=skin)
        pictures.append(np.asarray(open_image(tmp_path / "a.png")).astype(int))
    colorful = [(np.ptp(pixels, axis=2) > 24).sum() for pixels in pictures]  # its mesh is gray, marey's body is blue
    assert colorful[0] < 20 < colorful[1]


@pytest.mark.slow("starts a browser that fails")
def test_a_browser_that_fails_is_an_error(tmp_path, monkeypatch):
    tool = tmp_path / "chromium"
    tool.write_text("#!/bin/sh\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("MAREY_BROWSER", str(tool))
    with pytest.raises(headless.BrowserFailed, match="the browser did not start"):
        render(_motion(), tmp_path / "a.png")


def _motion() -> Motion:
    return WALK[:3]
