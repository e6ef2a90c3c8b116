"""Every engine as a fleet, and one test's yard of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from machines.agent.scripted import Move, ScriptedServer
from statecraft.journal import shelf_at

from .fleet import Fleet, Yard, run_of, script_of
from .keeper_fleet import KeeperFleet
from .temporal_server import DevServer, served

Made = Callable[[pytest.FixtureRequest, Path], Fleet]


def dbos_on_sqlite(request: pytest.FixtureRequest, folder: Path) -> Fleet:
    pytest.importorskip("dbos", reason="the package dbos is not installed")
    from .dbos_fleet import DbosFleet

    return DbosFleet(str(folder / "runs.db"), f"sqlite:///{folder / 'dbos.db'}")


def dbos_on_postgres(request: pytest.FixtureRequest, folder: Path) -> Fleet:
    pytest.importorskip("dbos", reason="the package dbos is not installed")
    from .dbos_fleet import DbosFleet

    address: str = request.getfixturevalue("postgres")
    return DbosFleet(address, address)


def keeper_on_sqlite(request: pytest.FixtureRequest, folder: Path) -> Fleet:
    return KeeperFleet(str(folder / "runs.db"))


def on_temporal(request: pytest.FixtureRequest, folder: Path) -> Fleet:
    address: str = request.getfixturevalue("temporal").address
    from .temporal_fleet import TemporalFleet

    return TemporalFleet(str(folder / "runs.db"), address, folder.name)


FLEETS: dict[str, Made] = {
    "keeper-sqlite": keeper_on_sqlite,
    "dbos-postgres": dbos_on_postgres,
    "dbos-sqlite": dbos_on_sqlite,
    "temporal": on_temporal,
}
"""The engines; each has a file of its own."""

LONG = {"dbos-sqlite", "temporal"}
"""Those that `make test` leaves to `make deep`: they differ in their database alone, or take long to start."""


@pytest.fixture(scope="module")
def temporal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """A server of Temporal, the same for a module's tests, which tell their runs apart by their queues."""
    with served(tmp_path_factory.mktemp("temporal")) as server:
        yield server


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.deep] * (name in LONG)) for name in FLEETS])
def yard(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Yard]:
    """An engine with nothing in it and no worker; what is started is ended."""
    fleet = FLEETS[request.param](request, tmp_path)
    scripts: dict[str, Sequence[Move]] = {}
    with ScriptedServer(script_of(scripts), run_of=run_of) as server:
        yard = Yard(fleet, server, tmp_path, scripts, shelf_at(fleet.place))
        try:
            yield yard
        finally:
            yard.close()
