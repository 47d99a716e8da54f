"""Run the server."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from marey.errors import InvalidValue, require
from marey.studio.security import is_loopback, new_token, own_hosts

if TYPE_CHECKING:
    from uvicorn import Server

    from marey.studio.app import Studio

# The port tried first. With a constant port, the browser keeps the page's settings.
DEFAULT_PORT = 8377
# Maximum bytes of one message from the page. The next message is read only after the server has accepted this one.
_MESSAGE_BYTES = 4 * 2**20
# Seconds to wait at shutdown for pages to disconnect.
_GRACE = 2


# Hosts that mean all addresses of this machine.
_EVERYWHERE = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class Address:
    """The server's address; `url` contains the token."""

    host: str
    port: int
    token: str

    @property
    def url(self) -> str:
        """The URL for a browser on this machine."""
        return self._url_at("127.0.0.1" if self.host in (*_EVERYWHERE, "localhost") else self.host)

    @property
    def url_elsewhere(self) -> str:
        """The URL for a browser on another machine, if the server can be reached from there."""
        return self._url_at(_network_address(self.host) if self.host in _EVERYWHERE else self.host)

    def _url_at(self, name: str) -> str:
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The cookie's name. It contains the port, because servers on different ports share cookies."""
        return f"marey_{self.port}"


def _network_address(host: str) -> str:
    """Return an address at which other machines can reach this one; without a network, its host name."""
    family, other = (socket.AF_INET6, "2001:db8::1") if ":" in host else (socket.AF_INET, "192.0.2.1")
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect((other, 9))  # sends nothing; it only selects the network interface
            return str(asking.getsockname()[0])
        except OSError:
            return socket.gethostname()


def check_installed() -> None:
    """Raise `MissingDependency` if a package that the server needs is not installed."""
    for package in ("starlette", "uvicorn", "websockets"):
        require("the studio needs", package, "studio")


def bind(host: str = "127.0.0.1", port: int | None = None, *, expose: bool = False) -> socket.socket:
    """Open a listening socket at `port`. The default is 8377 or, if that is taken, any free port.

    A `host` that other machines can reach raises an error unless `expose` is set.
    """
    if not is_loopback(host) and not expose:
        raise InvalidValue(
            f"{host} is reachable from other machines, which could read and write the open folder",
            parameter="expose",
            remedy="allow this with `expose=True`",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tried = [DEFAULT_PORT, 0] if port is None else [port]
    for i, each in enumerate(tried):
        # With an explicit protocol, asyncio sends small messages immediately; otherwise live frames are delayed.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, each))
            listening.listen(128)
        except (OSError, OverflowError) as error:
            listening.close()
            if i + 1 == len(tried):
                why = (getattr(error, "strerror", None) or str(error)).lower()
                raise InvalidValue(
                    f"cannot listen on {host} port {each} ({why})", parameter="port", remedy="choose another `port=`"
                ) from None
            continue
        return listening
    raise InvalidValue("no port was given to listen on")


def get_address(listening: socket.socket) -> Address:
    """Return a socket's address, with a new token. Connections made before `serve` wait until it runs."""
    host, port = listening.getsockname()[:2]
    return Address(host, port, new_token())


def serve(
    listening: socket.socket,
    studio: Studio,
    *,
    address: Address | None = None,
    ready: Callable[[Address], None] | None = None,
    started: Callable[[Server], None] | None = None,
) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    listening : from `bind`.
    studio : the application to serve.
    address : from `get_address`, if it was already printed.
    ready : called with the address when pages can be opened.
    started : called with the server; set its `should_exit` to stop it.
    """
    import uvicorn

    from marey.studio.sockets import BoundedHttp, BoundedProtocol

    here = get_address(listening) if address is None else address
    hosts, exposed = own_hosts(here.host, here.port), not is_loopback(here.host)
    app = studio.app(here.token, hosts, here.cookie, any_host=exposed)
    config = uvicorn.Config(
        app,
        ws=BoundedProtocol,
        ws_max_size=_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        http=BoundedHttp,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        lifespan="on",
        timeout_graceful_shutdown=_GRACE,
    )
    server = uvicorn.Server(config)
    if started is not None:
        started(server)

    async def run() -> None:
        serving = asyncio.ensure_future(server.serve(sockets=[listening]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.005)
        if server.started and ready is not None:
            ready(here)
        await serving

    asyncio.run(run())
