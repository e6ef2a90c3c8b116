"""What counts as covered: rows, guards both ways, readings at each limit, inner rows through the outer table alone."""

from __future__ import annotations

from typing import Any

from statecraft import Evidence, Level, Reading, Table, guard, ignore, keep, reaches, seen
from statecraft.testing import Coverage, Tally, covered, report, wanted
from statecraft.testing.reporting import percent, shown

from .halls import CLOSER, Closer, Door, Hall, Push, Stock, Wind, inside, row, strong
from .halls import hall as of_rows


@guard
def soft(run: object, event: Push) -> Evidence:
    return seen("soft", event.soft)


def tired(run: Hall, event: Push) -> Reading:
    return Reading("tired", event.force, nudge=3, stop=5, most=9)


INSIDE = inside(CLOSER)


def hall(*rows: Any, inners: Any = ()) -> Table[Hall, Door, Push | Wind, Any]:
    """The rows, which are row 0 and on and leave SHUT on `Push`, in a table that ignores the wind."""
    quiet = ignore([Door.SHUT], [Wind], "nobody feels it")
    return of_rows(*rows, quiet, inners=inners, final=[Door.OPEN, Door.GONE])


def push(*guards: Any, **more: Any) -> Any:
    return row(Door.SHUT, Push, Door.OPEN, keep, *guards, **more)


def after(table: Table[Hall, Door, Push | Wind, Any], *events: Push | Wind, run: Hall | None = None) -> Coverage:
    """What single steps from one run cover."""
    return covered(table, [(event, table.step(run or Hall(), event)) for event in events])


def missing(coverage: Coverage, machine: int = 0) -> dict[str, list[str]]:
    return {one.name: [way.text for way in ways] for one, ways in coverage.machines[machine].never_seen}


def test_a_row_is_covered_when_a_step_took_it() -> None:
    table = hall(push(strong), push())
    assert after(table).machines[0].never_taken == (0, 1)
    assert after(table, Push(5)).machines[0].never_taken == (1,)
    assert after(table, Push(4)).machines[0].never_taken == (0,)
    assert after(table, Push(5), Push(4)).machines[0].never_taken == ()


def test_a_guard_is_covered_when_it_was_seen_both_ways() -> None:
    table = hall(push(strong), push())
    assert missing(after(table)) == {"strong": ["said yes", "said no"]}
    assert missing(after(table, Push(5))) == {"strong": ["said no"]}
    assert missing(after(table, Push(4))) == {"strong": ["said yes"]}
    assert missing(after(table, Push(5), Push(4))) == {}


def test_a_guard_that_makes_a_refusal_is_seen_not_holding() -> None:
    assert missing(after(hall(push(strong)), Push(4))) == {"strong": ["said yes"]}


def test_what_is_ignored_or_unknown_covers_nothing() -> None:
    coverage = after(hall(push(strong)), Wind())
    assert (coverage.rows, coverage.guards) == ((0, 1), (0, 1))


def test_every_part_of_a_combination_and_the_combination_are_guards() -> None:
    table = hall(push(soft & ~guard(strong)), push())
    names = [one.name for one in wanted(table)]
    assert names == ["soft", "strong", "(soft & ~strong)"]
    assert missing(after(table, Push(5, soft=True), Push(5))) == {
        "strong": ["said no"],
        "(soft & ~strong)": ["said yes"],
    }


def test_a_reading_is_covered_at_each_limit_that_rows_tell_apart() -> None:
    nudge, stop = reaches(tired, Level.NUDGE), reaches(tired, Level.STOP)
    assert missing(after(hall(push(stop), push(nudge), push()))) == {"tired": ["at rest", "at nudge", "at stop"]}
    assert missing(after(hall(push(stop), push()))) == {"tired": ["at rest or nudge", "at stop"]}
    assert missing(after(hall(push(nudge), push()))) == {"tired": ["at rest", "at nudge or stop"]}


def test_a_reading_counts_where_it_stands() -> None:
    table = hall(push(reaches(tired, Level.STOP)), push(reaches(tired, Level.NUDGE)), push())
    for force, way in ((2, "at rest"), (3, "at nudge"), (4, "at nudge"), (5, "at stop")):
        assert missing(after(table, Push(force))) == {
            "tired": [one for one in ("at rest", "at nudge", "at stop") if one != way]
        }
    assert after(table, Push(2), Push(3), Push(5)).whole


def test_a_budget_is_covered_when_it_was_seen_to_run_out() -> None:
    table = hall(push(spends=Stock.OIL), push())
    assert missing(after(table, Push())) == {"oil_left": ["said no"]}
    assert missing(after(table, Push(), run=Hall(left={Stock.OIL: 0}))) == {"oil_left": ["said yes"]}


def test_inner_rows_count_in_a_step_that_came_through_the_outer_table() -> None:
    table = hall(push(), inners=[INSIDE])
    coverage = after(table, Push(5))
    assert [one.name for one in coverage.machines] == ["hall", "hall > closer"]
    assert coverage.machines[1].never_taken == (1,)
    assert after(table, Push(5), Push(4)).whole


def test_inner_rows_do_not_count_when_the_inner_table_is_stepped_alone() -> None:
    table, tally = hall(push(), inners=[INSIDE]), Tally()
    for event in (Push(5), Push(4)):
        tally.hear(CLOSER, event, CLOSER.step(Closer(), event))
    every: list[list[Table[Any, Any, Any, Any]]] = [[table], [table, CLOSER], [CLOSER, table]]
    for tables in every:
        coverage = tally.coverage(tables)
        assert [one.name for one in coverage.machines] == ["hall", "hall > closer"]
        assert coverage.machines[1].never_taken == (0, 1)
        assert missing(coverage, 1) == {"strong": ["said yes", "said no"]}
    assert tally.coverage([CLOSER]).whole


def test_inner_rows_do_not_count_when_the_outer_table_refuses() -> None:
    table = hall(push(soft), inners=[INSIDE])
    refused = after(table, Push(5))
    assert refused.machines[1].never_taken == (0, 1)
    assert missing(refused, 1) == {"strong": ["said no"]}
    assert after(table, Push(5, soft=True)).machines[1].never_taken == (1,)


def test_the_inner_machine_that_a_row_spends_is_a_question() -> None:
    table = hall(push(spends=INSIDE), push(), inners=[INSIDE])
    assert missing(after(table, Push(4))) == {"closer_goes_on": ["said no"]}
    assert missing(after(table, Push(4), Push(5))) == {}


def test_an_inner_machine_that_two_tables_hold_is_counted_within_each() -> None:
    one, other = hall(push(), inners=[INSIDE]), hall(push(soft), push(), inners=[INSIDE])
    tally = Tally()
    for event in (Push(5), Push(4)):
        tally.hear(one, event, one.step(Hall(), event))
    assert [machine.rows for machine in tally.coverage([one, other]).machines] == [(1, 1), (2, 2), (0, 2), (0, 2)]


def test_counts_are_summed_over_the_machines() -> None:
    coverage = after(hall(push(soft), push(), inners=[INSIDE]), Push(5))
    assert (coverage.rows, coverage.guards) == ((2, 4), (0, 2))


def test_the_tables_that_were_stepped_themselves_are_known() -> None:
    table, tally = hall(push(), inners=[INSIDE]), Tally()
    tally.hear(table, Push(), table.step(Hall(), Push()))
    assert tally.stepped == (table,)


def test_the_report_names_each_row_and_each_guard_with_the_text_of_its_row() -> None:
    table = hall(push(strong, soft), push(soft), push(), inners=[INSIDE])
    assert list(report(after(table, Push(5, soft=True)))) == [
        "hall: 1 of 3 rows taken (33.3 %), 0 of 2 guards seen every way (0.0 %)",
        "  never taken: row 1 SHUT Push [soft] -> OPEN keep",
        "  never taken: row 2 SHUT Push -> OPEN keep",
        "  strong: never said no, in row 0 SHUT Push [strong, soft] -> OPEN keep",
        "  soft: never said no, in row 0 SHUT Push [strong, soft] -> OPEN keep (and row 1)",
        "hall > closer: 1 of 2 rows taken (50.0 %), 0 of 1 guards seen every way (0.0 %)",
        "  never taken: row 1 SLACK Push -> SLACK keep",
        "  strong: never said no, in row 0 SLACK Push [strong] -> WORN keep",
        "all: 2 of 5 rows taken (40.0 %), 0 of 3 guards seen every way (0.0 %)",
    ]


def test_the_report_of_a_whole_machine_has_one_line() -> None:
    table = hall(push(strong), push())
    assert list(report(after(table, Push(5), Push(4)))) == [
        "hall: 2 of 2 rows taken (100.0 %), 1 of 1 guards seen every way (100.0 %)"
    ]


def test_the_report_of_nothing_says_so() -> None:
    assert list(report(Tally().coverage([]))) == ["no table was stepped"]


def test_almost_all_is_not_shown_as_all() -> None:
    assert (shown((1999, 2000)), shown((2000, 2000)), shown((1, 2000)), shown((2, 3))) == (
        "99.9 %",
        "100.0 %",
        "0.0 %",
        "66.6 %",
    )
    assert percent((1999, 2000)) == 99.95


def test_nothing_of_nothing_is_all() -> None:
    assert percent((0, 0)) == 100
