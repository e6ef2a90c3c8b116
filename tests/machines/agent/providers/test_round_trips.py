"""What goes out on a wire is what came to the server, and what the server said is what came back."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.agent.providers import anthropic, gemini, openai, responses
from machines.agent.providers.exact import read
from machines.agent.scripted import Turn
from machines.agent.scripted import anthropic as anthropic_side
from machines.agent.scripted import gemini as gemini_side
from machines.agent.scripted import openai as openai_side
from machines.agent.scripted import responses as responses_side
from machines.agent.wire import (
    CallPart,
    Message,
    Request,
    ResultPart,
    TextPart,
    ThinkingPart,
    ToolSchema,
)
from machines.events import StopReason, Usage

EXAMPLES = settings(max_examples=60, deadline=None)  # a slow machine is no failure
WORDS = st.text(min_size=1, max_size=20).filter(str.strip)
IDS = st.from_regex(r"\A[a-zA-Z0-9_-]{1,12}\Z")
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=6
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=3)


def spelt(value: dict[str, Any], indent: int | None, plain: bool) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=plain)


ARGS = st.builds(spelt, OBJECTS, st.none() | st.integers(0, 2), st.booleans())
CALLS = st.lists(st.builds(CallPart, IDS, WORDS, ARGS), max_size=3, unique_by=lambda call: call.id)
TEXTS = st.lists(st.builds(TextPart, WORDS), max_size=1)
TOOLS = st.lists(
    st.builds(ToolSchema, WORDS, st.text(max_size=20), st.dictionaries(st.text(), VALUES, max_size=2)),
    min_size=1,
    max_size=3,
).map(tuple)


@st.composite
def requests(draw: st.DrawFn, thinking: st.SearchStrategy[list[ThinkingPart]]) -> Request:
    """Transcripts of turns: a reply with calls, the answers to them all, and perhaps a word of the user."""
    messages = [Message("user", (TextPart(draw(WORDS)),))]
    for _ in range(draw(st.integers(0, 3))):
        calls = draw(CALLS)
        words = draw(TEXTS) if calls else [TextPart(draw(WORDS))]
        messages.append(Message("assistant", (*(draw(thinking) if calls else ()), *words, *calls)))
        results = [ResultPart(call.id, draw(WORDS), draw(st.booleans())) for call in calls]
        said = draw(TEXTS) if results else [TextPart(draw(WORDS))]
        messages.append(Message("user", (*results, *said)))
    return Request(
        system=draw(st.just("") | WORDS),
        messages=tuple(messages),
        tools=draw(TOOLS),
        max_tokens=draw(st.integers(1, 10**6)),
        no_tools=draw(st.booleans()),
    )


def signed(text: str, signature: str) -> ThinkingPart:
    return ThinkingPart(text, {"type": "thinking", "thinking": text, "signature": signature})


def reasoned(text: str) -> ThinkingPart:
    return ThinkingPart(text, {"reasoning_content": text})


ANTHROPIC_THINKING = st.lists(st.builds(signed, st.text(), st.text()), max_size=2)
OPENAI_THINKING = st.lists(st.builds(reasoned, WORDS), max_size=1)


def sealed(text: str, seal: str) -> ThinkingPart:
    summary = [{"type": "summary_text", "text": text}]
    return ThinkingPart(text, {"type": "reasoning", "id": "rs", "summary": summary, "encrypted_content": seal})


def thought(text: str) -> ThinkingPart:
    return ThinkingPart(text, {"text": text, "thought": True})


RESPONSES_THINKING = st.lists(st.builds(sealed, st.text(), WORDS), max_size=2)
GEMINI_THINKING = st.lists(st.builds(thought, st.text()), max_size=2)


@EXAMPLES
@given(requests(RESPONSES_THINKING))
def test_a_request_reaches_the_server_on_the_responses_wire(request: Request) -> None:
    for wire in (responses.WIRE, responses.OWN_WIRE):
        assert responses_side.request_in(*read(wire.body(request, "m"))) == request


@EXAMPLES
@given(requests(GEMINI_THINKING))
def test_a_request_reaches_the_server_on_the_gemini_wire(request: Request) -> None:
    assert gemini_side.request_in(*read(gemini.body(request, "m"))) == request


@EXAMPLES
@given(requests(ANTHROPIC_THINKING))
def test_a_request_reaches_the_server_on_the_anthropic_wire(request: Request) -> None:
    assert anthropic_side.request_in(*read(anthropic.body(request, "m"))) == request


@EXAMPLES
@given(requests(OPENAI_THINKING))
def test_a_request_reaches_the_server_on_the_openai_wire(request: Request) -> None:
    for wire in (openai.WIRE, openai.OWN_WIRE):
        assert openai_side.request_in(*read(wire.body(request, "m"))) == request


def used(fresh: int, output: int, cached: int) -> Usage:
    return Usage(input=fresh + cached, output=output, cached=cached)


USAGES = st.builds(used, st.integers(0, 10**7), st.integers(0, 10**6), st.integers(0, 10**7))


def turns(stops: list[StopReason]) -> st.SearchStrategy[Turn]:
    return st.builds(
        Turn,
        text=st.text(max_size=20),
        calls=CALLS.map(tuple),
        stop=st.sampled_from(stops),
        usage=USAGES,
        thinking=st.text(max_size=20),
    )


def heard(side: Any, wire: Any, turn: Turn) -> Any:
    return wire.reply(*read(side.reply_of(turn, "m", [call.id for call in turn.calls], turn.usage, 0)))


def check(turn: Turn, got: Any) -> None:
    assert (got.text, got.calls, got.thinking) == (turn.text, turn.calls, turn.thinking)
    assert (got.stop, got.usage) == (turn.stop, turn.usage)


@EXAMPLES
@given(turns([*anthropic.STOPS.values(), StopReason.OTHER]))
def test_a_reply_comes_back_on_the_anthropic_wire(turn: Turn) -> None:
    check(turn, heard(anthropic_side, anthropic, turn))


@EXAMPLES
@given(turns(sorted({*openai.STOPS.values(), StopReason.OTHER})))
def test_a_reply_comes_back_on_the_openai_wire(turn: Turn) -> None:
    check(turn, heard(openai_side, openai, turn))


def natural(turn: Turn) -> Turn:
    """Two wires do not tell a reply with calls from one without but by its calls."""
    if turn.stop not in (StopReason.END_TURN, StopReason.TOOL_USE):
        return turn
    return attrs.evolve(turn, stop=StopReason.TOOL_USE if turn.calls else StopReason.END_TURN)


ENDS = [StopReason.END_TURN, StopReason.TOOL_USE, StopReason.OTHER, *responses.CUT_SHORT.values()]


@EXAMPLES
@given(turns(ENDS).map(natural))
def test_a_reply_comes_back_on_the_responses_wire(turn: Turn) -> None:
    check(turn, heard(responses_side, responses, turn))


@EXAMPLES
@given(turns([*ENDS, StopReason.MALFORMED_CALL]).map(natural))
def test_a_reply_comes_back_on_the_gemini_wire(turn: Turn) -> None:
    check(turn, heard(gemini_side, gemini, turn))


BODIES = {
    "anthropic": anthropic.body,
    "openai": openai.body,
    "openai-responses": responses.body,
    "gemini": gemini.body,
}
RAWS = {
    "anthropic": signed("Mark", "s"),
    "openai": reasoned("Mark"),
    "openai-responses": sealed("Mark", "s"),
    "gemini": thought("Mark"),
}


@pytest.mark.parametrize("wire", BODIES)
@pytest.mark.parametrize("came", RAWS)
def test_thinking_goes_back_on_the_wire_that_it_came_from_and_on_no_other(wire: str, came: str) -> None:
    made = Message("assistant", (RAWS[came], CallPart("c", "look", "{}")))
    assert (b"Mark" in BODIES[wire](Request("", (made,)), "m")) == (wire == came)


SPOKEN = [(anthropic_side, anthropic), (openai_side, openai), (responses_side, responses), (gemini_side, gemini)]


@EXAMPLES
@given(st.lists(turns([StopReason.TOOL_USE]), min_size=1, max_size=3), st.sampled_from(SPOKEN))
def test_a_reply_that_is_sent_back_is_the_one_that_came(replies: list[Turn], spoken: tuple[Any, Any]) -> None:
    """Whatever a model said goes back to it unchanged, thinking and the spelling of its arguments with it."""
    side, wire = spoken
    for turn in replies:
        got = heard(side, wire, turn)
        back = side.request_in(*read(wire.body(Request("", (Message("assistant", got.parts),)), "m"))).messages
        said = [part for message in back for part in message.parts]
        assert [part for part in said if isinstance(part, CallPart)] == list(turn.calls)
        if turn.calls or turn.text.strip():
            assert "".join(part.text for part in said if isinstance(part, TextPart)) in (turn.text, "")
        if turn.calls:
            assert [part for part in said if isinstance(part, ThinkingPart)] == [
                part for part in got.parts if isinstance(part, ThinkingPart)
            ]
