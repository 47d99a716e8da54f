"""Files of parametric spaces: the examples, their registration and the samples; loading does not rebuild anything.

A file holds the clips (`marey.io.clip_arrays`) and these arrays, for n examples, d parameters and m samples of q
examples each; K and L are numbers of control points, M is the number of matching contacts:

==================  ============  ====================================================================
array               shape         content
==================  ============  ====================================================================
format, version     ()            ``marey.parametric``, 1
timewarp            (K, n)        control points of S(u), seconds
alignment           (L, n, 3)     control points of A(u)
origins             (n, 2)        centers of rotation of A(u), meters
matches             (M, 2, n)     start and stop of the matching contacts, in u
loops               (n, 3)        only for loops: movement per cycle (theta, x, z)
crops               (n, 2)        frame ranges of the inputs that are used
distances           (n,)          distance of each example in the registration, meters
parameters          (n, d)        parameters of the examples
samples             (m, d)        parameters of the samples
sample_examples     (m, q)        examples that each sample is blended from ...
sample_weights      (m, q)        ... and their weights
scale               (d,)          distance in each dimension that counts as one unit
kept                (n,)          indices of the examples among the inputs
moments             (features,)   u of each feature's pose, or NaN
about               ()            JSON: features, reference, delta, k, match points, sources, notes
==================  ============  ====================================================================
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.io import archive, clip_arrays
from marey.io.limits import check_blend_frames
from marey.parametric.features import Feature, as_features, feature_from_dict
from marey.parametric.space import ParametricMotion
from marey.register.files import CURVES, curve_arrays, curves_from

FORMAT = "marey.parametric"
VERSION = 1

# Largest deviation of the sum of a sample's weights from 1.
_SUM_TOLERANCE = 1e-3
_SPACE = ("parameters", "samples", "sample_examples", "sample_weights", "scale")
_OWN = (*CURVES, "moments", "about", "kept", *_SPACE)


def save_space(space: ParametricMotion, path: str | os.PathLike[str]) -> None:
    """Write the space to an .npz file."""
    reg = space.registration
    about = {
        "features": [feature.to_dict() for feature in space.features],
        "reference": reg.reference,
        "delta": space.delta,
        "k": space.k,
        "points": [match.point for match in reg.matches],
        "sources": [[motion.source.path, [dict(step) for step in motion.source.provenance]] for motion in reg.motions],
        "notes": [list(space.notes), list(reg.notes)],
    }
    arrays: dict[str, NDArray[Any]] = {
        **curve_arrays(reg),
        "moments": np.array(space.moments),
        "about": np.array(json.dumps(about)),
        "kept": space.example_indices,
        **{name: getattr(space, name) for name in _SPACE},
    }
    clip_arrays.write_clips(path, FORMAT, VERSION, reg.motions, arrays)


def load_space(path: str | os.PathLike[str], feature: Any = None) -> ParametricMotion:
    """Read a space from a file written by `save_space`.

    feature : as given to `build`; needed only if it contains Python functions, which cannot be saved.
    """
    name = os.fspath(path)
    required, optional = (*clip_arrays.REQUIRED, *_OWN), (*clip_arrays.OPTIONAL, "loops")
    arrays = archive.read_arrays(path, FORMAT, VERSION, required, optional)
    clips = clip_arrays.clips_from(arrays, name)
    with archive.validating(name, FORMAT):
        about = json.loads(str(arrays["about"]))
        described = [{**each, "names": [str(name) for name in each["names"]]} for each in about["features"]]
    features = _load_features(described, feature, name)
    with archive.validating(name, FORMAT):
        motions = _restore_sources(clips, about["sources"])
        reg = curves_from(arrays, motions, int(about["reference"]), about["points"], about["notes"][1])
        notes = tuple(str(note) for note in about["notes"][0])
        moments = tuple(arrays["moments"].tolist())
        parts: dict[str, Any] = {part: arrays[part] for part in _SPACE} | {"example_indices": arrays["kept"]}
        parts |= {"delta": float(about["delta"]), "k": int(about["k"]), "notes": notes}
        space = ParametricMotion(reg, features, moments, **parts)
        if space.k < 1 or not (np.abs(space.sample_weights.sum(axis=1) - 1.0) <= _SUM_TOLERANCE).all():
            raise InvalidValue("k must be at least 1, and the weights of each sample must add up to 1")
        check_blend_frames(float(reg.timewarp.durations.max()), reg.fps)
        return space


def _load_features(described: list[dict[str, Any]], given: Any, path: str) -> tuple[Feature, ...]:
    functions = [each for each in described if each.get("kind") == "function"]
    if given is not None:
        features = as_features(given)
        if [each.n_dims for each in features] != [len(each["names"]) for each in described]:
            raise InvalidValue(f"{path}: feature must match the {len(described)} features of the space")
        return features
    if functions:
        names = ", ".join(map(repr, functions[0]["names"]))
        raise InvalidValue(
            f"{path}: {names} comes from a Python function, which cannot be saved; pass it again as feature="
        )
    with archive.validating(path, FORMAT):
        return tuple(
            _make_by_hand(each) if each.get("kind") == "given" else feature_from_dict(each) for each in described
        )


def _make_by_hand(described: Mapping[str, Any]) -> Feature:
    names = tuple(str(name) for name in described["names"])
    return Feature("given", names=names, units=("",) * len(names))


def _restore_sources(clips: tuple[Motion, ...], sources: list[Any]) -> tuple[Motion, ...]:
    return tuple(
        replace(clip, source=replace(clip.source, path=str(path), provenance=tuple(dict(step) for step in steps)))
        for clip, (path, steps) in zip(clips, sources, strict=True)
    )
