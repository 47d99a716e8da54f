"""Builds the compiled kernels and the studio's page when the package is built: for wheels and for editable installs.

An install never fails because of either. Without the kernels' library, kernels are compiled at first use, which needs
Numba; without the page, everything but the studio works. MAREY_NO_KERNELS=1 and MAREY_NO_PAGE=1 leave them out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Tested: the build reaches into Numba. The extra `jit` in pyproject.toml has the same range.
KERNEL_REQUIREMENTS = ["numba>=0.62,<0.69", "numpy>=2.0", "lazy_loader>=0.6"]
# Brings a C compiler to machines that have none.
COMPILER = "ziglang>=0.13"


def find_platform(tag: str, library: bytes) -> str:
    """Return the platform tag for a library; on Linux, that of the oldest C library with all symbols that it uses.

    tag : the tag of this machine, whose C library may be newer.
    """
    machine = re.fullmatch(r"(?:manylinux_\d+_\d+|linux)_(\w+)", tag)
    versions = [(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", library)]
    if machine is None or not versions:
        return tag
    major, minor = max(*versions, (2, 17))
    return f"manylinux_{major}_{minor}_{machine[1]}"


class BuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the kernels' library and the page to wheels, and to the source tree on editable installs."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        if os.environ.get("MAREY_NO_KERNELS"):
            return []
        has_compiler = any(map(shutil.which, ("cc", "gcc", "clang")))
        return [*KERNEL_REQUIREMENTS, *([] if has_compiler else [COMPILER])]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not os.environ.get("MAREY_NO_PAGE"):
            self.run_script("web/build.py")
        if not os.environ.get("MAREY_NO_KERNELS") and self.run_script("kernels/build.py"):
            from packaging.tags import platform_tags

            (library,) = Path(self.root, "src", "marey").glob("_kernels.*")
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{find_platform(next(iter(platform_tags())), library.read_bytes())}"

    def run_script(self, script: str) -> bool:
        """Run a script that builds something; False if it failed, after it said why."""
        command = [sys.executable, str(Path(self.root) / script)]
        # Standard output belongs to the builder.
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode == 0:
            return True
        self.app.display_warning(f"marey is built without what {script} makes; its message is above")
        return False
