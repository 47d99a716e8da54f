"""Share: a page with the clips, and videos of the view."""

from __future__ import annotations

import base64
import io

import pytest

from tests.studio.client import Failed, FakePage, Server


def picture(color: str, size: tuple[int, int] = (32, 18)) -> str:
    image = pytest.importorskip("PIL.Image", reason="no Pillow; install marey[plot]")
    stream = io.BytesIO()
    image.new("RGB", size, color).save(stream, "WEBP", lossless=True)
    return base64.b64encode(stream.getvalue()).decode()


@pytest.mark.parametrize(("format", "start"), [("gif", b"GIF89a"), ("webp", b"RIFF"), ("png", b"\x89PNG")])
def test_pictures_of_the_view_become_a_file(page: FakePage, server: Server, format: str, start: bytes) -> None:
    motion = page.do("open", path="walk.bvh")["motion"]
    for k, color in enumerate(("red", "green", "blue")):
        page.do("share_picture", number=k, data=picture(color))
    made = page.do("share_video", motion=motion, format=format)
    assert made["name"] == f"walk.{format}"
    _, _, content = server.request("GET", made["url"])
    assert content.startswith(start)
    if format == "gif":
        image = pytest.importorskip("PIL.Image").open(io.BytesIO(content))
        assert (image.n_frames, image.size) == (3, (32, 18))


def test_bad_pictures_are_refused(page: FakePage) -> None:
    motion = page.do("open", path="walk.bvh")["motion"]
    with pytest.raises(Failed, match="nothing was recorded"):
        page.do("share_video", motion=motion, format="gif")
    with pytest.raises(Failed, match="base64"):
        page.do("share_picture", number=0, data="no picture!")
    with pytest.raises(Failed, match="record again"):
        page.do("share_picture", number=5, data=picture("red"))
    page.do("share_picture", number=0, data=base64.b64encode(b"no picture").decode())
    with pytest.raises(Failed, match="cannot be read"):
        page.do("share_video", motion=motion, format="gif")
