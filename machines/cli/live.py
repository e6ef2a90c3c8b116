"""A run as it goes on, on standard error: news, and beneath them bars on a terminal; one line a step of news otherwise.

All that a model, a tool or a file says is shown in one line each, without what moves a terminal's cursor.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Final, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from statecraft.cli.running import harmless

from ..agent.notices import (
    AttemptResetNotice,
    CallsNotice,
    CondensedNotice,
    Notice,
    Notices,
    PersonNotice,
    PieceNotice,
    RecoveryNotice,
    ResultNotice,
    StateNotice,
    TextNotice,
    TodosNotice,
    VerdictNotice,
)
from ..agent.planning import PLAN_MANIFEST
from ..held import HELD_CALL
from ..outcome import readable

WHOLE: Final = 500
"""Characters of one text where no terminal's width cuts it off."""

BAR: Final = 24
"""Cells of a bar."""

WIDE: Final = 60
"""Columns from which on there is room for bars."""

BEFORE: Final = ("ready", "asking", "recovering", "condensing")
"""States in which the turn that is counted is over: what goes on belongs to the next one."""


SPEAKING: Final = ("asking", "recovering", "concluding")
"""States in which a reply may be coming."""


@contextmanager
def shown(notices: Notices) -> Generator[None, None, None]:
    """Show a run's notices on standard error while the block runs."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        end = notices.subscribe(lambda notice: plainly(notice, stream=sys.stderr))
        try:
            yield
        finally:
            end()
        return
    view = View()

    def drawn() -> RenderableType:
        width, height = console.size
        lines = view.lines(width, utf8=console.encoding.startswith("utf"))
        return Group(*lines[: max(1, height - 1)])  # a frame as high as the terminal could not be taken back

    # What tools print comes out above the bars, unless it goes somewhere else anyway.
    here = sys.stdout.isatty()
    with Live(
        console=console, get_renderable=drawn, refresh_per_second=4, transient=True, redirect_stdout=here
    ) as live:

        def update(notice: Notice) -> None:
            with suppress(OSError):
                view.take(notice)
                for line in lines_of(notice):
                    console.print(Text(line), no_wrap=True, overflow="ellipsis")
                live.refresh()

        end = notices.subscribe(update)
        try:
            yield
        finally:
            end()


def lines_of(notice: Notice, most: int = WHOLE) -> list[str]:
    """A notice in plain lines, each text in it cut off after so many characters; what only moves bars has none."""
    return [harmless(line) for line in _lines_of(notice, most)]


def _lines_of(notice: Notice, most: int) -> list[str]:
    match notice:
        case CallsNotice():
            made = [(tool, args) for _, tool, args in notice.calls if tool not in PLAN_MANIFEST]
            return [f"call    {tool} {_short(args, most)}" for tool, args in made]
        case ResultNotice():
            if notice.tool in PLAN_MANIFEST and notice.error is None:
                return []  # the plan has a notice of its own
            failed = f" failed ({notice.error})" if notice.error else ""
            return [f"result  {notice.tool}{failed}: {_short(notice.content, most)}"]
        case TextNotice():
            return [f"note    {_short(notice.text, most)}"]
        case VerdictNotice():
            seen = readable(notice.evidence)
            return [f"{notice.verdict:<7} by {notice.by} at turn {notice.turn}" + (f": {seen}" if seen else "")]
        case PersonNotice():
            if notice.by == HELD_CALL:
                return [f"asks    a person: {notice.evidence['awaited']} to {notice.evidence['tool']}"]
            seen = readable(notice.evidence)
            return [f"person  should know of {notice.by}" + (f": {seen}" if seen else "")]
        case TodosNotice():
            return [plan_line(notice, most)]
        case RecoveryNotice():
            after = f", in {notice.after:g} s" if notice.after else ""
            said = f": {_short(notice.said, most)}" if notice.said else ""
            return [f"recover {notice.reason.replace('_', ' ')}, attempt {notice.attempt}{after}{said}"]
        case CondensedNotice():
            return [f"shorter by {notice.freed} tokens: {', '.join(notice.steps)}"]
        case _:
            return []


def plan_line(notice: TodosNotice, most: int = WHOLE) -> str:
    """The plan in one line."""
    doing = f": {_short(notice.in_progress, most)}" if notice.in_progress else ""
    return f"plan    {notice.completed} of {notice.total} done{doing}"


def plainly(notice: Notice, indent: str = "", *, stream: TextIO, most: int = WHOLE) -> None:
    """A notice in lines on a stream. One that takes no more is no reason to stop a run: the verb's own end says it."""
    with suppress(OSError):
        for line in lines_of(notice, most):
            stream.write(f"{indent}{line}\n")
        stream.flush()


class View:
    """What the bars and the lines beside them show just now; `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._state = StateNotice("ready", 0, {})
        self._told = clock()
        self._verdict = "no verdict so far"
        self._plan = ""
        self._said = ""  # the end of a reply that is still coming

    def take(self, notice: Notice) -> None:
        """Take a notice in."""
        match notice:
            case StateNotice():
                self._state, self._told = notice, self._clock()
                self._said = self._said if notice.state in SPEAKING else ""
            case AttemptResetNotice():
                self._said = ""
            case VerdictNotice():
                self._verdict = lines_of(notice)[0]
            case TodosNotice():
                self._plan = harmless(plan_line(notice))
            case PieceNotice():
                self._said = (self._said + notice.text)[-WHOLE:]
            case _:
                pass

    def lines(self, width: int, *, utf8: bool = True) -> list[Text]:
        """The lines, for a terminal of so many columns. Time goes on by the clock, not by what is told."""
        state = self._state
        turn = state.turn + (state.state in BEFORE)
        found = [Text.assemble((state.state, "bold"), f"  turn {turn}  ", (self._verdict, "yellow"))]
        found += [Text(self._plan)] if self._plan else []
        found += [Text(f"says    {self._end(width - 9)}", "dim")] if self._said else []
        budgets: Mapping[str, tuple[float | None, float | None]] = state.budgets
        for name, (spent, limit) in budgets.items():
            if name == "seconds" and spent is not None:
                spent = float(int(spent + self._clock() - self._told))
            line = Text(f"{name:<8}")
            if limit and width >= WIDE:
                line.append_text(_bar((spent or 0.0) / limit, utf8=utf8)).append(" ")
            found.append(line.append(_amount(spent, limit)))
        for line in found:
            line.no_wrap, line.overflow = True, "ellipsis"
        return found

    def _end(self, most: int) -> str:
        """As much of the end of what is being said as has room."""
        one = harmless(" ".join(self._said.split()))
        return one if len(one) <= most else f"…{one[max(0, len(one) - most + 1) :]}"


def _bar(part: float, *, utf8: bool) -> Text:
    full, rest = ("━", "╌") if utf8 else ("#", ".")
    cells = min(BAR, int(part * BAR))
    return Text.assemble((full * cells, "red" if part >= 0.9 else "green"), (rest * (BAR - cells), "dim"))


def _amount(spent: float | None, limit: float | None) -> str:
    known = "not known" if spent is None else f"{spent:,.6g}" if abs(spent) < 1_000_000 else f"{spent:,.0f}"
    return known if spent is None else f"{known}, no limit" if limit is None else f"{known} of {limit:,.12g}"


def _short(text: str, most: int) -> str:
    one = " ".join(text.split())
    return one if len(one) <= most else f"{one[: most - 1]}…"
