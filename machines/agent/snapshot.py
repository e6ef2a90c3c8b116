"""A snapshot beside the chain: the run and its conversation as they stood after one line, so that a resume is short.

The chain is what counts: a snapshot is believed where its line is in the journal with the hash that it names, and its
table is today's; any other is as none. It is written where a single command is left to be carried out. Until the run
ends it holds what was said: who deletes a text from the content of a run deletes its snapshot too.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import attrs

from statecraft.codec import BadData, dump, load
from statecraft.journal import Store, link

from ..commands import Command
from ..events import Call
from ..journaled import AGENT_RUN
from ..ledger.observe import text_of
from ..pending import Asked
from ..state import Run
from .conversation import Conversation
from .finish import Told
from .parts import part_of, plain_of
from .planning import Todo
from .transcript import Transcript
from .wire import CallPart

SNAPSHOT: Final = "snapshot"
"""The note that holds it."""

FORMAT: Final = "statecraft.snapshot/1"


@attrs.frozen
class Snapshot:
    """The run after line `seq` with this `hash`, what was said, the plan, and the command that was left, at a time."""

    seq: int
    hash: str
    run: Run
    talk: Conversation
    todos: tuple[Todo, ...]
    left: Command
    asked: Asked
    at: float


@contextmanager
def _uncollected() -> Generator[None]:
    """No garbage is looked for meanwhile: what is made here is all kept, and looking took half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_uncollected()
def keep_snapshot(store: Store, taken: Snapshot) -> None:
    """Write it in place of the last one."""
    told = taken.talk.told
    plain = {
        "format": FORMAT,
        "table": AGENT_RUN.table.digest,
        "seq": taken.seq,
        "hash": taken.hash,
        "run": AGENT_RUN.write_run(taken.run),
        "transcript": taken.talk.transcript.plain(),
        "told": [told.text, told.kind, taken.talk.open_text],
        "counted": taken.talk.counted,
        "calls": [[plain_of(part), AGENT_RUN.codec.to_plain(call)] for part, call in taken.talk.calls.values()],
        "todos": list(taken.todos),
        "left": AGENT_RUN.commands.write(taken.left),
        "asked": [taken.asked.line, taken.asked.sent],
        "at": taken.at,
    }
    store.keep(SNAPSHOT, dump(plain))


@_uncollected()
def kept_snapshot(store: Store) -> Snapshot | None:
    """The last one, if it can be believed."""
    body = store.kept(SNAPSHOT)
    if body is None:
        return None
    try:
        plain = load(body)
        if plain["format"] != FORMAT or plain["table"] != AGENT_RUN.table.digest:
            return None
        line = next(iter(store.lines(plain["seq"] - 1)), None)
        if line is None or (found := link(line)).hash != plain["hash"] or not found.sealed or found.seq != plain["seq"]:
            return None
        taken = _read(plain)
    except (BadData, KeyError, TypeError, ValueError):
        return None  # whatever is wrong with it, the chain has all that it says
    return taken if _fits(taken) else None


def _fits(taken: Snapshot) -> bool:
    """Whether the calls that may still be run are those that the journal knows, letter by letter."""
    turn, calls = taken.run.turn, taken.talk.calls
    waiting = (*turn.open, *(one.call for one in turn.held))
    return all(call.id in calls and text_of(calls[call.id][0].args) == call.args for call in waiting)


def _read(plain: dict[str, Any]) -> Snapshot:
    talk = Conversation()
    talk.transcript = Transcript.of(plain["transcript"])
    text, kind, talk.open_text = plain["told"]
    if plain["counted"] is not None:
        counted, rough = plain["counted"]
        talk.counted = (int(counted), int(rough))
    talk.told = Told(text, kind, (), ())
    talk.calls = {part.id: (part, call) for part, call in map(_call, plain["calls"])}
    left = AGENT_RUN.commands.read(plain["left"])
    line, sent = plain["asked"]
    run = AGENT_RUN.codec.from_plain(plain["run"], Run)
    asked = Asked(left, line, sent)
    return Snapshot(plain["seq"], plain["hash"], run, talk, tuple(plain["todos"]), left, asked, float(plain["at"]))


def _call(pair: Sequence[Any]) -> tuple[CallPart, Call]:
    part, call = pair
    made = part_of(part)
    if not isinstance(made, CallPart):
        raise TypeError("a call of the last reply is none")
    return made, AGENT_RUN.codec.from_plain(call, Call)
