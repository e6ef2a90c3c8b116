"""How a history is made shorter: pure functions over its messages, each giving new ones and what was freed.

The rules: a finished message is never changed, since a request may still hold it; a call stays with its results; behind
a change no thinking stays that holds only for what stood there before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from .condensing import SUMMARY_HEAD
from .parts import size_of, without_seals
from .wire import CallPart, Message, Part, ResultPart, TextPart

PRUNED: Final = "(cleared: an old result, to make room)"
"""What stands for a result that was cleared."""

TOO_LONG: Final = "(cleared: {chars} characters, which did not fit; ask for less at a time)"
"""What stands for a result that was cleared before the model had seen it."""

Shorter = Callable[[ResultPart], ResultPart]


@attrs.frozen
class Shortened:
    """Messages, and the characters of results that are gone from them."""

    messages: list[Message]
    freed: int


def pruned(done: Sequence[Message], keep_chars: int, newer: int) -> Shortened:
    """Results cleared but for the newest `keep_chars` characters of them, of which `newer` stand behind `done`."""
    kept = newer

    def cleared(part: ResultPart) -> ResultPart:
        nonlocal kept
        kept += len(part.content)
        return part if kept <= keep_chars or len(part.content) <= len(PRUNED) else attrs.evolve(part, content=PRUNED)

    return shortened(done, cleared)


def shortened(done: Sequence[Message], shorter: Shorter) -> Shortened:
    """Each result as `shorter` gives it; it is asked from the newest to the oldest."""
    made = [*done]
    freed, first = 0, len(made)
    for at in range(len(made) - 1, -1, -1):
        found, gone = _shorter(made[at], shorter)
        if gone:
            made[at], freed, first = found, freed + gone, at
    return Shortened(made[: first + 1] + [without_seals(message) for message in made[first + 1 :]], freed)


def _shorter(message: Message, shorter: Shorter) -> tuple[Message, int]:
    parts: list[Part] = []
    gone = 0
    for part in message.parts:
        made = shorter(part) if isinstance(part, ResultPart) else part
        if isinstance(part, ResultPart) and isinstance(made, ResultPart):
            gone += len(part.content) - len(made.content)
        parts.append(made)
    return (Message(message.role, tuple(parts)), gone) if gone else (message, 0)


def task_in(done: Sequence[Message]) -> int:
    """The first message in which a person speaks; -1: nobody does."""
    spoken = (at for at, message in enumerate(done) if message.role == "user" and words_of(message.parts))
    return next(spoken, -1)


def task_of(done: Sequence[Message], pieces: int | None = None) -> list[TextPart]:
    """The words of the task: all that was said in its message, or as many pieces as are known to be it."""
    return words_of(done[task_in(done)].parts)[:pieces]


def cut(done: Sequence[Message], newer: Message | None, keep_chars: int) -> int:
    """Where the messages begin that stay: at the oldest place that leaves `keep_chars`, else at the newest there is.

    `newer` stands behind `done`. A place is before a reply or before words, never inside of what belongs together:
    between a call and its results, or inside of a reply that was made in two pieces. 0: there is none.
    """
    found = 0
    size = 0 if newer is None else size_of(newer)
    for at in range(len(done), 0, -1):
        size += size_of(done[at]) if at < len(done) else 0
        if found and size > keep_chars:
            break
        if _may_begin(done[at] if at < len(done) else newer, done[at - 1]):
            found = at
    return found


def _may_begin(message: Message | None, before: Message) -> bool:
    if message is None:
        return False
    if message.role == "assistant":
        return before.role == "user"
    return not any(isinstance(part, ResultPart) for part in message.parts)


def dropped(done: Sequence[Message], at: int, task: int) -> list[Message]:
    """What goes where the messages from `at` on stay: all before but the `task` words of the first that has any."""
    first = task_in(done)
    gone = [message if index != first else _without_words(message, task) for index, message in enumerate(done[:at])]
    return [message for message in gone if message.parts]


def condensed(done: Sequence[Message], at: int, task: int, summary: str) -> list[Message]:
    """The task's own words, the summary, and the messages from `at` on."""
    head = Message("user", (*task_of(done, task), TextPart(f"{SUMMARY_HEAD}\n{summary}".rstrip())))
    return [head, *map(without_seals, done[at:])]


def calls_in(messages: Sequence[Message]) -> dict[str, str]:
    """The name of each call by its id."""
    return {part.id: part.name for message in messages for part in message.parts if isinstance(part, CallPart)}


def words_of(parts: Sequence[Part]) -> list[TextPart]:
    """The words among the parts of a message."""
    return [part for part in parts if isinstance(part, TextPart) and part.text.strip()]


def _without_words(message: Message, count: int) -> Message:
    gone = words_of(message.parts)[:count]
    return Message(message.role, tuple(part for part in message.parts if not any(part is one for one in gone)))
