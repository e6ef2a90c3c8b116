"""Letters to a run: the answers to what it waits for, which lie in its mail until it takes them as signals.

`deliver` refuses what does not fit what is asked, and what was answered already. A letter for a signal may come before
the run waits for it; then it lies there until it does. Words of a person go as text, which can be redacted; what stands
in the journal itself is which choice was taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import time
from typing import Final
from uuid import uuid4

import attrs

from statecraft.codec import BadData, codec, dump, load
from statecraft.journal import JournalError, Store

from .events import Awaited, Signal
from .ledger.observe import Keep, text_of
from .standing import Question, has_ended, is_time, standing_of


@attrs.frozen
class Letter:
    """What somebody answers. `name`: to which question or signal, where there is more than one; `at`: the wall clock.

    `consents_to` names the call that a consent is for, as its question does; `deliver` puts it in.
    """

    name: str = ""
    at: float = attrs.field(factory=time)
    answer: str | None = None
    by: str | None = None
    text: str | None = None
    withdrawn: bool = False
    consents_to: str | None = None


class BadAnswer(ValueError):
    """An answer that does not fit what was asked: what was found, and what was expected."""


_CODEC: Final = codec(Letter)


def deliver(store: Store, letter: Letter, id: str | None = None) -> bool:
    """Deliver a letter to a run. False, and nothing done, where one of that id lies there, or the run has ended.

    `id` is the sender's own name for it, under which it is one letter however often it is sent.

    Raises `BadAnswer` where it does not fit what the run waits for, and `JournalError` where there is no run.
    """
    stood = standing_of(store)
    if stood is None and store.last() is None:
        raise JournalError(f"{store.name}: there is no such run; expected one that was enlisted or begun")
    if has_ended(store):
        return False
    id = id or uuid4().hex
    questions = () if stood is None else stood.questions
    if questions and (not letter.name or letter.name in [one.name for one in questions]):
        letter = fitting(questions, letter)
        asked = [one.name for one in questions if one.awaited != Awaited.SIGNAL]  # of signals there may be several
        others = [other for other, _ in letters_to(store.mail(), [letter.name]) if other != id]
        if letter.name in asked and others:
            raise BadAnswer(f"found another answer to {letter.name}, which lies there already; expected none")
    return post(store, id, letter)


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
    letter = attrs.evolve(letter, name=one.name)
    if letter.withdrawn or one.awaited == Awaited.SIGNAL:
        return letter
    words = (letter.answer or "").strip()
    if not one.choices:
        if not (words or letter.text):
            raise BadAnswer(f"found no answer to {one.name}; expected words")
        return attrs.evolve(letter, answer=None, text="\n".join(part for part in (words, letter.text) if part))
    fits = [choice for choice in one.choices if choice.strip().casefold() == words.casefold()]
    if len(fits) != 1:
        found = f"the answer {letter.answer!r}" if words else "no answer"
        raise BadAnswer(f"found {found} to {one.name}; expected one of: {', '.join(one.choices)}")
    to = one.consents_to if one.awaited == Awaited.CONSENT else None
    return attrs.evolve(letter, answer=fits[0], consents_to=to)


def post(store: Store, id: str, letter: Letter) -> bool:
    """Put the letter into the run's mail as it is; False where one of that id lies there."""
    return store.post(id, dump(_CODEC.to_plain(letter)))


def signal_of(letter: Letter, id: str, now: float, started: float, keep: Keep) -> Signal:
    """The letter as a signal. `now`: seconds since the run began; `started`: the wall clock then.

    A letter may have lain for hours: it counts by the time at which it was written.
    """
    value = None if letter.text is None else text_of(letter.text, keep)
    return Signal(
        now,
        letter.name,
        value,
        letter.answer,
        letter.by,
        letter.at - started,
        id=id,
        withdrawn=letter.withdrawn,
        consents_to=letter.consents_to,
    )


def letters_to(mail: Sequence[tuple[str, bytes]], names: Sequence[str]) -> list[tuple[str, Letter]]:
    """The letters to one of these, each with its id. One that cannot be read is none, and stays where it lies."""
    read = [(id, letter_read(body)) for id, body in mail]
    return [(id, letter) for id, letter in read if letter is not None and letter.name in names]


def letter_read(body: bytes) -> Letter | None:
    """A letter, read; None for what is none."""
    try:
        found: Letter = _CODEC.from_plain(load(body), Letter)
    except BadData:
        return None
    return found if is_time(found.at) else None
