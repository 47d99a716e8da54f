"""Share open motions: Python code that recreates one, a page that plays them, and videos of the viewport."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from marey.errors import InvalidValue
from marey.studio.messages import Download, Message, MotionCommand, Nothing, Value
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.studio.session import Session

# Limits of a recording: pictures, bytes of all of them, pixels of one.
MAX_PICTURES = 1500
MAX_PICTURE_BYTES = 512 * 2**20
MAX_PIXELS = 3840 * 2160


class GetCode(MotionCommand, do="share_code"):
    """Get Python code that recreates a motion from its files."""


class SharedCode(Value):
    """Python code. `variable` is the name of the motion in it, and `files` must be saved before it can run."""

    code: str
    variable: str
    files: tuple[str, ...]


class MakePage(Message, do="share_page"):
    """Make one page, which plays motions without the studio, for download."""

    motions: tuple[str, ...]


@command(GetCode, reads=True)
def get_code(session: Session, message: GetCode) -> SharedCode:
    """Write the code that recreates a motion."""
    from marey.studio.places import suggest_file_name
    from marey.studio.recipes import write_code

    folder = session.places.folder
    opened = session.motions.opened(message.motion)
    file = f"{suggest_file_name(opened.now.recording.name)}.glb"
    code = write_code(opened.now.recipe, file, "" if folder is None else folder.name)
    return SharedCode(code.text, code.variable, code.files)


@command(MakePage)
async def make_page(session: Session, message: MakePage) -> Download:
    """Make a page that plays motions."""
    from marey.studio.places import suggest_file_name
    from marey.studio.threads import to_thread
    from marey.studio.view import view_page
    from marey.studio.view_skin import find_skin

    recordings = [session.motions.recording(each) for each in message.motions]
    if not recordings:
        raise InvalidValue("open a clip first")
    path = session.places.exports / f"{suggest_file_name(recordings[0].name)}.html"
    page = await to_thread(lambda: view_page(recordings, skins=[find_skin(each) for each in recordings]))
    await to_thread(path.write_bytes, page)
    return Download(session.places.offer(path), path.name, path.stat().st_size)


class AddPicture(Message, do="share_picture"):
    """Add a picture of the view to a recording; number 0 starts a new one. `data` is a PNG or WebP file in base64."""

    number: int
    data: str


class MakeVideo(MotionCommand, do="share_video"):
    """Write the pictures of the recording as a file, named after a motion, at `rate` frames per second."""

    format: Literal["gif", "webp", "mp4", "png"]
    rate: float = 25.0


@command(AddPicture)
def add_picture(session: Session, message: AddPicture) -> Nothing:
    """Keep a picture of the view until the recording ends."""
    pictures: list[bytes] = session.state.get_or_create("pictures", list)
    if message.number == 0:
        pictures.clear()
    if message.number != len(pictures):
        raise InvalidValue("the recording was replaced by another one; record again")
    try:
        picture = base64.b64decode(message.data, validate=True)
    except ValueError:
        raise InvalidValue("expected an image in base64") from None
    if len(pictures) >= MAX_PICTURES or sum(map(len, pictures)) + len(picture) > MAX_PICTURE_BYTES:
        pictures.clear()
        raise InvalidValue("the recording is too long; mark a range, or choose a smaller size")
    pictures.append(picture)
    return Nothing()


@command(MakeVideo)
async def make_video(session: Session, message: MakeVideo) -> Download:
    """Write the recording as a file for download."""
    from marey.studio.places import suggest_file_name

    name = suggest_file_name(session.motions.recording(message.motion).name)
    path = session.places.exports / f"{name}.{message.format}"
    pictures: list[bytes] = session.state.get_or_create("pictures", list)
    if not 1.0 <= message.rate <= 120.0:
        raise InvalidValue(f"expected 1 to 120 frames per second, got {message.rate:g}")
    await session.jobs.run_in_thread(_write_video, list(pictures), path, message.rate)
    pictures.clear()
    return Download(session.places.offer(path), path.name, path.stat().st_size)


def _write_video(pictures: list[bytes], path: Path, rate: float) -> None:
    from PIL import Image, UnidentifiedImageError

    from marey.studio.render import write_pictures

    def read(data: bytes) -> Image.Image:
        try:
            picture = Image.open(io.BytesIO(data), formats=["PNG", "WEBP"])
            if picture.width * picture.height > MAX_PIXELS:
                raise InvalidValue(f"expected images of at most {MAX_PIXELS} pixels")
            return picture.convert("RGB")
        except (UnidentifiedImageError, OSError, SyntaxError, ValueError):
            raise InvalidValue("an image of the recording cannot be read; record again") from None

    if not pictures:
        raise InvalidValue("nothing was recorded; record the view first")
    write_pictures((read(data) for data in pictures), path, rate)
