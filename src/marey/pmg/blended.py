"""Spaces that blend stored values, and motions built from them; shared by `GaitSpace` and `ActionSpace`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.core.arrays import Floats, FrozenRecord, set_readonly
from marey.core.contacts import Contacts
from marey.core.motion import Motion
from marey.core.source import Source
from marey.errors import InvalidValue
from marey.io.stored import Stored
from marey.parametric.region import Region
from marey.pmg.gait_kernels import place_frames

__all__ = ["BlendedSpace", "check_contact_columns", "check_rotations", "make_motion", "strip_source"]

# Largest allowed deviation of a quaternion's norm from 1, due to rounding to single precision.
_ROUNDED = 1e-5


class BlendedSpace(FrozenRecord, Stored):
    """Base class of spaces that blend examples.

    base : a motion that provides skeleton, frame rate and contact points.
    """

    __slots__ = ()
    base: Motion
    _region: Region

    @property
    def fps(self) -> float:
        """Frame rate of the generated motions, in frames per second."""
        return self.base.fps

    @property
    def region(self) -> Region:
        """The parameters that can be requested: the convex hull of what blends reach, between low and high."""
        return self._region


def make_motion(base: Motion, values: Floats, places: Floats, n_contacts: int, name: str, source: Source) -> Motion:
    """Build a motion from its per-frame values.

    Parameters
    ----------
    base : a motion that provides skeleton, frame rate and contact points.
    values : (F, C) values of the F frames. Columns: 4 per joint for the local rotations (joint 0 relative to the
        heading), height of joint 0 in meters, `n_contacts` contact values from 0 to 1 (a contact if above 0.5), and
        others that are ignored.
    places : (F, 3) floor placements (theta, x, z) of heading and joint 0.
    n_contacts : number of contact points; 0 for a motion without contacts.
    name, source : name and source of the new motion.
    """
    n_frames, n_joints = len(values), len(base.skeleton)
    roots, rotations = np.empty((n_frames, 3)), np.empty((n_frames, n_joints, 4))
    place_frames(values, places, n_joints, roots, rotations)
    contacts, first = None, 4 * n_joints + 1
    if base.contacts is not None and n_contacts:
        contacts = Contacts(base.contacts.points, values[:, first : first + n_contacts] > 0.5)
    return Motion(
        base.skeleton,
        set_readonly(roots),
        set_readonly(rotations),
        base.fps,
        name=name,
        contacts=contacts,
        source=source,
    )


def check_contact_columns(base: Motion, contacts: Floats) -> None:
    """Raise an error unless contacts (n, G, K) have as many columns as `base` has contact points, or none."""
    n_points = 0 if base.contacts is None else len(base.contacts.points)
    if contacts.shape[2] not in (0, n_points):
        raise InvalidValue(f"contacts must have {n_points} columns, one per contact point, not {contacts.shape[2]}")


def check_rotations(rotations: Floats) -> None:
    """Raise an error unless the rotations of a file are unit quaternions, up to rounding."""
    off = np.abs(np.sqrt(np.einsum("...i,...i", rotations, rotations)) - 1.0).max(initial=0.0)
    if not off <= _ROUNDED:
        raise InvalidValue(f"rotations must be unit quaternions, but their lengths differ from 1 by up to {off:.3g}")


def strip_source(source: Source) -> Source:
    """Return the source without the fields that apply to a single file."""
    return replace(source, path="", channel_values=None, frame_time_text=None, evidence=(), provenance=())
