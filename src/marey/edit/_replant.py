"""Planted feet after an edit that moved the whole figure."""

from __future__ import annotations

import importlib
import warnings
from dataclasses import replace

from marey.core.motion import Motion
from marey.errors import InvalidValue, MareyWarning


def with_contacts(motion: Motion) -> Motion:
    """The motion with contacts: its own, else detected; as it is, with a warning, where none can be found."""
    if motion.contacts is not None:
        return motion
    from marey.clean import detect_contacts

    try:
        return detect_contacts(motion)
    except InvalidValue as error:
        warnings.warn(f"feet are not planted again: {error}", MareyWarning, stacklevel=3)
        return motion


def replanted(motion: Motion) -> tuple[Motion, bool]:
    """The motion after cleanup of its contacts, and whether there was one to do."""
    contacts = motion.contacts
    clean = getattr(importlib.import_module("marey.clean"), "clean", None)
    if contacts is None or not contacts.mask.any() or not callable(clean):
        return motion, False
    planted = clean(motion)
    return replace(planted, source=replace(motion.source, floor=planted.source.floor)), True
