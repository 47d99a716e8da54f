"""Values as the command line takes them."""

import click
import pytest

from marey.cli.values import Moment, Plane, Stay, StayParam


@pytest.mark.parametrize(("text", "value"), [("1.2", 1.2), ("36f", 36), ("0", 0.0)])
def test_moments(text: str, value: float) -> None:
    got = Moment().convert(text, None, None)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize("text", ["x", "-1", "1.5f", "inf", "nan", ""])
def test_no_moments(text: str) -> None:
    with pytest.raises(click.BadParameter, match="seconds such as 1.2, or a frame such as 36f"):
        Moment().convert(text, None, None)


def test_planes() -> None:
    assert Plane().convert("0.45", None, None) == 0.45
    assert Plane().convert("0,0.1,-0.2", None, None) == (0.0, 0.1, -0.2)
    for text in ("", "a", "1,2", "nan", "0,inf,0"):
        with pytest.raises(click.BadParameter, match="a height such as 0.45"):
            Plane().convert(text, None, None)


def test_stays() -> None:
    assert StayParam().convert("left_ball=10f:1.5@0,1,2", None, None) == Stay("left_ball", 10, 1.5, [0, 1, 2])
    whole = "right_hand=1:2@0,1,2,1,0,0,0"
    assert len(StayParam(oriented=True).convert(whole, None, None).place) == 7
    with pytest.raises(click.BadParameter, match="only a position X,Y,Z"):
        StayParam().convert(whole, None, None)
    for text in ("left_ball", "=1:2@0,0,0", "a=1@0,0,0", "a=1:2@0,0", "a=1:2@0,0,x"):
        with pytest.raises(click.BadParameter, match="NAME=FROM:TO@X,Y,Z"):
            StayParam().convert(text, None, None)
    with pytest.raises(click.BadParameter, match="seconds such as"):
        StayParam().convert("a=x:2@0,0,0", None, None)
