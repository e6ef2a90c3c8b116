"""A run as it goes on: bars and the last verdict on a terminal, one line a step of news otherwise."""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from statecraft.spelled import spelled

from ..agent.notices import (
    CallsNotice,
    Notice,
    Notices,
    RecoveryNotice,
    ResultNotice,
    StateNotice,
    TextNotice,
    TodosNotice,
    VerdictNotice,
)


@contextmanager
def shown(notices: Notices) -> Generator[None, None, None]:
    """Show a run's notices on standard output while the block runs."""
    console = Console()
    if not console.is_terminal:
        end = notices.subscribe(plainly)
        try:
            yield
        finally:
            end()
        return
    view = _View()
    with Live(view.drawn(), console=console, refresh_per_second=8, transient=True) as live:

        def update(notice: Notice) -> None:
            view.take(notice)
            live.update(view.drawn())

        end = notices.subscribe(update)
        try:
            yield
        finally:
            end()


def lines_of(notice: Notice) -> list[str]:
    """A notice in plain lines; what only moves bars has none."""
    match notice:
        case CallsNotice():
            return [f"call    {tool} {_short(args)}" for _, tool, args in notice.calls]
        case ResultNotice():
            failed = f" failed ({notice.error})" if notice.error else ""
            return [f"result  {notice.tool}{failed}: {_short(notice.content)}"]
        case TextNotice(checkpoint=True):
            return [f"note    {_short(notice.text)}"]
        case VerdictNotice():
            return [f"{notice.verdict:<7} by {notice.by} at turn {notice.turn}: {spelled(notice.evidence)}"]
        case TodosNotice():
            doing = f": {_short(notice.in_progress)}" if notice.in_progress else ""
            return [f"plan    {notice.completed} of {notice.total} done{doing}"]
        case RecoveryNotice():
            return [f"recover {notice.reason}, attempt {notice.attempt}"]
        case _:
            return []


def plainly(notice: Notice, indent: str = "") -> None:
    """A notice on standard output. A reader who has gone away is no reason to log anything: the verb's end says it."""
    with suppress(BrokenPipeError):
        for line in lines_of(notice):
            sys.stdout.write(f"{indent}{line}\n")
        sys.stdout.flush()


class _View:
    """What the live view shows just now."""

    def __init__(self) -> None:
        self.state = "ready"
        self.turn = 0
        self.budgets: Mapping[str, tuple[float | None, float | None]] = {}
        self.verdict = "no verdict so far"
        self.news: list[str] = []

    def take(self, notice: Notice) -> None:
        if isinstance(notice, StateNotice):
            self.state, self.turn, self.budgets = notice.state, notice.turn, notice.budgets
        if isinstance(notice, VerdictNotice):
            self.verdict = lines_of(notice)[0]
        self.news = (self.news + lines_of(notice))[-6:]

    def drawn(self) -> RenderableType:
        bars = Table.grid(padding=(0, 1))
        for name, (spent, limit) in self.budgets.items():
            of = "no limit" if limit is None else f"{limit:,.12g}"
            bar = ProgressBar(total=limit or 1, completed=min(spent or 0, limit) if limit else 0, width=24)
            bars.add_row(name, bar, f"{'not known' if spent is None else format(spent, ',.6g')} of {of}")
        head = Text.assemble((self.state, "bold"), f"  turn {self.turn}  ", (self.verdict, "yellow"))
        return Group(head, bars, *(Text(line, "dim", no_wrap=True, overflow="ellipsis") for line in self.news))


def _short(text: str, most: int = 100) -> str:
    one = " ".join(text.split())
    return one if len(one) <= most else one[: most - 1] + "…"
