"""The table of an audit on standard output: in colour where a terminal shows it, plain in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from ..audit.lines import GAP, NUMBERS, STRIP, Line, Page, files_of, in_all, notes, page
from ..audit.report import LEGEND

STYLES: Final = {".": "dim", "n": "yellow", "S": "bold red", "-": "dim red", "+": "dim magenta"}
DECIDED: Final = {"stop": "bold red", "nudge": "yellow"}
PROBLEMS: Final = 3
"""Problems of one run that are shown; `--json` has more."""


def show(lines: Sequence[Line]) -> None:
    """Show what was found; nothing where nothing could be read."""
    if not lines:
        return
    console = Console(highlight=False)
    width = console.width if console.is_terminal else None
    laid = page(lines, width)

    def say(text: Text) -> None:
        # Longer lines are left to the terminal, so that no part of a name or of evidence is lost.
        if console.is_terminal:
            console.print(text, soft_wrap=True)
        else:
            sys.stdout.write(f"{text.plain}\n")

    say(_row(laid, laid.head, "bold"))
    for line, cells, file in zip(lines, laid.cells, files_of(lines), strict=True):
        for text in _line(laid, line, cells):
            say(text)
        if file and "file" not in laid.names:
            say(Text(f"  in {file}", "dim"))
        for why in line.why:
            say(Text(f"  {why}"))
    for line in lines:
        for problem in _problems(line):
            say(Text(problem, "dim"))
    strip = laid.widths[-1] if laid.names[-1] == STRIP else 0
    for note in (*([LEGEND] if strip else []), *notes(lines, strip)):
        say(Text(note, "dim"))
    say(Text(in_all(lines)))


def _line(laid: Page, line: Line, cells: Sequence[str]) -> list[Text]:
    """A run's row; a name that is wider than its column goes on beneath."""
    name, *more = chop_cells(cells[0], laid.widths[0]) if cells[0] else [""]
    return [_row(laid, (name, *cells[1:]), "", DECIDED.get(line.worst, "green")), *map(Text, more)]


def _row(laid: Page, cells: Sequence[str], style: str, decided: str = "") -> Text:
    row = Text(style=style)
    for at, (name, width, cell) in enumerate(zip(laid.names, laid.widths, cells, strict=True)):
        blank = " " * (width - cell_len(cell))
        row.append(GAP if at else "")
        if name in NUMBERS:
            row.append(blank)
        if name == STRIP and not style:
            row.append_text(Text.assemble(*((mark, STYLES[mark]) for mark in cell)))
        else:
            row.append(cell, decided if name == "decided" else "")
        if name not in NUMBERS and at < len(cells) - 1:
            row.append(blank)
    row.rstrip()
    return row


def _problems(line: Line) -> list[str]:
    found = [f"  {line.run}: {problem}" for problem in line.problems[:PROBLEMS]]
    more = len(line.problems) - PROBLEMS
    return [*found, *([f"  {line.run}: and {more} more"] if more > 0 else [])]
