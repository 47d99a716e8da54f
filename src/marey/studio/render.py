"""Render motions as an animation or a still image."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import check_type
from marey.core.motion import Motion, check_motion
from marey.core.placement import find_placement
from marey.core.settings import operation
from marey.errors import InvalidValue, MissingDependency, UnknownFormat, hint_install, require
from marey.io.files import GENERATOR, write_bytes
from marey.maths import rigid2d
from marey.plot.camera import CameraPath, plan_camera
from marey.studio.headless import find_browser, open_page
from marey.studio.render_settings import RenderSettings

if TYPE_CHECKING:
    from PIL.Image import Image

StrPath = str | os.PathLike[str]
SUFFIXES = (".gif", ".webp", ".mp4", ".png")
# Factor of the camera's distance for meshes, which are larger than the body that joints show.
_SKIN_DISTANCE = 1.3
_MAX_PICTURES = 20_000
# Viewers slow down pictures that last less than 2/100 s.
_MAX_GIF_FPS = 50
# Distances between bodies that stand side by side, and one ahead of the other, as multiples of stature.
_BESIDE, _AHEAD = 0.75, 0.85
_BACKGROUND, _FLOOR_LINES = {"light": "#e9ebee", "dark": "#22262b"}, {"light": "#c4c8ce", "dark": "#3a4048"}


@operation(RenderSettings)
def render(
    motions: Motion | Sequence[Motion], output: StrPath, *, frame: int | None = None, settings: RenderSettings
) -> None:
    """Draw motions and write an animation, or a still image.

    Parameters
    ----------
    motions : one motion or several, which play at the same time; shorter ones wait at their end.
    output : .gif, .webp or .mp4 for an animation; .png for a still image.
    frame : frame of the first motion for a .png file; default is the middle.

    An .mp4 file needs ffmpeg: the machine's, or that of the extra `video`.

    Examples
    --------
    >>> from pathlib import Path
    >>> marey.render(walk, "walk.png", frame=60, size="320x180", drawing="plot")
    >>> Path("walk.png").exists()
    True
    """
    clips = [motions] if isinstance(motions, Motion) else list(check_type(motions, Sequence, "motions"))
    if not clips:
        raise InvalidValue("motions must contain at least one motion")
    for clip in clips:
        check_motion(clip)
    suffix = Path(output).suffix.lower()
    if suffix not in SUFFIXES:
        kinds = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise UnknownFormat(f"an animation or image is saved as {kinds}, got {suffix or 'no suffix'}", path=output)
    if frame is not None and suffix != ".png":
        raise InvalidValue("a still image of one frame is saved as .png", parameter="frame")
    encode = _find_encoder(suffix, output, settings.fps)
    if settings.apart:
        clips = _put_apart(clips, settings)
    shot = _plan_shot(clips, frame if suffix == ".png" else None, suffix == ".png", settings)
    write_bytes(output, [encode(_report_progress(_draw(shot, settings), shot, settings), settings)])


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """A shot to draw: n motions, the frame (N, n) of each motion in each of N pictures, and the camera."""

    motions: list[Motion]
    frames: np.ndarray[Any, np.dtype[np.int64]]
    camera: CameraPath


def _plan_shot(motions: list[Motion], frame: int | None, is_still: bool, settings: RenderSettings) -> Shot:
    from marey.plot.body import extract_body

    first = motions[0]
    if is_still:
        at = len(first) // 2 if frame is None else frame
        if not 0 <= at < len(first):
            last = f"{len(first) - 1} ({first.duration:.2f} s)"
            raise InvalidValue(f"frame must be from 0 to {last}, not {at}", parameter="frame")
        times = np.array([at / first.fps])
    else:
        longest = max(motion.duration for motion in motions)
        n = round(longest * settings.fps) + 1
        if n > _MAX_PICTURES:
            raise InvalidValue(
                f"the animation would have {n:,} frames (maximum {_MAX_PICTURES:,})", parameter="fps",
                remedy="lower `fps=`, or choose a part of the motion",
            )  # fmt: skip
        times = np.arange(n) / settings.fps
    frames = np.stack(
        [np.minimum(np.rint(times * motion.fps), len(motion) - 1).astype(np.int64) for motion in motions], axis=1
    )
    width, height = settings.pixels
    shown = [column.tolist() for column in frames.T]
    bodies = [extract_body(motion) for motion in motions]
    paths = [body.travel for body in bodies] if settings.path else []
    camera = plan_camera(bodies, shown, settings.camera, width / height, settings.fps, paths)
    return Shot(motions, frames, camera)


def _put_apart(motions: list[Motion], settings: RenderSettings) -> list[Motion]:
    """Move motions apart so that none hides another. All face the same way; for the side camera they stand one ahead of
    the next."""
    from marey.plot.body import extract_body

    tall = max(extract_body(motion).size for motion in motions)
    out = []
    for k, motion in enumerate(motions):
        start = rigid2d.invert(find_placement(motion, 0))
        away = (len(motions) - 1) / 2 - k
        there = (0.0, 0.0, -_AHEAD * tall * away) if settings.camera == "side" else (0.0, _BESIDE * tall * away, 0.0)
        out.append(motion.moved(rigid2d.compose(np.array(there), start)))
    return out


def _report_progress(images: Iterator[Image], shot: Shot, settings: RenderSettings) -> Iterator[Image]:
    for k, image in enumerate(images, start=1):
        yield image
        if settings.progress is not None:
            settings.progress(k / len(shot.frames))


# Drawing ------------------------------------------------------------------------------------------------------


def _draw(shot: Shot, settings: RenderSettings) -> Iterator[Image]:
    """Draw all pictures in the requested size."""
    browser = find_browser() if settings.drawing != "plot" and _has_page() else None
    if browser is None and settings.drawing == "browser":
        raise MissingDependency(
            "drawing in a browser needs Chromium or Chrome and the studio's page; install a browser, and for the page "
            f"{hint_install('studio')}",
            parameter="drawing",
        )
    images = _draw_with_plot(shot, settings) if browser is None else _draw_with_browser(browser, shot, settings)
    for k, image in enumerate(images):
        yield _write_labels(image, shot, k, settings) if settings.labels else image


def _has_page() -> bool:
    from importlib.util import find_spec

    from marey.studio.page_files import PAGE

    return (PAGE / "view.js").is_file() and find_spec("websockets") is not None


def _draw_with_browser(browser: str, shot: Shot, settings: RenderSettings) -> Iterator[Image]:
    """Draw with the page of `marey view`, opened in a browser without a window."""
    from PIL import Image

    from marey.studio.view import view_page
    from marey.studio.view_skin import find_skin

    width, height = settings.pixels
    skins = [find_skin(motion) if settings.skin else None for motion in shot.motions]
    away = _SKIN_DISTANCE if any(skins) else 1.0
    eyes = shot.camera.targets + away * (shot.camera.eyes - shot.camera.targets)
    shown = json.dumps({"contacts": settings.contacts, "trail": settings.path})
    with tempfile.TemporaryDirectory(prefix="marey-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "view.html"
        file.write_bytes(view_page(shot.motions, skins=skins))
        with open_page(browser, file, "fine") as page:
            page.wait_for("window.marey")
            page.evaluate(f"document.documentElement.dataset.theme = {settings.theme!r}, marey.stage.applyTheme()")
            page.evaluate(f"marey.pose({shown})")
            for frames, eye, target in zip(shot.frames, eyes, shot.camera.targets, strict=True):
                values = json.dumps([frames.tolist(), width, height, eye.tolist(), target.tolist()])
                data: str = page.evaluate(f"marey.picture(...{values})")
                yield Image.open(io.BytesIO(base64.b64decode(data.partition(",")[2]))).convert("RGB")


def _draw_with_plot(shot: Shot, settings: RenderSettings) -> Iterator[Image]:
    from PIL import Image

    from marey.clean import point_paths
    from marey.plot.body import extract_body
    from marey.plot.scene import Scene

    bodies = [extract_body(motion) for motion in shot.motions]
    touching = []
    for motion in shot.motions:
        marks = None
        if settings.contacts and motion.contacts is not None and motion.contacts.points:
            points = point_paths(motion, motion.contacts.points)
            marks = np.where(motion.contacts.mask[..., None], points, np.nan)
        touching.append(marks)
    scene = Scene(
        bodies, settings.pixels, background=_BACKGROUND[settings.theme], lines=_FLOOR_LINES[settings.theme],
        contacts=touching, paths=settings.path,
    )  # fmt: skip
    for frames, eye, target in zip(shot.frames, shot.camera.eyes, shot.camera.targets, strict=True):
        yield Image.fromarray(scene.draw(frames.tolist(), eye, target))


def _write_labels(image: Image, shot: Shot, k: int, settings: RenderSettings) -> Image:
    """Write the names of the motions and of their labels in this frame into a picture."""
    from PIL import ImageDraw, ImageFont

    size = max(11, settings.pixels[1] // 24)
    lines = []
    for motion, frame in zip(shot.motions, shot.frames[k].tolist(), strict=True):
        here = dict.fromkeys(label.name for label in motion.labels if label.start <= frame < label.stop)
        lines.append(f"{motion.name}: {', '.join(here)}" if here else motion.name)
    color = "#22262b" if settings.theme == "light" else "#e9ebee"
    font = ImageFont.load_default(size)
    ImageDraw.Draw(image).multiline_text((size, size * 0.7), "\n".join(lines), fill=color, font=font)
    return image


# Encoding -----------------------------------------------------------------------------------------------------

Encoder = Callable[[Iterator["Image"], RenderSettings], bytes]


def write_pictures(pictures: Iterator[Image], output: StrPath, fps: float) -> None:
    """Write pictures of one size, in RGB, as an animation, or the first as a still image."""
    first = next(pictures)
    settings = RenderSettings(size=f"{first.width}x{first.height}", fps=fps)
    encode = _find_encoder(Path(output).suffix.lower(), output, fps)
    write_bytes(output, [encode(chain([first], pictures), settings)])


def _find_encoder(suffix: str, output: StrPath, fps: float) -> Encoder:
    if suffix == ".gif" and fps > _MAX_GIF_FPS:
        raise InvalidValue(
            f"a GIF shows at most {_MAX_GIF_FPS} frames per second, not {fps:g}", parameter="fps",
            remedy="lower `fps=`, or write .webp or .mp4",
        )  # fmt: skip
    if suffix == ".mp4":
        ffmpeg = _find_ffmpeg()
        return lambda images, settings: _encode_video(images, settings, ffmpeg, output)
    return {".gif": _encode_gif, ".webp": _encode_webp, ".png": _encode_still}[suffix]


def _encode_still(images: Iterator[Image], _: RenderSettings) -> bytes:
    from PIL.PngImagePlugin import PngInfo

    stream, about = io.BytesIO(), PngInfo()
    about.add_text("Software", GENERATOR)
    next(images).save(stream, "PNG", optimize=True, pnginfo=about)
    return stream.getvalue()


def _encode_gif(images: Iterator[Image], settings: RenderSettings) -> bytes:
    """Encode with one palette for all pictures: with one for each, colors would flicker."""
    from PIL import Image

    pictures = list(images)
    some = pictures[:: max(1, len(pictures) // 12)]
    width, height = pictures[0].size
    sheet = Image.new("RGB", (width, height * len(some)))
    for k, picture in enumerate(some):
        sheet.paste(picture, (0, height * k))
    palette = sheet.quantize(256, method=Image.Quantize.MEDIANCUT)
    flat = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    stream = io.BytesIO()
    durations = [10 * ticks for ticks in _count_ticks(len(flat), 100.0 / settings.fps)]
    flat[0].save(
        stream, "GIF", save_all=True, append_images=flat[1:], duration=durations, loop=0, optimize=False,
        comment=GENERATOR.encode(),
    )  # fmt: skip
    return stream.getvalue()


def _count_ticks(n: int, ticks: float) -> list[int]:
    """Return whole durations of n pictures that last `ticks` each. Equal ones would change the speed."""
    ends = [round(ticks * k) for k in range(n + 1)]
    return [stop - start for start, stop in pairwise(ends)]


def _encode_webp(images: Iterator[Image], settings: RenderSettings) -> bytes:
    from PIL.ExifTags import Base
    from PIL.Image import Exif

    stream, about = io.BytesIO(), Exif()
    about[Base.Software] = GENERATOR
    first, *others = images
    durations = _count_ticks(1 + len(others), 1000.0 / settings.fps)
    first.save(
        stream, "WEBP", save_all=True, append_images=others, duration=durations, loop=0, quality=80, method=4,
        exif=about,
    )  # fmt: skip
    return stream.getvalue()


def _find_ffmpeg() -> str:
    own = shutil.which("ffmpeg")
    if own is not None:
        return own
    require("an .mp4 file needs ffmpeg or", "imageio_ffmpeg", "video")
    import imageio_ffmpeg

    return str(imageio_ffmpeg.get_ffmpeg_exe())


def _encode_video(images: Iterator[Image], settings: RenderSettings, ffmpeg: str, output: StrPath) -> bytes:
    """Encode as H.264, which every browser and phone plays."""
    width, height = settings.pixels
    with tempfile.TemporaryDirectory(prefix="marey-") as folder:
        file = Path(folder) / "video.mp4"
        command = [
            *(ffmpeg, "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"),
            *("-r", f"{settings.fps:g}", "-i", "-", "-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20"),
            *("-movflags", "+faststart", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-threads", "1"),
            *("-metadata", f"comment={GENERATOR}", str(file)),
        ]
        with open(Path(folder) / "errors", "wb+") as errors:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors)
            assert process.stdin is not None
            try:
                with process.stdin as pipe:
                    for image in images:
                        pipe.write(image.tobytes())
            except BrokenPipeError:
                pass  # the exit code shows whether it failed
            except BaseException:
                process.kill()
                raise
            finally:
                code = process.wait()
            errors.seek(0)
            reason = errors.read().decode(errors="replace").strip().split("\n")[-1]
        if code or not file.is_file():
            raise UnknownFormat(f"ffmpeg failed ({reason[:200]}); choose .gif or .webp", path=output)
        return file.read_bytes()
