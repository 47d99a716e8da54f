"""Frame times that were rounded when they were written."""

import pytest

from marey.errors import InvalidValue, ParseError
from marey.io.rate import COMMON, check_rate, frame_time_text, rate_from_text, snap_rate


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        (".0083333", 120.0),
        ("0.00833333", 120.0),
        ("0.008333", 120.0),
        ("0.00833", 120.0),
        ("8.333333E-03", 120.0),
        ("0.033", 30.0),
        ("0.0333", 30.0),
        ("0.033333", 30.0),
        ("0.0333333333333333", 30.0),
        ("0.0333667", 30 / 1.001),
        ("0.033367", 30 / 1.001),
        ("0.0166667", 60.0),
        ("0.016667", 60.0),
        ("0.01667", 60.0),
        ("0.016666666666666666", 60.0),
        ("0.0166833", 60 / 1.001),
        ("0.0417083", 24 / 1.001),
        ("0.041667", 24.0),
        ("0.04", 25.0),
        ("0.01", 100.0),
        ("0.008", 125.0),
        ("0.02", 50.0),
        ("0.005", 200.0),
        ("0.0041667", 240.0),
        ("0.00416667", 240.0),
        ("0.006944", 144.0),
        ("1", 1.0),
        ("0.5", 2.0),
        ("1.", 1.0),
    ],
)
def test_common_rates_are_recognized(text: str, rate: float) -> None:
    assert snap_rate(text) == pytest.approx(rate, rel=1e-12)


@pytest.mark.parametrize("text", ["0.0123", "0.7", "3.3", "0.0345678", "12", "0.0314159"])
def test_other_rates_are_left_alone(text: str) -> None:
    rate = snap_rate(text)
    assert abs(1.0 / rate - float(text)) < 10.0 ** -len(text.partition(".")[2]) * (1 + 1e-9)


def test_a_snapped_rate_agrees_with_every_digit() -> None:
    for rate in [*COMMON, *(r / 1.001 for r in COMMON), 7.3, 33.3, 81.0, 119.0, 121.0]:
        for digits in range(3, 16):
            text = f"{1.0 / rate:.{digits}f}"
            if float(text) > 0:
                assert abs(1.0 / snap_rate(text) - float(text)) <= 10.0**-digits


def test_evidence_states_the_conclusion() -> None:
    assert rate_from_text("0.01", None, "x") == (100.0, ["rate 100 Hz from frame time 0.01"])
    rate, report = rate_from_text(".0083333", None, "x")
    assert (rate, report) == (120.0, ["rate 120 Hz: frame time .0083333 is 1/120 s, rounded"])
    assert rate_from_text("0", 30, "x") == (30.0, ["rate 30 Hz as given (the file has frame time 0)"])
    assert rate_from_text(None, 30, "x") == (30.0, ["rate 30 Hz as given (the file has no frame time)"])


@pytest.mark.parametrize("text", ["0", "-0.01", "0.000001", "1e6", "1e400", "1e-400"])
def test_impossible_frame_times(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        rate_from_text(text, None, "walk.bvh", 17)
    assert str(caught.value) == (
        f"walk.bvh:17: expected a frame time of 1e-5 to 1e5 s, got '{text}'; give the rate as `file_fps=`"
    )


@pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf"), 1e6])
def test_impossible_rates(fps: float) -> None:
    with pytest.raises(InvalidValue, match="fps must be greater than 0 and at most 100000 frames per second, not"):
        check_rate(fps)
    with pytest.raises(InvalidValue, match="fps must be greater than 0 and at most 100000 frames per second, not"):
        rate_from_text("0.01", fps, "x")


@pytest.mark.parametrize("fps", [*map(float, COMMON), 24 / 1.001, 30 / 1.001, 119.88, 7.3, 1 / 3, 1e5, 0.01, 1 / 1e5])
def test_written_frame_times_are_read_as_the_same_rate(fps: float) -> None:
    text = frame_time_text(fps, None)
    assert rate_from_text(text, None, "x")[0] == pytest.approx(fps, rel=1e-9)


def test_frame_time_as_read_is_kept_while_it_is_the_rate() -> None:
    assert frame_time_text(120.0, ".0083333") == ".0083333"
    assert frame_time_text(60.0, ".0083333") == "0.0166667"
    for odd in ("0", "nan", "5e-324", "1e999", "", "0,01", "x"):
        assert frame_time_text(120.0, odd) == "0.00833333"
