"""Convert a folder of mocap files to GLB.

python examples/convert_folder.py FOLDER OUTDIR
"""

import sys
from pathlib import Path

import marey
from marey.errors import MareyError


def main(folder: str, outdir: str) -> int:
    if not Path(folder).is_dir():
        print(f"{folder}: no such folder", file=sys.stderr)
        return 2
    Path(outdir).mkdir(parents=True, exist_ok=True)
    n_bad = 0
    taken: set[Path] = set()
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix.lower() not in (".bvh", ".amc"):
            continue
        try:
            motion = marey.load(path)
            out = Path(outdir) / f"{path.stem}.glb"
            if out in taken:  # the same clip in two formats
                out = Path(outdir) / f"{path.stem}_{path.suffix[1:]}.glb"
            taken.add(out)
            marey.save(motion, out)
            print(f"{path.name}: {len(motion)} frames")
        except MareyError as error:
            n_bad += 1
            print(error, file=sys.stderr)
    return 1 if n_bad else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
