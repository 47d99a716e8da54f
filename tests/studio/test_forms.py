"""Controls of the page that are derived from settings, and messages that name them."""

from __future__ import annotations

import math

import pytest

from marey.clean import CleanSettings
from marey.core.settings import options_of
from marey.errors import InvalidValue, NoResult, UnreadableFile
from marey.studio.forms import describe_controls, find_settings, word_error, word_text
from marey.studio.jobs import WorkFailed
from marey.studio.messages import Message
from marey.studio.panels.compare_messages import CleanMotion, MeasureMotion
from marey.studio.wire import decode


def test_every_option_with_a_plain_value_has_a_control() -> None:
    controls = {each["name"]: each for each in describe_controls(CleanSettings)}
    assert list(controls) == [each.name for each in options_of(CleanSettings) if each.kind != "object"]
    stretch = controls["max_stretch"]
    assert (stretch["unit"], stretch["default"], stretch["min"], stretch["max"]) == ("%", 20.0, 0.0, 100.0)
    knee = controls["damping_from"]
    assert (knee["unit"], knee["default"], knee["max"], knee["advanced"]) == ("°", 135.0, 180.0, True)
    assert knee["default"] / knee["factor"] == pytest.approx(CleanSettings().damping_from)
    assert controls["floor"]["optional"] is True


def test_settings_are_decoded_from_messages() -> None:
    message = decode(CleanMotion, {"motion": "m1", "settings": {"hands": True, "damping_from": math.pi / 2}})
    assert message.settings == CleanSettings(hands=True, damping_from=math.pi / 2)
    assert decode(CleanMotion, {"motion": "m1"}).settings == CleanSettings()
    assert CleanSettings(**message.settings.to_dict()) == message.settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"swivel": 2}, "swivel must be from 0 to 1, not 2"),
        ({"swivle": 1}, r"clean\.settings: unknown field 'swivle'; known fields: floor, hands"),
        ({"contacts": None}, r"clean\.settings: unknown field 'contacts'"),
        ([], r"clean\.settings: expected an object, got \[\]"),
    ],
)
def test_wrong_settings_are_refused(settings: object, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        decode(CleanMotion, {"motion": "m1", "settings": settings})


def test_messages_name_controls() -> None:
    error = InvalidValue("swivel must be from 0 to 1, not 2", parameter="swivel", remedy="see `max_stretch=`")
    assert word_error(error, CleanMotion) == "“Knee swivel” must be from 0 to 1, not 2; see “Max limb stretch”"
    assert word_text("pass `floor=`", MeasureMotion) == "pass “floor”"
    assert find_settings(MeasureMotion) == []


def test_the_page_has_its_own_labels_and_remedies() -> None:
    class Jump(Message, do="jump", control_labels={"crop": "Full clips"}, remedies={"height": "jump lower"}):
        motion: str

    class HighJump(Jump, remedies={"NoResult": "try again"}):
        pass

    error = InvalidValue("height must be at most 3", parameter="height", remedy="pass `height=3`")
    assert word_error(error, Jump) == word_error(error, HighJump) == "“height” must be at most 3; jump lower"
    assert word_error(NoResult("no jump"), HighJump) == "no jump; try again"
    failed = WorkFailed("NoResult", "no jump", None, "use `crop=None`")
    assert word_error(failed, Jump) == "no jump; use “Full clips”"
    assert word_error(failed, HighJump) == "no jump; try again"
    assert word_error(UnreadableFile("is empty", path="a.bvh", line=3), Jump) == "a.bvh:3: is empty"
