"""The objects of an FBX file that matter to motion: models, their properties, animation stacks and poses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from marey.core.arrays import Floats
from marey.io import limits
from marey.io.fbx_curves import FbxCurve, read_curve
from marey.io.fbx_document import Element, FbxDocument
from marey.io.files import GENERATOR
from marey.io.node_tree import Nodes, build_nodes, unique_names

# Ticks per second; the second value is used if the header requests it.
LEGACY_TICKS, STANDARD_TICKS = 46_186_158_000, 141_120_000
_LEGACY_DEFINITION = 127
# Frames per second, by time mode; mode 14 has its own rate.
TIME_MODES = {
    0: 30.0, 1: 120.0, 2: 100.0, 3: 60.0, 4: 50.0, 5: 48.0, 6: 30.0, 7: 30.0, 8: 30.0 / 1.001, 9: 30.0 / 1.001,
    10: 25.0, 11: 24.0, 12: 1000.0, 13: 24.0 / 1.001, 15: 96.0, 16: 72.0, 17: 60.0 / 1.001, 18: 120.0 / 1.001,
}  # fmt: skip
CUSTOM_TIME_MODE = 14
_LOCAL = {"Lcl Translation": "translation", "Lcl Rotation": "rotation", "Lcl Scaling": "scaling"}
_AXES = {"d|X": 0, "d|Y": 1, "d|Z": 2}


@dataclass(slots=True)
class Model:
    """A node of the scene: its name, its kind (``LimbNode``, ``Null``, ``Mesh``...) and its properties."""

    name: str
    kind: str
    properties: Mapping[str, list[Any]]


@dataclass(slots=True)
class Channel:
    """An animated vector.

    default : three values, for axes without keys.
    curves : the curves, keyed by axis (0, 1 or 2).
    """

    default: list[float | None]
    curves: dict[int, FbxCurve] = field(default_factory=dict)


@dataclass(slots=True)
class Stack:
    """An animation.

    layers : for each layer, keyed by name, its channels that have keys, keyed by (model, property).
    """

    name: str
    layers: dict[str, dict[tuple[int, str], Channel]]

    def find_animated_models(self) -> set[int]:
        """Return the models that have keys."""
        return {model for layer in self.layers.values() for model, _ in layer}


class FbxScene:
    """The models and animations of a file.

    Attributes
    ----------
    models : the nodes of the scene. nodes : their tree. stacks : the animations that have keys.
    bind_pose : rest matrices (4, 4) in the world, of the models for which the file has them.
    settings : the global settings by name. is_own : whether marey wrote the file.
    """

    def __init__(self, document: FbxDocument) -> None:
        self.document = document
        self.settings = _read_properties(document.sections.get("GlobalSettings", []))
        header = document.sections.get("FBXHeaderExtension", [])
        self.is_own = any(each.name == "Creator" and each.values == [GENERATOR] for each in header)
        self.ticks = self._read_ticks()
        objects: dict[str, dict[int, Element]] = {}
        for element in document.sections.get("Objects", []):
            objects.setdefault(element.name, {})[self._identity(element)] = element
        template = self._read_template("Model")
        given = objects.get("Model", {})
        self.models = [self._read_model(element, template) for element in given.values()]
        self._index = {identity: i for i, identity in enumerate(given)}
        limits.check_joints(len(self.models), document.path)
        if not self.models:
            document.fail("the file has no models and therefore no skeleton")
        links = self._read_connections()
        self.nodes = self._build_tree(links)
        limits.check_depth(max(self.nodes.depths), document.path)
        self.bind_pose = self._read_bind_pose(objects.get("Pose", {}))
        self.stacks = self._read_stacks(objects, links)

    def number(self, properties: Mapping[str, list[Any]], name: str, default: float) -> float:
        """Return the number in the property `name`, or `default` if the property is missing."""
        return self.vector(properties, name, (default,))[0]

    def vector(self, properties: Mapping[str, list[Any]], name: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """Return the numbers in the property `name`, as many as `default` has, or `default` if the property is
        missing."""
        values = properties.get(name)
        if values is None:
            return default
        taken = values[: len(default)]
        if len(taken) < len(default) or not all(isinstance(v, int | float) and abs(v) < 1e30 for v in taken):
            self.document.fail(f"the property {name!r} must be {len(default)} finite numbers")
        return tuple(float(v) for v in taken)

    def rate(self) -> float | None:
        """Return the frame rate of the scene in Hz, or None if it is missing or implausible."""
        mode = int(self.number(self.settings, "TimeMode", -1))
        rate = TIME_MODES.get(mode)
        if mode == CUSTOM_TIME_MODE:
            rate = self.number(self.settings, "CustomFrameRate", 0.0)
        return rate if rate is not None and math.isfinite(rate) and 1.0 <= rate <= 1000.0 else None

    def _identity(self, element: Element) -> int:
        if not element.values or not isinstance(element.values[0], int):
            self.document.fail(f"an object of type {element.name!r} has no number")
        return int(element.values[0])

    def _read_ticks(self) -> float:
        for element in self.document.sections.get("FBXHeaderExtension", []):
            found = element.child("TCDefinition") if element.name == "OtherFlags" else None
            if found is not None and found.values and found.values[0] != _LEGACY_DEFINITION:
                return STANDARD_TICKS
        return LEGACY_TICKS

    def _read_template(self, kind: str) -> dict[str, list[Any]]:
        """Return the default properties of all objects of a kind."""
        for element in self.document.sections.get("Definitions", []):
            if element.name == "ObjectType" and element.values[:1] == [kind]:
                template = element.child("PropertyTemplate")
                return {} if template is None else _read_properties(template.children)
        return {}

    def _read_model(self, element: Element, template: Mapping[str, list[Any]]) -> Model:
        kind = element.values[2] if len(element.values) > 2 else ""
        return Model(_name(element), str(kind), {**template, **_read_properties(element.children)})

    def _read_connections(self) -> list[tuple[int, int, str]]:
        """Return (source, destination, property) of all connections between objects."""
        out = []
        for element in self.document.sections.get("Connections", []):
            values = element.values
            if element.name != "C" or len(values) < 3 or values[0] not in ("OO", "OP"):
                continue
            if not (isinstance(values[1], int) and isinstance(values[2], int)):
                self.document.fail("a connection must be between the numbers of two objects")
            out.append((values[1], values[2], str(values[3]) if len(values) > 3 else ""))
        return out

    def _build_tree(self, links: list[tuple[int, int, str]]) -> Nodes:
        children: list[list[int]] = [[] for _ in self.models]
        seen: set[int] = set()
        for source, target, name in links:
            child, parent = self._index.get(source), self._index.get(target)
            if child is not None and parent is not None and not name and child not in seen:
                seen.add(child)
                children[parent].append(child)
        return build_nodes(children, self.document.fail)

    def _read_bind_pose(self, poses: Mapping[int, Element]) -> dict[int, Floats]:
        out: dict[int, Floats] = {}
        for pose in poses.values():
            if pose.values[2:3] != ["BindPose"]:
                continue
            for entry in pose.children:
                node, matrix = entry.child("Node"), entry.child("Matrix")
                if entry.name != "PoseNode" or node is None or matrix is None or not node.values:
                    continue
                model = self._index.get(node.values[0]) if isinstance(node.values[0], int) else None
                values = self.document.floats(matrix, "a matrix of the bind pose")
                if model is not None and len(values) == 16:
                    out.setdefault(model, values.reshape(4, 4).T)
        return out

    def _read_stacks(
        self, objects: Mapping[str, Mapping[int, Element]], links: list[tuple[int, int, str]]
    ) -> list[Stack]:
        stacks, layers = objects.get("AnimationStack", {}), objects.get("AnimationLayer", {})
        nodes, curves = objects.get("AnimationCurveNode", {}), objects.get("AnimationCurve", {})
        channels = {identity: Channel(self._read_defaults(element)) for identity, element in nodes.items()}
        targets: dict[int, tuple[int, str]] = {}
        members: dict[int, list[int]] = {layer: [] for layer in layers}
        stacked: dict[int, list[int]] = {stack: [] for stack in stacks}
        for source, target, name in links:
            if source in nodes and name in _LOCAL and target in self._index:
                targets.setdefault(source, (self._index[target], _LOCAL[name]))
            elif source in nodes and target in layers:
                members[target].append(source)
            elif source in layers and target in stacks:
                stacked[target].append(source)
        for source, target, name in links:  # only curves that move a model are decoded
            if source in curves and target in targets and name in _AXES:
                model, what = targets[target]
                shown = f"the {what} of {self.models[model].name!r}"
                curve = read_curve(self.document, curves[source], self.ticks, shown)
                if curve is not None:
                    channels[target].curves.setdefault(_AXES[name], curve)
        names = unique_names([_name(element) or f"animation_{i}" for i, element in enumerate(stacks.values())])
        out = []
        for name, own in zip(names, stacked.values(), strict=True):
            named: dict[str, dict[tuple[int, str], Channel]] = {}
            for layer in own:
                if self.number(_read_properties(layers[layer].children), "Mute", 0.0):
                    continue
                found = {
                    targets[node]: channels[node]
                    for node in members[layer]
                    if node in targets and channels[node].curves
                }
                if found:
                    (called,) = unique_names([_name(layers[layer])], named)
                    named[called] = found
            if named:
                out.append(Stack(name, named))
        return out

    def _read_defaults(self, element: Element) -> list[float | None]:
        properties = _read_properties(element.children)
        return [self.number(properties, name, 0.0) if name in properties else None for name in _AXES]


def _read_properties(elements: list[Element]) -> dict[str, list[Any]]:
    """Return the values of the properties among the children of an object, by name."""
    listed = next((element for element in elements if element.name == "Properties70"), None)
    if listed is None:
        return {}
    return {str(entry.values[0]): entry.values[4:] for entry in listed.children if entry.name == "P" and entry.values}


def _name(element: Element) -> str:
    """Return an object's name without its class: binary files have ``Hips\\0\\1Model``, text files ``Model::Hips``."""
    text = element.values[1] if len(element.values) > 1 and isinstance(element.values[1], str) else ""
    if "\0\1" in text:
        return text.split("\0\1")[0]
    return text.split("::", 1)[-1]
