"""The file formats that can be read and written.

A separate module, so that they can be listed without importing readers and writers.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["FORMATS", "FileKind"]


@dataclass(frozen=True, slots=True)
class FileKind:
    """A file format.

    name : common name of the format.
    suffixes : suffixes of the file names.
    reads : what `load` returns; "" if the format cannot be read.
    writes : whether `save` writes it.
    note : special features and limits.
    """

    name: str
    suffixes: tuple[str, ...]
    reads: Literal["motion", "markers", ""]
    writes: bool
    note: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return asdict(self) | {"suffixes": list(self.suffixes)}


FORMATS = (
    FileKind("BVH", (".bvh",), "motion", True, "every dialect; unchanged motion keeps the file's own numbers"),
    FileKind("ASF/AMC", (".amc", ".asf"), "motion", False, "the .asf file is found next to the .amc file"),
    FileKind("FBX", (".fbx",), "motion", True, "version 7, binary or text; several motions per file"),
    FileKind("GLB", (".glb",), "motion", True, "several motions per file; keeps the mesh of your own character"),
    FileKind("VRM", (".vrm",), "motion", True, "roles from its bones; written only as a copy of your character"),
    FileKind("USD", (".usda",), "", True, "UsdSkel skeleton and animation, as text"),
    FileKind("NPZ", (".npz",), "motion", True, "marey's own arrays, bit-exact, without pickle"),
    FileKind("AMASS, SMPL, SMPL-H, SMPL-X", (".amass.npz", ".npz"), "motion", True, "also GVHMR and WHAM dictionaries"),
    FileKind("Motion-X", (".npy",), "motion", False, "arrays (F, 322)"),
    FileKind("HumanML3D", (".npy",), "motion", False, "arrays (F, 263), and joint positions (F, 22, 3)"),
    FileKind("Kimodo", (".npz",), "motion", False, "SOMA and SMPL-X skeletons"),
    FileKind("C3D", (".c3d",), "markers", False, "marey solve turns markers into motion"),
    FileKind("TRC", (".trc",), "markers", False, "marey solve turns markers into motion"),
)
