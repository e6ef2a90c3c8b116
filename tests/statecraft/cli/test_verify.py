"""`verify`: whole, open or broken; the content beside it; what is no journal at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from statecraft.codec import dump
from statecraft.journal import FileStore, seal

Verb = Callable[..., tuple[int, str, str]]
Sailed = Callable[..., Path]


def test_whole_journals_are_said_to_be_whole(verb: Verb, sailed: Sailed) -> None:
    sailed("one.jsonl")
    sailed("many.db", "east", "west")
    assert verb("verify", "one.jsonl", "many.db") == (
        0,
        "one.jsonl: whole, 24 lines\nmany.db (east): whole, 24 lines\nmany.db (west): whole, 24 lines\n",
        "",
    )


def test_a_touched_line_is_named_by_its_seq_and_its_line_in_the_file(verb: Verb, sailed: Sailed) -> None:
    place = sailed("one.jsonl")
    lines = place.read_bytes().splitlines(keepends=True)
    place.write_bytes(b"".join([*lines[:5], lines[5].replace(b'"seq":5', b'"seq":6'), *lines[6:]]))
    code, out, err = verb("verify", place)
    assert (code, err) == (1, "")
    assert out == (
        "one.jsonl: broken, changed at seq 5 (line 6 of the file): "
        "the line's bytes do not give the hash that it ends with\n"
    )


def test_a_journal_without_its_end_is_open(verb: Verb, sailed: Sailed) -> None:
    code, out, _ = verb("verify", sailed("one.jsonl", end=False))
    assert code == 1
    assert out.startswith("one.jsonl: open, unfinished at seq 23: there is no terminal record")


def named(path: str, texts: list[str]) -> list[str]:
    """A whole journal whose lines name contents."""
    with closing(FileStore(path)) as store:
        digests = [store.put(text.encode()) for text in texts]
        prev = "0" * 64
        first: dict[str, object] = {"kind": "open", "format": "statecraft.journal/1", "run": "r", "machine": "m"}
        steps: list[dict[str, object]] = [{"kind": "step", "event": {"text": {"digest": digest}}} for digest in digests]
        for seq, record in enumerate([first, *steps, {"kind": "end", "lines": len(steps) + 1}]):
            line, prev = seal(dump({**record, "seq": seq, "prev": prev}))
            store.append(seq, line)
    return digests


def test_missing_content_is_said_and_altered_content_is_a_finding(verb: Verb, here: Path) -> None:
    digests = named("one.jsonl", ["a", "b", "c", "d"])
    assert verb("verify", "one.jsonl") == (0, "one.jsonl: whole, 6 lines\n", "")
    for digest in digests[:2]:
        (here / "one.content" / digest).unlink()
    assert verb("verify", "one.jsonl") == (0, "one.jsonl: whole, 6 lines; 2 of 4 contents missing\n", "")
    (here / "one.content" / digests[2]).write_text("x")
    code, out, _ = verb("verify", "one.jsonl")
    assert (code, out) == (
        1,
        f"one.jsonl: whole, 6 lines; 2 of 4 contents missing, 1 altered ({digests[2][:12]})\n",
    )
    code, out, _ = verb("verify", "one.jsonl", "--json")
    found = json.loads(out)
    assert (code, found["verdict"], found["contents"]) == (
        1,
        "whole",
        {"named": 4, "missing": 2, "altered": [digests[2]]},
    )


def test_of_many_altered_contents_some_are_named(verb: Verb, here: Path) -> None:
    for digest in named("one.jsonl", ["a", "b", "c", "d", "e"]):
        (here / "one.content" / digest).write_text("x")
    code, out, _ = verb("verify", "one.jsonl")
    assert code == 1
    assert "; 5 contents altered (" in out
    assert out.endswith(" and 2 more)\n")


def test_a_folder_is_all_journals_in_it(verb: Verb, sailed: Sailed, here: Path) -> None:
    (here / "runs" / "deep").mkdir(parents=True)
    (here / "runs" / ".hidden").mkdir()
    sailed("runs/b.jsonl")
    sailed("runs/deep/a.db", "east")
    sailed("runs/.hidden/c.jsonl")
    (here / "runs" / "b.mmd").write_text("a picture")
    (here / "runs" / "b.content" / "notes.jsonl").write_text("a text")
    code, out, err = verb("verify", "runs")
    assert (code, err) == (0, "")
    assert out.splitlines() == ["runs/b.jsonl: whole, 24 lines", "runs/deep/a.db (east): whole, 24 lines"]


def test_a_folder_without_a_journal_is_bad_input(verb: Verb, here: Path) -> None:
    (here / "empty").mkdir()
    code, out, err = verb("verify", "empty")
    assert (code, out) == (2, "")
    assert err.startswith("statecraft: empty: the folder holds no journal; expected files named *.jsonl")


@pytest.mark.parametrize("text", ["dear diary\n", '{"kind":"open"}\n', "no newline"])
def test_a_file_that_is_no_journal_is_bad_input(verb: Verb, here: Path, text: str) -> None:
    (here / "notes.txt").write_text(text)
    code, out, err = verb("verify", "notes.txt")
    assert (code, out) == (2, "")
    assert err.startswith("statecraft: notes.txt: is no journal: ")


def test_a_file_that_was_emptied_is_broken(verb: Verb, sailed: Sailed) -> None:
    sailed("one.jsonl").write_bytes(b"")
    assert verb("verify", "one.jsonl")[0] == 1


def test_what_cannot_be_read_does_not_keep_the_others_from_being_verified(verb: Verb, sailed: Sailed) -> None:
    sailed("one.jsonl")
    code, out, err = verb("verify", "gone.jsonl", "one.jsonl")
    assert (code, out) == (2, "one.jsonl: whole, 24 lines\n")
    assert err == "statecraft: gone.jsonl: cannot be read: No such file or directory\n"


def test_a_run_that_a_file_does_not_hold_is_bad_input(verb: Verb, sailed: Sailed) -> None:
    sailed("one.jsonl")
    assert verb("verify", "one.jsonl", "--run", "foo") == (
        2,
        "",
        "statecraft: one.jsonl: holds the run voyage, expected foo\n",
    )
    assert verb("verify", "one.jsonl", "--run", "voyage")[0] == 0


def test_one_object_a_run_is_one_a_line(verb: Verb, sailed: Sailed) -> None:
    sailed("many.db", "east", "west")
    code, out, _ = verb("verify", "--json", "many.db")
    assert code == 0
    assert [json.loads(line)["verdict"] for line in out.splitlines()] == ["whole", "whole"]


def test_nothing_to_verify_is_bad_input(verb: Verb) -> None:
    assert verb("verify") == (2, "", "statecraft: verify: no journal given; expected one path or more\n")
