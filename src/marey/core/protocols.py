"""Protocols that the code that builds graphs and characters shares with the code that plays them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from marey.core.motion import Motion


@runtime_checkable
class Clips(Protocol):
    """A set of motions for a builder, in memory or on disk.

    Examples
    --------
    >>> class Takes:
    ...     names = ("slow", "fast")
    ...
    ...     def motion(self, i):
    ...         return (walk, run)[i]
    ...
    ...     def content_key(self, i):
    ...         return self.names[i]
    >>> marey.MotionGraph.build(Takes()).clips[0].name
    'walk'
    """

    @property
    def names(self) -> Sequence[str]:
        """One name per clip."""
        ...

    def motion(self, i: int) -> Motion:
        """Return the i-th clip, loaded on first use."""
        ...

    def content_key(self, i: int) -> str:
        """Return a cache key that changes with the content of the i-th clip."""
        ...


@runtime_checkable
class ResultCache(Protocol):
    """A store of a builder's results, keyed by their inputs."""

    def key(self, *parts: Any) -> str:
        """Return a key for `parts`: arrays, numbers, strings, and lists of them. Equal parts have equal keys."""
        ...

    def map(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        keys: Sequence[str],
        *,
        run: Callable[..., Any] = map,
    ) -> Iterator[Any]:
        """Like ``map(function, items)``, but reuse results that are already stored under the items' keys."""
        ...


@runtime_checkable
class Stream(Protocol):
    """Motion generated during playback: accepts requests and returns frames at a fixed rate.

    Examples
    --------
    >>> stream = character.stream(marey.control.FollowDirection(0.0))
    >>> stream.request(direction=np.pi / 2)
    >>> len(stream.frame()), stream.fps
    (1, 30.0)
    """

    @property
    def fps(self) -> float:
        """Frames per second; call `frame` at this rate."""
        ...

    def request(self, **command: Any) -> None:
        """Set what the character should do from now on."""
        ...

    def frame(self) -> Motion:
        """Return the next frame, a Motion of length 1."""
        ...
