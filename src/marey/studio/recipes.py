"""How motions were made, written as Python code that recreates them.

Each step of an open motion has a `CodeRecipe`: an expression whose parts are text and other recipes. `write_code`
writes one line for each recipe that a motion depends on. `marey.studio.operation_recipes` and
`marey.studio.panel_recipes` describe what the page does.
"""

from __future__ import annotations

import dataclasses
import keyword
import pprint
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from marey.core.settings import Settings, options_of

_WIDTH = 110
_MAX_NAME = 40
# Names that the code uses itself.
_TAKEN = ("marey", "replace")


@dataclass(frozen=True, slots=True, eq=False)
class CodeRecipe:
    """How a value was made, as Python code.

    name : the name of its variable, before it is made unique.
    parts : the expression: text, and the recipes of the values in it.
    imports : lines that the expression needs, besides ``import marey``.
    file : a file that the reader of the code must have, if it is not in the open folder.
    """

    name: str
    parts: tuple[Part, ...]
    imports: tuple[str, ...] = ()
    file: str = ""

    @property
    def inputs(self) -> Iterator[CodeRecipe]:
        """The recipes in the expression."""
        return (part for part in self.parts if isinstance(part, CodeRecipe))


Part: TypeAlias = str | CodeRecipe


def call(
    name: str,
    function: str,
    *arguments: Part | tuple[Part, ...],
    options: Iterable[str] = (),
    end: str = "",
    imports: tuple[str, ...] = (),
) -> CodeRecipe:
    """Return the recipe of a function call. An argument is text, a recipe, or a tuple of both that is joined.

    options : further arguments, such as those of `write_options`. end : text after the call.
    """
    given = [each if isinstance(each, tuple) else (each,) for each in (*arguments, *options)]
    separated = [part for k, each in enumerate(given) for part in (((", ",) if k else ()) + each)]
    return CodeRecipe(name, (f"{function}(", *separated, f"){end}"), imports)


def change(name: str, motion: CodeRecipe, field: str, *value: Part, imports: tuple[str, ...] = ()) -> CodeRecipe:
    """Return the recipe of a copy of `motion` with another value of one field."""
    return CodeRecipe(
        name, ("replace(", motion, f", {field}=", *value, ")"), ("from dataclasses import replace", *imports)
    )


def list_of(recipes: Sequence[CodeRecipe]) -> tuple[Part, ...]:
    """Return the parts of a list of values."""
    return ("[", *(part for k, each in enumerate(recipes) for part in (((", ",) if k else ()) + (each,))), "]")


def make_file_recipe(name: str, what: str, file: str) -> CodeRecipe:
    """Return the recipe of a motion that code cannot make: the code loads it from `file`, to which it must be saved."""
    return CodeRecipe(name, (f"marey.load_motion({file!r})  # {what}: made by hand, saved from the studio",), file=file)


def write_value(value: Any) -> tuple[str, tuple[str, ...]]:
    """Return a value as an expression that gives it exactly, and the imports that it needs."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        fields = [(field.name, *write_value(getattr(value, field.name))) for field in dataclasses.fields(kind)]
        package = ".".join(kind.__module__.split(".")[:2])
        needed = tuple(line for _, _, lines in fields for line in lines)
        text = ", ".join(f"{name}={text}" for name, text, _ in fields)
        return f"{kind.__name__}({text})", (f"from {package} import {kind.__name__}", *needed)
    if isinstance(value, list | tuple) and any(dataclasses.is_dataclass(each) for each in value):
        written = [write_value(each) for each in value]
        return f"[{', '.join(text for text, _ in written)}]", tuple(line for _, lines in written for line in lines)
    if isinstance(value, Mapping):
        value = dict(value)
    return repr(value), ()


def write_options(*settings: Settings, skip: Iterable[str] = ()) -> tuple[list[str], tuple[str, ...]]:
    """Return the options that differ from their defaults as keyword arguments, and the imports that they need."""
    texts: list[str] = []
    imports: list[str] = []
    left_out = {*skip, "progress", "run", "cache"}
    for each in settings:
        for option in options_of(type(each)):
            value = getattr(each, option.name)
            if option.name in left_out or _is_same(value, option.default):
                continue
            left_out.add(option.name)
            text, needed = write_value(value)
            texts.append(f"{option.name}={text}")
            imports += needed
    return texts, tuple(imports)


def _is_same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if type(value) is not type(default) and not (isinstance(value, int | float) and isinstance(default, int | float)):
        return False
    return bool(np.array_equal(value, default)) if isinstance(value, np.ndarray) else bool(value == default)


@dataclass(frozen=True, slots=True)
class Code:
    """Code, the name of the variable with its result, and the files that must be saved first."""

    text: str
    variable: str
    files: tuple[str, ...]


def write_code(recipe: CodeRecipe, file: str, folder: str = "") -> Code:
    """Write the code that makes a value from files and saves it to `file`.

    folder : name of the open folder, in which the files are.
    """
    order = _sort(recipe)
    names = _name_variables(order)
    imports = sorted({line for each in order for line in each.imports})
    own = [line for line in imports if line.startswith("from marey")]
    plain = [line for line in imports if line not in own]
    files = tuple(dict.fromkeys(each.file for each in order if each.file))
    lines = [f"# Run this in the folder {folder!r}." if folder else "# Run this in any folder."]
    if files:
        lines.append(f"# It needs {', '.join(files)}: put or save them there first.")
    lines += ["", *plain, *([""] if plain else []), "import marey", *own, ""]
    for each in order:
        text = "".join(part if isinstance(part, str) else names[part] for part in each.parts)
        lines.append(f"{names[each]} = {text}")
    lines.append(f"marey.save({names[recipe]}, {file!r})")
    return Code("\n".join(lines) + "\n", names[recipe], files)


def write_rows(rows: Sequence[Sequence[float]]) -> str:
    """Return points as a list of lists, in lines of a readable length."""
    return pprint.pformat([list(map(float, row)) for row in rows], width=_WIDTH, compact=True)


def _sort(recipe: CodeRecipe) -> list[CodeRecipe]:
    """Return all recipes that a recipe depends on, each after its inputs, and the recipe itself last."""
    order: list[CodeRecipe] = []
    seen: set[int] = set()
    stack: list[tuple[CodeRecipe, bool]] = [(recipe, False)]
    while stack:  # histories may be long
        each, is_done = stack.pop()
        if is_done:
            order.append(each)
        elif id(each) not in seen:
            seen.add(id(each))
            stack.append((each, True))
            stack += [(one, False) for one in reversed(list(each.inputs))]
    return order


def _name_variables(order: Sequence[CodeRecipe]) -> dict[CodeRecipe, str]:
    names: dict[CodeRecipe, str] = {}
    taken = set(_TAKEN)
    for each in order:
        base = re.sub(r"\W+", "_", each.name, flags=re.ASCII).strip("_").lower()[:_MAX_NAME].strip("_") or "motion"
        base = f"motion_{base}" if base[0].isdigit() or keyword.iskeyword(base) else base
        name, k = base, 1
        while name in taken:
            k += 1
            name = f"{base}_{k}"
        taken.add(name)
        names[each] = name
    return names
