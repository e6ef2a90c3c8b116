"""How benchmarks measure, and the table of what they found.

Time is CPU time of this process. What is compared is measured in turns, round by round, in rounds of one length, and of
each the best round counts: noise only ever adds, and a long round finds fewer quiet moments than a short one. A limit
in microseconds is one of the reference machine; a slower machine, or a busier one, gets as much more as a step of a
bare transitions `Machine` takes longer on it, measured in the same rounds, up to `MOST` times. A ratio gets nothing.

The garbage collector runs as it would in a program, so that a run pays for its own garbage, but does not look at what
the test session holds.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import attrs
import pytest
from transitions import EventData, Machine

REFERENCE = 7.2
"""Microseconds that `bare_step` takes on the machine on which the limits were set."""

MOST = 3.0
"""A machine that is slower than this is not one to measure on: its limits grow no further."""

SLACK = float(os.environ.get("STATECRAFT_BENCH_SLACK", "1"))
"""How much of a limit in time is given on top where nobody knows what else the machine does; ratios get nothing."""

ROUNDS = 15
ROUND_SECONDS = 0.01
LONGEST_ROUND = 0.15


@attrs.frozen
class Figure:
    """One thing that was measured: against which limit, beside what, and whether the limit is a least."""

    what: str
    found: float
    unit: str
    limit: float | None
    at_least: bool
    beside: str

    @property
    def holds(self) -> bool:
        """Whether the limit is kept."""
        if self.limit is None:
            return True
        return self.found >= self.limit if self.at_least else self.found <= self.limit


TIMED = ("us", "turns/s")
"""Units of figures that depend on the machine."""

FIGURES = pytest.StashKey[list[Figure]]()


class Bench:
    """Measures, and keeps what was found for the table at the end of the session."""

    def __init__(self, figures: list[Figure], record: Callable[[str, object], None]) -> None:
        self._figures, self._record = figures, record

    def race(self, *runs: Callable[[], object], rounds: int = ROUNDS) -> tuple[list[float], float]:
        """Microseconds of each call, the best round of each; and how much slower this machine is just now, from 1."""
        racers = [*runs, bare_step()]
        once = [_once(run) for run in racers]
        length = min(LONGEST_ROUND * 1e6, max(ROUND_SECONDS * 1e6, *once))
        counts = [max(1, round(length / spent)) for spent in once]
        best = [float("inf")] * len(racers)
        with quiet_collector():
            for _ in range(rounds):
                for number, (run, count) in enumerate(zip(racers, counts, strict=True)):
                    best[number] = min(best[number], _timed(run, count))
        return best[:-1], slower(best[-1])

    def hold(
        self,
        what: str,
        found: float,
        limit: float | None,
        unit: str = "us",
        *,
        beside: str = "",
        at_least: bool = False,
    ) -> None:
        """Note the figure, and fail where it does not keep its limit (None: it has none)."""
        if limit is not None and unit in TIMED:
            limit = limit / SLACK if at_least else limit * SLACK
        figure = Figure(what, found, unit, limit, at_least, beside)
        self._figures.append(figure)
        self._record(what, round(found, 3))
        assert figure.holds, f"{what}: found {found:.2f} {unit}, expected {_limit(figure)} {unit}"


def bare_step() -> Callable[[], object]:
    """One step of a bare transitions `Machine`: one model, one condition that holds, and the state put back."""

    class Model:
        state = "shut"

    class Push:
        force = 3

    def strong(told: EventData) -> bool:
        push: Push = told.kwargs["event"]
        return push.force >= 2

    model, push = Model(), Push()
    machine = Machine(model, ["shut", "open"], initial="shut", auto_transitions=False, send_event=True)
    machine.add_transition("push", "shut", "open", conditions=strong)
    go: Callable[..., object] = getattr(model, "push")  # noqa: B009  # the library adds it

    def step() -> None:
        go(event=push)
        model.state = "shut"

    return step


def slower(bare: float) -> float:
    """How much slower this machine is than the one on which the limits were set, from the time of a bare step."""
    return min(MOST, max(1.0, bare / REFERENCE))


@contextmanager
def quiet_collector() -> Generator[None]:
    """While the block runs, the garbage collector does not look at what there was before it."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _once(run: Callable[[], object]) -> float:
    """Roughly how long the run takes, in microseconds; what it sets up at its first time is not counted."""
    first = _timed(run, 1)
    return first if first > ROUND_SECONDS * 1e6 else max(_timed(run, 3), 0.05)


def _timed(run: Callable[[], object], count: int) -> float:
    begun = time.process_time()
    for _ in range(count):
        run()
    return (time.process_time() - begun) / count * 1e6


@pytest.fixture
def bench(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Bench:
    """What measures, and notes what was found."""
    return Bench(request.config.stash.setdefault(FIGURES, list[Figure]()), record_property)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The table of all figures, each with its limit on this machine and its peer."""
    if FIGURES not in config.stash:
        return
    figures = config.stash[FIGURES]
    terminalreporter.section("figures")
    rows = [("what", "found", "limit", "beside"), *(_row(figure) for figure in figures)]
    for line in _aligned(rows):
        terminalreporter.write_line(line)


def _row(figure: Figure) -> tuple[str, str, str, str]:
    mark = "" if figure.holds else "  MISSED"
    return figure.what, f"{figure.found:,.2f} {figure.unit}{mark}", _limit(figure), figure.beside


def _limit(figure: Figure) -> str:
    if figure.limit is None:
        return ""
    return f"{'>=' if figure.at_least else '<='} {figure.limit:,.2f}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
