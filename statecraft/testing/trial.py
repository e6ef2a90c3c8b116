"""Whether the tests of a session notice a mutant: which of them are run, in which order, and which of them count.

Only tests in which the mutant could show are run: those that touch what it `shows` first, in the order in which it
names that, and of these the quickest. A failure counts only if the test passes again, alone, on the tables as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..proofs.mutants import Mutant, Touch
from .rerun import Test, Verdict, rerun
from .surviving import Tried


class Trial:
    """The tests of a session with what each touches, and what is known of them; `lines` is told of unsteady ones."""

    def __init__(self, tests: dict[Test, frozenset[Touch]], seconds: float, lines: list[str]) -> None:
        self._seconds, self._lines = seconds, lines
        self._touching: dict[Touch, list[Test]] = {}
        for test, touches in tests.items():
            for touch in touches:
                self._touching.setdefault(touch, []).append(test)
        self._passes_again: dict[Test, bool] = {}

    def of(self, mutant: Mutant) -> Tried:
        """Whether the tests notice the mutant."""
        while True:
            tests = [test for test in self._telling(mutant) if self._passes_again.get(test, True)]
            within = list(_within(tests, self._seconds))
            verdict = rerun(within, mutant, self._seconds) if within else Verdict("passed", None, 0)
            if verdict.test is None or self._counts(within[verdict.test]):
                break
        at = None if verdict.test is None else within[verdict.test].item.nodeid
        should = self._most_specific(tests) or self._most_specific(self._taking(mutant))
        return Tried(mutant, verdict.how, at, len(tests) - verdict.run, should)

    def _telling(self, mutant: Mutant) -> list[Test]:
        found: dict[Test, None] = {}
        for touch in mutant.shows:
            tests = self._touching.get(touch, [])
            found.update(dict.fromkeys(sorted(tests, key=lambda test: (round(test.seconds, 2), test.breadth))))
        return list(found)

    def _taking(self, mutant: Mutant) -> Iterator[Test]:
        for row in mutant.rows:
            yield from self._touching.get(("taken", mutant.table, row), ())

    def _most_specific(self, tests: Iterable[Test]) -> str | None:
        first = min(tests, key=lambda test: (test.breadth, test.seconds), default=None)
        return None if first is None else first.item.nodeid

    def _counts(self, test: Test) -> bool:
        if test not in self._passes_again:
            self._passes_again[test] = rerun([test], None, self._seconds).how == "passed"
            if not self._passes_again[test]:
                self._lines.append(
                    f"left out, since it does not pass again on the tables as they are: {test.item.nodeid}"
                )
        return self._passes_again[test]


def _within(tests: Iterable[Test], seconds: float) -> Iterator[Test]:
    """Those of the tests, in their order, that together usually take no longer."""
    for test in tests:
        if test.seconds <= seconds:
            seconds -= test.seconds
            yield test
