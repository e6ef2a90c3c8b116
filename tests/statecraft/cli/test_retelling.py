"""`replay` and `explain`: what they print, their exit codes, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Verb = Callable[..., tuple[int, str, str]]
Sailed = Callable[..., Path]


def test_explain_opens_with_how_the_run_stands(verb: Verb, sailed: Sailed) -> None:
    sailed("one.jsonl")
    code, out, err = verb("explain", "one.jsonl")
    assert (code, err) == (0, "")
    first, second, *_ = out.splitlines()
    assert first.startswith("voyage: ended in RETIRED by row 2 on Depart (seq 22), after row ")
    assert second.startswith("seq ")


def test_explain_json_is_one_object_with_the_step_that_led_to_the_end_inside(
    ferry: Any, verb: Verb, sailed: Sailed
) -> None:
    sailed("one.jsonl", happenings=[ferry.Depart(0), ferry.Storm(1, 1)], end=False)
    code, out, _ = verb("explain", "one.jsonl", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["ended"], found["state"], found["came"]["seq"], found["last"]["seq"]) == (False, "SAILING", 1, 2)
    code, out, _ = verb("explain", "one.jsonl", "--json", "--seq", 1)
    assert json.loads(out)["seq"] == 1


def test_a_row_that_was_never_taken_lists_those_that_were(verb: Verb, sailed: Sailed) -> None:
    sailed("one.jsonl")
    code, out, err = verb("explain", "one.jsonl", "--row", 99)
    assert (code, out) == (2, "")
    assert err == "statecraft: one.jsonl: has no step that took row 99; the rows that were taken are 0-6\n"


def test_a_sequence_number_that_is_not_there_says_which_are(verb: Verb, sailed: Sailed) -> None:
    sailed("one.jsonl")
    code, _, err = verb("explain", "one.jsonl", "--seq", 99)
    assert (code, err) == (2, "statecraft: one.jsonl: has no seq 99; it has from seq 1 to seq 23\n")


def test_one_of_seq_and_row(verb: Verb, sailed: Sailed) -> None:
    sailed("one.jsonl")
    code, _, err = verb("explain", "one.jsonl", "--seq", 1, "--row", 1)
    assert (code, err) == (2, "statecraft: explain: found both --seq and --row, expected one of them\n")


@pytest.mark.parametrize("words", [("explain",), ("replay",), ("diagram", "--journal")])
def test_the_run_that_is_named_must_be_the_one_that_the_file_holds(verb: Verb, sailed: Sailed, words: Any) -> None:
    sailed("one.jsonl")
    assert verb(*words, "one.jsonl", "--run", "voyage")[0] == 0
    code, out, err = verb(*words, "one.jsonl", "--run", "foo")
    assert (code, out) == (2, "")
    assert err == "statecraft: one.jsonl: holds the run voyage, expected foo\n"


def test_replay_without_a_difference(verb: Verb, sailed: Sailed) -> None:
    code, out, _ = verb("replay", sailed("one.jsonl"))
    assert (code, out) == (0, "voyage (ferry): 24 lines stepped again, journal whole\n  no difference\n")


def test_deciding_again_says_that_nothing_is_forecast(verb: Verb, sailed: Sailed, here: Path) -> None:
    sailed("one.jsonl")
    (here / "stop").write_text("2")
    code, out, _ = verb("replay", "one.jsonl", "--policy", "stop")
    assert code == 1
    assert "\n  from here the recorded events are the other run's; what follows is no forecast\n" in out
    (here / "stop").write_text("3")
    code, out, _ = verb("replay", "one.jsonl", "--policy", "stop")
    assert code == 0
    assert "no forecast" not in out
    (here / "stop").write_text("99")
    code, out, _ = verb("replay", "one.jsonl", "--policy", "stop")
    assert "again:    not known; it stands in SAILING" in out
    again = json.loads(verb("replay", "one.jsonl", "--policy", "stop", "--json")[1])["again"]
    assert [ending["fits"] for ending in again] == [False, True]


def test_a_broken_journal_is_bad_input(verb: Verb, sailed: Sailed) -> None:
    place = sailed("one.jsonl")
    place.write_bytes(place.read_bytes().replace(b'"seq":5', b'"seq":6'))
    for words in (("explain", place), ("replay", place), ("diagram", "--journal", place)):
        code, out, err = verb(*words)
        assert (code, out) == (2, "")
        assert err.startswith("statecraft: one.jsonl: broken at ")


def test_a_journal_of_no_machine_is_bad_input(verb: Verb, here: Path) -> None:
    (here / "notes").write_text("{}\n")
    code, _, err = verb("explain", "notes")
    assert (code, err) == (
        2,
        "statecraft: notes: is no journal: its first line names no machine; see statecraft verify\n",
    )
