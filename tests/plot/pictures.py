"""Helpers of the plot tests: motions of every kind, and the content of written files."""

import struct
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from marey.core import Contacts, Motion, Skeleton
from marey.maths import quat
from marey.samples import straight_walk

WALK = straight_walk(seconds=2.0)
KINDS = ("filmstrip", "feet", "joints", "path", "parameters", "cloud")


def bare(motion: Motion = WALK) -> Motion:
    """Return the motion without contacts and joint roles."""
    skeleton = motion.skeleton
    names = tuple(f"b{j}" for j in range(len(skeleton)))
    offsets = np.random.default_rng(1).uniform(-0.2, 0.2, skeleton.offsets.shape)
    shuffled = Skeleton(names, skeleton.parents, offsets)
    assert len(shuffled.roles) == 0
    return replace(motion, skeleton=shuffled, contacts=None)


def in_place(motion: Motion = WALK) -> Motion:
    return replace(motion, root_positions=motion.root_positions * np.array([1.0, 1.0, 0.0]))


def under_resting_root(motion: Motion = WALK) -> Motion:
    """Return the motion on a skeleton whose root stays at the origin while the hips travel."""
    skeleton = motion.skeleton
    n_frames = len(motion)
    names = ("World", *skeleton.names)
    parents = np.concatenate([[-1], skeleton.parents + 1])
    parents[1] = 0
    offsets = np.concatenate([np.zeros((1, 3)), skeleton.offsets])
    moving = np.tile(offsets, (n_frames, 1, 1))
    moving[:, 1] = motion.root_positions
    rotations = np.concatenate([quat.identity((n_frames, 1)), motion.rotations], axis=1)
    contacts = motion.contacts
    assert contacts is not None
    points = tuple(replace(point, joint=point.joint + 1) for point in contacts.points)
    return replace(
        motion,
        skeleton=Skeleton(names, parents, offsets),
        root_positions=np.zeros((n_frames, 3)),
        rotations=rotations,
        bone_offsets=moving,
        contacts=Contacts(points, contacts.mask),
    )


def png_size(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert data.endswith(b"IEND\xaeB`\x82")
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def svg_size(path: Path) -> tuple[float, float]:
    root = ElementTree.fromstring(path.read_bytes())
    assert root.tag.endswith("svg")
    return float(root.attrib["width"].removesuffix("pt")), float(root.attrib["height"].removesuffix("pt"))
