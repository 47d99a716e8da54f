"""Draw the pictures of finding.md: python docs/make_finding_images.py [FOLDER].

They are of generated motion; with a folder of recorded takes in MAREY_KICKS, one of which has a kick about 1.22 s after
its beginning and is named first (MAREY_KICKS=FOLDER:TAKE), also of that kick, the others, and new ones.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from marey.find import MatchWeb
from marey.find.result import MatchResult
from marey.find.suggest import suggest_threshold
from marey.io import load_motion
from marey.parametric import ParametricMotion, position
from marey.plot import find as figures
from marey.plot.parametric import reachable, target_motions
from marey.plot.web import web_grid
from marey.samples import sample


def sample_web() -> MatchWeb:
    """Four takes with ten kicks, ten punches and ten reaches in each, walks and standing between."""
    takes = [sample("medley", rng=k, fps=30.0, kicks=10, punches=10, reaches=10).motion for k in range(4)]
    return MatchWeb.build([replace(take, name=f"take {k}") for k, take in enumerate(takes)])


def first(web: MatchWeb, label: str) -> tuple[str, int, int]:
    """Where the first of a kind is."""
    one = next(each for each in web.clips[0].labels if each.name == label)
    return web.names[0], one.start, one.stop


def upwards(space: ParametricMotion, count: int) -> np.ndarray:
    """Targets one above the other, as far ahead as the kicks of that height go."""
    x = float(np.median(space.parameters[:, 0]))
    heights = np.linspace(*np.quantile(space.parameters[:, 1], [0.05, 0.95]), count)
    near = [np.argsort(np.linalg.norm(space.samples[:, :2] - [x, y], axis=1))[:4] for y in heights]
    return np.array([[x, y, space.samples[k, 2].mean()] for y, k in zip(heights, near, strict=True)])


def recorded(given: str, out: Path) -> None:
    """One recorded kick, what is like it in all takes, and four new ones."""
    folder, _, take = given.rpartition(":")
    clips = [load_motion(path) for path in sorted(Path(folder).glob("*.bvh"))]
    web = MatchWeb.build(clips, fps=30.0)
    found: MatchResult = web.search(take, 22, 53, 0.12)
    figures.matches(found, out / "find_real.png", most=6)
    space = ParametricMotion.build(found, position("right_foot"))
    target_motions(space, upwards(space, 4), out / "kick_real.png", refine=True)


def main(folder: str) -> None:
    out = Path(folder)
    web = sample_web()
    query = first(web, "kick")
    found = web.search(*query, 0.05)
    figures.matches(found, out / "find_matches.png", most=6)
    figures.match_graph(web.search(*first(web, "reach"), 0.05), out / "find_graph.png")
    figures.thresholds(suggest_threshold(web, *first(web, "reach")), out / "find_threshold.png", chosen=0.05)
    # About two kicks of either take.
    a, b = ([label for label in web.clips[k].labels if label.name == "kick"] for k in (0, 1))
    rows, columns = ((max(kicks[0].start - 20, 0), kicks[0].start + 420) for kicks in (a, b))
    web_grid(web, 0, 1, out / "find_grid.png", rows=rows, columns=(columns[0], columns[0] + 300))
    space = ParametricMotion.build(found, position("right_ball"))
    targets = upwards(space, 4)
    reachable(space, out / "kick_reach.png", targets=[*targets, targets[1] + [0.3, 0.0, 0.0]])
    target_motions(space, targets, out / "kick_aimed.png", refine=True)
    if "MAREY_KICKS" in os.environ:
        recorded(os.environ["MAREY_KICKS"], out)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).parent / "images"))
