"""The few metrics that a page shows first, with their grades."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.studio.grades import grade_metrics
from marey.studio.operation_work import run_operation


def test_grades_follow_the_motion(walk: marey.Motion) -> None:
    good = {each["title"]: each for each in grade_metrics(marey.measure(walk, walk))}
    assert [each["grade"] for each in good.values()] == ["good", "good", "good"]
    assert good["Foot sliding"]["before"] == good["Foot sliding"]["after"]
    assert [each["before_grade"] for each in good.values()] == ["good", "good", "reference"]
    sunk = walk.root_positions - [0.0, 0.03, 0.0]
    sliding = sunk + np.linspace(0.0, 0.2, len(walk))[:, None] * [1.0, 0.0, 0.0]
    shaken = replace(walk, root_positions=sliding + np.random.default_rng(0).normal(0.0, 0.005, sliding.shape))
    poor = {each["title"]: each for each in grade_metrics(marey.measure(shaken, walk))}
    assert [each["grade"] for each in poor.values()] == ["poor", "poor", "poor"]
    assert poor["Penetration"]["after"].startswith(("2", "3", "4"))
    alone = grade_metrics(marey.measure(walk))
    assert [each["grade"] for each in alone] == ["good", "good", ""]
    assert {each["before"] + each["before_grade"] for each in alone} == {""}


def test_edits_are_compared_with_their_source(
    walk: marey.Motion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # the worker process has its own
    found = run_operation(lambda *_: None, "mirror", [walk], {}, str(tmp_path))
    assert [each["title"] for each in found["grades"]] == ["Foot sliding", "Penetration", "Smoothness"]
