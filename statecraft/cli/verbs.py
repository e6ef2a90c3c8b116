"""The framework's verbs, ready to be added to a command line: check, diagram, paths, and what reads journals."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter, validators

from ..codec import codec, dump
from ..journal import opened
from ..proofs import AIMED, bounds_of
from ..replay import decide_again, explain, replay, standing, told
from ..replay.told import Found
from . import guards_seen
from .checking import found, proved
from .drawing import Form, draw, keep, stale
from .importing import imports
from .journals import journaled_of, place_of, walked
from .loading import load
from .pathing import As, Tracer, paths_of
from .running import BadInput
from .searching import STATES, Walked, Walks, kept
from .texts import add
from .verifying import verified

Change = Callable[[Path, Any], Any]
AT_LEAST_0, AT_LEAST_1 = validators.Number(gte=0), validators.Number(gte=1)
FLAG = Parameter(negative=(), show_default=False)
Json = Annotated[bool, FLAG, Parameter(help="JSON for programs: one object.")]
JsonEach = Annotated[bool, FLAG, Parameter(help="JSON for programs: one object a run, one a line.")]
Target = Annotated[str | None, Parameter(help="MODULE (all its tables) or MODULE:TABLE.")]
RunName = Annotated[
    str | None,
    Parameter(help="Which run, where a database holds several; a file that holds another one is refused."),
]
Of = Annotated[
    str | None, Parameter(help="The machine of the journal as MODULE:NAME of a Journaled value; agent runs need none.")
]
OneJournal = Annotated[
    str, Parameter(help="A journal: a JSON Lines file, an SQLite file, or postgresql://USER@HOST/DATABASE.")
]


def add_verbs(
    app: App,
    *,
    journaled: Mapping[str, str],
    tables: str,
    folder: str,
    policies: Mapping[str, Change] | None = None,
    tracers: Mapping[str, Tracer] | None = None,
) -> None:
    """Add the verbs to `app`.

    `journaled` says under which MODULE:NAME the machines known to this command line are found, by the machine's name;
    `tables` is the module that `check` and `diagram` take by default, `folder` where its diagrams lie. `policies` has,
    by the machine's name, what makes of a policy file and a run the run under that policy; `tracers`, by the same name,
    what makes recordings of ways through it.
    """
    changes = policies or {}

    def check(
        target: Target = None,
        /,
        *,
        bound: Annotated[
            bool, FLAG, Parameter(help="Only how far a run can go at most, and which limits it can meet.")
        ] = False,
        policy: Annotated[
            Path | None,
            Parameter(
                help="Under this policy file instead of the default one, for machines that have a policy (the agent's)."
            ),
        ] = None,
        states: Annotated[
            int,
            Parameter(help="Different runs that the searches look at together; 0: no search.", validator=AT_LEAST_0),
        ] = STATES,
        jobs: Annotated[
            int,
            Parameter(
                help="Processes that search, each from other starts; several of them say nothing of guards.",
                validator=AT_LEAST_1,
            ),
        ] = 1,
        into: Annotated[
            Path | None,
            Parameter(help="A folder for what breaks a law: its diagram, and of a search a test that fails."),
        ] = None,
        guards: Annotated[
            bool,
            FLAG,
            Parameter(help="Also which guards never or always held in the searches, and which rows held at once."),
        ] = False,
        json: Json = False,
    ) -> int:
        """Prove what can be proved of tables: their structure, that every run ends, within how many steps, and laws.

        Without a target, the tables of this program. Laws are proved where all of a table can be looked at: without its
        guards, or on every combination of facts. Where guards and a world that may do anything are played, they are
        searched for a counterexample, shortest first; that none is found within so many runs is no proof. How many
        guards were seen both ways there is one line; with --guards each that was not is shown, and the rows of one
        cell that held at once, with the evidence of both.

        Beside its tables a module may offer, all optional: SAMPLES, a run for each table's name where sizes of budgets
        depend on the run; WORLDS, by the table's name what is around it (statecraft.World); SEARCHES, a list of
        statecraft.proofs.Search; FACTS, a list of statecraft.proofs.Facts; ASSUMED, texts that the proofs rest on.

        Exit 1 if a table has a flaw, a limit that no count can reach, a law that is broken, or a cycle that nothing
        bounds; that is printed row by row. Also if two rows held at once that a table takes to be apart.

        Examples:
            statecraft check
            statecraft check my_machines
            statecraft check my_machines:DOOR --json
            statecraft check --bound --policy strict.toml
            statecraft check --states 1000000 --jobs 2 --into broken
            statecraft check my_machines --guards
        """
        if guards and bound:
            raise BadInput("check: found --guards beside --bound, expected one of them")
        if guards and jobs > 1:
            raise BadInput(f"check: found --guards beside --jobs {jobs}, expected one of them, or --jobs 1")
        if into is not None and into.exists() and not into.is_dir():
            raise BadInput(f"--into {into}: found a file, expected a folder")
        whole = proved(target or tables, policy, changes)
        report = bounds_of(whole) if bound else whole
        walks = Walks(()) if bound else found(target or tables, states, jobs)
        if json:
            plain = codec().to_plain(report)
            more = {
                "walks": codec().to_plain(walks.walks, tuple[Walked, ...]),
                "guards": [guards_seen.plain(one, full=guards) for one in walks.seen],
            }
            sys.stdout.buffer.write(dump(plain if bound else {**plain, **more}) + b"\n")
        else:
            full = guards_seen.in_full(walks.seen) if guards else ()
            sys.stdout.write("\n".join((*report.lines, *walks.lines, *full)) + "\n")
        if into is not None:
            for path in kept(walks, into):
                sys.stderr.write(f"{path}\n")
        return 0 if report.ok and walks.ok else 1

    def diagram(
        target: Target = None,
        /,
        *,
        into: Annotated[Path, Parameter(help="The folder of the diagrams.")] = Path(folder),
        check: Annotated[bool, FLAG, Parameter(help="Change nothing; exit 1 with a diff if one is stale.")] = False,
        journal: Annotated[str | None, Parameter(help="Draw this run over its machine, on standard output.")] = None,
        run: RunName = None,
        of: Of = None,
        form: Annotated[
            Form | None,
            Parameter(name="--as", help="Draw as this alone. [default: a run mermaid, tables mermaid and dot]"),
        ] = None,
    ) -> int:
        """Draw tables into a folder (NAME.mmd and NAME.dot), or check those that lie there, or draw one run.

        Without a target, the tables of this program. An SVG (NAME.svg) needs Graphviz.

        Examples:
            statecraft diagram
            statecraft diagram --check
            statecraft diagram my_machines:DOOR --into pictures
            statecraft diagram --journal run.jsonl --as svg > run.svg
        """
        elsewhere = None if into == Path(folder) else into
        given = {
            "TARGET": target,
            "--into": elsewhere,
            "--check": check or None,
            "--as": form,
            "--run": run,
            "--of": of,
        }
        if journal is not None:
            _only(given, "beside --journal", ("--as", "--run", "--of"))
            place = place_of(journal)
            table = journaled_of(place, run, of, journaled).table
            sys.stdout.buffer.write(draw(table, walked(place, run, table), form or "mermaid"))
            return 0
        if check:
            _only(given, "beside --check", ("TARGET", "--into", "--check"))
        _only(given, "without --journal", ("TARGET", "--into", "--check", "--as"))
        found = load(target or tables).tables
        return stale(found, into) if check else keep(found, into, form)

    def paths(
        target: Target = None,
        /,
        *,
        states: Annotated[
            int,
            Parameter(
                help="Different runs that are looked at at most, from all starts together.",
                validator=validators.Number(gte=1),
            ),
        ] = AIMED,
        form: Annotated[
            As | None,
            Parameter(
                name="--as",
                help="Write them: a module of tests, JSON Lines, or recordings for audit. [default: only the figures]",
                show_default=False,
            ),
        ] = None,
        into: Annotated[
            Path | None, Parameter(help="A folder for what is written, instead of standard output.")
        ] = None,
        force: Annotated[bool, FLAG, Parameter(help="Write over files that are there.")] = False,
    ) -> int:
        """Find a small set of event scripts that walks every row of a table, and of the machines inside it.

        Without a target, the tables of this program. What is walked is a search that the module offers in SEARCHES: its
        starts, and the events that may come next. A module of tests runs as it stands, under pytest. In JSON, an object
        a line is one way: table, start, events (each with its class under `is`), and steps, each with its rows.

        Exit 1 if a row was not reached; each such row is listed on standard error.

        Examples:
            statecraft paths
            statecraft paths my_machines:DOOR --as pytest > test_door_paths.py
            statecraft paths --as json --states 100000 --into walks
            statecraft paths --as trace --into walks --force
        """
        named = target or tables
        return paths_of(named, states=states, form=form, into=into, force=force, tracers=tracers or {})

    def verify(
        *journals: Annotated[
            str,
            Parameter(
                help="Journals: JSON Lines files, SQLite files, or postgresql://USER@HOST/DATABASE; of a folder, "
                "every one in it."
            ),
        ],
        run: RunName = None,
        json: JsonEach = False,
    ) -> int:
        """Say of each journal whether it is whole; if not, at which line it was touched, and how.

        Content beside the chain is looked at too. What is missing is said (content may be deleted, the chain stays
        whole); what is not what was put there is a finding. Exit 1 if any journal is broken, open (without its terminal
        record), or has altered content.

        Examples:
            statecraft verify runs/*.jsonl
            statecraft verify demo-runs
            statecraft verify runs.db --run nightly
        """
        return verified([place_of(journal) for journal in journals], run, json=json)

    def replay_(
        journal: OneJournal,
        /,
        *,
        policy: Annotated[
            Path | None, Parameter(help="Decide again: the recorded policy, changed by this file.")
        ] = None,
        run: RunName = None,
        of: Of = None,
        json: Json = False,
    ) -> int:
        """Step a journal's events again and compare them with the record; or decide again under another policy.

        Deciding again finds where the two runs part. From there on the recorded events are those of a run that went
        another way, so nothing is forecast: how the second run would have ended is told only if it reached an end
        while they still fitted it. What the record measured stays as measured: a key that changes only how something
        is done, and not what is decided by it, makes nothing part.

        Exit 1 if the table no longer answers as recorded, or, with --policy, if the two runs part.

        Examples:
            statecraft replay run.jsonl
            statecraft replay run.jsonl --policy strict.toml
        """
        place = place_of(journal)
        machine = journaled_of(place, run, of, journaled)
        with closing(opened(place, run)) as store:
            if policy is None:
                again = replay(store, machine)
                _tell(again, json=json)
                return 0 if again.difference is None else 1
            change = changes.get(machine.table.name)
            if change is None:
                raise BadInput(f"--policy: the machine {machine.table.name!r} has no policy that a file could change")
            decided = decide_again(store, machine, lambda first: change(policy, first))
            _tell(decided, json=json)
            return 0 if decided.parting is None and decided.difference is None else 1

    def explain_(
        journal: OneJournal,
        /,
        *,
        seq: Annotated[
            int | None, Parameter(help="Explain what happened at this sequence number: the N of `seq N`.")
        ] = None,
        row: Annotated[int | None, Parameter(help="Explain the last step that took this row.")] = None,
        run: RunName = None,
        of: Of = None,
        json: Json = False,
    ) -> int:
        """Say why a run ended, or why a step went where it did: each row in order, each guard with its values.

        The first line says how the run stands; then come the step that led to its last state but one, and its last.

        Examples:
            statecraft explain run.jsonl
            statecraft explain run.jsonl --row 22
            statecraft explain run.jsonl --seq 14
        """
        if seq is not None and row is not None:
            raise BadInput("explain: found both --seq and --row, expected one of them")
        place = place_of(journal)
        machine = journaled_of(place, run, of, journaled)
        with closing(opened(place, run)) as store:
            whole = seq is None and row is None
            _tell(standing(store, machine) if whole else explain(store, machine, seq, row=row), json=json)
        return 0

    add(app, check, "check")
    add(app, diagram, "diagram")
    add(app, paths, "paths")
    add(app, verify, "verify")
    add(app, replay_, "replay")
    add(app, explain_, "explain")
    app.command(imports())


def _tell(found: Found, *, json: bool) -> None:
    if json:
        sys.stdout.buffer.write(dump(codec().to_plain(found)) + b"\n")
    else:
        sys.stdout.write(told(found) + "\n")


def _only(given: Mapping[str, object], where: str, fitting: tuple[str, ...]) -> None:
    """Refuse what is given and does not fit."""
    extra = [name for name, value in given.items() if value is not None and name not in fitting]
    if extra:
        expected = ", ".join(name for name in fitting if f"beside {name}" != where)
        raise BadInput(f"diagram: found {', '.join(extra)} {where}, expected at most {expected}")
