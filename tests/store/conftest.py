"""Fixtures of the store's tests."""

from __future__ import annotations

import os

import pytest

from marey.store import prepare as preparing


@pytest.fixture
def loads(monkeypatch):
    """The names of the files that are loaded from now on."""
    out: list[str] = []
    load = preparing.load_motion

    def counted(path, **options):
        out.append(os.path.basename(path))
        return load(path, **options)

    monkeypatch.setattr(preparing, "load_motion", counted)
    return out
