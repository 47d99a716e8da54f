"""Settings of a motion set."""

from __future__ import annotations

import os
from collections.abc import Sequence

from marey.core.settings import option
from marey.edit.settings import SkeletonSettings
from marey.io.settings import ReadSettings

StrPath = str | os.PathLike[str]


class OpenSettings(SkeletonSettings, ReadSettings):
    """Settings of `MotionSet.open`. .npz files keep their own rate, whatever `file_fps` is."""

    fps: float = option(30.0, "Frame rate to which all clips are resampled.", label="Frame rate", unit="1/s", above=0)
    mirrored: bool = option(False, "Add a mirrored copy of each clip, named NAME_mirrored, after all others.")
    labels: StrPath | Sequence[StrPath] = option(
        "sidecar", "Source of the labels: \"sidecar\", \"folders\" (each folder in a file's path is a label), a CSV "
        "file, or a list of these.",
    )  # fmt: skip
    cache: StrPath | None = option(
        None, "Folder for the prepared clips; by default .marey-cache in the folder of the clips. It can be deleted "
        "at any time.",
    )  # fmt: skip
    group: str | int | None = option(
        None, "Clips to use if they have different skeletons: the number of a group, or the name of any clip in it. "
        "Group 0 has the most frames.", label="Skeleton", advanced=True,
    )  # fmt: skip
    pattern: str = option("*", 'Files to use, such as "*.bvh" or "walks/*".', label="Files", advanced=True)

    @property
    def label_sources(self) -> list[StrPath]:
        """The sources of the labels as a list."""
        return [self.labels] if isinstance(self.labels, str | os.PathLike) else list(self.labels)
