"""Commands that belong to no panel: arriving, and ending work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marey.studio.messages import Cancel, Hello, Nothing, Welcome
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.studio.session import Session


@command(Hello, reads=True)
def hello(session: Session, message: Hello) -> Welcome:
    """What the page has to know to begin, or to go on."""
    return session.welcome(message.seen)


@command(Cancel, reads=True)
async def cancel(session: Session, message: Cancel) -> Nothing:
    """End a job; one that is over already is none of its business."""
    session.jobs.cancel(message.job)
    return Nothing()
