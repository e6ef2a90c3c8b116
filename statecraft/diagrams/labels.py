"""The words on an arrow: row numbers, event, guards in brackets, commands after a slash, what is paid.

An arrow has room for so much. Rows that differ only in their guards share a line; a long list of guards ends in how
many are left out, and an arrow of many lines in row numbers. The listing beside the diagram has every row in full.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

import attrs

from .drawn import Taken, times
from .edges import Line, Picture

GUARDS = 120  # letters of guards on one line, beyond which they are counted
LINES = 8  # lines on one arrow, beyond which rows are given by number


@attrs.frozen
class Arrow:
    """All that leads from one state to another: the rows of the edges between them, in the order of the rows."""

    source: str
    target: str
    lines: tuple[Line, ...]


def arrows(drawn: Picture) -> tuple[Arrow, ...]:
    """The edges of the picture with those between the same two states drawn as one."""
    found: dict[tuple[str, str], list[Line]] = {}
    for edge in drawn.edges:
        found.setdefault((edge.source, edge.target), []).extend(edge.lines)
    return tuple(
        Arrow(source, target, tuple(sorted(lines, key=lambda line: line.row)))
        for (source, target), lines in found.items()
    )


def label(*lines: Line) -> str:
    """`0 Push [strong] / Ring -drops`; rows that differ only in guards as `0, 3 Push [strong or heavy] / Ring`."""
    first = lines[0]
    alone = len(lines) == 1
    guards = _cut(first.guards, ", ") if alone else _cut([", ".join(line.guards) for line in lines], " or ")
    words = [ranges([line.row for line in lines]), first.event]
    words += [f"[{guards}]"] if guards else []
    words += [f"/ {', '.join(first.commands)}"] if first.commands else []
    return " ".join([*words, *first.paid])


def labels(arrow: Arrow, run: Taken | None = None) -> list[str]:
    """The labels of an arrow, one a line.

    With a run, each row that it took is given with how often and what is remarked of it, the others by number alone.
    """
    if run is None:
        return _told(_grouped(arrow.lines), lambda lines: label(*lines))
    counts = {line.row: times(run, arrow.source, line) for line in arrow.lines}
    never = [line for line in arrow.lines if not counts[line.row][0]]
    if len(never) == len(arrow.lines):
        return [_by_number(never)]

    def counted(lines: Sequence[Line]) -> str:
        count, exact = counts[lines[0].row]
        remark = run.remarks.get(lines[0].row)
        return f"{label(*lines)} {'×' if exact else '≤×'}{count}{f', {remark}' if remark else ''}"

    told = _told([[line] for line in arrow.lines if counts[line.row][0]], counted)
    return [*told, *([f"never {ranges([line.row for line in never])}"] if never else [])]


def total(arrow: Arrow, run: Taken) -> int:
    """How often the run went along the arrow; an upper limit where the run does not say from where."""
    return sum(times(run, arrow.source, line)[0] for line in arrow.lines)


def whole(arrow: Arrow, run: Taken) -> bool:
    """Whether the run took each row of the arrow and nothing is remarked of any."""
    return all(times(run, arrow.source, line)[0] and line.row not in run.remarks for line in arrow.lines)


def ranges(numbers: Sequence[int]) -> str:
    """`7-9, 12` for 7, 8, 9, 12: ascending numbers, runs of three and more joined."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def wrapped(text: str, width: int = 44) -> list[str]:
    """The label on several lines, broken at blanks, the later ones set in."""
    return textwrap.wrap(text, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _grouped(lines: Sequence[Line]) -> list[list[Line]]:
    groups: dict[object, list[Line]] = {}
    for line in lines:
        alike = (line.event, line.commands, line.paid) if line.guards else line.row
        groups.setdefault(alike, []).append(line)
    return list(groups.values())


def _told(groups: Sequence[Sequence[Line]], write: Callable[[Sequence[Line]], str]) -> list[str]:
    if len(groups) <= LINES:
        return [write(lines) for lines in groups]
    left = [line for lines in groups[LINES - 1 :] for line in lines]
    return [*(write(lines) for lines in groups[: LINES - 1]), _by_number(sorted(left, key=lambda line: line.row))]


def _by_number(lines: Sequence[Line]) -> str:
    events = dict.fromkeys(line.event for line in lines)
    return f"{ranges([line.row for line in lines])} {', '.join(events)}"


def _cut(guards: Sequence[str], between: str) -> str:
    kept = list(guards)
    while len(kept) > 1 and len(between.join(kept)) > GUARDS:
        kept.pop()
    left = len(guards) - len(kept)
    told = between.join(kept)
    return (told if len(told) <= GUARDS else f"{told[: GUARDS - 1]}…") + (f"{between}{left} more" if left else "")
