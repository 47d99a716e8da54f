"""Commands that belong to no panel: arriving, what may begin then, and ending work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marey.studio.messages import Cancel, Hello, Nothing, Shown, Welcome
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.studio.session import Session


@command(Hello, reads=True)
def hello(session: Session, message: Hello) -> Welcome:
    """What the page has to know to begin, or to go on."""
    return session.welcome(message.seen)


@command(Shown, reads=True)
async def shown(session: Session, message: Shown) -> Nothing:
    """Begin the warm-up where there is to be one; a page that comes while it runs is told how far it is."""
    warm_up = session.shared.warm_up
    if warm_up is not None:
        warm_up.begin()
        if warm_up.now is not None:
            session.tell(warm_up.now)
    return Nothing()


@command(Cancel, reads=True)
async def cancel(session: Session, message: Cancel) -> Nothing:
    """End a job; one that is over already is none of its business."""
    session.jobs.cancel(message.job)
    return Nothing()
