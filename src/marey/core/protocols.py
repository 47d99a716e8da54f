"""What builders and players rely on, whatever stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from marey.core.motion import Motion


@runtime_checkable
class Clips(Protocol):
    """A set of motions that a builder can work through, in memory or on disk."""

    @property
    def names(self) -> Sequence[str]:
        """One name for each clip."""
        ...

    def motion(self, i: int) -> Motion:
        """The i-th clip, loaded now if it was not before."""
        ...

    def content_key(self, i: int) -> str:
        """A text that changes whenever the i-th clip's content does; caches go by it."""
        ...


@runtime_checkable
class Cache(Protocol):
    """Where a builder keeps what it has computed, by what went into it."""

    def key(self, *parts: Any) -> str:
        """A text that is the same for the same parts: arrays, numbers, texts, and lists of these."""
        ...

    def map(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        keys: Sequence[str],
        *,
        run: Callable[..., Any] = map,
    ) -> Iterator[Any]:
        """``map(function, items)``, without calling it for items whose results are kept under their keys."""
        ...


@runtime_checkable
class Stream(Protocol):
    """Motion made while it plays: takes requests, yields frames at a fixed rate."""

    @property
    def fps(self) -> float:
        """Frames per second that `frame` is meant to be called."""
        ...

    def request(self, **wish: Any) -> None:
        """Say what the character should do from now on."""
        ...

    def frame(self) -> Motion:
        """The next frame, a Motion of length 1."""
        ...
