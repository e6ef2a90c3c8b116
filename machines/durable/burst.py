"""A burst: one run driven from a wake-up to its next wait, or to its end. The same on every engine.

A run is enlisted with its task, driven in bursts, and put down between them. A burst may be begun again at any point,
on another machine too: it takes the run up from its journal, and what had finished is not done again.
"""

from __future__ import annotations

from contextlib import closing
from typing import Final

import attrs

from statecraft.journal import JournalError, Store

from ..agent.agent import Agent, check_run
from ..agent.agent_run import AgentRun, PutDown
from ..agent.snapshot import SNAPSHOT
from ..agent.taking_up import RunOver, retell
from ..letters import Letter, post
from ..standing import ENDED, ENLISTED, WAITING, Standing, Stands, stand, standing_of

BEGIN: Final = "begin"
"""The id of the letter by which whoever looks for mail finds a run that was enlisted."""

TASK: Final = "task"
"""The note that holds the task of a run which has not begun."""


@attrs.frozen
class Stood:
    """How a burst left the run: `state` is `waiting` or `ended`; `until` (the wall clock) is when it has to go on.

    `signals` are what it waits for besides; `status` says how it ended.
    """

    run: str
    state: Stands
    until: float | None = None
    signals: tuple[str, ...] = ()
    status: str | None = None


def enlist(store: Store, run: str, task: str, at: float) -> bool:
    """Put a run down that is to begin with its first burst. False where it is there already. `at`: the wall clock.

    Raises `ValueError` for a task without words, or a name that no run can have.
    """
    check_run(task, run)
    if standing_of(store) is not None or (store.kept(TASK) is not None and store.last() is not None):
        return False
    if store.kept(TASK) is None:  # else whoever enlisted it was ended before the note that follows
        store.keep(TASK, task.encode("utf-8", "surrogatepass"))
    stand(store, Standing(run, ENLISTED, at, at))
    post(store, BEGIN, Letter("", at))
    return True


async def burst(agent: Agent, run: str, *, patience: float = 0.0) -> Stood:
    """Drive the run until it ends, or would have to wait longer than `patience` seconds.

    Ended from outside, it is left as it stands. Raises `JournalError` where the run is not there, is broken, was made
    by other rules, or somebody else is at work on it.
    """
    store = agent.store(run)
    try:
        under_way = _under_way(agent, store, run)
    except RunOver:
        return _over(store, run)
    finally:
        store.close()
    found = await under_way.burst(patience)
    _forget_task(agent, run)
    if isinstance(found, PutDown):
        return Stood(run, WAITING, found.until, found.signals)
    return Stood(run, ENDED, status=found.status.value)


def _under_way(agent: Agent, store: Store, run: str) -> AgentRun:
    kept = store.kept(TASK)
    task = "" if kept is None else kept.decode("utf-8", "surrogatepass")
    if store.last() is not None:
        return agent.resume(run, task=task)
    store.unpost(BEGIN)
    if kept is None:
        raise _no_such_run(store)
    return agent.start(task, run=run)


def _forget_task(agent: Agent, run: str) -> None:
    """The task stands in the content of the journal now, where it can be redacted."""
    with closing(agent.store(run)) as store:
        if store.kept(TASK) is not None:
            store.keep(TASK, None)


def _no_such_run(store: Store) -> JournalError:
    return JournalError(f"{store.name}: there is no such run; expected one that was enlisted or begun")


def _over(store: Store, run: str) -> Stood:
    stood = standing_of(store)
    if stood is None or stood.state != ENDED:  # its process ended between the last line and the word that it has
        stood = _ended(store, run)
        stand(store, stood)
        store.keep(SNAPSHOT, None)
    return Stood(run, ENDED, status=stood.status)


def _ended(store: Store, run: str) -> Standing:
    taken = retell(store)
    outcome = taken.run.outcome
    return Standing(
        run, ENDED, taken.started + taken.run.spent.now, status=None if outcome is None else outcome.status.value
    )
