"""A machine for the tests of journal and replay: a ferry with an engine, a budget of trips and a count of storms.

Also a program, for the tests that need another process:

    ferry.py write STORE PATH RUN          one step after another for ever, each one's number printed once it is kept
    ferry.py append STORE PATH RUN COUNT   that many steps, and the terminal record
    ferry.py voyage STORE PATH             one voyage with a line of every kind
    ferry.py tell STORE PATH               replay, explain and decide again, as text
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto

import attrs
from rpds import HashTrieMap, HashTrieSet

from statecraft import (
    Evidence,
    Fault,
    Level,
    Reading,
    Rows,
    Step,
    Table,
    guard,
    ignore,
    inner,
    keep,
    reaches,
    refuse,
    seen,
)
from statecraft.codec import codec
from statecraft.guards import Question
from statecraft.journal import (
    Durability,
    FileStore,
    Journaled,
    JournalError,
    MemoryStore,
    SqliteStore,
    Store,
    Writer,
    shelf_at,
)
from statecraft.replay import decide_again, explain, replay, told


class Place(Enum):
    DOCKED = auto()
    SAILING = auto()
    SUNK = auto()
    RETIRED = auto()


class Heat(Enum):
    COLD = "cold"
    WARM = "warm"


class Trips(Enum):
    TRIP = "trips"


@attrs.frozen
class Board:
    at: float
    names: tuple[str, ...]


@attrs.frozen
class Depart:
    at: float


@attrs.frozen
class Arrive:
    at: float


@attrs.frozen
class Storm:
    at: float
    force: float
    bearing: bytes = b"\x01"


@attrs.frozen
class Tick:
    at: float


@attrs.frozen
class Whistle:
    times: int


@attrs.frozen
class Log:
    text: str


@attrs.frozen
class Engine:
    at: Heat = Heat.COLD
    starts: int = 0


@attrs.frozen
class Ferry:
    at: Place
    room: int
    stop_at: int
    purse: Mapping[Trips, int | None]
    engine: Engine = Engine()
    aboard: HashTrieSet[str] = HashTrieSet()
    forces: HashTrieMap[bytes, float] = HashTrieMap()


Happening = Board | Depart | Arrive | Storm | Tick
Asking = Whistle | Log


def start(engine: Engine, event: Depart) -> tuple[Engine, Sequence[Asking]]:
    return attrs.evolve(engine, starts=engine.starts + 1), [Log(f"start {engine.starts + 1}")]


stroke = Rows[Engine, Heat, Asking]()


def has_room(run: Ferry, event: Board) -> Evidence:
    free = run.room - len(run.aboard)
    return seen("has_room", free >= len(event.names), free=free, boarding=len(event.names))


@guard
def warm(run: Ferry, event: Depart) -> Evidence:
    return seen("warm", run.engine.at is Heat.WARM, starts=run.engine.starts)


@guard
def lucky(run: Ferry, event: Depart) -> Evidence:
    if len(run.aboard) == 13:
        raise ArithmeticError("thirteen aboard")
    return seen("lucky", True, aboard=len(run.aboard), ratio=len(run.aboard) / run.room)


def storms(run: Ferry, event: Storm) -> Reading:
    return Reading("storms", len(run.forces), 1, run.stop_at, 1000)


def board(run: Ferry, event: Board) -> tuple[Ferry, Sequence[Asking]]:
    aboard = run.aboard
    for name in event.names:
        aboard = aboard.insert(name)
    return attrs.evolve(run, aboard=aboard), ()


def whistle(run: Ferry, event: Depart) -> tuple[Ferry, Sequence[Asking]]:
    return run, [Whistle(len(run.aboard))]


def weather(run: Ferry, event: Storm) -> tuple[Ferry, Sequence[Asking]]:
    return attrs.evolve(run, forces=run.forces.insert(event.bearing, event.force)), ()


def log_weather(run: Ferry, event: Storm) -> tuple[Ferry, Sequence[Asking]]:
    return weather(run, event)[0], [Log(" ".join(sorted(run.aboard)))]


row = Rows[Ferry, Place, Asking]()


def build(
    *,
    engine: Table[Engine, Heat, Depart, Asking] | None = None,
    room: Question[Ferry, Board] = has_room,
    leave: Callable[[Ferry, Depart], tuple[Ferry, Sequence[Asking]]] = whistle,
    count: Callable[[Ferry, Storm], Reading] = storms,
    retires: bool = True,
) -> Table[Ferry, Place, Happening, Asking]:
    """The table; a part may be replaced by another of the same name, which leaves the table's digest as it is."""
    return Table(
        "ferry",
        [
            row(Place.DOCKED, Board, Place.DOCKED, board, room),
            row(Place.DOCKED, Depart, Place.SAILING, leave, warm & lucky, asks=[Whistle], spends=Trips.TRIP),
            row(Place.DOCKED, Depart, Place.RETIRED if retires else Place.SUNK, keep),
            row(Place.SAILING, Arrive, Place.DOCKED, keep),
            row(Place.SAILING, Storm, Place.SUNK, keep, reaches(count, Level.STOP)),
            row(Place.SAILING, Storm, Place.SAILING, log_weather, reaches(count, Level.NUDGE), asks=[Log]),
            row(Place.SAILING, Storm, Place.SAILING, weather),
            refuse([Place.SAILING], [Board, Depart], "nobody boards at sea"),
            ignore([Place.DOCKED], [Arrive, Storm], "it lies in the harbour"),
            ignore([Place.DOCKED, Place.SAILING], [Tick], "time alone moves no ship"),
        ],
        events=[Board, Depart, Arrive, Storm, Tick],
        initial=Place.DOCKED,
        final=[Place.SUNK, Place.RETIRED],
        at=lambda run: run.at,
        move=lambda run, at: attrs.evolve(run, at=at),
        budgets={Trips.TRIP: 4},
        purse=lambda run: run.purse,
        pay=lambda run, purse: attrs.evolve(run, purse=purse),
        inners=[
            inner(
                engine or ENGINE,
                during=[Place.DOCKED],
                get=lambda run, event: run.engine,
                put=lambda run, event, engine: attrs.evolve(run, engine=engine),
            )
        ],
    )


def build_engine(
    *, begin: Callable[[Engine, Depart], tuple[Engine, Sequence[Asking]]] = start, cools: bool = False
) -> Table[Engine, Heat, Depart, Asking]:
    """The inner table; `cools` gives it another row."""
    return Table(
        "engine",
        [
            stroke(Heat.COLD, Depart, Heat.WARM, begin, asks=[Log]),
            stroke(Heat.WARM, Depart, Heat.COLD if cools else Heat.WARM, keep),
        ],
        events=[Depart],
        initial=Heat.COLD,
        final=[],
        at=lambda engine: engine.at,
        move=lambda engine, at: attrs.evolve(engine, at=at),
    )


ENGINE = build_engine()
FERRY = build()


def hand_on(run: Ferry) -> Ferry:
    return fresh(stop_at=run.stop_at)


def fresh(room: int = 20, stop_at: int = 3, trips: int | None = 4) -> Ferry:
    return Ferry(Place.DOCKED, room, stop_at, {Trips.TRIP: trips})


JOURNALED: Journaled[Ferry, Happening, Asking] = Journaled(FERRY, Ferry, codec(), hand_on)


def crowd(count: int, first: int = 0) -> tuple[str, ...]:
    return tuple(f"person {number}" for number in range(first, first + count))


def voyage() -> list[Happening | None]:
    """Steps, a refusal by a guard and by the table, an ignored event, a fault, a sinking; None begins the next leg."""
    return [
        Board(0, crowd(13)),
        Board(1.5, crowd(9, 13)),
        Depart(2),  # thirteen aboard: a fault
        Tick(3),
        Board(3, ("ada \ud800", "grace")),
        Depart(4),
        Board(5, ("late",)),
        Storm(6, 7.5),
        Storm(7, 9, b"\x02"),
        Storm(8, 9, b"\x03"),
        Storm(9, 10, b"\x04"),
        Storm(10, 1),  # it has sunk: refused
        None,
        Depart(11),
        Storm(12, 3),
        Arrive(13),
        Depart(14),
        Arrive(15),
        Depart(16),
        Arrive(17),
        Depart(18),
        Arrive(19),
        Depart(20),  # no trips are left
    ]


def sail(
    store: Store,
    journaled: Journaled[Ferry, Happening, Asking] = JOURNALED,
    happenings: Sequence[Happening | None] | None = None,
    run: Ferry | None = None,
    *,
    end: bool = True,
) -> Ferry:
    """Journal a voyage, and give the run as it came to be."""
    run = fresh() if run is None else run
    writer = Writer.begin(store, journaled, "voyage", run, host="test", policy={"stop_at": run.stop_at})
    for happening in voyage() if happenings is None else happenings:
        if happening is None:
            run = hand_on(run)
            writer.leg(run)
            continue
        try:
            answer = journaled.table.step(run, happening)
        except Fault as fault:
            writer.fault(happening, fault)
        else:
            writer.answer(happening, answer)
            run = answer.run
    if end:
        writer.end(run.at)
    return run


def there_and_back() -> Iterator[Happening]:
    """Events that never end."""
    at = 0
    while True:
        yield Depart(at)
        yield Storm(at, 1)
        yield Arrive(at)
        at += 1


def store_of(kind: str, path: str, run: str) -> Store:
    durability: Durability = "power" if kind.endswith("+power") else "process"
    match kind.removesuffix("+power"):
        case "file":
            return FileStore(path, durability)
        case "sqlite":
            return SqliteStore(path, run, durability)
        case "postgres":
            return shelf_at(path, durability).store(run)
        case _:
            return MemoryStore()


def main(verb: str, kind: str, path: str, name: str = "voyage", count: str = "0") -> None:
    store = store_of(kind, path, name)
    if verb == "voyage":
        sail(store)
        store.close()
        return
    if verb == "tell":
        print(told(replay(store, JOURNALED)))
        print("\n".join(told(explain(store, JOURNALED, seq)) for seq in range(1, 24)))
        print(told(decide_again(store, JOURNALED, lambda run: attrs.evolve(run, stop_at=2))))
        return
    run = fresh(trips=None, stop_at=10**9)
    writer = Writer.begin(store, JOURNALED, name, run)
    for happening in there_and_back():
        store.put(f"content of line {writer.next}".encode())
        answer = FERRY.step(run, happening)
        assert isinstance(answer, Step)
        number = writer.answer(happening, answer)
        run = answer.run
        if verb == "write":
            print(number, flush=True)
        elif writer.next > int(count):
            break
    writer.end(run.at)
    store.close()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except JournalError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
