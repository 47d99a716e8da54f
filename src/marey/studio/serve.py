"""Running the server."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from marey.errors import InvalidValue
from marey.studio.security import is_loopback, new_token, own_hosts

if TYPE_CHECKING:
    from uvicorn import Server

    from marey.studio.app import Studio

# The port that is tried first, so that a browser knows the page again.
USUAL_PORT = 8377
# Bytes of one message from the page; no further ones are read until it was looked at.
_MESSAGE_BYTES = 4 * 2**20
# Seconds that pages have to go when the server ends.
_GRACE = 2


# Hosts that stand for all addresses of a machine.
_EVERYWHERE = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server is: `url` has the token."""

    host: str
    port: int
    token: str

    @property
    def url(self) -> str:
        """What to open in a browser of this machine."""
        return self._under("127.0.0.1" if self.host in (*_EVERYWHERE, "localhost") else self.host)

    @property
    def url_elsewhere(self) -> str:
        """What to open in a browser of another machine, if the server can be reached from there."""
        return self._under(_name_in_network(self.host) if self.host in _EVERYWHERE else self.host)

    def _under(self, name: str) -> str:
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie; ports share their cookies, so that each has a name of its own."""
        return f"marey_{self.port}"


def _name_in_network(host: str) -> str:
    """An address by which others see this machine, which listens everywhere; its name where there is no network."""
    family, other = (socket.AF_INET6, "2001:db8::1") if ":" in host else (socket.AF_INET, "192.0.2.1")
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect((other, 9))  # sends nothing: it only chooses the way that a message would take
            return str(asking.getsockname()[0])
        except OSError:
            return socket.gethostname()


def bind(host: str = "127.0.0.1", port: int | None = None, *, expose: bool = False) -> socket.socket:
    """A listening socket. Without a port it is the usual one, or any that is free.

    Others than this machine are let in only with `expose`.
    """
    if not is_loopback(host) and not expose:
        raise InvalidValue(
            f"{host} can be reached from other machines, who could read and write the opened folder; add --expose if "
            "that is meant"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tried = [USUAL_PORT, 0] if port is None else [port]
    for i, each in enumerate(tried):
        # With the protocol named, asyncio sends small messages at once; without, live frames wait for each other.
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
                raise InvalidValue(f"cannot listen at {host} port {each} ({why}); choose another --port") from None
            continue
        return listening
    raise InvalidValue("there is no port to listen at")


def address_of(listening: socket.socket) -> Address:
    """Where a socket is, with a new token. Whoever comes before `serve` waits until it serves."""
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
    studio : with the folder whose files the page may open.
    address : from `address_of`, where it was told to somebody already.
    ready : called with the address when pages can be opened.
    started : called with the server, whose `should_exit` ends it.
    """
    import uvicorn

    from marey.studio.sockets import BoundedProtocol

    here = address_of(listening) if address is None else address
    hosts, exposed = own_hosts(here.host, here.port), not is_loopback(here.host)
    app = studio.app(here.token, hosts, here.cookie, any_host=exposed)
    config = uvicorn.Config(
        app,
        ws=BoundedProtocol,
        ws_max_size=_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        http="h11",
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
