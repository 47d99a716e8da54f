"""Library errors as the page shows them: each one is provoked for real, so that no remedy outlives its error."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import marey
from marey import samples
from marey.core import Motion, Skeleton
from marey.edit import retarget
from marey.errors import MareyError
from marey.io.settings import LoadSettings
from marey.studio.forms import word_error
from marey.studio.messages import Message, Where
from marey.studio.operations import OPERATIONS
from marey.studio.panels.author_messages import AddLook
from marey.studio.panels.blend_messages import BlendMotions, FitMotion, JoinMotions
from marey.studio.panels.look import open_recording
from marey.studio.panels.look_messages import OpenFile
from marey.studio.places import Places


@cache
def clip(name: str) -> Motion:
    return samples.sample(name).motion


def blend_different_clips() -> None:
    marey.register([clip("walk"), clip("run")], crop=None, max_distance=0.01)


def blend_clips_that_share_nothing() -> None:
    marey.register([clip("walk"), clip("kick")])


def join_at_a_bad_place() -> None:
    marey.transition(clip("walk"), clip("kick"), at=(2.0, 1.2), length=0.5)


def blend_two_skeletons() -> None:
    walk = clip("walk")
    skeleton = walk.skeleton
    larger = Skeleton(skeleton.names, skeleton.parents, 1.2 * skeleton.offsets)
    marey.register([walk, replace(walk, skeleton=larger)])


def splice_a_short_clip() -> None:
    marey.splice(clip("walk"), clip("walk")[:60])


def record_a_look_without_rest() -> None:
    marey.gaze_example(clip("walk"), (0.5, 0.0))


def mark_a_look_beyond_the_clip() -> None:
    marey.gaze_example(clip("walk"), (0.5, 0.0), start=0, stop=10_000)


def retarget_a_lying_body() -> None:
    walk = clip("walk")
    skeleton = walk.skeleton
    lying = Skeleton(skeleton.names, skeleton.parents, skeleton.offsets[:, [1, 0, 2]], skeleton.role_map)
    retarget(walk, lying)


class SpliceMotions(Message, remedies=OPERATIONS["splice"].remedies):
    """Errors of an operation are worded like those of a message."""


CASES: list[tuple[Callable[[], None], type[Message], str]] = [
    (blend_different_clips, BlendMotions, "or use “Blend even if very different” to accept this"),
    (blend_clips_that_share_nothing, BlendMotions, "crop the motions by hand and use “Trim to the common part” (off)"),
    (join_at_a_bad_place, JoinMotions, "or use “Blend even if very different” to accept it"),
    (blend_two_skeletons, BlendMotions, "press “Retarget to A's skeleton”"),
    (splice_a_short_clip, SpliceMotions, "choose a longer clip"),
    (record_a_look_without_rest, AddLook, "mark the look on the timeline, or record a pause"),
    (mark_a_look_beyond_the_clip, AddLook, "mark the look on the timeline"),
    (retarget_a_lying_body, FitMotion, "go to a frame where both feet are flat on the floor, then try again"),
]


@pytest.mark.parametrize(("provoke", "message", "words"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_the_page_words_a_library_error_in_its_own_terms(
    provoke: Callable[[], None], message: type[Message], words: str
) -> None:
    with pytest.raises(MareyError) as caught:
        provoke()
    text = word_error(caught.value, message)
    assert words in text, str(caught.value)
    assert not re.search(r"--\w|\w=|marey\.", text), text  # no options, arguments or functions


def test_a_missing_skeleton_file_can_be_dropped(tmp_path: Path) -> None:
    (tmp_path / "walk.amc").write_text(":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 0 0 0 0 0\n")

    class Here(Places):
        def __init__(self) -> None:
            pass

        def find(self, path: str, where: Where) -> Path:
            return tmp_path / path

    with pytest.raises(MareyError) as caught:
        open_recording(Here(), "walk.amc", "folder", LoadSettings())
    text = word_error(caught.value, OpenFile)
    assert "drop the .asf file together with the .amc file, or put it into the same folder" in text
    assert str(tmp_path) not in text
    assert "skeleton=" not in text
