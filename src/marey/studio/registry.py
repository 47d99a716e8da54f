"""Map commands to the functions that handle them. Panels mark their handlers with `@command`."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from marey.studio.messages import EVENTS, Cancel, Event, Hello, Message, Nothing, Welcome

if TYPE_CHECKING:
    from marey.studio.session import Session

# In the order of the tabs. A panel is a module of `marey.studio.panels`.
PANELS = ("look", "edit", "compare", "blend", "graph", "find", "layer", "author", "drive")
# Modules with commands that do not belong to one panel.
OTHERS = ("marey.studio.sharing", "marey.studio.start", "marey.studio.project", "marey.studio.library")
# Panels whose commands a page sends when it opens.
FIRST = ("look",)

Handler = TypeVar("Handler", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Command:
    """A command and its handler.

    message, reply : types of the incoming message and the reply.
    call : ``call(session, message)``; coroutine functions run in the event loop, others in a thread.
    reads : whether the command changes nothing; it then need not wait for others and may be repeated.
    """

    message: type[Message]
    reply: type
    call: Callable[[Any, Any], Any | Awaitable[Any]]
    reads: bool

    @property
    def in_loop(self) -> bool:
        """Whether the handler is a coroutine function, which runs in the event loop."""
        return inspect.iscoroutinefunction(self.call)


def command(message: type[Message], *, reads: bool = False) -> Callable[[Handler], Handler]:
    """Mark a function ``(session, message) -> reply`` as the handler of a command."""

    def mark(function: Handler) -> Handler:
        function.__dict__["answers"] = (message, reads)
        return function

    return mark


@command(Hello, reads=True)
def hello(session: Session, message: Hello) -> Welcome:
    """Return the data that the page needs to start or to resume."""
    return session.welcome(message.seen)


@command(Cancel, reads=True)
async def cancel(session: Session, message: Cancel) -> Nothing:
    """Cancel a job; does nothing if the job has finished."""
    session.jobs.cancel(message.job)
    return Nothing()


def find_commands(panels: tuple[str, ...] = PANELS) -> dict[str, Command]:
    """Return all commands of the core and the panels, keyed by name, in the order of definition."""
    found: dict[str, Command] = {}
    others = OTHERS if panels == PANELS else ()
    for module in (__name__, *others, *(f"marey.studio.panels.{panel}" for panel in panels)):
        for function in vars(importlib.import_module(module)).values():
            if not inspect.isfunction(function) or function.__module__ != module or "answers" not in function.__dict__:
                continue
            message, reads = function.__dict__["answers"]
            if message.do in found:
                raise LookupError(f"the command {message.do!r} has two handlers; the second is in {module}")
            found[message.do] = Command(message, _reply_type(function), function, reads)
    return found


class Commands:
    """Commands, keyed by name. Panels that a page does not show first are imported on first use."""

    def __init__(self) -> None:
        self._found = find_commands(tuple(panel for panel in FIRST if panel in PANELS))
        self._has_all = False

    def get(self, do: str) -> Command | None:
        """Return the command of that name, if there is one."""
        if do not in self._found and not self._has_all:
            self.load()
        return self._found.get(do)

    async def ready(self, do: str) -> None:
        """Import the panel of a command if necessary, in a thread to keep the event loop free."""
        if do not in self._found and not self._has_all:
            await asyncio.to_thread(self.load)

    def load(self) -> None:
        """Import all panels. Thread-safe."""
        for do, found in find_commands().items():
            self._found.setdefault(do, found)
        self._has_all = True


def find_events() -> tuple[type[Event], ...]:
    """Return all events of the core and of the panels, which list their events as ``EVENTS``."""
    names = (*OTHERS, *(f"marey.studio.panels.{panel}" for panel in PANELS))
    modules = (importlib.import_module(name) for name in names)
    return (*EVENTS, *(event for module in modules for event in getattr(module, "EVENTS", ())))


def _reply_type(function: Callable[..., Any]) -> type:
    """Return the class in a handler's return annotation, without resolving its other annotations."""
    annotation = inspect.get_annotations(function)["return"]
    reply: type = attrgetter(annotation)(inspect.getmodule(function)) if isinstance(annotation, str) else annotation
    return reply
