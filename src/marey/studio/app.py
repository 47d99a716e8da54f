"""HTTP routes of the server: page, assets, WebSocket, uploads and downloads."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from marey.errors import LimitExceeded, MareyError
from marey.io.files import GLTF_SUFFIXES
from marey.io.temporary import remove_stale
from marey.studio.connection import Page
from marey.studio.folder import Folder
from marey.studio.messages import Refused, Uploaded
from marey.studio.page_files import PAGE, check_built
from marey.studio.places import UPLOAD_BYTES
from marey.studio.recent import Recent
from marey.studio.registry import Commands
from marey.studio.security import Guard
from marey.studio.sessions import Sessions
from marey.studio.wire import encode

# Seconds after startup until the remaining panels are imported, and what they import on first use.
_LATER = 2.0
_MODULES = ("marey.studio.panels.drive_source", "marey.studio.cached_characters", "scipy.spatial", "scipy.interpolate")
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
    """The web application: its sessions and its routes.

    Parameters
    ----------
    folder : the open folder, if any.
    page : folder of the built page.
    recent : the list to which opened folders and projects are added; None for no list.
    """

    def __init__(self, folder: Folder | None, page: Path = PAGE, recent: Recent | None = None) -> None:
        check_built(page, "index.html")
        self.sessions = Sessions(folder, recent)
        if folder is not None and recent is not None:
            recent.add("folder", folder.root)
        self._commands = Commands()
        self._page = page

    def app(self, token: str, hosts: tuple[str, ...], cookie: str, *, any_host: bool = False) -> ASGIApp:
        """Build the ASGI application, wrapped in the access guard. The arguments are those of `security.Guard`."""
        self.sessions.can_browse = not any_host
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
        """Import the other panels and remove files of killed servers, a few seconds after startup."""
        await asyncio.sleep(_LATER)
        await asyncio.to_thread(self._commands.load)
        for module in _MODULES:
            await asyncio.to_thread(import_module, module)
        await asyncio.to_thread(remove_stale)

    async def index(self, request: Request) -> Response:
        """Serve the page."""
        return self._file("index.html")

    async def asset(self, request: Request) -> Response:
        """Serve one of the page's files. The folder has no subfolders; only known suffixes are served."""
        return self._file(request.path_params["name"])

    def _file(self, name: str) -> Response:
        path = self._page / name
        fits = path.suffix in _TYPES and path.name == name and path.parent == self._page and path.is_file()
        if not fits or path.is_symlink():
            return PlainTextResponse("no such file\n", 404)
        return FileResponse(path, media_type=_TYPES[path.suffix], headers={"cache-control": "no-cache"})

    async def socket(self, socket: WebSocket) -> None:
        """Serve the page's WebSocket."""
        await Page(socket, self.sessions, self._commands).serve()

    async def upload(self, request: Request) -> Response:
        """Store a file dropped on the page in its session's temporary folder."""
        session = self.sessions.find(request.query_params.get("session", ""))
        name = request.query_params.get("name", "")
        if session is None:
            return _refuse("the session has expired; reload the page", 404)
        declared = request.headers.get("content-length", "0")
        part: Path | None = None
        try:
            session.places.check_upload(
                name, int(declared) if declared.isdecimal() and len(declared) < 20 else UPLOAD_BYTES + 1
            )
            with (
                session.places.start_upload(name) as upload,
                tempfile.NamedTemporaryFile(dir=session.places.own, delete=False) as stream,
            ):
                part = Path(stream.name)
                async for chunk in request.stream():
                    upload.add(len(chunk))
                    stream.write(chunk)
            session.places.accept_upload(name, part)
        except MareyError as error:
            return _refuse(str(error), 413 if isinstance(error, LimitExceeded) else 400)
        except ClientDisconnect:
            return _refuse("the upload was interrupted", 400)
        finally:
            if part is not None:
                part.unlink(missing_ok=True)
        return Response(encode(Uploaded(name, upload.size)), media_type="application/json")

    async def download(self, request: Request) -> Response:
        """Serve a file prepared for download."""
        session = self.sessions.find(request.path_params["session"])
        path = None if session is None else session.places.find_offer(request.path_params["name"])
        if path is None or not path.is_file():
            return PlainTextResponse("the file was removed; export it again\n", 404)
        return FileResponse(path, filename=path.name, media_type="application/octet-stream")

    async def skin(self, request: Request) -> Response:
        """Serve the GLB file that a motion was read from. The page shows its skin."""
        session = self.sessions.find(request.path_params["session"])
        try:
            if session is None:
                return PlainTextResponse("the session has expired; reload the page\n", 404)
            opened = session.motions.opened(request.path_params["motion"])
            if not opened.file.lower().endswith(GLTF_SUFFIXES):
                return PlainTextResponse("the motion is not from a GLB file\n", 404)
            path = session.places.find(opened.file, opened.where)
        except MareyError as error:
            return PlainTextResponse(f"{error}\n", 404)
        return FileResponse(path, media_type="model/gltf-binary")


def _refuse(text: str, status: int) -> Response:
    # The rest of the request body is not read, so the connection cannot be reused.
    return Response(encode(Refused(text)), status, media_type="application/json", headers={"connection": "close"})
