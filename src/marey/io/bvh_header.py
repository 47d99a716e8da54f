"""Parse the hierarchy of a BVH file: joints, offsets and channels.

The format has no official specification, so the reader accepts what real exporters write: keywords in any case; names
with blanks, colons or dots in several encodings; several ROOTs; any number and order of channels; joints without an End
Site; nested or multiple End Sites. Ambiguous files raise an error that names the line.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from marey.errors import ParseError, format_list
from marey.io import limits
from marey.io.text_numbers import describe_bad_number, parse_numbers, quote

_WORD = re.compile(rb"[{}]|(?i:offset)(?=[-+.\d])|[^\s{}]+")  # a number may directly follow OFFSET
_LINE_REST = re.compile(rb"[^\r\n]*")
_CHANNEL = re.compile(rb"([xyz])(position|rotation)", re.IGNORECASE)
_KEYWORDS = (b"{", b"}", b"OFFSET", b"CHANNELS", b"JOINT", b"END", b"ENDSITE", b"ROOT", b"MOTION", b"")
_COMMENTS = (b"#", b"//")

_NAME = re.compile(rb"[^\r\n{}]*")
# The next two are rarely needed and compiled on first use. In Shift-JIS, a brace may be a character's second byte.
_SHIFT_JIS_NAME = rb"(?:[\x81-\x9f][\x40-\x7e\x80-\xfc]|[\xe0-\xfc][\x80-\xfc]|[^\r\n{}])*"
# First bytes of most Shift-JIS characters; in Windows-1252, symbols that names do not contain, such as per mille.
_SHIFT_JIS = rb"[\x81-\x89\x8b\x8d\x8f-\x99\x9b\x9d]"

END_SITE = "End Site"
_SHOWN = 5  # maximum number of places that a warning lists


class Joint:
    """One joint or End Site, as given in the file.

    `at` is its byte position in the file, `column` the column of its first channel. `name` is unique in its tree.
    `file_name` is the name in the file; for End Sites it is ``End Site`` followed by any name.
    """

    def __init__(self, parent: int, is_end: bool, position: int, column: int, given: bytes) -> None:
        self.parent, self.is_end = parent, is_end
        self.at, self.column = position, column
        self.given = given
        self.name = self.file_name = ""
        self.offset = (0.0, 0.0, 0.0)
        self.channels: tuple[str, ...] = ()


class Header(NamedTuple):
    """All trees of the file, each with parents before children; a row has `n_columns` numbers.

    `end` is the byte after the keyword MOTION. `evidence` explains how names were decoded, `warnings` lists oddities.
    """

    trees: list[list[Joint]]
    n_columns: int
    end: int
    evidence: list[str]
    warnings: list[str]


def parse_header(data: bytes, path: str) -> Header:
    """Parse everything up to and including the keyword MOTION."""
    parser = _Parser(data, path)
    parser.run()
    header = Header(parser.trees, parser.n_columns, parser.at, evidence=[], warnings=parser.list_oddities())
    _decode_names([joint for tree in header.trees for joint in tree], header.evidence)
    for tree in header.trees:
        renamed = _name_joints(tree)
        if renamed:
            names = [
                f"{j.file_name!r} on line {line_number(data, j.at)} is called {j.name!r}" for j in renamed[:_SHOWN]
            ]
            header.warnings.append(f"joints without a unique name: {format_list(names, _SHOWN, total=len(renamed))}")
    return header


def line_number(data: bytes, position: int) -> int:
    """Return the 1-based line number of byte `position`, for any line ending."""
    head = data[:position]
    return head.count(b"\n") + head.count(b"\r") - head.count(b"\r\n") + 1


class _Parser:
    def __init__(self, data: bytes, path: str) -> None:
        self.data, self.path = data, path
        self.at = 0  # position after the last word
        self.word_at = 0  # where the last word began
        self.trees: list[list[Joint]] = []
        self.n_columns = 0
        self.warnings: list[str] = []
        self.without_offset: list[int] = []
        self.comments: list[int] = []
        self.repeated: list[int] = []  # joints whose channels rotate about one axis twice in a row

    # Words.

    def take(self) -> bytes:
        """Consume and return the next word or brace; b"" at the end of the file."""
        match = _WORD.search(self.data, self.at)
        if match is None:
            self.at = self.word_at = len(self.data)
            return b""
        self.word_at, self.at = match.span()
        return match[0]

    def next(self) -> bytes:
        """Return the next word without consuming it."""
        match = _WORD.search(self.data, self.at)
        return match[0] if match else b""

    def take_keyword(self) -> bytes:
        """Consume the next word and return it in upper case.

        Skip comment lines: here exporters use ``#`` only for comments.
        """
        while (word := self.take()).startswith(_COMMENTS):
            self.comments.append(self.word_at)
            self.at += len(self.ahead(_LINE_REST))
        return word.upper()

    def ahead(self, pattern: re.Pattern[bytes]) -> bytes:
        match = pattern.match(self.data, self.at)
        return match[0] if match else b""

    def got(self) -> str:
        """Format the last word for a message."""
        return quote(self.data[self.word_at : self.at]) if self.word_at < self.at else "the end of the file"

    def error(self, message: str) -> ParseError:
        return ParseError(message, path=self.path, line=line_number(self.data, self.word_at))

    # The grammar.

    def run(self) -> None:
        word = self.take_keyword()
        if word == b"HIERARCHY":
            word = self.take_keyword()
        elif word == b"ROOT":
            self.warnings.append("the file does not begin with HIERARCHY")
        else:
            raise self.error(f"not a BVH file: expected HIERARCHY, got {self.got()}")
        while word != b"MOTION":
            if word == b"ROOT":
                self.tree()
            elif word == b"}":
                raise self.error("expected ROOT or MOTION, got an extra '}'")
            elif word == b"":
                raise self.error("expected a MOTION section, got the end of the file")
            else:
                raise self.error(f"expected {'ROOT or MOTION' if self.trees else 'ROOT'}, got {self.got()}")
            word = self.take_keyword()
        if not self.trees:
            raise self.error("expected a ROOT before MOTION, got no joints")

    def tree(self) -> None:
        """Parse one tree, from the name after ROOT to the closing brace, without recursion: hierarchies may be
        thousands of joints deep."""
        tree: list[Joint] = []
        self.trees.append(tree)
        self.open_joint(tree, parent=-1, is_end=False)
        stack, seen = [0], [set[bytes]()]
        while stack:
            word = self.take_keyword()
            joint = tree[stack[-1]]
            if word in (b"OFFSET", b"CHANNELS"):
                if word in seen[-1]:
                    raise self.error(f"expected one {word.decode()} for {_name_joint(joint)}, got a second one")
                seen[-1].add(word)
                if word == b"OFFSET":
                    joint.offset = self.offset()
                else:
                    self.channels(joint)
            elif word in (b"JOINT", b"END", b"ENDSITE"):
                if word == b"END" and self.take().upper() != b"SITE":
                    raise self.error(f"expected 'End Site', got 'End' and {self.got()}")
                if len(stack) >= limits.MAX_DEPTH:
                    limits.check_depth(len(stack) + 1, self.path, line_number(self.data, self.word_at))
                self.open_joint(tree, parent=stack[-1], is_end=word != b"JOINT")
                stack.append(len(tree) - 1)
                seen.append(set())
            elif word == b"}":
                if b"OFFSET" not in seen.pop():
                    self.without_offset.append(joint.at)
                stack.pop()
            elif word in (b"", b"MOTION", b"ROOT"):
                raise self.error(f"expected {len(stack)} more '}}' before {self.got()}; a brace is missing above")
            elif _CHANNEL.fullmatch(word) and joint.channels:
                raise self.error(
                    f"expected {len(joint.channels)} CHANNELS for {_name_joint(joint)}, the number it states, got more"
                )
            else:
                raise self.error(f"expected OFFSET, CHANNELS, JOINT, End Site or '}}', got {self.got()}")

    def open_joint(self, tree: list[Joint], parent: int, is_end: bool) -> None:
        at = self.word_at
        given = self.name()
        if not given and not is_end and self.next() != b"{":  # the name may be on its own line
            self.take()
            self.at = self.word_at
            given = self.name()
        if self.take_keyword() != b"{":
            what = END_SITE if is_end else quote(given)
            raise self.error(f"expected '{{' after {what}, got {self.got()}")
        tree.append(Joint(parent, is_end, at, column=self.n_columns, given=given))
        limits.check_joints(len(tree), self.path)

    def name(self) -> bytes:
        """Consume and return the rest of the current line, up to a brace."""
        given = self.ahead(_NAME)
        if _guess_encoding(given) != "utf-8":
            given = self.ahead(re.compile(_SHIFT_JIS_NAME))
        self.at += len(given)
        return given.strip()

    def offset(self) -> tuple[float, float, float]:
        at = self.at
        for _ in range(12):  # enough to detect too many values
            if self.next().upper() in _KEYWORDS or self.next().startswith(_COMMENTS):
                break
            self.take()
        numbers, bad = parse_numbers(self.data[at : self.at])
        if bad is not None:
            self.word_at = at + bad.start()
            raise self.error(f"value {len(numbers) + 1} of OFFSET: {describe_bad_number(bad[0])}")
        if len(numbers) != 3:
            raise self.error(f"expected 3 OFFSET values, got {len(numbers)}")
        return (numbers[0], numbers[1], numbers[2])

    def channels(self, joint: Joint) -> None:
        who = _name_joint(joint)
        if joint.column != self.n_columns:  # else the column order would be ambiguous
            raise self.error(f"expected the CHANNELS of {who} before those of its children, got them after")
        word = self.take()
        if not re.fullmatch(rb"\d{1,4}", word):
            raise self.error(f"expected the number of CHANNELS of {who}, got {self.got()}")
        count = int(word)
        names: list[str] = []
        while len(names) < count:
            match = _CHANNEL.fullmatch(self.next())
            if match is None:
                word = self.take()
                if word.upper() in _KEYWORDS:
                    raise self.error(f"expected {count} CHANNELS for {who}, the number it states, got {len(names)}")
                raise self.error(f"expected a channel such as Xposition or Zrotation, got {self.got()}")
            self.take()
            names.append(match[1].decode().upper() + match[2].decode().lower())
        positions = [name for name in names if name.endswith("position")]
        if len(set(positions)) != len(positions):
            raise self.error(f"expected each position channel of {who} once, got {' '.join(positions)}")
        rotations = [name for name in names if name.endswith("rotation")]
        if any(a == b for a, b in pairwise(rotations)):  # X Y X are proper Euler angles, but X X is a mistake
            self.repeated.append(self.word_at)
        joint.channels = tuple(names)
        self.n_columns += count

    def list_oddities(self) -> list[str]:
        messages = list(self.warnings)
        if self.without_offset:
            messages.append(f"joints without OFFSET, read as 0 0 0: {self.lines(self.without_offset)}")
        if self.repeated:
            messages.append(
                f"a rotation channel is named twice in a row, and both are applied: {self.lines(self.repeated)}"
            )
        if self.comments:
            messages.append(f"comments were skipped: {self.lines(self.comments)}")
        return messages

    def lines(self, places: list[int]) -> str:
        return format_list([f"line {line_number(self.data, at)}" for at in places[:_SHOWN]], _SHOWN, total=len(places))


def _decode_names(joints: list[Joint], evidence: list[str]) -> None:
    """Decode the joint names; one encoding applies to the whole file."""
    joined = b"\n".join(joint.given for joint in joints)
    encoding = _guess_encoding(joined)
    if encoding != "utf-8":
        evidence.append(f"joint names are not UTF-8 and were read as {encoding}")
    for joint, name in zip(joints, joined.decode(encoding).split("\n"), strict=True):
        joint.file_name = f"{END_SITE} {name}".strip() if joint.is_end else name


def _guess_encoding(text: bytes) -> str:
    """Guess the encoding: UTF-8; else Shift-JIS if it looks like it; else Windows-1252; else Latin-1 (any bytes)."""
    if _is_in(text, "utf-8"):
        return "utf-8"
    guesses = ("cp932", "cp1252") if re.search(_SHIFT_JIS, text) else ("cp1252",)
    return next((encoding for encoding in guesses if _is_in(text, encoding)), "latin-1")


def _is_in(text: bytes, encoding: str) -> bool:
    try:
        text.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _name_joints(tree: list[Joint]) -> list[Joint]:
    """Assign unique names: joints keep their names if possible, End Sites are called ``<Parent>End``.

    Return the renamed joints.
    """
    taken = {joint.file_name for joint in tree if not joint.is_end}
    used: set[str] = set()
    last: dict[str, int] = {}  # the last number appended to each name

    def free(name: str, joiner: str) -> str:
        n = last.get(name, 1)
        while True:
            n += 1
            if (new := f"{name}{joiner}{n}") not in taken:
                last[name] = n
                return new

    for j, joint in enumerate(tree):
        if joint.is_end:
            continue
        joint.name = joint.file_name or f"joint_{j}"
        if joint.name in used or (joint.name in taken and not joint.file_name):
            joint.name = free(joint.name, "_")
        used.add(joint.name)
        taken.add(joint.name)
    for joint in tree:
        if joint.is_end:
            joint.name = f"{tree[joint.parent].name}End"
            if joint.name in taken:
                joint.name = free(joint.name, "")
            taken.add(joint.name)
    return [joint for joint in tree if not joint.is_end and joint.name != joint.file_name]


def _name_joint(joint: Joint) -> str:
    return quote(joint.given) if joint.given or not joint.is_end else END_SITE
