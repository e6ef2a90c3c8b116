"""What the model is sent: the messages so far, in the form that every provider takes.

The rules: after a reply come the answers to all its calls, in their order, and then whatever else was said, never
between; a call that nothing answered gets an answer that says so; an answer to no call is dropped; of two answers to
one call the later is kept. What else a provider would refuse is repaired on the way out (`repair.py`). What was sent
once stays as it was sent, so that a provider's cache of the beginning goes on to hold, until the history is made
shorter (`shortening.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final, overload

import attrs

from .condensing import bounded, rendered
from .parts import CHARS_A_TOKEN, message_of, part_of, plain_message, plain_of, size_of
from .plainer import plainer
from .repair import NOT_ANSWERED, Repair
from .shortening import (
    PRUNED,
    TOO_LONG,
    calls_in,
    condensed,
    cut,
    dropped,
    pruned,
    shortened,
    task_in,
    task_of,
)
from .spilling import READ_RESULT, preview
from .wire import CallPart, Message, Part, ResultPart, TextPart

__all__ = ["NOT_ANSWERED", "PRUNED", "TOO_LONG", "Transcript"]

TASK_SHOWN: Final = 2_000
"""Characters of the task that a summariser is shown before the history."""


class _Sent(Sequence[Message]):
    """The messages as they stood for one request; shares the finished ones, so that a long run copies nothing."""

    def __init__(self, done: list[Message], rest: Sequence[Message]) -> None:
        self._done, self._size, self._rest = done, len(done), rest

    def __len__(self) -> int:
        return self._size + len(self._rest)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        if isinstance(index, slice):
            return list(self)[index]
        at = range(len(self))[index]
        return self._done[at] if at < self._size else self._rest[at - self._size]

    def __iter__(self) -> Iterator[Message]:
        return chain(islice(self._done, self._size), self._rest)


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
        self._task: int | None = None  # how many pieces of the first message are the task's, once it was condensed
        self._spilled: dict[str, str] = {}
        self._repair, self._looked_at = Repair(), 0
        self._before: tuple[int, tuple[CallPart, ...], dict[str, ResultPart], list[Part]] | None = None
        self.plainer = False  # every request is sent plain from now on

    def say(self, text: str) -> None:
        """Somebody speaks to the model: a person, or the run itself."""
        self._said.append(TextPart(text))

    def answer(self, call: str, content: str, *, error: bool = False) -> None:
        """Answer a call of the last reply."""
        self._answers[call] = ResultPart(call, content, error)
        self._spilled.pop(call, None)

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
        self._before = None
        if not parts:
            return
        self._before = (len(self._done), self._calls, self._answers, self._said)
        self._close()
        self._done.append(Message("assistant", tuple(parts)))
        self._calls = tuple(part for part in parts if isinstance(part, CallPart))

    def discard(self) -> None:
        """The last reply is not kept after all; what was said before and since then stays."""
        if self._before is None:
            return
        size, self._calls, self._answers, said = self._before
        self._said = [*said, *self._said]
        self._rewrite(self._done[:size])
        self._before = None

    @property
    def open_calls(self) -> tuple[str, ...]:
        """The ids of the last reply's calls that have no answer yet."""
        return tuple(call.id for call in self._calls if call.id not in self._answers)

    def _answered(self) -> tuple[ResultPart, ...]:
        """The answers so far as the model is shown them: in the order of the calls, whichever came first."""
        return tuple(self._answers[call.id] for call in self._calls if call.id in self._answers)

    def outbound(self, note: str = "", *, plain: bool = False) -> Sequence[Message]:
        """The messages as a provider takes them, repaired; `plain`: as `plainer` has them, after one has refused them.

        `note` stands at the end of this request alone: behind the last words of the last message, if that is the
        user's; a reply that is to be gone on with has nothing behind it. Where a model's sealed thinking does not stand
        that, its provider refuses the transcript, and it is sent plain from then on.
        """
        rest = self._rest()
        sent = self._repair.sent
        if plain or self.plainer:
            sent, rest = [], [*plainer([*sent, *rest])]
        if note and not rest:
            rest = [Message("user", (TextPart(note),))]
        elif note and rest[-1].role == "user":
            rest[-1] = Message("user", (*rest[-1].parts, TextPart(note)))
        return _Sent(sent, rest)

    def tokens(self) -> int:
        """The rough size of the next request's messages, in tokens; it costs what is new since the last one."""
        rest = self._rest()
        return (self._repair.chars + sum(map(size_of, rest))) // CHARS_A_TOKEN

    def prune(self, keep_chars: int) -> int:
        """Replace old results by a note, the newest `keep_chars` characters of them excepted; the characters freed.

        The answers of the message that is still open are the newest. Beyond `keep_chars` they are cleared only where
        they are the bulk of it, since the model has not seen them yet.
        """
        unseen = sum(len(part.content) for part in self._answers.values())
        freed = self._prune_done(keep_chars, 1)
        if unseen - keep_chars <= freed:
            return freed
        kept = 0
        for part in reversed(self._answered()):
            note = TOO_LONG.format(chars=len(part.content))
            kept += len(part.content)
            if kept > keep_chars and len(part.content) > len(note):
                freed += len(part.content) - len(note)
                self._answers[part.call] = attrs.evolve(part, content=note)
        return freed

    def prune_tool_results(self, keep_tokens: int = 40_000, least_tokens: int = 20_000) -> int:
        """As `prune`, of results that the model has seen, and only if it frees `least_tokens`; the characters freed."""
        return self._prune_done(keep_tokens * CHARS_A_TOKEN, max(least_tokens * CHARS_A_TOKEN, 1))

    def _prune_done(self, keep_chars: int, least_chars: int) -> int:
        unseen = sum(len(part.content) for part in self._answers.values())
        found = pruned(self._done, keep_chars, unseen)
        if found.freed < least_chars:
            return 0
        self._rewrite(found.messages)
        return found.freed

    def spill_large_results(self, threshold_chars: int = 2_000) -> int:
        """Set each result aside that is longer, and leave how it begins; the characters freed.

        The whole texts are `spilled`, where the tool `read_result` finds them; its own answers stay as they are.
        """
        names = calls_in(self._done)

        def shorter(part: ResultPart) -> ResultPart:
            shown = preview(part.call, part.content)
            aside = part.call in self._spilled or names.get(part.call) in (None, READ_RESULT)
            if aside or len(part.content) <= threshold_chars or len(shown) >= len(part.content):
                return part
            self._spilled[part.call] = part.content
            return attrs.evolve(part, content=shown)

        found = shortened(self._done, shorter)
        if found.freed:
            self._rewrite(found.messages)
        freed = found.freed
        for call, part in tuple(self._answers.items()):
            self._answers[call] = shorter(part)
            freed += len(part.content) - len(self._answers[call].content)
        return freed

    @property
    def spilled(self) -> Mapping[str, str]:
        """The results that were set aside, each by the id of its call."""
        return self._spilled

    def droppable(self, keep_tokens: int) -> Sequence[Message]:
        """What `condense` would take a summary for: the oldest part, without the task. Empty: there is none."""
        at = self._cut(keep_tokens)
        return dropped(self._done, at, self._task_words()) if at else ()

    def to_summarise(self, keep_tokens: int, most_chars: int) -> str:
        """The part that `condense` would drop, as a text for whoever sums it up; empty where there is none."""
        gone = self.droppable(keep_tokens)
        if not gone:
            return ""
        task = "\n".join(part.text for part in task_of(self._done, self._task_words()))
        told = f"The task, which is kept:\n{bounded(task, min(TASK_SHOWN, most_chars // 4))}\n\nThe history:\n"
        return bounded(told + rendered(gone, max(most_chars - len(told), 0)), most_chars)

    def condense(self, summary: str, keep_tokens: int) -> int:
        """Put a summary in the place of the oldest part; the tokens freed. 0: nothing was dropped or changed.

        The task's own words stay in front, and of the newest messages as many as fit into `keep_tokens`, at least those
        that belong to an open call. A summary that is longer than what it stands for is not taken.
        """
        at = self._cut(keep_tokens)
        if not at or not dropped(self._done, at, self._task_words()):
            return 0
        before, was, task = self.tokens(), self._done, self._task_words()
        self._rewrite(condensed(was, at, task, summary))
        freed = before - self.tokens()
        if freed <= 0:
            self._rewrite(was)
            return 0
        self._task = task
        there = {*calls_in(self._done), *self._answers}
        self._spilled = {call: text for call, text in self._spilled.items() if call in there}
        return freed

    def _cut(self, keep_tokens: int) -> int:
        at = cut(self._done, self._open_message(), keep_tokens * CHARS_A_TOKEN)
        if self._task is not None and at == 1:  # the earlier summary alone
            return 0
        return at if task_in(self._done) in range(at) else 0

    def _task_words(self) -> int:
        return len(task_of(self._done)) if self._task is None else self._task

    def plain(self) -> dict[str, Any]:
        """All of it as plain JSON. Results that were set aside are in it as they would be were they not."""
        return {
            "done": [plain_message(message) for message in self._done],
            "calls": [plain_of(call) for call in self._calls],
            "answers": [plain_of(answer) for answer in self._answered()],
            "said": [plain_of(part) for part in self._said],
            "ids": sorted(self._ids.difference(calls_in(self._done))),
            "task": self._task,
            "spilled": dict(self._spilled),
            "plainer": self.plainer,
        }

    @staticmethod
    def of(plain: Mapping[str, Any]) -> Transcript:
        """A transcript from plain JSON."""
        made = Transcript()
        made._done = [message_of(message) for message in plain["done"]]
        made._calls = tuple(CallPart(*fields) for _, *fields in plain["calls"])
        made._answers = {(answer := ResultPart(*fields)).call: answer for _, *fields in plain["answers"]}
        made._said = [part_of(part) for part in plain["said"]]
        made._ids = {*calls_in(made._done), *plain.get("ids", ())}
        made._task = plain.get("task")
        made._spilled = dict(plain.get("spilled", {}))
        made.plainer = bool(plain.get("plainer"))
        return made

    def _rest(self) -> list[Message]:
        """What comes after `self._repair.sent`, which is brought up to the last finished message."""
        for message in self._done[self._looked_at :]:
            self._repair.add(message)
        self._looked_at = len(self._done)
        self._repair.settle()
        return self._repair.rest(self._open_message())

    def _rewrite(self, done: list[Message]) -> None:
        self._done = done
        self._repair, self._looked_at = Repair(), 0

    def _open_message(self) -> Message | None:
        results = [self._answers.get(call.id, ResultPart(call.id, NOT_ANSWERED, error=True)) for call in self._calls]
        return Message("user", (*results, *self._said)) if results or self._said else None

    def _close(self) -> None:
        still = self._open_message()
        if still is not None:
            self._done.append(still)
        self._calls, self._answers, self._said = (), {}, []
