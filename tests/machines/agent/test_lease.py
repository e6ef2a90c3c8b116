"""The lease of a run: renewed while it is driven, and what happens where it cannot be, or is somebody else's."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from machines.agent import lease
from machines.agent.lease import LEASE_SECONDS, Leased, leased, new_holder
from statecraft.journal import JournalError, Overtaken, SqliteStore

pytestmark = pytest.mark.anyio


class Clock:
    """A wall clock that moves by a lease's renewal each time it is looked at."""

    def __init__(self, by: float = 0.0) -> None:
        self.now, self.by = 1_000.0, by

    def __call__(self) -> float:
        self.now += self.by
        return self.now


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqliteStore:
    monkeypatch.setattr(lease, "RENEWED_SECONDS", 0.001)
    return SqliteStore(tmp_path / "runs.db", "run")


async def test_it_holds_as_long_as_the_work_goes_on(store: SqliteStore) -> None:
    clock = Clock(by=LEASE_SECONDS / 2)

    async def work() -> str:
        while clock.now < 1_000.0 + 10 * LEASE_SECONDS:
            await anyio.sleep(0.001)
        return str(store.lease("another", LEASE_SECONDS, clock.now))

    assert await leased(store, "me", clock, work, lambda: None) == "me"
    assert store.lease("another", LEASE_SECONDS, clock.now) is None  # and is given up after it


async def test_whoever_finds_that_another_one_has_it_stops_and_says_so_before(store: SqliteStore) -> None:
    clock, told = Clock(), list[str]()

    async def work() -> None:
        store.release("me")
        assert store.lease("another", LEASE_SECONDS, clock.now) is None
        try:
            await anyio.sleep(10)
        finally:
            told.append("broken off")

    with pytest.raises(Overtaken, match="another process has taken this run over: another"):
        await leased(store, "me", clock, work, lambda: told.append("lost"))
    assert told == ["lost", "broken off"]


@pytest.mark.parametrize(("fails", "holds"), [(LEASE_SECONDS - 1, True), (LEASE_SECONDS + 1, False)])
async def test_a_place_that_is_away_for_less_than_a_lease_ends_nothing(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, fails: float, holds: bool
) -> None:
    clock, renewals = Clock(), list[float]()
    real, sleep = store.lease, anyio.sleep

    async def quickly(seconds: float) -> None:
        clock.now += seconds
        await sleep(0)

    def away(holder: str, seconds: float, at: float) -> str | None:
        renewals.append(at)
        if len(renewals) > 1 and at < 1_000.0 + fails:
            raise JournalError("away")
        return real(holder, seconds, at)

    monkeypatch.setattr(store, "lease", away)
    monkeypatch.setattr("machines.agent.lease.anyio.sleep", quickly)

    async def work() -> str:
        while clock.now < 1_000.0 + 2 * LEASE_SECONDS:
            await sleep(0)
        return "done"

    if holds:
        assert await leased(store, "me", clock, work, lambda: None) == "done"
    else:
        with pytest.raises(JournalError, match="away"):
            await leased(store, "me", clock, work, lambda: None)


async def test_two_who_begin_at_once_are_told_apart(store: SqliteStore) -> None:
    async def work() -> None:
        with pytest.raises(Overtaken, match="another process is at work on this run: me"):
            await leased(SqliteStore(store.path, "run"), "other", Clock(), work, lambda: None)

    await leased(store, "me", Clock(), work, lambda: None)


def test_a_process_is_known_by_its_number_where_its_number_means_it() -> None:
    mine = new_holder()
    machine, number, _ = mine.split("/")
    assert number == str(os.getpid())
    assert Leased(mine).own
    assert not Leased(mine).gone
    gone = f"{machine}/999999999/x"
    assert Leased(gone).gone
    assert not Leased(gone).own
    for other in (f"{machine}0/999999999/x", f"{machine.split(':')[0]}/999999999/x", "elsewhere/1/x", "odd", ""):
        assert not Leased(other).gone
        assert not Leased(other).own
