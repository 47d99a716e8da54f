"""Splice set files: the clips and the precomputed data of each."""

from __future__ import annotations

import os

import numpy as np

from marey.core.arrays import set_readonly
from marey.errors import MareyError, ParseError
from marey.io import archive, clip_arrays
from marey.io.files import read_bytes, write_bytes
from marey.layer.runtime import PreparedClip, SpliceSet

FORMAT = "marey.splices"
VERSION = 1
_OWN = ("base", "cycles", "hips", "postures", "loops", "begins")


def save_set(splices: SpliceSet, path: str | os.PathLike[str]) -> None:
    """Write a set to an .npz file."""
    kept = splices.prepared
    arrays = {
        "base": np.array(splices.base),
        "cycles": np.concatenate([each.cycles for each in kept]),
        "hips": np.concatenate([each.hips for each in kept]),
        "postures": np.stack([each.posture for each in kept]),
        "loops": np.stack([each.loop for each in kept]),
        "begins": np.array([each.begin for each in kept]),
    }
    write_bytes(path, [archive.pack(FORMAT, VERSION, clip_arrays.clip_arrays(splices.clips) | arrays)])


def load_set(path: str | os.PathLike[str]) -> SpliceSet:
    """A set from a file that `save_set` wrote."""
    name = os.fspath(path)
    required = (*clip_arrays.REQUIRED, *_OWN)
    arrays = archive.unpack(read_bytes(path), name, FORMAT, VERSION, required, clip_arrays.OPTIONAL)
    clips = clip_arrays.clips_from(arrays, name)
    try:
        n_clips, n_frames = len(clips), sum(len(clip) for clip in clips)
        wanted = {"cycles": (n_frames,), "hips": (n_frames, 4), "postures": (n_clips, 2, 3), "loops": (n_clips, 4)}
        for key, shape in (wanted | {"begins": (n_clips,), "base": ()}).items():
            if arrays[key].shape != shape or not np.isfinite(arrays[key]).all():
                raise ValueError(f"{key} has shape {arrays[key].shape}, or values that are not numbers")
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
    except (MareyError, ValueError, IndexError, TypeError) as error:
        raise ParseError(f"the splice set in it does not fit together ({error})", path=name) from None
