"""`tau-bench-openai-messages`: one JSON list, an object for each trial: what OpenAI's chat was sent and answered.

The person in it is a program that plays one: it is the one whom the agent talks to, so its messages are a person's.
What the agent writes to it declares nothing, and the run goes on. With `###STOP###` in its last message the person
hangs up; that message is the end's, as nobody answers it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..manifest import Kind, Tool
from .bad_trace import BadTrace
from .chat_call import chat_call
from .fields import FieldError, may_count, may_list, may_number, need, need_list, need_text, objects, shown
from .json_text import read_json
from .lines import CallSpec, EndLine, JsonObject, Line, ReplyLine, ResultLine, RunLine, UserLine, result_error
from .loose import content_of, digest, object_of, text_of
from .parts import items
from .recorded import Numbered, Recorded, runs
from .tools import TAU_BENCH, manifest

NAME: Final = "tau-bench-openai-messages"

_HUNG_UP: Final = "###STOP###"
# Every tool of tau-bench begins what it refuses with this word, and no answer of another kind.
_ERROR: Final = "Error"


def read(path: Path) -> Iterator[Recorded]:
    """The runs of a file, `task3/trial1/53` the one that is 54th in it. Raises BadTrace."""
    return runs(path, NAME, _lines(path))


def _lines(path: Path) -> Iterator[Numbered]:
    for number, (at, trial) in enumerate(items(path)):
        try:
            for line in _run(trial, at, number):
                yield None, line
        except FieldError as wrong:
            raise BadTrace(path, field=wrong.field, found=wrong.found, expected=wrong.expected) from None


def _run(trial: JsonObject, at: str, number: int) -> Iterator[Line]:
    task = need(trial, "task_id", at, "a number or a string")
    if isinstance(task, bool) or not isinstance(task, (int, str)):
        raise FieldError(f"{at}.task_id", shown(task), "a number or a string")
    which = may_count(trial, "trial", at) or 0
    rewarded = may_number(trial, "reward", at) is not None
    messages = list(objects(need_list(trial, "traj", at), f"{at}.traj"))
    calls = [_calls(message, path) for message, path in messages]
    names = [call.tool for made in calls for call in made]
    yield RunLine(f"task{task}/trial{which}/{number}", tools=manifest(names, TAU_BENCH, Tool()))
    asked: dict[str, CallSpec] = {}
    farewell = ""
    for (message, path), made in zip(messages, calls, strict=True):
        role = need_text(message, "role", path)
        if role == "assistant":
            asked.update((call.id, call) for call in made)
            yield ReplyLine("tool_use" if made else "end_turn", made, text=_text(message))
        elif role == "tool":
            yield _answer(message, asked.pop(need_text(message, "tool_call_id", path), None), path)
        elif role == "user" and _HUNG_UP in _text(message) and message is messages[-1][0]:
            farewell = _text(message)
        elif role == "user":
            yield UserLine(_text(message))
        elif role not in ("system", "developer"):
            raise FieldError(f"{path}.role", shown(role), "system, user, assistant or tool")
    if rewarded:
        yield EndLine(f"reward {shown(trial['reward'])}", farewell)


def _calls(message: JsonObject, path: str) -> tuple[CallSpec, ...]:
    given = may_list(message, "tool_calls", path) or []
    return tuple(chat_call(call) for call, _ in objects(given, f"{path}.tool_calls"))


def _text(message: JsonObject) -> str:
    return text_of(content_of(message.get("content")))


def _answer(message: JsonObject, call: CallSpec | None, path: str) -> Line:
    value = content_of(message.get("content"))
    text = text_of(value)
    error = result_error("other") if text.startswith(_ERROR) else None
    spec = None if call is None else TAU_BENCH.get(call.tool)
    wrote = error is None and spec is not None and spec.kind is Kind.WRITE
    return ResultLine(
        need_text(message, "tool_call_id", path),
        value,
        error,
        # What a tool that writes answers with is what it wrote: the whole reservation, order or profile, afterwards.
        state=digest(text) if wrote else None,
        target=_target(call, spec) if wrote else None,
        wrote=wrote,
    )


def _target(call: CallSpec | None, spec: Tool | None) -> str | None:
    """The reservation, order or person that a call changes."""
    if call is None or spec is None or call.raw:
        return None
    args = object_of(read_json(call.args.encode("utf-8", "surrogatepass")))
    return next((text_of(args.get(name)) or None for name in spec.target), None)
