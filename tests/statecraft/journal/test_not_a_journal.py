"""A file that is there already is never touched by whoever would begin a journal in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from machines.journaled import RunJournal
from machines.state import new_run
from statecraft.journal import FileStore, JournalError


@pytest.mark.parametrize(
    "content",
    [
        b'{"seq":7}\n{"seq":8,"note":"precious, no newline"}',
        b"half a line",
        b"a note\n",
    ],
)
def test_a_file_that_is_there_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(content)
    with pytest.raises(JournalError):
        RunJournal.begin(FileStore(path), new_run("one"), host="test")
    assert path.read_bytes() == content


def test_an_empty_file_is_begun(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    journal = RunJournal.begin(FileStore(path), new_run("one"), host="test")
    journal.close(None)
    assert path.read_bytes().count(b"\n") == 1
