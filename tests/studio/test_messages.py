"""Messages: the page's types match, and invalid messages are refused by name."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from marey.errors import InvalidValue
from marey.studio import messages as m
from marey.studio.panels.compare_messages import Placed
from marey.studio.panels.find_messages import SearchDone, TileBody
from marey.studio.panels.look_messages import CurveKind
from marey.studio.registry import PANELS, find_commands, find_events
from marey.studio.typescript import type_name, write_types
from marey.studio.wire import decode, encode, fill, parse_object

TYPES = Path(__file__).resolve().parents[2] / "web" / "src" / "messages.ts"


def test_the_pages_types_are_in_step() -> None:
    assert TYPES.read_text(encoding="utf-8") == write_types(find_commands(), find_events()), (
        "run: python -m marey.studio.typescript web/src/messages.ts"
    )


def test_every_command_of_the_core_and_of_the_panels_is_answered_once() -> None:
    commands = find_commands()
    assert {"hello", "cancel", "list", "open", "frames", "operate", "undo", "save"} <= set(commands)
    assert [each.message.do for each in commands.values()] == list(commands)
    with pytest.raises(LookupError, match="'list' has two handlers"):
        find_commands((PANELS[0], PANELS[0]))


class Everything(m.Value):
    """All kinds of fields."""

    text: str
    number: float
    whole: int
    flag: bool
    pair: tuple[int, float]
    many: tuple[m.LabelSpan, ...]
    table: dict[str, int]
    maybe: float | None = None
    choice: CurveKind = "speed"


WHOLE = {
    "text": "a", "number": 1, "whole": 2, "flag": True, "pair": [3, 4.5],
    "many": [{"name": "x", "start": 0, "stop": 2}], "table": {"a": 1}, "maybe": 0.5, "choice": "travel",
}  # fmt: skip


def test_written_messages_are_read_again() -> None:
    value = decode(Everything, WHOLE)
    assert value == Everything("a", 1.0, 2, True, (3, 4.5), (m.LabelSpan("x", 0, 2),), {"a": 1}, 0.5, "travel")
    assert decode(Everything, parse_object(encode(value))) == value
    with pytest.raises(FrozenInstanceError):
        value.text = "b"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": 1}, r"Everything.text: expected text, got 1"),
        ({"number": "1"}, r"Everything.number: expected a finite number, got \"1\""),
        ({"number": True}, r"number: expected a finite number, got true"),
        ({"number": 1e400}, r"number: expected a finite number"),
        ({"number": 10**400}, r"number: expected a finite number"),
        ({"whole": 1.5}, r"whole: expected a whole number, got 1.5"),
        ({"whole": 2**60}, r"whole: expected a whole number"),
        ({"flag": 1}, r"flag: expected true or false, got 1"),
        ({"pair": [1]}, r"pair: expected a list of 2, got \[1\]"),
        ({"pair": {"0": 1}}, r"pair: expected a list, got"),
        ({"many": [{"name": "x", "start": 0}]}, r"many\[0\]: the field 'stop' is missing"),
        ({"many": ["x"]}, r"many\[0\]: expected an object, got \"x\""),
        ({"table": {"a": "b"}}, r"table.a: expected a whole number"),
        ({"maybe": "no"}, r"maybe: expected a finite number"),
        ({"choice": "exe"}, r"choice: expected 'travel' or 'speed' or .*, got \"exe\""),
        ({"extra": 1}, r"unknown field 'extra'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        decode(Everything, {**WHOLE, **change})


def test_text_that_is_not_json_is_refused() -> None:
    for text in ("", "{", '{"a": NaN}', '{"a": Infinity}', "[" * 100_000):
        with pytest.raises(InvalidValue, match="must be JSON"):
            parse_object(text)
    with pytest.raises(InvalidValue, match="must be a JSON object, not 3"):
        parse_object("3")


def test_numbers_that_json_has_not_are_not_sent() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode(Placed(math.nan, 0.0, 0.0, 0.0))
    with pytest.raises(TypeError, match="cannot send a set"):
        encode({"a": {1}})


def test_types_that_a_page_cannot_have_are_refused() -> None:
    assert type_name(tuple[m.Where, ...]) == '("folder" | "uploads")[]'
    with pytest.raises(TypeError, match="messages cannot contain"):
        type_name(set[int])


def test_replies_are_filled_from_results_of_jobs():
    found = {"parents": [-1, 0], "bone_lengths": [0, 1.5], "end_sites": [False, True], "roles": {"hips": 0}, "other": 3}
    body = fill(TileBody, found, stature=1.7)
    assert body == TileBody((-1, 0), (0.0, 1.5), (False, True), {"hips": 0}, 1.7)
    assert fill(SearchDone, {"body": body, "joint": "", "moment": "", "notes": ["a"]}, search=1, count=2).body is body
    with pytest.raises(InvalidValue, match="the field 'stature' is missing"):
        fill(TileBody, found)
