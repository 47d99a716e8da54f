"""Splice set files: the clips, with precomputed data for each."""

from __future__ import annotations

import os

import numpy as np

from marey.core.arrays import set_readonly
from marey.io import clip_arrays
from marey.layer.runtime import PreparedClip, SpliceSet

FORMAT = "marey.splices"
VERSION = 1
_OWN = ("base", "cycles", "hips", "postures", "loops", "begins")


def save_set(splices: SpliceSet, path: str | os.PathLike[str]) -> None:
    """Write a set to an .npz file."""
    prepared = splices.prepared
    arrays = {
        "base": np.array(splices.base),
        "cycles": np.concatenate([each.cycles for each in prepared]),
        "hips": np.concatenate([each.hips for each in prepared]),
        "postures": np.stack([each.posture for each in prepared]),
        "loops": np.stack([each.loop for each in prepared]),
        "begins": np.array([each.begin for each in prepared]),
    }
    clip_arrays.write_clips(path, FORMAT, VERSION, splices.clips, arrays)


def load_set(path: str | os.PathLike[str]) -> SpliceSet:
    """Read a set from a file written by `save_set`."""
    with clip_arrays.read_clips(path, FORMAT, VERSION, _OWN) as (clips, arrays):
        n_clips, n_frames = len(clips), sum(len(clip) for clip in clips)
        wanted = {"cycles": (n_frames,), "hips": (n_frames, 4), "postures": (n_clips, 2, 3), "loops": (n_clips, 4)}
        for key, shape in (wanted | {"begins": (n_clips,), "base": ()}).items():
            broken = np.count_nonzero(~np.isfinite(arrays[key]))
            if arrays[key].shape != shape or broken:
                raise ValueError(
                    f"{key} must have shape {shape} and finite values, but it has shape {arrays[key].shape} "
                    f"and {broken} values that are not finite"
                )
        cuts = np.cumsum([len(clip) for clip in clips])[:-1]
        cycles, hips = (np.split(arrays[key].astype(np.float64), cuts) for key in ("cycles", "hips"))
        prepared = tuple(
            PreparedClip(
                set_readonly(cycles[k].copy()),
                set_readonly(hips[k].copy()),
                set_readonly(arrays["postures"][k].astype(np.float64)),
                set_readonly(arrays["loops"][k].astype(np.float64)),
                float(arrays["begins"][k]),
            )
            for k in range(n_clips)
        )
        return SpliceSet(tuple(clips), int(arrays["base"]), prepared)
