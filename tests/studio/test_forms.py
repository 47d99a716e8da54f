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
from marey.studio.object_options import has_control
from marey.studio.wire import decode


class CleanMotion(Message, do="clean"):
    """A message with settings."""

    motion: str
    settings: CleanSettings = CleanSettings()


def test_every_option_that_can_be_written_has_a_control() -> None:
    controls = {each["name"]: each for each in describe_controls(CleanSettings)}
    assert list(controls) == [each.name for each in options_of(CleanSettings) if has_control(each)]
    assert "contacts" not in controls  # an object
    assert controls["joint_limits"]["kind"] == "file"
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
        ({"swivle": 1}, r"clean\.settings: unknown field 'swivle'; known fields: floor, planes, hands"),
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
    assert word_text("pass `floor=`", Message) == "pass “floor”"
    assert find_settings(Message) == []


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


def test_positions_and_planes_are_written_as_text() -> None:
    """The page sets targets, plants and floors of cleanup as text; wrong text is refused with an example."""
    fields = {"targets": "right_hand=30:40@-0.2,1.2,0.4; left_hand=5:9@0,1,0", "planes": "0.2 0 0; 0.4 0.1 0"}
    settings = decode(CleanMotion, {"motion": "m1", "settings": fields}).settings
    first, second = settings.targets
    assert (first.effector, first.start, first.stop) == ("right_hand", 30, 40)
    assert first.position[0].tolist() == [-0.2, 1.2, 0.4]
    assert second.effector == "left_hand"
    assert settings.planes == [(0.2, 0.0, 0.0), (0.4, 0.1, 0.0)]
    plant = decode(CleanMotion, {"motion": "m1", "settings": {"plants": "left_ball=0:9@0.1,0,1"}}).settings.plants[0]
    assert (plant.point, plant.start, plant.stop, plant.position.tolist()) == ("left_ball", 0, 9, [0.1, 0.0, 1.0])
    for name, text in (("targets", "right_hand@1,2,3"), ("plants", "left_ball=1:2@x"), ("planes", "high")):
        with pytest.raises(InvalidValue, match=f"{name} must be .*such as"):
            decode(CleanMotion, {"motion": "m1", "settings": {name: text}})
