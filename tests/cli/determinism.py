"""All commands that write something, on small clips, to compare their files in several processes.

Run as a program, it prints the exit code of each as JSON: ``python -m tests.cli.determinism FOLDER [MODULE ...]``, with
the modules to import first. What commands with --json print is written to files, too.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
from pathlib import Path

LINES = """
samples clips -n walk -n run --fps 30 --param seconds=3
samples clips -n reach --fps 30
convert clips/walk.bvh a.npz
convert clips/walk.bvh a.glb
contacts clips/walk.bvh -o contacts.bvh --json
clean clips/walk.bvh clean.bvh --json
measure clips/walk.bvh clips/run.bvh --json
check clips/walk.bvh clips/run.bvh --json
info clips/walk.bvh --json
edit mirror clips/walk.bvh mirror.bvh
edit resample clips/walk.bvh resample.bvh --fps 24
edit cycle clips/walk.bvh cycle.bvh
edit path clips/walk.bvh path.bvh --along path.csv
edit retarget clips/walk.bvh retarget.bvh --onto sample
edit smooth clips/walk.bvh smooth.bvh
edit connect clips/walk.bvh clips/run.bvh connect.bvh
edit repair clips/walk.bvh repair.bvh
edit level clips/walk.bvh level.bvh
edit timewarp clips/walk.bvh timewarp.bvh --key 0.5=0.7
edit warp clips/walk.bvh warp.bvh --move right_hand@1=0,0.1,0
limits clips/walk.bvh -o limits.json --json
solve walk.trc solve.bvh --json
grid clips/walk.bvh clips/run.bvh --npz grid.npz --csv grid.csv
blend clips/walk.bvh clips/run.bvh -o blend.bvh --save-registration reg.npz --json
blend clips/walk.bvh clips/run.bvh -o again.bvh --registration reg.npz
transition clips/walk.bvh clips/run.bvh -o transition.bvh --json
splice clips/walk.bvh clips/run.bvh -o splice.bvh
transplant clips/walk.bvh clips/reach.bvh -o transplant.bvh --joints right_arm --at 0.5
gaze apply clips/walk.bvh gaze.bvh --look 1:40:10
graph build clips -o graph.npz --threshold 0.3
graph walk graph.npz -o walk.bvh --seconds 4
graph path graph.npz -o followed.bvh --path path.csv
graph table graph.npz -o table.npz --directions 8
find build clips -o web.npz
find search web.npz walk 0.3 1.2 --threshold 0.1 --json
pmg build small.toml -o small.json
pmg walk small.json -o steps.bvh --seconds 3
pmg go small.json --to 1,2 -o there.bvh
pmg steer small.json -o keys.bvh --keys w:1
pmg export small.json -o game.glb --max-clips 3
parametric build clips/walk.bvh clips/run.bvh --values values.csv --names speed -o space.npz
parametric make space.npz 2 -o made.bvh
library clips --json
library search clips --like walk --from 0.3 --to 1.2 --json
graph crowd graph.npz -o crowd --characters 2 --seconds 2
render clips/walk.bvh -o still.png --size 64x48 --drawing plot
steer clips -o steered.bvh --seconds 3
view clips/walk.bvh -o page.html
""".strip().splitlines()


def main(folder: str, *modules: str) -> None:
    for name in modules:
        importlib.import_module(name)
    from marey.cli.main import main as marey
    from marey.samples import straight_walk
    from tests.cli.test_pmg import RECIPE
    from tests.io.test_solve import write_trc

    os.chdir(folder)
    Path("path.csv").write_text("0,0\n0,2\n1,4\n")
    Path("values.csv").write_text("1.3\n3\n")
    walk = straight_walk(seconds=1.0, fps=30.0)
    roles = walk.skeleton.roles
    write_trc(Path("walk.trc"), list(roles), walk.world().positions[:, list(roles.values())], 30.0)
    Path("small.toml").write_text(RECIPE)
    codes = {}
    for k, line in enumerate(LINES):
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()):
            codes[line] = marey(line.split())
        if "--json" in line and not line.startswith(("blend", "transition")):  # these print how long they took
            Path(f"printed.{k}.json").write_text(printed.getvalue())
    print(json.dumps(codes))


if __name__ == "__main__":
    main(*sys.argv[1:])
