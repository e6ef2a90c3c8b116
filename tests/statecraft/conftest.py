"""Fixtures for the tests of the framework."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

FERRY = Path(__file__).resolve().parent / "ferry.py"


@pytest.fixture(scope="session")
def ferry() -> Any:
    """The tests' machine, as a module."""
    if "ferry" not in sys.modules:
        spec = importlib.util.spec_from_file_location("ferry", FERRY)
        assert spec is not None
        assert spec.loader is not None
        sys.modules["ferry"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["ferry"])
    return sys.modules["ferry"]
