"""Pages of the command line reference: the help of each command and its subcommands, as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from pathlib import Path

import click
from gallery_pages import write_page

from marey.cli.main import SECTIONS, cli


class HelpPage(click.HelpFormatter):
    """Writes the help of a command as Markdown; browsers wrap its lines."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        self._write_block(f"{prog} {args}")

    def write_heading(self, heading: str) -> None:
        self.write(f"**{heading}**\n\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs; those marked with \\b keep their lines, below a title if they have one."""
        for paragraph in text.split("\n\n"):
            if not paragraph.startswith("\b"):
                self.write(f"{format_text(paragraph)}\n\n")
                continue
            lines = paragraph.removeprefix("\b\n").splitlines()
            if lines[0].endswith(":"):
                self.write_heading(lines.pop(0).removesuffix(":"))
            self._write_block(inspect.cleandoc("\n".join(lines)))

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write a list of terms, without --help, which all commands have."""
        rows = [row for row in rows if not row[0].startswith("-h,")]
        if not rows:
            self.buffer.pop()  # its heading
        for term, text in rows:
            self.write(f"`{term.strip()}`\n: {format_text(text)}\n\n")

    def _write_block(self, text: str) -> None:
        self.write(f"```text\n{text.strip()}\n```\n\n")


def format_text(text: str) -> str:
    """Return text as one line of Markdown, with options as code."""
    parts = re.split(r"(`[^`]*`|(?<!\w)--?[a-z][\w-]*)", " ".join(text.split()))
    for k, part in enumerate(parts):
        if k % 2:
            parts[k] = part if part.startswith("`") else f"`{part}`"
        else:
            parts[k] = re.sub(r"([\\*_<>\[\]{}#~])", r"\\\1", part)
    return "".join(parts)


def describe(command: click.Command, context: click.Context, level: int = 1) -> str:
    """Return the Markdown of a command and of its subcommands."""
    page = HelpPage()
    page.write(f"{'#' * level} {context.command_path}\n\n")
    command.format_help(context, page)
    text = page.getvalue()
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                text += describe(inner, click.Context(inner, info_name=name, parent=context), level + 1)
    return text


def write_commands(folder: Path) -> None:
    """Write one page for each command, and an overview by purpose."""
    folder.mkdir(parents=True, exist_ok=True)
    top = click.Context(cli, info_name="marey", help_option_names=cli.context_settings["help_option_names"])
    index = ["# Command line reference", ""]
    for title, commands in SECTIONS.items():
        index += ["```{toctree}", f":caption: {title}", ":maxdepth: 1", "", *commands, "```", ""]
        for name in commands:
            command = cli.get_command(top, name)
            assert command is not None
            context = click.Context(command, info_name=name, parent=top)
            write_page(folder / f"{name}.md", describe(command, context).splitlines())
    write_page(folder / "index.md", index)
