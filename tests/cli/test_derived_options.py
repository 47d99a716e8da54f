"""Options of commands that are derived from settings."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from marey.clean import CleanSettings
from marey.cli.clean import command
from marey.cli.derived_options import name_option, read_settings, word_options
from marey.cli.main import main
from marey.cli.usage import find_command, word_usage
from marey.core.settings import options_of
from marey.errors import InvalidValue
from marey.io import save
from marey.samples import sample


def test_every_option_of_the_cleanup_is_an_option_of_the_command() -> None:
    import click

    names = {each.name for each in command.get_params(click.Context(command))}
    # Contacts are read from the sidecar.
    assert {each.name for each in options_of(CleanSettings)} - names == {"contacts"}


def test_a_new_option_is_one_declaration() -> None:
    """The example in CONTRIBUTING: a field appears in help(), in --help and among the studio's controls."""
    import click

    from marey.cli.derived_options import SettingsCommand, add_settings
    from marey.core.settings import Settings, operation, option
    from marey.studio.forms import describe_controls

    class Lift(Settings):
        max_lift: float = option(
            default=0.1, help="Maximum height that a foot is lifted.", label="Max foot lift", unit="m", min=0, max=1
        )

    @operation(Lift)
    def lift(text: str, settings: Lift) -> float:
        """Lift feet."""
        return settings.max_lift

    @click.command(cls=SettingsCommand)
    @add_settings(f"{__name__}:Lift")
    def run(**options: float) -> None:
        click.echo(str(read_settings(Lift, options)))

    globals()["Lift"] = Lift
    assert "max_lift : Maximum height that a foot is lifted. (meters, from 0 to 1)" in (lift.__doc__ or "")
    text = run.get_help(click.Context(run))
    assert "--max-lift METERS" in text
    assert "[from 0 to 1; default: 0.1]" in " ".join(text.split())
    (control,) = describe_controls(Lift)
    assert (control["label"], control["unit"], control["min"], control["max"]) == ("Max foot lift", "m", 0, 1)


def test_only_given_options_replace_defaults_and_angles_are_degrees() -> None:
    settings = read_settings(CleanSettings, {"damping_from": 90.0, "hands": None, "other": 1}, plants=None)
    assert settings == CleanSettings(damping_from=math.radians(90.0))


def test_seeds_and_options_that_none_switches_off() -> None:
    import click

    from marey.cli.derived_options import SettingsCommand, add_settings
    from marey.core.settings import Seed, Settings, option

    class Search(Settings):
        rng: Seed = option(default=0, help="Seed or generator.", min=0)
        window: float | None = option(default=1.5, help="How far to look ahead.", unit="s")

    @click.command(cls=SettingsCommand)
    @add_settings(f"{__name__}:Search")
    def run(**options: float) -> None:
        click.echo(read_settings(Search, options))

    from click.testing import CliRunner

    globals()["Search"] = Search
    refused = CliRunner().invoke(run, ["--window", "two"], standalone_mode=False).exception
    assert isinstance(refused, click.BadParameter)
    assert word_usage(refused) == "--window must be a number or none, not 'two'"
    for arguments, expected in (
        (["--seed", "3"], Search(rng=3)),
        (["--window", "none"], Search(window=None)),
        (["--window", "2"], Search(window=2.0)),
    ):
        assert CliRunner().invoke(run, arguments).output.strip() == str(expected)


@pytest.mark.filterwarnings("always::marey.errors.MareyWarning")
def test_a_distance_in_centimeters_causes_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walk = tmp_path / "walk.npz"
    save(sample("walk", fps=20.0, seconds=4.0).motion, walk)
    build = ["graph", "build", str(walk), "-o", str(tmp_path / "g.npz"), "--overwrite"]
    for arguments, warning in (
        (["--threshold", "6"], "warning: --threshold is in meters, and poses rarely differ by more than 1 m; for 6 cm"),
        (["--pair", "walk:walk=60"], "warning: --pair is in meters"),
        (["--threshold", "0.3"], ""),
        (["--threshold", "30%"], ""),
    ):
        assert main([*build, *arguments]) in (0, 1)
        message = capsys.readouterr().err
        assert warning in message if warning else "in meters" not in message


def test_retarget_takes_a_file_after_an_equals_sign_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import click
    from click.testing import CliRunner

    from marey.cli.derived_options import SettingsCommand, add_settings
    from marey.edit.settings import SkeletonSettings

    @click.command(cls=SettingsCommand)
    @click.argument("files", nargs=-1)
    @add_settings("marey.edit.settings:SkeletonSettings")
    def run(files: tuple[str, ...], **options: str) -> None:
        click.echo(f"{' '.join(files)} {read_settings(SkeletonSettings, options).retarget}")

    for arguments, expected in (
        (["a.bvh", "b.bvh"], "a.bvh b.bvh False"),
        (["--retarget", "a.bvh", "b.bvh"], "a.bvh b.bvh True"),
        (["--retarget=c.bvh", "a.bvh", "b.bvh"], "a.bvh b.bvh c.bvh"),
        (["a.bvh", "b.bvh", "--retarget"], "a.bvh b.bvh True"),
    ):
        assert CliRunner().invoke(run, arguments).output.strip() == expected
    monkeypatch.chdir(tmp_path)
    Path("a.bvh").touch()
    refused = CliRunner().invoke(run, ["b.bvh", "--retarget", "a.bvh"])
    assert refused.exit_code == 2
    assert "write --retarget=a.bvh for the skeleton of this file, or put --retarget last" in refused.output
    assert CliRunner().invoke(run, ["--retarget", ".", "a.bvh"]).output.strip() == ". a.bvh True"
    assert "--retarget[=FILE]" in CliRunner().invoke(run, ["--help"]).output


def test_messages_name_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["samples", str(tmp_path), "-n", "walk"]) == 0
    for arguments, text in (
        (["--swivel", "2"], "--swivel must be from 0 to 1, not 2.0"),
        (["--damping-from", "190"], "--damping-from must be greater than 0 and at most 180 degrees, not 190"),
        (["--floor", "9"], "check --floor, or leave it out to detect it"),
    ):
        assert main(["clean", str(tmp_path / "walk.bvh"), str(tmp_path / "out.bvh"), *arguments]) == 2
        assert text in capsys.readouterr().err


def test_references_to_parameters() -> None:
    error = InvalidValue(
        "crop must be 'auto' or None, not 3", parameter="crop", remedy="use `crop=None` or `max_stretch=`"
    )
    assert str(error) == "crop must be 'auto' or None, not 3; use `crop=None` or `max_stretch=`"
    assert error.word(name_option) == "--crop must be 'auto' or None, not 3; use --crop none or --max-stretch"
    assert word_options("loop it with `marey.edit.cycle`") == "loop it with `marey edit cycle`"
    assert name_option("force", "True") == "--force"
    assert name_option("smooth", "False") == "--no-smooth"


def test_the_library_refers_to_options_by_parameters() -> None:
    """No text outside the command line mentions an option, and each parameter in a text is an option of a command."""
    import ast

    import click

    import marey
    from marey.cli.main import cli

    def collect(group: click.Command) -> set[str]:
        context = click.Context(group)
        own = {name for each in group.get_params(context) for name in (*each.opts, *each.secondary_opts)}
        for name in group.list_commands(context) if isinstance(group, click.Group) else ():
            found = group.get_command(context, name)
            assert found is not None
            own |= collect(found)
        return own

    known = collect(cli)
    root = Path(marey.__file__).parent
    not_of_library = {"cli", "bench", "studio"}
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] in not_of_library:
            continue
        text = path.read_text(encoding="utf-8")
        if not re.search(r"(?<![\w-])--[a-z]|`\w+=\w*`|`marey\.[\w.]+`", text):
            continue
        nodes = list(ast.walk(ast.parse(text)))
        messages = [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        docs = {id(node.body[0].value) for node in nodes
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body
                and isinstance(node.body[0], ast.Expr)}  # fmt: skip
        raised = {id(part) for node in nodes if isinstance(node, ast.Raise) for part in ast.walk(node)}
        for node in messages:
            if id(node) in docs:
                continue
            where = f"{path.relative_to(root)}:{node.lineno}"
            assert not re.search(r"(?<![\w-])--[a-z]", node.value), where
            for name, value in re.findall(r"`(\w+)=(\w*)`", node.value):
                assert name_option(name, value).split()[0] in known, f"{where}: {name}"
            for name in re.findall(r"`marey\.([\w.]+)`", node.value) if id(node) in raised else ():
                assert find_command(cli, name.split(".")).name == name.split(".")[-1], f"{where}: marey.{name}"
