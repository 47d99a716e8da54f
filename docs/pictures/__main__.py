"""Draw the pictures of the documentation: python docs/pictures [MODULE...]

Each module here draws pictures with `draw(folder)`, those of recorded clips with `draw_recorded(folder, data)`, and
those of pages in Chromium with `draw_browser(folder)`. Their PNG files become WebP images in docs/images. A function is
called only if its module has changed since, which docs/images/drawn.json records; name modules to draw them again.
Recorded clips are in the folder that MAREY_DATA names; without them, or without a browser, pictures stay as they are.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
IMAGES = HERE.parent / "images"
DRAWN = IMAGES / "drawn.json"
MODULES = ("basics", "blending", "exporting", "finding", "gaze", "graphs", "layers", "readme", "steering", "studio")
WIDTH, QUALITY = 1200, 70


def list_drawings(name: str) -> Iterator[tuple[str, Callable[[Path], None] | None]]:
    """Yield the name of each kind of pictures of a module, and the function that draws them, None if it cannot here."""
    source = (HERE / f"{name}.py").read_text(encoding="utf-8")
    data = os.environ.get("MAREY_DATA")
    # Modules are imported when they draw: some need a browser's driver.
    kinds: dict[str, Callable[[Path], None] | None] = {
        "draw": lambda folder: importlib.import_module(name).draw(folder),
        "draw_recorded": (lambda folder: importlib.import_module(name).draw_recorded(folder, Path(data)))
        if data
        else None,
        "draw_browser": (lambda folder: importlib.import_module(name).draw_browser(folder))
        if shutil.which("chromium") and importlib.util.find_spec("playwright")
        else None,
    }
    for kind, function in kinds.items():
        if f"\ndef {kind}(" in source:
            yield f"{name}.{kind}", function


def save_images(folder: Path) -> list[str]:
    """Move the WebP images of a folder to the others, and its PNG files converted to WebP; return their names."""
    for path in sorted(folder.glob("*.webp")):
        shutil.copy(path, IMAGES / path.name)
    for path in sorted(folder.glob("*.png")):
        with Image.open(path) as picture:
            shown = picture.convert("RGB")
            if shown.width > WIDTH:
                shown = shown.resize((WIDTH, round(shown.height * WIDTH / shown.width)), Image.Resampling.LANCZOS)
            shown.save(IMAGES / f"{path.stem}.webp", quality=QUALITY, method=6)
    return [path.stem for path in sorted(folder.glob("*.*"))]


def main(chosen: list[str]) -> None:
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    drawn = json.loads(DRAWN.read_text(encoding="utf-8")) if DRAWN.exists() else {}
    for name in chosen or MODULES:
        key = hashlib.sha256((HERE / f"{name}.py").read_bytes()).hexdigest()[:16]
        for kind, draw in list_drawings(name):
            if drawn.get(kind) == key and not chosen:
                continue
            if draw is None:
                print(f"{kind}: left as it is; it needs {'MAREY_DATA' if 'recorded' in kind else 'chromium'}")
                continue
            with tempfile.TemporaryDirectory() as folder:
                draw(Path(folder))
                print(f"{kind}: {', '.join(save_images(Path(folder)))}", flush=True)
            drawn[kind] = key
            DRAWN.write_text(json.dumps(dict(sorted(drawn.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
