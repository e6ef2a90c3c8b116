"""The calls that a reply of mini-swe-agent makes, and which of their answers are errors."""

from __future__ import annotations

from typing import Final

from .bash_block import blocks
from .chat_call import chat_call
from .lines import CallSpec, JsonObject, ResultError, result_error
from .loose import args_text, list_of, object_of, text_of

_TOOL: Final = "bash"
_CODE: Final = "<returncode>"
_CODE_END: Final = "</returncode>"


def calls_v1(message: JsonObject, reply: int) -> tuple[CallSpec, ...]:
    """The one block of shell in the reply with this number; none where there is none or more than one."""
    found = blocks(text_of(message.get("content")))
    if len(found) != 1:
        return ()
    return (CallSpec(f"call-{reply}", _TOOL, args_text({"command": found[0].strip()})),)


def calls_v2(message: JsonObject, reply: int) -> tuple[CallSpec, ...]:
    """The tool calls of the reply with this number, or in text mode the actions that were read out of it."""
    calls = tuple(chat_call(object_of(item)) for item in list_of(message.get("tool_calls")))
    if calls:
        return calls
    actions = [object_of(item) for item in list_of(object_of(message.get("extra")).get("actions"))]
    return tuple(
        CallSpec(
            text_of(action.get("tool_call_id")) or f"call-{reply}-{number}",
            _TOOL,
            args_text({"command": action.get("command")}),
        )
        for number, action in enumerate(actions, start=1)
    )


def error_v1(info: JsonObject, answer: str) -> ResultError | None:
    """The error that an answer of version 1 is: a return code that is not 0, or a command that was cut off."""
    if opening(info, "agent", "timeout_template", answer):
        return result_error("timeout")
    if not answer.startswith(_CODE):
        return None
    code = answer[len(_CODE) : answer.find(_CODE_END)]
    return None if code.strip() == "0" else result_error("other")


def error_v2(message: JsonObject) -> ResultError | None:
    """The error that an answer of version 2 is: a return code that is not 0, or an exception of the environment."""
    extra = object_of(message.get("extra"))
    exception = text_of(extra.get("exception_info")) or None
    if extra.get("returncode") in (0, None) and exception is None:
        return None
    # The exception's class, Python's own for a command that was cut off.
    return result_error("timeout" if extra.get("exception_type") == "TimeoutExpired" else "other", exception)


def opening(info: JsonObject, part: str, name: str, text: str) -> bool:
    """Whether a text begins as a template of the run's own configuration does, up to its first placeholder."""
    template = text_of(object_of(object_of(info.get("config")).get(part)).get(name))
    fixed = template.split("{{", 1)[0].split("{%", 1)[0]
    return bool(fixed) and text.startswith(fixed)
