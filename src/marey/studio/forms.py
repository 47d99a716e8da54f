"""Controls of the page, derived from the settings of operations.

`marey.studio.typescript` writes them to `web/src/messages.ts`, where `web/src/widgets/form.ts` draws them.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from marey.core.settings import Option, Settings, options_of
from marey.errors import DifferentSkeletons, MareyError, word_parameters
from marey.studio.jobs import WorkFailed
from marey.studio.messages import Message
from marey.studio.object_options import find_form, has_control, write_text

# Unit on the page, and factor from the library's unit to it.
_SHOWN = {"rad": ("°", 180.0 / math.pi), "fraction": ("%", 100.0), "1/s": ("Hz", 1.0)}

# Remedies for different skeletons, with and without an option of the form that retargets. With one, the page shows a
# button next to the error that turns it on.
_RETARGET = "retarget them"
_RETARGET_FIRST = "retarget one first: Edit panel, Pose, Retarget"


def describe_controls(kind: type[Settings]) -> list[dict[str, Any]]:
    """Return the controls, JSON-ready, of all options that have one in a form; numbers are in the page's units."""
    return [_describe(each) for each in options_of(kind) if has_control(each)]


def _describe(each: Option) -> dict[str, Any]:
    unit, factor = _SHOWN.get(each.unit, (each.unit, 1.0))
    limits = [next((limit for limit in pair if limit is not None), None) for pair in each.limits]
    default = each.default
    if each.kind == "number":
        limits = [None if limit is None else round(factor * limit, 6) for limit in limits]
        default = None if default is None else round(factor * default, 6)
    form = find_form(each)
    shown_kind = {"name": "text", "object": form if form in ("flag", "file") else "text"}.get(each.kind, each.kind)
    if each.kind == "object":
        default = write_text(each)
    return {
        "name": each.name, "label": each.label, "help": each.help, "kind": shown_kind,
        "unit": unit, "factor": factor,
        "min": limits[0], "max": limits[1], "default": default, "choices": list(each.choices),
        "optional": each.is_optional, "advanced": each.is_advanced or each.kind == "object",
    }  # fmt: skip


def find_settings(message: type[Message]) -> list[type[Settings]]:
    """Return the classes of settings in the fields of a message."""
    from typing import get_type_hints

    hints = get_type_hints(message).values()
    return [hint for hint in hints if isinstance(hint, type) and issubclass(hint, Settings)]


def word_failure(error: MareyError, kinds: Iterable[type[Settings]], remedies: Mapping[str, str]) -> WorkFailed:
    """Return an operation's error in the words of the page: labels of controls, and the page's remedy if it has one."""
    kind = getattr(error, "kind", type(error).__name__)
    kinds = tuple(kinds)
    text = error.word(_name_control_of(kinds), _find_remedy(error, kinds, remedies))
    return WorkFailed(kind, text, error.parameter, is_worded=True)


def _find_remedy(error: MareyError, kinds: Iterable[type[Settings]], remedies: Mapping[str, str]) -> str | None:
    """Return the page's remedy, if there is one. That for different skeletons names a control of the form."""
    keys = (error.parameter or "", getattr(error, "kind", type(error).__name__))
    can_retarget = any(each.name == "retarget" for kind in kinds for each in options_of(kind))
    remedies = {"DifferentSkeletons": _RETARGET if can_retarget else _RETARGET_FIRST, **remedies}
    return next((remedies[key] for key in keys if key in remedies), None)


def word_for(text: str, kinds: Iterable[type[Settings]]) -> str:
    """Return a note of an operation, worded for the page. `kinds` are the classes of its settings."""
    return word_parameters(text, _name_control_of(kinds))


def word_error(error: MareyError, message: type[Message]) -> str:
    """Return the text of an error for the page, with the labels of controls for parameters, and the page's remedy."""
    if isinstance(error, WorkFailed) and error.is_worded:
        return error.message
    return error.word(_name_control(message), _find_remedy(error, find_settings(message), message.remedies))


def word_text(text: str, message: type[Message]) -> str:
    """Return a warning or note for the page, with parameters replaced by the labels of their controls."""
    return word_parameters(text, _name_control(message))


def word_notes(notes: Iterable[str], message: type[Message]) -> tuple[str, ...]:
    """Return notes for the page; see `word_text`."""
    return tuple(word_text(note, message) for note in notes)


def group_skipped(failed: Iterable[tuple[str, MareyError]], message: type[Message]) -> list[dict[str, Any]]:
    """Return the fields of `SkippedClips` from the name and the error of each skipped clip.

    Clips of other skeletons are one group, however their skeletons differ.
    """
    groups: dict[str, dict[str, Any]] = {}
    for name, error in failed:
        is_other = isinstance(error, DifferentSkeletons)
        reason = word_text(error.sentence, message)
        group = groups.setdefault(
            "" if is_other else reason, {"reason": reason, "names": [], "has_other_skeleton": is_other}
        )
        group["names"].append(name)
        if is_other and len(group["names"]) > 1:
            group["reason"] = "another skeleton"
    return list(groups.values())


def _name_control(message: type[Message]) -> Callable[[str, str], str]:
    return _name_control_of(find_settings(message), dict(message.control_labels))


def _name_control_of(
    kinds: Iterable[type[Settings]], own: Mapping[str, str] = MappingProxyType({})
) -> Callable[[str, str], str]:
    labels = {each.name: each.label for kind in kinds for each in options_of(kind)} | dict(own)

    def name_control(name: str, value: str) -> str:
        label = f"“{labels.get(name, name.replace('_', ' '))}”"
        if value.startswith("{("):  # a map of pairs of labels
            pairs = ast.literal_eval(value).items()
            return f"{label}: {', '.join(f'{before} to {after}, {limit:g} m' for (before, after), limit in pairs)}"
        if value[:1].isdigit():
            return f"{label} {value}"
        return f"{label} (off)" if value in ("None", "False") and name not in own else label

    return name_control
