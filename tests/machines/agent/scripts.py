"""Scripts of a model, and what tests read in the requests that it is sent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from machines.agent.condensing import SYSTEM
from machines.agent.scripted import Move, Received, Refuse, Turn, call
from machines.agent.wire import Message, Request, ResultPart, TextPart


def done(text: str = "It is done.", kind: str = "final") -> Turn:
    """The run is ended."""
    return Turn(calls=(call("finish", {"kind": kind, "text": text}),))


def calling(tool: str, **args: Any) -> Turn:
    """One call."""
    return Turn(calls=(call(tool, args),))


def refusing(message: str, status: int = 400) -> Refuse:
    """A refusal in these words; its form is Anthropic's and OpenAI's, and any provider may meet it behind a proxy."""
    return Refuse(status, orjson.dumps({"type": "error", "error": {"type": "invalid", "message": message}}).decode())


def too_long(size: int = 130_500, window: int = 128_000) -> Refuse:
    """A prompt of `size` tokens does not fit into a window."""
    return refusing(f"prompt is too long: {size} tokens > {window} maximum")


def is_summary(received: Received) -> bool:
    """Whether a summary is asked for, and not the run's next reply."""
    return received.request.system == SYSTEM


def summing_up(moves: Sequence[Move], summary: Move | Callable[[Received], Move]) -> Callable[[Received], Move]:
    """A model that plays `moves`, and sums up where it is asked for that."""
    left, lock = iter(moves), threading.Lock()

    def move(received: Received) -> Move:
        if is_summary(received):
            return summary(received) if callable(summary) else summary
        with lock:
            return next(left, Refuse(410, "the script is spent"))

    return move


def texts(request: Request) -> list[str]:
    """All words in a request's messages, in order."""
    return [part.text for message in request.messages for part in message.parts if isinstance(part, TextPart)]


def last_texts(request: Request) -> list[str]:
    """The words of its last message."""
    return [part.text for part in request.messages[-1].parts if isinstance(part, TextPart)]


def results(request: Request) -> list[str]:
    """What calls were answered with, in order."""
    return [part.content for message in request.messages for part in message.parts if isinstance(part, ResultPart)]


def before_note(messages: Sequence[Message], note: str) -> list[Message]:
    """The messages without the note at their end."""
    *first, last = messages
    assert last.parts[-1] == TextPart(note)
    rest = last.parts[:-1]
    return [*first, Message(last.role, rest)] if rest else first
