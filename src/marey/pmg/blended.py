"""Motions from blended values, as spaces of gait and of single actions make them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.core.arrays import Floats, set_readonly
from marey.core.contacts import Contacts
from marey.core.motion import Motion
from marey.core.source import Source
from marey.pmg.gait_kernels import place_frames

__all__ = ["make_motion", "strip_source"]


def make_motion(base: Motion, values: Floats, places: Floats, n_contacts: int, name: str, source: Source) -> Motion:
    """Make a motion from the values of its frames.

    Parameters
    ----------
    base : provides skeleton, rate and contact points.
    values : (F, C) local rotations, joint 0 relative to the heading; height of joint 0; contacts from 0 to 1; others.
    places : (F, 3) rigid2d of heading and joint 0.
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


def strip_source(source: Source) -> Source:
    """The source without what belongs to one file only."""
    return replace(source, path="", channel_values=None, frame_time_text=None, evidence=(), provenance=())
