"""Guard mutation: does the test run notice each small mistake in a table?

`--statecraft-mutate` tries every mutant (`statecraft.proofs.mutants`) of every table that a test steps,
`--statecraft-mutate=MODULE` or `=MODULE:TABLE` those of the tables named and of their inner machines.

* First the session runs as always. If it does not pass, no mutant is tried.
* Meanwhile it is recorded what each test touches. Of a mutant only those tests are run in which it could show, the
  most telling first, then the quickest, until one fails: the mutant was noticed.
* The tests of one mutant take `--statecraft-mutate-seconds` (2) at most, by their usual time and by the processor's;
  the first of them is run however long it takes. What was not run by then has not noticed. A test that hangs has.
* A test counts only if it passes again on the tables as they are, in the same way. A mutant that could show in such
  tests alone was not tried, and is not in the score.
* Only the mistakes that `mutate_options.MADE` names are made: a score of 100 % says nothing of targets and effects.

`--statecraft-mutate-sample=N` takes N mutants at random, drawn from `--statecraft-mutate-seed=S` (0), and
`--statecraft-mutate-fail-under=PCT` fails the session if fewer percent of them were noticed.

Each mutant has a process of its own (see `rerun`), so nothing of it is left in the session, nor in the next mutant. It
needs fork, so Linux or macOS, and does not go together with pytest-xdist.

Not seen: steps in other processes; those taken while a test module is imported, which no test repeats; those that end
in a fault; and what a program computed from a table before, and keeps.
"""

from __future__ import annotations

import gc
import os
import random
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from importlib import import_module
from typing import Any

import attrs
import pytest

from ..heard import AnyTable
from ..proofs.mutants import Mutant, Touch, mutants
from ..table import with_inner
from .mutate_options import FIRST_SEED, LIMIT, MADE, MOST_SECONDS, NOT_MADE, OPTION, SAMPLE, SECONDS, SEED
from .recorder import recording
from .rerun import Test
from .surviving import Tried, report, score
from .touched import Touched
from .trial import Trial

EVERY = 15.0  # seconds between two lines of progress where they cannot overwrite each other


class Mutating:
    """What `--statecraft-mutate` adds to one test session. `look_up` finds the tables by the names of the option."""

    def __init__(self, config: pytest.Config, named: list[str], look_up: Callable[[], tuple[AnyTable, ...]]) -> None:
        self._config, self._named, self._look_up = config, named, look_up
        seconds: float | None = config.getoption(SECONDS)
        self._seconds = MOST_SECONDS if seconds is None else seconds
        self._touched = Touched()
        self._tests: dict[pytest.Item, tuple[Test, frozenset[Touch]]] = {}
        self._tables: tuple[AnyTable, ...] = ()
        self._tried: list[Tried] = []
        self._lines: list[str] = []
        self._began = False
        recorded = ExitStack()
        recorded.enter_context(recording(self._touched.hear))
        config.add_cleanup(recorded.close)

    def pytest_collection_finish(self) -> None:
        """Look up the names, before any test has run in vain."""
        self._tables = self._look_up()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Record what the test touches, and how long it takes."""
        self._touched.found = found = set[Touch]()
        began = time.perf_counter()
        result = yield
        self._tests[item] = Test(item, time.perf_counter() - began, len(found)), frozenset(found)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Try the mutants when all tests have passed."""
        result = yield
        if session.config.getoption("collectonly"):
            return result
        if session.testsfailed:
            self._lines = ["no mutant was tried: the tests do not pass on the tables as they are"]
            return result
        every = [mutant for table in with_inner(self._chosen()) for mutant in mutants(table)]
        sample: int | None = self._config.getoption(SAMPLE)
        given: int | None = self._config.getoption(SEED)
        seed = FIRST_SEED if given is None else given
        chosen = every if sample is None or sample >= len(every) else _sample(every, sample, seed)
        self._lines = [
            f"{len(chosen)} of {len(every)} mutants, seed {seed}",
            f"made: {MADE}; in these none: {NOT_MADE}",
        ]
        self._began = True
        try:
            self._try(chosen)
        finally:
            if len(self._tried) < len(chosen):
                self._lines.append(f"interrupted after {len(self._tried)}")
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Turn a session that would pass into one that fails, where too little was noticed."""
        if self._began and exitstatus == pytest.ExitCode.OK and self._too_little():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the report."""
        if not self._lines:
            return
        terminalreporter.section("statecraft mutation")
        for line in (*self._lines, *(report(self._tried, self._seconds) if self._began else ())):
            terminalreporter.write_line(line)
        for line in self._too_little() if self._began else ():
            terminalreporter.write_line(f"FAIL: {line}", red=True, bold=True)

    def _chosen(self) -> tuple[AnyTable, ...]:
        return self._tables if self._named else tuple(self._touched.tables)

    def _too_little(self) -> list[str]:
        from .reporting import percent, shown

        limit: float | None = self._config.getoption(LIMIT)
        if limit is None:
            return []
        if not self._tried:
            return ["a limit is asked for, but there was nothing to mutate"]
        found = score(self._tried)
        if not found[1]:
            return ["a limit is asked for, but no mutant could be tried"]
        if percent(found) >= limit:
            return []
        return [f"{shown(found)} of the mutants noticed, expected at least {limit:g} %"]

    def _try(self, chosen: list[Mutant]) -> None:
        trial = Trial(dict(self._tests.values()), self._seconds, self._lines)
        progress = _Progress(self._config.pluginmanager.getplugin("terminalreporter"), len(chosen))
        import_module(".telling", __package__)  # which a failing `step_one` needs: here, and not in each process
        gc.collect()
        gc.freeze()  # so that the processes share what is there instead of copying it as they sweep
        try:
            for mutant in chosen:
                self._tried.append(trial.of(mutant))
                progress.tell(self._tried)
        finally:
            gc.unfreeze()
            progress.end()


def _sample(every: list[Mutant], size: int, seed: int) -> list[Mutant]:
    return [every[number] for number in sorted(random.Random(seed).sample(range(len(every)), size))]


@attrs.define
class _Progress:
    """One line that is written again and again on a terminal, one every so often elsewhere."""

    reporter: Any
    there: int
    began: float = attrs.field(factory=time.monotonic)
    told: float = attrs.field(factory=time.monotonic)

    def tell(self, tried: list[Tried]) -> None:
        if self.reporter is None:
            return
        now = time.monotonic()
        if not self.reporter.isatty and now - self.told < EVERY:
            return
        self.told = now
        left = (now - self.began) / len(tried) * (self.there - len(tried))
        noticed = score(tried)[0]
        line = f"statecraft mutation: {len(tried)} of {self.there} tried, {noticed} noticed, {left:.0f} s to go"
        if self.reporter.isatty:
            if len(tried) == 1:
                self.reporter.ensure_newline()
            self.reporter.rewrite(line, erase=True)
        else:
            self.reporter.ensure_newline()
            self.reporter.write_line(line)

    def end(self) -> None:
        if self.reporter is not None and self.reporter.isatty:
            self.reporter.rewrite("", erase=True)


def configure(config: pytest.Config, named: list[str], look_up: Callable[[], tuple[AnyTable, ...]]) -> None:
    """Register the session's part; UsageError where it cannot be done here."""
    if not hasattr(os, "fork"):
        raise pytest.UsageError(f"{OPTION} gives each mutant a process by fork, which this system does not have")
    config.pluginmanager.register(Mutating(config, named, look_up), "statecraft-mutating")
