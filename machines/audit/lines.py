"""The table of an audit: which columns there is room for, and what each run's line says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

import attrs
from rich.cells import cell_len

from .judge import Judged
from .report import OPEN, SQUEEZED, decided, ending, strip_of, told

GAP: Final = "  "
LEAST_STRIP: Final = 12
"""Marks of a strip below which other columns give way to it."""

LONGEST_STRIP: Final = 40
"""Marks of a strip where nothing says how wide the page is."""

LEAST_NAME: Final = 20

STRIP: Final = "strip"
SHORT: Final = "verdicts"

HEADS: Final = {
    "run": "run",
    "file": "file",
    "turns": "turns",
    "decided": "decided",
    "ended": "ended",
    "saved": "saved",
    STRIP: "verdicts, turn by turn",
}
NUMBERS: Final = ("turns", "saved")
GIVES_WAY: Final = ("saved", "file", "turns", "ended", STRIP)
"""What is left out where a page is narrow, in this order."""


@attrs.frozen
class Line:
    """What is kept of a judged run until the table is shown: its cells, and what is told beneath."""

    run: str
    file: str
    turns: int
    decided: str
    ended: str
    saved: int
    strip: str
    worst: str
    nudged: bool
    problems: tuple[str, ...]
    why: tuple[str, ...]


def line_of(judged: Judged, *, why: bool = False) -> Line:
    """The line of a judged run; `why` keeps each verdict with its evidence."""
    return Line(
        run=plain(judged.run),
        file=judged.file,
        turns=judged.turns,
        decided=decided(judged),
        ended=ending(judged),
        saved=judged.saved.turns,
        strip=judged.strip,
        worst=judged.worst,
        nudged=judged.first_nudge is not None,
        problems=judged.problems,
        why=tuple(map(told, judged.verdicts)) if why else (),
    )


def plain(text: str) -> str:
    """A recording's own words on one line, without what would move a terminal's cursor."""
    return "".join(mark if mark.isprintable() else "?" for mark in text)


@attrs.frozen
class Page:
    """The table: which columns it has, their widths in a terminal's cells, its head, and the runs' cells.

    All are in the order of the columns. The longest strip is as wide as its column; other cells may be wider than
    theirs only in `run`, where the page is too narrow for a name.
    """

    names: tuple[str, ...]
    widths: tuple[int, ...]
    head: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]


def page(lines: Sequence[Line], width: int | None) -> Page:
    """Lay the runs out on a page `width` cells wide (None: as wide as it takes). Names are never left out."""
    files = files_of(lines)
    cells = [
        {
            "run": line.run,
            "file": file,
            "turns": str(line.turns),
            "decided": line.decided,
            "ended": line.ended,
            "saved": str(line.saved or ""),
        }
        for line, file in zip(lines, files, strict=True)
    ]
    empty = {name for name in ("file", "saved") if not any(cell[name] for cell in cells)}
    names = [name for name in HEADS if name not in empty]
    widths = {
        name: max(map(cell_len, (HEADS[name], *(cell[name] for cell in cells)))) for name in HEADS if name != STRIP
    }
    longest = max(len(line.strip) for line in lines)
    left = LONGEST_STRIP if width is None else _room(names, widths, longest, width)
    widths[STRIP] = min(longest, max(left, 1))
    heads = {**HEADS, STRIP: HEADS[STRIP] if width is None or left >= len(HEADS[STRIP]) else SHORT[: max(left, 1)]}
    shown = [{**cell, STRIP: strip_of(line.strip, widths[STRIP])} for cell, line in zip(cells, lines, strict=True)]
    return Page(
        tuple(names),
        tuple(widths[name] for name in names),
        tuple(heads[name] for name in names),
        tuple(tuple(cell[name] for name in names) for cell in shown),
    )


def _room(names: list[str], widths: dict[str, int], longest: int, width: int) -> int:
    """Leave columns out of `names` until the page is wide enough; answers what is left for the strip."""

    def left() -> int:
        return width - sum(widths[name] + len(GAP) for name in names if name != STRIP)

    least = min(max(longest, len(SHORT)), LEAST_STRIP)
    for name in GIVES_WAY:
        if left() >= least:
            break
        if name in names:
            names.remove(name)
    if left() + len(GAP) < 0:
        widths["run"] = max(LEAST_NAME, widths["run"] + left() + len(GAP))
    return left()


def files_of(lines: Sequence[Line]) -> list[str]:
    """Where each run was read, if that tells more than its name: without the folders that all of them share."""
    files = [PurePath(line.file) for line in lines]
    shared = [folder for folder in files[0].parents if all(folder in file.parents for file in files)]
    return [
        # The first of them is the nearest.
        "" if file.stem == line.run else plain(str(file.relative_to(shared[0]) if shared else file))
        for line, file in zip(lines, files, strict=True)
    ]


def notes(lines: Sequence[Line], strips: Sequence[int], *, ended: bool) -> tuple[str, ...]:
    """What has to be explained of what is shown: the longest strip that each run has room for, and the endings."""
    is_open = ended and any(line.ended == "open" for line in lines)
    squeezed = any(len(line.strip) > most for line, most in zip(lines, strips, strict=True))
    return (*([OPEN] if is_open else []), *([SQUEEZED] if squeezed else []))


def in_all(lines: Sequence[Line]) -> str:
    """The counts, in one line. A run that was nudged and later stopped is counted in both."""
    turns, saved = sum(line.turns for line in lines), sum(line.saved for line in lines)
    nudged, stopped = sum(line.nudged for line in lines), sum(line.worst == "stop" for line in lines)
    return (
        f"{counted(len(lines), 'run')}, {counted(turns, 'turn')}: {nudged} nudged, {stopped} stopped, "
        f"{counted(saved, 'turn')} saved"
    )


def counted(number: int, what: str) -> str:
    """The number with its word: `1 run`, `2 runs`."""
    return f"{number} {what}{'' if number == 1 else 's'}"
