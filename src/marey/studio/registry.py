"""Which function answers which command: panels mark theirs, and nothing else has to know them."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from marey.studio.messages import EVENTS, Event, Message

# In the order of their tabs. A panel is a module of `marey.studio.panels`.
PANELS = ("look", "compare", "blend", "graph", "find", "layer", "author", "drive")
# Those whose commands a page sends as it opens.
FIRST = ("look",)

Handler = TypeVar("Handler", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Command:
    """A command as it is run.

    message, reply : what comes in and what goes out.
    call : ``call(session, message)``; what is awaitable runs in the server's loop, anything else on a thread.
    reads : it changes nothing, so that it need not wait for others and may be asked for twice.
    """

    message: type[Message]
    reply: type
    call: Callable[[Any, Any], Any | Awaitable[Any]]
    reads: bool

    @property
    def in_loop(self) -> bool:
        """Whether it is a coroutine function."""
        return inspect.iscoroutinefunction(self.call)


def command(message: type[Message], *, reads: bool = False) -> Callable[[Handler], Handler]:
    """Mark a function ``(session, message) -> reply`` as the answer to a command."""

    def mark(function: Handler) -> Handler:
        function.__dict__["answers"] = (message, reads)
        return function

    return mark


def find_commands(panels: tuple[str, ...] = PANELS) -> dict[str, Command]:
    """All commands of the core and of the panels, by name, in order."""
    found: dict[str, Command] = {}
    for module in ("marey.studio.core_commands", *(f"marey.studio.panels.{panel}" for panel in panels)):
        for function in vars(importlib.import_module(module)).values():
            if not inspect.isfunction(function) or function.__module__ != module or "answers" not in function.__dict__:
                continue
            message, reads = function.__dict__["answers"]
            if message.do in found:
                raise LookupError(f"the command {message.do!r} is answered twice, in {module} and before")
            found[message.do] = Command(message, _reply_of(function), function, reads)
    return found


class Commands:
    """Commands by name. Those of panels that a page does not show at first are loaded when they are first needed."""

    def __init__(self, first: tuple[str, ...] = FIRST) -> None:
        self._found = find_commands(tuple(panel for panel in first if panel in PANELS))
        self._whole = False

    def get(self, do: str) -> Command | None:
        """The command of that name, if there is one."""
        if do not in self._found and not self._whole:
            self.load()
        return self._found.get(do)

    async def ready(self, do: str) -> None:
        """Load what a command needs on a thread, so that nobody else has to wait for it."""
        if do not in self._found and not self._whole:
            await asyncio.to_thread(self.load)

    def load(self) -> None:
        """Load all panels, so that nobody has to wait for it later; from any thread."""
        for do, found in find_commands().items():
            self._found.setdefault(do, found)
        self._whole = True


def find_events(panels: tuple[str, ...] = PANELS) -> tuple[type[Event], ...]:
    """All events of the core and of the panels, which list theirs as ``EVENTS``."""
    modules = (importlib.import_module(f"marey.studio.panels.{panel}") for panel in panels)
    return (*EVENTS, *(event for module in modules for event in getattr(module, "EVENTS", ())))


def _reply_of(function: Callable[..., Any]) -> type:
    """The class that a function is said to give; its session's is not needed, and not loaded, for that."""
    told = inspect.get_annotations(function)["return"]
    reply: type = vars(inspect.getmodule(function))[told] if isinstance(told, str) else told
    return reply
