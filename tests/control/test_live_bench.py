"""The bench of what plays live measures what it says; no time is asserted."""

from __future__ import annotations

from marey.bench import live


def test_each_stream_is_measured_against_kinematics(monkeypatch):
    monkeypatch.setattr(live, "_FRAMES", 70)
    figures = list(live.bench_live(""))
    assert [figure.what for figure in figures[:4]] == [
        "a frame of motion matching",
        "a frame of motion matching, feet free",
        "a frame of blend tree",
        "a frame of move tree",
    ]
    for figure in figures[:4]:
        assert figure.value > 0.0
        assert figure.ratio is not None
        assert figure.ratio > 1.0
