"""The built-in tool by which a model declares what its message is: `finish(kind, text)`.

It is no call of the run: it runs nothing and needs no answer. A reply that also calls other tools has not finished; its
declaration is answered, and the other calls are run. A declaration that is not one (wrong arguments) is a call like any
other that failed: it is answered with what was wrong, and counts for the turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, cast

import attrs
import jiter
import msgspec

from ..ledger.canonical import loads
from ..words import FINISH
from .wire import CallPart, Completion, Part, TextPart, ToolSchema

KINDS: Final = ("final", "partial", "failure")

FINISH_SCHEMA: Final = ToolSchema(
    FINISH,
    "End the run with a message to the person. kind: final = the task is done; partial = part of it is; failure = it "
    "cannot be done, and text says what blocks. Call it alone.",
    {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": list(KINDS)},
            "text": {"type": "string", "description": "the whole message"},
        },
        "required": ["kind", "text"],
    },
)


NOT_BORNE_OUT: Final = (
    f"You called {FINISH}, and the run goes on all the same: what it knows so far does not bear out the kind that you "
    f"declared. The message was shown as a progress note. Do what is still missing, or call {FINISH} with a kind that "
    f"holds now: partial or failure."
)
"""What answers a declaration that the run's facts made a checkpoint of."""


class _Arguments(msgspec.Struct):
    kind: Literal["final", "partial", "failure"]
    text: str


@attrs.frozen
class Told:
    """A reply with its declaration taken out.

    `text` is the message, `parts` what the transcript keeps, `calls` what is left to run, `answered` the declarations
    that did not count, and why.
    """

    text: str
    kind: str | None
    parts: tuple[Part, ...]
    calls: tuple[CallPart, ...]
    answered: tuple[tuple[str, str], ...] = ()

    def is_plain(self, parts: Sequence[Part]) -> bool:
        """Whether these, a whole reply, are no more than its text and its calls, which the run knows anyway."""
        text = (TextPart(self.text),) if self.text.strip() else ()
        return tuple(parts) == (*text, *self.calls)


def declared(completion: Completion) -> Told:
    """What a reply declares itself to be."""
    calls = completion.calls
    finishes = [call for call in calls if call.name == FINISH]
    if not finishes:
        return Told(completion.text, None, completion.parts, calls)
    others = tuple(call for call in calls if call.name != FINISH)
    if others:
        why = f"not finished: other tools were called in the same reply; call {FINISH} alone"
        return Told(completion.text, None, completion.parts, others, tuple((call.id, why) for call in finishes))
    arguments = _arguments(finishes[-1])
    if isinstance(arguments, str):
        return Told(completion.text, None, completion.parts, calls)
    kept = tuple(part for part in completion.parts if not isinstance(part, CallPart))
    spoken = completion.text.strip()
    text = arguments.text if arguments.text.strip() else spoken
    return Told(text, arguments.kind, (*kept, TextPart(text)) if text and text != spoken else kept, ())


def begun(calls: Sequence[CallPart]) -> str:
    """What a declaration that was cut off had begun to say, for showing; empty where there is none."""
    for call in calls:
        if call.name == FINISH:
            try:
                given: object = jiter.from_json(call.args.encode("utf-8", "replace"), partial_mode="trailing-strings")
            except ValueError:
                return ""
            text = cast("dict[str, object]", given).get("text") if isinstance(given, dict) else None
            return text if isinstance(text, str) else ""
    return ""


def not_finished(call: CallPart) -> str:
    """What is wrong with a declaration that became a call of its turn."""
    arguments = _arguments(call)
    if isinstance(arguments, str):
        return arguments
    return f"not finished: another call of {FINISH} in the same reply could not be read; call it once"


def _arguments(call: CallPart) -> _Arguments | str:
    try:
        return msgspec.convert(cast("Any", loads(call.args or "{}")), _Arguments)
    except (ValueError, msgspec.ValidationError) as error:
        return f"not finished: {error}"
