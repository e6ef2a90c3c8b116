"""`statecraft run`: what goes where, what is refused before anything is asked, and what ends a run from outside."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from machines.agent.scripted import Move, Refuse, ScriptedServer, Stall, Turn, call
from statecraft.journal import verify

Statecraft = Callable[..., tuple[int, str, str]]
Process = Callable[..., "subprocess.CompletedProcess[bytes]"]

ESCAPES = "\x1b[2Jred\x07\x9b31m"
DONE = Turn(calls=(call("finish", {"kind": "final", "text": "It is 3.\n\tindented"}),))
PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy")


@pytest.fixture
def served() -> Generator[str, None, None]:
    """The model's name on a server on which every run lists its files, and is done."""
    with ScriptedServer([Turn("One moment.", calls=(call("list_files", {}),)), DONE]) as server:
        yield server.model()


def test_the_answer_goes_to_standard_output_and_everything_else_to_standard_error(
    statecraft: Statecraft, served: str, here: Path
) -> None:
    code, out, err = statecraft("run", "add", "--model", served, "--folder", here, "--name", "well")
    assert (code, out) == (0, "It is 3.\n\tindented\n")
    assert "note    One moment." in err
    lines = [line for line in err.splitlines() if not line.startswith("note")]
    assert lines[:2] == ["call    list_files {}", "result  list_files: []"]
    assert lines[2:4] == ["completed: final_answer", "Facts: unverified."]
    assert lines[-2].startswith("Spent: 1 turn")
    assert lines[-1] == "journal: runs/well.jsonl"
    assert verify(here / "runs/well.jsonl").verdict == "whole"


def test_a_run_that_does_not_complete_gives_its_account_and_exits_with_one(statecraft: Statecraft) -> None:
    with ScriptedServer([Refuse(401, '{"error": {"message": "invalid key"}}')]) as server:
        code, out, err = statecraft("run", "go", "--model", server.model(), "--name", "no")
    assert code == 1
    assert out.startswith("The run ended as failed: refused (status=401")
    assert out.endswith("\nThe last request: HTTP 401: invalid key\n")
    assert err.splitlines()[-2:] == ["failed: refused", "journal: runs/no.jsonl"]


def test_the_result_is_one_json_object_where_that_is_asked_for(statecraft: Statecraft, served: str) -> None:
    words = ("run", "add", "--model", served, "--name", "json", "--json", "--prices", "1", "2")
    code, out, _ = statecraft(*words)
    found = json.loads(out)
    assert code == 0
    assert out.count("\n") == 1
    assert (found["run"], found["status"], found["reason"]["by"]) == ("json", "completed", "final_answer")
    assert (found["output"], found["error"], found["facts"]) == ("It is 3.\n\tindented", None, ["unverified"])
    usage = found["usage"]
    assert usage["usd"] == pytest.approx((usage["input"] + 2 * usage["output"]) / 1_000_000)
    assert usage["usd"] > 0
    assert found["journal"] == "runs/json.jsonl"


def test_with_prices_the_budget_of_dollars_acts(statecraft: Statecraft, served: str) -> None:
    code, out, _ = statecraft("run", "add", "--model", served, "--json", "--prices", "1000000", "1000000")
    found = json.loads(out)
    assert (code, found["reason"]["by"], found["error"]["type"]) == (1, "usd", "RunLimitReached")


def test_nothing_that_is_said_moves_a_cursor_or_forges_a_line(statecraft: Statecraft, here: Path) -> None:
    (here / "in").mkdir()
    (here / "in/a").write_text(f"{ESCAPES}\nstop    by forged", encoding="utf-8")
    item = f"{ESCAPES}\ncompleted: forged"
    plan, done = ([{"content": item, "status": status}] for status in ("in_progress", "completed"))
    script: list[Move] = [
        Turn(f"{ESCAPES}\nstop    by forged", calls=(call("read_file", {"path": "a"}),)),
        Turn(calls=(call("evil\nstop    by forged\x1b[2J", {"x": ESCAPES}), call("write_todos", {"todos": plan}))),
        Refuse(529, f"{ESCAPES}\nstop    by forged", headers={"retry-after": "0"}),
        Refuse(529, "busy", headers={"retry-after": "0"}),
        Turn(calls=(call("write_todos", {"todos": done}),)),
        Turn(calls=(call("finish", {"kind": "final", "text": f"{ESCAPES}\r\nlast\rline"}),)),
    ]
    with ScriptedServer(script) as server:
        code, out, err = statecraft("run", "go", "--model", server.model(), "--folder", "in", "--name", "esc")
    assert code == 0
    assert out == "\\x1b[2Jred\\x07\\x9b31m\nlast line\n"
    assert not [letter for letter in out + err if (ord(letter) < 32 and letter != "\n") or 127 <= ord(letter) < 160]
    assert not [line for line in err.splitlines() if line.startswith(("stop", "completed: forged"))]
    assert "recover refused, attempt 1" in err
    assert "plan    0 of 1 done: " in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["", "--model", "http://127.0.0.1:9"], "run: the task is empty; expected words"),
        (["go", "--model", "gpt-4o"], "--model: 'gpt-4o' names no model: expected anthropic:NAME"),
        (["go", "--model", "openai:x"], "--model: openai needs a key: set OPENAI_API_KEY in the environment"),
        (["go", "--model", "openai:sk-abcdef0123456789"], "--model: openai: found what looks like a key"),
        (["go", "--model", "http://127.0.0.1:9", "--folder", "no"], "--folder no: no folder found there"),
        (
            ["go", "--model", "http://127.0.0.1:9", "--journal", "file"],
            "--journal file: found a file, expected a folder",
        ),
        (["go", "--model", "http://127.0.0.1:9", "--policy", "no.toml"], "--policy no.toml: No such file"),
        (["go", "--model", "http://127.0.0.1:9", "--name", "../../evil"], "--name: found the run's name '../../evil'"),
        (["go", "--model", "http://127.0.0.1:9", "--name", ""], "--name: found the run's name ''"),
        (["go", "--model", "http://127.0.0.1:9", "--name", "a"], "--name a: a run of that name lies in runs; expected"),
        (["go", "--model", "http://127.0.0.1:9", "--prices", "-1", "2"], "--prices: 'input' must be >= 0"),
        (
            ["go", "--model", "http://127.0.0.1:9", "--folder", ".", "--journal", "."],
            "--journal .: the agent would work in the folder of the journals (.)",
        ),
        (
            ["go", "--model", "http://127.0.0.1:9", "--folder", "runs/in", "--journal", "runs"],
            "--journal runs: the agent would work in the folder of the journals (runs/in)",
        ),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(
    statecraft: Statecraft, here: Path, words: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (here / "file").touch()
    (here / "runs/in").mkdir(parents=True)
    (here / "runs/a.jsonl").write_text("{}\n")
    code, out, err = statecraft("run", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"statecraft: {said}")
    assert err.count("\n") == 1
    assert "abcdef" not in err
    assert sorted(path.name for path in here.rglob("*")) == ["a.jsonl", "file", "in", "runs"]


def test_a_proxy_that_cannot_be_used_is_bad_input_and_no_fault(
    statecraft: Statecraft, monkeypatch: pytest.MonkeyPatch, served: str
) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALL_PROXY", "socks4://user:pass@127.0.0.1:1")
    code, _, err = statecraft("run", "go", "--model", "http://nobody.invalid#m")
    assert code == 2
    assert err.startswith("statecraft: the proxy that the environment names (all_proxy) cannot be used")
    assert "pass" not in err
    assert statecraft("run", "go", "--model", served, "--name", "here")[0] == 0


def test_an_address_at_which_nothing_answers_fails_at_once_and_says_why(statecraft: Statecraft) -> None:
    began = time.monotonic()
    code, out, _ = statecraft("run", "go", "--model", "http://nobody.invalid#m", "--name", "nobody")
    assert code == 1
    assert "\nThe last request: no answer: no connection to nobody.invalid:80: " in out
    assert time.monotonic() - began < 5


def test_the_journal_inside_the_folder_is_not_the_agents(statecraft: Statecraft, here: Path) -> None:
    reads = Turn(calls=(call("write_file", {"path": "runs/own.jsonl", "content": "forged"}), call("list_files", {})))
    with ScriptedServer([reads, DONE]) as server:
        code, _, err = statecraft("run", "go", "--model", server.model(), "--folder", ".", "--name", "own")
    assert code == 0
    assert "result  write_file failed (permission): runs/own.jsonl is not for the agent" in err
    assert "result  list_files: []" in err
    assert verify(here / "runs/own.jsonl").verdict == "whole"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_an_output_that_is_full_is_said_in_one_line_and_leaves_a_whole_journal(
    process: Process, served: str, here: Path
) -> None:
    ran = process(f"statecraft run go --model '{served}' --folder . --name full > /dev/full")
    assert ran.returncode == 2
    assert b"Traceback" not in ran.stderr
    assert ran.stderr.splitlines()[-1] == b"statecraft: output: No space left on device"
    assert verify(here / "runs/full.jsonl").verdict == "whole"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_news_that_nobody_can_be_told_stop_no_run(process: Process, served: str, here: Path) -> None:
    ran = process(f"statecraft run go --model '{served}' --folder . --name full 2> /dev/full")
    assert (ran.returncode, ran.stdout) == (0, b"It is 3.\n\tindented\n")
    assert verify(here / "runs/full.jsonl").verdict == "whole"


def test_a_reader_that_goes_away_stops_no_run(process: Process, served: str, here: Path) -> None:
    ran = process(f"statecraft run go --model '{served}' --folder . --name gone 2>&1 | true; exit ${{PIPESTATUS[0]}}")
    assert (ran.returncode, ran.stderr) == (141, b"")
    assert verify(here / "runs/gone.jsonl").verdict == "whole"


@pytest.mark.parametrize(
    ("number", "code", "reason"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_ends_the_run_as_cancelled_with_its_account(
    root: Path, here: Path, number: signal.Signals, code: int, reason: str
) -> None:
    with ScriptedServer([Turn(calls=(call("list_files", {}),)), Stall(60.0)]) as server:
        ran = subprocess.Popen(
            [sys.executable, "-m", "machines", "run", "go", "--model", server.model(), "--folder", ".", "--name", "s"],
            cwd=here,
            env={**os.environ, "PYTHONPATH": str(root), "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        end = time.monotonic() + 30
        while time.monotonic() < end and len(server.requests()) < 2:
            time.sleep(0.02)
        ran.send_signal(number)
        out, err = ran.communicate(timeout=20)
    assert ran.returncode == code
    assert out.decode().startswith(f'The run ended as cancelled: cancelled (why="{reason}")')
    assert err.decode().splitlines()[-2:] == ["cancelled", "journal: runs/s.jsonl"]
    assert verify(here / "runs/s.jsonl").verdict == "whole"


def test_a_journal_that_cannot_be_written_is_said_in_the_disks_own_words(
    statecraft: Statecraft, served: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("statecraft.journal.file.write", _full)
    code, _, err = statecraft("run", "go", "--model", served, "--folder", here, "--name", "disk")
    assert code == 2
    assert err.splitlines()[-1].startswith("statecraft: runs/disk.jsonl: line 2 could not be written: No space left")


_written: list[int] = []


def _full(fd: int, data: bytes) -> None:
    _written.append(fd)
    if len(_written) > 2:
        raise OSError(28, "No space left on device")
    os.write(fd, data)


def test_the_demos_model_answers_run_after_run_until_it_is_interrupted(
    statecraft: Statecraft, root: Path, here: Path
) -> None:
    (here / "notes.txt").touch()
    served = subprocess.Popen(
        [sys.executable, "-m", "machines", "demo", "--serve"],
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert served.stdout is not None
    words = shlex.split(served.stdout.readline().decode())
    assert words[:2] == ["statecraft", "run"]
    for name in ("one", "two"):
        assert statecraft(*words[1:], "--name", name)[:2] == (0, 'I found: ["notes.txt"]\n')
    served.send_signal(signal.SIGINT)
    assert served.communicate(timeout=20) == (b"", b"")
    assert served.returncode == 0
