"""What the model is sent: the messages so far, in the form that every provider takes.

The rules: the two roles take turns; after a reply come the answers to all its calls, in their order, and then whatever
else was said, never between; a call that nothing answered gets an answer that says so; an answer to no call is dropped;
of two answers to one call the later is kept. What was sent once stays as it was sent, so that a provider's cache of the
beginning goes on to hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, overload

import attrs

from .parts import message_of, part_of, plain_message, plain_of
from .wire import CallPart, Message, Part, ResultPart, TextPart

NOT_ANSWERED = "No answer: the run went on without one."
"""The answer of a call that nothing answered."""

PRUNED = "(cleared: an old result, to make room)"
"""What stands for a result that was cleared."""

TOO_LONG = "(cleared: {chars} characters, which did not fit; ask for less at a time)"
"""What stands for a result that was cleared before the model had seen it."""


class _Sent(Sequence[Message]):
    """The messages as they stood for one request; shares the finished ones, so that a long run copies nothing."""

    def __init__(self, done: list[Message], last: Message | None) -> None:
        self._done, self._size = done, len(done)
        self._last: tuple[Message, ...] = () if last is None else (last,)

    def __len__(self) -> int:
        return self._size + len(self._last)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        if isinstance(index, slice):
            return list(self)[index]
        at = range(len(self))[index]
        return self._done[at] if at < self._size else self._last[0]

    def __iter__(self) -> Iterator[Message]:
        return chain(islice(self._done, self._size), self._last)


class Transcript:
    """The messages of one run, growing at the end: those that are finished, and the user's one that is still open.

    A finished message is never changed in its list, since a request may still hold it: whoever does makes a new list.
    """

    def __init__(self) -> None:
        self._done: list[Message] = []
        self._calls: tuple[CallPart, ...] = ()
        self._answers: dict[str, ResultPart] = {}
        self._said: list[Part] = []
        self._ids: set[str] = set()

    def say(self, text: str) -> None:
        """Somebody speaks to the model: a person, or the run itself."""
        self._said.append(TextPart(text))

    def answer(self, call: str, content: str, *, error: bool = False) -> None:
        """Answer a call of the last reply."""
        self._answers[call] = ResultPart(call, content, error)

    def told_apart(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """The parts of a new reply, each call with an id that no other call of the run has.

        Whoever makes providers is free to leave ids out or to give one twice; two calls of one id would be one.
        """
        ids = [part.id for part in parts if isinstance(part, CallPart)]
        if all(ids) and len(set(ids)) == len(ids) and self._ids.isdisjoint(ids):
            self._ids.update(ids)
            return parts
        return tuple(self._apart(part) if isinstance(part, CallPart) else part for part in parts)

    def _apart(self, call: CallPart) -> CallPart:
        name, number = call.id, len(self._ids) + 1
        while not name or name in self._ids:
            name, number = f"{call.id or 'call'}-{number}", number + 1
        self._ids.add(name)
        return call if name == call.id else CallPart(name, call.name, call.args)

    def reply(self, parts: Sequence[Part]) -> None:
        """The model replied. A reply without anything in it is not kept: sent back, it would be rejected."""
        if not parts:
            return
        self._close()
        if self._done and self._done[-1].role == "assistant":
            parts = (*self._done[-1].parts, *parts)
            self._done = self._done[:-1]
        self._done.append(Message("assistant", tuple(parts)))
        self._calls = tuple(part for part in parts if isinstance(part, CallPart))

    @property
    def open_calls(self) -> tuple[str, ...]:
        """The ids of the last reply's calls that have no answer yet."""
        return tuple(call.id for call in self._calls if call.id not in self._answers)

    def outbound(self) -> Sequence[Message]:
        """The messages as a provider takes them."""
        return _Sent(self._done, self._open_message())

    def prune(self, keep_chars: int) -> int:
        """Replace old results by a note, the newest `keep_chars` characters of them excepted; the characters freed.

        The answers of the message that is still open are the newest. Beyond `keep_chars` they are cleared only where
        they are the bulk of it, since the model has not seen them yet.
        """
        unseen = sum(len(part.content) for part in self._answers.values())
        freed = self._prune_done(keep_chars, unseen)
        if unseen - keep_chars <= freed:
            return freed
        kept = 0
        for call, part in reversed(tuple(self._answers.items())):
            note = TOO_LONG.format(chars=len(part.content))
            kept += len(part.content)
            if kept > keep_chars and len(part.content) > len(note):
                freed += len(part.content) - len(note)
                self._answers[call] = attrs.evolve(part, content=note)
        return freed

    def plain(self) -> dict[str, Any]:
        """All of it as plain JSON."""
        return {
            "done": [plain_message(message) for message in self._done],
            "calls": [plain_of(call) for call in self._calls],
            "answers": [plain_of(answer) for answer in self._answers.values()],
            "said": [plain_of(part) for part in self._said],
        }

    @staticmethod
    def of(plain: Mapping[str, Any]) -> Transcript:
        """A transcript from plain JSON."""
        made = Transcript()
        made._done = [message_of(message) for message in plain["done"]]
        made._calls = tuple(CallPart(*fields) for _, *fields in plain["calls"])
        made._answers = {(answer := ResultPart(*fields)).call: answer for _, *fields in plain["answers"]}
        made._said = [part_of(part) for part in plain["said"]]
        made._ids = {part.id for message in made._done for part in message.parts if isinstance(part, CallPart)}
        return made

    def _prune_done(self, keep_chars: int, kept: int) -> int:
        freed = 0
        done = list(self._done)
        for index in range(len(done) - 1, -1, -1):
            parts: list[Part] = []
            before = freed
            for part in done[index].parts:
                kept += len(part.content) if isinstance(part, ResultPart) else 0
                if isinstance(part, ResultPart) and kept > keep_chars and len(part.content) > len(PRUNED):
                    freed += len(part.content) - len(PRUNED)
                    parts.append(attrs.evolve(part, content=PRUNED))
                else:
                    parts.append(part)
            if freed > before:
                done[index] = attrs.evolve(done[index], parts=tuple(parts))
        self._done = done
        return freed

    def _open_message(self) -> Message | None:
        results = [self._answers.get(call.id, ResultPart(call.id, NOT_ANSWERED, error=True)) for call in self._calls]
        return Message("user", (*results, *self._said)) if results or self._said else None

    def _close(self) -> None:
        still = self._open_message()
        if still is not None:
            self._done.append(still)
        self._calls, self._answers, self._said = (), {}, []
