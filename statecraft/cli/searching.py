"""What `check` finds by walking: the skeleton of each table, its tables of facts, and its searches.

What is proved is told apart from what was only not found: a skeleton that closes and a table of facts show that a law
holds, a search that it was not broken within so many states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unicodedata import normalize

import attrs

from ..diagrams import mermaid, taken
from ..heard import AnyTable
from ..proofs import (
    NO_FAULT,
    Broken,
    BrokenShape,
    CannotAsk,
    Crossing,
    Decided,
    Explored,
    Facts,
    Law,
    Progress,
    Search,
    Skeleton,
    TooLarge,
    decide,
    explore,
    skeleton,
)
from ..proofs.asking import ready
from ..step import Fault
from ..table import with_inner
from ..testing.broken_law import law_script, played, steps_text
from ..testing.searched import SearchCoverage, SearchTally
from . import guards_seen

STATES = 8_000
"""States that all searches of one check look at together, where nobody says how many: some seconds."""

LONGEST = 100
"""Characters of the name of a test, and of the files that are written of it."""

SHORT = 60
"""Characters of an event that are shown in the way to what breaks a law."""

STUCK = "from every place rows lead to an ending"


@attrs.frozen
class BrokenLaw:
    """A law that does not hold: what is wrong, and the way there step by step.

    Where a search found it, `name` is what the test is called that shows it, `test` its text, and `drawn` the way over
    its machine in Mermaid's language.
    """

    law: str
    reason: str
    problem: str
    way: tuple[str, ...]
    name: str = ""
    test: str = ""
    drawn: str = ""


@attrs.frozen
class Walked:
    """One walk through a machine, for people and programs.

    `how` is `skeleton`, `facts` or `search`, `of` what of it (the start of a search). `closed`: all of it was seen.
    `size` counts places, decisions or states, `steps` what was taken between them, `depth` the events of a search.
    `open` is what could not be shown, and is no mistake for that.
    """

    table: str
    how: str
    of: str
    size: int
    steps: int
    depth: int
    closed: bool
    seconds: float
    laws: tuple[str, ...]
    broken: tuple[BrokenLaw, ...]
    problem: str = ""
    open: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """No law is broken, and the walk could be made."""
        return not self.broken and not self.problem


@attrs.frozen
class Walks:
    """All walks, in the order in which they were made; `seen`: what the searches saw of each table's guards.

    `unsearched`: why nothing was searched, where nothing was.
    """

    walks: tuple[Walked, ...]
    seen: tuple[SearchCoverage, ...] = ()
    unsearched: str = ""

    @property
    def ok(self) -> bool:
        """No law is broken in any of them, and no two rows held at once that are apart."""
        return all(one.ok for one in self.walks) and all(one.ok for one in self.seen)

    @property
    def lines(self) -> tuple[str, ...]:
        """The walks for people, one line each."""
        seen = (line for one in self.seen for line in guards_seen.summary(one))
        return (*_lines(self.walks), *seen, *([f"not searched: {self.unsearched}"] if self.unsearched else ()))


Tell = Callable[[Progress], None]
Apart = Callable[[Sequence[Search[Any, Any]], int, Tell | None], Iterable[Walked]]
"""What makes the searches with so many states, in other processes say."""


def walked(
    tables: Iterable[AnyTable],
    searches: Sequence[Search[Any, Any]],
    facts: Iterable[Facts[Any, Any]],
    *,
    states: int = STATES,
    tell: Tell | None = None,
    apart: Apart | None = None,
) -> Walks:
    """Walk them all. `states` are shared by the searches: what one that closes leaves over goes to the others.

    `apart` makes the searches elsewhere, and nothing is then seen of guards. Raises `CannotAsk` where a function of a
    law, a search or a table of facts raises.
    """
    if idle := [search.table.name for search in searches if not search.starts]:
        raise CannotAsk(f"the search of {idle[0]}: found no starts, expected one at least")
    shape: dict[int, tuple[Law[Crossing], ...]] = {}
    for search in searches:
        shape[id(search.table)] = (*shape.get(id(search.table), ()), *search.shape)
    found = [_skeleton(table, shape.get(id(table), ())) for table in with_inner(tuple(tables))]
    found += [_decided(decide(one)) for one in facts]
    if apart is not None and states and searches:
        return Walks((*found, *apart(searches, states, tell)))
    starts = [(search, start) for search in searches for start in search.starts] if states else []
    left = states
    tally = SearchTally()
    for number, (search, start) in enumerate(starts):
        laws = (NO_FAULT, *search.laws)  # asked here too: what tallies a search plays it, which hides a wrong start
        ready(f"the search of {search.table.name} from {start!r}", search, search.starts[start], laws)
        seen = explore(tally.of(search), start, states=max(1, left // (len(starts) - number)), tell=tell)
        left -= min(left, seen.states)
        found.append(searched(search, seen))
    once = {id(search.table): search for search, _ in starts}  # a table may have several searches
    why = "" if starts else "no states are asked for" if searches else "the module has no list SEARCHES for it"
    return Walks(tuple(found), tuple(map(tally.coverage, once.values())), why)


def kept(walks: Walks, folder: Path) -> tuple[Path, ...]:
    """Write what breaks a law: the way drawn over its machine, and of a search the test that fails there."""
    broken = [one for walk in walks.walks for one in walk.broken if one.name]
    if broken:
        folder.mkdir(parents=True, exist_ok=True)
    shortest: dict[str, BrokenLaw] = {}
    for one in sorted(broken, key=lambda one: len(one.way)):
        same = [other.law for other in shortest.values() if other.name == one.name]
        if one.law not in same:  # two laws may have one name in plain letters
            shortest[f"{one.name}_{len(same) + 1}" if same else one.name] = one
    written: list[Path] = []
    for name, one in shortest.items():
        for path, text in ((folder / f"{name}.py", one.test), (folder / f"{name}.mmd", one.drawn)):
            if text:
                path.write_text(text, encoding="utf-8", errors="backslashreplace")
                written.append(path)
    return tuple(written)


def test_name(table: AnyTable, law: Law[Any]) -> str:
    """What a test of the law is called, and the files that are written of it."""
    words = normalize("NFKC", f"{table.name} {law.name}").lower()
    plain = "".join(c if c.isascii() and c.isalnum() else " " for c in words).split()
    return "_".join(("test", *plain))[:LONGEST]


def _skeleton(table: AnyTable, laws: Sequence[Law[Any]]) -> Walked:
    try:
        found: Skeleton = skeleton(table, laws)
    except TooLarge as problem:
        return Walked(table.name, "skeleton", "", 0, 0, 0, False, 0.0, _names(laws), (), str(problem))
    broken = [_broken_shape(table, one) for one in found.broken]
    names = (*_names(laws), *((STUCK,) if table.final and not found.stuck else ()))
    # The skeleton knows whether anything is left of a budget, and not how much: what is empty there may never be so.
    left = (f"{STUCK}: none is known from {', '.join(found.stuck)} once a budget is used up",) if found.stuck else ()
    how = ("skeleton", "", found.places, found.crossings, 0, True, found.seconds)
    return Walked(table.name, *how, names, tuple(broken), open=left)


def _broken_shape(table: AnyTable, one: BrokenShape) -> BrokenLaw:
    """A way through the skeleton has rows and no events, so it is drawn and not played."""
    drawn = mermaid(table, taken([(crossing.row, {}) for crossing in one.way], table))
    return BrokenLaw(one.law.name, one.law.reason, one.problem, one.lines, test_name(table, one.law), drawn=drawn)


def _decided(found: Decided) -> Walked:
    broken = tuple(
        BrokenLaw(law.name, law.reason, problem, (f"{step.before!r}", f"{step.event!r}"))
        for law, problem, step in found.broken
    )
    names = _names(found.laws)
    return Walked(found.table, "facts", "", found.cases, found.cases, 1, True, found.seconds, names, broken)


def searched(search: Search[Any, Any], found: Explored) -> Walked:
    """What a search found, as text and numbers."""
    broken = tuple(_broken(search, one) for one in found.broken)
    names = _names(found.laws)
    return Walked(
        found.table,
        "search",
        found.start,
        found.states,
        found.steps,
        found.depth,
        found.closed,
        found.seconds,
        names,
        broken,
    )


def _broken(search: Search[Any, Any], one: Broken) -> BrokenLaw:
    way = (f"{_event(event)}: {steps_text(steps)}" for event, steps in played(search, one.way))
    steps = [step.answer for step in one.way.steps if not isinstance(step.answer, Fault)]
    drawn = mermaid(search.table, taken([one for one in steps if one.machine == search.table.name], search.table))
    name, test = test_name(search.table, one.law), counterexample(search, one)
    return BrokenLaw(one.law.name, one.law.reason, one.problem, tuple(way), name, test, drawn)


def _event(event: object) -> str:
    """The event, if it is short; the test has it in full."""
    text = repr(event)
    return text if len(text) <= SHORT else f"{type(event).__name__}(...)"


def counterexample(search: Search[Any, Any], one: Broken) -> str:
    """A test that walks to the step that breaks the law, and fails there until the machine is mended."""
    return law_script(search, one, test_name(search.table, one.law))


def _names(laws: Iterable[Law[Any]]) -> tuple[str, ...]:
    return tuple(law.name for law in laws)


def _lines(walks: Sequence[Walked]) -> Iterator[str]:
    proved = [one for one in walks if one.how != "search" and (one.laws or one.problem or one.open)]
    if proved:
        yield "looked at whole:"
    for one in proved:
        yield from _proved(one)
    searches = [one for one in walks if one.how == "search"]
    for table in dict.fromkeys(one.table for one in searches):
        yield from _found(table, [one for one in searches if one.table == table])


def _proved(one: Walked) -> Iterator[str]:
    if one.how == "skeleton":
        how = "whatever its guards say"
        size = f"{_count(one.size, 'place')}, {_count(one.steps, 'row')} between them"
    else:
        how, size = "on every combination of facts", _count(one.size, "decision")
    yield f"  {one.table}, {how}: {one.problem or f'{size}, in {one.seconds:.1f} s'}"
    yield from _told([one])
    if not one.problem:
        yield from (f"    proved: {law}" for law in _holding([one]))
    yield from (f"    not shown: {what}" for what in one.open)


def _found(table: str, walks: Sequence[Walked]) -> Iterator[str]:
    yield f"{table}, searched with its guards, where the world may do anything at every step:"
    for one in walks:
        seen = "all of its" if one.closed else "the first"
        deep = f"none more than {_count(one.depth, 'event')} away"
        deep = deep if one.closed else f"every way of {_count(one.depth, 'event')}"
        took = f"{_count(one.steps, 'step')} in {one.seconds:.1f} s"
        yield f"  from {_quoted(one.of)}: {seen} {_count(one.size, 'run')}, {deep}, {took}"
    yield from _told(walks)
    if laws := _holding(walks):
        yield "    no counterexample within these to:"
        yield from (f"      {law}" for law in laws)


def _holding(walks: Sequence[Walked]) -> list[str]:
    """The laws that are not broken in any of them."""
    broken = {one.law for walk in walks for one in walk.broken}
    return [law for law in dict.fromkeys(law for walk in walks for law in walk.laws) if law not in broken]


def _told(walks: Sequence[Walked]) -> Iterator[str]:
    """What is broken, each law by the shortest way that was found to it."""
    ways = sorted(((one, walk.of) for walk in walks for one in walk.broken), key=lambda found: len(found[0].way))
    told: set[str] = set()
    for one, start in ways:
        if one.law in told:
            continue
        told.add(one.law)
        yield f"    BROKEN: {one.law}"
        yield f"      {one.problem} ({one.reason})"
        if start:
            yield f"      from {_quoted(start)}:"
        yield from (f"      {number}. {step}" for number, step in enumerate(one.way, 1))
        if one.test:
            yield "      as a test:"
            yield from (f"        {line}".rstrip() for line in one.test.splitlines())


def _count(number: int, of: str) -> str:
    return f"{number:,} {of}{'' if number == 1 else 's'}"


def _quoted(start: str) -> str:
    return f'"{start}"'
