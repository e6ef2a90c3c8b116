"""The table of an audit under several policies: a column for each; beneath one another where a terminal is narrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ..audit.compare import Compared
from ..audit.lines import GAP, counted, files_of, in_all
from .shown import DECIDED, PROBLEMS, wrapped, write

PART: Final = "they part"


def show_beside(names: Sequence[str], found: Sequence[Compared]) -> None:
    """Show what was found; nothing where nothing could be read."""
    if found:
        console = Console(highlight=False)
        width = console.width if console.is_terminal else None
        write(console, page_of(names, found, width), width)


def page_of(names: Sequence[str], found: Sequence[Compared], width: int | None) -> Iterator[Text]:
    """The page, line by line; `width` in a terminal's cells, None: as wide as it takes."""
    files = files_of([each.lines[0] for each in found])
    where = ["" if each.parts is None else f"at {each.parts}" for each in found]
    columns = [
        ("run", [each.lines[0].run for each in found]),
        *([("file", files)] if any(files) else []),
        ("turns", [str(each.lines[0].turns) for each in found]),
        *((name, [each.decided[at] for each in found]) for at, name in enumerate(names)),
        (PART, where),
    ]
    widths = [max(map(cell_len, (head, *cells))) for head, cells in columns]
    apart = len(columns) - 1 - len(names)  # the first column of a policy
    if width is not None and sum(widths) + len(GAP) * (len(widths) - 1) > width:
        yield from _beneath(names, found, files, width)
    else:
        yield _row([head for head, _ in columns], widths, apart, ["bold"] * len(columns))
        for at, each in enumerate(found):
            styles = ["", *[""] * (apart - 1), *(_style(line.worst) for line in each.lines), ""]
            yield _row([cells[at] for _, cells in columns], widths, apart, styles)
            yield from _more(names, each, width)
    for name, lines in zip(names, zip(*(each.lines for each in found), strict=True), strict=True):
        yield from wrapped(f"{name}: {in_all(lines)}", width, "")
    differ = sum(each.parts is not None for each in found)
    yield from wrapped(f"they part in {differ} of {counted(len(found), 'run')}", width, "")


def _beneath(names: Sequence[str], found: Sequence[Compared], files: Sequence[str], width: int) -> Iterator[Text]:
    """Each policy on a line of its own beneath the run."""
    wide = max(map(cell_len, names))
    for each, file in zip(found, files, strict=True):
        part = "" if each.parts is None else f", {PART} at {each.parts}"
        inside = f" in {file}" if file else ""
        yield from wrapped(f"{each.lines[0].run}{inside}: {each.lines[0].turns} turns{part}", width, "bold")
        for name, decided, line in zip(names, each.decided, each.lines, strict=True):
            yield Text.assemble("  ", name, " " * (wide - cell_len(name)), GAP, (decided, _style(line.worst)))
        yield from _more(names, each, width)


def _more(names: Sequence[str], each: Compared, width: int | None) -> Iterator[Text]:
    """The evidence, policy by policy, and what is odd about the recording, once."""
    for name, line in zip(names, each.lines, strict=True):
        for why in line.why:
            yield from wrapped(f"  {name}: {why}", width, "")
    problems = list(dict.fromkeys(problem for line in each.lines for problem in line.problems))
    for problem in problems[:PROBLEMS]:
        yield from wrapped(f"  {each.lines[0].run}: {problem}", width, "dim")
    if len(problems) > PROBLEMS:
        yield from wrapped(f"  {each.lines[0].run}: and {len(problems) - PROBLEMS} more", width, "dim")


def _row(cells: Sequence[str], widths: Sequence[int], apart: int, styles: Sequence[str]) -> Text:
    row = Text()
    for at, (cell, width, style) in enumerate(zip(cells, widths, styles, strict=True)):
        blank = " " * (width - cell_len(cell))
        row.append(GAP if at else "")
        if at == apart - 1:  # the turns
            row.append(blank)
        row.append(cell, style)
        if at != apart - 1:
            row.append(blank)
    row.rstrip()
    return row


def _style(verdict: str) -> str:
    return DECIDED.get(verdict, "green")
