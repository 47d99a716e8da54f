"""Settings: one declaration gives checks, keywords, help and derived values."""

from __future__ import annotations

import inspect
import math
from typing import Literal

import numpy as np
import pytest

import marey
from marey.core.settings import Seed, Settings, operation, option, options_of, positional_option
from marey.deprecation import renamed_fields
from marey.errors import InvalidValue


@renamed_fields(heavy="weight")
class Example(Settings):
    """Settings of an example."""

    weight: float = option(default=0.5, help="How much.", unit="fraction", min=0, below=1)
    angle: float | None = option(default=None, help="Which way.", unit="rad", above=-math.pi, max=math.pi)
    count: int = option(default=3, help="How often.", min=1)
    mode: Literal["fast", "exact"] = option(default="fast", help="How.")
    loud: bool = option(default=False, help="Whether to shout.")
    items: tuple[object, ...] = option(default=(), help="Anything.")

    def check(self) -> None:
        if self.mode == "exact" and self.loud:
            raise InvalidValue("exact work is not loud", remedy="use `loud=False`")


@operation(Example, positional=("weight",))
def work(text: str, settings: Example) -> tuple[str, Example]:
    """Work on a text.

    Parameters
    ----------
    text : what to work on.

    Returns what it was given.
    """
    return text, settings


def test_options_are_keywords_and_settings_their_defaults() -> None:
    assert work("a") == ("a", Example())
    assert work("a", weight=0.2, mode="exact")[1] == Example(weight=0.2, mode="exact")
    base = Example(count=7, loud=True)
    assert work(text="a", settings=base, loud=False) == ("a", Example(count=7))
    assert Example(settings=base, count=1) == Example(count=1, loud=True)


def test_the_signature_and_the_help_show_every_option() -> None:
    parameters = inspect.signature(work).parameters
    assert list(parameters) == ["text", "weight", "angle", "count", "mode", "loud", "items", "settings"]
    assert parameters["weight"].default == 0.5
    assert parameters["weight"].kind is inspect.Parameter.KEYWORD_ONLY
    doc = work.__doc__ or ""
    assert "text : what to work on.\nweight : How much. (fraction, at least 0 and less than 1)\n" in doc
    assert doc.rstrip().endswith("Returns what it was given.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": 1}, "weight must be at least 0 and less than 1, not 1"),
        ({"weight": math.nan}, "weight must be a finite number, not nan"),
        ({"weight": np.float64(2)}, "weight must be at least 0 and less than 1, not 2.0"),
        ({"weight": -1e16}, "weight must be at least 0 and less than 1, not -1e+16"),
        ({"weight": "0.5"}, "weight must be a number, not '0.5'"),
        ({"weight": True}, "weight must be a number, not True"),
        ({"weight": None}, "weight must be a number, not None"),
        ({"angle": 4}, "angle must be greater than -3.14159 and at most 3.14159 radians, not 4"),
        ({"count": 0}, "count must be at least 1, not 0"),
        ({"count": 1.5}, "count must be an integer, not 1.5"),
        ({"mode": "slow"}, "mode must be 'fast' or 'exact', not 'slow'"),
        ({"loud": 1}, "loud must be True or False, not 1"),
        ({"mode": "exact", "loud": True}, "exact work is not loud; use `loud=False`"),
    ],
)
def test_wrong_values_name_the_parameter(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        work("a", **options)  # type: ignore[arg-type]
    assert str(caught.value) == message
    if len(options) == 1:
        assert caught.value.parameter == next(iter(options))


def test_numbers_of_numpy_become_plain_ones() -> None:
    settings = Example(weight=np.float32(0.25), count=np.int64(4))
    assert (type(settings.weight), type(settings.count)) == (float, int)


def test_unknown_and_old_names() -> None:
    with pytest.raises(TypeError, match=r"work\(\) got an unexpected keyword argument 'wait'; similar: 'weight'"):
        work("a", wait=1)  # type: ignore[call-arg]
    with pytest.warns(DeprecationWarning, match="weight"):
        assert work("a", heavy=0.1)[1].weight == 0.1  # type: ignore[call-arg]
    expected = "settings must be Example, not int; import the class from tests.core.test_settings, or pass the options"
    with pytest.raises(InvalidValue, match=expected):
        work("a", settings=3)  # type: ignore[arg-type]
    with pytest.warns(DeprecationWarning, match="use weight="):
        assert work("a", 0.3)[1].weight == 0.3  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"work\(\) takes options by name only"):
        work("a", 0.3, 0.1)  # type: ignore[call-arg]


class Draw(Settings):
    """Settings of a random choice."""

    seconds: float = positional_option(default=2.0, help="How long.", unit="s", above=0, kw_only=False)
    count: int = option(default=1, help="How many.")
    rng: Seed = option(default=0, help="Seed or generator.", label="Random seed", min=0)


@operation(Draw)
def draw(text: str, settings: Draw) -> Draw:
    """Draw at random."""
    return settings


def test_some_options_need_no_name() -> None:
    assert draw("a", 3.0) == draw("a", seconds=3.0) == draw(text="a", seconds=3.0) == Draw(seconds=3.0) == Draw(3.0)
    parameters = inspect.signature(draw).parameters
    assert list(parameters) == ["text", "seconds", "count", "rng", "settings"]
    assert parameters["seconds"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    with pytest.raises(TypeError, match=r"draw\(\) takes options by name only, except seconds"):
        draw("a", 3.0, 2)  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"draw\(\) got two values for 'seconds'"):
        draw("a", 3.0, seconds=2.0)  # type: ignore[misc]


def test_other_keywords_are_passed_on() -> None:
    @operation(Draw)
    def mix(text: str, *, settings: Draw, **knobs: float) -> tuple[Draw, dict[str, float]]:
        """Mix."""
        return settings, knobs

    assert mix("a", count=2, speed=1.0) == (Draw(count=2), {"speed": 1.0})
    assert list(inspect.signature(mix).parameters)[-2:] == ["settings", "knobs"]


def test_a_seed_is_an_integer_or_a_generator() -> None:
    generator = np.random.default_rng(3)
    assert draw("a", rng=generator).rng is generator
    assert draw("a", rng=generator).to_dict() == {"seconds": 2.0, "count": 1}
    assert Draw(rng=np.int64(4)).to_dict()["rng"] == 4
    for wrong in (-1, 0.5, None):
        with pytest.raises(InvalidValue, match="rng must be"):
            draw("a", rng=wrong)  # type: ignore[arg-type]


def test_settings_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Example().weight = 0.1  # type: ignore[misc]


def test_every_field_is_declared_with_help() -> None:
    class Bad(Settings):
        size: float = 1.0

    with pytest.raises(TypeError, match=r"size: declare it with option\(default, help\)"):
        options_of(Bad)


def test_docstrings_of_operations_have_one_section_of_parameters():
    """Methods are indented more than functions."""
    from marey.graph import MotionGraph
    from marey.store import MotionSet

    for function in (marey.clean, marey.blend, MotionGraph.build, MotionSet.open, marey.ParametricMotionGraph.stream):
        doc = inspect.getdoc(function)
        assert doc.count("Parameters\n----------\n") == 1
        assert doc.count("----------") == 1
        assert doc.index("settings : ") < doc.index("Examples\n--------\n")
