"""Commands that belong to no panel: hello and cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marey.studio.messages import Cancel, Hello, Nothing, Welcome
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.studio.session import Session


@command(Hello, reads=True)
def hello(session: Session, message: Hello) -> Welcome:
    """Return what the page needs to start or to resume."""
    return session.welcome(message.seen)


@command(Cancel, reads=True)
async def cancel(session: Session, message: Cancel) -> Nothing:
    """Cancel a job; does nothing if the job has finished."""
    session.jobs.cancel(message.job)
    return Nothing()
