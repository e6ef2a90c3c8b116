"""A search over concrete runs: the real guards, and a world that may do anything that it can at every step.

The rules:

* Runs are walked breadth first, so that the first step that breaks a law ends a shortest way to one.
* Two runs are taken for the same where their keys, and what the laws remember, are equal. The machine's owner declares
  the key: what can no longer matter (counts beyond their limit, times, names) is left out of it. Keys are kept, so that
  a search takes memory for them; of one that is bytes only a digest is.
* A search that comes to its end has seen all that the moves lead to, under these keys. One that is cut short has seen
  every way of so many steps. Neither is a proof: it is reported as "no counterexample within".

A place is two numbers, where it was come from and by which of the moves there; the events of a way are made again by
playing it.

How far one walk may go is `explore`'s, from one start; `aim` (in `aiming`) goes on with several, until all rows are
taken.
"""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import attrs

from ..heard import AnyTable
from ..step import Fault, Step, Unhandled
from .asking import MOVES, CannotAsk, blamed, ready, short
from .laws import NO_FAULT, Law, Taken
from .skeleton import Crossing

R = TypeVar("R")
E = TypeVar("E")

STATES = 20_000
"""Runs that a search looks at where nobody says how many."""

KEPT = 16
"""Bytes that are kept of a key that is bytes itself."""

EVERY = 2_000
"""States between two reports of progress."""

RowPath = tuple[tuple[str, ...], int]
"""A row of a machine, or of one inside it: the names of the tables on the way, and the row's number."""

Memory = tuple[Hashable, ...]
"""What the laws remember, in their order."""

Watch = Callable[[Taken[Any, Any]], None]

News = Callable[[Taken[Any, Any]], bool]
"""Whether a step showed something that no step before it did; it is asked of every step, in their order."""

NO_ROWS: Mapping[RowPath, str] = MappingProxyType({})


@attrs.frozen(eq=False)
class Near(Generic[R, E]):
    """A run from which rows are near, and of the moves those that lead there."""

    run: R
    moves: Callable[[R], Iterable[E]]


NONE_NEAR: Mapping[str, Near[Any, Any]] = MappingProxyType({})


@attrs.frozen(eq=False)
class Search(Generic[R, E]):
    """A machine with the world around it.

    `starts` are runs before their first event, by name. `moves` answers every event that may come next, in an order
    that is always the same; `key` what of a run still matters. `play` steps the machine, with all that an event brings
    with it: by default one step of the table. `shape` are laws of the table's skeleton, which are proved there.

    `near` are more starts by name, each with fewer moves, from which rows are near that no other start leads to soon:
    the walk to every row begins with them too, the search for what breaks a law does not. `never` says of a row, by its
    tables and its number, why no run takes it.
    """

    table: AnyTable
    starts: Mapping[str, R]
    moves: Callable[[R], Iterable[E]]
    key: Callable[[R], Hashable]
    laws: Sequence[Law[Taken[R, E]]] = ()
    shape: Sequence[Law[Crossing]] = ()
    play: Callable[[R, E], Sequence[Taken[R, E]]] | None = None
    near: Mapping[str, Near[R, E]] = NONE_NEAR
    never: Mapping[RowPath, str] = NO_ROWS

    def __attrs_post_init__(self) -> None:
        starts: Any = self.starts
        if not isinstance(starts, Mapping):
            raise TypeError(f"Search: starts: found {type(starts).__name__}, expected runs by a name for each")
        for name, laws in (("laws", self.laws), ("shape", self.shape)):
            given: Sequence[Any] = laws
            whole = isinstance(given, list | tuple)
            strange = [type(one).__name__ for one in given if one.__class__ is not Law] if whole else [_kind(given)]
            if strange:
                raise TypeError(f"Search: {name}: found {strange[0]}, expected a list of Laws")
        for name, function in (("moves", self.moves), ("key", self.key)):
            if not callable(function):
                raise TypeError(f"Search: {name}: found {type(function).__name__}, expected a function of the run")

    def nearby(self, name: str) -> Search[R, E]:
        """The search from one of the near starts alone, with its own moves."""
        return attrs.evolve(self, starts={name: self.near[name].run}, moves=self.near[name].moves, near=NONE_NEAR)

    def steps(self, run: R, event: E) -> Sequence[Taken[R, E]]:
        """What the event does to the run, step by step."""
        try:
            if self.play is not None:
                return self.play(run, event)
            answer = self.table.step(run, event)
        except Fault as fault:
            return (Taken(run, event, fault, run),)
        if answer.__class__ is Unhandled:
            known = ", ".join(kind.__name__ for kind in self.table.events)
            raise CannotAsk(f"the search of {self.table.name}: moves answers {short(event)}, expected one of {known}")
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
    return Walk(search, start, clock, tell, watch).to(states, first=first)


class Walk:
    """One search under way: `to` goes on with it, as often as it is asked.

    With `news` those runs are looked at first that are the fewest events away from a step that showed something new;
    ways are then short, and not the shortest. Without, they are looked at in the order in which they were found.
    """

    def __init__(
        self,
        search: Search[Any, Any],
        start: str,
        clock: Callable[[], float],
        tell: Callable[[Progress], None] | None,
        watch: Watch | None = None,
        news: News | None = None,
    ) -> None:
        self.search, self.start, self.clock, self.tell, self.watch = search, start, clock, tell, watch
        self.news = news
        self.laws = (NO_FAULT, *search.laws)
        self.where = f"the search of {search.table.name} from {start!r}"
        # A place by number: the place before it (itself for the start) and which of the moves there led to it.
        self.came, self.by = array("L"), array("H")
        self.known: set[Hashable] = set()
        # By how many events lie between them and the last news.
        self.todo: list[deque[tuple[int, int, Any, Memory]]] = []
        self.taken = self.depth = 0
        self.seconds = 0.0
        self.first: dict[RowPath, tuple[int, int]] = {}
        self.found: dict[str, tuple[Law[Taken[Any, Any]], str, int, int]] = {}

        ready(self.where, search, search.starts[start], self.laws)
        self._enter(0, 0, 0, search.starts[start], tuple(law.start for law in self.laws), 0)

    @property
    def waiting(self) -> int:
        """Runs that are still to be looked at."""
        return sum(map(len, self.todo))

    def to(self, most: int, *, first: bool = False) -> Explored:
        """Search until so many states are found, or with `first` a broken law."""
        self.go(most, first=first)
        return self.explored()

    def go(self, most: int, *, first: bool = False, done: Callable[[], bool] | None = None) -> None:
        """The same without the ways to what was found; it ends too when `done`, which is asked at each run."""
        began, told = self.clock() - self.seconds, len(self.came) + EVERY
        while any(self.todo) and len(self.came) < most and not (first and self.found) and not (done and done()):
            since = next(since for since, runs in enumerate(self.todo) if runs)
            place, self.depth, run, memory = self.todo[since].popleft()
            try:
                for number, event in enumerate(islice(self.search.moves(run), MOVES + 1)):
                    self._move(place, number, self.depth + 1, run, memory, event, since)
                    if number == MOVES:
                        raise CannotAsk(f"{self.where}: moves, asked of {short(run)}, answers more than {MOVES} events")
            except CannotAsk:
                raise
            except Exception as error:  # whatever a user's functions do
                raise blamed(self.where, self.search, self.laws, run, memory, error) from error
            if self.tell is not None and len(self.came) >= told:
                told = len(self.came) + EVERY
                self.tell(Progress(self.start, len(self.came), self.waiting, self.depth, self.clock() - began))
        self.seconds = self.clock() - began

    def explored(self) -> Explored:
        """What has been found by now."""
        broken = (_broken(law, problem, self._way(place, by)) for law, problem, place, by in self.found.values())
        return Explored(
            self.search.table.name,
            self.start,
            self.laws,
            len(self.came),
            self.taken,
            self.depth,
            not self.waiting,
            self.seconds,
            {row: self._way(*last) for row, last in self.first.items()},
            tuple(broken),
        )

    def _move(self, place: int, number: int, depth: int, run: Any, memory: Memory, event: Any, since: int) -> None:
        steps, new = self.search.steps(run, event), False
        for step in steps:
            self.taken += 1
            run = step.after
            for row in rows_of(step.answer):
                if row not in self.first:
                    self.first[row] = place, number
            memory = self._held(step, memory, place, number)
            new = (self.news is not None and self.news(step)) or new
        since = 0 if new or self.news is None else since + 1
        if self._enter(place, number, depth, run, memory, since) and self.watch is not None:
            for step in steps:
                self.watch(step)

    def _held(self, step: Taken[Any, Any], memory: Memory, place: int, number: int) -> Memory:
        """Ask every law of the step; what they remember of it."""
        changed: list[Hashable] | None = None
        for at, law in enumerate(self.laws):
            if law.name in self.found:
                continue
            if problem := law.broken(step, memory[at]):
                if problem.__class__ is not str:
                    said = f"the law {law.name!r} answered {problem!r}, expected a text: what is wrong, or nothing"
                    raise CannotAsk(f"{self.where}: {said}")
                self.found[law.name] = law, problem, place, number
            if law.remember is not None:
                kept = law.remember(memory[at], step)
                if kept != memory[at]:
                    changed = list(memory) if changed is None else changed
                    changed[at] = kept
        return memory if changed is None else tuple(changed)

    def _enter(self, place: int, number: int, depth: int, run: Any, memory: Memory, since: int) -> bool:
        """Keep a run that is to be looked at; says whether it was not known."""
        key = self.search.key(run)
        key = (blake2b(key, digest_size=KEPT).digest() if isinstance(key, bytes) else key, memory)
        if key in self.known:
            return False
        self.known.add(key)
        while len(self.todo) <= since:
            self.todo.append(deque())
        self.todo[since].append((len(self.came), depth, run, memory))
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
            again = list(islice(self.search.moves(run), number, number + 1))
            if not again:
                raise CannotAsk(
                    f"{self.where}: moves, asked of {short(run)} again, answers other events; expected the same"
                )
            event = again[0]
            events.append(event)
            steps += self.search.steps(run, event)
            run = steps[-1].after if steps else run
        return Way(self.start, start, tuple(events), tuple(steps))


def _broken(law: Law[Taken[Any, Any]], problem: str, way: Way[Any, Any]) -> Broken:
    """The way, as far as to the step that the law is broken by: an event may bring more."""
    memory: Any = law.start
    for number, step in enumerate(way.steps, 1):
        if law.broken(step, memory):
            return Broken(law, str(problem), attrs.evolve(way, steps=way.steps[:number]))
        memory = law.remember(memory, step) if law.remember is not None else memory
    raise CannotAsk(f"broken of the law {law.name!r} said {problem!r}, and not when asked again; expected the same")


def _kind(value: object) -> str:
    return type(value).__name__


def rows_of(answer: Any, inside: tuple[str, ...] = ()) -> Iterator[RowPath]:
    """The rows that a step took: the machine's own, and those of the machines inside it."""
    if answer.__class__ is Step:
        step: Step[Any, Any] = answer
        path = (*inside, step.machine)
        yield path, step.row
        for held in step.inside:
            yield from rows_of(held, path)
