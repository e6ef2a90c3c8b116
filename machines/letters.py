"""Letters to a run, and what it waits for: what stands beside its journal for whoever is not its process.

A letter is the answer to something that a run waits for; it lies in the run's mail until the run takes it as a signal.
The note `standing` says what a run waits for and until when, on the wall clock, so that nobody has to step it again to
know. A letter that does not fit what is asked is refused before it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs

from statecraft.codec import BadData, codec, dump, load
from statecraft.journal import Store

from .events import Awaited, Signal, Text
from .held import FOREVER, Held
from .ledger.observe import Keep, text_of

STANDING: Final = "standing"
"""The note that says how a run stands."""

ENLISTED, RUNNING, WAITING, ENDED = "enlisted", "running", "waiting", "ended"
"""The states that it may have."""


@attrs.frozen
class Letter:
    """What somebody answers. `name`: to which question or signal; `at`: the wall clock, in seconds since 1970."""

    name: str
    at: float
    answer: str | None = None
    by: str | None = None
    text: str | None = None
    withdrawn: bool = False


@attrs.frozen
class Question:
    """One thing that a run waits for. Times by the wall clock; `until` None = as long as it takes."""

    name: str
    awaited: str
    tool: str
    args: str | None
    signature: str
    question: str | None
    choices: tuple[str, ...]
    since: float
    until: float | None


@attrs.frozen
class Standing:
    """How a run stands: enlisted, running in the process `by`, waiting until a time or for signals, or ended."""

    run: str
    state: str
    at: float
    until: float | None = None
    questions: tuple[Question, ...] = ()
    signals: tuple[str, ...] = ()
    by: str = ""
    status: str | None = None


class BadAnswer(ValueError):
    """An answer that does not fit what was asked: what was found, and what was expected."""


_CODEC: Final = codec(Standing, Letter)


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
    return found


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
        held.call.signature.hex(),
        None if held.question is None else content(held.question),
        held.choices,
        started + held.since,
        None if held.until >= FOREVER else started + held.until,
    )


def fitting(questions: Sequence[Question], letter: Letter) -> Letter:
    """The letter as it answers one of the questions: the only one, where it names none; choices as they are spelled.

    Raises `BadAnswer` where it answers none of them.
    """
    named = [one for one in questions if one.name == letter.name or not letter.name]
    known = ", ".join(one.name for one in questions) or "nothing"
    if len(named) != 1:
        found = f"no question {letter.name}" if letter.name else f"{len(questions)} questions"
        raise BadAnswer(f"found {found}; expected the name of one that it waits for: {known}")
    one = named[0]
    if letter.withdrawn or one.awaited == Awaited.SIGNAL:
        return attrs.evolve(letter, name=one.name)
    if letter.answer is None or not letter.answer.strip():
        raise BadAnswer(f"found no answer to {one.name}; expected {_expected(one)}")
    if not one.choices:
        return attrs.evolve(letter, name=one.name)
    fits = [choice for choice in one.choices if choice.casefold() == letter.answer.strip().casefold()]
    if not fits:
        raise BadAnswer(f"found the answer {letter.answer!r} to {one.name}; expected {_expected(one)}")
    return attrs.evolve(letter, name=one.name, answer=fits[0])


def _expected(one: Question) -> str:
    return f"one of: {', '.join(one.choices)}" if one.choices else "words"


def post(store: Store, id: str, letter: Letter) -> bool:
    """Put the letter into the run's mail; False where one of that id lies there."""
    return store.post(id, dump(_CODEC.to_plain(letter)))


def signals_in(
    letters: Sequence[tuple[str, bytes]], names: Sequence[str], now: float, started: float, keep: Keep
) -> tuple[Signal, ...]:
    """The letters to what is waited for, as signals. A letter that cannot be read is none, and stays where it lies.

    `now`: seconds since the run began; `started`: the wall clock then. A letter may have lain for hours: it counts by
    the time at which it was written.
    """
    found: list[Signal] = []
    for id, body in letters:
        letter = _letter(body)
        if letter is not None and letter.name in names:
            value = None if letter.text is None else text_of(letter.text, keep)
            when = max(0.0, letter.at - started)
            found.append(
                Signal(now, letter.name, value, letter.answer, letter.by, when, id=id, withdrawn=letter.withdrawn)
            )
    return tuple(found)


def names_in(letters: Sequence[tuple[str, bytes]], names: Sequence[str]) -> bool:
    """Whether one of the letters answers one of these."""
    return any((letter := _letter(body)) is not None and letter.name in names for _, body in letters)


def _letter(body: bytes) -> Letter | None:
    try:
        found: Letter = _CODEC.from_plain(load(body), Letter)
    except BadData:
        return None
    return found


def plain_question(one: Question) -> dict[str, Any]:
    """A question as plain JSON, for who reads by machine."""
    return dict(_CODEC.to_plain(one))
