"""`check --guards`: what the searches saw of guards and rows, for people and programs, and what is a mistake in it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Verb = Callable[..., tuple[int, str, str]]

GATES = """
from enum import Enum, auto

import attrs

from statecraft import Rows, Table, keep, ordered, seen, value_is
from statecraft.proofs import Search


class Gate(Enum):
    SHUT = auto()
    OPEN = auto()


@attrs.frozen
class Push:
    force: int
    by: str = "hand"


@attrs.frozen
class Run:
    at: Gate = Gate.SHUT


def strong(run, event):
    return seen("strong", event.force >= 5, force=event.force)


def heavy(run, event):
    return seen("heavy", event.force >= 9, force=event.force, by=event.by)


def never(run, event):
    return seen("never", False)


row = Rows[Run, Gate, object]()


def opens(*guards):
    return row(Gate.SHUT, Push, Gate.OPEN, keep, *guards)


def table(*entries):
    return Table(
        "gate",
        entries,
        events=[Push],
        initial=Gate.SHUT,
        final=[Gate.OPEN],
        at=lambda run: run.at,
        move=lambda run, at: attrs.evolve(run, at=at),
    )


def search(table, *forces):
    events = [Push(force) for force in forces]
    return Search(table, {"shut": Run()}, lambda run: events, lambda run: run.at)


ORDERED = ordered([Gate.SHUT], [Push], "as they are tried")
"""

GATE = """
GATE = table(opens(never), opens(strong), opens(heavy), row(Gate.SHUT, Push, Gate.SHUT, keep), ORDERED)
TABLES = [GATE]
"""

SEARCHED = "SEARCHES = [search(GATE, 4), search(GATE, 9)]\n"

TWO_FACED = """
asked = []


def found(run, event):
    asked.append(Gate.OPEN if len(asked) % 2 else Gate.SHUT)
    return asked[-1]


shut, wide = value_is("shut", "gate", found, Gate.SHUT), value_is("wide", "gate", found, Gate.OPEN)
GATE = table(opens(shut), opens(wide), row(Gate.SHUT, Push, Gate.SHUT, keep))
TABLES = [GATE]
SEARCHES = [search(GATE, 1)]
"""


@pytest.fixture
def gates(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Writes the module `gates_of_tests`, with more at its end."""
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])

    def write(more: str) -> None:
        sys.modules.pop("gates_of_tests", None)
        (here / "gates_of_tests.py").write_text(GATES + more)

    yield write
    sys.modules.pop("gates_of_tests", None)


def test_one_line_says_how_much_the_searches_of_a_table_saw(verb: Verb, gates: Callable[[str], None]) -> None:
    gates(GATE + SEARCHED)
    code, out, _ = verb("check", "gates_of_tests")
    assert code == 0
    assert (
        out.splitlines()[-1] == "gate: guards: 1 of 3 seen both ways; rows: 2 of 4 taken; 1 pair of rows held at once"
    )


def test_in_full_each_guard_and_row_is_named_and_rows_that_held_at_once_have_their_evidence(
    verb: Verb, gates: Callable[[str], None]
) -> None:
    gates(GATE + SEARCHED)
    code, out, _ = verb("check", "gates_of_tests", "--guards")
    lines = out.splitlines()
    assert code == 0
    assert lines[lines.index("guards and rows of gate, as the searches saw them:") + 1 :] == [
        "  gate: 2 of 4 rows taken (50.0 %), 1 of 3 guards seen every way (33.3 %)",
        "    never taken: row 0 SHUT Push [never] -> OPEN keep",
        "    never taken: row 2 SHUT Push [heavy] -> OPEN keep",
        "    never: never said yes, in row 0 SHUT Push [never] -> OPEN keep",
        "    heavy: never said yes, in row 2 SHUT Push [heavy] -> OPEN keep",
        "  gate, SHUT on Push, rows that held at once:",
        "    rows 1 and 2, first at Push(force=9)",
        "      1: strong: force=9",
        '      2: heavy: force=9, by="hand"',
        "  not seen to hold at once, by all that was searched: 2 of 3 pairs of rows",
    ]


def test_programs_read_the_counts_and_in_full_the_rest(verb: Verb, gates: Callable[[str], None]) -> None:
    gates(GATE + SEARCHED)
    (short,) = json.loads(verb("check", "gates_of_tests", "--json")[1])["guards"]
    assert short == {"table": "gate", "guards": [1, 3], "rows": [2, 4], "pairs": [1, 3], "overlaps": []}
    (full,) = json.loads(verb("check", "gates_of_tests", "--json", "--guards")[1])["guards"]
    assert short.items() <= full.items()
    assert full["machines"] == [
        {
            "name": "gate",
            "never_taken": [0, 2],
            "never_seen": [
                {"guard": "never", "rows": [0], "never": ["said yes"]},
                {"guard": "heavy", "rows": [2], "never": ["said yes"]},
            ],
        }
    ]
    (both,) = full["held_at_once"]
    assert (both["rows"], both["why"], both["at"]) == ([1, 2], "ordered", "Push(force=9)")
    assert both["evidence"][1] == [{"name": "heavy", "holds": True, "seen": {"force": 9, "by": "hand"}}]


@pytest.mark.parametrize("more", [(), ("--guards",)])
def test_rows_that_hold_at_once_though_they_are_apart_are_a_finding(
    verb: Verb, gates: Callable[[str], None], more: tuple[str, ...]
) -> None:
    gates(TWO_FACED)
    code, out, _ = verb("check", "gates_of_tests", *more)
    lines = out.splitlines()
    at = lines.index("  OVERLAP: gate, SHUT on Push: the table takes these rows to be apart")
    assert code == 1
    assert lines[at + 1 : at + 4] == [
        "    rows 0 and 1, first at Push(force=1)",
        "      0: shut: gate=1",
        "      1: wide: gate=2",
    ]
    assert lines.count(lines[at]) == 1
    gates(TWO_FACED)  # it answers by turns
    assert len(json.loads(verb("check", "gates_of_tests", "--json")[1])["guards"][0]["overlaps"]) == 1


def test_without_a_search_nothing_was_asked(verb: Verb, gates: Callable[[str], None]) -> None:
    for more, words in (("", ()), (SEARCHED, ("--states", "0"))):
        gates(GATE + more)
        code, out, _ = verb("check", "gates_of_tests", "--guards", *words)
        assert (code, out.splitlines()[-1]) == (0, "guards: nothing was searched, so nothing was asked")
        assert "seen both ways" not in out
        assert json.loads(verb("check", "gates_of_tests", "--json", *words)[1])["guards"] == []


def test_bounds_are_found_without_a_search(verb: Verb, gates: Callable[[str], None]) -> None:
    gates(GATE + SEARCHED)
    code, out, err = verb("check", "gates_of_tests", "--guards", "--bound")
    assert (code, out) == (2, "")
    assert "found --guards beside --bound, expected one of them" in err
