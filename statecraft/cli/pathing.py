"""`paths`: a small set of event scripts that walks every row, as pytest parameters, as JSON, or as a writer has it.

One JSON object a way: `table`, `start` (the name of the start in the search), `events` (what the world did, each with
its class under `is`), and `steps` (what was stepped, in order: the class of the event, and the rows that it took;
where something plays the world, one event may be several steps, or none).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs

from ..codec import codec, dump
from ..diagrams.edges import picture
from ..diagrams.listing import row as row_text
from ..heard import AnyTable
from ..proofs import Aimed, Aiming, Paths, RowPath, Search, Way, aim, aimed_paths, row_paths
from ..proofs.aiming import tables_in
from ..testing.paths import path_module, taken
from .asking import asking, expect, walking
from .loading import load
from .running import BadInput

As = Literal["pytest", "json", "trace"]


@attrs.frozen
class Traces:
    """Ways as recordings: the files by their names, and what they cannot carry, a line each."""

    files: Mapping[str, bytes]
    notes: tuple[str, ...] = ()


Tracer = Callable[[Sequence[Way[Any, Any]]], Traces]


@attrs.frozen
class Walked:
    """What one search found: the paths, how they were found, and what is wrong, a line each."""

    paths: Paths
    aimed: Aimed
    problems: tuple[str, ...]

    @property
    def line(self) -> str:
        """The figures in one line."""
        ways, all_rows = self.paths.ways, sum(1 for _ in row_paths(self.paths.table))
        steps = [len(way.steps) for way in ways]
        long = f", the longest of {max(steps)} steps, {sum(steps)} in all" if steps else ""
        return (
            f"{self.paths.table.name}: {len(self.paths.rows)} of {all_rows} rows, by {len(ways)} ways{long}; "
            f"{self.aimed.states} runs looked at in {self.aimed.seconds:.1f} s"
        )


def paths_of(
    target: str,
    *,
    states: int,
    form: As | None,
    into: Path | None,
    force: bool,
    tracers: Mapping[str, Tracer],
) -> int:
    """Walk, write, and answer the exit code: 1 where a row was not reached. Raises `BadInput`."""
    with asking(target):
        searches = load(target).searches
        _fits(target, searches, form, into, tracers)
        found = [_walked(search, states) for search in searches]
    files: dict[str, bytes] = {}
    for one in found:
        files |= _written(one.paths, form, tracers)
    if into is not None:
        for path in _kept(files, into, force=force):
            sys.stdout.write(f"{path}\n")
    elif form is not None:
        sys.stdout.buffer.write(b"".join(files.values()))
    told = sys.stdout if form is None else sys.stderr
    told.write("".join(f"{one.line}\n" for one in found))
    for one in found:
        sys.stderr.write("".join(f"  {line}\n" for line in (*one.problems, *_never(one))))
    return 1 if any(one.problems for one in found) else 0


def _fits(
    target: str, searches: Sequence[Search[Any, Any]], form: As | None, into: Path | None, tracers: Mapping[str, Tracer]
) -> None:
    """Refuse what cannot be done before anything is searched."""
    expect(target, "SEARCHES", tuple(searches), Search)
    if not searches:
        raise BadInput(f"{target}: offers no search, expected a list SEARCHES beside the tables (statecraft.proofs)")
    if form is None and into is not None:
        raise BadInput("paths: found --into without --as, expected both")
    unknown = [search.table.name for search in searches if search.table.name not in tracers]
    if form == "trace" and unknown:
        known = ", ".join(tracers) or "none"
        raise BadInput(f"--as trace: {', '.join(unknown)}: no table whose runs have traces; such tables are: {known}")
    if form is not None and into is None and (form == "trace" or (form == "pytest" and len(searches) > 1)):
        raise BadInput(f"paths: found --as {form} without --into, expected a folder, as there are several files")
    names = [search.table.name for search in searches]
    if again := [name for name in names if names.count(name) > 1]:
        raise BadInput(f"{target}: two searches of a table called {again[0]!r}, expected one")


def _walked(search: Search[Any, Any], states: int) -> Walked:
    with walking() as show:

        def tell(now: Aiming) -> None:
            show(f"from {now.start}: {now.states:,} runs, {now.missing} rows still missing, {now.seconds:.0f} s")

        aimed = aim(search, states=states, tell=tell)
    found = aimed_paths(aimed)
    problems = [f"not reached: {said(found.table, row)}" for row in found.missing]
    wrong = [row for row in search.never if row not in found.never]
    problems += [f"reached, though no run was to take it: {said(found.table, row)}" for row in wrong]
    problems += [
        f"from {one.start}: {broken.problem}" for one in aimed.found for broken in one.broken
    ]  # no law but that there is no fault
    return Walked(found, aimed, tuple(problems))


def _never(one: Walked) -> Iterator[str]:
    for row in one.paths.never:
        yield f"never taken: {said(one.paths.table, row)}; {one.aimed.search.never[row]}"


def said(table: AnyTable, row: RowPath) -> str:
    """A row as the listing of its table has it, with the machines on the way to it."""
    path, number = row
    held = dict(tables_in(table))[path]
    return f"{'/'.join(path)} {row_text(picture(held).lines[number])}"


def _written(found: Paths, form: As | None, tracers: Mapping[str, Tracer]) -> Mapping[str, bytes]:
    name = found.table.name
    match form:
        case None:
            return {}
        case "json":
            return {f"{name}_paths.jsonl": b"".join(dump(one) + b"\n" for one in as_json(found))}
        case "trace":
            traces = tracers[name](found.ways)
            sys.stderr.write("".join(f"{note}\n" for note in traces.notes))
            return traces.files
        case "pytest":
            module = path_module(found)
            if module.missing:
                told = "".join(f"\n  {line}" for line in module.missing)
                raise BadInput(f"{name}: cannot be written as Python; try --as json:{told}")
            return {f"test_{name}_paths.py": module.text.encode("utf-8", "backslashreplace")}


def as_json(found: Paths) -> Iterator[Mapping[str, Any]]:
    """Each way as plain data. Raises `BadInput` where an event is no value that can be kept."""
    kinds: dict[type[Any], None] = dict.fromkeys(event.__class__ for way in found.ways for event in way.events)
    try:
        events = codec().tagged(*kinds)
        for way in found.ways:
            yield {
                "table": found.table.name,
                "start": way.start,
                "events": [events.write(event) for event in way.events],
                "steps": [{"event": type(step.event).__name__, "rows": taken(step.answer)} for step in way.steps],
            }
    except TypeError as error:
        raise BadInput(f"{found.table.name}: its events cannot be written as JSON: {error}") from error


def _kept(files: Mapping[str, bytes], into: Path, *, force: bool) -> Iterable[Path]:
    """Write the files into the folder; none where one is there already and nobody said to write over it."""
    if into.exists() and not into.is_dir():
        raise BadInput(f"{into}: found a file, expected a folder for the paths")
    there = [name for name in files if (into / name).exists()]
    if there and not force:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise BadInput(f"{into / there[0]}{more}: is there already, expected none; --force writes over it")
    into.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (into / name).write_bytes(data)
        yield into / name
