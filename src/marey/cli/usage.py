"""Format every error as one line: click's errors in the library's form, the library's errors with option names.

The message for a wrong value has the form ``--fps must be a number, not 'x'``, whether click or the library rejects it.
"""

from __future__ import annotations

import re

import click

from marey.cli.derived_options import name_option
from marey.errors import MareyError, similar

# Patterns of click's messages about values, and the text that replaces each after the name of the option.
_VALUES = (
    (r"(?P<got>.*) is not a valid float( range)?\.", "must be a number, not {got}"),
    (r"(?P<got>.*) is not a valid integer( range)?\.", "must be an integer, not {got}"),
    (r"(?P<got>.*) is not one of (?P<what>.*)\.", "must be one of {what}, not {got}"),
    (r"(?P<got>.*) is not (?P<what>'[^']*')\.", "must be {what}, not {got}"),
    (r"(?P<got>.*) is not in the range (?P<low>[^<]*)<=x<=(?P<high>.*)\.", "must be from {low} to {high}, not {got}"),
    (r"(?P<got>.*) is not in the range x>=(?P<low>.*)\.", "must be at least {low}, not {got}"),
    (r"(?P<got>.*) is not in the range x>(?P<low>.*)\.", "must be greater than {low}, not {got}"),
    (r"(?P<got>.*) is not in the range (?P<what>.*)\.", "must be in the range {what}, not {got}"),
    (r"expected (?P<what>.*), got (?P<got>.*)", "must be {what}, not {got}"),
)


def word_usage(error: click.ClickException) -> str:
    """Return a usage error of click as one sentence."""
    context = getattr(error, "ctx", None)
    see = "" if context is None else f"; see {context.command_path} --help"
    if isinstance(error, click.NoSuchOption):
        known = [] if context is None else _list_options(context)
        near = _list_similar(error.option_name, known)
        if error.option_name == "--keys" and "--command" in known:
            near = "; use --command"
        return f"unknown option {error.option_name!r}{near or see}"
    if isinstance(error, click.MissingParameter):
        kind = "option" if isinstance(error.param, click.Option) else "argument"
        name = "/".join(error.param.opts) if isinstance(error.param, click.Option) else _name_parameter(error)
        return f"missing {kind} {name}{see}"
    if isinstance(error, click.BadParameter):
        return f"{_name_parameter(error)} {_word_value(error.message)}"
    text = error.format_message().rstrip(".")
    unknown = re.match("No such command ('[^']*')", text)
    if unknown is not None and context is not None:
        near = similar(unknown[1], context.command.list_commands(context))
        return f"unknown command {unknown[1]}{near or see}"
    is_own = re.match(r"[A-Z][a-z]", text) is None  # click's messages begin with a capital letter
    return text if is_own else text[0].lower() + text[1:] + see


def word_error(error: MareyError, command: click.Command | None) -> str:
    """Return a library error with option names in place of parameter names.

    command : the command that ran. A message that begins with one of its options, such as ``weights must be ...``, is
        about that option even if the error does not say so.
    """
    begin = re.match(r"(\w+) (in \w+ )?(must|needs|cannot|does not)\b", error.message)
    if error.parameter is None and begin is not None and command is not None:
        with click.Context(command) as context:
            if f"--{begin[1].replace('_', '-')}" in _list_options(context):
                error.parameter = begin[1]
    return error.word(name_option)


def find_command(root: click.Command, arguments: list[str]) -> click.Command:
    """Return the command that a command line runs, which may be in nested groups."""
    command = root
    for each in arguments:
        if isinstance(command, click.Group) and each in command.list_commands(click.Context(command)):
            command = command.get_command(click.Context(command), each) or command
    return command


def _list_options(context: click.Context) -> list[str]:
    """List the long names of all visible options of a command."""
    options = [each for each in context.command.get_params(context) if isinstance(each, click.Option)]
    return [name for each in options if not each.hidden for name in each.opts if name.startswith("--")]


def _list_similar(name: str, known: list[str]) -> str:
    """Return a hint for a message: the options that begin like `name`, else options with a similar spelling."""
    import difflib  # only when something goes wrong

    close = difflib.get_close_matches(name.lstrip("-"), [each[2:] for each in known], cutoff=0.7)
    near = sorted(each for each in known if each.startswith(name)) or [f"--{each}" for each in close]
    return f"; similar: {', '.join(map(repr, near))}" if near else ""


def _name_parameter(error: click.BadParameter) -> str:
    """Return the longest name of an option, or the name of an argument in capitals."""
    if isinstance(error.param, click.Option):
        return max(error.param.opts, key=len)
    if error.param is not None:
        return error.param.human_readable_name
    return error.param_hint if isinstance(error.param_hint, str) else "a value"


def _word_value(message: str) -> str:
    for pattern, words in _VALUES:
        found = re.fullmatch(pattern, message)
        if found is not None:
            return words.format(**found.groupdict())
    return f"is not valid: {message.rstrip('.')}"
