"""Each item of the manifest by itself: its answers are read, and what it is kept for is what is found in them.

An item of which nothing can be read is skipped, with the reasons: `pytest -rs` prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from machines.agent.providers import anthropic, gemini, openai, responses
from machines.agent.providers.refusal import error_in
from machines.agent.wire import Completion, Refused, ThinkingPart
from machines.events import StopReason

from .recorded import QUOTED, Recorded, Unread, answers, heard_of, items

WIRES = {
    "anthropic": anthropic.WIRE,
    "openai": openai.WIRE,
    "openai-responses": responses.WIRE,
    "gemini": gemini.WIRE,
}
MANIFEST = Path(__file__).resolve().parents[5] / "shared"
"""Beside the checkout, as for the fixture `shared`: the names of the tests are made before there are fixtures."""

Outcome = Completion | Refused
Holds = Callable[[Recorded, Outcome], bool]


def stopped(stop: StopReason, word: str = "") -> Holds:
    def holds(recorded: Recorded, got: Outcome) -> bool:
        return isinstance(got, Completion) and got.stop is stop and word.encode() in recorded.answer.body

    return holds


def refused(recorded: Recorded, got: Outcome) -> bool:
    return isinstance(got, Refused)


def refused_with(status: int) -> Holds:
    return lambda recorded, got: isinstance(got, Refused) and got.status == status


def waits(recorded: Recorded, got: Outcome) -> bool:
    """A wait that comes with a reply asks for nothing."""
    said = recorded.answer.headers.get("retry-after")
    return said is not None and (got.after is not None if isinstance(got, Refused) else True)


def waits_milliseconds(recorded: Recorded, got: Outcome) -> bool:
    said = recorded.answer.headers.get("retry-after-ms")
    return isinstance(got, Refused) and said is not None and got.after == int(said) / 1000


def compacted(recorded: Recorded, got: Outcome) -> bool:
    kept = [part.raw for part in got.parts if isinstance(part, ThinkingPart)] if isinstance(got, Completion) else []
    return any(raw is not None and raw["type"] == "compaction" for raw in kept)


CASES: Mapping[str, Holds] = {
    **{f"http={status}": refused_with(status) for status in (400, 401, 403, 404, 429)},
    "error_body": refused,
    "stream_or_body_error": refused,
    "retry-after": waits,
    "retry-after-ms": waits_milliseconds,
    "compaction": compacted,
    "anthropic.stop_reason=max_tokens": stopped(StopReason.LENGTH),
    "anthropic.stop_reason=pause_turn": stopped(StopReason.PAUSE),
    "anthropic.stop_reason=refusal": stopped(StopReason.REFUSAL),
    "responses.status=incomplete": stopped(StopReason.LENGTH),
    "responses.incomplete_details=max_output_tokens": stopped(StopReason.LENGTH),
    "gemini.finishReason=RECITATION": stopped(StopReason.CONTENT_FILTER),
    "gemini.finishReason=SAFETY": stopped(StopReason.CONTENT_FILTER),
    "gemini.finishReason=MODEL_ARMOR": stopped(StopReason.CONTENT_FILTER),
    "gemini.blockReason=SAFETY": stopped(StopReason.CONTENT_FILTER),
    "gemini.blockReason=FAKE_NEW_BLOCK_REASON": stopped(StopReason.CONTENT_FILTER),
    "gemini.finishReason=UNEXPECTED_TOOL_CALL": stopped(StopReason.TOOL_USE, "UNEXPECTED_TOOL_CALL"),
    "openai.finish_reason=length": stopped(StopReason.LENGTH),
    "openai.finish_reason=content_filter": stopped(StopReason.CONTENT_FILTER),
}


# What users quoted has a case a line: another test reads it.
ITEMS = [item for item in items(MANIFEST) if item["format"] != QUOTED] if (MANIFEST / "corpus").is_dir() else []
# A 200 with an object that no provider sends, whole and streamed.
NO_REPLY = frozenset({"prov-327", "prov-298", "prov-299"})
ERROR_AT_END = frozenset({"prov-294"})
"""An error that stands behind the last event, and is none itself."""


@pytest.mark.parametrize("item", [pytest.param(item, id=item["id"]) for item in ITEMS])
def test_what_an_item_is_kept_for_is_found_in_it(item: Any) -> None:
    found = list(answers(item, MANIFEST))
    reasons = {one.reason for one in found if isinstance(one, Unread)}
    reasons |= {
        f"no provider speaks {one.wire}" for one in found if isinstance(one, Recorded) and one.wire not in WIRES
    }
    read = [one for one in found if isinstance(one, Recorded) and one.wire in WIRES]
    got = [heard_of(one, WIRES[one.wire])[0] for one in read]
    for one, answer in zip(read, got, strict=True):
        said = one.events if one.streamed else [one.body]
        failed = one.answer.status >= 400 or any(map(error_in, said)) or one.item in {*NO_REPLY, *ERROR_AT_END}
        assert isinstance(answer, Refused) == failed, (one.wire, answer)
    missing = (
        [
            case
            for case in item["cases"]
            if not any(CASES[case](one, answer) for one, answer in zip(read, got, strict=True))
        ]
        if read
        else []
    )
    assert not missing or reasons, f"{missing} not found in {got}"
    if missing or not read:
        pytest.skip(f"{', '.join(missing) or 'nothing to read'}: {'; '.join(sorted(reasons))}")
