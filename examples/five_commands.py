"""From captured clips to a character that walks a path, in five commands: check, clean, graph build, path, convert.

python examples/five_commands.py OUTDIR [CLIPS...]    (default: generated walks, as BVH)
"""

import sys
from pathlib import Path

from marey.cli.main import main as marey
from marey.samples import sample


def run(*arguments: object) -> int:
    """Run one command and show it, as one would type it."""
    print("marey", *arguments)
    code = marey([str(each) for each in arguments])
    if code == 2:  # 1 means that there are findings
        sys.exit(2)
    return code


def main(out: str, files: list[str]) -> None:
    folder = Path(out)
    (folder / "clean").mkdir(parents=True, exist_ok=True)
    if not files:
        import marey as library

        for k, turn in enumerate((0.0, 0.8, -0.8)):
            files.append(str(folder / f"walk{k}.bvh"))
            library.save(sample("walk", rng=k, seconds=10.0, turn_rate=turn).motion, files[-1])
    path = folder / "path.csv"
    path.write_text("x,z\n" + "".join(f"{0.05 * z * (8 - z):.3f},{z}\n" for z in range(9)))
    suffix = Path(files[0]).suffix
    run("check", *files)
    for file in files:
        run("clean", file, folder / "clean" / Path(file).name)
    run("graph", "build", folder / "clean", "-o", folder / "graph.npz", "--threshold", 0.08)
    run("graph", "path", folder / "graph.npz", "--path", path, "-o", folder / f"walk{suffix}")
    run("convert", folder / f"walk{suffix}", folder / "character.glb")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
