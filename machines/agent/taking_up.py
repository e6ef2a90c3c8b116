"""Taking a run up that another process put down, or left open when it ended.

The journal is replayed, from the last snapshot or from its beginning, and each line compared with what the table says
now; what was said is told again from the texts beside it. Nothing is written and nothing is sent here.
"""

from __future__ import annotations

import attrs

from statecraft import Step
from statecraft.codec import BadData
from statecraft.journal import JournalError, Link, Store, link
from statecraft.replay import Walked, changed, unreadable, walk

from .._run_endings import failed_by_fault
from ..events import Said, Text
from ..journaled import AGENT_RUN
from ..state import Run
from .conversation import Retold
from .snapshot import kept_snapshot

HOST = "agent"
"""The kind of host that these runs name in their first line."""


@attrs.frozen
class TakenUp:
    """A run as its journal leaves it, with what was said in it.

    `started`: the wall clock at its time 0; `at`: the last time that is known of it. `lines`: how many were replayed.
    `head`: the hash of the last line. `closed`: the journal has its last line.
    """

    run: Run
    retold: Retold
    started: float
    at: float
    lines: int
    head: str
    closed: bool = False


class RunOver(JournalError):
    """The run has ended: there is nothing to take up."""


def take_up(store: Store) -> TakenUp:
    """A run that can go on. Raises `JournalError` where it has ended, is not there, is broken, or has other rules."""
    taken = retell(store)
    if taken.closed:
        raise RunOver(f"{store.name}: the run has ended, as {taken.run.at.value}; there is nothing to take up")
    return taken


def retell(store: Store) -> TakenUp:
    """Any run that an agent began, from its last snapshot on."""
    head = _head(store)
    record = head.record or {}
    started = record.get("started")
    if not isinstance(started, int | float):
        raise JournalError(f"{store.name}: does not say when it started; expected a time, so that its waits have one")

    def content(text: Text) -> str | None:
        found = store.get(text.digest)
        return None if found is None else found.decode("utf-8", "surrogatepass")

    retold = Retold(content, store.name)
    run, seq, hash, at = _beginning(store, head, retold)
    count, closed = 0, False
    for walked in walk(store, AGENT_RUN, run, seq, hash):
        run, count, hash = _told(walked, retold), count + 1, walked.hash
        closed = walked.line.kind == "end"
        at = max(at, run.spent.now, _time(walked.line.record.get("at")))
    retold.finish()
    return TakenUp(run, retold, float(started), at, count, hash, closed)


def _head(store: Store) -> Link:
    head = link(next(iter(store.lines()), b""))
    record = head.record or {}
    if head.kind != "open" or record.get("machine") != AGENT_RUN.table.name or record.get("host") != HOST:
        said = f"a run of machine {record.get('machine')} on host {record.get('host')}" if record else "no run"
        raise JournalError(f"{store.name}: found {said}, expected one that an agent began")
    if record.get("table") != AGENT_RUN.table.digest:
        raise changed(store, AGENT_RUN, str(record.get("table")))
    return head


def _beginning(store: Store, head: Link, retold: Retold) -> tuple[Run, int, str, float]:
    """Where telling begins: the run, the line after which it stands, the hash of that, and the time."""
    taken = kept_snapshot(store)
    if taken is not None:
        retold.talk, retold.todos = taken.talk, taken.todos
        retold.left.append(taken.left)
        retold.asked[type(taken.left).__name__] = taken.asked
        return taken.run, taken.seq, taken.hash, taken.at
    try:
        run = AGENT_RUN.codec.from_plain((head.record or {}).get("initial"), Run)
    except BadData as error:
        raise unreadable(store, 0, "initial", error) from error
    return run, 0, head.hash, run.spent.now


def _time(found: object) -> float:
    """The time at which another process took the run up, where the line says one."""
    return float(found) if isinstance(found, int | float) else 0.0


def _told(walked: Walked[Run], retold: Retold) -> Run:
    """One line told again; the run after it."""
    line, run = walked.line, walked.after
    if line.kind == "leg":
        retold.leg()
    elif line.kind == "resume":
        retold.resumed()
    elif line.kind == "fault":
        part, problem = str(line.record.get("part")), str(line.record.get("problem"))
        return failed_by_fault(run, getattr(line.event, "at", run.spent.now), part, problem)
    elif walked.stepped is not None and isinstance(walked.stepped.answer, Step):
        retold.step(line.seq, line.event, walked.stepped.answer.commands, walked.before)
    elif isinstance(line.event, Said):  # to a run that was over: the next leg, if one comes, has heard it
        retold.step(line.seq, line.event, (), walked.before)
    return run
