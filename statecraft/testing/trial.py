"""Whether the tests of a session notice a mutant: which of them are run, in which order, and which of them count.

Only tests in which the mutant could show are run: those that touch what it `shows` first, in the order in which it
names that, and of these the quickest. The first is run however long it takes, so that no mutant is called unnoticed by
a test that never met it. A failure counts only if the test passes again, alone, on the tables as they are.
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
        telling = self._telling(mutant)
        while True:
            tests = [test for test in telling if self._passes_again.get(test, True)]
            within = list(_within(tests, self._seconds))
            verdict = rerun(within, mutant, self._seconds) if within else Verdict("passed", None, 0)
            if verdict.test is None or self._counts(within[verdict.test]):
                break
        ran = within[: verdict.run]
        return Tried(
            mutant,
            verdict.how,
            test=None if verdict.test is None else within[verdict.test].item.nodeid,
            met=_most_specific(ran),
            left=tuple(test for test in tests if test not in ran),
            takes=_most_specific(self._taking(mutant)),
            counts=bool(ran) or not telling,
        )

    def _telling(self, mutant: Mutant) -> list[Test]:
        found: dict[Test, None] = {}
        for touch in mutant.shows:
            tests = self._touching.get(touch, [])
            found.update(dict.fromkeys(sorted(tests, key=lambda test: (round(test.seconds, 2), test.breadth))))
        return list(found)

    def _taking(self, mutant: Mutant) -> Iterator[Test]:
        for row in mutant.rows:
            yield from self._touching.get(("taken", mutant.table, row), ())

    def _counts(self, test: Test) -> bool:
        if test not in self._passes_again:
            self._passes_again[test] = rerun([test], None, self._seconds).how == "passed"
            if not self._passes_again[test]:
                self._lines.append(
                    f"left out, since it does not pass again on the tables as they are: {test.item.nodeid}"
                )
        return self._passes_again[test]


def _most_specific(tests: Iterable[Test]) -> str | None:
    first = min(tests, key=lambda test: (test.breadth, test.seconds), default=None)
    return None if first is None else first.item.nodeid


def _within(tests: Iterable[Test], seconds: float) -> Iterator[Test]:
    """The first of the tests, and those after it, in their order, that together usually take no longer."""
    for number, test in enumerate(tests):
        if number == 0 or test.seconds <= seconds:
            seconds -= test.seconds
            yield test
