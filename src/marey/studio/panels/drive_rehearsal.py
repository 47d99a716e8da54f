"""A rehearsal: a way to drive is first played in vain on a thread, so that nothing is compiled in the server's loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from marey.errors import MareyError

if TYPE_CHECKING:
    from marey.studio.panels.drive_ways import Driver
    from marey.studio.session import Session

# Seconds for which each wish is played: long enough for a clip to end and another to be chosen.
_SECONDS = 1.5


async def rehearse(session: Session, way: str, feet: str, make: Callable[[], Awaitable[Driver]]) -> None:
    """Load all that drives, and play a driver of its own where this server has not played such a one before."""
    await session.jobs.here("loading", import_module, "marey.studio.panels.drive_source")
    known = session.shared.rehearsed
    if (way, feet) not in known:
        await session.jobs.here("trying it out", _play, await make())
        known.add((way, feet))


def _play(driver: Driver) -> None:
    from marey.studio.panels.drive_messages import DriveWish
    from marey.studio.panels.drive_response import Record
    from marey.studio.panels.drive_source import DriveSource

    with suppress(MareyError):  # whoever plays it is told
        source = DriveSource(driver, Record())
        for wish in (DriveWish(direction=2.0), DriveWish(point=(1.0, 3.0))):
            source.wish(wish)
            for _ in range(round(_SECONDS * source.fps)):
                source.frame()
