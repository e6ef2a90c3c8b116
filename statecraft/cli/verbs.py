"""The framework's verbs, ready to be added to a command line: check, diagram, verify, replay, explain."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard

from cyclopts import App, Parameter

from ..codec import codec, dump
from ..diagrams import GraphvizError, Taken, diagrams_of, dot, drift, mermaid, svg, taken
from ..journal import Journaled, Store, link, opened, runs_of, verify
from ..journal.opened import is_sqlite
from ..proofs import NeedsRun, prove
from ..replay import Explanation, decide_again, explain, replay, told
from ..replay.told import Found
from .loading import AnyTable, load, load_value
from .running import BadInput

AnyJournaled = Journaled[Any, Any, Any]
Change = Callable[[Path, Any], Any]
Json = Annotated[bool, Parameter(help="JSON for programs.", negative=())]
RunName = Annotated[str | None, Parameter(help="Which run, where an SQLite file holds several.")]
Of = Annotated[
    str | None, Parameter(help="The machine of the journal as MODULE:NAME of a Journaled value; agent runs need none.")
]


def add_verbs(
    app: App, *, journaled: Mapping[str, str], tables: str, folder: str, policies: Mapping[str, Change] | None = None
) -> None:
    """Add the verbs to `app`.

    `journaled` says under which MODULE:NAME the machines known to this command line are found, by the machine's name;
    `tables` is the module that `check` and `diagram` take by default, `folder` where its diagrams lie. `policies` has,
    by the machine's name, what makes of a policy file and a run the run under that policy.
    """
    policies = policies or {}

    @app.command
    def check(
        target: Annotated[str, Parameter(help="MODULE (all its tables) or MODULE:TABLE.")] = tables,
        *,
        json: Json = False,
    ) -> int:
        """Prove what can be proved of tables: their structure, that every run ends, and within how many steps.

        Exit 1 if a table has a flaw, or a cycle that nothing bounds; that is printed row by row.

        Examples:
            statecraft check
            statecraft check my_machines:DOOR
        """
        machines = load(target)
        try:
            report = prove(machines.tables, machines.samples)
        except NeedsRun as error:
            raise BadInput(f"{target}: {error}") from error
        if json:
            sys.stdout.buffer.write(dump(codec().to_plain(report)) + b"\n")
        else:
            sys.stdout.write("\n".join(report.lines) + "\n")
        return 0 if report.ok else 1

    @app.command
    def diagram(
        target: Annotated[str, Parameter(help="MODULE (all its tables) or MODULE:TABLE.")] = tables,
        *,
        into: Annotated[Path | None, Parameter(help="The folder of the diagrams.")] = None,
        check: Annotated[
            bool, Parameter(help="Change nothing; exit 1 with a diff if a diagram is stale.", negative=())
        ] = False,
        journal: Annotated[Path | None, Parameter(help="Draw this run over its machine, on standard output.")] = None,
        run: RunName = None,
        of: Of = None,
        form: Annotated[
            Literal["mermaid", "dot", "svg"], Parameter(name="--as", help="What a drawn run is written as.")
        ] = "mermaid",
    ) -> int:
        """Draw tables into a folder (NAME.mmd and NAME.dot), or check those that lie there, or draw one run.

        Examples:
            statecraft diagram
            statecraft diagram --check
            statecraft diagram my_machines:DOOR --into pictures
            statecraft diagram --journal run.jsonl --as svg > run.svg
        """
        if journal is not None:
            found = journaled_of(journal, run, of, journaled)
            sys.stdout.buffer.write(_drawn(found.table, walked(journal, run, found.table), form))
            return 0
        generated = diagrams_of(load(target).tables)
        place = Path(folder) if into is None else into
        if check:
            stale = drift(generated, place)
            sys.stdout.write(stale)
            return 1 if stale else 0
        place.mkdir(parents=True, exist_ok=True)
        for name in sorted(generated):
            (place / name).write_text(generated[name], encoding="utf-8")
            sys.stdout.write(f"{place / name}\n")
        return 0

    @app.command(name="verify")
    def verify_(
        *journals: Annotated[Path, Parameter(help="Journals: JSON Lines files, or SQLite files.")],
        run: RunName = None,
        json: Json = False,
    ) -> int:
        """Say of each journal whether it is whole; if not, at which line it was touched, and how.

        Exit 1 if any is broken or open (without its terminal record).

        Examples:
            statecraft verify runs/*.jsonl
            statecraft verify runs.db --run nightly
        """
        if not journals:
            raise BadInput("verify: no journal given; expected one path or more")
        worst = 0
        for path in journals:
            for name in _runs(path, run):
                found = verify(path, name)
                worst = max(worst, found.verdict != "whole")
                if json:
                    sys.stdout.buffer.write(dump({"journal": str(path), **codec().to_plain(found)}) + b"\n")
                    continue
                where = "" if found.seq is None else f" at sequence number {found.seq} (line {found.line})"
                what = f": {found.why}{where}: {found.detail}" if found.why else f", {found.lines} lines"
                sys.stdout.write(f"{path}{f' ({name})' if name else ''}: {found.verdict}{what}\n")
        return worst

    @app.command(name="replay")
    def replay_(
        journal: Annotated[Path, Parameter(help="A journal: a JSON Lines file, or an SQLite file.")],
        *,
        policy: Annotated[
            Path | None, Parameter(help="Decide again: the recorded policy, changed by this file.")
        ] = None,
        run: RunName = None,
        of: Of = None,
        json: Json = False,
    ) -> int:
        """Step a journal's events again and compare line by line; or decide again under another policy.

        Exit 1 if the table no longer answers as recorded, or, with --policy, if the two runs part.

        Examples:
            statecraft replay run.jsonl
            statecraft replay run.jsonl --policy strict.toml
        """
        machine = journaled_of(journal, run, of, journaled)
        with closing(opened(journal, run)) as store:
            if policy is None:
                again = replay(store, machine)
                _tell(again, json)
                return 0 if again.difference is None else 1
            change = policies.get(machine.table.name)
            if change is None:
                raise BadInput(f"--policy: the machine {machine.table.name!r} has no policy that a file could change")
            decided = decide_again(store, machine, lambda first: change(policy, first))
            _tell(decided, json)
            return 0 if decided.parting is None and decided.difference is None else 1

    @app.command(name="explain")
    def explain_(
        journal: Annotated[Path, Parameter(help="A journal: a JSON Lines file, or an SQLite file.")],
        *,
        seq: Annotated[int | None, Parameter(help="Explain the line with this sequence number.")] = None,
        row: Annotated[int | None, Parameter(help="Explain the last step that took this row.")] = None,
        run: RunName = None,
        of: Of = None,
        json: Json = False,
    ) -> int:
        """Say why a run ended, or why a step went where it did: each row in order, each guard with its values.

        Examples:
            statecraft explain run.jsonl
            statecraft explain run.jsonl --row 22
            statecraft explain run.jsonl --seq 14
        """
        if seq is not None and row is not None:
            raise BadInput("explain: found both --seq and --row, expected one of them")
        machine = journaled_of(journal, run, of, journaled)
        with closing(opened(journal, run)) as store:
            found = explain(store, machine, seq, row=row)
            if seq is None and row is None and (entered := _entered(store, found)) is not None:
                _tell(explain(store, machine, entered), json)  # what brought it there, first
            _tell(found, json)
        return 0


def _entered(store: Store, found: Explanation) -> int | None:
    """The line that brought the run into the state that the explained step left: mostly the decision behind an end."""
    last: int | None = None
    for line in store.lines():
        record = link(line).record or {}
        if record.get("seq") == found.seq:
            break
        if record.get("kind") == "step" and record.get("target") == found.source != record.get("source"):
            last = record["seq"]
    return last


def _tell(found: Found, json: bool) -> None:
    if json:
        sys.stdout.buffer.write(dump(codec().to_plain(found)) + b"\n")
    else:
        sys.stdout.write(told(found) + "\n")


def _runs(path: Path, run: str | None) -> tuple[str | None, ...]:
    """The runs that are meant: the one named, or all that an SQLite file holds."""
    if run is not None or not is_sqlite(path):
        return (run,)
    return runs_of(path)


def journaled_of(path: Path, run: str | None, of: str | None, known: Mapping[str, str]) -> AnyJournaled:
    """The machine whose run a journal is. Raises `BadInput`."""
    with closing(opened(path, run)) as store:
        first = next(store.lines(), None)
    record = (link(first).record if first is not None else None) or {}
    machine = record.get("machine")
    if not isinstance(machine, str):
        raise BadInput(f"{path}: is no journal: its first line names no machine; see statecraft verify")
    target = of or known.get(machine)
    if target is None:
        raise BadInput(
            f"{path}: is a run of the machine {machine!r}, which this command does not know; give --of MODULE:NAME"
        )
    found: AnyJournaled = load_value(target, _is_journaled, "a Journaled machine")
    if found.table.name != machine:
        raise BadInput(f"{path}: is a run of the machine {machine!r}, and {target} is {found.table.name!r}")
    return found


def _is_journaled(value: object) -> TypeGuard[AnyJournaled]:
    return isinstance(value, Journaled)


def walked(path: Path, run: str | None, table: AnyTable) -> Taken:
    """The rows that a journal's run took, as its lines say."""
    with closing(opened(path, run)) as store:
        return taken(_pairs(record for line in store.lines() if (record := link(line).record)), table)


def _pairs(records: Iterator[Mapping[str, Any]]) -> Iterator[Any]:
    for record in records:
        if record.get("kind") == "step":
            yield _pair(record)


def _pair(record: Mapping[str, Any]) -> Any:
    return record.get("row"), {one["machine"]: _pair(one) for one in record.get("inside", ())}


def _drawn(table: AnyTable, way: Taken, form: str) -> bytes:
    if form == "svg":
        try:
            return svg(table, way)
        except GraphvizError as error:
            raise BadInput(str(error)) from error
    return (mermaid(table, way) if form == "mermaid" else dot(table, way)).encode()
