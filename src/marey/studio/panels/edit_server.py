"""Operations that run in the server, because they need the session: each takes it first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marey.errors import InvalidValue, plural

if TYPE_CHECKING:
    from pathlib import Path

    from marey.check import CheckSettings
    from marey.core.motion import Motion
    from marey.io import SaveSettings
    from marey.layer.settings import GazeMapSettings
    from marey.pmg.settings import ActionSettings, NodeSettings
    from marey.studio.motion_history import Recording
    from marey.studio.session import Session


def check_recording(session: Session, recording: Recording, settings: CheckSettings) -> dict[str, Any]:
    """List the findings of a recording."""
    from marey.check import check
    from marey.studio.forms import word_text
    from marey.studio.panels.look_messages import OpenFile

    found = check(recording, settings=settings)
    rows = [[each.severity, str(each.start), word_text(each.sentence, OpenFile)] for each in found]
    return {
        "columns": ["Severity", "Frame", "Finding"] if rows else [], "rows": rows,
        "links": [f"frame:{each.start}" for each in found], "notes": [] if rows else ["no findings"],
    }  # fmt: skip


def save_motion(
    session: Session, motion: Motion, format: str, name: str, target: str, settings: SaveSettings
) -> dict[str, Any]:
    """Save a motion to the folder, or prepare it for download."""
    from marey.studio.exporting import export_motions, free_name, save_in_folder
    from marey.studio.places import suggest_file_name

    wanted = name.strip() or suggest_file_name(motion.name)
    if target == "download":
        files = export_motions(session.places, [motion], format, wanted, settings)
        return {"files": [str(path) for path in files if path is not None]}
    saved = save_in_folder(session.places, motion, format, wanted, settings)
    if saved is None:
        free = free_name(session.places, wanted)
        raise InvalidValue(f"{wanted!r} already exists; choose another name, such as {free!r}", parameter="name")
    return {"notes": [f"saved {saved}"]}


def rebuild_gaze_map(session: Session, settings: GazeMapSettings) -> dict[str, Any]:
    """Build the gaze map of the Characters panel again."""
    from marey.layer import GazeMap
    from marey.studio.panels.author_state import get_draft

    draft = get_draft(session)
    if draft.gaze is None:
        raise InvalidValue("no gaze map is open; choose the built-in one or a file")
    draft.gaze = GazeMap.build(draft.gaze.examples, settings=settings)
    draft.costs = None
    return {"notes": [f"rebuilt the gaze map from {plural(len(draft.gaze.examples), 'example')}"]}


def add_node(
    session: Session, file: Path, name: str, request: str, settings: tuple[ActionSettings, NodeSettings]
) -> dict[str, Any]:
    """Add a saved space as a node of the character in the Characters panel. Angles are in degrees."""
    from marey.parametric import ParametricMotion
    from marey.pmg import ActionSpace
    from marey.pmg.files import load_any_space
    from marey.pmg.requests import REQUESTS
    from marey.pmg.settings import ActionSettings, NodeSettings
    from marey.pmg.units import to_internal_units
    from marey.studio.panels.author_files import check_name
    from marey.studio.panels.author_state import get_draft

    space: Any = load_any_space(file)
    action, node = settings
    given: Any = action.bandwidth
    if isinstance(space, ParametricMotion):
        width = to_internal_units(given, space.units, "bandwidth")
        space = ActionSpace.build(space, settings=ActionSettings(names=action.names, bandwidth=width))
    low, high = (to_internal_units(getattr(node, end), space.units, end) for end in ("low", "high"))
    draft = get_draft(session)
    with draft.lock:
        added = NodeSettings(low=low, high=high, request=REQUESTS[request])
        draft.graph.add(check_name(name), space, settings=added)
    return {"notes": [f"the character has a new node {name!r}; connect it with others"]}
