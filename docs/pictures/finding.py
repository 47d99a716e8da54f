"""Pictures of docs/finding.md."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from marey.find import MatchWeb
from marey.find.result import MatchResult
from marey.find.suggest import suggest_threshold
from marey.io import load_motion
from marey.parametric import ParametricMotion, position
from marey.plot import find as plots
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


def upward(space: ParametricMotion, count: int) -> np.ndarray:
    """Targets one above the other, as far ahead as the kicks of that height go."""
    x = float(np.median(space.parameters[:, 0]))
    heights = np.linspace(*np.quantile(space.parameters[:, 1], [0.05, 0.95]), count)
    near = [np.argsort(np.linalg.norm(space.samples[:, :2] - [x, y], axis=1))[:4] for y in heights]
    return np.array([[x, y, space.samples[k, 2].mean()] for y, k in zip(heights, near, strict=True)])


def draw_recorded(out: Path, data: Path) -> None:
    """One recorded kick, what is like it in all takes, and four new ones."""
    clips = [load_motion(path) for path in sorted((data / "cmu" / "144").glob("*.bvh"))]
    web = MatchWeb.build(clips, fps=30.0)
    found: MatchResult = web.search("144_05", 22, 53, 0.12)
    plots.matches(found, out / "find_real.png", most=6)
    space = ParametricMotion.build(found, position("right_foot"))
    target_motions(space, upward(space, 4), out / "kick_real.png", refine=True)


def draw(out: Path) -> None:
    web = sample_web()
    query = first(web, "kick")
    found = web.search(*query, 0.05)
    plots.matches(found, out / "find_matches.png", most=6)
    plots.match_graph(web.search(*first(web, "reach"), 0.05), out / "find_graph.png")
    plots.thresholds(suggest_threshold(web, *first(web, "reach")), out / "find_threshold.png", chosen=0.05)
    # About two kicks of either take.
    a, b = ([label for label in web.clips[k].labels if label.name == "kick"] for k in (0, 1))
    rows, columns = ((max(kicks[0].start - 20, 0), kicks[0].start + 420) for kicks in (a, b))
    web_grid(web, 0, 1, out / "find_grid.png", rows=rows, columns=(columns[0], columns[0] + 300))
    space = ParametricMotion.build(found, position("right_ball"))
    targets = upward(space, 4)
    reachable(space, out / "kick_reach.png", targets=[*targets, targets[1] + [0.3, 0.0, 0.0]])
    target_motions(space, targets, out / "kick_aimed.png", refine=True)
