"""What notebooks show: well-formed HTML with the facts, and nothing that a name could inject."""

from __future__ import annotations

import base64
from dataclasses import replace
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import marey
from marey.core.notebook import show_grid, show_table
from marey.graph import MotionGraph
from marey.samples import straight_walk
from tests.find_medleys import KICK, kick_space, kick_web


def parse(html: str) -> ElementTree.Element:
    """Parse HTML that is also XML; raises if a tag is not closed."""
    return ElementTree.fromstring(html.replace('xmlns="http://www.w3.org/2000/svg" ', ""))


def test_motion_shows_every_bone_of_ten_poses() -> None:
    walk = straight_walk()
    tree = parse(walk._repr_html_())
    bones = [path for path in tree.iter("path") if path.get("stroke-width") is None]
    assert len(bones) == 10 * (len(walk.skeleton) - 1)
    assert {path.get("stroke") for path in bones} == {"#e07b00", "#1f6fb2", "#7a808a"}
    assert f"{len(walk)} frames at {walk.fps:g} Hz" in "".join(tree.itertext())


def test_poses_face_right() -> None:
    """In the side view, the toes are to the right of the ankles, whatever direction the character walks."""
    walk = straight_walk()
    foot, toe = (walk.skeleton.roles[name] for name in ("left_foot", "left_ball"))
    bones = [joint for joint, parent in enumerate(walk.skeleton.parents) if parent >= 0]
    for turned in (walk, walk.moved((2.0, 0.0, 0.0))):
        paths = [path for path in parse(turned._repr_html_()).iter("path") if path.get("stroke-width") is None]
        start, end = (point.split() for point in paths[bones.index(toe)].get("d", "")[1:].split("L"))
        assert walk.skeleton.parents[toe] == foot
        assert float(end[0]) > float(start[0])


def test_one_frame_of_one_joint_can_be_shown() -> None:
    skeleton = marey.Skeleton(["root"], [-1], [[0.0, 0.0, 0.0]])
    motion = marey.Motion(skeleton, np.zeros((1, 3)), np.array([[[1.0, 0.0, 0.0, 0.0]]]), 30.0)
    assert "1 frame at 30 Hz" in "".join(parse(motion._repr_html_()).itertext())


def test_names_are_escaped() -> None:
    html = replace(straight_walk(), name="<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in html
    parse(html)
    assert "<b>" not in show_table("t", "f", ("<b>",), [("<i>",)]).replace("<p><b>t</b>", "")


def test_long_tables_are_cut_and_say_so() -> None:
    tree = parse(show_table("clips", "many", ("number",), ([k] for k in range(45))))
    assert len(list(tree.iter("td"))) == 30
    assert "and 15 more" in "".join(tree.itertext())


def test_grid_is_a_valid_image() -> None:
    image = pytest.importorskip("PIL.Image")
    values = np.outer(np.arange(400.0), np.ones(500)) ** 2
    values[0, 0] = np.inf
    source = parse(show_grid("grid", "facts", values)).find("img")
    assert source is not None
    data = np.asarray(image.open(BytesIO(decode(source.get("src", "")))))
    assert data.shape == (320, 320)
    assert data[0, 0] == 255  # refused
    assert (np.diff(data[:, 1].astype(int)) >= 0).all()  # distances grow downward, dark to light


def decode(url: str) -> bytes:
    return base64.b64decode(url.removeprefix("data:image/png;base64,"))


def test_results_show_their_rows() -> None:
    walk = straight_walk()
    shown: list[tuple[Any, str]] = [
        (marey.check(walk), "finding"),
        (marey.measure(walk, walk), "foot slide while planted"),
        (marey.distance_grid(walk[:40]), "40 x 40 frames"),
        (MotionGraph.build([walk], threshold=0.1), "transitions out"),
        (kick_space(), "of all combinations are reachable"),
        (kick_web().search("take0", *KICK, threshold=0.07), "5 matches within 7 cm; 0 is the query"),
    ]
    for result, text in shown:
        assert text in "".join(parse(result._repr_html_()).itertext())
