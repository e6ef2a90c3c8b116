"""`statecraft run`, `waiting`, `answer` and `resume`: a run that waits for a person, in no process, in three places."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

import pytest

from machines.agent.scripted import Move, Received, ScriptedServer, Stall, Turn, call
from machines.agent.wire import ResultPart
from statecraft.journal import shelf_at, verify

Statecraft = Callable[..., tuple[int, str, str]]

FINAL = {"kind": "final", "text": "done"}
AGAIN = {"runs": "", "runs.db": " --journal runs.db"}
QUESTION = {"question": "Which colour?", "choices": ["red", "blue"]}


def paints(received: Received) -> Move:
    """Asks which colour, writes it down, and says so: by what it has been answered, not by a count."""
    found = [part for one in received.request.messages for part in one.parts if isinstance(part, ResultPart)]
    if not found:
        return Turn(calls=(call("ask_person", QUESTION),))
    if len(found) == 1:
        return Turn(calls=(call("write_file", {"path": "a.txt", "content": "painted\n"}),))
    return Turn(calls=(call("finish", {"kind": "final", "text": f"{found[0].content} {found[-1].content}"}),))


@pytest.fixture
def model() -> Generator[str]:
    """The URL of a model that paints."""
    with ScriptedServer(paints) as server:
        yield server.model()


@pytest.fixture(params=["runs", "runs.db", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where journals lie: a folder, a database in a file, a database of a server."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work").mkdir()
    return str(request.getfixturevalue("postgres") if request.param == "postgres" else request.param)


def start(statecraft: Statecraft, model: str, place: str, *more: str) -> tuple[int, str, str]:
    words = ("paint", "--model", model, "--folder", "work", "--name", "p", "--journal", place, "--ask", "--consent")
    return statecraft("run", *words, *more)


def test_a_run_waits_in_no_process_and_goes_on_with_each_answer(statecraft: Statecraft, model: str, place: str) -> None:
    code, out, err = start(statecraft, model, place)
    assert (code, out) == (3, "")
    assert "call_1: Which colour? (red / blue)\n" in err
    assert "answer it: statecraft answer p ANSWER" in err
    code, out, _ = statecraft("waiting", place)
    assert code == 0
    assert out.startswith("p: waits until ")
    assert "  call_1: Which colour? (red / blue), since " in out
    assert statecraft("answer", "p", "Blue", "--by", "ann", "--journal", place)[:2] == (
        0,
        f"p: call_1 is answered; go on: statecraft resume p{AGAIN.get(place, ' --journal postgresql://...')}\n",
    )
    code, _, err = statecraft("resume", "p", "--journal", place)
    assert code == 3
    assert 'consent to write_file({"path":"a.txt","content":"painted\\n"}) (approve / deny)' in err
    assert not Path("work/a.txt").exists()
    assert statecraft("answer", "p", "approve", "--journal", place)[0] == 0
    code, out, err = statecraft("resume", "p", "--journal", place)
    assert code == 0
    assert '"answer":"blue","by":"ann"' in out
    assert "wrote 8 characters to a.txt" in out
    assert Path("work/a.txt").read_text() == "painted\n"
    code, out, _ = statecraft("waiting", place)
    assert (code, out.endswith(" waits\n"), "://" in out) == (0, True, False)
    with closing(shelf_at(place)) as shelf:
        assert verify(shelf.store("p")).verdict == "whole"
    code, _, err = statecraft("resume", "p", "--journal", place)
    assert code == 2
    assert "the run has ended, as completed; there is nothing to take up" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("answer", "p", "green"), "p: found the answer 'green' to call_1; expected one of: red, blue"),
        (("answer", "p"), "p: found no answer to call_1; expected one of: red, blue"),
        (("answer", "p", "red", "--to", "call_9"), "p: found no question call_9; expected the name of one"),
        (("answer", "q", "red"), "q: no run of that name lies in runs (--journal); expected one of: p"),
        (("resume", "q"), "q: no run of that name lies in runs (--journal); expected one of: p"),
        (("waiting", "nowhere"), "nowhere: nothing found there; expected journals of runs"),
        (("answer", "p", "red", "--journal", "nowhere"), "nowhere: nothing found there; expected journals of runs"),
    ],
)
def test_what_cannot_be_answered_is_refused_and_changes_nothing(
    statecraft: Statecraft, model: str, here: Path, words: tuple[str, ...], said: str
) -> None:
    (here / "work").mkdir()
    start(statecraft, model, "runs")
    before = (here / "runs/p.jsonl").read_bytes()
    code, out, err = statecraft(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"statecraft: {said}")
    assert (here / "runs/p.jsonl").read_bytes() == before
    assert shelf_at("runs").mailed() == ()
    assert not Path("nowhere").exists()


def test_as_json_a_run_says_what_it_waits_for(statecraft: Statecraft, model: str, place: str) -> None:
    code, out, _ = start(statecraft, model, place, "--json")
    found = json.loads(out)
    assert (code, found["run"], found["status"]) == (3, "p", "waiting")
    (question,) = found["questions"]
    assert (question["name"], question["choices"]) == ("call_1", ["red", "blue"])
    (line,) = statecraft("waiting", place, "--json")[1].splitlines()
    assert json.loads(line)["questions"] == found["questions"]


def test_an_answer_under_one_id_is_one_however_often_it_is_sent(statecraft: Statecraft, model: str, place: str) -> None:
    start(statecraft, model, place)
    first = statecraft("answer", "p", "red", "--id", "mail-7", "--journal", place)
    again = statecraft("answer", "p", "blue", "--id", "mail-7", "--journal", place)
    assert (first[0], again[0]) == (0, 0)
    assert "that answer was given already" in again[1]
    statecraft("resume", "p", "--journal", place)
    # An id is its sender's own, who may use it again for another question.
    assert statecraft("answer", "p", "approve", "--id", "mail-7", "--journal", place)[0] == 0
    assert statecraft("resume", "p", "--journal", place)[0] == 0
    assert Path("work/a.txt").exists()


def test_a_withdrawn_question_is_told_as_such(statecraft: Statecraft, model: str, place: str) -> None:
    start(statecraft, model, place)
    assert statecraft("answer", "p", "--withdraw", "--by", "ann", "--journal", place)[0] == 0
    code, _, err = statecraft("resume", "p", "--journal", place)
    assert code == 3  # it goes on to write, which wants a consent
    assert "write_file" in err


def test_nothing_that_a_model_asks_moves_a_cursor(statecraft: Statecraft, place: str) -> None:
    evil = {"question": "\x1b[2Jred\x07\nstop    by forged?", "choices": ["\x1b[2Jyes", "no"]}
    with ScriptedServer([Turn(calls=(call("ask_person", evil),))]) as server:
        _, _, err = start(statecraft, server.model(), place)
    out = statecraft("waiting", place)[1]
    assert not [letter for letter in out + err if (ord(letter) < 32 and letter != "\n") or ord(letter) == 127]
    assert not [line for line in (out + err).splitlines() if line.startswith("stop")]


def test_a_run_that_was_killed_goes_on_where_it_was(
    root: Path, tmp_path: Path, statecraft: Statecraft, monkeypatch: pytest.MonkeyPatch
) -> None:
    stalled: list[Move] = [Turn(calls=(call("read_todos", {}),)), Stall(60.0)]
    with ScriptedServer(stalled) as server:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "machines",
                "run",
                "look",
                "--model",
                server.model("k"),
                "--folder",
                ".",
                "--name",
                "k",
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(root), "NO_COLOR": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        journal = tmp_path / "runs/k.jsonl"
        end = time.monotonic() + 30
        while time.monotonic() < end and not (journal.exists() and journal.read_bytes().count(b"\n") >= 5):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        before = journal.read_bytes()
    monkeypatch.chdir(tmp_path)
    with ScriptedServer([Turn(calls=(call("finish", {"kind": "final", "text": "It is here."}),))]) as server:
        code, out, _ = statecraft("resume", "k", "--model", server.model("k"))
        (request,) = server.requests()
    assert (code, out) == (0, "It is here.\n")
    assert journal.read_bytes().startswith(before)
    assert [type(part).__name__ for part in request.request.messages[-1].parts] == ["ResultPart"]
    assert verify(journal).verdict == "whole"
    assert statecraft("replay", str(journal))[0] == 0
    assert "taken up" in statecraft("explain", str(journal), "--seq", str(before.count(b"\n")))[1]


def test_a_run_killed_before_its_journals_last_line_is_closed_when_it_is_taken_up(
    statecraft: Statecraft, model: str, here: Path
) -> None:
    (here / "work").mkdir()
    start(statecraft, model, "runs")
    statecraft("answer", "p", "red")
    statecraft("resume", "p")
    statecraft("answer", "p", "approve")
    assert statecraft("resume", "p")[0] == 0
    journal = here / "runs/p.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    code, out, _ = statecraft("resume", "p")
    assert (code, verify(journal).verdict) == (0, "whole")
    assert "wrote 8 characters" in out


@pytest.mark.parametrize("words", ["\udcff\udcfe", "\ud800", "caf\u00e9 \u202e"])
def test_an_answer_of_any_letters_is_taken(statecraft: Statecraft, here: Path, words: str) -> None:
    asks = [Turn(calls=(call("ask_person", {"question": "What?"}),)), Turn(calls=(call("finish", FINAL),))]
    with ScriptedServer(asks) as server:
        code, *_ = statecraft("run", "ask", "--model", server.model(), "--name", "p", "--ask")
        assert code == 3
        assert statecraft("answer", "p", words)[0] == 0
        assert statecraft("resume", "p")[0] == 0
    assert verify(here / "runs/p.jsonl").verdict == "whole"


def test_one_run_whose_note_cannot_be_read_hides_no_other(statecraft: Statecraft, model: str, here: Path) -> None:
    (here / "work").mkdir()
    start(statecraft, model, "runs")
    (here / "runs/bad.notes/standing").mkdir(parents=True)
    code, out, err = statecraft("waiting")
    assert code == 2
    assert out.startswith("p: waits until")
    assert "bad" in err
    assert statecraft("answer", "p", "red")[0] == 0


def test_a_damaged_letter_ends_no_run(statecraft: Statecraft, model: str, here: Path) -> None:
    (here / "work").mkdir()
    start(statecraft, model, "runs")
    statecraft("answer", "p", "red")
    (letter,) = (here / "runs/p.mail").iterdir()
    letter.write_bytes(letter.read_bytes()[:20])
    assert statecraft("resume", "p")[0] == 2
    letter.unlink()
    assert statecraft("answer", "p", "red") == (0, "p: call_1 is answered; go on: statecraft resume p\n", "")
    assert statecraft("resume", "p")[0] == 3


def test_what_a_consented_call_does_is_what_the_journal_says_and_no_note(
    statecraft: Statecraft, model: str, here: Path
) -> None:
    (here / "work").mkdir()
    start(statecraft, model, "runs")
    statecraft("answer", "p", "red")
    statecraft("resume", "p")
    snapshot = here / "runs/p.notes/snapshot"
    snapshot.write_bytes(snapshot.read_bytes().replace(b"painted", b"altered"))
    statecraft("answer", "p", "approve")
    assert statecraft("resume", "p")[0] == 0
    assert (here / "work/a.txt").read_text() == "painted\n"
