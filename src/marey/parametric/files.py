"""Files of parametric spaces: the examples, their registration and the samples."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from marey.core.motion import Motion
from marey.errors import InvalidValue, plural
from marey.io.archive import validating
from marey.io.limits import check_blend_frames
from marey.io.stored import FileFormat, Part
from marey.parametric.features import Feature, FeatureLike, as_features, feature_from_dict
from marey.parametric.space import ParametricMotion
from marey.register.files import CURVES, curve_parts, curves_from

# Largest deviation of the sum of a sample's weights from 1.
_SUM_TOLERANCE = 1e-3
_SPACE = {
    "parameters": Part("float", ("motions", "parameters")),
    "samples": Part("float", ("samples", "parameters")),
    "sample_examples": Part("integer", ("samples", "examples per sample")),
    "sample_weights": Part("float", ("samples", "examples per sample")),
    "scale": Part("float", ("parameters",)),
}
_FILE = FileFormat(
    "marey.parametric", 1,
    {
        **CURVES,
        "moments": Part("float", ("features",), is_finite=False),
        "about": Part("json"),
        "kept": Part("integer", ("motions",)),
        **_SPACE,
    },
    has_clips=True,
)  # fmt: skip


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
    own = {"clips": reg.motions, "moments": space.moments, "about": about, "kept": space.example_indices}
    _FILE.write(path, curve_parts(reg) | own | {name: getattr(space, name) for name in _SPACE})


def load_space(path: str | os.PathLike[str], feature: FeatureLike | None = None) -> ParametricMotion:
    """Read a space from a file written by `save_space`.

    feature : as given to `build`; needed only if it contains Python functions, which cannot be saved.
    """
    name = os.fspath(path)
    parts = _FILE.read(path)
    about = parts["about"]
    with validating(name, _FILE.name):
        described = [{**each, "names": [str(name) for name in each["names"]]} for each in about["features"]]
    features = _load_features(described, feature, name)
    with validating(name, _FILE.name):
        motions = _restore_sources(parts["clips"], about["sources"])
        reg = curves_from(parts, motions, int(about["reference"]), about["points"], about["notes"][1])
        notes = tuple(str(note) for note in about["notes"][0])
        moments = tuple(parts["moments"].tolist())
        own: dict[str, Any] = {part: parts[part] for part in _SPACE} | {"example_indices": parts["kept"]}
        own |= {"delta": float(about["delta"]), "k": int(about["k"]), "notes": notes}
        space = ParametricMotion(reg, features, moments, **own)
        if space.k < 1 or not (np.abs(space.sample_weights.sum(axis=1) - 1.0) <= _SUM_TOLERANCE).all():
            raise InvalidValue("k must be at least 1, and the weights of each sample must add up to 1")
        check_blend_frames(float(reg.timewarp.durations.max()), reg.fps)
        return space


def _load_features(described: list[dict[str, Any]], given: Any, path: str) -> tuple[Feature, ...]:
    functions = [each for each in described if each.get("kind") == "function"]
    if given is not None:
        features = as_features(given)
        if [each.n_dims for each in features] != [len(each["names"]) for each in described]:
            raise InvalidValue(
                f"{path}: feature must have the {plural(len(described), 'feature')} of the space, in order"
            )
        return features
    if functions:
        names = ", ".join(repr(name) for each in functions for name in each["names"])
        again = "the function" if len(described) == 1 else f"all {len(described)} features"
        raise InvalidValue(
            f"{path}: a Python function, which cannot be saved, measures {names}; pass {again} again with "
            "`ParametricMotion.load(path, feature=...)`"
        )
    with validating(path, _FILE.name):
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
