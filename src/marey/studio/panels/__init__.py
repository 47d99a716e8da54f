"""The studio's panels: one module each. Its functions marked with `@command` handle the panel's commands.

A new panel ``blend`` needs four things and no other change:

- ``panels/blend_messages.py``: ``class BlendMotions(Message, do="blend")`` for each command, with a unique name in
  ``do``, and a `Value` for each reply. Fields are plain data, tuples, dict[str, ...] and other values; the base classes
  turn them into frozen dataclasses.
- ``panels/blend.py``: ``@command(BlendMotions)`` before ``def blend(session: Session, message: BlendMotions) -> Made``,
  where ``Made`` is the reply. A plain function runs in a thread, one at a time per session. If it changes nothing, mark
  it ``reads=True``; it then need not wait for others. An ``async def`` runs in the event loop and must not compute
  there: it awaits ``session.jobs.run("marey.studio.panels.blend_work:blend", ...)``, which calls
  ``blend(progress, ...)`` in the worker. The page shows marey's errors unchanged. Import heavy packages where they are
  used.
- ``"blend"`` in `marey.studio.registry.PANELS`.
- ``python -m marey.studio.typescript web/src/messages.ts``, then the page's own module in ``web/src/panels``.

Unsolicited messages to the page are `Event` classes, sent by ``session.send_event`` and listed as ``EVENTS``. To stream
live, pass a `marey.studio.live.LiveSource` to ``session.live.start``. Keep state between commands in ``session.state``.
"""
