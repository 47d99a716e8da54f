"""Every option of the library can be set on the command line and, where its operation has a panel, in the studio."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import click
import pytest

import marey
import marey.studio.panels
from marey.cli.main import cli
from marey.core.settings import Settings, options_of
from marey.studio.forms import find_settings
from marey.studio.messages import Message
from marey.studio.object_options import has_control
from marey.studio.operations import OPERATIONS, Inputs

# Options that only Python can pass, and why.
PYTHON_ONLY = {
    "progress": "a function; commands draw a progress bar",
    "run": "a function; commands have --jobs and --cluster",
    "contacts": "an object; commands read the sidecar",
    "compared": "an intermediate result",
    "times": "an intermediate result",
    "postures": "an intermediate result",
    "place": "a floor transform; files and the page place results themselves",
    "name": "the name of the file",
    "words": "the command's WORD arguments",
    "start_cell": "a cell of a grid; commands and the page offer the corner and the first third",
    "start": "part of the command's FILE argument",
    "stop": "part of the command's FILE argument",
    "units": "features have units; recipes take those of their samples",
}
# Classes without a command of their own, and why.
NO_COMMAND = {
    "EvaluationSettings": "`marey bench live` runs it with the defaults",
    "SuggestSettings": "`marey find search` suggests a threshold if none is given",
    "SampledStreamSettings": "of a run-time player",
    "SplicerSettings": "of a run-time player",
    "TreeSettings": "`marey parametric build` registers with its own options",
    "VariationSettings": "`marey graph build --variations` cleans the feet",
}
# Classes that the studio does not offer, and why.
NO_PANEL = {
    "NaiveSpliceSettings": "a baseline, for comparison",
    "SplicerSettings": "of a run-time player",
    "SampledStreamSettings": "of a run-time player",
    "IndexSettings": "the page searches match webs",
    "TreeSettings": "a step of building spaces; the Find panel has the same options",
}


# Options that are objects without a text form, and how the page sets them.
NO_CONTROL = {
    "cleaning": "the settings of another form",
    "styles": "drawn with the path, a style for each segment",
    "threshold": "the Graph panel has a curve and a slider",
    "thresholds": "the Graph panel has a table of pairs of labels",
    "feature": "the Find panel has a list of controls to choose from",
    "triads": "for recorded markers; examples are added from clips with a skeleton",
    "labels": "the sidecars of the open folder",
    "cache": "a folder of the session",
    "request": "a choice of the page: by name or at a point",
}


def subclasses(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def list_commands(command: click.Command, context: click.Context) -> Iterator[click.Command]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from list_commands(found, click.Context(found, info_name=name, parent=context))
    else:
        yield command


def operations() -> list[type[Settings]]:
    """The classes of settings that no other class extends: those of operations."""
    for module in pkgutil.walk_packages(marey.__path__, "marey."):
        if module.name.endswith(".settings"):
            importlib.import_module(module.name)
    found = {each for each in subclasses(Settings) if each.__module__.startswith("marey.")} - set(subclasses(Inputs))
    return sorted((each for each in found - {Inputs} if not each.__subclasses__()), key=lambda each: each.__qualname__)


@pytest.fixture(scope="module")
def commands() -> dict[str, list[tuple[str, set[str]]]]:
    """For each class, the prefix and the names of all options of the commands that derive options from it."""
    used: dict[str, list[tuple[str, set[str]]]] = {}
    for command in list_commands(cli, click.Context(cli)):
        names = {str(each.name) for each in command.get_params(click.Context(command))}
        for kind, prefix in getattr(command, "sources", ()):
            used.setdefault(kind, []).append((prefix, names))
    return used


@pytest.fixture(scope="module")
def panels() -> set[type[Settings]]:
    for module in pkgutil.iter_modules(marey.studio.panels.__path__, "marey.studio.panels."):
        importlib.import_module(module.name)
    kinds: set[Any] = {kind for message in set(subclasses(Message)) for kind in find_settings(message)}
    return kinds | {kind for row in OPERATIONS.values() for kind in row.settings}


@pytest.mark.parametrize("kind", operations(), ids=lambda kind: kind.__name__)
def test_every_option_has_an_option_of_a_command(
    kind: type[Settings], commands: dict[str, list[tuple[str, set[str]]]]
) -> None:
    own = commands.get(f"{kind.__module__}:{kind.__name__}", [])
    assert bool(own) != (kind.__name__ in NO_COMMAND), "a class has a command or a reason, not both"
    for option in options_of(kind) if own else ():
        reachable = any({option.name, prefix + option.name} & names for prefix, names in own)
        assert reachable or option.name in PYTHON_ONLY, option.name


@pytest.mark.parametrize("kind", operations(), ids=lambda kind: kind.__name__)
def test_every_operation_has_controls_in_the_studio(kind: type[Settings], panels: set[type[Settings]]) -> None:
    shown = kind in panels or any(base in panels for base in kind.__mro__[1:])
    assert shown != (kind.__name__ in NO_PANEL), "a class has controls or a reason, not both"
    if shown:
        hidden = {each.name for each in options_of(kind) if not has_control(each)}
        assert hidden <= PYTHON_ONLY.keys() | NO_CONTROL.keys()


def test_every_reason_is_needed() -> None:
    names = {each.name for kind in operations() for each in options_of(kind) if not has_control(each)}
    assert set(NO_CONTROL) <= names
