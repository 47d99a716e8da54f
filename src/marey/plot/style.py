"""Style and output of all plots: colors, sizes, and reproducible files (same input, same bytes)."""

from __future__ import annotations

import inspect
import io
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from marey.errors import UnknownFormat
from marey.io.files import GENERATOR, write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from marey.core.motion import Motion

P = ParamSpec("P")
StrPath = str | os.PathLike[str]

# Orange, blue and near-black differ for every kind of color vision, and in lightness (L* 62, 45, 20) on gray paper.
LEFT, RIGHT, MIDDLE = "#e07b00", "#1f6fb2", "#2b2f36"
SIDES = {"left": LEFT, "right": RIGHT, "middle": MIDDLE}
NOTE, FLOOR, GRID = "#5c6068", "#8a8f98", "#e6e8eb"
# For several motions: neighbors in the list differ in lightness too, and a second round in the dashes.
SERIES = ("#1b3a5c", "#e07b00", "#2a9d8f", "#a3217f", "#7f9fc6", "#7a4b12")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.4)))

WIDTH = 9.0  # inches: 900 px wide in a README at the 100 dpi of a screen
DPI = 200  # of a PNG, so that it stays sharp on dense screens
NOTE_SIZE = 8.5  # points, the smallest text in any plot

_SETTINGS: dict[str, Any] = {
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.titlelocation": "left",
    "axes.labelsize": 10.0,
    "axes.linewidth": 0.7,
    "axes.edgecolor": NOTE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.fontsize": 9.0,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "lines.linewidth": 1.4,
    "lines.solid_capstyle": "round",
    "text.parse_math": False,  # a clip may be called "$5"
    "svg.hashsalt": "marey",
    "svg.fonttype": "path",
}
# matplotlib keeps its settings in one place for the whole process; they are changed for a plot and then restored.
_BORROWING = threading.RLock()


@contextmanager
def settings() -> Iterator[None]:
    """Context manager: use marey's matplotlib settings, so that plots look the same on every machine."""
    with _BORROWING, matplotlib.rc_context():
        matplotlib.rcdefaults()
        current: Any = matplotlib.rcParams  # newer versions want every key spelled out in the type
        current.update(_SETTINGS)
        yield


def plot_function(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Decorate a plot function that has a parameter `path`: apply marey's settings, and write the plot to `path`.

    The function itself ignores `path`. If it is None, the plot is only returned.
    """
    signature = inspect.signature(draw)

    @wraps(draw)
    def plot(*args: P.args, **kwargs: P.kwargs) -> Figure:
        path = signature.bind(*args, **kwargs).arguments.get("path")
        if path is not None:
            check_suffix(path)  # before any work
        with settings():
            figure = draw(*args, **kwargs)
        if path is not None:
            write_figure(figure, path)
        return figure

    about, examples, lines = (draw.__doc__ or "").partition("\n    Examples\n")
    about = f"{about.rstrip()}\n\n    The plot is written to `path`, .png or .svg, if it is given, and returned."
    plot.__doc__ = f"{about}\n{examples}{lines}"
    return plot


def new_figure(height: float, *, width: float = WIDTH, layout: Any = None) -> Figure:
    """Create an empty figure, `height` inches high, that pyplot does not track."""
    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def check_suffix(path: StrPath) -> str:
    """Return the format of a plot, ``"png"`` or ``"svg"``; raise an error for any other suffix."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".png", ".svg"):
        raise UnknownFormat(
            f"a plot is saved as .png or .svg, got {suffix or 'no suffix'}; change the file name", path=path
        )
    return suffix[1:]


def write_figure(figure: Figure, path: StrPath) -> None:
    """Write a figure as PNG or SVG depending on the suffix. It names the program, but no date or version."""
    kind = check_suffix(path)
    about = {"Date": None, "Creator": GENERATOR} if kind == "svg" else {"Software": GENERATOR}
    buffer = io.BytesIO()
    with settings(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)  # a box is drawn instead
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=about)
    write_bytes(path, [buffer.getvalue()])


def shade(color: str, strength: float) -> str:
    """Mix a color with white: 1 is the color, 0 is white. Unlike transparency, it does not add up where lines cross."""
    red, green, blue = (1.0 - strength * (1.0 - channel) for channel in to_rgb(color))
    return to_hex((red, green, blue))


def series_look(k: int) -> dict[str, Any]:
    """Return color and dashes of the k-th of several motions."""
    return {"color": SERIES[k % len(SERIES)], "ls": DASHES[k // len(SERIES) % len(DASHES)]}


def format_name(motion: Motion, longest: int = 44) -> str:
    """Format a motion's name for a plot: one line, not too long, never empty."""
    name = "".join(c if c.isprintable() else " " for c in motion.name).strip() or "motion"
    return name if len(name) <= longest else f"{name[: longest // 2 - 1]}…{name[-longest // 2 :]}"


def format_names(motions: Sequence[Motion]) -> list[str]:
    """Format names for a legend; matplotlib omits labels that begin with an underscore."""
    names = [format_name(motion, 30) for motion in motions]
    return [f"\u200a{name}" if name.startswith("_") else name for name in names]


def length_text(motion: Motion) -> str:
    """Format a duration and frame rate, such as ``"3.92 s at 120 Hz"``."""
    return f"{motion.duration:.2f} s at {motion.fps:.5g} Hz"


def time_axes(figure: Figure, panels: Sequence[Axes], start: float, stop: float) -> None:
    """Create stacked panels over the same seconds: one time axis at the bottom, light grid lines through all."""
    for panel in panels:
        panel.grid(True, axis="x")
        if stop > start:
            panel.set_xlim(start, stop)
        panel.label_outer()
    panels[-1].set_xlabel("time, s")
    figure.align_ylabels(list(panels))


def side_of(name: str) -> str:
    """Find the side of a contact point from its name: "left", "right" or "middle"."""
    return next((side for side in ("left", "right") if name.startswith(f"{side}_")), "middle")


def band(start: int, stop: int, fps: float) -> tuple[float, float]:
    """Convert frames to the interval shown, in seconds: half a frame before `start` to half a frame after the last."""
    return (start - 0.5) / fps, (stop - 0.5) / fps
