"""The studio's panels: one module each, whose marked functions answer the commands that the panel sends.

A new panel ``blend`` needs four things, and no change elsewhere:

- ``panels/blend_messages.py``: a frozen dataclass for each command, a `Message` with a class attribute `do` that no
  other command has, and one for each reply; fields are plain data, tuples, dict[str, ...] and further dataclasses.
- ``panels/blend.py``: ``@command(BlendMotions)`` before ``def blend(session: Session, message: BlendMotions) -> Made``.
  A plain function runs on a thread, one at a time for each session, unless it is marked ``reads=True`` because it
  changes nothing. An ``async def`` runs in the server's loop and must not compute there: it awaits
  ``session.jobs.run("marey.studio.panels.blend_work:blend", ...)``, which calls ``blend(progress, ...)`` in the worker.
  Errors of marey's reach the page as they are. Heavy packages are imported where they are used.
- ``"blend"`` in `marey.studio.registry.PANELS`.
- ``python -m marey.studio.typescript web/src/messages.ts``, then the page's own module in ``web/src/panels``.

What a panel tells unasked is an `Event`, sent by ``session.tell``; its module lists the classes as ``EVENTS``.
What is streamed is a `marey.studio.live.LiveSource`, given to ``session.live.start``. What a panel keeps between
commands goes into ``session.kept``.
"""
