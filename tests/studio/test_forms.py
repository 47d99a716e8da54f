"""Controls of the page that are derived from settings, and messages that name them."""

from __future__ import annotations

import math

import pytest

from marey.clean import CleanSettings
from marey.core.settings import options_of
from marey.errors import InvalidValue
from marey.studio.forms import describe_controls, find_settings, word_for_page
from marey.studio.panels.compare_messages import CleanMotion, MeasureMotion
from marey.studio.wire import decode


def test_every_option_with_a_plain_value_has_a_control() -> None:
    controls = {each["name"]: each for each in describe_controls(CleanSettings)}
    assert list(controls) == [each.name for each in options_of(CleanSettings) if each.kind != "object"]
    stretch = controls["max_stretch"]
    assert (stretch["unit"], stretch["default"], stretch["least"], stretch["most"]) == ("%", 20.0, 0.0, 100.0)
    knee = controls["damping_from"]
    assert (knee["unit"], knee["default"], knee["most"], knee["advanced"]) == ("°", 135.0, 180.0, True)
    assert knee["default"] / knee["factor"] == pytest.approx(CleanSettings().damping_from)
    assert controls["floor"]["optional"] is True


def test_settings_come_over_the_wire() -> None:
    message = decode(CleanMotion, {"motion": "m1", "settings": {"hands": True, "damping_from": math.pi / 2}})
    assert message.settings == CleanSettings(hands=True, damping_from=math.pi / 2)
    assert decode(CleanMotion, {"motion": "m1"}).settings == CleanSettings()
    assert CleanSettings(**message.settings.to_dict()) == message.settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"swivel": 2}, "swivel must be from 0 to 1, not 2"),
        ({"swivle": 1}, r"clean\.settings: unknown field 'swivle'; known fields: hands, floor"),
        ({"contacts": None}, r"clean\.settings: unknown field 'contacts'"),
        ([], r"clean\.settings: expected an object, got \[\]"),
    ],
)
def test_wrong_settings_are_refused(settings: object, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        decode(CleanMotion, {"motion": "m1", "settings": settings})


def test_messages_name_controls() -> None:
    text = "swivel must be from 0 to 1, not 2; see `max_stretch=`"
    expected = "Knee swivel must be from 0 to 1, not 2; see “Max limb stretch”"
    assert word_for_page(text, CleanMotion, "swivel") == expected
    assert find_settings(MeasureMotion) == []
