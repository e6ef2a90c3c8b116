"""What recorded and quoted requests were refused for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from machines.agent.providers import openai
from machines.agent.providers.provider import outcome_of
from machines.agent.providers.refusal import refused
from machines.agent.wire import Refused
from machines.events import RefusalKind as Kind

from .recorded import QUOTED, Recorded, answers, items

KINDS = {
    **dict.fromkeys(("prov-008", "prov-101"), Kind.TRANSCRIPT),
    **dict.fromkeys(("prov-018", "prov-019"), Kind.RATE_LIMIT),
    **dict.fromkeys(("prov-017", "prov-088", "prov-089", "prov-091", "prov-093"), Kind.PROMPT_TOO_LONG),
    **dict.fromkeys(
        (
            *(
                "prov-009",
                "prov-016",
                "prov-059",
                "prov-060",
                "prov-068",
                "prov-078",
                "prov-080",
                "prov-082",
                "prov-087",
            ),
            *("prov-142", "prov-143", "prov-278", "prov-279", "prov-310", "prov-317"),
        ),
        Kind.AUTHENTICATION,
    ),
}
"""By item. All others are of another kind: a model that is not there, a parameter that is not taken."""

SIZES = {
    "prov-017": (200_000, 3_333_404),
    "prov-089": (288_000, 313_836),
    "prov-093": (200_000, 2_500_021),
}


def test_what_was_recorded_is_refused_for_what_it_says(shared: Path) -> None:
    found: dict[str, set[Kind]] = {}
    for item in items(shared):
        for one in answers(item, shared) if item["format"] != QUOTED else ():
            if isinstance(one, Recorded) and one.answer.status >= 400:
                got = outcome_of(one.answer, openai.WIRE)
                assert isinstance(got, Refused)
                found.setdefault(one.item, set()).add(got.kind)
                assert (got.limit, got.size) == SIZES.get(one.item, (None, None)), one.item
                assert got.after == {"prov-018": 0.0, "prov-019": 48.0}.get(one.item), one.item
    assert found == {name: {KINDS.get(name, Kind.OTHER)} for name in found}
    assert set(found) >= set(KINDS)
    assert len(found) >= 40


CASES = {
    "max_tokens_above_limit": {Kind.REPLY_BUDGET},
    "input_plus_max_tokens_over_window": {Kind.TOGETHER_TOO_LONG},
    "prompt_too_long": {Kind.PROMPT_TOO_LONG},
    "overloaded": {Kind.OVERLOADED},
    "rate_limit": {Kind.RATE_LIMIT},
    "rate_limit_permanent": {Kind.OVER_QUOTA},
    "unanswered_tool_call": {Kind.TRANSCRIPT},
    "poisoned_transcript": {Kind.TRANSCRIPT},
    "max_tokens_below_thinking_budget": {Kind.OTHER},
    # None of these three is a refusal: a stream, a client's own limit, a stop reason that a client did not know.
    "sse_tool_args_cut": {Kind.OTHER},
    "length_stop_retry_loop": {Kind.OTHER},
    "model_context_window_exceeded": {Kind.OTHER},
    "anthropic_max_tokens_thinking_only": {Kind.OTHER},
}


def test_what_users_quoted_is_refused_for_its_case(shared: Path) -> None:
    item = next(item for item in items(shared) if item["format"] == QUOTED)
    lines = [json.loads(line) for line in (shared / "corpus" / item["path"]).read_text().splitlines()]
    assert {line["case"] for line in lines} == set(item["cases"]) == set(CASES)
    for line in lines:
        got = refused(line["http_status"] or 200, line["headers"] or {}, line["body"] or "", None)
        assert {got.kind} == CASES[line["case"]], line["id"]
        if got.kind in (Kind.REPLY_BUDGET, Kind.TOGETHER_TOO_LONG, Kind.PROMPT_TOO_LONG, Kind.OVER_QUOTA):
            assert got.limit is not None, line["id"]
            assert got.size is not None or got.kind is Kind.REPLY_BUDGET, line["id"]
    waits = {line["id"]: refused(429, line["headers"] or {}, line["body"] or "", None).after for line in lines}
    assert waits["q-anth-429-headers"] == 16.0
    assert waits["q-anth-429-noretryafter"] == 1.0
    assert waits["q-openai-429-1"] == 2.502
    assert waits["q-openai-429-2-ms"] == pytest.approx(0.174)
    assert waits["q-openai-429-3-toolarge"] is None
