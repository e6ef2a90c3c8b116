"""What an audit shows: every field of the JSON as the trace format has it, and the strip for people."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from machines.audit import Judged
from machines.audit.report import as_json, decided, ending, strip_of
from machines.events import Text
from machines.ledger.observe import call_of
from machines.manifest import UNDECLARED
from machines.recent import Recent

Judge = Callable[..., Judged]
Record = dict[str, Any]


def turn(number: int, value: object = "nothing") -> list[Record]:
    call = {"id": f"call-{number}", "tool": "search", "args": {"q": "x"}}
    return [
        {"t": "reply", "stop": "tool_use", "calls": [call], "usage": {"input": 90, "output": 10}},
        {"t": "result", "call": call["id"], "value": value},
    ]


STUCK = [line for number in range(6) for line in turn(number)]
END: Record = {"t": "end", "status": "success"}


def shown(judged: Judged, recent: Recent | None = None) -> Record:
    line = as_json(judged, recent or Recent())
    assert b"\n" not in line
    plain: Record = json.loads(line)
    return plain


def test_a_judged_run_has_the_fields_of_the_format(judged: Judge) -> None:
    plain = shown(judged([*STUCK, END]))
    assert set(plain) == {
        *("run", "file", "format", "turns", "worst", "verdicts", "first_nudge", "first_stop"),
        *("outcome", "legs", "recorded_end", "saved", "problems", "candidates"),
        *("calls", "message"),
    }
    assert {name: plain[name] for name in ("run", "format", "turns", "worst", "first_nudge", "first_stop")} == {
        "run": "given",
        "format": "statecraft.trace/1",
        "turns": 6,
        "worst": "stop",
        "first_nudge": 3,
        "first_stop": 4,
    }
    assert plain["verdicts"][0] == {
        "turn": 3,
        "verdict": "nudge",
        "by": "consecutive_duplicate",
        "evidence": {
            "signatures": call_of("1", "search", '{"q":"x"}', UNDECLARED).signature.hex(),
            "failing": False,
            "now": 3,
            "stop": 4,
            "tool": "search",
            "turn": 3,
        },
    }
    assert plain["saved"] == {"turns": 2, "tokens": 200}
    assert (plain["recorded_end"], plain["problems"]) == ("success", [])
    assert plain["file"].endswith("given.jsonl")


def test_the_outcome_is_whole_and_the_last_of_the_legs(judged: Judge) -> None:
    plain = shown(judged([*STUCK, {"t": "user", "text": "Go on."}, *turn(9), *STUCK]))
    assert plain["outcome"] == plain["legs"][-1]
    assert len(plain["legs"]) == 2
    outcome = plain["outcome"]
    assert (outcome["status"], outcome["kind"], outcome["facts"]) == ("blocked", "failure_report", ["stuck"])
    assert outcome["reason"]["by"] == "consecutive_duplicate"
    assert set(outcome["account"]) == {
        *("turns", "seconds", "usage", "changes", "changes_in_all"),
        *("open_items", "unanswered", "unconfirmed", "waiting_for", "last_results"),
    }


def test_a_run_that_breaks_off_has_null_for_what_is_not_known(judged: Judge) -> None:
    plain = shown(judged(turn(1)))
    missing = ("first_nudge", "first_stop", "outcome", "recorded_end", "message")
    assert {name: plain[name] for name in missing} == dict.fromkeys(missing)
    assert plain["legs"] == [None]


def test_the_message_is_what_a_person_would_have_been_shown(judged: Judge) -> None:
    recent = Recent()
    words = "All 12 tests pass."
    one = judged([*turn(1), {"t": "reply", "stop": "end_turn", "calls": [], "text": words, "kind": "final"}])
    assert one.outcome is not None
    assert one.outcome.message is not None
    assert "no longer in the content store" in shown(one, recent)["message"]
    recent.keep(one.outcome.message, words)
    assert shown(one, recent)["message"] == words
    assert shown(judged(STUCK))["message"].startswith("The run ended as blocked: consecutive_duplicate")


def test_recent_texts_are_few_and_whole() -> None:
    recent = Recent()
    for number in range(Recent.MOST + 1):
        recent.keep(Text(str(number), 1), "x" * 2_000)
    assert recent.text_of(Text("0", 1)) is None
    assert recent.text_of(Text("1", 1)) == "x" * 2_000
    recent.keep(Text("1", 1), "again")
    recent.keep(Text("new", 1), "new")
    assert recent.text_of(Text("1", 1)) == "again"
    assert recent.text_of(Text("2", 1)) is None


def test_what_was_decided_is_said_in_a_few_words(judged: Judge) -> None:
    stopped, nudged, healthy = judged(STUCK), judged(STUCK[:6]), judged(turn(1))
    assert decided(stopped) == "stop at 4 by consecutive_duplicate"
    assert decided(nudged) == "nudge at 3 by consecutive_duplicate"
    assert decided(healthy) == "continue"
    assert [ending(one) for one in (stopped, nudged)] == ["blocked", "open"]


@pytest.mark.parametrize(
    ("strip", "width", "shown_as"),
    [
        ("", 4, ""),
        ("..nS", 4, "..nS"),
        ("..nS-", 5, "..nS-"),
        ("......nS", 4, "...S"),
        ("n.......", 4, "n..."),
        ("S-------", 4, "S---"),
        ("++++----", 4, "++--"),
        (".....", 4, "...."),
    ],
)
def test_a_long_strip_shows_the_gravest_mark_of_each_stretch(strip: str, width: int, shown_as: str) -> None:
    assert strip_of(strip, width) == shown_as


def test_no_stop_is_lost_in_a_long_strip() -> None:
    for at in range(0, 5_000, 37):
        strip = "." * at + "S" + "-" * (4_999 - at)
        short = strip_of(strip)
        assert len(short) == 40
        assert short.count("S") == 1


def test_a_judged_run_compares_by_what_is_shown(judged: Judge) -> None:
    one = judged(STUCK)
    assert attrs.evolve(one, run_now=one.run_now) == one
