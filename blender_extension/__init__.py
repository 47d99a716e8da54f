"""marey in Blender: import and export motion files, clean feet, and drive a live character.

Files go through the command `marey`, which must be installed; the preferences name it. Live characters come from
`marey studio` on the same computer.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper
from mathutils import Matrix

from . import rig
from .studio import Studio, StudioError

_KEYS = {"UP_ARROW": 0.0, "LEFT_ARROW": 0.5 * math.pi, "DOWN_ARROW": math.pi, "RIGHT_ARROW": -0.5 * math.pi}


def run_marey(*arguments: str) -> str:
    """Run a command of marey and return what it prints; raise RuntimeError with its message if it fails."""
    entry = bpy.context.preferences.addons.get(__package__)
    program = entry.preferences.program if entry is not None else "marey"
    if shutil.which(program) is None:
        raise RuntimeError(
            f"the program {program!r} was not found; install marey, or set it in the add-on's preferences"
        )
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout).strip() or f"marey {arguments[0]} failed")
    return done.stdout


def import_file(path: str) -> Any:
    """Import a motion file of any format that marey reads as an armature with an action; return the armature."""
    with tempfile.TemporaryDirectory() as folder:
        bvh = Path(folder) / f"{Path(path).stem}.bvh"
        run_marey("convert", path, str(bvh), "--to-unit", "m", "--to-up", "y")
        bpy.ops.import_anim.bvh(
            filepath=str(bvh), rotate_mode="QUATERNION", axis_forward="-Z", axis_up="Y", update_scene_duration=True,
            update_scene_fps=True,
        )  # fmt: skip
    return bpy.context.object


def export_file(armature: Any, path: str) -> None:
    """Export an armature's action to a motion file of any format that marey writes."""
    scene = bpy.context.scene
    action = armature.animation_data.action if armature.animation_data else None
    first, last = action.frame_range if action else (scene.frame_start, scene.frame_end)
    bpy.ops.object.select_all(action="DESELECT")
    armature.select_set(True)
    bpy.context.view_layer.objects.active = armature
    with tempfile.TemporaryDirectory() as folder:
        bvh = Path(folder) / f"{Path(path).stem}.bvh"
        bpy.ops.export_anim.bvh(
            filepath=str(bvh),
            frame_start=int(first),
            frame_end=int(last),
            rotate_mode="NATIVE",
            root_transform_only=False,
        )
        # Blender writes BVH files with Z up, as its scenes are.
        run_marey("convert", str(bvh), path, "--up", "z", "--unit", "m")


class Puppet:
    """An armature that shows the poses of a live character."""

    def __init__(self, name: str, joints: tuple[str, ...], parents: tuple[int, ...], pose: Any) -> None:
        self.joints, self.parents = joints, parents
        self.rest = rig.find_rest(parents, pose.positions, pose.rotations)
        tails = rig.find_tails(parents, self.rest)
        data = bpy.data.armatures.new(name)
        self.object = bpy.data.objects.new(name, data)
        bpy.context.collection.objects.link(self.object)
        bpy.context.view_layer.objects.active = self.object
        bpy.ops.object.mode_set(mode="EDIT")
        bones = []
        for joint, (title, parent) in enumerate(zip(joints, parents, strict=True)):
            bone = data.edit_bones.new(title)
            bone.head, bone.tail = self.rest[joint].tolist(), tails[joint].tolist()
            bone.parent = bones[parent] if parent >= 0 else None
            bones.append(bone)
        bpy.ops.object.mode_set(mode="OBJECT")
        # Blender may change a name that is taken, so bones are found by their order.
        self.names = [bone.name for bone in data.bones]
        self.bones = np.array([np.array(bone.matrix_local.to_3x3()) for bone in data.bones])
        self.rest = np.array([np.array(bone.head_local) for bone in data.bones])
        self.show(pose)

    def show(self, pose: Any, frame: int | None = None) -> None:
        """Pose the armature; with `frame`, also insert keyframes there."""
        turns, moves = rig.find_basis(self.parents, self.bones, self.rest, pose.positions, pose.rotations)
        for name, turn, move in zip(self.names, turns, moves, strict=True):
            bone = self.object.pose.bones[name]
            bone.rotation_mode = "QUATERNION"
            bone.rotation_quaternion = Matrix(turn.tolist()).to_quaternion()
            bone.location = move.tolist()
            if frame is not None:
                bone.keyframe_insert("rotation_quaternion", frame=frame)
                bone.keyframe_insert("location", frame=frame)


class MareyPreferences(bpy.types.AddonPreferences):
    """Where marey is."""

    bl_idname = __package__
    program: StringProperty(name="Program", default="marey", subtype="FILE_PATH", description="The command marey")

    def draw(self, context: Any) -> None:
        self.layout.prop(self, "program")


class ImportMotion(bpy.types.Operator, ImportHelper):
    """Import motion capture: BVH, FBX, AMC, GLB, VRM, NPZ and others"""

    bl_idname = "marey.import_motion"
    bl_label = "Motion capture (marey)"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: Any) -> set[str]:
        try:
            import_file(self.filepath)
        except RuntimeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class ExportMotion(bpy.types.Operator, ExportHelper):
    """Export the active armature's action: BVH, FBX, GLB, USD, NPZ and others, by the suffix of the name"""

    bl_idname = "marey.export_motion"
    bl_label = "Motion capture (marey)"
    filename_ext = ".bvh"
    check_extension = None

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is not None and context.object.type == "ARMATURE"

    def execute(self, context: Any) -> set[str]:
        try:
            export_file(context.object, self.filepath)
        except RuntimeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class CleanFeet(bpy.types.Operator):
    """Stop planted feet from sliding: export the active armature, run `marey clean`, and import the result"""

    bl_idname = "marey.clean_feet"
    bl_label = "Clean feet (marey)"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    poll = ExportMotion.poll

    def execute(self, context: Any) -> set[str]:
        try:
            with tempfile.TemporaryDirectory() as folder:
                before, after = Path(folder) / "before.bvh", Path(folder) / f"{context.object.name}_clean.bvh"
                export_file(context.object, str(before))
                run_marey("clean", str(before), str(after))
                import_file(str(after))
        except RuntimeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class DriveCharacter(bpy.types.Operator):
    """Drive a character of `marey studio` with the arrow keys; Escape ends, keyframes stay if Record is on"""

    bl_idname = "marey.drive"
    bl_label = "Drive a character (marey)"
    address: StringProperty(name="Studio", description="The address that `marey studio` prints, with its token")
    character: StringProperty(
        name="Character", default="walking", description="A recipe, or a file of the studio's folder"
    )
    record: BoolProperty(name="Record", description="Insert a keyframe for each frame shown")

    def invoke(self, context: Any, event: Any) -> set[str]:
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: Any) -> set[str]:
        try:
            self.studio = Studio(self.address)
            self.studio.drive(self.character, file=self.character.endswith(".json"))
        except StudioError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.puppet: Puppet | None = None
        self.held: list[str] = []
        self.timer = context.window_manager.event_timer_add(1 / 60, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Any, event: Any) -> set[str]:
        try:
            if event.type == "ESC":
                return self.finish(context)
            if event.type in _KEYS and event.value in ("PRESS", "RELEASE"):
                self.held = [key for key in self.held if key != event.type]
                self.held += [event.type] if event.value == "PRESS" else []
                self.studio.request(**self.find_request(context))
                return {"RUNNING_MODAL"}
            pose = self.studio.pose() if event.type == "TIMER" else None
        except StudioError as error:
            self.report({"ERROR"}, str(error))
            return self.finish(context)
        if pose is not None and self.puppet is None:
            self.puppet = Puppet(self.character, self.studio.joints, self.studio.parents, pose)
        elif pose is not None and self.puppet is not None:
            scene = context.scene
            if self.record:
                scene.frame_set(scene.frame_current + 1)
            self.puppet.show(pose, scene.frame_current if self.record else None)
        return {"PASS_THROUGH"}

    def find_request(self, context: Any) -> dict[str, Any]:
        """Return the direction of the last key that is held, as seen in the view; stop if none is."""
        if not self.held:
            return {"stop": True}
        view = context.region_data.view_rotation if context.region_data else None
        ahead = view.to_euler().z if view is not None else 0.0
        # The view looks along +Y of Blender at 0, which is -Z of marey: half a turn from its zero.
        return {"direction": math.remainder(math.pi + ahead + _KEYS[self.held[-1]], 2 * math.pi)}

    def finish(self, context: Any) -> set[str]:
        context.window_manager.event_timer_remove(self.timer)
        self.studio.close()
        return {"FINISHED"}


_CLASSES = (MareyPreferences, ImportMotion, ExportMotion, CleanFeet, DriveCharacter)


def _add_import(self: Any, context: Any) -> None:
    self.layout.operator(ImportMotion.bl_idname)


def _add_export(self: Any, context: Any) -> None:
    self.layout.operator(ExportMotion.bl_idname)


def _add_object(self: Any, context: Any) -> None:
    self.layout.separator()
    self.layout.operator(CleanFeet.bl_idname)
    self.layout.operator(DriveCharacter.bl_idname)


def register() -> None:
    for each in _CLASSES:
        bpy.utils.register_class(each)
    bpy.types.TOPBAR_MT_file_import.append(_add_import)
    bpy.types.TOPBAR_MT_file_export.append(_add_export)
    bpy.types.VIEW3D_MT_object.append(_add_object)


def unregister() -> None:
    bpy.types.VIEW3D_MT_object.remove(_add_object)
    bpy.types.TOPBAR_MT_file_export.remove(_add_export)
    bpy.types.TOPBAR_MT_file_import.remove(_add_import)
    for each in reversed(_CLASSES):
        bpy.utils.unregister_class(each)
