"""The recordings that are given to an audit: files, folders, standard input; and what cannot be read of them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import attrs

from statecraft.cli import BadInput
from statecraft.cli.running import complain
from statecraft.journal.records import looks_like_one

from ..traces.bad_trace import BadTrace
from ..traces.formats import FORMATS

STANDARD: Final = Path("-")
"""The path that means standard input."""

KNOWN: Final = ", ".join(FORMATS)


@attrs.frozen
class Input:
    """One file: where it can be read, and what it is called."""

    path: Path
    name: str


class Bad:
    """Inputs that could not be read: named at once, counted for the exit code."""

    def __init__(self, *, several: bool) -> None:
        self.count = self.unknown = 0
        self.several = several

    def say(self, problem: str) -> None:
        """One problem."""
        self.count += 1
        complain(problem)

    def trace(self, given: Input, error: BadTrace) -> None:
        """A recording that is bad. Where there are several inputs, the known formats are listed once, by `end`."""
        if error.expected.endswith(KNOWN) and is_journal(given.path):
            self.say(f"{given.name}: found a journal, expected a recording; see statecraft explain --help")
        elif self.several and error.expected.endswith(KNOWN):
            self.unknown += 1
            self.say(f"{given.name}: found {error.found}, which is no format of a recording")
        else:
            self.say(str(error).replace(str(given.path), given.name, 1))

    def end(self) -> None:
        """What holds for all that was said."""
        if self.unknown:
            complain(f"{self.unknown} of the files are no recordings; the formats are {KNOWN}")


def is_journal(path: Path) -> bool:
    """Whether the file begins as a journal does; it can be read, as its format was looked for."""
    with path.open("rb") as file:
        return looks_like_one(file.read(1 << 12).partition(b"\n")[0])


@contextmanager
def inputs(paths: Iterable[Path], say: Callable[[str], None]) -> Generator[list[Input]]:
    """The files that are meant, standard input among them as long as this lasts; `say` is told of an empty folder."""
    with TemporaryDirectory(prefix="statecraft-") as folder:
        yield [one for path in paths for one in _files(path, Path(folder), say)]


def _files(path: Path, folder: Path, say: Callable[[str], None]) -> Iterator[Input]:
    if path == STANDARD:
        yield Input(_kept(folder), "-")
    elif not path.is_dir():
        yield Input(path, str(path))
    else:
        inside = sorted(p for p in path.rglob("*") if p.is_file() and not _passed_over(p.relative_to(path)))
        if not inside:
            say(f"{path}: the folder holds no file")
        yield from (Input(one, str(one)) for one in inside)


def _passed_over(path: Path) -> bool:
    """Hidden files, and what lies beside a journal: its texts are no recordings."""
    return path.name.startswith(".") or any(part.endswith(".content") for part in path.parts[:-1])


def _kept(folder: Path) -> Path:
    """Standard input as a file: a format is recognised by a file's beginning and its end."""
    kept = folder / "input"
    if sys.stdin is None:
        raise BadInput("standard input: is closed; expected a recording")
    if not kept.exists():
        with kept.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    return kept
