"""Fixtures for the tests of the journal."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from statecraft.journal import MemoryStore, Shelf, Store, shelf_at

FERRY = Path(__file__).resolve().parent.parent / "ferry.py"
MATE = FERRY.with_name("mate.py")


Launch = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def launch(root: Path) -> Iterator[Launch]:
    """Starts the tests' machine as a program, behind a shell's `before`, or with `mate` what works beside a journal.

    Whatever still runs at the end is killed.
    """
    begun: list[subprocess.Popen[str]] = []

    def start(*args: str, before: str = "", seed: str = "0", mate: bool = False) -> subprocess.Popen[str]:
        command = [sys.executable, str(MATE if mate else FERRY), *args]
        if before:
            command = ["/bin/sh", "-c", f'{before}; exec "$0" "$@"', *command]
        environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONHASHSEED": seed}
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)
        begun.append(process)
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def killed(process: subprocess.Popen[str], place: str) -> list[str]:
    """Kill a program, and give what else it has said. A server has nothing left to do for it then."""
    process.kill()
    assert process.stdout is not None
    said = process.stdout.read().split()
    process.wait()
    if place.startswith("postgresql:"):
        connect: Any = importlib.import_module("psycopg").connect
        with connect(place, autocommit=True) as db:
            db.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
    return said


@pytest.fixture
def kill() -> Callable[[subprocess.Popen[str], str], list[str]]:
    """Kills a program that works on the journal at a place."""
    return killed


@pytest.fixture(params=["folder", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a shelf of each kind is."""
    if request.param == "postgres":
        found: str = request.getfixturevalue("postgres")
        return found
    return str(tmp_path / {"folder": "runs", "sqlite": "runs.db"}[request.param])


@pytest.fixture
def shelf(place: str) -> Iterator[Shelf]:
    shelf = shelf_at(place)
    yield shelf
    shelf.close()


@pytest.fixture(params=["memory", "file", "file+power", "sqlite", "sqlite+power", "postgres", "postgres+power"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens the same store each time, as another process would."""
    kind, _, power = str(request.param).partition("+")
    once = MemoryStore()
    shelves: list[Shelf] = []
    places = {"file": str(tmp_path), "sqlite": str(tmp_path / "runs.db")}
    place = str(request.getfixturevalue("postgres")) if kind == "postgres" else places.get(kind, "")

    def make() -> Store:
        if kind == "memory":
            return once
        shelves.append(shelf_at(place, "power" if power else "process"))
        return shelves[-1].store("a run")

    yield make
    for shelf in shelves:
        shelf.close()
