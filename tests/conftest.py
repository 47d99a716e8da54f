"""Fixtures that all tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Real capture: the folder named by MAREY_DATA, else ../shared/data beside the checkout."""
    folder = Path(os.environ.get("MAREY_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real capture at {folder}; set MAREY_DATA")
    return folder
