"""How a run stands, in a note beside its journal: so that nobody else has to step it to know.

A run is enlisted, running, waiting or has ended. What it waits for stands there too: until when, by the wall clock, for
which signals, and what is asked of whom.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

import attrs

from statecraft.codec import BadData, codec, dump, load
from statecraft.journal import Store, link

from .events import Text
from .held import FOREVER, Held

STANDING: Final = "standing"
"""The name of the note."""


class Stands(StrEnum):
    """What a run is at, as those outside see it."""

    ENLISTED = "enlisted"
    RUNNING = "running"
    WAITING = "waiting"
    ENDED = "ended"


ENLISTED, RUNNING, WAITING, ENDED = Stands


@attrs.frozen
class Question:
    """One thing that a run waits for. Times by the wall clock; `until` None = as long as it takes.

    `consents_to` names the call that a consent is for, to the letter.
    """

    name: str
    awaited: str
    tool: str
    args: str | None
    consents_to: str
    question: str | None
    choices: tuple[str, ...]
    since: float
    until: float | None


@attrs.frozen
class Standing:
    """How a run stands: since `at`; in the process `by`; until when and for which signals it waits; how it ended.

    `looks` are the tools whose declared waits go on.
    """

    run: str
    state: Stands
    at: float
    until: float | None = None
    questions: tuple[Question, ...] = ()
    signals: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()
    by: str = ""
    status: str | None = None


LAST_TIME: Final = 253_402_300_800
"""The end of the year 9999, in seconds since 1970."""

TASK: Final = "task"
"""The note that holds the task of a run which has not begun: it goes when the task stands in the journal's content."""

_CODEC: Final = codec(Standing)


def standing_of(store: Store) -> Standing | None:
    """How the run stood when it last said so; None where it never did."""
    body = store.kept(STANDING)
    return None if body is None else standing_read(body)


def standing_read(body: bytes) -> Standing | None:
    """The note, read; None for one that another version wrote."""
    try:
        found: Standing = _CODEC.from_plain(load(body), Standing)
    except BadData:
        return None
    times = [found.at, found.until, *(time for one in found.questions for time in (one.since, one.until))]
    return found if all(time is None or is_time(time) for time in times) else None


def is_time(found: float) -> bool:
    """Whether a number can be a time of the wall clock: a note may be damaged, and no clock shows the year 10,000."""
    return -LAST_TIME < found < LAST_TIME


def has_ended(store: Store) -> bool:
    """Whether the run has, by its note, or where it has none, by its journal."""
    stood = standing_of(store)
    if stood is not None:
        return stood.state is ENDED
    last = store.last()
    return last is not None and link(last).kind == "end"


def stand(store: Store, standing: Standing) -> None:
    """Say how the run stands."""
    store.keep(STANDING, dump(_CODEC.to_plain(standing)))


def question_of(held: Held, started: float, content: Callable[[Text], str | None]) -> Question:
    """A held call as those outside are shown it. `started`: the wall clock when the run began."""
    return Question(
        held.name,
        held.awaited.value,
        held.call.tool,
        content(held.call.args),
        held.key,
        None if held.question is None else content(held.question),
        held.choices,
        started + held.since,
        None if held.until >= FOREVER else started + held.until,
    )


def plain_question(one: Question) -> dict[str, Any]:
    """A question as plain JSON, for who reads by machine."""
    return dict(_CODEC.to_plain(one))
