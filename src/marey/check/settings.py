"""Settings of `check`."""

from __future__ import annotations

from typing import Literal

from marey.core.settings import Settings, option


class CheckSettings(Settings):
    """Settings of `check`."""

    severity: Literal["mild", "severe"] = option(
        "mild", '"mild" reports every finding, "severe" only those that make a clip useless as it is.'
    )
