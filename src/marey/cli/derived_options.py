"""Options of a command, derived from the settings of the operation that it runs."""

from __future__ import annotations

import ast
import importlib
import math
import os
import re
import shlex
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import click

from marey.cli.values import NameOrIndex
from marey.errors import InvalidValue, word_parameters

if TYPE_CHECKING:
    from marey.core.settings import Option

S = TypeVar("S")
Command = Callable[..., Any]

_METAVARS = {
    "m": "METERS", "s": "SECONDS", "rad": "DEGREES", "fraction": "FRACTION", "1/s": "HZ", "m/s": "M/S", "": "NUMBER",
}  # fmt: skip
# Options whose name differs from that of their parameter.
_OTHER_NAMES = {
    "frame=": "--at", "n_directions=": "--directions", "rng=": "--seed", "target_pose=": "--onto-pose",
    "trim_rest=False": "--keep-rest-pose",
}  # fmt: skip
# Options of the running command, by parameter.
_running_names: dict[str, str] = {}


class _NumberOrNone(click.ParamType):  # type: ignore[type-arg]
    """A number, or the word none, which sets an option with a default to None."""

    name = "number or none"

    def __init__(self, kind: click.ParamType) -> None:  # type: ignore[type-arg]
        self.kind = kind

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert a number; leave none as it is."""
        try:
            return value if value == "none" else self.kind.convert(value, param, ctx)
        except click.BadParameter as error:
            what = "an integer" if self.kind is click.INT else "a number"
            raise click.BadParameter(f"expected {what} or none, got {value!r}", ctx, param) from error


# The only option of type "object" that all commands share; without a file, it is True.
_RETARGET = "--retarget"
_RETARGET_HELP = (
    "Retarget motions with another skeleton to the most frequent one (in a splice or transplant, to that of the first "
    "motion), or to that of FILE. Planted feet stay planted."
)


class _Placeholder(click.Option):
    """Placeholder for the options of a settings class, which is imported when the command runs or shows its help."""

    def __init__(self, kind: str, skip: tuple[str, ...], prefix: str) -> None:
        super().__init__([f"--{kind}"], hidden=True, expose_value=False)
        self.kind, self.skip, self.prefix = kind, skip, prefix

    def load(self) -> list[click.Parameter]:
        from marey.core.settings import options_of

        module, _, name = self.kind.partition(":")
        options = options_of(getattr(importlib.import_module(module), name))
        wanted = (each for each in options if each.kind != "object" or each.name == "retarget")
        return [_make_option(each, self.prefix) for each in wanted if each.name not in self.skip]


class _RetargetOption(click.Option):
    """--retarget or --retarget=FILE. The file must follow "=", so that the option never consumes the next argument."""

    def __init__(self) -> None:
        super().__init__([_RETARGET], metavar="[=FILE]", help=_RETARGET_HELP)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        return record and (record[0].replace(" [=", "[="), record[1])


class SettingsCommand(click.Command):
    """A command with options that `add_settings` derives.

    sources : for each class of settings, its module and name, and the prefix of its options.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sources = [(each.kind, each.prefix) for each in self.params if isinstance(each, _Placeholder)]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        if any(isinstance(each, _Placeholder) for each in self.params):
            self.params = self._load_params()
        return super().get_params(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an option that takes one value must not be given twice."""
        files = [after for each, after in pairwise(args) if each == _RETARGET]
        args = [f"{each}=" if each == _RETARGET else each for each in args]
        if not ctx.resilient_parsing:
            _, extra, given = self.make_parser(ctx).parse_args(list(args))
            for k, each in enumerate(given):
                if isinstance(each, click.Option) and not (each.multiple or each.is_flag) and each in given[:k]:
                    raise click.UsageError(f"{each.opts[-1]} was given twice; give it once", ctx)
            takes_more = extra or any(param.nargs == -1 for param in self.params)
            if files and takes_more and os.path.isfile(files[0]):
                raise click.UsageError(
                    f"{_RETARGET} {files[0]} is ambiguous; write {_RETARGET}={files[0]} for the skeleton of this file, "
                    f"or put {_RETARGET} last if the file is an input",
                    ctx,
                )
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; during the run, `name_option` uses its options."""
        options = (each for each in self.params if isinstance(each, click.Option) and not each.hidden)
        _running_names.clear()
        _running_names.update({str(each.name): each.opts[-1] for each in options})
        return super().invoke(ctx)

    def _load_params(self) -> list[click.Parameter]:
        """Replace placeholders by their options.

        If several options have the same name, the one that the command declares itself is used, else the first.
        """
        own = [each for each in self.params if not (isinstance(each, click.Option) and each.hidden)]
        taken = {name for each in own for name in (each.name, *each.opts)}
        params: list[click.Parameter] = []
        for each in self.params:
            group = [each]
            if isinstance(each, _Placeholder):
                group = [option for option in each.load() if taken.isdisjoint((option.name, *option.opts))]
                taken |= {name for option in group for name in (option.name, *option.opts)}
            params += group
        return params


def add_settings(kind: str, *, skip: tuple[str, ...] = (), prefix: str = "") -> Callable[[Command], Command]:
    """Add the options of a class of settings to a `SettingsCommand`. `read_settings` turns them into the settings.

    Angles are given in degrees. Options that are objects, such as contacts, are not added; a command that can read them
    has options of its own.

    Parameters
    ----------
    kind : module and class, such as ``"marey.clean.settings:CleanSettings"``.
    skip : names of options that the command declares itself.
    prefix : start of the names of the options, such as ``"compare_"`` for --compare-end.
    """

    def decorate(command: Any) -> Any:
        # Decorators run from the bottom up, and click reverses the order in the end.
        command.__click_params__ = [*getattr(command, "__click_params__", []), _Placeholder(kind, skip, prefix)]
        return command

    return decorate


def read_settings(kind: Callable[..., S], options: dict[str, Any], *, prefix: str = "", **more: Any) -> S:
    """Take the options that `add_settings` added out of `options`, with the same prefix, and return the settings.

    more : values of options that the command declares itself; None for those that were not given.
    """
    from marey.core.settings import options_of

    given = {}
    for each in options_of(kind):
        value = more[each.name] if each.name in more else options.pop(prefix + each.name, None)
        if value is not None:
            is_none = isinstance(value, str) and value == "none" and each.is_optional and each.kind != "text"
            given[each.name] = None if is_none else _convert(each, value)
    return kind(**given)


def name_option(parameter: str, value: str = "") -> str:
    """Return the option for a parameter that a message of the library names: "--crop none" for `crop=None`."""
    if value.startswith("{("):  # a map of pairs of labels
        pairs = ast.literal_eval(value).items()
        return " ".join(f"--pair {shlex.quote(f'{before}:{after}={limit:g}')}" for (before, after), limit in pairs)
    if f"{parameter}={value}" in _OTHER_NAMES:
        return _OTHER_NAMES[f"{parameter}={value}"]
    name = _running_names.get(parameter, f"--{parameter.replace('_', '-')}")
    return name if value in ("", "True") else f"--no-{name[2:]}" if value == "False" else f"{name} {value.lower()}"


def word_options(text: str, *, is_only: bool = True) -> str:
    """Replace references to parameters in a text of the library, such as a warning, by options.

    is_only : whether the command reads only the file that the text is about. Otherwise --file-fps would change the
        rates of the others too, so the file has to be converted first.
    """
    pattern = r"`marey\.load\(path, file_fps=([^`]*)\)`" if is_only else r"`file_fps=(\d[^`]*)`"
    return word_parameters(re.sub(pattern, r"`marey convert IN OUT --file-fps \1`", text), name_option)


def _make_option(each: Option, prefix: str = "") -> click.Option:
    if each.name == "retarget":
        return _RetargetOption()
    parameter = prefix + each.name
    name = name_option(parameter)
    text = each.help + _describe_default(each, name)
    if each.kind == "flag":
        names = f"{name}/--no-{name[2:]}" if each.default else name
        return click.Option([names, parameter], default=None, help=text, is_flag=True)
    if each.kind == "choice":
        choices = [*each.choices, "none"] if each.is_optional and each.default is not None else each.choices
        return click.Option([name, parameter], type=click.Choice(choices, case_sensitive=False), help=text)
    kinds: dict[str, tuple[Any, str]] = {
        "integer": (click.INT, "N"), "number": (click.FLOAT, _METAVARS[each.unit]), "text": (click.STRING, "TEXT"),
        "name": (NameOrIndex(), "NAME|N"),
    }  # fmt: skip
    kind, metavar = kinds[each.kind]
    if each.is_optional and each.default is not None and each.kind != "text":
        kind, metavar = _NumberOrNone(kind), f"{metavar}|none"
    return click.Option([name, parameter], type=kind, metavar=metavar, help=text)


def _describe_default(each: Option, name: str) -> str:
    facts = [each.describe_range(lambda limit: _show(each, limit))]
    if each.default not in (None, "") and each.kind != "flag":
        facts.append(f"default: {each.default if isinstance(each.default, str) else _show(each, each.default)}")
    elif each.default is True:
        facts.append(f"default: {name[2:]}")
    said = "; ".join(fact for fact in facts if fact)
    return f"  [{said}]" if said else ""


def _show(each: Option, value: float) -> str:
    if each.kind == "integer":
        return str(value)
    return f"{math.degrees(value):.4g}" if each.unit == "rad" else f"{value:g}"


def _convert(each: Option, value: Any) -> Any:
    """Convert degrees to radians, and report an angle that is out of range in degrees."""
    if each.name == "retarget":
        return value or True
    if each.unit != "rad":
        return value
    try:
        return each.check(math.radians(value))
    except InvalidValue:
        limits = each.describe_range(lambda limit: _show(each, limit)) or "a finite number of"
        raise click.UsageError(f"{name_option(each.name)} must be {limits} degrees, not {value:g}") from None
