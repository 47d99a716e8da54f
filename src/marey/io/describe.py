"""Describe the content of a file as plain data, for `marey info`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.io import unit_and_up_axis
from marey.io.loading import clip_names
from marey.io.rest import REST_NOTE, starts_with_rest_pose

_FORMATS = {
    "bvh": "BVH",
    "amc": "ASF/AMC",
    "asf": "ASF",
    "fbx": "FBX",
    "glb": "GLB",
    "npz": "NPZ",
    "npy": "NPY",
    "smpl": "SMPL",
    "kimodo": "Kimodo",
    "c3d": "C3D",
    "trc": "TRC",
}


def describe(value: Motion | Markers, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Describe `value`, which was just loaded from `path`, as data that can be written as JSON."""
    report: dict[str, Any] = {
        "file": os.fspath(path),
        "kind": "markers" if isinstance(value, Markers) else "motion",
        "name": value.name,
        "format": _FORMATS[value.source.format],
        "frames": len(value),
        "fps": value.fps,
        "seconds": value.duration,
        "unit": unit_and_up_axis.unit_name(value.source.unit),
        "unit_m": value.source.unit,
        "up": value.source.up,
        "evidence": list(value.source.evidence),
    }
    if isinstance(value, Markers):
        report |= {
            "markers": list(value.names),
            "seen": float(value.valid.mean()) if value.valid.size else 0.0,
        }
    else:
        report |= _motion(value)
        report["clips"] = list(clip_names(path))
    return report


def _motion(motion: Motion) -> dict[str, Any]:
    skeleton, roles = motion.skeleton, motion.skeleton.roles
    called: dict[int, list[str]] = {}
    for role, joint in roles.items():
        called.setdefault(joint, []).append(role)
    moving = motion.bone_offsets
    report: dict[str, Any] = {
        "joints": len(skeleton),
        "end_sites": int(skeleton.is_end_site.sum()),
        "root": skeleton.names[0],
        "roles_found": len(roles),
        "roles_missing": list(roles.missing),
        "roles_by": roles.how,
        "stature_m": unit_and_up_axis.stature(skeleton),
        "path_m": None,
        "net_m": None,
        "speed_mps": None,
        "moving_bones": 0 if moving is None else int((np.ptp(moving, axis=0).max(axis=1)[1:] > 1e-6).sum()),
        "starts_with_rest_pose": REST_NOTE in motion.source.evidence or starts_with_rest_pose(motion),
        "contacts": [] if motion.contacts is None else list(motion.contacts.names),
        "labels": list(motion.labels.names),
        "skeleton": [
            {
                "name": name,
                "parent": int(skeleton.parents[j]),
                "depth": len(skeleton.chain(j)) - 1,
                "offset_m": skeleton.offsets[j].tolist(),
                "roles": called.get(j, []),
            }
            for j, name in enumerate(skeleton.names)
        ],
    }
    if "hips" in roles:
        floor_path = motion.travel[:, [0, 2]]
        steps = np.linalg.norm(np.diff(floor_path, axis=0), axis=1)
        report["path_m"] = float(steps.sum())
        report["net_m"] = float(np.linalg.norm(floor_path[-1] - floor_path[0]))
        report["speed_mps"] = float(steps.sum() / motion.duration) if len(motion) > 1 else 0.0
    return report
