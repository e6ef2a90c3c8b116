"""What the journal costs, in CPU time on one core: encoding a line, and keeping it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import Enum, auto
from pathlib import Path
from typing import Any

import attrs
import pytest

from statecraft import Evidence, Level, Reading, Rows, Step, Table, ordered, reaches, seen
from statecraft.codec import codec, dump
from statecraft.journal import FileStore, Journaled, MemoryStore, SqliteStore, Store, Writer, seal, verify
from statecraft.journal.records import answered
from statecraft.replay import replay

from .conftest import SLACK

pytestmark = pytest.mark.benchmark


class Phase(Enum):
    ASKING = auto()
    ACTING = auto()


class Turns(Enum):
    TURN = "turns"


@attrs.frozen
class Call:
    id: str
    tool: str
    signature: bytes
    args: str
    target: str | None = None


@attrs.frozen
class Usage:
    input: int = 0
    output: int = 0
    usd: float = 0.0


@attrs.frozen
class Reply:
    at: float
    stop: str
    calls: tuple[Call, ...]
    usage: Usage = Usage()
    text: str | None = None


@attrs.frozen
class RunTools:
    turn: int
    calls: tuple[str, ...]


@attrs.frozen
class Run:
    at: Phase
    purse: Mapping[Turns, int | None]
    turn: int = 0


def fits(run: Run, event: Reply) -> Evidence:
    return seen("fits", True, input=event.usage.input, limit=200_000)


def detector(number: int) -> Any:
    def read(run: Run, event: Reply) -> Reading:
        return Reading(f"detector_{number}", len(event.calls) if number else 4, 3, 5, 60)

    read.__name__ = f"detector_{number}"
    return read


def act(run: Run, event: Reply) -> tuple[Run, list[RunTools]]:
    return attrs.evolve(run, turn=run.turn + 1), [RunTools(run.turn, tuple(call.id for call in event.calls))]


def machine(detectors: int) -> Journaled[Run, Reply, RunTools]:
    row = Rows[Run, Phase, RunTools]()
    stops = [
        row(Phase.ASKING, Reply, Phase.ASKING, act, reaches(detector(number), Level.STOP), asks=[RunTools])
        for number in range(detectors)
    ]

    def at(run: Run) -> Phase:
        return run.at

    def move(run: Run, at: Phase) -> Run:
        return attrs.evolve(run, at=at)

    def purse(run: Run) -> Mapping[Turns, int | None]:
        return run.purse

    def pay(run: Run, purse: Mapping[Turns, int | None]) -> Run:
        return attrs.evolve(run, purse=purse)

    table: Table[Run, Phase, Reply, RunTools] = Table(
        "bench",
        [
            *stops,
            row(Phase.ASKING, Reply, Phase.ACTING, act, fits, asks=[RunTools], spends=Turns.TURN),
            row(Phase.ASKING, Reply, Phase.ACTING, act, asks=[RunTools]),
            row(Phase.ACTING, Reply, Phase.ASKING, act, asks=[RunTools]),
            *([ordered([Phase.ASKING], [Reply], "the roster's order")] if detectors else []),
        ],
        events=[Reply],
        initial=Phase.ASKING,
        final=[],
        at=at,
        move=move,
        budgets={Turns.TURN: 60},
        purse=purse,
        pay=pay,
    )
    return Journaled(table, Run, codec())


REPLY = Reply(
    12.5,
    "tool_use",
    (Call("toolu_01A", "bash", b"\x01" * 8, "ab" * 32), Call("toolu_01B", "edit", b"\x02" * 8, "cd" * 32, "a.py")),
    Usage(15_000, 300, 0.02),
)
RUN = Run(Phase.ASKING, {Turns.TURN: 60})


def best(run: Callable[[], object], count: int, times: int = 7) -> float:
    """Microseconds of CPU time, the best of several rounds."""
    found = float("inf")
    for _ in range(times):
        begun = time.process_time()
        for _ in range(count):
            run()
        found = min(found, (time.process_time() - begun) / count)
    return found * 1e6


@pytest.mark.parametrize(("detectors", "limit"), [(0, 15.0), (33, 25.0)])
def test_a_line_is_encoded_fast(detectors: int, limit: float, capsys: pytest.CaptureFixture[str]) -> None:
    of = machine(detectors)
    answer = of.table.step(RUN, REPLY)
    assert isinstance(answer, Step)

    def encode() -> bytes:
        record: dict[str, Any] = answered(of, REPLY, answer) or {}
        record["seq"], record["prev"] = 7, "0" * 64
        return seal(dump(record))[0]

    spent = best(encode, 3000)
    with capsys.disabled():
        print(f"\n  encode a step with {len(answer.seen)} answers, {len(encode())} bytes: {spent:.1f} us")
    assert spent <= limit * SLACK


def lines_a_second(store: Store, count: int) -> tuple[float, float]:
    """Lines a second of a store that is given made-up lines, by CPU time and by the clock."""
    store.claim()
    body = b"x" * 650
    cpu, clock = time.process_time(), time.perf_counter()
    for number in range(count):
        store.append(number, b'{"seq":%d,"x":"%s"}' % (number, body))
    cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
    store.close()
    return count / cpu, count / clock


@pytest.mark.parametrize(
    ("kind", "durability", "count", "limit"),
    [
        ("sqlite", "process", 20_000, 20_000),
        ("sqlite", "power", 4_000, 4_000),
        ("file", "process", 20_000, 20_000),
        ("file", "power", 4_000, 4_000),
    ],
)
def test_lines_are_kept_fast(
    tmp_path: Path, kind: str, durability: Any, count: int, limit: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found: list[tuple[float, float]] = []
    for attempt in range(3):
        path = tmp_path / f"{attempt}"
        store: Store = SqliteStore(path, "r", durability) if kind == "sqlite" else FileStore(path, durability)
        found.append(lines_a_second(store, count))
    cpu, clock = (max(rates) for rates in zip(*found, strict=True))
    with capsys.disabled():
        print(f"\n  {kind}, durability {durability}: {cpu:,.0f} lines a second of CPU time, {clock:,.0f} by the clock")
    assert cpu >= limit / SLACK


def test_a_turn_with_its_content_is_one_commit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = SqliteStore(tmp_path / "runs.db", "r")
    store.claim()
    numbers = iter(range(10**9))

    def turn() -> None:
        number = next(numbers)
        for part in range(4):
            store.put(b"%d %d " % (number, part) * 100)
        store.append(number, b'{"seq":%d,"x":"%s"}' % (number, b"x" * 650))

    spent = best(turn, 1000, 3)
    store.close()
    with capsys.disabled():
        print(f"\n  a line with four contents of 0.5 to 1 KB to SQLite: {spent:.0f} us")
    assert spent <= 450 * SLACK


def test_reading_back_is_fast(capsys: pytest.CaptureFixture[str]) -> None:
    of = machine(0)
    store = MemoryStore()
    writer = Writer.begin(store, of, "r", RUN)
    run = RUN
    for _ in range(2000):
        answer = of.table.step(run, REPLY)
        writer.answer(REPLY, answer)
        run = answer.run
    writer.end(run.at)
    check = best(lambda: verify(store), 1, 5) / 2002
    again = best(lambda: replay(store, of), 1, 3) / 2002
    with capsys.disabled():
        print(f"\n  verify {check:.1f} us a line, replay {again:.1f} us a line")
    assert check <= 40 * SLACK
    assert again <= 150 * SLACK


@pytest.mark.parametrize("kind", ["file", "sqlite"])
def test_the_last_lines_of_many_are_found_fast(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    store: Store = SqliteStore(tmp_path / "r", "r") if kind == "sqlite" else FileStore(tmp_path / "r")
    for number in range(30_000):
        store.append(number, b'{"seq":%d,"x":"%s"}' % (number, b"x" * 650))
    assert len(list(store.lines(29_899))) == 100
    spent = best(lambda: list(store.lines(29_899)), 20)
    store.close()
    with capsys.disabled():
        print(f"\n  the last 100 of 30,000 lines from {kind}: {spent:.0f} us")
    assert spent <= 500 * SLACK
