"""Settings of loading and saving."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from marey.core.settings import Settings, option


class AxesSettings(Settings):
    """Unit and axes of a file."""

    unit: str | float | None = option(
        default=None, help="Unit of the file: m, cm, mm, in, cmu, or meters per unit. By default it is detected."
    )
    up: Literal["y", "z", "x", "-y", "-z", "-x"] | None = option(
        default=None, help="Up axis of the file. By default it is detected.", label="Up axis"
    )

    @staticmethod
    def convert(options: dict[str, Any]) -> dict[str, Any]:
        """Accept an up axis in upper case or with a plus sign, and check the unit."""
        from marey.io.axes import check_up
        from marey.io.unit_and_up_axis import parse_unit

        up, unit = options.get("up"), options.get("unit")
        if unit is not None:
            parse_unit(unit)
        return options if up is None else options | {"up": check_up(up)}


class ReadSettings(AxesSettings):
    """How motions are read, from one file or from a folder of files."""

    fps: float | None = option(
        default=None, help="Frames per second of the result, which is resampled if necessary. By default those of the "
        "file.",
        label="Resample to", unit="1/s", above=0, advanced=True,
    )  # fmt: skip
    file_fps: float | None = option(
        default=None,
        help="Frames per second of the recording, if the file states no rate or a wrong one. The curves of FBX and GLB "
        "files are sampled at this rate.",
        label="Recorded rate", unit="1/s", above=0, max=100_000,
    )  # fmt: skip
    roles: Mapping[str, str] | str | os.PathLike[str] | None = option(
        default=None,
        help="Map from role to joint name, or a JSON file with such a map; it overrides the detected roles.",
    )
    trim_rest: bool = option(
        default=True,
        help="Skip frame 0 if it is a rest pose inserted before the motion, as in CMU's BVH files.",
        label="Skip a rest pose at the start",
    )


class LoadSettings(ReadSettings):
    """Settings of `load`."""

    root: str | int | None = option(
        default=None, help="Name or index of the ROOT, for BVH files with several.", advanced=True
    )
    clip: str | int | None = option(
        default=None, help="Name or index of the animation, for FBX and GLB files with several.", advanced=True
    )
    skeleton: str | os.PathLike[str] | None = option(
        default=None, help="The ASF file of an AMC file; by default, found in the same folder."
    )
    body_model: str | os.PathLike[str] | None = option(
        default=None,
        help="Body model of a SMPL or AMASS file, as NPZ; by default, its bones have the lengths of an average body.",
    )


class SaveSettings(AxesSettings):
    """Settings of `save`."""

    unit: str | float | None = option(
        default=None,
        help="Unit of a BVH file: m, cm, mm, in, cmu, or meters per unit; by default that of the BVH, AMC or ASF file "
        "that the motion was loaded from, else centimeters. GLB, NPZ and USD files are always in meters, FBX "
        "files in centimeters.",
    )
    up: Literal["y", "z", "x", "-y", "-z", "-x"] | None = option(
        default=None,
        help="Up axis of a BVH file; by default that of the file that the motion was loaded from, else y. Other files "
        "always have Y up.",
        label="Up axis",
    )
    rigid: bool = option(default=False, help="Keep bone lengths constant.", label="Constant bone lengths")
    body: bool = option(
        default=True, help="Add a simple body mesh to an FBX, GLB or USD file; without it, viewers show joints at most."
    )
    character: str | os.PathLike[str] | None = option(
        default=None,
        help="A GLB or VRM file with the skeleton of the motion. The saved file is a copy of it, with "
        "its mesh and materials, and with the motion as its first animation.",
    )


class SolveSettings(AxesSettings):
    """Settings of `solve`."""

    names: Sequence[str] | str | None = option(
        default=None,
        help="Names of the points of an array, in order: a list, or the name of a set (humanml3d, coco, human36m, "
        "mediapipe). By default the set with this number of points.",
    )
    joints: Mapping[str, str] | str | os.PathLike[str] | None = option(
        default=None,
        help="Map from point to joint, or a JSON or CSV file with such a map. Several points may be one joint, whose "
        "position is their mean. By default the map of the set; without a set, points are matched by name.",
    )
    file_fps: float | None = option(
        default=None, help="Frames per second of the recording, if the file states none.", label="Recorded rate",
        unit="1/s", above=0, max=100_000,
    )  # fmt: skip
    max_gap: float = option(
        default=0.5, help="Longer gaps in the path of a point are not filled.", label="Max gap", unit="s", min=0
    )
    strength: float = option(
        default=1.0,
        help="Strength of smoothing of the positions: 1 matches their measured noise, 0 turns smoothing off.",
        min=0,
        max=10,
    )
