"""The exceptions and warnings of marey.

::

    MareyError
    ├── InvalidValue (ValueError)        an invalid argument or array
    │   ├── DifferentSkeletons           the motions do not share a skeleton
    │   ├── JointNotFound (LookupError)  the skeleton has no joint with this name, index or role
    │   └── UnknownName (LookupError)    any other unknown name: a contact point, a clip, a sample
    ├── NoResult                         the input is valid, but the requested result does not exist
    │   ├── NoTimewarp                   no path through the grid satisfies the slope limit
    │   └── NotBlendable                 the motions are too different to be combined
    ├── MissingDependency (ImportError)  an optional package is not installed
    └── FileError                        a problem with a file; `.path` and `.line` say where
        ├── UnreadableFile (OSError)     missing, a folder, no permission, empty
        ├── UnwritableFile (OSError)     the output cannot be written there
        ├── UnknownFormat                no reader or writer for this suffix
        ├── ParseError                   the content is malformed
        ├── LimitExceeded                the content is outside the stated limits, or too large for memory
        └── UnknownVersion               written by a newer version or another program

    MareyWarning (UserWarning) the result is usable, but the input had a problem

Every message is one sentence: what was expected, what was found, where, and how to fix it. Where it refers to a
parameter or a function, it writes the name as Python does, in backticks: ```max_stretch=```, ```crop=None``` with a
value, ```marey.edit.cycle```. The command line and the studio replace parameters by their own names, and functions by
the command of the same name (`word_parameters`). A message has at most
`MAX_MESSAGE` characters, whatever values it quotes: longer ones lose their middle.
"""

from __future__ import annotations

import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

__all__ = [
    "DifferentSkeletons",
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
    "collect_warnings",
    "format_list",
    "plural",
    "require",
    "similar",
    "warn_user",
    "word_parameters",
]

# Capturing warnings affects all threads of the process.
_collecting = threading.RLock()

# Maximum number of characters of a message, without the file's name.
MAX_MESSAGE = 380
_END_LENGTH = 140
_LONG_WORD = 40

# Names of parameters that are not nouns. A message that begins with one writes it as `at=`, so that it reads as a name.
_NOT_NOUNS = {
    "above", "after", "ahead", "aligned", "apart", "at", "average", "avoid", "bad", "before", "below", "by", "every",
    "expand", "force", "from", "good", "high", "keep", "least", "low", "mirror", "most", "onto", "prune", "remove",
    "repeat", "respond", "rigid", "smooth", "snap", "steady", "steer", "stop", "stretch", "then", "to", "until", "up",
    "which", "within",
}  # fmt: skip
# NumPy's scalars in a message, such as np.float64(0.5) and np.True_.
_NUMPY_SCALAR = re.compile(r"\bnp\.(?:(?:float|int|uint|bool|str)\w*\(([^()]*)\)|(True|False)_)")


class MareyError(Exception):
    """Base class of every error that marey raises on purpose.

    Parameters
    ----------
    message : what was expected, what was found and where. It starts with the name of `parameter` if its value is wrong;
        a name that is not a noun is put in backticks.
    parameter : the parameter to change, or None.
    remedy : how to fix it; the last part of the sentence.
    """

    def __init__(self, message: str = "", *, parameter: str | None = None, remedy: str | None = None) -> None:
        if parameter in _NOT_NOUNS and message.startswith(f"{parameter} "):
            message = f"`{parameter}=`{message[len(parameter) :]}"
        self.message = _shorten(message)
        self.parameter = parameter
        self.remedy = remedy
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.where + self.sentence

    @property
    def where(self) -> str:
        """Prefix of the message that names the file and line, such as ``"walk.bvh:37: "``; empty for most errors."""
        return ""

    @property
    def sentence(self) -> str:
        """The message with the remedy, without the name of a file."""
        return _add_remedy(self.message, self.remedy)

    def word(self, name: Callable[[str, str], str], remedy: str | None = None) -> str:
        """Return the text with parameters named by a front end.

        Parameters
        ----------
        name : see `word_parameters`.
        remedy : the front end's own remedy, which replaces that of the error.
        """
        message = self.message
        if self.parameter and message.startswith(f"{self.parameter} "):
            message = name(self.parameter, "") + message[len(self.parameter) :]
        return self.where + word_parameters(_add_remedy(message, remedy or self.remedy), name)


def _add_remedy(message: str, remedy: str | None) -> str:
    return _shorten(f"{message}; {remedy}") if remedy else message


def _shorten(message: str) -> str:
    """Return a message as one line of at most `MAX_MESSAGE` characters; the middle of a longer one is left out. NumPy's
    scalars are shown as plain numbers."""
    line = message if message.isprintable() else " ".join(message.split())
    line = _NUMPY_SCALAR.sub(lambda match: match[1] or match[2], line) if "np." in line else line
    if len(line) <= MAX_MESSAGE:
        return line
    head, tail = line[: MAX_MESSAGE - _END_LENGTH - 5], line[-_END_LENGTH:]
    # Cut between words, unless a word is very long.
    space, next_space = head.rfind(" ", -_LONG_WORD), tail.find(" ", 0, _LONG_WORD)
    head = head if space < 0 else head[:space]
    return f"{head} ... {tail if next_space < 0 else tail[next_space + 1 :]}"


def word_parameters(text: str, name: Callable[[str, str], str]) -> str:
    """Replace references to parameters and functions by those of a front end.

    ```crop=None``` becomes ``name("crop", "None")``; the value may be "". ```marey.edit.cycle``` becomes the command
    ```marey edit cycle```.

    Examples
    --------
    >>> marey.errors.word_parameters("check `floor=`", lambda name, value: f"--{name}")
    'check --floor'
    """
    text = re.sub(r"`(marey(?:\.\w+)+)`", lambda match: f"`{match[1].replace('.', ' ')}`", text)
    return re.sub(r"`(\w+)=([^`]*)`", lambda match: name(match[1], match[2]), text)


class InvalidValue(MareyError, ValueError):
    """An argument or array is invalid."""


class DifferentSkeletons(InvalidValue):
    """The motions do not have the same joints and bones."""


class JointNotFound(InvalidValue, LookupError):
    """The skeleton has no joint with the requested name, index or role."""


class UnknownName(InvalidValue, LookupError):
    """Nothing has the requested name, such as a contact point, a clip or a sample."""


class NoResult(MareyError):
    """The input is valid, but the requested result does not exist. The command line exits with code 1."""


class NoTimewarp(NoResult):
    """No path through the distance grid satisfies the slope limit."""


class NotBlendable(NoResult):
    """The motions are too different to be combined; the message says how they differ."""


class MissingDependency(MareyError, ImportError):
    """An optional package is not installed; the message gives the command that installs it."""


class FileError(MareyError):
    """A problem with a file.

    Parameters
    ----------
    message : what was expected, what was found and how to fix it, without the file's name.
    path : the file, as the user gave it.
    line : 1-based line number, if known.
    """

    def __init__(
        self,
        message: str = "",
        *,
        path: object = None,
        line: int | None = None,
        parameter: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message, parameter=parameter, remedy=remedy)
        self.path = None if path is None else str(path)
        self.line = line

    @property
    def where(self) -> str:
        """Prefix of the message that names the file and line, such as ``"walk.bvh:37: "``."""
        parts = [part for part in (self.path, None if self.line is None else str(self.line)) if part]
        return f"{':'.join(parts)}: " if parts else ""


class UnreadableFile(FileError, OSError):
    """The input is missing, empty, a folder, or not readable."""


class UnwritableFile(FileError, OSError):
    """The output cannot be written there."""


class UnknownFormat(FileError):
    """No reader or writer exists for the file's suffix."""


class ParseError(FileError):
    """The file's content is malformed."""


class LimitExceeded(FileError):
    """The file's content is outside the stated limits, such as those of frame rates, or does not fit into memory."""


class UnknownVersion(FileError):
    """The file was written by a newer version of marey or by another program."""


class MareyWarning(UserWarning):
    """The result is usable, but the input had a problem."""


def warn_user(message: str, category: type[Warning] = MareyWarning) -> None:
    """Issue a warning that points at the first caller outside marey, however many of its functions are in between.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     marey.errors.warn_user("frame 3 is broken")
    >>> caught[0].category.__name__
    'MareyWarning'
    """
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "marey":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect the texts of marey's warnings in a list, which is filled when the block ends; other warnings are issued
    again.

    Examples
    --------
    >>> from marey.errors import collect_warnings, warn_user
    >>> with collect_warnings() as texts:
    ...     warn_user("the floor is not level")
    >>> texts
    ['the floor is not level']
    """
    texts: list[str] = []
    with _collecting, warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        yield texts
    for each in records:
        if issubclass(each.category, MareyWarning):
            texts.append(str(each.message))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def require(purpose: str, package: str, extra: str) -> None:
    """Raise `MissingDependency` with the install command if an optional package cannot be imported.

    Parameters
    ----------
    purpose : what needs the package, as the start of the message: ``"plots need"``.
    package : the package to import.
    extra : the optional extra of marey that installs the package.

    Examples
    --------
    >>> marey.errors.require("arrays need", "numpy", extra="all")
    """
    import importlib

    try:
        importlib.import_module(package)
    except ImportError:
        raise MissingDependency(
            f"{purpose} the package {package}, which is not installed; {hint_install(extra)}"
        ) from None


def hint_install(extra: str) -> str:
    """Return the command that installs an optional extra of marey, for messages.

    Examples
    --------
    >>> marey.errors.hint_install("plot")
    "run `pip install '.[plot]'` in a checkout of marey"
    """
    return f"run `pip install '.[{extra}]'` in a checkout of marey"


def similar(name: str, candidates: Iterable[str], n: int = 3) -> str:
    """Return ``"; similar: 'LeftToeBase'"`` for an error message, or ``""`` if no candidate is similar.

    Examples
    --------
    >>> marey.errors.similar("LeftToe", ["LeftToeBase", "Head"])
    "; similar: 'LeftToeBase'"
    """
    import difflib  # only when something goes wrong

    lowered: dict[str, str] = {}
    for candidate in candidates:
        lowered.setdefault(candidate.lower(), candidate)
    near = difflib.get_close_matches(name.lower(), lowered, n=n, cutoff=0.5)
    return f"; similar: {', '.join(repr(lowered[key]) for key in near)}" if near else ""


def plural(n: int, what: str) -> str:
    """Format a count with its noun.

    Examples
    --------
    >>> from marey.errors import plural
    >>> plural(1, "frame"), plural(2, "frame")
    ('1 frame', '2 frames')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def format_list(names: Sequence[str], most: int = 6, *, total: int | None = None) -> str:
    """Format names as ``"a, b and 3 more"``: the first `most` names, and the number of the others.

    total : total number of names, if `names` has only the first ones.

    Examples
    --------
    >>> marey.errors.format_list(["walk", "run", "kick"], most=2)
    'walk, run and 1 more'
    """
    more = (len(names) if total is None else total) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
