"""`import`: machines of other libraries, written as modules that hold a table, with what could not be carried over."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import attrs
from cyclopts import App, Parameter

from ..codec import codec, dump
from ..ported import LeftOut, NotPorted, Ported, Written, is_machine, loaded, read, settle, write
from ..proofs import FreeCycle, Report, prove
from .loading import load_value
from .running import BadInput, harmless
from .texts import add, split

FLAG = Parameter(negative=(), show_default=False)
EXPECTED = "a transitions.Machine, what makes one without arguments, or what holds one as its attribute `machine`"
CYCLES = (
    "A cycle that nothing bounds is normal in a table without budgets: transitions knows none. Give the rows that go "
    "round a budget to spend, and `statecraft check {}` proves that every run ends."
)


@attrs.frozen
class Condition:
    """A condition that became a guard of the name; `place` is where its function stands."""

    guard: str
    place: str


@attrs.frozen
class Imported:
    """What was carried over, what was not, and what is proved of the table. `states` and `triggers` give new names.

    The module's text is in the file, or where none was asked for, in `module`.
    """

    machine: str
    table: str
    file: str | None
    module: str | None
    states: Mapping[str, str]
    initial: str
    final: tuple[str, ...]
    triggers: Mapping[str, str]
    conditions: tuple[Condition, ...]
    rows: int
    not_carried_over: tuple[LeftOut, ...]
    report: Report


def imports() -> App:
    """The verb `import`, with a command for each library."""
    examples = split(transitions)[1]
    told = "Carry a machine of another library over into a module that holds it as a table."
    app = App(name="import", help=told, help_epilogue=examples)
    add(app, transitions, "transitions")
    return app


def transitions(
    target: Annotated[str, Parameter(help=f"MODULE:MACHINE, {EXPECTED}.")],
    /,
    *,
    into: Annotated[Path | None, Parameter(help="The file to write. [default: standard output]")] = None,
    force: Annotated[bool, FLAG, Parameter(help="Write over a file that is there.")] = False,
    auto: Annotated[bool, FLAG, Parameter(help="With the triggers to_STATE that transitions adds by itself.")] = False,
    json: Annotated[
        bool, FLAG, Parameter(help="JSON for programs: one object, what was carried over and not.")
    ] = False,
) -> int:
    """Write a machine of the transitions library as a module of your own: one table, checked.

    States, triggers, conditions and `unless` become states, events and guards; rows stand in the order in which
    transitions tries them. A guard reads a field of its event, since what a condition looks at is known to its function
    alone. Functions that transitions calls on its way (before, after, on_enter and the like) have no place in a table;
    they are named on standard error and at the head of the module, and so is all else that is not carried over.

    States that lie in one another are flattened (parent_child); parallel states are refused.

    Examples:
        statecraft import transitions shop.order:MACHINE --into order_table.py
        statecraft import transitions lights:TrafficLight --json
    """
    name, machine = _machine(target)
    if into is not None and into.exists() and not force:
        raise BadInput(f"{into}: is there already; expected a new file, or --force")
    try:
        ported = settle(read(machine, name, auto=auto))
    except NotPorted as error:
        raise BadInput(f"{target}: found {error}") from error
    written = write(ported, target)
    table = getattr(loaded(written), written.table)
    found = _imported(target, into, ported, written, len(table.rows), prove([table]))
    if into is not None:
        into.write_text(written.text, encoding="utf-8")
    if json:
        sys.stdout.buffer.write(dump(codec().to_plain(found)) + b"\n")
        return 0
    if into is None:
        sys.stdout.write(written.text)
    sys.stderr.write("".join(f"{line}\n" for line in _told(found)))
    return 0


def _imported(target: str, into: Path | None, ported: Ported, written: Written, rows: int, report: Report) -> Imported:
    return Imported(
        machine=target,
        table=ported.name,
        file=None if into is None else str(into),
        module=written.text if into is None else None,
        states=written.states,
        initial=ported.initial,
        final=ported.final,
        triggers=written.events,
        conditions=tuple(Condition(guard, ported.asks[number].place) for number, guard in written.asks.items()),
        rows=rows,
        not_carried_over=ported.left_out,
        report=report,
    )


def _told(found: Imported) -> list[str]:
    counts = {"state": len(found.states), "trigger": len(found.triggers), "condition": len(found.conditions)}
    counted = ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for what, n in {**counts, "row": found.rows}.items())
    ends = f"ends in {', '.join(found.final)}" if found.final else "no state is final"
    lines = [f"carried over: {counted}; begins in {found.initial}, {ends}"]
    if found.not_carried_over:
        lines += ["not carried over:", *(f"  {one}" for one in found.not_carried_over)]
    lines += ["checked:", *(f"  {line}" for line in found.report.lines)]
    if any(isinstance(one.steps, FreeCycle) for one in found.report.tables):
        lines.append(CYCLES.format("MODULE" if found.file is None else Path(found.file).stem))
    return [harmless(line) for line in lines]


def _machine(target: str) -> tuple[str, Any]:
    """The machine that the target names, and what its table is called."""
    package = target.partition(":")[0].partition(".")[0]

    def fits(held: object) -> bool:
        own = str(getattr(held, "__module__", "")).partition(".")[0] == package
        return _held(held) is not None or (callable(held) and own)

    given = load_value(target, fits, EXPECTED)
    machine = _held(given)
    if machine is None:
        try:
            made = given()
        except (Exception, SystemExit) as error:
            raise BadInput(
                f"{target}: making it raised {type(error).__name__}: {error}; expected {EXPECTED}"
            ) from error
        machine = _held(made)
        if machine is None:
            raise BadInput(f"{target}: it made an instance of {type(made).__name__}, expected {EXPECTED}")
    own_name = str(machine.name).removesuffix(": ")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", target.partition(":")[2]).lower()
    return own_name or words, machine


def _held(value: Any) -> Any:
    """The machine that the value is, or that it holds; None where there is none."""
    if is_machine(value):
        return value
    held = None
    with suppress(Exception):  # a value of a module may be anything, and answer with anything
        held = getattr(value, "machine", None)
    return held if is_machine(held) else None
