"""Each law of a run holds of the table, and a search finds it broken in a table in which somebody made a mistake."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest

from machines import _run_effects as do
from machines import _run_endings as end
from machines import supervisor
from machines._run_guards import message_is
from machines.commands import Ask, Command, RunCalls, WaitUntil
from machines.events import Cancel, Event, Reply, TurnEnded
from machines.message import Message
from machines.outcome import TerminalStatus
from machines.run import RUN
from machines.searched.laws import LAWS
from machines.searched.play import SEARCH
from machines.state import Phase, Run
from statecraft.guards import name_of
from statecraft.proofs import explore

from ..rebuilt import AnyRow, AnyTable, rebuilt

Done = tuple[Run, Sequence[Command]]


def changed(name: str, **how: Any) -> Callable[[], AnyTable]:
    """The table in which every row with this effect is another."""
    return lambda: rebuilt(RUN, lambda row: attrs.evolve(row, **how) if row.effect.__name__ == name else row)


def without(name: str) -> Callable[[], AnyTable]:
    """The table without the rows with this effect."""
    return lambda: rebuilt(RUN, lambda row: None if row.effect.__name__ == name else row)


def ends_silently(run: Run, event: Cancel) -> Done:
    return end.cancel(run, event)[0], []


def asks_with_tools(run: Run, event: Event) -> Done:
    run, commands = do.stop_at_limit(run, event)
    return run, [Ask() if isinstance(command, Ask) else command for command in commands]


def runs_and_stops(run: Run, event: Reply) -> Done:
    run, commands = do.stop_at_limit_in_reply(run, event)
    return run, [*commands, RunCalls(tuple(call.id for call in event.calls))]


def runs_all(run: Run, event: Reply) -> Done:
    run, commands = do.act(run, event)
    return run, [*commands, RunCalls(tuple(call.id for call in event.calls if not call.parsed))]


def runs_before_consent(run: Run, event: Reply) -> Done:
    run, commands = do.act(run, event)
    return run, [*commands, RunCalls(tuple(one.call.id for one in run.turn.held))]


def forgets_calls(run: Run, event: TurnEnded) -> Done:
    return do.ask(run, event)[0], [Ask()]


def waits_for_ever(run: Run, event: TurnEnded) -> Done:
    return do.wait(run, event)[0], [WaitUntil(10_000.0)]


def cancels_when_it_likes() -> AnyTable:
    def idle(row: AnyRow) -> AnyRow:
        sources = tuple(state for state in row.sources if state is not Phase.ACTING)
        return attrs.evolve(row, sources=sources) if row.event is Cancel else row

    return rebuilt(RUN, idle)


def asks_whatever_it_costs() -> AnyTable:
    spent = {"limits", "limits_with_reply"}
    stops = ("stop_at_limit_in_reply", "stop_at_limit")

    def limited(row: AnyRow) -> bool:
        return row.effect.__name__ in stops and not spent.isdisjoint(name_of(guard) for guard in row.guards)

    return rebuilt(RUN, lambda row: None if limited(row) else row)


BROKEN: dict[str, tuple[str, Callable[[], AnyTable]]] = {
    "a checkpoint never ends a run": (
        "stuck",
        changed("finish_completed", guards=(message_is(Message.CHECKPOINT),)),
    ),
    "a forced stop is never completed": (
        "stuck",
        changed("close_partial", target=Phase.COMPLETED, effect=end.close(TerminalStatus.COMPLETED)),
    ),
    "an ending has a message and an account": ("stuck", changed("cancel", effect=ends_silently)),
    "a stop spends one reply without tools": ("paying", changed("stop_at_limit", effect=asks_with_tools)),
    "no tool runs after a stop": (
        "paying",
        changed("stop_at_limit_in_reply", effect=runs_and_stops, asks=frozenset({*RUN.rows[8].asks, Ask, RunCalls})),
    ),
    "a cut, garbled or invalid call never runs": ("stuck", changed("act", effect=runs_all)),
    "a call is answered exactly once": ("recovering", changed("ask", effect=forgets_calls)),
    "a wait is never longer than the run": ("waiting", changed("wait_afresh", effect=waits_for_ever)),
    "recoveries are full after progress": ("recovering", changed("ask_afresh", effect=do.ask, refills=frozenset())),
    "two nudges lead to progress or a stop": ("nudged", without("stop_escalated")),
    "a call never runs twice": ("waiting", changed("act", effect=runs_before_consent)),
    "cancel ends a run": ("stuck", cancels_when_it_likes),
    "a spent budget pays for the last reply alone": ("paying", asks_whatever_it_costs),
    "a grounded answer is no failure": (
        "stuck",
        changed("finish_completed", target=Phase.BLOCKED, effect=end.finish(TerminalStatus.BLOCKED)),
    ),
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_table_with_a_mistake_breaks_the_law(law: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    start, made = BROKEN[law.name]
    monkeypatch.setattr(supervisor, "RUN", made())
    found = explore(attrs.evolve(SEARCH, laws=(law,)), start, states=4_000, first=True)
    assert [broken.law.name for broken in found.broken] == [law.name]
    (broken,) = found.broken
    assert len(broken.way.events) <= 8


@pytest.mark.parametrize("start", SEARCH.starts)
def test_no_law_is_broken_in_the_first_few_events(start: str) -> None:
    found = explore(SEARCH, start, states=300)
    assert found.ok, found.broken
