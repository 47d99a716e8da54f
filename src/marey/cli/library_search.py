"""Search the clips of a folder for motion, poses and paths: `marey library search --like`, `--at` and `--path`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import click

from marey.cli.derived_options import read_settings, word_options
from marey.cli.files import print_json
from marey.cli.find import check_cut_folder, cut
from marey.cli.progress import bar
from marey.cli.shared_options import find_frame, frames_between, read_motion
from marey.cli.tables import format_table
from marey.errors import NoResult, UnknownName, plural, similar
from marey.find import IndexSettings, Match, MotionIndex, SearchSettings
from marey.store import ClipSearchSettings, MotionSet, read_descriptions, search_clips

# Matches in the text report, and maximum number of poses and paths.
_LISTED, _FEW = 40, 20


def search_motion(
    clips: MotionSet, query: dict[str, Any], options: dict[str, Any], descriptions: str | None, as_json: bool
) -> int:
    """Search for motion, a pose or a path, and print the matches. Return the exit code.

    query : the options that describe what to search for. options : those that choose clips, and how to compare.
    """
    from marey.cli.library import choose_run
    from marey.graph import read_path

    if query["cut_folder"] is not None:
        if query["moment"] is not None:
            raise click.UsageError("--cut applies to --like without --at")
        check_cut_folder(query["cut_folder"])
    path = None if query["path_file"] is None else read_path(query["path_file"], length=query["length"])
    settings = read_settings(IndexSettings, options, markers=options.pop("markers"))
    chosen = read_settings(ClipSearchSettings, options, words=options.pop("words"))
    texts = {} if descriptions is None else read_descriptions(descriptions)
    run = choose_run(clips, options)
    with bar("reading") as progress:
        index = clips.index_motion(run=run, progress=progress, settings=settings)
    if astuple(chosen) != astuple(ClipSearchSettings()):
        named = {clip.name for clip in search_clips(clips.summarize(run=run), texts, settings=chosen)}
        index = index.select(name for name in index.names if name in named)
    cut_out: list[str] = []
    n_few = query["max_matches"] or _FEW
    if path is not None:
        found: Iterable[Match] = index.find_paths(path, max_matches=n_few)
    elif query["moment"] is not None:
        which, frame, _ = _read_example(index, query)
        found = index.find_poses(which, frame, max_matches=n_few)
    else:
        limits = SearchSettings(max_matches=query["max_matches"] or 500, max_tiers=query["max_tiers"])
        try:
            matches = index.search(*_read_example(index, query), query["threshold"], settings=limits)
        except NoResult as error:
            click.echo(f"marey: {error}", err=True)
            return 1
        found = matches.matches[1:]
        for note in matches.notes:
            click.echo(f"marey: {word_options(note)}", err=True)
        if query["cut_folder"] is not None:
            cut_out = cut(matches, Path(query["cut_folder"]), "bvh")
    rows = [_describe_match(each, index.fps) for each in found]
    searched = range(len(index)) if index.searched is None else index.searched
    n_frames = sum(int(index.blocks.starts[k + 1] - index.blocks.starts[k]) for k in searched)
    if as_json:
        print_json({"matches": rows, "clips": len(searched), "frames": n_frames, "fps": index.fps, "written": cut_out})
        return 0 if rows else 1
    table = [["clip", "start", "stop", "distance"]]
    for row in rows[:_LISTED]:
        table.append(
            [row["clip"], *(f"{row[end]:.2f} s" for end in ("start_s", "stop_s")), f"{100 * row['distance_m']:.1f} cm"]
        )
    if rows:
        for line in format_table(table, n_text=1):
            click.echo(line)
    if len(rows) > _LISTED:
        click.echo(f"and {len(rows) - _LISTED} more; --json lists all")
    click.echo(
        f"{len(rows)} match{'' if len(rows) == 1 else 'es'} in {plural(len(searched), 'clip')}, {n_frames:,} frames "
        f"at {index.fps:g} Hz"
    )
    if cut_out:
        click.echo(
            f"wrote {plural(len(cut_out), 'motion')}, the example first: {cut_out[0]} to {Path(cut_out[-1]).name}"
        )
    return 0 if rows else 1


def _find_name(index: MotionIndex, given: str) -> str:
    """Return the name of the clip that is given by its file as listed, or by the last part of its name, if only one
    has it."""
    if given in index.names or Path(given).exists():
        return given
    base = os.path.splitext(given)[0]
    found = [name for name in index.names if name == base or name.endswith(f"/{base}")]
    return found[0] if len(found) == 1 else given


def _read_example(index: MotionIndex, query: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return the clip or motion of an example, and its first and end frame, or the frame of a pose."""
    like = _find_name(index, query["like"])
    if like in index.names:
        which: Any = like
        motion = index.clips[index.index(like)]
    elif Path(like).exists():
        which = motion = read_motion(like)
    else:
        raise UnknownName(f"{like!r} is neither a clip of this folder nor a file{similar(like, index.names)}")
    if query["moment"] is not None:
        if query["begin"] is not None or query["end"] is not None:
            raise click.UsageError("--at finds a pose; leave out --from and --to")
        return which, find_frame(motion, query["moment"], "--at"), None
    return which, *frames_between(motion, query["begin"], query["end"])


def _describe_match(match: Match, fps: float) -> dict[str, Any]:
    return {
        "clip": match.clip,
        "start": match.start,
        "stop": match.stop,
        "start_s": match.start / fps,
        "stop_s": match.stop / fps,
        "distance_m": match.distance,
        "tier": match.tier,
    }
