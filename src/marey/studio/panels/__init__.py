"""The studio's panels: one module each, whose marked functions answer the panel's commands.

A new panel ``blend`` needs four things and no other change:

- ``panels/blend_messages.py``: ``class BlendMotions(Message, do="blend")`` for each command, with a name that no other
  command has, and a `Value` for each reply. Fields are plain data, tuples, dict[str, ...] and other values; the base
  classes turn them into frozen dataclasses.
- ``panels/blend.py``: ``@command(BlendMotions)`` before ``def blend(session: Session, message: BlendMotions) -> Made``.
  A plain function runs in a thread, one at a time per session, unless it is marked ``reads=True`` because it
  changes nothing. An ``async def`` runs in the event loop and must not compute there: it awaits
  ``session.jobs.run("marey.studio.panels.blend_work:blend", ...)``, which calls ``blend(progress, ...)`` in the worker.
  The page shows marey's errors as they are. Import heavy packages where they are used.
- ``"blend"`` in `marey.studio.registry.PANELS`.
- ``python -m marey.studio.typescript web/src/messages.ts``, then the page's own module in ``web/src/panels``.

Messages that the page did not ask for are `Event` classes, sent by ``session.send_event`` and listed as ``EVENTS``.
Live streams are a `marey.studio.live.LiveSource`, passed to ``session.live.start``. State between commands
goes into ``session.state``.
"""
