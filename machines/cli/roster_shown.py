"""The roster on standard output: in colour and no wider than a terminal, plain and a line each in a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from ..audit.caught import Catches
from ..audit.lines import GAP, counted, plain
from ..detectors.left_out import LEFT_OUT, UNSEEN
from ..detectors.listed import Listed
from ..policy_file import UNLIMITED
from .shown import wrapped, write

MOST_SHOWN: Final = 20
"""False stops that are shown; `--json` has all."""

HEADS: Final = ("detector", "nudged", "stopped", "first", "alone", "false stops")


def show_roster(roster: Sequence[Listed], catches: Catches | None) -> None:
    """Show the roster, what was left out of it, and what was caught, where runs were judged."""
    console = Console(highlight=False)
    width = console.width if console.is_terminal else None
    write(console, page_of(roster, catches, width), width)


def page_of(roster: Sequence[Listed], catches: Catches | None, width: int | None) -> Iterator[Text]:
    """The page, line by line; `width` in a terminal's cells, None: as wide as it takes."""
    name_wide = max(len(each.name) for each in roster)
    asked = ""
    for each in roster:
        if each.asked != asked:
            yield Text(f"asked {each.asked}", "bold")
            asked = each.asked
        state, style = ("on ", "green") if each.enabled else ("off", "red")
        limits = ", ".join(f"{key} {UNLIMITED if n is None else n}" for key, n in each.limits.items())
        line = Text.assemble("  ", f"{each.name:<{name_wide}}", GAP, (state, style), GAP, limits)
        if width is None or len(line) <= width:
            yield line
        else:
            yield Text.assemble("  ", each.name, GAP, (state.strip(), style))
            yield from wrapped(f"    {limits}", width, "")
        yield from wrapped(f"    {each.shape}", width, "")
        if each.incident:
            yield from wrapped(f"    incident: {each.incident}", width, "dim")
    yield Text("left out", "bold")
    for out in LEFT_OUT:
        yield from wrapped(f"  {out.name}: {out.shape}", width, "")
        yield from wrapped(f"    {out.why}", width, "dim")
        beside = f"; beside them {out.beside}" if out.beside else ""
        yield from wrapped(f"    covered by {', '.join(out.covered_by)}{beside}", width, "")
    yield Text("seen by none", "bold")
    for unseen in UNSEEN:
        yield from wrapped(f"  {unseen.name}: {unseen.shape}", width, "")
        yield from wrapped(f"    {unseen.why}", width, "dim")
        yield from wrapped(f"    left to {unseen.job}", width, "")
    if catches is not None:
        yield from _caught(catches, width)


def _caught(catches: Catches, width: int | None) -> Iterator[Text]:
    """The table of what each caught, each false stop, and what is not known of them."""
    yield Text("caught", "bold")
    rows: list[tuple[str, ...]] = [HEADS]
    for name, by in catches.by_name.items():
        rows.append((name, *map(str, (by.nudged, by.stopped, by.first, by.alone, len(by.false_stops)))))
    wide = max(len(row[0]) for row in rows)
    for name, *numbers in rows:
        cells = (f"{cell:>{len(head)}}" for cell, head in zip(numbers, HEADS[1:], strict=True))
        yield Text(f"  {name:<{wide}}{GAP}{GAP.join(cells)}")
    wrong = catches.false_stops
    for one in wrong[:MOST_SHOWN]:
        said = f"{plain(one.run)} in {plain(one.file)}: at turn {one.turn} of {one.turns} by {one.by}"
        yield from wrapped(f"  false stop: {said}; recorded end: {plain(one.recorded_end)}", width, "")
    if len(wrong) > MOST_SHOWN:
        yield from wrapped(f"  and {counted(len(wrong) - MOST_SHOWN, 'more false stop')}", width, "")
    yield from wrapped(
        f"{counted(catches.runs, 'run')}, {counted(catches.turns, 'turn')}: {catches.nudged} nudged, "
        f"{catches.stopped} stopped; {catches.well} judged well, {catches.not_well} not",
        width,
        "",
    )
    if catches.unknown:
        formats = ", ".join(f"{counted(n, 'run')} of {name}" for name, n in sorted(catches.unknown.items()))
        yield from wrapped(f"no judgement known, and so no false stop: {formats}", width, "dim")
