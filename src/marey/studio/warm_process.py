"""The process of the warm-up: ``python -m marey.studio.warm_process FOLDER``; see `marey.studio.warm`.

It writes one JSON object per line: ``{"done": 3, "of": 9, "piece": "blend"}``, with the piece that comes next, when it
begins and after each piece, ``{"failed": "..."}`` where one fails. It ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from marey.studio.jobs import COMMAND, Jobs

if TYPE_CHECKING:
    from marey.studio.registry import Commands
    from marey.studio.session import Session
    from marey.studio.warm_pieces import Piece

# How much others go before it: as much as there is.
_NICE = 19


class Visitor:
    """A page without a browser, which asks one thing after the other."""

    def __init__(self, session: Session, commands: Commands) -> None:
        self._session = session
        self._commands = commands
        self._count = 0

    async def do(self, name: str, /, **fields: Any) -> Any:
        """The reply to a command."""
        from marey.studio.wire import decode

        command = self._commands.get(name)
        if command is None:
            raise LookupError(f"there is no command {name!r}")
        self._count += 1
        COMMAND.set(self._count)
        reply = command.call(self._session, decode(command.message, _through_json(fields)))
        return await reply if command.in_loop else reply


class JobsHere(Jobs):
    """Work in this process; what goes in and comes out takes the same way through files as to a worker."""

    async def _work(self, call: str, arguments: dict[str, Any], folder: Path, command: int) -> dict[str, Any]:
        from marey.studio.parcels import pack, unpack
        from marey.studio.worker import function_of

        given = unpack(_through_json(pack(arguments, folder)), folder)
        made = function_of(call)(lambda share, text: None, **given)
        result: dict[str, Any] = unpack(_through_json(pack(made, folder)), folder)
        return result


async def run(pieces: Sequence[Piece], folder: Path, told: TextIO) -> bool:
    """Do all pieces with the files of a folder, and tell of each; whether none has failed."""
    from marey.studio.folder import Folder
    from marey.studio.registry import Commands
    from marey.studio.sessions import Sessions

    def tell(**line: Any) -> None:
        told.write(json.dumps(line) + "\n")
        told.flush()

    names = [piece.__name__.replace("_", " ") for piece in pieces] + [""]
    tell(done=0, of=len(pieces), piece=names[0])
    commands, well = Commands(), True
    for k, piece in enumerate(pieces):
        sessions = Sessions(Folder(folder))
        try:
            session, _ = await sessions.enter("", piece)
            session.jobs = JobsHere(session.places.jobs, lambda number, share, text: None)
            session.outbox.attach()  # live streams play for those who are there
            await piece(Visitor(session, commands))
        except Exception as error:
            # Nobody has asked for it: whoever does will be told what is wrong.
            well = False
            tell(failed=f"{piece.__name__}: {type(error).__name__}: {error}")
        finally:
            await sessions.close()
        tell(done=k + 1, of=len(pieces), piece=names[k + 1])
    return well


def main() -> None:
    """Fill the caches, and remember that."""
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the server, which hears Ctrl-C too
    warnings.simplefilter("ignore")
    if hasattr(os, "nice"):
        os.nice(_NICE)
    _end_with_input()
    folder = Path(sys.argv[1])
    tempfile.tempdir = str(folder)
    from marey.studio.warm_lock import alone
    from marey.studio.warm_stamp import is_warm

    with alone() as waited:
        if not (waited and is_warm()):
            _fill(folder, told)


def _fill(folder: Path, told: TextIO) -> None:
    # With it loaded, whatever has a compiled form takes it.
    import numba  # noqa: F401

    from marey.studio.warm_stamp import can_cache, write_stamp

    if not can_cache():
        return
    from marey.studio.warm_pieces import PIECES, make_clips

    clips = folder / "clips"
    clips.mkdir()
    make_clips(clips)
    with suppress(BrokenPipeError):
        if asyncio.run(run(PIECES, clips, told)):
            write_stamp()


def _end_with_input() -> None:
    def read() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()


def _through_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


if __name__ == "__main__":
    main()
