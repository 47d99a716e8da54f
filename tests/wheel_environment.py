"""Install the wheel of a folder into an empty environment and use it; `make wheel` and the release run this file.

Programs of the machine are not on the PATH of that environment: no Node, no npm, no compiler.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SMOKE = Path(__file__).with_name("lowest_versions.py")
CHECK = "from marey import compiled; assert compiled.forms().name == 'library', 'the wheel has no compiled kernels'"


def use_wheel(wheel: Path, folder: Path) -> None:
    """Install the wheel with plots and the studio, and use each part once."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    options = ["--quiet", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([python, "-m", "pip", "install", *options, f"{wheel}[plot,studio]"], check=True)
    system = [os.path.join(os.environ["SYSTEMROOT"], "System32")] if os.name == "nt" else []
    alone = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    alone["PATH"] = os.pathsep.join([str(programs), *system])
    for command in ([python, "-c", CHECK], [python, SMOKE, "--smoke"]):
        subprocess.run(command, check=True, env=alone, cwd=folder)


if __name__ == "__main__":
    (found,) = Path(sys.argv[1]).resolve().glob("*.whl")
    with tempfile.TemporaryDirectory() as work:
        use_wheel(found, Path(work))
    print(f"{found.name} works without Node, npm or a compiler")
