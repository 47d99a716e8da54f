"""One motion in many dialects of BVH, written by a small separate generator, together with the ground truth.

The truth is a tree of joints with offsets and a rotation matrix for each frame. A dialect is a function from the truth
to a file; where the file says less or more than the plain one (a frame cut off, an End Site more), it says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

N_FRAMES = 40
FPS = 120.0
ORDERS = [a + b + c for a in "XYZ" for b in "XYZ" for c in "XYZ" if a != b != c]
POSITIONS = ("Xposition", "Yposition", "Zposition")

# Name, parent, OFFSET in meters, and the axes of its rotations.
_FIGURE = [
    ("Hips", None, (0.0, 0.0, 0.0), "YXZ"),
    ("Spine", "Hips", (0.0, 0.12, -0.01), "ZX"),
    ("Neck", "Spine", (0.0, 0.38, 0.02), ""),
    ("Head", "Neck", (0.0, 0.1, 0.015), "YXZ"),
    ("LeftArm", "Spine", (0.18, 0.33, 0.0), "ZYX"),
    ("LeftForeArm", "LeftArm", (0.28, 0.0, 0.0), "Y"),
    ("RightArm", "Spine", (-0.18, 0.33, 0.0), "XYZ"),
    ("RightForeArm", "RightArm", (-0.28, 0.0, 0.0), "Y"),
    ("LeftUpLeg", "Hips", (0.1, -0.05, 0.0), "ZXY"),
    ("LeftLeg", "LeftUpLeg", (0.0, -0.43, 0.0), "X"),
    ("RightUpLeg", "Hips", (-0.1, -0.05, 0.0), "ZXY"),
    ("RightLeg", "RightUpLeg", (0.0, -0.43, 0.0), "X"),
]
_ENDS = {
    "Head": (0.0, 0.18, 0.0),
    "LeftForeArm": (0.25, 0.0, 0.0),
    "RightForeArm": (-0.25, 0.0, 0.0),
    "LeftLeg": (0.0, -0.42, 0.03),
    "RightLeg": (0.0, -0.42, 0.03),
}


@dataclass(frozen=True)
class Node:
    """A joint or End Site; `turns` (F, 3, 3) are its local rotations, `axes` those of its channels."""

    name: str
    parent: int
    offset: tuple[float, float, float]
    turns: np.ndarray
    axes: str = ""
    is_end: bool = False


@dataclass(frozen=True)
class Truth:
    """A tree of nodes, depth first; root (F, 3) in meters."""

    nodes: tuple[Node, ...]
    root: np.ndarray

    @property
    def positions(self) -> np.ndarray:
        """Return the world positions of all nodes, (F, N, 3)."""
        places, frames = [], []
        for node in self.nodes:
            if node.parent < 0:
                places.append(self.root)
                frames.append(node.turns)
            else:
                above = frames[node.parent]
                places.append(places[node.parent] + above @ np.array(node.offset))
                frames.append(above @ node.turns)
        return np.stack(places, axis=1)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.nodes)

    def index(self, name: str) -> int:
        return self.names.index(name)

    def renamed(self, names: dict[str, str]) -> Truth:
        """Return the tree with other joint names, and End Sites named accordingly."""
        nodes: list[Node] = []
        for node in self.nodes:
            if node.is_end:
                name = nodes[node.parent].name + "End"
            else:
                name = names.get(node.name, node.name)
            nodes.append(replace(node, name=name))
        return replace(self, nodes=tuple(nodes))

    def with_end(self, parent: str, name: str, offset: tuple[float, float, float], at: int) -> Truth:
        """Return the tree with another End Site, as node number `at`."""
        still = np.tile(np.eye(3), (len(self.root), 1, 1))
        shifted = [replace(n, parent=n.parent + (n.parent >= at)) for n in self.nodes]
        end = Node(name, self.index(parent), offset, still, is_end=True)
        return replace(self, nodes=(*shifted[:at], end, *shifted[at:]))

    def without_end(self, name: str) -> Truth:
        at = self.index(name)
        stored = [replace(n, parent=n.parent - (n.parent > at)) for n in self.nodes if n.name != name]
        return replace(self, nodes=tuple(stored))

    def standing(self) -> Truth:
        """Return the tree with a root that does not move."""
        return replace(self, root=np.tile(self.root[:1], (len(self.root), 1)))


def make_truth() -> Truth:
    """Limbs that swing at different rates while the root walks and turns."""
    seconds = np.arange(N_FRAMES) / FPS
    nodes: list[Node] = []
    for k, (name, parent, offset, axes) in enumerate(_FIGURE):
        turns = np.tile(np.eye(3), (N_FRAMES, 1, 1))
        for m, axis in enumerate(axes):
            swing = 35.0 * np.sin(2 * np.pi * (1.5 + 0.3 * k) * seconds + k + 2.0 * m) + 3.0 * k - 10.0
            turns = turns @ Rotation.from_euler(axis, swing[:, None], degrees=True).as_matrix()
        at = -1 if parent is None else [node.name for node in nodes].index(parent)
        nodes.append(Node(name, at, offset, turns, axes))
        if name in _ENDS:
            still = np.tile(np.eye(3), (N_FRAMES, 1, 1))
            nodes.append(Node(name + "End", len(nodes) - 1, _ENDS[name], still, is_end=True))
    root = np.stack([0.4 * np.sin(2 * seconds), 0.95 + 0.03 * np.cos(9 * seconds), 1.3 * seconds - 0.2], axis=1)
    return Truth(tuple(nodes), root)


@dataclass(frozen=True)
class Style:
    """How the generator writes things; the defaults are those of most exporters."""

    number: Callable[[float], str] = "{:.8f}".format
    word: Callable[[str], str] = str
    channels: dict[str, Sequence[str]] = field(default_factory=dict)
    offsets: dict[str, Sequence[float]] = field(default_factory=dict)
    brace: str = "\n{tabs}{{"
    end_site: str = "End Site"
    indent: str = "\t"
    between: str = " "
    frames: str = "Frames: {n}"
    frame_time: str = "Frame Time: 0.0083333"
    without_channels: str = "CHANNELS 0"

    def channels_of(self, node: Node) -> tuple[str, ...]:
        if node.is_end:
            return ()
        if node.name in self.channels:
            return tuple(self.channels[node.name])
        turns = ("Zrotation", "Yrotation", "Xrotation")
        return turns if node.parent >= 0 else (*POSITIONS, *turns)


def channel_names(axes: str) -> tuple[str, ...]:
    return tuple(f"{axis}rotation" for axis in axes)


def angles(node: Node, axes: str) -> np.ndarray:
    """Return angles (F, n) in degrees about n axes, applied in order, of a node with no other rotations."""
    order = axes + "".join(axis for axis in "ZXY" if axis not in axes)[: 3 - len(axes)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Gimbal lock")  # there, any angles of the rotation are right
        found = Rotation.from_matrix(node.turns).as_euler(order, degrees=True)
    np.testing.assert_allclose(found[:, len(axes) :], 0.0, atol=1e-9)
    return found[:, : len(axes)]


def values(truth: Truth, style: Style) -> np.ndarray:
    """Return the rows, (F, C)."""
    columns = []
    for node in truth.nodes:
        names = style.channels_of(node)
        turning = iter(angles(node, "".join(name[0] for name in names if "rot" in name)).T)
        for name in names:
            if name in POSITIONS:
                axis = POSITIONS.index(name)
                here = truth.root[:, axis] if node.parent < 0 else np.full(len(truth.root), node.offset[axis])
                columns.append(here)
            else:
                columns.append(next(turning))
    return np.stack(columns, axis=1)


def hierarchy(truth: Truth, style: Style) -> str:
    """Write everything from HIERARCHY to the last brace."""
    lines, open_nodes = [style.word("HIERARCHY")], list[int]()
    for j, node in enumerate(truth.nodes):
        while open_nodes and open_nodes[-1] != node.parent:
            open_nodes.pop()
            lines.append(style.indent * len(open_nodes) + "}")
        tabs = style.indent * len(open_nodes)
        kind = "JOINT" if node.parent >= 0 else "ROOT"
        heading = style.end_site if node.is_end else f"{style.word(kind)} {node.name}"
        lines.append(tabs + heading + style.brace.format(tabs=tabs))
        offset = style.offsets.get(node.name, node.offset)
        inner = tabs + style.indent
        lines.append(inner + style.between.join([style.word("OFFSET"), *map(style.number, offset)]))
        channels = style.channels_of(node)
        if channels:
            words = [style.word("CHANNELS"), str(len(channels)), *map(style.word, channels)]
            lines.append(inner + style.between.join(words))
        elif not node.is_end and style.without_channels:
            lines.append(inner + style.without_channels)
        open_nodes.append(j)
    lines += [style.indent * depth + "}" for depth in reversed(range(len(open_nodes)))]
    return "\n".join(lines) + "\n"


def rows(truth: Truth, style: Style) -> list[str]:
    return [style.between.join(map(style.number, row)) for row in values(truth, style)]


def preamble(truth: Truth, style: Style) -> str:
    lines = [style.word("MOTION"), style.word(style.frames.format(n=len(truth.root))), style.word(style.frame_time)]
    return "".join(line + "\n" for line in lines if line)


def render(truth: Truth, style: Style | None = None) -> str:
    """Write the whole file."""
    style = style or Style()
    return hierarchy(truth, style) + preamble(truth, style) + "\n".join(rows(truth, style)) + "\n"


@dataclass(frozen=True)
class Dialect:
    """A file, and what it must load to.

    `warns` are pieces of the warnings to be given, in order; none where it is empty. `options` go to `load`.
    """

    data: bytes
    truth: Truth
    warns: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    tolerance: float = 2e-7


DIALECTS: dict[str, Callable[[Truth], Dialect]] = {}


def dialect(make: Callable[[Truth], Dialect]) -> Callable[[Truth], Dialect]:
    DIALECTS[make.__name__] = make
    return make


def plain(truth: Truth, text: str | None = None, **style: Any) -> Dialect:
    return Dialect((render(truth, Style(**style)) if text is None else text).encode(), truth)


def styled(name: str, **style: Any) -> None:
    """Add a dialect that differs only in spelling."""
    DIALECTS[name] = lambda truth: plain(truth, **style)


def encoded(name: str, change: Callable[[str], bytes]) -> None:
    """Add a dialect that differs only in its bytes."""
    DIALECTS[name] = lambda truth: Dialect(change(render(truth)), truth)


# Line ends and encodings.

encoded("lf", str.encode)
encoded("crlf", lambda text: text.replace("\n", "\r\n").encode())
encoded("cr", lambda text: text.replace("\n", "\r").encode())
encoded("mixed_line_ends", lambda text: text.replace("}\n", "}\r").replace("0\n", "0\r\n").encode())
encoded("utf8_bom", lambda text: text.encode("utf-8-sig"))
encoded("utf16_le_bom", lambda text: b"\xff\xfe" + text.encode("utf-16-le"))
encoded("utf16_be_bom", lambda text: b"\xfe\xff" + text.encode("utf-16-be"))
encoded("utf16_le", lambda text: text.encode("utf-16-le"))
encoded("utf16_be", lambda text: text.encode("utf-16-be"))
encoded("utf16_crlf", lambda text: text.replace("\n", "\r\n").encode("utf-16"))
encoded("utf16_odd_byte_at_the_end", lambda text: text.encode("utf-16") + b"\x1a")
encoded("utf32", lambda text: text.encode("utf-32"))

# Blanks and layout.

styled("tabs", between="\t")
styled("blanks", indent="    ", between="   ")
styled("no_indent", indent="")
styled("brace_beside_name", brace=" {{")
styled("brace_glued_to_name", brace="{{")
encoded("everything_on_one_line", lambda text: " ".join(text.split()).encode() + b"\n")
encoded("one_line_without_end", lambda text: " ".join(text.split()).encode())
encoded("leading_and_trailing_blanks", lambda text: text.replace("\n", " \t \n \t").encode())
encoded("blank_lines_everywhere", lambda text: "\n\n".join(["", *text.split("\n"), ""]).encode())
encoded("blank_first_lines", lambda text: b"\r\n \r\n" + text.encode())
encoded("no_line_end_at_the_end", lambda text: text.rstrip("\n").encode())
encoded("blank_lines_at_the_end", lambda text: text.encode() + b"\n \n\t\n\n")
encoded("nul_padding", lambda text: text.encode() + b"\0" * 100)
encoded("nul_padding_after_the_last_number", lambda text: text.rstrip("\n").encode() + b"\0" * 1000)
encoded("ctrl_z", lambda text: text.encode() + b"\x1a")
encoded("ctrl_z_after_the_last_number", lambda text: text.rstrip("\n").encode() + b"\x1a\r\n")
encoded("brace_before_motion", lambda text: text.replace("}\nMOTION", "} MOTION").encode())
encoded(
    "offsets_over_lines", lambda text: text.replace("OFFSET ", "OFFSET\n").replace("CHANNELS ", "CHANNELS\n").encode()
)
encoded("names_on_lines_of_their_own", lambda text: text.replace("JOINT ", "JOINT\n\t").encode())


@dialect
def blank_lines_between_rows(truth: Truth) -> Dialect:
    text = hierarchy(truth, Style()) + preamble(truth, Style()) + "\n" + "\n \n".join(rows(truth, Style())) + "\n"
    return plain(truth, text)


def in_pieces(truth: Truth, size: int, style: Style) -> str:
    """Wrap rows over several lines, with `size` numbers each."""
    lines = []
    for row in rows(truth, style):
        words = row.split()
        lines += [" ".join(words[k : k + size]) for k in range(0, len(words), size)]
    return hierarchy(truth, style) + preamble(truth, style) + "\n".join(lines) + "\n"


@dialect
def rows_over_several_lines(truth: Truth) -> Dialect:
    return plain(truth, in_pieces(truth, 7, Style()))


@dialect
def a_number_to_a_line(truth: Truth) -> Dialect:
    return plain(truth, in_pieces(truth, 1, Style()))


@dialect
def two_rows_to_a_line(truth: Truth) -> Dialect:
    every = rows(truth, Style())
    pairs = [" ".join(every[k : k + 2]) for k in range(0, len(every), 2)]
    return plain(truth, hierarchy(truth, Style()) + preamble(truth, Style()) + "\n".join(pairs) + "\n")


# Keywords.

styled("lower_case", word=str.lower, end_site="end site")
styled("upper_case", word=str.upper, end_site="END SITE")
styled("title_case", word=str.title)
styled("end_site_lower", end_site="End site")
styled("endsite", end_site="ENDSITE")
styled("endsite_mixed", end_site="EndSite")
styled("frames_glued", frames="Frames:{n}", frame_time="Frame Time:0.0083333")
styled("frames_upper", frames="FRAMES: {n}", frame_time="FRAME TIME: 0.0083333")
styled("frames_without_colon", frames="Frames {n}", frame_time="Frame Time 0.0083333")
styled("frames_blank_colon", frames="Frames : {n}", frame_time="Frame Time :\t0.0083333")
styled("frametime_in_one_word", frame_time="FrameTime: 0.0083333")
styled("frame_time_without_zero", frame_time="Frame Time: .0083333")
styled("frame_time_scientific", frame_time="Frame Time: 8.333333E-03")
styled("frame_time_first", frames="Frame Time: 0.0083333", frame_time="Frames: 40")
styled("frames_as_float", frames="Frames: {n}.0")


@dialect
def end_site_with_a_name(truth: Truth) -> Dialect:
    return plain(truth, end_site="End Site Tip of it")


@dialect
def comments(truth: Truth) -> Dialect:
    lines = hierarchy(truth, Style()).split("\n")
    text = "# made by hand\n" + "\n\t# { not a brace\n".join(lines[:4]) + "\n// so\n" + "\n".join(lines[4:])
    return replace(plain(truth, text + preamble(truth, Style()) + "\n".join(rows(truth, Style()))), warns=("comments",))


@dialect
def without_hierarchy(truth: Truth) -> Dialect:
    text = render(truth).removeprefix("HIERARCHY\n")
    return replace(plain(truth, text), warns=("does not begin with HIERARCHY",))


# Channels.

styled("rotation_before_position", channels={"Hips": ("Zrotation", "Xrotation", "Yrotation", *POSITIONS)})
styled("positions_in_another_order", channels={"Hips": (*POSITIONS[::-1], "Yrotation", "Xrotation", "Zrotation")})
styled(
    "positions_between_rotations",
    channels={"Hips": ("Xrotation", "Zposition", "Yrotation", "Xposition", "Zrotation", "Yposition")},
)
styled("proper_euler", channels={name: channel_names("ZXZ") for name in ("Head", "LeftArm", "RightUpLeg", "LeftLeg")})
styled("without_channels_line", channels={"Neck": ()}, without_channels="")
styled("channels_0", channels={"Neck": ()})
styled(
    "one_and_two_channels",
    channels={
        "Neck": (),
        "Spine": channel_names("ZX"),
        **{n: channel_names(a) for n, _, _, a in _FIGURE if len(a) == 1},
    },
)
styled(
    "a_channel_for_each_axis",
    channels={n: channel_names(a) for n, p, _, a in _FIGURE if p},
    brace=" {{",
)


@dialect
def every_order(truth: Truth) -> Dialect:
    """Twelve joints with twelve orders."""
    channels = {name: channel_names(order) for (name, *_), order in zip(_FIGURE, ORDERS, strict=True)}
    channels["Hips"] = (*POSITIONS, *channels["Hips"])
    return plain(truth, channels=channels)


@dialect
def position_channels_on_every_joint(truth: Truth) -> Dialect:
    """Position channels replace OFFSETs, which may have any value."""
    channels = {n.name: (*POSITIONS, *channel_names("ZXY")) for n in truth.nodes if not n.is_end}
    offsets = {n.name: (450.0, -3.0, float(k)) for k, n in enumerate(truth.nodes) if not n.is_end}
    return plain(truth, channels=channels, offsets=offsets)


@dialect
def position_channels_on_some_axes(truth: Truth) -> Dialect:
    channels = {
        "LeftArm": ("Yposition", *channel_names("ZXY")),
        "Neck": ("Zposition", "Xrotation", "Yposition"),
        "RightLeg": ("Xposition", "Zposition", "Yposition"),
    }
    channels["RightLeg"] = (*channels["RightLeg"], "Xrotation")
    return plain(truth, channels=channels, offsets={"LeftArm": (0.18, 77.0, 0.0), "RightLeg": (9.0, 9.0, 9.0)})


@dialect
def root_offset_with_position_channels(truth: Truth) -> Dialect:
    return plain(truth, offsets={"Hips": (12.0, 90.0, -7.5)})


@dialect
def root_offset_without_position_channels(truth: Truth) -> Dialect:
    still = truth.standing()
    return plain(still, channels={"Hips": channel_names("ZXY")}, offsets={"Hips": still.root[0]})


@dialect
def root_with_one_position_channel(truth: Truth) -> Dialect:
    root = truth.root.copy()
    root[:, (0, 2)] = (0.25, -0.5)
    level = replace(truth, root=root)
    channels = ("Yposition", *channel_names("ZXY"))
    return plain(level, channels={"Hips": channels}, offsets={"Hips": (0.25, 33.0, -0.5)})


# Numbers.


def odd_number(value: float) -> str:
    """Cycles through spellings by the number's own digits: ``+1.5``, ``.5``, ``5.``, ``1e-3``, ``1.5E+01``."""
    text = f"{value:.8f}"
    kind = sum(map(ord, text)) % 6
    if kind == 0 and value >= 0:
        return "+" + text
    if kind == 1:
        return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text
    if kind == 2:
        return f"{value * 1e8:.0f}.e-8"
    if kind == 3:
        return f"{value:.12E}"
    if kind == 4:
        return f"{value * 1000:.7f}e-3"
    return text


styled("odd_numbers", number=odd_number)
styled("scientific", number="{:.12e}".format)
styled("seventeen_digits", number="{:.17g}".format)
styled("forty_digits", number="{:.40f}".format)
styled("plus_signs", number="{:+.9f}".format)
styled("leading_zeros", number=lambda x: f"{x:012.7f}")
styled("negative_zeros", number=lambda x: "-0" if x == 0 else f"{x:.9f}")


@dialect
def few_digits(truth: Truth) -> Dialect:
    return replace(plain(truth, number="{:.4g}".format), tolerance=0.01)


@dialect
def glued_signs(truth: Truth) -> Dialect:
    style = Style()
    glued = "\n".join(rows(truth, style)).replace(" -", "-")
    return plain(truth, hierarchy(truth, style).replace(" -", "-") + preamble(truth, style) + glued + "\n")


# Names.

NAMES = {
    "names_with_blanks": {"Head": "the head  of it", "LeftArm": "Left Arm", "Hips": "Bip01 Pelvis"},
    "names_with_colons_and_dots": {n: f"mixamorig:{n}.001" for n, *_ in _FIGURE},
    "unicode_names": {"Head": "голова", "Hips": "腰", "LeftArm": "brazo_ñ", "RightArm": "🦾", "Neck": "Fuß"},
    "keywords_as_names": {
        "Hips": "ROOT",
        "Spine": "Motion",
        "Neck": "End",
        "Head": "Offset",
        "LeftArm": "JOINT",
        "RightArm": "CHANNELS 3 Xrotation",
        "LeftLeg": "End Site",
        "RightLeg": "Hierarchy",
        "LeftUpLeg": "Frames: 3",
    },
    "names_like_numbers": {"Hips": "0", "Spine": "1 2 3", "Neck": "-1.5", "Head": "#4"},
    "names_like_end_sites": {"LeftLeg": "LeftUpLegEnd", "Neck": "SpineEnd3"},
}
for _name, _map in NAMES.items():
    DIALECTS[_name] = lambda truth, names=_map: plain(truth.renamed(names))
    DIALECTS[_name + "_beside_brace"] = lambda truth, names=_map: plain(truth.renamed(names), brace=" {{")


def foreign(name: str, encoding: str, names: dict[str, str], brace: str = "\n{tabs}{{") -> None:
    def make(truth: Truth) -> Dialect:
        report = truth.renamed(names)
        return Dialect(render(report, Style(brace=brace)).encode(encoding), report)

    DIALECTS[name] = make


foreign("latin_1_names", "latin-1", {"Hips": "Hüfte", "Spine": "Rücken", "Head": "Tête", "LeftArm": "ÿ\xa0ß"})
foreign("windows_1252_names", "cp1252", {"Hips": "Cœur", "Spine": "Žebro", "Head": "Tête – haute"})
foreign("shift_jis_names", "cp932", {"Hips": "腰", "Spine": "上半身", "Head": "頭", "LeftArm": "左腕", "Neck": "ｸﾋﾞ"})
foreign("shift_jis_names_beside_brace", "cp932", {"Hips": "センター", "Spine": "上半身"}, brace=" {{")
# The second byte of these letters is a brace.
foreign("shift_jis_names_with_brace_bytes", "cp932", {"Hips": "マボ", "Head": "ボーン", "Neck": "マ"})
foreign("shift_jis_names_with_brace_bytes_beside_brace", "cp932", {"Hips": "マボ", "Neck": "マ"}, brace=" {{")


@dialect
def joint_named_like_an_end_site(truth: Truth) -> Dialect:
    """Neck has a joint NeckEnd and an End Site, so the latter needs another name."""
    report = truth.renamed({"Head": "NeckEnd"}).with_end("Neck", "NeckEnd2", (0.0, 0.05, 0.0), at=3)
    return plain(report)


@dialect
def duplicate_names(truth: Truth) -> Dialect:
    report = truth.renamed({"RightArm": "Arm_2", "LeftArm": "Arm", "RightForeArm": "Arm"})
    text = render(report, Style())
    unique = report.renamed({"Arm": "Arm"})
    nodes = list(unique.nodes)
    at = [k for k, node in enumerate(nodes) if node.name == "Arm"][1]
    nodes[at] = replace(nodes[at], name="Arm_3")
    nodes[at + 1] = replace(nodes[at + 1], name="Arm_3End")
    return Dialect(text.encode(), replace(report, nodes=tuple(nodes)), warns=("'Arm' on line",))


@dialect
def joint_without_a_name(truth: Truth) -> Dialect:
    text = render(truth).replace("JOINT Neck", "JOINT")
    return Dialect(text.encode(), truth.renamed({"Neck": "joint_2"}), warns=("'joint_2'",))


# Trees.


@dialect
def without_end_sites(truth: Truth) -> Dialect:
    for name in ("LeftLegEnd", "HeadEnd", "RightForeArmEnd"):
        truth = truth.without_end(name)
    return plain(truth)


@dialect
def several_end_sites(truth: Truth) -> Dialect:
    at = truth.index("LeftLegEnd") + 1
    truth = truth.with_end("LeftLeg", "LeftLegEnd2", (0.02, -0.4, 0.1), at=at)
    return plain(truth.with_end("Hips", "HipsEnd", (0.0, 0.0, -0.1), at=len(truth.nodes)))


@dialect
def nested_end_sites(truth: Truth) -> Dialect:
    at = truth.index("LeftLegEnd") + 1
    truth = truth.with_end("LeftLegEnd", "LeftLegEndEnd", (0.0, 0.0, 0.1), at=at)
    return plain(truth.with_end("LeftLegEndEnd", "LeftLegEndEndEnd", (0.0, 0.0, 0.05), at=at + 1))


@dialect
def joint_without_offset(truth: Truth) -> Dialect:
    nodes = [replace(n, offset=(0.0, 0.0, 0.0)) if n.name == "Neck" else n for n in truth.nodes]
    truth = replace(truth, nodes=tuple(nodes))
    lines = render(truth).split("\n")
    del lines[lines.index("\t\tJOINT Neck") + 2]
    return replace(plain(truth, "\n".join(lines)), warns=("without OFFSET",))


def two_roots(truth: Truth, options: dict[str, Any], warns: tuple[str, ...] = ()) -> Dialect:
    """The character, with a motionless one before and after it."""
    still = truth.standing()
    other = replace(still, nodes=tuple(replace(n, turns=still.nodes[2].turns) for n in still.nodes[:5]))
    other = other.renamed({"Hips": "Prop", "Spine": "Stick"})
    style = Style()
    trees = [hierarchy(tree, style).removeprefix("HIERARCHY\n") for tree in (truth, other)]
    both = np.concatenate([values(truth, style), values(other, style)], axis=1)
    lines = [" ".join(map(style.number, row)) for row in both]
    text = "HIERARCHY\n" + "".join(trees) + preamble(truth, style) + "\n".join(lines) + "\n"
    shown = other if options.get("root") in (1, "Prop") else truth
    return Dialect(text.encode(), shown, warns, options)


DIALECTS["several_roots"] = lambda truth: two_roots(truth, {}, ("`root=` chooses 'Prop'",))
DIALECTS["several_roots_by_name"] = lambda truth: two_roots(truth, {"root": "Prop"})
DIALECTS["several_roots_by_index"] = lambda truth: two_roots(truth, {"root": 1})
DIALECTS["several_roots_first_by_name"] = lambda truth: two_roots(truth, {"root": "Hips"})


# Wrong or missing counts and rates.


def announced(name: str, frames: str, warning: str) -> None:
    DIALECTS[name] = lambda truth: replace(plain(truth, frames=frames), warns=(warning,))


announced("too_few_frames_announced", "Frames: 12", "announces 12 frames, but there are 40 rows")
announced("too_many_frames_announced", "Frames: 41", "announces 41 frames, but there are 40 rows")
announced("no_frames_announced", "Frames: 0", "announces 0 frames, but there are 40 rows")
announced("negative_frames_announced", "Frames: -1", "announces -1 frames, but there are 40 rows")
announced("frames_missing", "", "number of frames is not given; 40 rows")
announced("frames_empty", "Frames:", "number of frames is not given; 40 rows")


def rated(name: str, frame_time: str) -> None:
    DIALECTS[name] = lambda truth: replace(plain(truth, frame_time=frame_time), options={"file_fps": FPS})


rated("frame_time_missing", "")
rated("frame_time_empty", "Frame Time:")
rated("frame_time_zero", "Frame Time: 0.000000")
rated("frame_time_not_a_number", "Frame Time: 1.#INF")
rated("frame_time_overridden", "Frame Time: 0.0166667")


@dialect
def last_row_cut_short(truth: Truth) -> Dialect:
    text = render(truth).rstrip("\n").rsplit(" ", 5)[0]
    shorter = cut(truth, N_FRAMES - 1)
    return Dialect(text.encode(), shorter, warns=("last row is cut short", "announces 40 frames, but there are 39"))


@dialect
def last_row_cut_within_a_number(truth: Truth) -> Dialect:
    text = render(truth, Style(number="{:.8e}".format)).rstrip("\n")[:-3]
    shorter = cut(truth, N_FRAMES - 1)
    return Dialect(text.encode(), shorter, warns=("last row is cut short", "announces 40 frames, but there are 39"))


@dialect
def last_number_cut(truth: Truth) -> Dialect:
    text = render(truth).rstrip("\n")[:-3]
    shorter = cut(truth, N_FRAMES - 1)
    return Dialect(text.encode(), shorter, warns=("ends within a number", "announces 40 frames, but there are 39"))


@dialect
def junk_at_the_end(truth: Truth) -> Dialect:
    text = render(truth) + "\n-- end of file -- 1 2 3\nInfo: none\n5\n"
    return Dialect(text.encode(), truth, warns=("text after the last row was ignored: '--' on line",))


@dialect
def binary_junk_at_the_end(truth: Truth) -> Dialect:
    return Dialect(render(truth).encode() + bytes(range(128, 256)), truth, warns=("was ignored",))


def cut(truth: Truth, n_frames: int) -> Truth:
    """Only the first frames."""
    nodes = tuple(replace(node, turns=node.turns[:n_frames]) for node in truth.nodes)
    return Truth(nodes, truth.root[:n_frames])


def read_nothing(section):
    """Replaces `bvh_rows._clean_rows`, so that the slow reader reads all rows."""
    return np.empty((0, section.n_columns)), section.start
