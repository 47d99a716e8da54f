"""The benchmark of live players measures what it claims; no time is asserted."""

from __future__ import annotations

import pytest

from marey.bench import live
from marey.control.baselines import KINDS, baseline_streams
from marey.control.evaluate import StreamMetrics, clip_metrics
from tests.pmg.characters import walks


def test_each_stream_is_measured_against_kinematics_and_put_into_the_table(monkeypatch):
    kinds = ("fat graph", "blend tree")
    given = walks()[2:5]
    monkeypatch.setattr(live, "_FRAMES", 20)
    monkeypatch.setattr(live, "sample_walks", lambda **options: given)
    monkeypatch.setattr(live, "baseline_streams", lambda clips, **options: baseline_streams(clips, kinds=kinds))
    monkeypatch.setattr(
        live, "evaluate_streams", lambda makers, **options: dict.fromkeys(makers, clip_metrics(given[:1]))
    )
    metrics = list(live.bench_live(""))
    assert [row.what for row in metrics[:2]] == ["a frame of fat graph", "a frame of blend tree"]
    for row in metrics[:2]:
        assert row.value > 0.0
        assert row.ratio is not None
        assert row.ratio > 1.0
    rows = metrics[3:]
    assert len(rows) == 8 * len(kinds)
    assert rows[0].what == "fat graph: response time to a 90 degree turn"
    assert {row.ok for row in rows} == {None}
    assert next(row for row in rows if row.what == "fat graph: feet slide").ratio is None
    assert set(kinds) < set(KINDS)


def test_rows_are_listed_with_the_clips():
    clips = clip_metrics(walks()[:2])
    own = StreamMetrics(**{**clips.to_dict(), "bob": 2.0 * clips.bob, "response": 1.5, "memory": 3_000_000})
    rows = {row.what: row for row in live._rows("some", own, clips)}
    assert rows["some: hips bob"].ratio == pytest.approx(2.0)
    assert rows["some: hips bob"].value == pytest.approx(2000.0 * clips.bob)
    assert rows["some: response time to a 90 degree turn"].value == 1.5
    assert rows["some: memory"].value == 3.0
