"""What one event does to one run: inner machines first, then the first row whose guards hold, then the bill.

The caller's run is never changed: whatever goes wrong is a `Fault`, raised, and both steps are undone by being
dropped. A table is held to its word here: the state moves only by the row, the purse only by what the row spends and
refills, and an inner machine that bounds something begins again only in a row that says so: seen in full where the
inner machine names all its runs (`held`), else as far as the lens of the event shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from ._engine import Asked
from ._given import said
from .guards import Finding, name_of
from .step import Answer, Fault, Ignored, Refused, Step, Unhandled

AnyAnswer = Answer[Any, Any]
Findings = tuple[Finding, ...]

_NONE: frozenset[int] = frozenset()
_EMPTY: Mapping[Any, Any] = {}
_NOT_YET = object()


def step(table: Any, run: Any, event: Any) -> AnyAnswer:
    """What `event` does to `run`. Raises `Fault` where the machine itself is wrong."""
    try:
        return _step(table, run, event)
    except Fault:
        raise
    except Exception as error:
        problem = f"raised {type(error).__name__}: {error}"
        raise Fault(table.name, None, "at, move, purse, pay, a budget's size, get or put", problem) from error


def _step(table: Any, before: Any, event: Any) -> AnyAnswer:
    state = table.at(before)
    kind: type[Any] = event.__class__
    name = table.cell_of(state, kind)
    if name is None:
        return _without_rows(table, before, state, kind)
    # A copy, so that an effect that changes a purse in place is seen, and harms no later step.
    purse: Mapping[Any, Any] = dict(table.left(before)) if table.budgets else _EMPTY
    run, inside, asked_inside, opened = (
        _inside(table, before, event, state, purse) if table.inners else (before, (), (), _NONE)
    )
    asked = Asked(state.name, run, event, opened, purse)
    table.engine.ask(name, asked)
    answers = tuple(asked.answers.values())
    number = asked.row
    if number < 0:
        return Refused(before, answers, inside, table.name, state, name)
    row = table.rows[number]
    after, commands = _effect(table, number, run, event, state, purse, answers)
    left = purse
    if row.spends is not None or row.refills:
        after, left = _settle(table, number, after, purse, answers)
    if row.target is not state:
        after = table.move(after, row.target)
        if table.at(after) is not row.target:
            raise Fault(table.name, number, "move", f"does not lead to {row.target.name}", answers)
        if table.budgets and table.left(after) != left:
            raise Fault(table.name, number, "move", "changes the purse, which is the table's to pay from", answers)
    return Step(after, (*asked_inside, *commands), number, answers, inside, table.name, state, row.target)


def _effect(
    table: Any, number: int, run: Any, event: Any, state: Enum, purse: Mapping[Any, Any], answers: Findings
) -> tuple[Any, tuple[Any, ...]]:
    """Run the effect and hold it to what its row declares."""
    row = table.rows[number]
    answer: Any = _NOT_YET
    try:
        answer = after, listed = row.effect(run, event)
        commands = tuple(listed)
    except Exception as error:
        problem = _misshapen(answer) or f"raised {type(error).__name__}: {error}"
        raise Fault(table.name, number, name_of(row.effect), problem, answers) from error
    problem = ""
    for command in commands:
        if type(command) not in row.asks:
            problem = f"asks for {type(command).__name__}, which the row does not declare"
    if table.budgets and table.left(after) != purse:
        problem = "changes the purse, which is the table's to pay from"
    elif after is not run:
        if table.at(after) is not state:
            problem = "changes the state, which is the row's to change"
        else:
            for held in table.spent_inners:
                if held not in row.refills and not _kept(held, run, after, event):
                    problem = f"changes the inner machine {held.name} without refilling it"
    if problem:
        raise Fault(table.name, number, name_of(row.effect), problem, answers)
    return after, commands


def _misshapen(answer: Any) -> str:
    """What is wrong with the form of an effect's answer; empty where it has none yet, or the right one."""
    if answer is _NOT_YET:
        return ""
    kind: Any = answer.__class__
    if not issubclass(kind, tuple | list):
        return f"answered {kind.__name__}, expected (run, commands)"
    if len(answer) != 2:
        return f"answered {kind.__name__} of {len(answer)}, expected (run, commands)"
    commands = answer[1]
    return "" if isinstance(commands, Iterable) else f"answered {said(commands)} for its commands, expected a list"


def _settle(
    table: Any, number: int, run: Any, purse: Mapping[Any, int | None], answers: Findings
) -> tuple[Any, Mapping[Any, int | None]]:
    """Pay what the row spends, and make full what it refills; the run, and what is left in its purse."""
    row = table.rows[number]
    changed: dict[Any, int | None] = {}
    if isinstance(row.spends, Enum) and (had := purse[row.spends]) is not None:
        changed[row.spends] = had - 1
    for refilled in row.refills:
        if isinstance(refilled, Enum):
            full = table.size_of(refilled, run)
            if changed.get(refilled, purse[refilled]) != full:
                changed[refilled] = full
    if not changed:
        return run, purse
    left = {**purse, **changed}
    paid = table.pay(run, left)
    if table.left(paid) != left:
        raise Fault(table.name, number, "pay", "does not leave in the purse what it was given", answers)
    if table.at(paid) is not table.at(run):
        raise Fault(table.name, number, "pay", "changes the state, which is the row's to change", answers)
    return paid, left


def _inside(
    table: Any, run: Any, event: Any, state: Enum, purse: Mapping[Any, Any]
) -> tuple[Any, tuple[AnyAnswer, ...], tuple[Any, ...], frozenset[int]]:
    """Step the inner machines that the event is for; `opened` names those that took a row and may go on."""
    inside: tuple[AnyAnswer, ...] = ()
    commands: tuple[Any, ...] = ()
    opened = _NONE
    for held in table.inners:
        if state not in held.during or type(event) not in held.table.events:
            continue
        kid = held.get(run, event)
        if kid is None or held.table.cell_of(held.table.at(kid), type(event)) is None:
            continue
        answer: Any = held.table.step(kid, event)
        inside = (*inside, answer)
        if answer.row is not None:
            commands = (*commands, *answer.commands)
            run = held.put(run, event, answer.run)
            if table.at(run) is not state or (table.budgets and table.left(run) != purse):
                raise Fault(table.name, None, f"put of {held.name}", "changes the state or the purse of the outer run")
            if answer.target not in held.table.final:
                opened |= {id(held)}
    return run, inside, commands, opened


def _without_rows(table: Any, run: Any, state: Enum, kind: type[Any]) -> AnyAnswer:
    if kind not in table.events:
        return Unhandled(run, table.name, state, kind.__name__)
    if state in table.final:
        return Refused(run, (), (), table.name, state, kind.__name__, why=f"the run has ended: {state.name}")
    if state not in table.states:
        raise Fault(table.name, None, "at", f"answers {said(state)}, which is not a state of this machine")
    how, why = table.quiet[state, kind]
    if how == "ignore":
        return Ignored(run, table.name, state, kind.__name__, why)
    return Refused(run, (), (), table.name, state, kind.__name__, why)


def _kept(held: Any, run: Any, after: Any, event: Any) -> bool:
    """Whether the effect left the inner machine alone, or put it away. A lens takes only events that it knows."""
    if held.held is not None:
        return _left_alone(held.held(run), held.held(after))
    if type(event) not in held.table.events:
        return True
    kid = held.get(after, event)
    return kid is None or kid == held.get(run, event)


def _left_alone(before: Any, after: Any) -> bool:
    if after is None or after == before:
        return True
    both: tuple[Any, Any] = (before, after)
    if not all(isinstance(one, Mapping) for one in both):
        return False
    return all(name in before and before[name] == kid for name, kid in after.items())
