"""What has to hold at a step of any machine, and of a whole walk of steps; what does not is a `Flaw`.

No `Fault`; the given run is as it was; no budget above full or below nothing; a final state refuses everything; where
no row is taken the run stays; and the laws of whoever walks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from ..heard import AnyTable
from ..proofs import Law, Taken
from ..step import Answer, Fault, Refused, Step
from .telling import told, told_fault

AnyLaw = Law[Taken[Any, Any]]
Memory = tuple[Any, ...]


@attrs.frozen(eq=False)
class Flaw:
    """What does not hold at a step: in words, by the lines that tell the step, and the law or fault that it is of."""

    what: str
    lines: tuple[str, ...]
    law: AnyLaw | None = None
    fault: Fault | None = None

    def like(self, other: Flaw) -> bool:
        """Whether it is the same mistake: one law broken, in whatever words, or the same said of the machine."""
        return self.law is other.law and (self.law is not None or self.what == other.what)


def remembered(laws: Sequence[AnyLaw]) -> Memory:
    """What the laws remember before the first step."""
    return tuple(law.start for law in laws)


def checked(table: AnyTable, run: Any, event: Any) -> Answer[Any, Any] | Flaw:
    """The answer of the table, or what does not hold of it as of any machine."""
    before, state = repr(run), table.at(run)
    try:
        answer = table.step(run, event)
    except Fault as fault:
        return Flaw(f"{table.name} is at fault: {fault}", told_fault(table, run, event, fault), fault=fault)
    what = ""
    if repr(run) != before:
        what = "the given run was changed"
    elif state in table.final and not isinstance(answer, Refused):
        what = f"{state.name} is final, but does not refuse"
    elif not isinstance(answer, Step) and answer.run is not run:
        what = "no row was taken, but the run is another"
    purse: Mapping[Any, int | None] = table.left(answer.run) if table.budgets else {}
    for budget in table.budgets:
        left, full = purse.get(budget), table.size_of(budget, answer.run)
        if left is not None and not 0 <= left <= (left if full is None else full):
            what = what or f"the purse holds {left} of {budget.value}, expected 0 to {full}"
    return Flaw(f"{table.name}: {what}", told(table, event, answer)) if what else answer


def asked(
    table: AnyTable, laws: Sequence[AnyLaw], memory: Memory, run: Any, event: Any, answer: Answer[Any, Any]
) -> Memory | Flaw:
    """What the laws remember after the step, or the first that it breaks."""
    taken = Taken(run, event, answer, answer.run)
    for law, known in zip(laws, memory, strict=True):
        if problem := law.broken(taken, known):
            return Flaw(f"{law.name}: {problem}", told(table, event, answer), law)
    return tuple(
        known if law.remember is None else law.remember(known, taken) for law, known in zip(laws, memory, strict=True)
    )


def first_flaw(
    table: AnyTable, run: Any, events: Iterable[Any], laws: Sequence[AnyLaw]
) -> tuple[tuple[Any, ...], Flaw] | None:
    """Play the events from the run on: the first flaw, and the events up to it. None where all holds."""
    memory, played = remembered(laws), list[Any]()
    for event in events:
        played.append(event)
        answer = checked(table, run, event)
        if isinstance(answer, Flaw):
            return tuple(played), answer
        found = asked(table, laws, memory, run, event, answer)
        if isinstance(found, Flaw):
            return tuple(played), found
        memory, run = found, answer.run
    return None
