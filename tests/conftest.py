"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]  # pytest takes this from the top conftest alone

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout's top folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of cases and recordings beside the checkout; the test is skipped where it is absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the shared folder of cases and recordings is not beside this checkout")
    return folder
