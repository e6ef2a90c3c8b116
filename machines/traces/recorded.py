"""A recorded run, and a file's lines cut into its runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from attrs import evolve, frozen

from .bad_trace import BadTrace
from .clock import Clock
from .json_text import JsonError
from .lines import Line, RunLine

Numbered: TypeAlias = tuple[int | None, Line]


@frozen(eq=False)
class Recorded:
    """One run of a file, as it is read.

    `run` is its first line and stands on line `line` of the file (None in formats that are one document). `lines`
    are all that follow, each with its line number; they are read once, from the file, while they are asked for, so
    they end or raise BadTrace only then, and must be taken before the next run is: going on to it reads past what is
    left.
    """

    file: str
    format: str
    run: RunLine
    line: int | None
    lines: Iterator[Numbered]


def runs(path: Path, name: str, lines: Iterable[Numbered]) -> Iterator[Recorded]:
    """The runs of a file whose lines, from its first on, are given; each `run` line starts one."""
    source = iter(lines)
    ahead: list[tuple[int | None, RunLine]] = []
    turn = 0

    def rest(mine: int) -> Iterator[Numbered]:
        try:
            # A run's lines that are asked for after the next run has begun would be the next run's.
            while mine == turn and (following := next(source, None)) is not None:
                number, line = following
                if isinstance(line, RunLine):
                    ahead.append((number, line))
                    return
                yield number, line
        except JsonError as error:
            raise BadTrace(path, found=str(error), expected="JSON of fewer levels") from None

    for _ in rest(turn):
        raise AssertionError("an importer's first line is a run line")
    while ahead:
        number, run = ahead.pop()
        yield Recorded(str(path), name, run, number, rest(turn))
        if not ahead:
            for _ in rest(turn):
                pass
        turn += 1


def steady(lines: Iterable[Numbered]) -> Iterator[Numbered]:
    """The same lines, none with an earlier time than one before it in its run."""
    clock = Clock()
    for number, line in lines:
        if isinstance(line, RunLine):
            clock = Clock()
            yield number, line
        else:
            at = clock.at(line.at)
            yield number, line if line.at == at else evolve(line, at=at)
