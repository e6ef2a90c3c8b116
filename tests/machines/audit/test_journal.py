"""The journal of an audit: it verifies, and stepped again it says the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machines.audit import judge
from machines.audit.journal import store_for
from machines.audit.judge import first
from machines.journaled import AGENT_RUN, RunJournal
from machines.outcome import message_of
from machines.state import ENDINGS
from machines.traces.formats import open_trace
from statecraft.journal import FileStore, SqliteStore, Store, verify
from statecraft.replay import replay

Record = dict[str, Any]


def turn(number: int, value: object = "nothing") -> list[Record]:
    call = {"id": f"call-{number}", "tool": "search", "args": {"q": "x"}}
    return [
        {"t": "reply", "stop": "tool_use", "calls": [call], "text": "I look.", "usage": {"input": 9, "output": 1}},
        {"t": "result", "call": call["id"], "value": value, "at": 2.5 * number},
    ]


FINAL: Record = {"t": "reply", "stop": "end_turn", "calls": [], "text": "Done.", "kind": "final"}
STUCK = [line for number in range(6) for line in turn(number)]
EVERYTHING: list[Record] = [
    {"t": "plan", "items": [{"content": "look", "status": "pending"}]},
    *turn(1, {"rows": [1, 2.5, None, "ü\ud800"]}),
    {"t": "goal", "done": 1, "total": 3},
    {"t": "refusal", "status": 413, "body": {"error": "too long"}},
    {"t": "condensed", "freed": 100},
    {"t": "reply", "stop": "length", "calls": [{"id": "cut", "tool": "search", "args_raw": '{"q": '}]},
    *turn(2, "found"),
    {"t": "chunk", "text": "Do"},
    {"t": "result", "call": "no-such", "value": 1},
    {"t": "user", "text": "Go on."},
    *STUCK,
    {"t": "user", "text": "Once more."},
    *turn(9, "found it"),
    {"t": "plan", "items": [{"content": "look", "status": "completed"}]},
    FINAL,
    {"t": "end", "status": "success"},
]


@pytest.fixture(params=["folder", "journal.sqlite"])
def journaled(
    request: pytest.FixtureRequest, tmp_path: Path, recorded: Callable[..., Path]
) -> Callable[[list[Record]], tuple[Store, Any]]:
    """Judges the lines with the journal on; gives the store and the judged run."""

    def write(lines: list[Record]) -> tuple[Store, Any]:
        where = tmp_path / str(request.param)
        run = next(open_trace(recorded(lines)))
        journal = RunJournal.begin(store_for(where, run, set()), first(run), host="audit")
        judged = judge(run, watch=journal.watch, keep=journal.keep)
        journal.close(judged.run_now)
        return store_for(where, run, set()), judged

    return write


@pytest.mark.parametrize("lines", [EVERYTHING, STUCK], ids=["everything", "stuck"])
def test_a_run_that_ended_has_a_whole_journal_that_replays(
    journaled: Callable[[list[Record]], tuple[Store, Any]], lines: list[Record]
) -> None:
    store, judged = journaled(lines)
    assert verify(store).verdict == "whole"
    again = replay(store, AGENT_RUN)
    assert again.difference is None
    assert again.run == judged.run_now
    assert again.run.at in ENDINGS
    store.close()


def test_a_run_that_broke_off_has_an_open_journal_that_replays(
    journaled: Callable[[list[Record]], tuple[Store, Any]],
) -> None:
    store, judged = journaled([*turn(1), *turn(2)[:1]])
    assert verify(store).verdict == "open"
    again = replay(store, AGENT_RUN)
    assert (again.difference, again.run) == (None, judged.run_now)
    store.close()


def test_the_texts_lie_beside_the_chain_under_their_digests(
    journaled: Callable[[list[Record]], tuple[Store, Any]],
) -> None:
    store, judged = journaled([*turn(1), FINAL])

    def text_of(text: Any) -> str | None:
        found = store.get(text.digest)
        return None if found is None else found.decode()

    assert message_of(judged.outcome, text_of) == "Done."
    assert text_of(judged.outcome.account.last_results[0].value) == "nothing"
    store.close()


def test_each_run_has_a_name_of_its_own(tmp_path: Path, recorded: Callable[..., Path]) -> None:
    taken: set[str] = set()
    names: list[str] = []
    for run_id in ("a/b c", "a_b_c", "..", ""):
        (run,) = open_trace(recorded([], id=run_id))
        store = store_for(tmp_path / "into", run, taken)
        assert isinstance(store, FileStore)
        names.append(store.path.name)
    assert names == ["a_b_c.jsonl", "a_b_c-2.jsonl", "run.jsonl", "run-2.jsonl"]
    (run,) = open_trace(recorded([], id="a"))
    assert isinstance(store_for(tmp_path / "into.db", run, taken), SqliteStore)
