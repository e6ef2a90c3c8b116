"""What each provider refuses in the body of a request, written down as its documentation and its errors say it.

A rule is a function of the parsed body; it gives the words of a refusal, or None. The quotations are the provider's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Final

from machines.agent.providers import anthropic, gemini, openai, responses
from machines.agent.wire import Message, Request, ToolSchema

TOOL: Final = ToolSchema("look", "Look.", {"type": "object"})
BODIES: Final[Mapping[str, Callable[[Request, str], bytes]]] = {
    "anthropic": anthropic.body,
    "openai": openai.body,
    "openai-responses": responses.body,
    "gemini": gemini.body,
}
LIST_OF: Final = {
    "anthropic": "messages",
    "openai": "messages",
    "openai-responses": "input",
    "gemini": "contents",
}
"""Where the messages stand in a body; it is the last field of each."""


def body_of(wire: str, messages: Sequence[Message]) -> bytes:
    """The body of a request with these messages."""
    return BODIES[wire](Request("Be brief.", messages, (TOOL,)), "a-model")


def refused(wire: str, messages: Sequence[Message]) -> str | None:
    """Why the provider of this wire would refuse the messages; None where it takes them."""
    return RULES[wire](json.loads(body_of(wire, messages))[LIST_OF[wire]])


def _anthropic(messages: list[Any]) -> str | None:
    if not messages or messages[0]["role"] != "user":
        return 'first message must use the "user" role'
    if any(not message["content"] for message in messages):
        return "messages must have non-empty content"
    last = messages[-1]["content"][-1]
    if messages[-1]["role"] == "assistant" and last["type"] == "text" and last["text"] != last["text"].rstrip():
        return "final assistant content cannot end with trailing whitespace"
    seen: set[str] = set()
    owed: list[str] = []
    # "Consecutive user or assistant turns in your request will be combined into a single turn."
    for role, some in groupby(messages, lambda message: message["role"]):
        blocks = [block for message in some for block in message["content"]]
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            return "text content blocks must contain non-whitespace text"
        given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(given) != sorted(owed):
            return f"`tool_use` ids were found without `tool_result` blocks immediately after, or others: {given}"
        if any(block["type"] != "tool_result" for block in blocks[: len(given)]):
            return "tool_result blocks must come first in the content"
        owed = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(set(owed)) < len(owed) or seen.intersection(owed):
            return "`tool_use` ids must be unique"
        if any(not re.fullmatch(r"[a-zA-Z0-9_-]+", name) for name in owed):
            return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        seen.update(owed)
        if role == "assistant" and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
            return "The final block in an assistant message cannot be `thinking`."
        if role == "user" and owed:
            return "`tool_use` blocks can only be in assistant messages"
    return f"`tool_use` ids were found without `tool_result` blocks: {owed}" if owed else None


def _openai(messages: list[Any]) -> str | None:
    owed: list[str] = []
    for message in messages[1:]:  # the first is the system's
        if message["role"] == "tool":
            if message["tool_call_id"] not in owed:
                return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
            owed.remove(message["tool_call_id"])
            continue
        if owed:
            return "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
        if message["role"] == "assistant":
            owed = [call["id"] for call in message.get("tool_calls", ())]
            if not message["content"] and not owed:
                return "an assistant message must have either content or tool_calls"
            if len(set(owed)) < len(owed) or "" in owed:
                return "ids of tool_calls must be unique"
        elif not message["content"]:
            return "a user's message must have content"
    if owed:
        return "An assistant message with 'tool_calls' must be followed by tool messages"
    return None if len(messages) > 1 else "messages must not be empty"


def _responses(items: list[Any]) -> str | None:
    made = [item["call_id"] for item in items if item.get("type") == "function_call"]
    given = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    if len(set(made)) < len(made) or "" in made:
        return "duplicate call_id"
    if len(set(given)) < len(given) or set(given) - set(made):
        return "No tool call found for function call output with call_id"
    if set(made) - set(given):
        return "No tool output found for function call"
    called: set[str] = set()
    for item, then in zip(items, [*items[1:], None], strict=True):
        kind = item.get("type", "message")
        if kind == "function_call":
            called.add(item["call_id"])
        if kind == "function_call_output" and item["call_id"] not in called:
            return "No tool call found for function call output: it comes before its call"
        if kind == "reasoning" and (then is None or then.get("role") == "user" or "output" in then):
            return "Item of type 'reasoning' was provided without its required following item."
    return None if items else "input must not be empty"


def _gemini(contents: list[Any]) -> str | None:
    if not contents or contents[0]["role"] != "user":
        return "contents must begin with a user turn"
    if any(not content["parts"] for content in contents):
        return "contents.parts must not be empty."
    for content, then in zip(contents, [*contents[1:], None], strict=True):
        calls = [part["functionCall"]["id"] for part in content["parts"] if "functionCall" in part]
        answers = (
            [part["functionResponse"]["id"] for part in then["parts"] if "functionResponse" in part] if then else []
        )
        if calls != answers:
            return "the number of function response parts must be equal to that of the function call parts"
        if len(set(calls)) < len(calls) or "" in calls:
            return "ids of calls that answers cannot be told apart by"
    for before, content in pairwise(contents):
        if any("functionCall" in part for part in content["parts"]) and before["role"] != "user":
            return "function call turns come immediately after a user turn or after a function response turn."
    return None


RULES: Final[Mapping[str, Callable[[list[Any]], str | None]]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai-responses": _responses,
    "gemini": _gemini,
}
