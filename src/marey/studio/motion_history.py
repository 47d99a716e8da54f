"""The open motions of a session, each with its undo history."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Floats
from marey.core.kinematics import forward_kinematics
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.errors import InvalidValue, UnknownName
from marey.io.files import GLTF_SUFFIXES
from marey.io.folder import free_name
from marey.studio.frames import MAX_JOINTS
from marey.studio.messages import Binary, Where
from marey.studio.places import suggest_file_name
from marey.studio.recipes import CodeRecipe, call, make_file_recipe

Recording = Motion | Markers
# Limits: closed motions that can be reopened, open motions, their bytes with history, undo steps, frames per message.
MAX_CLOSED = 20
MAX_OPEN = 500
MAX_BYTES = 4 * 2**30
MAX_STEPS = 50
BLOCK_FRAMES = 512
_REST_SKIPPED = "rest pose in frame 0 skipped"


class FrameBlock(Binary):
    """N frames, starting at `first`: world positions (N, J, 3) in meters and world rotations (N, J, 4) wxyz."""

    positions: Floats
    rotations: Floats
    first: int


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """An entry of the undo history: the motion (`recording`) after the change `what`.

    `revision` identifies its frames. `number` identifies the step among those of all motions, in the order of changes.
    `recipe` is how the motion was made from its files.
    """

    recording: Recording
    revision: int
    what: str
    number: int
    recipe: CodeRecipe


@dataclass(slots=True, eq=False)
class Opened:
    """An open motion.

    recording : the motion as it was opened.
    where, file, path, clips, clip : the file it came from, all clips in it, and the clip itself; "", None and () if
        there is none.
    made_from : ids of the motions it was made from.
    warnings : problems in the file. steps, at : the undo history, and the index of the current step.
    saved : the motion whose annotations are in the sidecar.
    trimmed : the motion without the rest pose that was skipped on opening.
    recipe : how the motion was made; None if it cannot be written as code.
    written : size and modification time of its file as the studio wrote it; None if the file is a recording.
    """

    recording: Recording
    where: Where = "folder"
    file: str = ""
    path: Path | None = None
    clips: tuple[str, ...] = ()
    clip: str | None = None
    warnings: tuple[str, ...] = ()
    made_from: tuple[str, ...] = ()
    steps: list[Step] = field(default_factory=list)
    at: int = 0
    saved: Recording | None = None
    trimmed: Motion | None = None
    recipe: CodeRecipe | None = None
    written: tuple[int, int] | None = None

    @property
    def now(self) -> Step:
        """The current step."""
        return self.steps[self.at]

    @property
    def is_own_file(self) -> bool:
        """Whether the studio wrote the file from this motion, and nobody has changed it since."""
        return self.path is not None and self.written is not None and self.written == stamp_file(self.path)

    @property
    def is_edited(self) -> bool:
        """Whether no file has these frames: they were changed, or the motion was made in the studio."""
        now = self.now.recording
        in_file = [each for each in (self.recording, self.trimmed) if each is not None]
        return not self.file or not any(now is each or _same_frames(now, each) for each in in_file)

    @property
    def is_as_loaded(self) -> bool:
        """Whether the frames are those that loading the file gives: without a leading rest pose."""
        loaded = self.recording if self.trimmed is None else self.trimmed
        return self.now.recording is loaded or _same_frames(self.now.recording, loaded)

    @property
    def skips_rest(self) -> bool:
        """Whether a rest pose in frame 0 is skipped now."""
        return any(step.what == _REST_SKIPPED for step in self.steps[1 : self.at + 1])

    @property
    def before(self) -> Step | None:
        """The last step with other frames, if the motion is edited and both can be compared frame by frame."""
        now = self.now
        if not self.is_edited:
            return None
        step = next((each for each in self.steps[: self.at][::-1] if each.revision != now.revision), None)
        return step if step is not None and _comparable(step.recording, now.recording) else None

    def find_step(self, number: int) -> Step:
        """Return the step with a number."""
        for step in self.steps:
            if step.number == number:
                return step
        raise UnknownName("this step is no longer in the undo history of the clip")


def _omit_names(what: str) -> str:
    """Return the name of a change without the names of labels in it."""
    return re.sub("“.*”", "", what)


def stamp_file(path: Path) -> tuple[int, int] | None:
    """Return size and modification time (ns) of a file; None if it cannot be read."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


class Motions:
    """Open motions, keyed by id: "m1", "m2" and so on. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opened: dict[str, Opened] = {}
        self._closed: dict[str, Opened] = {}
        self._count = 0
        self._revision = 0
        self._n_steps = 0
        self._reserved: dict[str, int] = {}

    def ids(self) -> tuple[str, ...]:
        """Return the ids, in the order in which the motions were opened."""
        with self._lock:
            return tuple(self._opened)

    def add(self, opened: Opened) -> str:
        """Add a motion. Return its id."""
        joints = opened.recording.names if isinstance(opened.recording, Markers) else opened.recording.skeleton.names
        if len(joints) > MAX_JOINTS:
            raise InvalidValue(f"expected at most {MAX_JOINTS} joints, got {len(joints)}")
        with self._lock:
            if len(self._opened) >= MAX_OPEN:
                raise InvalidValue(f"the limit of {MAX_OPEN} open clips is reached; close some")
            self._make_room(opened.recording)
            self._count += 1
            self._revision += 1
            name = f"m{self._count}"
            recipe = opened.recipe or _save_first(opened.recording, "a clip")
            opened.steps = [Step(opened.recording, self._revision, "opened", self._count_step(), recipe)]
            opened.at, opened.saved = 0, opened.recording
            self._opened[name] = opened
        return name

    def reserve(self, what: str, size: int) -> None:
        """Reserve `size` bytes held outside the open motions. An earlier reservation named `what` is replaced."""
        with self._lock:
            more = size - self._reserved.get(what, 0)
            if more > 0:
                self._make_room(size=more)
            self._reserved[what] = size

    def add_result(self, motion: Motion, *made_from: str, recipe: CodeRecipe | None = None) -> str:
        """Add a motion that was made from the motions with the given ids. Return its id."""
        return self.add(
            Opened(replace(motion, name=self._find_free_name(motion.name)), made_from=made_from, recipe=recipe)
        )

    def recipe(self, name: str) -> CodeRecipe:
        """Return the recipe of the current state of a motion."""
        return self.opened(name).now.recipe

    def opened(self, name: str) -> Opened:
        """Return an open motion with its history."""
        with self._lock:
            if name not in self._opened:
                raise UnknownName(f"clip {name[:40]!r} is not open")
            return self._opened[name]

    def recording(self, name: str) -> Recording:
        """Return the current state of a motion or markers."""
        return self.opened(name).now.recording

    def motion(self, name: str) -> Motion:
        """Return the current state of a motion; markers raise an error."""
        recording = self.recording(name)
        if isinstance(recording, Markers):
            raise InvalidValue(f"{recording.name!r} contains markers; this needs a clip with a skeleton")
        return recording

    def find_skin_source(self, name: str) -> str:
        """Return the id of the motion whose GLB file has a skin for this one: itself, or the motion it was made from.

        Return "" if there is none, or if the skeletons differ.
        """
        with self._lock:
            wanted = self._opened[name].now.recording if name in self._opened else None
            while (opened := self._opened.get(name)) is not None:
                if opened.file.lower().endswith(GLTF_SUFFIXES):
                    return name if _same_bones(wanted, opened.recording) else ""
                name = opened.made_from[0] if not opened.file and len(opened.made_from) == 1 else ""
        return ""

    def find_before(self, name: str) -> Motion | None:
        """Return the motion before the last edit, else its only source; None if its frames cannot be compared."""
        opened = self.opened(name)
        with self._lock:
            source = self._opened.get(opened.made_from[0]) if len(opened.made_from) == 1 else None
        step = opened.before or (None if source is None else source.now)
        if step is None or not _comparable(opened.now.recording, step.recording):
            return None
        return step.recording if isinstance(step.recording, Motion) else None

    def sources(self, name: str) -> tuple[str, ...]:
        """Return the motions that a motion was made from: the names of open motions, the ids of closed ones."""
        with self._lock:
            made_from = self._opened[name].made_from if name in self._opened else ()
            return tuple(self._opened[one].now.recording.name if one in self._opened else one for one in made_from)

    def close(self, name: str) -> None:
        """Close a motion. The last few can be reopened."""
        self.opened(name)
        with self._lock:
            self._closed[name] = self._opened.pop(name)
            while len(self._closed) > MAX_CLOSED:
                del self._closed[next(iter(self._closed))]

    def reopen(self, name: str) -> None:
        """Open a motion again that was just closed, with its history."""
        with self._lock:
            if name not in self._closed:
                raise UnknownName("the clip was closed too long ago; open its file again")
            self._opened[name] = self._closed.pop(name)

    def change(
        self,
        name: str,
        before: Recording,
        after: Motion,
        what: str,
        *,
        merge_undo: bool = False,
        recipe: CodeRecipe | None = None,
    ) -> None:
        """Replace `before` with `after` as an undoable step. Raise an error if `before` is not the current state.

        what : name of the change, shown to the user.
        recipe : how `after` was made; None if it cannot be written as code.
        merge_undo : merge with the previous step if it has the same name, apart from names of labels; both are then
            undone together.
        """
        opened = self.opened(name)
        if after.name != before.name:
            after = replace(after, name=self._find_free_name(after.name, name))
        with self._lock:
            if opened.now.recording is not before:
                raise InvalidValue("the clip changed while this was running; try again")
            revision = opened.now.revision
            if not _same_frames(before, after):
                self._revision += 1
                revision = self._revision
            is_last = 0 < opened.at == len(opened.steps) - 1
            same = merge_undo and is_last and _omit_names(opened.now.what) == _omit_names(what)
            number = opened.now.number if same else self._count_step()
            del opened.steps[opened.at + (not same) :]
            opened.steps.append(Step(after, revision, what, number, recipe or _save_first(after, what)))
            del opened.steps[: -MAX_STEPS - 1]
            if self._bytes() > MAX_BYTES:
                self._closed.clear()
            while len(opened.steps) > 2 and self._bytes() > MAX_BYTES:
                del opened.steps[0]
            opened.at = len(opened.steps) - 1

    def find_merge_source(self, name: str, what: str) -> Step:
        """Return the step to which a change named `what` applies: the current one or, if both merge, the one before."""
        opened = self.opened(name)
        with self._lock:
            merges = 0 < opened.at == len(opened.steps) - 1 and opened.now.what == what
            return opened.steps[opened.at - merges]

    def trim_rest(self, name: str, recipe: CodeRecipe | None = None) -> bool:
        """Remove a rest pose in frame 0, as an undoable step. Return whether there was one.

        This does not count as an edit of an unedited motion. `recipe` is how to load the motion without the rest pose.
        """
        from marey.io.rest import trim_rest_pose

        opened, motion = self.opened(name), self.motion(name)
        trimmed = trim_rest_pose(motion)
        if trimmed is motion:
            return False
        is_edited = opened.is_edited
        recipe = recipe or call(motion.name, "marey.io.trim_rest_pose", self.recipe(name))
        self.change(name, motion, trimmed, _REST_SKIPPED, recipe=recipe)
        opened.trimmed = opened.trimmed if is_edited else trimmed
        return True

    def step(self, name: str, *, back: bool) -> None:
        """Undo (`back`) or redo one step. Raise an error if there is nothing to undo or redo."""
        opened = self.opened(name)
        with self._lock:
            at = opened.at - 1 if back else opened.at + 1
            if not 0 <= at < len(opened.steps):
                raise InvalidValue(f"nothing to {'undo' if back else 'redo'}")
            opened.at = at

    def mark_saved(self, name: str) -> None:
        """Record that the sidecar now has the motion's annotations."""
        opened = self.opened(name)
        with self._lock:
            opened.saved = opened.now.recording

    def mark_file(self, name: str, path: Path) -> None:
        """Record that the motion, with its annotations, is now a file of the folder."""
        opened = self.opened(name)
        with self._lock:
            opened.recording = opened.saved = opened.now.recording
            opened.where, opened.file, opened.path = "folder", path.name, path
            opened.clips, opened.clip, opened.trimmed = (), None, None
            opened.written = stamp_file(path)

    def forget_file(self, name: str) -> None:
        """Record that the file of a motion is not in the open folder, because another folder was opened."""
        opened = self.opened(name)
        with self._lock:
            if opened.where == "folder":
                opened.file, opened.path, opened.clips, opened.clip = "", None, (), None

    def _find_free_name(self, name: str, own: str = "") -> str:
        """Return a name that no open motion has, except the one with id `own`: the given one, or with a number."""
        with self._lock:
            taken = {opened.now.recording.name for each, opened in self._opened.items() if each != own}
        return free_name(name, taken.__contains__, gap=" #")

    def _count_step(self) -> int:
        self._n_steps += 1
        return self._n_steps

    def _make_room(self, *more: Recording, size: int = 0) -> None:
        """Forget closed motions if there is not enough room for more; raise an error if there still is not."""
        while self._closed and self._bytes(*more) + size > MAX_BYTES:
            del self._closed[next(iter(self._closed))]
        if self._bytes(*more) + size > MAX_BYTES:
            raise InvalidValue(f"more than {MAX_BYTES / 2**30:g} GB of motion data would be open; close some clips")

    def _bytes(self, *more: Recording) -> int:
        """Return the bytes of all motions, their history and reservations. Arrays shared by steps count once."""
        held = (*self._opened.values(), *self._closed.values())
        recordings = [step.recording for opened in held for step in opened.steps]
        arrays = {id(array): array.nbytes for recording in (*recordings, *more) for array in _arrays(recording)}
        return sum(arrays.values()) + sum(self._reserved.values())

    def frames(self, name: str, start: int, stop: int, step: int | None = None) -> FrameBlock:
        """Return frames `start` to `stop` (half-open, at most 512) in world coordinates.

        step : number of a step of the undo history; None for the current one.
        """
        opened = self.opened(name)
        recording = (opened.now if step is None else opened.find_step(step)).recording
        if not 0 <= start < stop <= len(recording) or stop - start > BLOCK_FRAMES:
            raise InvalidValue(
                f"expected up to {BLOCK_FRAMES} frames within 0 to {len(recording)}, got {start} to {stop}"
            )
        positions, rotations = compute_world(recording, start, stop)
        return FrameBlock(positions, rotations, start)


def compute_world(recording: Recording, start: int, stop: int) -> tuple[Floats, Floats]:
    """Return world positions (N, J, 3), in meters, and rotations (N, J, 4) of frames `start` to `stop` (half-open).

    J is the number of joints or markers. Occluded markers have NaN positions; markers have identity rotations.
    """
    if isinstance(recording, Markers):
        seen = recording.valid[start:stop, :, None]
        positions = np.where(seen, recording.positions[start:stop], np.nan)
        rotations = np.zeros((*positions.shape[:2], 4))
        rotations[..., 0] = 1.0
        return positions, rotations
    bones = None if recording.bone_offsets is None else recording.bone_offsets[start:stop]
    world = forward_kinematics(
        recording.skeleton, recording.root_positions[start:stop], recording.rotations[start:stop], bones
    )
    return world.positions, world.rotations


def _save_first(recording: Recording, what: str) -> CodeRecipe:
    """Return the recipe of a motion that cannot be made by code: it must be saved first."""
    return make_file_recipe(recording.name, what, f"{suggest_file_name(recording.name)}.npz")


def _same_bones(a: Recording | None, b: Recording) -> bool:
    """Return whether two motions have the same skeleton."""
    if not isinstance(a, Motion) or not isinstance(b, Motion) or a.skeleton.names != b.skeleton.names:
        return False
    return a.skeleton is b.skeleton or bool(np.allclose(a.skeleton.offsets, b.skeleton.offsets, atol=1e-4))


def _arrays(recording: Recording) -> list[NDArray[Any]]:
    """Return the large arrays of a motion."""
    if isinstance(recording, Markers):
        return [recording.positions, recording.valid]
    masks = [] if recording.contacts is None else [recording.contacts.mask]
    bones = [] if recording.bone_offsets is None else [recording.bone_offsets]
    return [recording.root_positions, recording.rotations, *bones, *masks]


def _comparable(a: Recording, b: Recording) -> bool:
    """Return whether two motions have the same skeleton, rate and number of frames."""
    return isinstance(b, Motion) and a.fps == b.fps and len(a) == len(b) and _same_bones(a, b)


def _same_frames(a: Recording, b: Recording) -> bool:
    """Return whether two motions share the arrays of their frames, like copies that differ only in annotations."""
    if isinstance(a, Markers) or isinstance(b, Markers):
        return False
    return (
        a.skeleton is b.skeleton
        and a.root_positions is b.root_positions
        and a.rotations is b.rotations
        and a.bone_offsets is b.bone_offsets
    )
