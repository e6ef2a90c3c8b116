"""The transcript as every provider takes it, whatever came together: repaired on its way out, never where it is kept.

The rules: a user's message comes first; the roles take turns; a reply holds more than thoughts and blanks; each call
has an id of its own and is answered once, at the beginning of the next message, in the order of the calls. What is
sound goes through as the very same object, so that a provider's cache of the beginning goes on to hold.

Where the rules come from: Anthropic refuses a `tool_use` whose result is not in the next message, a `tool_result` of no
call, an id given twice, an empty message, a reply that ends in thinking and a last reply that ends in a blank. OpenAI
wants an output for each call and none besides, on its Responses wire also an item after each reasoning. Gemini wants a
call after a user's turn, and as many responses as calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import attrs

from .parts import is_thought, size_of
from .wire import CallPart, Message, Part, ResultPart, TextPart

NOT_ANSWERED: Final = "No answer: the run went on without one."
"""The answer of a call that nothing answered."""

BEGINS: Final = Message("user", (TextPart("(The history begins here.)"),))
"""Stands in front of a reply that nobody asked for: to drop it could drop the whole transcript."""


def repaired(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages as they can be sent; the very same sequence where nothing is wrong with it. None stay none."""
    repair = Repair()
    for message in messages:
        repair.add(message)
    found = repair.rest()
    same = len(found) == len(messages) and all(one is other for one, other in zip(found, messages, strict=True))
    return messages if same else found


@attrs.define(eq=False)
class _Turn:
    """Neighbouring messages of one role, as one. `source` is the message where it is a single one.

    `parts` are without results: those are `answers` of the reply before, by the number of the call in it.
    """

    role: Literal["user", "assistant"]
    parts: list[Part]
    source: Message | None
    calls: int = 0
    answers: dict[int, ResultPart] = attrs.field(factory=dict[int, ResultPart])

    def copy(self) -> _Turn:
        return _Turn(self.role, [*self.parts], self.source, self.calls, dict(self.answers))


class Repair:
    """A repair that goes on: messages are added at the end, and what no later one can change is `sent` once for all.

    Nothing that is sent is looked at again, so that a request of a long run costs what is new in it. `chars` is the
    rough size of what is sent, as `parts.size_of`.
    """

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.chars = 0
        self._turns: list[_Turn] = []
        self._slots: dict[str, tuple[_Turn, list[int]]] = {}  # which reply, and which of its calls, an answer is for
        self._ids: set[str] = set()
        self._empty = True

    def add(self, message: Message) -> None:
        """The next message."""
        self._empty = False
        (self._replied if message.role == "assistant" else self._said)(message)

    def settle(self) -> None:
        """Hand on to `sent` all before the last reply: an answer that comes later than the next reply is lost."""
        at = next((at for at in range(len(self._turns) - 1, 0, -1) if self._turns[at].role == "assistant"), 0)
        if not at:
            return
        before, self._turns = self._turns[:at], self._turns[at:]
        ids: set[str] = set()
        made = list(self._told(before, ids))
        self.sent += made
        self.chars += sum(map(size_of, made))
        self._ids |= ids
        for turn in before:
            for part in turn.parts:
                if isinstance(part, CallPart) and part.id in self._slots and self._slots[part.id][0] is turn:
                    del self._slots[part.id]

    def rest(self, more: Message | None = None) -> list[Message]:
        """All that comes after `sent`, with `more` at its end; nothing is changed by asking."""
        if more is not None:
            return self._with(more)
        made = list(self._told(self._turns, set()))
        if not made and not self.sent and not self._empty:
            return [BEGINS]
        if made and made[-1].role == "assistant":
            made[-1] = _without_last_blank(made[-1])
        return made

    def _with(self, more: Message) -> list[Message]:
        fork = Repair()
        copies = {id(turn): turn.copy() for turn in self._turns}
        fork.sent, fork._ids, fork._turns = self.sent, self._ids, list(copies.values())
        fork._slots = {
            name: (copies[id(turn)], where) for name, (turn, where) in self._slots.items() if id(turn) in copies
        }
        fork.add(more)
        return fork.rest()

    def _replied(self, message: Message) -> None:
        parts = _ended([part for part in message.parts if not isinstance(part, ResultPart)])
        turn = self._turn("assistant", parts, message) if parts else None
        for part in message.parts:
            if isinstance(part, ResultPart):
                self._answer(part)
            elif isinstance(part, CallPart) and turn is not None:
                slot = self._slots.get(part.id)
                if slot is not None and slot[0] is turn:
                    slot[1].append(turn.calls)
                else:
                    self._slots[part.id] = (turn, [turn.calls])
                turn.calls += 1

    def _said(self, message: Message) -> None:
        last = next((turn for turn in reversed(self._turns) if turn.role == "assistant"), None)
        answers = [self._answer(part) for part in message.parts if isinstance(part, ResultPart)]
        parts: list[Part] = [part for part in message.parts if isinstance(part, TextPart)]
        # An answer to an earlier reply is moved there, and leaves nothing that could part two replies.
        if any(map(_holds, parts)) or (last is not None and last in answers):
            self._turn("user", parts, message)

    def _turn(self, role: Literal["user", "assistant"], parts: list[Part], message: Message) -> _Turn:
        if self._turns and self._turns[-1].role == role:
            turn = self._turns[-1]
            turn.parts += parts
            turn.source = None
        else:
            self._turns.append(turn := _Turn(role, parts, message))
        return turn

    def _answer(self, part: ResultPart) -> _Turn | None:
        """Keep an answer with its call: of two the later, of calls that share an id each its own as long as it goes."""
        slot = self._slots.get(part.call)
        if slot is None:
            return None
        turn, where = slot
        turn.answers[next((at for at in where if at not in turn.answers), where[-1])] = part
        return turn

    def _told(self, turns: Sequence[_Turn], ids: set[str]) -> Iterator[Message]:
        """The turns as messages; `ids` takes the ids that are new in them."""
        owed: list[ResultPart] = []
        first = not self.sent
        for turn in turns:
            if turn.role == "user":
                yield _message(turn, (*owed, *turn.parts))
                owed = []
            else:
                if first:
                    yield BEGINS
                parts, owed = self._reply(turn, ids)
                yield _message(turn, parts)
            first = False
        if owed:
            yield Message("user", tuple(owed))

    def _reply(self, turn: _Turn, ids: set[str]) -> tuple[tuple[Part, ...], list[ResultPart]]:
        parts: list[Part] = []
        owed: list[ResultPart] = []
        for part in turn.parts:
            if isinstance(part, CallPart):
                name = self._free(part.id, ids)
                ids.add(name)
                answer = turn.answers.get(len(owed)) or ResultPart(name, NOT_ANSWERED, error=True)
                owed.append(answer if answer.call == name else attrs.evolve(answer, call=name))
                part = part if name == part.id else CallPart(name, part.name, part.args)
            parts.append(part)
        return tuple(parts), owed

    def _free(self, name: str, ids: set[str]) -> str:
        stem, number = name or "call", 1
        while not name or name in self._ids or name in ids:
            number += 1
            name = f"{stem}-{number}"
        return name


def _ended(parts: list[Part]) -> list[Part]:
    """The parts of a reply up to one that a provider takes as the last; none, where there is no such.

    What is left out of a reply now is never sent later: what was thought after it does not know of it.
    """
    if parts and _holds(parts[-1]):
        return parts
    end = next((at for at in range(len(parts), 0, -1) if _holds(parts[at - 1])), 0)
    # A blank that follows words is theirs; what follows thinking would leave it as the last.
    return parts[:end] if not end or any(map(is_thought, parts[end:])) else parts


def _holds(part: Part) -> bool:
    """Whether a message with nothing but this part is one."""
    return bool(part.text.strip()) if isinstance(part, TextPart) else not is_thought(part)


def _message(turn: _Turn, parts: tuple[Part, ...]) -> Message:
    return turn.source if turn.source is not None and turn.source.parts == parts else Message(turn.role, parts)


def _without_last_blank(message: Message) -> Message:
    """A reply that is to be gone on with, without blanks at its end."""
    parts = [*message.parts]
    while isinstance(last := parts[-1], TextPart) and not last.text.strip():
        del parts[-1]
    if isinstance(last, TextPart):
        parts[-1] = TextPart(last.text.rstrip())
    return message if tuple(parts) == message.parts else Message(message.role, tuple(parts))
