"""The server's routes: the page, its files, its socket, uploads and downloads."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from marey.errors import LimitExceeded, MareyError
from marey.studio.connection import Page
from marey.studio.folder import Folder
from marey.studio.messages import Refused, Uploaded
from marey.studio.page_files import PAGE, check_built
from marey.studio.places import UPLOAD_BYTES
from marey.studio.registry import Commands
from marey.studio.security import Guard
from marey.studio.sessions import Sessions
from marey.studio.temporary import remove_stale
from marey.studio.wire import encode

# Seconds from the start until the panels are loaded that were not needed yet.
_LATER = 5.0
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".map": "application/json",
    ".woff2": "font/woff2",
}


class Studio:
    """What the routes share.

    Parameters
    ----------
    folder : the opened one, if any.
    page : the folder with the built page.
    """

    def __init__(self, folder: Folder | None, page: Path = PAGE) -> None:
        check_built(page, "index.html")
        self.sessions = Sessions(folder)
        self._commands = Commands()
        self._page = page

    def app(self, token: str, hosts: tuple[str, ...], cookie: str, *, any_host: bool = False) -> ASGIApp:
        """The whole server, guarded."""
        routes = [
            Route("/", self.index),
            Route("/assets/{name}", self.asset),
            Route("/upload", self.upload, methods=["POST"]),
            Route("/download/{session}/{name}", self.download),
            Route("/skin/{session}/{motion}", self.skin),
            WebSocketRoute("/ws", self.socket),
        ]
        return Guard(Starlette(routes=routes, lifespan=self._lifespan), token, hosts, cookie, any_host=any_host)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        loading = asyncio.get_running_loop().create_task(self._load_later())
        yield
        loading.cancel()
        await self.sessions.close()

    async def _load_later(self) -> None:
        """Do what the first figure does not need once it can be seen: load panels, tidy up after killed servers."""
        await asyncio.sleep(_LATER)
        await asyncio.to_thread(self._commands.load)
        await asyncio.to_thread(remove_stale)

    async def index(self, request: Request) -> Response:
        """The page."""
        return self._file("index.html")

    async def asset(self, request: Request) -> Response:
        """A file of the page; the folder is flat, and nothing else in it has a name like that."""
        return self._file(request.path_params["name"])

    def _file(self, name: str) -> Response:
        path = self._page / name
        fits = path.suffix in _TYPES and path.name == name and path.parent == self._page and path.is_file()
        if not fits or path.is_symlink():
            return PlainTextResponse("no such file\n", 404)
        return FileResponse(path, media_type=_TYPES[path.suffix], headers={"cache-control": "no-cache"})

    async def socket(self, socket: WebSocket) -> None:
        """The page's own connection."""
        await Page(socket, self.sessions, self._commands).serve()

    async def upload(self, request: Request) -> Response:
        """A file dropped on the page, into its session's temporary folder."""
        session = self.sessions.find(request.query_params.get("session", ""))
        name = request.query_params.get("name", "")
        if session is None:
            return _refused("there is no such session; reload the page", 404)
        told = request.headers.get("content-length", "0")
        part: Path | None = None
        try:
            session.places.room_for(name, int(told) if told.isdecimal() and len(told) < 20 else UPLOAD_BYTES + 1)
            with (
                session.places.arrival(name) as coming,
                tempfile.NamedTemporaryFile(dir=session.places.own, delete=False) as stream,
            ):
                part = Path(stream.name)
                async for chunk in request.stream():
                    coming.add(len(chunk))
                    stream.write(chunk)
            session.places.take(name, part)
        except MareyError as error:
            return _refused(str(error), 413 if isinstance(error, LimitExceeded) else 400)
        except ClientDisconnect:
            return _refused("the upload was broken off", 400)
        finally:
            if part is not None:
                part.unlink(missing_ok=True)
        return Response(encode(Uploaded(name, coming.size)), media_type="application/json")

    async def download(self, request: Request) -> Response:
        """A file that was made for the page."""
        session = self.sessions.find(request.path_params["session"])
        path = None if session is None else session.places.offered(request.path_params["name"])
        if path is None or not path.is_file():
            return PlainTextResponse("there is no such file; export it again\n", 404)
        return FileResponse(path, filename=path.name, media_type="application/octet-stream")

    async def skin(self, request: Request) -> Response:
        """The GLB file that a motion was read from, for its own skin."""
        session = self.sessions.find(request.path_params["session"])
        try:
            if session is None:
                return PlainTextResponse("there is no such session; reload the page\n", 404)
            opened = session.motions.opened(request.path_params["motion"])
            if not opened.file.lower().endswith(".glb"):
                return PlainTextResponse("the motion is not from a GLB file\n", 404)
            path = session.places.find(opened.file, opened.where)
        except MareyError as error:
            return PlainTextResponse(f"{error}\n", 404)
        return FileResponse(path, media_type="model/gltf-binary")


def _refused(text: str, status: int) -> Response:
    # The rest of the body is not read, so that the connection cannot go on.
    return Response(encode(Refused(text)), status, media_type="application/json", headers={"connection": "close"})
