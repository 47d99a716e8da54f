"""Motions as files for download."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from marey.core.labels import Labels
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.studio.places import Places, fit_name


def export_motions(places: Places, motions: Sequence[Motion], suffix: str, name: str) -> Path:
    """Write the motions into one file that can be fetched; gives its path."""
    from marey.io import save

    if not motions:
        raise InvalidValue("there is no motion to export")
    if len(motions) > 1:  # a sidecar could speak of one only
        motions = [replace(motion, contacts=None, labels=Labels()) for motion in motions]
    target = places.exports / f"{fit_name(name)}.{suffix}"
    # The sidecar that goes with a file is not wanted here, nor one that is left from an earlier export.
    with tempfile.TemporaryDirectory(dir=places.own) as folder:
        made = Path(folder) / target.name
        save(list(motions) if len(motions) > 1 else motions[0], made)
        shutil.move(made, target)
    return target
