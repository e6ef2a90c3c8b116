"""What `check` finds by walking: the skeleton of each table, its tables of facts, and its searches.

What is proved is told apart from what was only not found: a skeleton that closes and a table of facts show that a law
holds, a search that it was not broken within so many states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from ..diagrams import mermaid, taken
from ..heard import AnyTable
from ..proofs import (
    Broken,
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
from ..step import Fault, Step
from ..testing.scripts import script
from ..testing.searched import SearchCoverage, SearchTally
from . import guards_seen

STATES = 4_000
"""States that all searches of one check look at together, where nobody says how many: some seconds."""

STUCK = "a way leads to an ending from every place"


@attrs.frozen
class BrokenLaw:
    """A law that does not hold: what is wrong, the way there step by step, and a test that shows it (empty: none)."""

    law: str
    reason: str
    problem: str
    way: tuple[str, ...]
    test: str = ""


@attrs.frozen
class Walked:
    """One walk through a machine, for people and programs.

    `how` is `skeleton`, `facts` or `search`, `of` what of it (the start of a search). `closed`: all of it was seen.
    `size` counts places, decisions or states, `steps` what was taken between them, `depth` the events of a search.
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

    @property
    def ok(self) -> bool:
        """No law is broken, and the walk could be made."""
        return not self.broken and not self.problem


@attrs.frozen
class Walks:
    """All walks, in the order in which they were made; `seen`: what the searches saw of each table's guards."""

    walks: tuple[Walked, ...]
    found: tuple[tuple[Search[Any, Any], Broken], ...] = ()
    seen: tuple[SearchCoverage, ...] = ()

    @property
    def ok(self) -> bool:
        """No law is broken in any of them, and no two rows held at once that are apart."""
        return all(one.ok for one in self.walks) and all(one.ok for one in self.seen)

    @property
    def lines(self) -> tuple[str, ...]:
        """The walks for people, one line each."""
        return (*_lines(self.walks), *(line for one in self.seen for line in guards_seen.summary(one)))


Tell = Callable[[Progress], None]


def walked(
    tables: Iterable[AnyTable],
    searches: Sequence[Search[Any, Any]],
    facts: Iterable[Facts[Any, Any]],
    *,
    states: int = STATES,
    tell: Tell | None = None,
) -> Walks:
    """Walk them all. `states` are shared by the searches: what one that closes leaves over goes to the others."""
    shape = {id(search.table): search.shape for search in searches}
    found = [_skeleton(table, shape.get(id(table), ())) for table in _each(tables)]
    found += [_decided(decide(one)) for one in facts]
    starts = [(search, start) for search in searches for start in search.starts] if states else []
    left = states
    broken: list[tuple[Search[Any, Any], Broken]] = []
    tally = SearchTally()
    for number, (search, start) in enumerate(starts):
        seen = explore(tally.of(search), start, states=max(1, left // (len(starts) - number)), tell=tell)
        left -= min(left, seen.states)
        found.append(_searched(search, seen))
        broken += [(search, one) for one in seen.broken]
    once = {id(search.table): search for search, _ in starts}  # a table may have several searches
    return Walks(tuple(found), tuple(broken), tuple(map(tally.coverage, once.values())))


def kept(walks: Walks, folder: Path) -> tuple[Path, ...]:
    """Write each counterexample of a search: a test that fails, and the way drawn over its machine."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for search, one in walks.found:
        name = test_name(one.law)
        steps = [step.answer for step in one.way.steps if not isinstance(step.answer, Fault)]
        drawn = mermaid(search.table, taken(steps, search.table))
        for path, text in ((folder / f"{name}.py", counterexample(search, one)), (folder / f"{name}.mmd", drawn)):
            path.write_text(text, encoding="utf-8")
            written.append(path)
    return tuple(written)


def test_name(law: Law[Any]) -> str:
    """What a test of the law is called."""
    return "_".join(("test", *"".join(c if c.isalnum() else " " for c in law.name.lower()).split()))


def _each(tables: Iterable[AnyTable]) -> Iterator[AnyTable]:
    """The tables, and the machines inside them, each once."""
    known: set[int] = set()
    todo = list(tables)
    while todo:
        table = todo.pop(0)
        if id(table) not in known:
            known.add(id(table))
            yield table
            todo += [held.table for held in table.inners]


def _skeleton(table: AnyTable, laws: Sequence[Law[Any]]) -> Walked:
    try:
        found: Skeleton = skeleton(table, laws)
    except TooLarge as problem:
        return Walked(table.name, "skeleton", "", 0, 0, 0, False, 0.0, _names(laws), (), str(problem))
    broken = [BrokenLaw(one.law.name, one.law.reason, one.problem, one.lines) for one in found.broken]
    broken += [BrokenLaw(STUCK, "a run that cannot end never does", f"none from {one}", ()) for one in found.stuck]
    names = (*_names(laws), *((STUCK,) if table.final else ()))
    return Walked(
        table.name, "skeleton", "", found.places, found.crossings, 0, True, found.seconds, names, tuple(broken)
    )


def _decided(found: Decided) -> Walked:
    broken = tuple(
        BrokenLaw(law.name, law.reason, problem, (f"{step.before!r}", f"{step.event!r}"))
        for law, problem, step in found.broken
    )
    names = _names(found.laws)
    return Walked(found.table, "facts", "", found.cases, found.cases, 1, True, found.seconds, names, broken)


def _searched(search: Search[Any, Any], found: Explored) -> Walked:
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
    steps = [f"{type(step.event).__name__}: {_said(step.answer)}" for step in one.way.steps]
    return BrokenLaw(one.law.name, one.law.reason, one.problem, tuple(steps), counterexample(search, one))


def counterexample(search: Search[Any, Any], one: Broken) -> str:
    """A test that walks to the step that breaks the law, and fails there until the machine is mended."""
    steps = one.way.steps
    # A run that is handed on goes another way than its steps: the test begins where the last of it does.
    begin = max((n for n, (last, step) in enumerate(pairwise(steps), 1) if step.before is not last.after), default=0)
    memory: Any = one.law.start
    for step in steps[:begin] if one.law.remember is not None else ():
        assert one.law.remember is not None
        memory = one.law.remember(memory, step)
    name = test_name(one.law)
    because = f"{one.law.name}: {one.problem}."
    events = [step.event for step in steps[begin:]]
    return script(search.table, steps[begin].before, events, name=name, because=because, law=one.law, memory=memory)


def _said(answer: Any) -> str:
    if isinstance(answer, Step):
        return f"row {answer.row}, {answer.source.name} -> {answer.target.name}"
    return f"a fault, {answer}" if isinstance(answer, Fault) else type(answer).__name__.lower()


def _names(laws: Iterable[Law[Any]]) -> tuple[str, ...]:
    return tuple(law.name for law in laws)


def _lines(walks: Sequence[Walked]) -> Iterator[str]:
    proved = [one for one in walks if one.how != "search" and one.laws]
    if proved:
        yield "proved by looking at all of it:"
    for one in proved:
        yield from _proved(one)
    searches = [one for one in walks if one.how == "search"]
    for table in dict.fromkeys(one.table for one in searches):
        yield from _found(table, [one for one in searches if one.table == table])


def _proved(one: Walked) -> Iterator[str]:
    seconds = f"in {one.seconds:.1f} s"
    if one.how == "skeleton":
        what = f"{one.table}, whatever its guards say: {one.size} places, {one.steps} rows between them, {seconds}"
    else:
        what = f"{one.table}, on every combination of facts: {one.size} decisions, {seconds}"
    yield f"  {what}: {'ok' if one.ok else 'BROKEN'}"
    if one.problem:
        yield f"    {one.problem}"
    yield from _laws([one])


def _found(table: str, walks: Sequence[Walked]) -> Iterator[str]:
    ok = all(one.ok for one in walks)
    yield f"{table}, searched with its guards in a world that may do anything: {'' if ok else 'BROKEN'}".rstrip(": ")
    for one in walks:
        how = f"all of {one.size} runs" if one.closed else f"no further than {one.size} runs"
        deep = f"{one.depth} events deep" if not one.closed else f"at most {one.depth} events"
        yield f"  from {one.of}: {how}, {deep}, {one.steps} steps in {one.seconds:.1f} s"
    if ok:
        yield "  no counterexample within these to:"
    yield from _laws(walks)


def _laws(walks: Sequence[Walked]) -> Iterator[str]:
    broken = {one.law: one for walk in walks for one in walk.broken}
    for law in dict.fromkeys(law for walk in walks for law in walk.laws):
        yield f"    {'BROKEN: ' if law in broken else ''}{law}"
        if law in broken:
            yield from _told(broken[law])


def _told(one: BrokenLaw) -> Iterator[str]:
    yield f"      {one.problem} ({one.reason})"
    yield from (f"      {number}. {step}" for number, step in enumerate(one.way, 1))
    if one.test:
        yield "      as a test:"
        yield from (f"      {line}".rstrip() for line in one.test.splitlines())
