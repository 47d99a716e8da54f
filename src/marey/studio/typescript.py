"""Generate the page's types, `web/src/messages.ts`, from the message dataclasses.

``python -m marey.studio.typescript web/src/messages.ts`` writes it; a test checks that it is up to date.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import textwrap
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from marey.core.settings import Settings
from marey.studio.forms import describe_controls
from marey.studio.frames import LIVE, MOTION, VERSION
from marey.studio.messages import OTHERS, Event
from marey.studio.operations import OPERATIONS
from marey.studio.registry import PANELS, Command, find_commands, find_events

_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", object: "unknown"}
_HEAD = """\
// Written by `python -m marey.studio.typescript` from the dataclasses of marey.studio; do not edit by hand.

export const FRAMES_VERSION = {version};
export const FRAMES_MOTION = {motion};
export const FRAMES_LIVE = {live};
export const FRAMES_HEADER_BYTES = 16;
"""

_SETTINGS = """
type Setting<C> = C extends { kind: "flag" } ? boolean : C extends { kind: "number" | "integer" } ? number
  : C extends { kind: "choice"; choices: readonly (infer T)[] } ? T
  : C extends { kind: "name" } ? string | number : string;
/** The settings that a list of controls sets. */
export type SettingsOf<F extends readonly { name: string }[]> = {
  [C in F[number] as C["name"]]: Setting<C> | (C extends { optional: true } ? null : never);
};
"""


def type_name(kind: Any) -> str:
    """Return the TypeScript name of a type; unsupported types raise `TypeError`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, type) and issubclass(kind, Settings):
        return f"Partial<{kind.__name__}>"
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return kind.__name__
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in arguments)
    if origin in (types.UnionType, Union):
        return " | ".join(type_name(each) for each in arguments)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        inner = type_name(arguments[0])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if origin is tuple:
        return f"[{', '.join(type_name(each) for each in arguments)}]"
    if origin is dict and arguments[0] is str:
        return f"Record<string, {type_name(arguments[1])}>"
    raise TypeError(f"messages cannot contain {kind!r}; use plain data, tuples, dict[str, ...] and dataclasses")


def interface(kind: Any, *, optional: bool, head: str = "") -> str:
    """Write a dataclass as an interface; with `optional`, fields with defaults are optional."""
    hints = get_type_hints(kind)
    lines = [*_format_comment(kind.__doc__ or ""), f"export interface {kind.__name__} {{"]
    if head:
        lines.append(f"  {head}")
    for field in dataclasses.fields(kind):
        may = "?" if optional and field.default is not dataclasses.MISSING else ""
        lines.append(f"  {field.name}{may}: {type_name(hints[field.name])};")
    return "\n".join([*lines, "}"])


def write_types(commands: dict[str, Command], events: tuple[type[Event], ...]) -> str:
    """Return the content of `messages.ts`."""
    parts = [_HEAD.format(version=VERSION, motion=MOTION, live=LIVE)]
    written: set[type] = set()
    for command in commands.values():
        for kind in [*_inside(command.message), *_inside(command.reply)]:
            if kind not in written and kind is not command.message and not issubclass(kind, Settings):
                parts.append(interface(kind, optional=False))
            written.add(kind)
        parts.append(interface(command.message, optional=True))
    for event in events:
        parts += [
            interface(kind, optional=False) for kind in _inside(event) if kind not in written and kind is not event
        ]
        written |= set(_inside(event))
        parts.append(interface(event, optional=False, head=f'event: "{event.event}";'))
    for other in OTHERS:
        parts += [interface(kind, optional=False) for kind in _inside(other) if kind not in written]
        written |= set(_inside(other))
    parts.append("/** Every command, with its fields and its reply. */\nexport interface Commands {")
    parts[-1] += "".join(
        f'\n  "{do}": {{ fields: {each.message.__name__}; reply: {each.reply.__name__} }};'
        for do, each in commands.items()
    )
    parts[-1] += "\n}"
    parts.append(f"export type StudioEvent = {' | '.join(event.__name__ for event in events)};")
    parts += [_write_panels(), _write_forms(written), _write_operations()]
    return "\n".join(part if part.endswith("\n") else part + "\n" for part in parts)


def _write_panels() -> str:
    named = ", ".join('"' + panel + '"' for panel in PANELS)
    return f"export const PANELS = [{named}] as const;"


def _write_operations() -> str:
    """Write the table of operations; their controls are in `FORMS`."""
    rows = []
    for row in OPERATIONS.values():
        names = ("name", "title", "about", "panel", "group", "takes", "gives", "button", "skip", "as_new")
        shown = {name: getattr(row, name) for name in names}
        forms = ", ".join(f"FORMS.{kind.__name__}" for kind in row.settings)
        rows.append(f'  {json.dumps(shown, ensure_ascii=False)[:-1]}, "forms": [{forms}]}},')
    head = (
        "/** The operations with generated forms; `widgets/operations.ts` shows them. */\nexport const OPERATIONS = ["
    )
    return "\n".join([head, *rows, "] as const;"])


def _write_forms(kinds: set[type]) -> str:
    """Write the controls of all classes of settings that messages contain, and those of operations."""
    found = sorted((kind for kind in kinds if issubclass(kind, Settings)), key=lambda kind: kind.__name__)
    others = dict.fromkeys(kind for row in OPERATIONS.values() for kind in row.settings if kind not in kinds)
    rows = [
        f"  {kind.__name__}: {json.dumps(describe_controls(kind), ensure_ascii=False)}," for kind in [*found, *others]
    ]
    types = [f"export type {kind.__name__} = SettingsOf<typeof FORMS.{kind.__name__}>;" for kind in found]
    head = "/** The controls of each operation's settings; `widgets/form.ts` draws them. */\nexport const FORMS = {"
    return "\n".join([head, *rows, "} as const;", _SETTINGS, *types])


def _inside(kind: type) -> list[type]:
    """Return a dataclass and all dataclasses in its fields, dependencies first."""
    found: list[type] = []

    def visit(each: Any) -> None:
        if isinstance(each, type) and issubclass(each, Settings):
            found.append(each)
        elif dataclasses.is_dataclass(each) and isinstance(each, type):
            for hint in (get_type_hints(each)[field.name] for field in dataclasses.fields(each)):
                visit(hint)
            if each not in found:
                found.append(each)
        for argument in get_args(each):
            visit(argument)

    visit(kind)
    return found


def _format_comment(text: str) -> list[str]:
    lines = textwrap.dedent(" " * 4 + text.strip()).strip().splitlines()
    lines = [line.strip().replace("*/", "* /") for line in lines]
    if len(lines) == 1:
        return [f"/** {lines[0]} */"]
    return ["/**", *(f" * {line}".rstrip() for line in lines), " */"]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(write_types(find_commands(), find_events()), encoding="utf-8")
