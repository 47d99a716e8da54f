"""The exceptions and warnings of marey.

::

    MareyError
    ├── InvalidValue (ValueError)        an argument or array that does not fit
    │   ├── JointNotFound (LookupError)  a joint name or role that the skeleton lacks
    │   └── UnknownName (LookupError)    any other name that is looked up: a contact point, a clip, a sample
    ├── NoResult                         the input is sound, but what was asked for does not exist in it
    │   ├── NoTimewarp                   no path through the grid keeps to the slope limit
    │   └── NotBlendable                 the motions are too unlike one another to be combined
    ├── MissingDependency (ImportError)  an optional package that is not installed
    └── FileError                        something about a file; `.path` and `.line` say where
        ├── UnreadableFile (OSError)     missing, a folder, no permission, empty
        ├── UnwritableFile (OSError)     the output cannot be made there
        ├── UnknownFormat                no reader or writer for this suffix
        ├── ParseError                   the content is malformed
        ├── LimitExceeded                the content is larger than the stated limits
        └── UnknownVersion               written by a newer or foreign program

    MareyWarning (UserWarning)           the motion is usable, but something in the file was not as it should be

Every message is one sentence: what was expected, what was found, where, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "FileError",
    "InvalidValue",
    "JointNotFound",
    "LimitExceeded",
    "MareyError",
    "MareyWarning",
    "MissingDependency",
    "NoResult",
    "NoTimewarp",
    "NotBlendable",
    "ParseError",
    "UnknownFormat",
    "UnknownName",
    "UnknownVersion",
    "UnreadableFile",
    "UnwritableFile",
    "similar",
]


class MareyError(Exception):
    """Base of every error that marey raises on purpose."""


class InvalidValue(MareyError, ValueError):
    """An argument or array that does not fit."""


class JointNotFound(InvalidValue, LookupError):
    """A joint name, index or role that the skeleton does not have."""


class UnknownName(InvalidValue, LookupError):
    """A name that is looked up and is not there."""


class NoResult(MareyError):
    """The input is sound, but what was asked for does not exist in it; the command line exits with 1."""


class NoTimewarp(NoResult):
    """No path from start to end keeps to the slope limit."""


class NotBlendable(NoResult):
    """The motions are too unlike one another to be combined; the message says in what."""


class MissingDependency(MareyError, ImportError):
    """An optional package is not installed; the message names the line that installs it."""


class FileError(MareyError):
    """Something about a file.

    Parameters
    ----------
    message : what was expected, what was found and the remedy, without the file's name.
    path : the file, as the user gave it.
    line : 1-based line number, where there is one.
    """

    def __init__(self, message: str, *, path: object = None, line: int | None = None) -> None:
        self.message = message
        self.path = None if path is None else str(path)
        self.line = line
        super().__init__(message)

    def __str__(self) -> str:
        where = [part for part in (self.path, None if self.line is None else str(self.line)) if part]
        return f"{':'.join(where)}: {self.message}" if where else self.message


class UnreadableFile(FileError, OSError):
    """The input is missing, a folder, empty, or may not be read."""


class UnwritableFile(FileError, OSError):
    """The output cannot be made there."""


class UnknownFormat(FileError):
    """No reader or writer goes by this suffix."""


class ParseError(FileError):
    """The file's content is malformed."""


class LimitExceeded(FileError):
    """The file's content is larger than the stated limits."""


class UnknownVersion(FileError):
    """The file was written by a newer version, or is not ours."""


class MareyWarning(UserWarning):
    """The result is usable, but something in the input was not as it should be."""


def similar(name: str, candidates: Iterable[str], n: int = 3) -> str:
    """``"; similar: 'LeftToeBase'"`` for an error message, or ``""`` where nothing is near."""
    import difflib  # only when something goes wrong

    lowered: dict[str, str] = {}
    for candidate in candidates:
        lowered.setdefault(candidate.lower(), candidate)
    near = difflib.get_close_matches(name.lower(), lowered, n=n, cutoff=0.5)
    return f"; similar: {', '.join(repr(lowered[key]) for key in near)}" if near else ""
