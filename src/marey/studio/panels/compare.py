"""Compare panel: align two motions. `marey.studio.operations` measures and cleans them.

A separate module, as for every panel; `marey.studio.registry` imports panels by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from marey.studio.panels import compare_messages as messages
from marey.studio.registry import command

if TYPE_CHECKING:
    from marey.studio.session import Session


@command(messages.AlignMotions, reads=True)
def align_motions(session: Session, message: messages.AlignMotions) -> messages.Placed:
    """Align a frame of one motion with a frame of another."""
    from marey.studio.curves import align_frames

    motion, other = (session.motions.motion(each) for each in (message.motion, message.to))
    return align_frames(motion, message.frame, other, message.to_frame)
