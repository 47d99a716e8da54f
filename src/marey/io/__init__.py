"""Files in, files out. `load` and `save` choose the format by suffix; only this room converts units and axes."""

from marey.io.loading import clip_names, load, load_markers, load_motion
from marey.io.rest import starts_with_rest_pose
from marey.io.saving import save
from marey.io.sidecar import sidecar_path

__all__ = [
    "clip_names",
    "load",
    "load_markers",
    "load_motion",
    "save",
    "sidecar_path",
    "starts_with_rest_pose",
]
