"""`marey grid`: compute and plot the distances between all frames of two motions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from marey.cli.derived_options import SettingsCommand, add_settings, read_settings, word_options
from marey.cli.files import check_output, check_plot, print_report
from marey.cli.shared_options import (
    add_reading_options,
    contacts_option,
    markers_option,
    read_recording,
    take_reading_options,
)
from marey.cli.values import NamedNumbers
from marey.errors import NoTimewarp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marey.compare import DistanceGrid
    from marey.core.arrays import Ints
    from marey.register.dtw import TimeAlignment

_LISTED = 5  # minima in the text report; --json lists all


@click.command("grid", cls=SettingsCommand)
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option("-o", "--output", metavar="OUT", help="The heat map to write: PNG or SVG.")
@click.option(
    "--csv",
    "csv_file",
    metavar="FILE",
    help="Write the distances in meters as CSV: one row per frame of A, one column per frame of B.",
)
@click.option(
    "--npz", "npz_file", metavar="FILE", help="Write the squared distances, local minima and path as NumPy arrays."
)
@click.option(
    "--path", "with_path", is_flag=True, help="Find the best timewarp path from the start of both motions, and draw it."
)
@click.option(
    "--end",
    type=click.Choice(["corner", "border"]),
    help="--path: end at the end of both motions (corner), or at the end of one of them, where the mean distance is "
    "lowest (border).  [default: corner]",
)
@click.option(
    "--slope", "slope_limit", type=int,
    help="--path: slope limit, the maximum ratio of playback speeds.  [default: 2]",
)  # fmt: skip
@click.option("--threshold", type=float, help="List only local minima up to this distance, in meters.")
@add_settings("marey.compare.settings:GridSettings")
@markers_option("roles, joints or markers")
@click.option(
    "--weights",
    type=NamedNumbers(),
    metavar="NAME=W,...",
    help="Weights of some markers, such as left_hand=2,head=0.5.",
)
@contacts_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@add_reading_options
def command(
    first: str,
    second: str | None,
    output: str | None,
    csv_file: str | None,
    npz_file: str | None,
    with_path: bool,
    end: Literal["corner", "border"] | None,
    slope_limit: int | None,
    threshold: float | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Compare all frames of A with all frames of B (or of A itself), and draw the distances as a heat map.

    Distances are in meters: the root mean square over markers and a window of frames, after the best rigid alignment
    on the floor. If the frame rates differ, the faster motion is resampled. The exit code is 1 if --path finds no path;
    the grid is still written.

    \b
    Example:
      marey grid walk.bvh run.bvh -o grid.png --path
      marey grid dance.bvh -o grid.png --window 0.5 --threshold 0.08 --npz grid.npz
    """
    from marey.compare import GridSettings, distance_grid

    how = take_reading_options(options)
    if not with_path and (end is not None or slope_limit is not None):
        raise click.UsageError("--end and --slope require --path")
    files = [first] if second is None else [first, second]
    _check_outputs(output, csv_file, npz_file)
    clips = [read_recording(file, how) for file in files]
    settings = read_settings(GridSettings, options)
    notes = _match_rates(clips, settings.contacts is not None)
    grid = distance_grid(clips[0], clips[-1], settings=settings)
    slope = 2 if slope_limit is None else slope_limit
    path, no_path = _warp(grid, end or "corner", slope) if with_path else (None, None)
    minima = grid.minima(threshold)
    written = []
    if output is not None:
        from marey.plot.grid import grid as draw

        draw(grid, output, threshold=threshold, cells=None if path is None else path.cells)
        written.append(output)
    if csv_file is not None:
        _write_csv(grid, csv_file)
        written.append(csv_file)
    if npz_file is not None:
        _write_npz(grid, minima, path, npz_file)
        written.append(npz_file)
    report = {"files": files, "notes": notes, **_report(grid, minima, path, threshold), "no_path": no_path}
    report["written"] = written
    print_report(report, as_json, _format_report)
    return 0 if no_path is None else 1


def _check_outputs(output: str | None, csv_file: str | None, npz_file: str | None) -> None:
    """Reject wrong options before reading any file."""
    for path in (csv_file, npz_file):
        if path is not None:
            check_output(path)
    check_plot(output)


def _match_rates(clips: list[Any], with_contacts: bool) -> list[str]:
    """Resample the motions to the lower frame rate and, if needed, detect contacts. Change `clips` in place; return
    notes.
    """
    from dataclasses import replace

    from marey.clean import detect_contacts
    from marey.core import Motion
    from marey.edit import resample

    notes = []
    if with_contacts:
        for k, motion in enumerate(clips):
            if isinstance(motion, Motion) and motion.contacts is None:
                clips[k] = replace(motion, contacts=detect_contacts(motion).contacts)
                notes.append(f"detected the contacts of {motion.name!r}")
    slower = min(clip.fps for clip in clips)
    for k, clip in enumerate(clips):
        if clip.fps != slower and isinstance(clip, Motion):
            clips[k] = resample(clip, slower)
            notes.append(f"resampled {clip.name!r} from {clip.fps:.6g} to {slower:.6g} Hz")
    return notes


def _warp(grid: DistanceGrid, end: Literal["corner", "border"], slope: int) -> tuple[TimeAlignment | None, str | None]:
    """Return `(path, None)`, or `(None, reason)` if there is no timewarp path."""
    from marey.register.dtw import dtw

    try:
        return dtw(grid.values, end=end, slope_limit=slope), None
    except NoTimewarp as error:
        return None, str(error)


def _report(grid: DistanceGrid, minima: Ints, path: TimeAlignment | None, threshold: float | None) -> dict[str, Any]:
    """Describe a grid, with distances in meters and times in seconds."""
    import numpy as np

    values = grid.values
    finite = np.sqrt(values[np.isfinite(values)])
    off = np.abs(np.subtract.outer(np.arange(len(grid.a)), np.arange(len(grid.b)))) >= len(grid.frame_weights)
    candidates = off & np.isfinite(values) if grid.is_own else np.isfinite(values)
    best = None
    if candidates.any():
        best = np.unravel_index(int(np.argmin(np.where(candidates, values, np.inf))), values.shape)
    order = np.argsort(values[minima[:, 0], minima[:, 1]], kind="stable")
    return {
        "a": {"name": grid.a.name, "frames": len(grid.a), "fps": grid.a.fps},
        "b": {"name": grid.b.name, "frames": len(grid.b), "fps": grid.b.fps},
        "markers": list(grid.a.names),
        "window_frames": len(grid.frame_weights),
        "aligned": grid.align,
        "own": grid.is_own,
        "distance_m": _compute_statistics(finite),
        "refused_cells": int(values.size - finite.size),
        "best": None if best is None else _describe_cell(grid, int(best[0]), int(best[1])),
        "threshold_m": threshold,
        "minima": [_describe_cell(grid, int(i), int(j)) for i, j in minima[order]],
        "path": None
        if path is None
        else {"cells": len(path.cells), "distance_m": path.distance, "worst_m": float(np.sqrt(path.distances.max()))},
    }


def _compute_statistics(distances: Any) -> dict[str, float] | None:
    import numpy as np

    if distances.size == 0:
        return None
    low, median, high = np.quantile(distances, [0.05, 0.5, 0.95])
    return {
        "min": float(distances.min()),
        "percentile_5": float(low),
        "median": float(median),
        "mean": float(distances.mean()),
        "percentile_95": float(high),
        "max": float(distances.max()),
    }


def _describe_cell(grid: DistanceGrid, i: int, j: int) -> dict[str, Any]:
    theta, x, z = (float(value) for value in grid.transform(i, j))
    return {
        "frames": [i, j],
        "seconds": [i / grid.a.fps, j / grid.b.fps],
        "distance_m": float(grid.values[i, j]) ** 0.5,
        "move": {"theta_rad": theta, "x_m": x, "z_m": z},
    }


def _format_report(report: dict[str, Any]) -> str:
    a, b, distances = report["a"], report["b"], report["distance_m"]
    lines = list(report["notes"])
    lines.append(
        f"{a['name']} ({a['frames']} frames) with {b['name']} ({b['frames']} frames) at {a['fps']:.6g} Hz, "
        f"{len(report['markers'])} markers, windows of {report['window_frames']}"
    )
    if distances is None:
        lines.append("  all cells were excluded because their contacts differ")
    else:
        statistics = (
            f"min {distances['min']:.3f}, 5th percentile {distances['percentile_5']:.3f}, "
            f"median {distances['median']:.3f}, mean {distances['mean']:.3f}, max {distances['max']:.3f}"
        )
        lines.append(f"  distances in meters: {statistics}")
    if report["refused_cells"]:
        lines.append(f"  {report['refused_cells']} cells excluded because their contacts differ")
    if report["path"]:
        path = report["path"]
        lines.append(
            f"  path of {path['cells']} cells: distance {path['distance_m']:.3f} m, at most {path['worst_m']:.3f} m"
        )
    if report["no_path"]:
        lines.append(f"  {word_options(report['no_path'])}")
    limit = "" if report["threshold_m"] is None else f" up to {report['threshold_m']:g} m"
    lines.append(f"  {len(report['minima'])} local minima{limit}" + (", the lowest:" if report["minima"] else ""))
    # The grid of a motion with itself is symmetric, so list only one of each pair.
    listed = [cell for cell in report["minima"] if not report["own"] or cell["frames"][0] < cell["frames"][1]]
    for cell in listed[:_LISTED]:
        seconds = cell["seconds"]
        lines.append(f"    {seconds[0]:.2f} s and {seconds[1]:.2f} s: {cell['distance_m']:.3f} m")
    lines += [f"wrote {path}" for path in report["written"]]
    return "\n".join(lines)


def _write_csv(grid: DistanceGrid, file: str) -> None:
    import numpy as np

    from marey.io.files import write_bytes

    def rows() -> Iterator[bytes]:
        columns = (f"{j / grid.b.fps:.6g}" for j in range(len(grid.b)))
        yield (",".join(["seconds", *columns]) + "\n").encode()
        for i, line in enumerate(grid.values):
            yield (",".join([f"{i / grid.a.fps:.6g}", *(f"{d:.6g}" for d in np.sqrt(line))]) + "\n").encode()

    write_bytes(file, rows())


def _write_npz(grid: DistanceGrid, minima: Ints, path: TimeAlignment | None, file: str) -> None:
    import numpy as np

    from marey.io.archive import text_array, write_arrays

    arrays: dict[str, Any] = {
        "values": grid.values,
        "frame_weights": grid.frame_weights,
        "marker_weights": grid.a.weights,
        "markers": text_array(grid.a.names, "markers"),
        "names": text_array([grid.a.name, grid.b.name], "names"),
        "fps": np.array([grid.a.fps, grid.b.fps]),
        "aligned": np.array(grid.align),
        "minima": minima,
        "moves": grid.transform(minima[:, 0], minima[:, 1]),
    }
    if path is not None:
        arrays["path"] = path.cells
    write_arrays(file, "marey.grid", 1, arrays)
