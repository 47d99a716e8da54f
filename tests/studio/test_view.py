"""`marey view`: one page that contains everything, in which names cannot inject anything."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.cli.main import main
from marey.errors import InvalidValue, UnknownFormat, UnreadableFile
from marey.io.gltf_chunks import Gltf, pack_glb
from marey.samples import sample
from marey.studio.page_files import PAGE
from marey.studio.view import view_page
from marey.studio.view_skin import extract_skin
from tests.studio.browser import skinned

HOSTILE = "</script><script>alert(1)</script><!--<script>"


class Parts(HTMLParser):
    """Collect the elements of a page and their texts, as a browser finds them."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}
        self.at = -1
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.at = len(self.tags)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.at = -1

    def handle_data(self, data: str) -> None:
        self.texts[self.at] = self.texts.get(self.at, "") + data

    def inside(self, tag: str) -> list[str]:
        return [self.texts.get(i, "") for i, (name, _) in enumerate(self.tags) if name == tag]


@pytest.fixture
def player(tmp_path: Path) -> Path:
    """A stand-in for a built player."""
    (tmp_path / "view.js").write_text("'use strict';\r\nlet a = '<b>';")
    (tmp_path / "view.css").write_text("body { margin: 0 }")
    return tmp_path


def decoded(motion: dict[str, object]) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and rotations, as the page decodes them."""
    info = motion["info"]
    shape = (info["n_frames"], len(info["joints"]))  # type: ignore[index]
    whole = np.frombuffer(base64.b64decode(str(motion["positions"])), "<i2").reshape(*shape, 3).astype(float)
    positions = np.where(whole == -32768, np.nan, motion["low"] + (whole + 32767) * motion["step"])
    turned = np.frombuffer(base64.b64decode(str(motion["rotations"])), "<i2").reshape(*shape, 4) / 32767
    return positions, turned


def test_the_page_holds_the_motions(player: Path, walk: marey.Motion) -> None:
    markers = sample("walk", seconds=0.5).markers(gaps=0.2)
    parts = Parts(view_page([walk, markers], page=player))
    first, second = json.loads(parts.inside("script")[0])["motions"]
    positions, rotations = decoded(first)
    world = walk.world()
    np.testing.assert_allclose(positions, world.positions, atol=np.ptp(world.positions) / 65534)
    np.testing.assert_allclose(rotations, world.rotations[..., [1, 2, 3, 0]], atol=2e-5)
    assert first["info"]["contacts"][0]["name"] == "left_heel"
    assert parts.inside("title") == ["walk"]
    positions, _ = decoded(second)
    np.testing.assert_array_equal(np.isnan(positions[..., 0]), ~markers.valid)
    assert second["info"]["kind"] == "markers"


def test_the_policy_allows_just_what_the_page_holds(player: Path, walk: marey.Motion) -> None:
    parts = Parts(view_page([walk], page=player))
    policy = next(str(a["content"]) for tag, a in parts.tags if tag == "meta" and "http-equiv" in a)
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        digest = base64.b64encode(hashlib.sha256(parts.inside(tag)[-1].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not re.search(r"https?:", policy)
    assert not [a for _, a in parts.tags if any(name in a for name in ("src", "href", "style", "onload"))]


def test_names_never_become_html(player: Path, walk: marey.Motion) -> None:
    names = (*walk.skeleton.names[:-1], HOSTILE)
    skeleton = marey.Skeleton(names, walk.skeleton.parents, walk.skeleton.offsets)
    labels = marey.Labels((marey.Label(HOSTILE, 0, 5),))
    hostile = marey.Motion(skeleton, walk.root_positions, walk.rotations, walk.fps, HOSTILE, labels=labels)
    plain, attacked = (Parts(view_page([motion], page=player)) for motion in (walk, hostile))
    assert [tag for tag, _ in attacked.tags] == [tag for tag, _ in plain.tags]
    data = json.loads(attacked.inside("script")[0])
    assert data["title"] == data["motions"][0]["info"]["name"] == HOSTILE
    assert data["motions"][0]["info"]["joints"][-1] == HOSTILE
    assert attacked.inside("title") == [HOSTILE]


def test_a_skin_is_sent_without_its_animations(tmp_path: Path, player: Path, walk: marey.Motion) -> None:
    skinned.write(tmp_path / "skinned.glb")
    whole = (tmp_path / "skinned.glb").read_bytes()
    body = extract_skin(whole)
    assert body is not None
    assert len(body) < len(whole) - 4 * skinned.N_FRAMES * (1 + 3 + 4 + 4)
    before, after = Gltf(whole, ""), Gltf(body, "")
    assert "animations" not in after.document
    parts = [each.document["meshes"][0]["primitives"][0] for each in (before, after)]
    for name, width in (("POSITION", 3), ("JOINTS_0", 4), ("WEIGHTS_0", 4)):
        old, new = (
            each.accessor(part["attributes"][name], width) for each, part in zip((before, after), parts, strict=True)
        )
        np.testing.assert_array_equal(new, old)
    figure = marey.load(tmp_path / "skinned.glb")
    data = json.loads(
        Parts(view_page([figure, walk, figure], skins=[body, None, body], page=player)).inside("script")[0]
    )
    assert [each["skin"] for each in data["motions"]] == [0, None, 0]
    assert [base64.b64decode(each) for each in data["skins"]] == [body]
    with pytest.raises(InvalidValue, match="one skin or None for each of 1 motions, not 2"):
        view_page([walk], skins=[None, None], page=player)


def test_bodies_that_a_page_cannot_show_are_left_out(tmp_path: Path, walk: marey.Motion) -> None:
    marey.save(walk, tmp_path / "walk.glb")
    assert extract_skin((tmp_path / "walk.glb").read_bytes()) is None  # a stand-in for limbs
    skinned.write(tmp_path / "skinned.glb")
    gltf = Gltf((tmp_path / "skinned.glb").read_bytes(), "")
    changes: tuple[dict[str, object], ...] = (
        {"images": [{"uri": "https://example.org/tracker.png"}]},
        {"buffers": [{"uri": "../../etc/passwd", "byteLength": 4}]},
        {"skins": []},
        {"meshes": [{"primitives": [{"attributes": {"POSITION": 99}}]}]},
        {"meshes": [{"primitives": 7}]},
        {"accessors": None},
    )
    for change in changes:
        assert extract_skin(pack_glb({**gltf.document, **change}, bytes(gltf.binary))) is None
    assert extract_skin(b"no GLB") is None


def test_a_file_that_cannot_be_shown_is_reported(tmp_path: Path, player: Path, walk: marey.Motion) -> None:
    with pytest.raises(InvalidValue, match="no motion to show"):
        view_page([], page=player)
    (player / "view.js").write_text("a = '</SCRIPT>'")
    with pytest.raises(InvalidValue, match="would close its HTML element early"):
        view_page([walk], page=player)
    with pytest.raises(UnreadableFile, match="was not built when marey was installed.*make page"):
        view_page([walk], page=tmp_path / "nowhere")


def test_command(tmp_path: Path, walk: marey.Motion, capsys: pytest.CaptureFixture[str]) -> None:
    marey.save(walk, tmp_path / "walk.bvh")
    assert main(["view", str(tmp_path / "walk.bvh"), "-o", str(tmp_path / "walk.bvh.exe")]) == 2
    assert "expected an HTML file name" in capsys.readouterr().err
    assert main(["view", str(tmp_path / "gone.bvh"), "-o", str(tmp_path / "page.html")]) == 2
    assert "no such file" in capsys.readouterr().err
    if not (PAGE / "view.js").is_file():
        pytest.skip("the player is not built; run `make page`")
    assert main(["view", str(tmp_path / "walk.bvh"), "-o", str(tmp_path / "page.html")]) == 0
    assert "1 motion" in capsys.readouterr().out
    data_bytes = len(walk) * len(walk.skeleton) * 14 * 4 / 3
    assert (tmp_path / "page.html").stat().st_size < 2 * 2**20 + 1.1 * data_bytes


def test_view_is_a_frame_in_a_notebook_and_a_page_in_a_file(tmp_path):
    walk = sample("walk", seconds=1.0).motion
    shown = marey.view(walk, title='a "b"', height=300)
    frame = Parts(shown._repr_html_().encode())
    (tag, attributes), *rest = frame.tags
    assert (tag, rest) == ("iframe", [])
    assert attributes["title"] == 'a "b"'
    assert "height:300px" in (attributes["style"] or "")
    assert (attributes["srcdoc"] or "").encode() == shown.page == view_page([walk], 'a "b"')
    shown.save(tmp_path / "walk.html")
    assert (tmp_path / "walk.html").read_bytes() == shown.page
    with pytest.raises(UnknownFormat, match="expected an HTML file name"):
        shown.save(tmp_path / "walk.txt")
