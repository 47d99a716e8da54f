"""Share what is open: Python code that makes a motion again, and a page that plays motions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marey.errors import InvalidValue
from marey.studio.messages import Download, Message, MotionCommand, Value
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.studio.session import Session


class GetCode(MotionCommand, do="share_code"):
    """Get Python code that makes a motion again from its files."""


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
    """Write the code that makes a motion again."""
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
