"""A burst: one run driven from a wake-up to its next wait, or to its end. The same on every engine.

A run is enlisted with its task, driven in bursts, and put down between them. A burst may be begun again at any point,
on another machine too: it takes the run up from its journal, and what had finished is not done again.
"""

from __future__ import annotations

from typing import Final

import attrs

from statecraft.journal import JournalError, Store

from ..agent.agent import Agent, check_run
from ..agent.agent_run import AgentRun, PutDown
from ..agent.beside import stand_ended
from ..agent.taking_up import RunOver
from ..letters import Letter, post
from ..standing import ENDED, ENLISTED, TASK, WAITING, Standing, Stands, stand, standing_of

BEGIN: Final = "begin"
"""The id of the letter by which whoever looks for mail finds a run that was enlisted."""


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
        return Stood(run, ENDED, status=stand_ended(store, run).status)
    finally:
        store.close()
    found = await under_way.burst(patience)
    if isinstance(found, PutDown):
        return Stood(run, WAITING, found.until, found.signals)
    return Stood(run, ENDED, status=found.status.value)


def _under_way(agent: Agent, store: Store, run: str) -> AgentRun:
    if store.last() is not None:
        return agent.resume(run)
    store.unpost(BEGIN)
    kept = store.kept(TASK)
    if kept is None:
        raise _no_such_run(store)
    return agent.start(kept.decode("utf-8", "surrogatepass"), run=run)


def _no_such_run(store: Store) -> JournalError:
    return JournalError(f"{store.name}: there is no such run; expected one that was enlisted or begun")
