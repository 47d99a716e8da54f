"""One WebSocket connection to one page, from hello to close."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from marey.errors import InvalidValue, MareyError
from marey.studio.messages import Hello
from marey.studio.outbox import TooSlow
from marey.studio.registry import Commands
from marey.studio.session import Session
from marey.studio.sessions import Sessions
from marey.studio.wire import decode, encode, parse_object

# Seconds to wait for the first message.
_PATIENCE = 20.0
# Close codes: message not understood, refused, client too slow, session taken over by another page.
NOT_UNDERSTOOD, REFUSED, TOO_SLOW, TAKEN_OVER = 1003, 1008, 1013, 4001


class Page:
    """The page at the other end of a socket."""

    def __init__(self, socket: WebSocket, sessions: Sessions, commands: Commands) -> None:
        self._socket = socket
        self._sessions = sessions
        self._commands = commands

    async def serve(self) -> None:
        """Welcome the page, then handle its messages until it disconnects."""
        await self._socket.accept()
        try:
            number, hello = await asyncio.wait_for(self._receive_hello(), _PATIENCE)
            session, before = await self._sessions.enter(hello.session, self)
        except (MareyError, TimeoutError) as error:
            await self.end(REFUSED, str(error) or "no hello message arrived")
            return
        except WebSocketDisconnect:
            return
        if isinstance(before, Page):
            await before.end(TAKEN_OVER, "another page has taken over this session")
        code = 1006
        try:
            code = await self._serve_messages(session, number, hello)
        finally:
            self._sessions.leave(session, self, code)

    async def _receive_hello(self) -> tuple[int, Hello]:
        message = parse_object(await self._text())
        number, do = message.pop("id", None), message.pop("do", None)
        if do != Hello.do or not isinstance(number, int):
            raise InvalidValue("the first message must be a hello")
        return number, decode(Hello, message)

    async def _serve_messages(self, session: Session, number: int, hello: Hello) -> int:
        """Send and receive until either side ends. Return the WebSocket close code."""
        welcome = session.welcome(hello.seen)
        seen = hello.seen if hello.seen >= 0 and not welcome.lost else session.outbox.last
        await self._socket.send_text(encode({"n": 0, "id": number, "kind": "done", "result": welcome}))
        session.outbox.attach()
        sender = asyncio.get_running_loop().create_task(self._send(session, min(seen, session.outbox.last)))
        try:
            while True:
                text = await self._text()
                message = parse_object(text)
                if isinstance(message.get("do"), str):
                    await self._commands.ready(message["do"])
                session.take(self._commands, message, len(text))
        except WebSocketDisconnect as gone:
            return gone.code
        except InvalidValue as error:
            await self.end(NOT_UNDERSTOOD, str(error))
            return NOT_UNDERSTOOD
        finally:
            sender.cancel()
            with suppress(asyncio.CancelledError):
                await sender

    async def _send(self, session: Session, seen: int) -> None:
        """Send queued messages as fast as the page reads them."""
        try:
            while True:
                message = await session.outbox.take(seen)
                if isinstance(message, str):
                    seen += 1
                    await self._socket.send_text(message)
                else:
                    await self._socket.send_bytes(message)
        except TooSlow:
            await self.end(TOO_SLOW, "the page reads too slowly")
        except (WebSocketDisconnect, RuntimeError, OSError):  # the page is gone; the receiving side notices it too
            return

    async def _text(self) -> str:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code") or 1006, message.get("reason"))
        text = message.get("text")
        if not isinstance(text, str):
            raise InvalidValue("messages to the server must be text")
        return text

    async def end(self, code: int, reason: str) -> None:
        """Close the socket if it is still open."""
        if self._socket.application_state is WebSocketState.CONNECTED:
            with suppress(RuntimeError, OSError, WebSocketDisconnect):
                await self._socket.close(code, reason[:120])
