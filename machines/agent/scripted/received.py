"""A request as the scripted server received it, and what a provider would refuse in it."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ..wire import CallPart, Request, ResultPart, TextPart


@attrs.frozen
class Received:
    """A request in neutral words.

    `wire` is `anthropic`, `openai`, `openai-responses` or `gemini`, `run` tells runs apart that share a server,
    `number` counts from 0 in each, and `key` is what came as the key, which no text of this value shows.
    `streamed`: a stream was asked for.
    """

    wire: str
    model: str
    run: str
    number: int
    request: Request
    key: str | None = attrs.field(default=None, repr=False)
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)
    streamed: bool = False


def broken_rule(request: Request) -> str | None:
    """What providers would refuse in a transcript, None where it is sound.

    A transcript begins with the user and has no empty message; every call has an id of its own and is answered in the
    next message; there is no other answer.
    """
    if not request.messages or request.messages[0].role != "user":
        return "the first message must be the user's"
    seen: set[str] = set()
    owed: list[str] = []
    for number, message in enumerate(request.messages):
        if not any(not isinstance(part, TextPart) or part.text.strip() for part in message.parts):
            return f"message {number} is empty"
        answered = [part.call for part in message.parts if isinstance(part, ResultPart)]
        if sorted(answered) != sorted(owed):
            return f"message {number} answers the calls {answered}, expected {owed}"
        owed = [part.id for part in message.parts if isinstance(part, CallPart)]
        if any(not name for name in owed) or len({*owed}) < len(owed) or seen.intersection(owed):
            return f"message {number} has a call without an id of its own: {owed}"
        seen.update(owed)
    return f"the last message leaves the calls {owed} unanswered" if owed else None
