"""The table of an audit on standard output: in colour and no wider than a terminal, plain and whole in a pipe."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from ..audit.lines import GAP, LEAST_STRIP, NUMBERS, STRIP, Line, Page, files_of, in_all, notes, page
from ..audit.report import LEGEND, strip_of

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
    write(console, _page(lines, width), width)


def write(console: Console, page: Iterable[Text], width: int | None) -> None:
    """Write a page: plain where there is no terminal (`width` is None)."""
    for text in page:
        if width is None:
            sys.stdout.write(f"{text.plain}\n")
        else:
            console.print(text, soft_wrap=True)  # a row that is too wide even so is for the terminal to break


def _page(lines: Sequence[Line], width: int | None) -> Iterator[Text]:
    laid = page(lines, width)
    strips: list[int] = []
    yield _row(laid, laid.head, "bold")
    for line, cells, file in zip(lines, laid.cells, files_of(lines), strict=True):
        name, *more = chop_cells(cells[0], laid.widths[0]) if cells[0] else [""]
        yield _row(laid, (name, *cells[1:]), "", DECIDED.get(line.worst, "green"))
        yield from map(Text, more)
        second = _second(laid, line, file, width)
        if second.plain:
            yield Text("  ").append_text(second)
        for why in line.why:
            yield from wrapped(f"  {why}", width, "")
        strips.append(laid.widths[-1] if STRIP in laid.names else len(second.plain.rpartition(" ")[2]))
    for line in lines:
        for problem in _problems(line):
            yield from wrapped(f"  {line.run}: {problem}", width, "dim")
    for note in (LEGEND, *notes(lines, strips, ended="ended" in laid.names)):
        yield from wrapped(note, width, "dim")
    yield from wrapped(in_all(lines), width, "")


def _row(laid: Page, cells: Sequence[str], style: str, decided: str = "") -> Text:
    row = Text(style=style)
    for at, (name, width, cell) in enumerate(zip(laid.names, laid.widths, cells, strict=True)):
        blank = " " * (width - cell_len(cell))
        row.append(GAP if at else "")
        if name in NUMBERS:
            row.append(blank)
        if name == STRIP and not style:
            row.append_text(_strip(cell))
        else:
            row.append(cell, decided if name == "decided" else "")
        if name not in NUMBERS:
            row.append(blank)
    row.rstrip()
    return row


def _second(laid: Page, line: Line, file: str, width: int | None) -> Text:
    """What a narrow page has no column for, beneath the run's row: its file, and its strip."""
    second = Text()
    if file and "file" not in laid.names:
        second.append(f"in {file}", "dim")
    if STRIP not in laid.names:
        second.append(GAP if second.plain else "")
        room = (width or 0) - len(GAP) - cell_len(second.plain)
        second.append_text(_strip(strip_of(line.strip, max(room, LEAST_STRIP))))
    return second


def _strip(marks: str) -> Text:
    return Text.assemble(*((mark, STYLES[mark]) for mark in marks))


def wrapped(text: str, width: int | None, style: str) -> Iterator[Text]:
    """The text on lines of a page, broken between words."""
    if width is None:
        yield Text(text, style)
        return
    indent = " " * (len(text) - len(text.lstrip()))
    for line in textwrap.wrap(
        text.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}{indent}",
        break_long_words=False,
        break_on_hyphens=False,
    ):
        yield Text(line, style)


def _problems(line: Line) -> list[str]:
    more = len(line.problems) - PROBLEMS
    return [*line.problems[:PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
