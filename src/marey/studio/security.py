"""Access control: accept only requests with this server's token that come from this server's own page.

Other pages in the same browser can reach a loopback port too. So every request needs a cookie, which the browser gets
for the token and sends only from our own page (SameSite=Strict). The cookie is not the token, because browsers send
cookies to servers on other ports of this machine too. The Host header must be ours, because any host name can be made
to point at this machine (DNS rebinding). The Origin header, if the browser sends one, must be ours as well. WebSockets,
which are exempt from the same-origin policy, and all requests that change something must send an Origin.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SAFE_METHODS = ("GET", "HEAD")
HTTP_PORT = 80
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


def new_token() -> str:
    """Return an unguessable token."""
    return secrets.token_urlsafe(32)


def own_hosts(host: str, port: int) -> tuple[str, ...]:
    """Return the valid values of the Host header for a server at `host` and `port`."""
    names = ["127.0.0.1", "localhost", "[::1]"]
    if not is_loopback(host):
        names.append(f"[{host}]" if ":" in host else host)
    # Browsers leave out the port of a plain http:// address.
    return (*(f"{name}:{port}" for name in names), *(names if port == HTTP_PORT else ()))


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached only from this machine."""
    return host in ("127.0.0.1", "::1", "localhost")


def content_policy(host: str) -> str:
    """Return the content security policy: load scripts, styles and everything else from this server only.

    blob: is needed for the images inside GLB files, which the page unpacks.
    """
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob: data:; "
        f"connect-src 'self' ws://{host} blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


class Guard:
    """Rejects unauthorized requests before anything else sees them.

    app : the application to protect.
    token, cookie : the secret that opens the page, and the name of the cookie that the browser gets for it.
    hosts : allowed values of the Host header.
    any_host : allow any Host, for a server that other machines reach under unknown names; Origin must still match Host.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str], cookie: str, *, any_host: bool = False) -> None:
        self._app = app
        self._token = token.encode()
        self._admission = new_token()
        self._hosts = frozenset(hosts)
        self._cookie = cookie
        self._any_host = any_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, answer it, or reject it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = _make_headers(scope)
        host = headers.get("host", "")
        problem = self._find_problem(scope, headers, host)
        if problem is not None:
            await _refuse(scope, send, problem)
        elif scope["type"] == "http" and self._offers_token(scope):
            await self._redirect_with_cookie(send, scope)
        elif not self._has_cookie(headers):
            await _refuse(
                scope, send, "open the studio with the address that `marey studio` printed, including its token"
            )
        else:
            await self._app(scope, receive, _with_headers(send, host) if scope["type"] == "http" else send)

    def _find_problem(self, scope: Scope, headers: dict[str, str], host: str) -> str | None:
        """Return the reason to reject a request regardless of its cookie, or None."""
        if host not in self._hosts and not (self._any_host and host):
            return "unknown host name; use the address that `marey studio` printed"
        origin = headers.get("origin")
        changes = scope["type"] == "websocket" or scope.get("method") not in _SAFE_METHODS
        if origin is None and changes:
            return "the request has no Origin header"
        if origin is not None and _origin_host(origin) != host:
            return "the request comes from another page"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not self._is_arrival(scope):
            return "the request comes from another page"
        return None

    @staticmethod
    def _is_arrival(scope: Scope) -> bool:
        """Return whether the request opens the page with a token, which may happen from a link on another page."""
        return scope["type"] == "http" and scope["path"] == "/" and b"token=" in scope.get("query_string", b"")

    def _offers_token(self, scope: Scope) -> bool:
        if scope["path"] != "/" or scope["method"] not in _SAFE_METHODS:
            return False
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        return hmac.compare_digest(given.encode(), self._token)

    def _has_cookie(self, headers: dict[str, str]) -> bool:
        # Split by hand: other servers on this machine may have set cookies that a strict parser rejects.
        pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
        given = [value for name, _, value in pairs if name == self._cookie]
        return any(hmac.compare_digest(value.encode(), self._admission.encode()) for value in given)

    async def _redirect_with_cookie(self, send: Send, scope: Scope) -> None:
        """Set the cookie and redirect to the address without the token."""
        cookie = f"{self._cookie}={self._admission}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store"), *_HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _make_headers(scope: Scope) -> dict[str, str]:
    """Return headers with lowercase names. A repeated Host or Origin is joined by a comma and matches nothing."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        text = value.decode("latin-1")
        if key == "cookie":
            found[key] = f"{found[key]}; {text}" if key in found else text
        else:
            found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _origin_host(origin: str) -> str | None:
    """Return the host and port of an Origin: ``127.0.0.1:8000`` for ``http://127.0.0.1:8000``; None if not http."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.netloc if parts.scheme == "http" and not parts.path else None


def _with_headers(send: Send, host: str) -> Send:
    """Add the security headers to every response."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            added = [*_HEADERS, (b"content-security-policy", content_policy(host).encode())]
            if b"cache-control" not in given:
                added.append((b"cache-control", b"no-store"))
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return sending


async def _refuse(scope: Scope, send: Send, why: str) -> None:
    """Answer a request with an error that gives the reason `why`."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": why[:120]})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"), *_HEADERS]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": f"{why}\n".encode()})
