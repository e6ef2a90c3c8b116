"""`swe-agent-traj`: one JSON document, a step for each reply: an action as text, what was observed, a state.

The format flags no error. What is taken from an observation are the few sentences that SWE-agent's own tools and its
environment print word for word.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

from .bad_trace import BadTrace
from .json_text import JsonError, read_json
from .lines import (
    UNSEEN,
    CallSpec,
    EndLine,
    Json,
    JsonObject,
    ReplyLine,
    ResultError,
    ResultLine,
    RunLine,
    UserLine,
    result_error,
)
from .loose import args_text, content_of, digest, list_of, object_of, text_of
from .recorded import Numbered, Recorded, runs
from .source import document
from .tools import SWE_AGENT, commands

NAME: Final = "swe-agent-traj"

# A refused edit, by the linter; a command that the environment cut off; an edit that was made, in each version.
_REFUSED: Final = "Your proposed edit has introduced new syntax error(s)"
_TIMED_OUT: Final = "EXECUTION TIMED OUT"
_MADE: Final = (
    "[File: ",
    "File updated. ",
    "Text replaced. ",
    "Replaced ",
    "The file ",
    "File created successfully at: ",
)
_READS: Final = ("view",)  # the one command of `str_replace_editor` that writes nothing


def read(path: Path) -> Iterator[Recorded]:
    """The one run of a file. Raises BadTrace where it has no list of steps."""
    return runs(path, NAME, _lines(path))


@frozen
class _Step:
    tool: str
    rest: str
    text: str
    observation: Json
    state: Json


def _lines(path: Path) -> Iterator[Numbered]:
    record = document(path)
    trajectory = record.get("trajectory")
    if not isinstance(trajectory, list):
        raise BadTrace(path, field="trajectory", found="no list of steps", expected="a list")
    steps = [_step(path, number, item) for number, item in enumerate(trajectory)]
    info = object_of(record.get("info"))
    status = text_of(info.get("exit_status"))
    yield (
        None,
        RunLine(path.stem, tools=commands((step.tool for step in steps if step.tool), SWE_AGENT), agent="swe-agent"),
    )
    task = _task(list_of(record.get("history")))
    if task is not None:
        yield None, UserLine(task)
    for number, step in enumerate(steps):
        # `submitted` alone may be the harness's doing, when the money ran out; the step says that the agent did it.
        final = number == len(steps) - 1 and step.tool == "submit" and status.startswith("submitted")
        yield from _turn(number, step, steps[number + 1 : number + 2], final)
    if status:
        yield None, EndLine(status, text_of(info.get("submission")))


def _step(path: Path, number: int, item: Json) -> _Step:
    if not isinstance(item, dict):
        raise BadTrace(path, field=f"trajectory[{number}]", found="no object", expected="a step")
    action = text_of(item.get("action")).strip()
    words = action.split(maxsplit=1)
    return _Step(
        tool=words[0] if words else "",
        rest=words[1] if len(words) > 1 else "",
        text=text_of(item.get("thought")).strip() or text_of(item.get("response")),
        observation=item.get("observation"),
        state=item.get("state"),
    )


def _task(history: list[Json]) -> str | None:
    """The first message that is neither the system's nor a demonstration."""
    for item in history:
        message = object_of(item)
        if message.get("role") == "user" and message.get("is_demo") is not True:
            text = content_of(message.get("content"))
            return text if isinstance(text, str) else None
    return None


def _turn(number: int, step: _Step, after: list[_Step], final: bool) -> Iterator[Numbered]:
    if not step.tool:
        yield None, ReplyLine("other", text=step.text)
        if text_of(step.observation):
            yield None, UserLine(text_of(step.observation), synthetic=True)
        return
    name = f"step-{number + 1}"
    args: JsonObject = {"text": step.rest} if step.rest else {}
    call = CallSpec(name, step.tool, args_text(args))
    yield None, ReplyLine("tool_use", (call,), text=step.text, kind="final" if final else None)
    state, place = _afterwards(step, after)
    seen = text_of(step.observation)
    error = _error(seen)
    wrote = error is None and _writes(step) and seen.startswith(_MADE)
    yield (
        None,
        ResultLine(
            name,
            value=UNSEEN if step.observation is None else step.observation,
            error=error,
            # The recorded state says which file is open, not what it holds; that, a write's observation shows.
            state=digest(state + seen if wrote else state) if state else None,
            target=_target(step, place) if wrote else None,
            wrote=wrote,
        ),
    )


def _error(observation: str) -> ResultError | None:
    if observation.startswith(_REFUSED):
        return result_error("validation")
    return result_error("timeout") if observation.strip() == _TIMED_OUT else None


def _writes(step: _Step) -> bool:
    spec = SWE_AGENT.get(step.tool)
    return spec is not None and spec.kind == "write" and not step.rest.startswith(_READS)


def _afterwards(step: _Step, after: list[_Step]) -> tuple[str, JsonObject]:
    """The state after a step, as text and as an object; empty where it is not known.

    SWE-agent 1 records an object, taken after the action. Versions before it record a string, taken before the
    action, so that the state after a step is that of the next.
    """
    recorded: Json = step.state
    if not isinstance(recorded, dict):
        text = text_of(after[0].state) if after else ""
        try:
            recorded = read_json(text.encode("utf-8", "surrogatepass"))
        except JsonError:
            return text.strip(), {}
    state = object_of(recorded)
    return args_text(dict(sorted(state.items()))) if state else "", state


def _target(step: _Step, place: JsonObject) -> str | None:
    """The file that a write touched: the one that is open, or the one that the call names."""
    words = step.rest.split(maxsplit=2)
    if step.tool == "str_replace_editor":
        return words[1] if len(words) > 1 else None
    opened = text_of(place.get("open_file"))
    if opened and opened != "n/a":
        return opened
    return words[0] if step.tool == "create" and words else None
