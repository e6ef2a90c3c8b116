"""A search over concrete runs: the real guards, and a world that may do anything that it can at every step.

The rules:

* Runs are walked breadth first, so that the first step that breaks a law ends a shortest way to one.
* Two runs are taken for the same where their keys, and what the laws remember, are equal. The machine's owner declares
  the key: what can no longer matter (counts beyond their limit, times, names) is left out of it. Of a key only its hash
  of 64 bits is kept, so one run in very many may be taken for another.
* A search that comes to its end has seen all that the moves lead to, under these keys. One that is cut short has seen
  every way of so many steps. Neither is a proof: it is reported as "no counterexample within".

A place is two numbers, where it was come from and by which of the moves there; the events of a way are made again by
playing it.
"""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

import attrs

from ..heard import AnyTable
from ..step import Fault, Step
from .laws import NO_FAULT, Law, Taken
from .skeleton import Crossing

R = TypeVar("R")
E = TypeVar("E")

STATES = 20_000
"""Runs that a search looks at where nobody says how many."""

EVERY = 2_000
"""States between two reports of progress."""

RowPath = tuple[tuple[str, ...], int]
"""A row of a machine, or of one inside it: the names of the tables on the way, and the row's number."""

Memory = tuple[Hashable, ...]
"""What the laws remember, in their order."""

Watch = Callable[[Taken[Any, Any]], None]


@attrs.frozen(eq=False)
class Search(Generic[R, E]):
    """A machine with the world around it.

    `starts` are runs before their first event, by name. `moves` answers every event that may come next, in an order
    that is always the same; `key` what of a run still matters. `play` steps the machine, with all that an event brings
    with it: by default one step of the table. `shape` are laws of the table's skeleton, which are proved there.
    """

    table: AnyTable
    starts: Mapping[str, R]
    moves: Callable[[R], Iterable[E]]
    key: Callable[[R], Hashable]
    laws: Sequence[Law[Taken[R, E]]] = ()
    shape: Sequence[Law[Crossing]] = ()
    play: Callable[[R, E], Sequence[Taken[R, E]]] | None = None

    def steps(self, run: R, event: E) -> Sequence[Taken[R, E]]:
        """What the event does to the run, step by step."""
        if self.play is not None:
            return self.play(run, event)
        try:
            answer = self.table.step(run, event)
        except Fault as fault:
            return (Taken(run, event, fault, run),)
        return (Taken(run, event, answer, answer.run),)


@attrs.frozen
class Way(Generic[R, E]):
    """A run from its start on, event by event, with every step that was taken."""

    start: str
    run: R
    events: tuple[E, ...]
    steps: tuple[Taken[R, E], ...]


@attrs.frozen
class Broken:
    """A law that a step breaks: which, what is wrong, and a shortest way there; the last step of it is the one."""

    law: Law[Taken[Any, Any]]
    problem: str
    way: Way[Any, Any]


@attrs.frozen
class Explored:
    """What a search saw from one start. `closed`: every run that the moves lead to, under the keys.

    One that is not closed saw every way of `depth` events, each of which may be several steps. `states` are different
    runs, `steps` all that were taken. `rows` leads to each row that was taken by a shortest way. `broken` holds one way
    for each law that does not hold.
    """

    table: str
    start: str
    laws: tuple[Law[Taken[Any, Any]], ...]
    states: int
    steps: int
    depth: int
    closed: bool
    seconds: float
    rows: Mapping[RowPath, Way[Any, Any]]
    broken: tuple[Broken, ...]

    @property
    def ok(self) -> bool:
        """No law was broken."""
        return not self.broken


@attrs.frozen
class Progress:
    """How far a search has come: from which start, states found and still to be looked at, depth, seconds."""

    start: str
    states: int
    waiting: int
    depth: int
    seconds: float


def explore(
    search: Search[R, E],
    start: str,
    *,
    states: int = STATES,
    first: bool = False,
    tell: Callable[[Progress], None] | None = None,
    watch: Watch | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Explored:
    """Search from one start until `states` different runs are found, or there are no more.

    With `first` the first broken law ends it too. `tell` hears of the progress, `watch` of every step that led to a run
    not seen before.
    """
    return _Walk(search, start, clock, tell, watch).to(states, first=first)


class _Walk:
    """One search under way."""

    def __init__(
        self,
        search: Search[Any, Any],
        start: str,
        clock: Callable[[], float],
        tell: Callable[[Progress], None] | None,
        watch: Watch | None,
    ) -> None:
        self.search, self.start, self.clock, self.tell, self.watch = search, start, clock, tell, watch
        self.laws = (NO_FAULT, *search.laws)
        # A place by number: the place before it (itself for the start) and which of the moves there led to it.
        self.came, self.by = array("L"), array("H")
        self.known: set[int] = set()
        self.todo: deque[tuple[int, int, Any, Memory]] = deque()
        self.taken = 0
        self.first: dict[RowPath, tuple[int, int]] = {}
        self.found: dict[str, tuple[Law[Taken[Any, Any]], str, int, int]] = {}

    def to(self, most: int, *, first: bool) -> Explored:
        """Search until so many states are found, or with `first` a broken law."""
        began, depth, told = self.clock(), 0, EVERY
        self._enter(0, 0, 0, self.search.starts[self.start], tuple(law.start for law in self.laws))
        while self.todo and len(self.came) < most and not (first and self.found):
            place, depth, run, memory = self.todo.popleft()
            for number, event in enumerate(self.search.moves(run)):
                self._move(place, number, depth + 1, run, memory, event)
            if self.tell is not None and len(self.came) >= told:
                told = len(self.came) + EVERY
                self.tell(Progress(self.start, len(self.came), len(self.todo), depth, self.clock() - began))
        seconds = self.clock() - began
        broken = (Broken(law, problem, self._way(place, by)) for law, problem, place, by in self.found.values())
        return Explored(
            self.search.table.name,
            self.start,
            self.laws,
            len(self.came),
            self.taken,
            depth,
            not self.todo,
            seconds,
            {row: self._way(*last) for row, last in self.first.items()},
            tuple(broken),
        )

    def _move(self, place: int, number: int, depth: int, run: Any, memory: Memory, event: Any) -> None:
        steps = self.search.steps(run, event)
        for step in steps:
            self.taken += 1
            run = step.after
            for row in rows_of(step.answer):
                if row not in self.first:
                    self.first[row] = place, number
            memory = self._held(step, memory, place, number)
        if self._enter(place, number, depth, run, memory) and self.watch is not None:
            for step in steps:
                self.watch(step)

    def _held(self, step: Taken[Any, Any], memory: Memory, place: int, number: int) -> Memory:
        """Ask every law of the step; what they remember of it."""
        changed: list[Hashable] | None = None
        for at, law in enumerate(self.laws):
            if law.name in self.found:
                continue
            if problem := law.broken(step, memory[at]):
                self.found[law.name] = law, problem, place, number
            if law.remember is not None:
                kept = law.remember(memory[at], step)
                if kept != memory[at]:
                    changed = list(memory) if changed is None else changed
                    changed[at] = kept
        return memory if changed is None else tuple(changed)

    def _enter(self, place: int, number: int, depth: int, run: Any, memory: Memory) -> bool:
        """Keep a run that is to be looked at; says whether it was not known."""
        key = hash((self.search.key(run), memory))
        if key in self.known:
            return False
        self.known.add(key)
        self.todo.append((len(self.came), depth, run, memory))
        self.came.append(place)
        self.by.append(number)
        return True

    def _way(self, place: int, last: int) -> Way[Any, Any]:
        """The way to a place, and one move more."""
        numbers = [last]
        while place:
            numbers.append(self.by[place])
            place = self.came[place]
        start = run = self.search.starts[self.start]
        events, steps = list[Any](), list[Taken[Any, Any]]()
        for number in reversed(numbers):
            event = next(islice(self.search.moves(run), number, None))
            events.append(event)
            steps += self.search.steps(run, event)
            run = steps[-1].after if steps else run
        return Way(self.start, start, tuple(events), tuple(steps))


def rows_of(answer: Any, inside: tuple[str, ...] = ()) -> Iterator[RowPath]:
    """The rows that a step took: the machine's own, and those of the machines inside it."""
    if answer.__class__ is Step:
        step: Step[Any, Any] = answer
        path = (*inside, step.machine)
        yield path, step.row
        for held in step.inside:
            yield from rows_of(held, path)
