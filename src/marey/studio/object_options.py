"""Options that are lists, maps, arrays or files, as text in a field of the page.

Lists are written ``left_hand, head``, numbers ``0.5 1.2``, rows of numbers ``0 1; 2 3``, maps ``head=2, hips=0.5``,
positions in some frames ``right_hand=30:40@-0.2,1.2,0.4``, and files by their names in the open folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from marey.clean import PlantAt, Target
from marey.core.settings import Option, Settings, options_of
from marey.errors import InvalidValue

_NUMBERS = {"Sequence[float]", "tuple[float, float]", "ArrayLike", "Span"}
_PLACE = "NAME=FRAME:FRAME@X,Y,Z, several with ;, such as right_hand=30:40@-0.2,1.2,0.4"
_EXAMPLES = {
    "words": "words with commas, such as head, hips", "numbers": "numbers, such as 0.5 1.2; rows end with ;",
    "weights": "names with numbers, such as head=2, hips=0.5", "names": "pairs of names, such as Hip=hips",
    "file": "a file in the open folder, such as limits.json",
    "planes": "rows of three numbers, such as 0.2 0 0; 0.4 0 0", "places": _PLACE,
}  # fmt: skip
# Classes of positions that are held from one frame to another, keyed by the type of their option.
_PLACED = {"Sequence[Target]": Target, "Sequence[PlantAt]": PlantAt}


def find_form(each: Option) -> str:
    """Return the form of an option as text: "flag", "words", "numbers", "weights", "names", "planes",
    "places" or "file".

    Return "" for plain values, and for objects that cannot be written as text.
    """
    types = set(each.type_names)
    if types in ({"OneSkeleton"}, {"bool", "int"}):
        return "flag"
    if types & {"Sequence[str]", "Iterable[str]"}:
        return "words"
    if types & {"Mapping[str, float]"}:
        return "weights"
    if types & {"Mapping[str, str]"}:
        return "names"
    if types & {"Sequence[Plane]"}:
        return "planes"
    if types & _PLACED.keys():
        return "places"
    if "JointLimits" in types or types == {"str", "os.PathLike[str]"}:
        return "file"
    return "numbers" if types & _NUMBERS else ""


def has_control(each: Option) -> bool:
    """Return whether the page has a control for an option."""
    return each.kind != "object" or bool(find_form(each))


def write_text(each: Option) -> Any:
    """Return the default of an option as its control shows it."""
    default = each.default
    if find_form(each) == "flag":
        return bool(default)
    if default is None or isinstance(default, str):
        return default
    return ", ".join(map(str, default))


def read_text(each: Option, value: Any) -> Any:
    """Return the value of an option that is given as text; other values are checked by the option itself."""
    form = find_form(each)
    if form == "flag" and not isinstance(value, bool):
        raise InvalidValue(f"{each.name} must be true or false, not {value!r}", parameter=each.name)
    if not isinstance(value, str):
        return value
    if not value.strip():
        return each.default
    if form == "file":
        return value.strip()
    try:
        if form == "places":
            kind = next(_PLACED[name] for name in each.type_names if name in _PLACED)
            return [_parse_place(kind, text) for text in value.split(";") if text.strip()]
        return _parse(form, value, takes_word="str" in each.type_names)
    except ValueError:
        raise InvalidValue(f"{each.name} must be {_EXAMPLES[form]}, not {value[:60]!r}", parameter=each.name) from None


def locate_files(
    kinds: Iterable[type[Settings]], values: dict[str, Any], find: Callable[[str], Path]
) -> dict[str, Any]:
    """Return values of options, with absolute paths for files; `find` locates a file in the open folder."""
    files = {each.name for kind in kinds for each in options_of(kind) if find_form(each) == "file"}
    return {name: str(find(value)) if name in files and value else value for name, value in values.items()}


def _parse(form: str, text: str, *, takes_word: bool) -> Any:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if form == "words":
        return words[0] if takes_word and len(words) == 1 else words
    if form == "numbers":
        try:
            rows = [
                [float(number) for number in row.replace(",", " ").split()] for row in text.split(";") if row.strip()
            ]
            return rows if ";" in text else rows[0]
        except ValueError:
            if takes_word and len(words) == 1:
                return words[0]
            raise
    if form == "planes":
        return [
            tuple(float(number) for number in row.replace(",", " ").split()) for row in text.split(";") if row.strip()
        ]
    pairs = [word.split("=") for word in words]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError
    return {name.strip(): float(given) if form == "weights" else given.strip() for name, given in pairs}


def _parse_place(kind: type[PlantAt | Target], text: str) -> PlantAt | Target:
    """Return a position from text such as ``right_hand=30:40@-0.2,1.2,0.4``."""
    name, _, rest = text.partition("=")
    frames, _, place = rest.partition("@")
    start, stop = (int(frame) for frame in frames.split(":"))
    return kind(name.strip(), start, stop, np.array([float(number) for number in place.split(",")]))
