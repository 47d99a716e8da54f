"""Base class of reports."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np


class ReportBase:
    """Base class of dataclasses whose fields are the entries of a report."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, for JSON and tables."""
        values: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}
