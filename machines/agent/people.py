"""Asking a person: the tool by which the model does, and the answer as the model reads it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec

from ..events import Awaited, ErrorKind, Text
from ..held import Held
from ..manifest import Kind, Tool
from .calling import Ran, as_json
from .from_outside import wait_for
from .tools import ToolError, tool

_Question = Annotated[str, msgspec.Meta(min_length=1, description="what the person is asked, whole")]
_Choices = Annotated[
    list[Annotated[str, msgspec.Meta(min_length=1)]],
    msgspec.Meta(description="the answers to choose from; none: the person answers in words"),
]
_Deadline = Annotated[float, msgspec.Meta(gt=0, description="seconds to wait at most; none: as long as the run may")]


@tool(manifest=Tool(kind=Kind.OTHER, may_be_empty=("choices",)))
async def ask_person(question: _Question, choices: _Choices = [], deadline: _Deadline | None = None) -> Any:  # noqa: B006
    """Ask a person, and wait for the answer, however long that takes. Ask all that you need to know at once.

    No answer in time is neither a yes nor a no.
    """
    if len({choice.casefold() for choice in choices}) < len(choices):
        raise ToolError(ErrorKind.VALIDATION, "choices: found one twice, expected each once")
    return wait_for(question=question, choices=choices, seconds=deadline)


def answer_of(held: Held, started: float, content: Callable[[Text], str | None]) -> Ran:
    """What the model reads of an answer that has come: what, from whom, and when."""
    said: dict[str, Any] = {"status": "answered" if held.awaited is Awaited.ANSWER else "arrived"}
    if held.answer is not None:
        said["answer"] = held.answer
    if held.value is not None and (text := content(held.value)) is not None:
        words = held.answer is None and held.awaited is Awaited.ANSWER  # without choices, the words are the answer
        said["answer" if words else "text"] = text
    if held.by is not None:
        said["by"] = held.by
    said["when"] = datetime.fromtimestamp(started + held.when, UTC).isoformat(timespec="seconds")
    return Ran(as_json(said), said)
