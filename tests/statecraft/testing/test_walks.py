"""Random walks: what each of them must notice, what is shown of it, and rows that no walk comes to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from statecraft import Evidence, Step, Table, ignore, keep, seen
from statecraft.proofs import Law, Taken
from statecraft.testing import Broken, Unwalked, events, likely, machine_of, walk
from statecraft.testing.holding import Flaw, first_flaw
from statecraft.testing.shortest import without_needless

from .halls import CLOSER, Door, Hall, Push, Stock, Wind, at, hall, inside, move, pay, purse, row, strong


def brittle(run: object, event: Push) -> Evidence:
    return seen("brittle", 10 // (7 - event.force) > 99)


def scribble(run: Hall, event: Push) -> tuple[Hall, tuple[()]]:
    run.notes.append(event.force)
    return run, ()


QUIET = ignore([Door.SHUT, Door.OPEN], [Wind], "nobody feels it")


def door(*rows: Any, inners: Any = ()) -> Table[Hall, Door, Push | Wind, Any]:
    return hall(*rows, QUIET, inners=inners)


OPENS = row(Door.SHUT, Push, Door.OPEN, keep, strong, spends=Stock.OIL)
CREAKS = row(Door.SHUT, Push, Door.SHUT, keep)
SHUTS = row(Door.OPEN, Push, Door.SHUT, keep)
BREAKS = row(Door.OPEN, Push, Door.GONE, keep, strong)
HALL = door(OPENS, CREAKS, BREAKS, SHUTS)
FORCE = {"force": st.integers(0, 9)}
FEW = settings(max_examples=10, stateful_step_count=20, deadline=None, database=None, derandomize=True)


def is_open(step: Taken[Hall, Push | Wind], _: object) -> str:
    return "it is open" if step.after.at is Door.OPEN else ""


def oil_is_gone(step: Taken[Hall, Push | Wind], _: object) -> str:
    return "much of the oil is gone" if step.after.left[Stock.OIL] == 3 else ""


def counted(pushes: int, step: Taken[Hall, Push | Wind]) -> int:
    return pushes + 1


def third(step: Taken[Hall, Push | Wind], pushes: int) -> str:
    return "pushed three times" if pushes == 2 else ""


NEVER_OPEN = Law[Taken[Hall, Push | Wind]]("it stays shut", "for this test", is_open)
SOME_OIL = Law[Taken[Hall, Push | Wind]]("some oil is left", "for this test", oil_is_gone)
TWICE = Law[Taken[Hall, Push | Wind]]("it is pushed twice at most", "for this test", third, 0, counted)


def played(text: str) -> Callable[[], None]:
    """The test in what is shown of a broken walk."""
    known: dict[str, Any] = {}
    exec(text.partition("As a test:")[2], known)
    found: Callable[[], None] = known["test_walk"]
    return found


def test_every_row_is_walked_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    found = walk(HALL, Hall(), FORCE, steps=20, examples=20)
    assert found.coverage.rows == (4, 4)
    assert 0 < found.walks <= 40
    assert found.steps <= 20 * found.walks
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"hall: 4 of 4 rows in {found.walks} walks of {found.steps} steps and {found.runs} runs in all"
    assert lines[1].endswith("0 SHUT Push [strong] -> OPEN keep -oil")
    assert int(lines[1].split()[0]) > 0


def test_the_runs_that_a_walk_begins_are_counted() -> None:
    strongly: st.SearchStrategy[Push | Wind] = st.just(Push(9))
    excused = dict.fromkeys([1, 3], "nobody is weak")
    found = walk(HALL, Hall(), strongly, steps=6, examples=5, unsampled=excused)
    assert found.walks < found.runs <= found.steps, "two pushes end a run"
    assert sum(one.times["SHUT", 0] for one in found.coverage.machines) == found.runs
    found = walk(HALL, Hall(), WEAK, steps=5, examples=5, unsampled=NO_FORCE)  # no run ends
    assert 0 < found.runs <= found.walks


def test_the_same_seed_walks_the_same_way() -> None:
    def counts(seed: int | None) -> Any:
        return [one.times for one in walk(HALL, Hall(), FORCE, steps=20, examples=15, seed=seed).coverage.machines]

    assert counts(3) == counts(3)
    assert counts(3) != counts(4)
    assert counts(None) != counts(None)


def test_a_row_that_was_never_walked_fails_and_is_shown_in_full() -> None:
    with pytest.raises(Unwalked) as found:
        walk(HALL, Hall(), {"force": st.integers(0, 4)}, steps=5, examples=5)
    assert str(found.value).split("\n") == [
        "hall: never walked: row 0 SHUT Push [strong] -> OPEN keep -oil",
        "hall: never walked: row 2 OPEN Push [strong] -> GONE keep",
        "hall: never walked: row 3 OPEN Push -> SHUT keep",
    ]


WEAK = {"force": st.integers(0, 4)}
NO_FORCE: Mapping[Any, str] = dict.fromkeys([0, 2, 3], "nobody here is strong")


def test_an_excuse_with_a_reason_lets_a_row_pass() -> None:
    assert walk(HALL, Hall(), WEAK, steps=5, examples=5, unsampled=NO_FORCE).coverage.rows == (1, 4)


def test_an_excuse_that_is_not_needed_fails() -> None:
    said = r"hall: walked, though excused \(nobody pushes\): row 1 SHUT Push -> SHUT keep"
    with pytest.raises(Unwalked, match=said):
        walk(HALL, Hall(), WEAK, steps=5, examples=5, unsampled={**NO_FORCE, 1: "nobody pushes"})


@pytest.mark.parametrize(
    ("excuses", "said"),
    [
        ({4: "why"}, "unsampled: hall has no row 4, only 0 to 3"),
        ({-1: "why"}, "unsampled: hall has no row -1"),
        ({("closer", 0): "why"}, "unsampled: there is no machine closer, only hall"),
        ({0: " "}, "unsampled: hall row 0: expected a reason"),
    ],
)
def test_an_excuse_that_excuses_nothing_is_refused(excuses: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        walk(HALL, Hall(), FORCE, unsampled=excuses)


def test_the_rows_of_an_inner_machine_are_to_be_walked_too() -> None:
    table = door(CREAKS, SHUTS, inners=[inside(CLOSER)])
    starts = st.sampled_from([Hall(), Hall(Door.OPEN)])
    with pytest.raises(Unwalked, match=r"^hall > closer: never walked: row 0 SLACK Push .strong. -> WORN keep$"):
        walk(table, starts, WEAK, steps=5, examples=10)
    walk(table, starts, WEAK, steps=5, examples=10, unsampled={("closer", 0): "nobody here is strong"})
    assert walk(table, starts, FORCE, steps=5, examples=10).coverage.rows == (4, 4)


@pytest.mark.parametrize(
    ("law", "problem", "steps"),
    [
        (NEVER_OPEN, "it is open", 1),
        (SOME_OIL, "much of the oil is gone", 3),
        (TWICE, "pushed three times", 3),
    ],
)
def test_a_law_that_does_not_hold_is_shown_with_the_shortest_walk_as_a_test(
    law: Law[Taken[Hall, Push | Wind]], problem: str, steps: int
) -> None:
    with pytest.raises(Broken) as found:
        walk(HALL, Hall(), FORCE, laws=[law], steps=20, examples=40)
    shown = str(found.value)
    assert shown.startswith(f"{law.name}: {problem}")
    assert " strong: force=" in shown
    assert shown.count("step_one(") == steps
    with pytest.raises(AssertionError):
        played(shown)()


def led(step: Taken[Hall, Push | Wind], _: object) -> str:
    return "elsewhere" if isinstance(step.answer, Step) and step.after.at is not step.answer.target else ""


def test_a_law_that_holds_breaks_nothing() -> None:
    walk(HALL, Hall(), FORCE, laws=[Law("the run is where the row led", "for this test", led)], steps=20, examples=20)


def test_a_fault_is_shown_with_the_walk_to_it_which_fails_until_it_is_mended() -> None:
    table = door(row(Door.SHUT, Push, Door.OPEN, keep, brittle), CREAKS, SHUTS)
    with pytest.raises(Broken, match="hall is at fault: hall row 0: brittle raised ZeroDivisionError") as found:
        walk(table, Hall(), FORCE, steps=20, examples=40)
    assert "Put in by hand where ... stands, the table hall" in str(found.value)
    assert "run, Push(force=7))" in str(found.value)


def test_an_effect_that_changes_the_given_run_is_noticed() -> None:
    table = door(row(Door.SHUT, Push, Door.SHUT, scribble), SHUTS)
    with pytest.raises(Broken, match="hall: the given run was changed"):
        walk(table, st.builds(Hall), FORCE, steps=5, examples=10)


@pytest.mark.parametrize(("oil", "broken"), [(-1, True), (0, False), (5, False), (6, True), (None, False)])
def test_a_purse_above_full_or_below_nothing_is_noticed(oil: int | None, broken: bool) -> None:
    def walked() -> None:
        walk(
            door(CREAKS, SHUTS), Hall(left={Stock.OIL: oil}), WEAK, steps=5, examples=5, unsampled={1: "it stays shut"}
        )

    if not broken:
        walked()
        return
    with pytest.raises(Broken, match=f"hall: the purse holds {oil} of oil, expected 0 to 5"):
        walked()


class Stubborn(Table[Hall, Door, Push | Wind, Any]):
    """A table that goes on after its end, as none does that is made in the usual way."""

    def step(self, run: Hall, event: Push | Wind) -> Any:
        return super().step(attrs.evolve(run, at=Door.OPEN) if run.at is Door.GONE else run, event)


def test_a_final_state_that_does_not_refuse_is_noticed() -> None:
    table = Stubborn(
        "hall",
        [OPENS, CREAKS, BREAKS, SHUTS, QUIET],
        events=[Push, Wind],
        initial=Door.SHUT,
        final=[Door.GONE],
        at=at,
        move=move,
        budgets={Stock.OIL: 5},
        purse=purse,
        pay=pay,
    )
    with pytest.raises(Broken, match="hall: GONE is final, but does not refuse"):
        walk(table, Hall(), FORCE, steps=20, examples=40)


def test_events_may_depend_on_the_run() -> None:
    def sends(run: Hall) -> st.SearchStrategy[Push | Wind]:
        return st.just(Push(9)) if run.at is Door.SHUT else st.just(Push(0))

    found = walk(HALL, Hall(), sends, steps=20, examples=5, unsampled={2: "an open door is pushed gently"})
    assert found.coverage.rows == (3, 4)


def test_events_may_be_a_strategy() -> None:
    sends: st.SearchStrategy[Push | Wind] = st.just(Push(0))
    assert walk(HALL, Hall(), sends, steps=5, examples=5, unsampled=NO_FORCE).coverage.rows == (1, 4)


def kinds(sends: Callable[[Hall], st.SearchStrategy[Any]]) -> float:
    """Which share of events is a push."""
    drawn: list[bool] = []

    def hear(event: object, answer: object) -> None:
        drawn.append(isinstance(event, Push))

    run_state_machine_as_test(machine_of(HALL, Hall(), sends, hear=hear), settings=FEW)
    return sum(drawn) / len(drawn)


def test_likely_events_are_those_with_a_row_unless_they_are_rare() -> None:
    anything = kinds(lambda run: events(HALL))
    assert anything < kinds(likely(HALL, rare=[Push])) < kinds(likely(HALL))


def test_what_is_broken_is_a_test_of_unittest_too() -> None:
    with pytest.raises(Broken, match="it stays shut: it is open"):
        machine_of(HALL, Hall(), FORCE, [NEVER_OPEN]).TestCase().runTest()


def test_without_hypothesis_the_names_say_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    import statecraft.testing

    for name in [name for name in sys.modules if name.startswith("statecraft.testing.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    for name in ("walk", "machine_of", "events"):
        with pytest.raises(ModuleNotFoundError, match=f"statecraft.testing.{name} needs hypothesis: install it"):
            getattr(statecraft.testing, name)
    assert statecraft.testing.step_one.__name__ == "step_one"


def opened_and_shut(count: int, step: Taken[Hall, Push | Wind]) -> int:
    return count + (isinstance(step.answer, Step) and step.answer.row == 3)


def thrice(step: Taken[Hall, Push | Wind], shut: int) -> str:
    return f"shut {shut + 1} times" if opened_and_shut(shut, step) == 3 else ""


SELDOM = Law[Taken[Hall, Push | Wind]]("it is shut twice at most", "for this test", thrice, 0, opened_and_shut)


def test_no_event_is_left_without_which_the_law_breaks_too() -> None:
    unshrunk = settings(FEW, phases=[Phase.generate], stateful_step_count=40, max_examples=60)
    with pytest.raises(Broken) as found:
        run_state_machine_as_test(machine_of(HALL, Hall(), FORCE, [SELDOM]), settings=unshrunk)
    shown = str(found.value)
    assert shown.startswith("it is shut twice at most: shut 3 times")
    assert shown.count("step_one(") == 6, "opened and shut three times, and nothing else"
    assert "Wind" not in shown
    with pytest.raises(AssertionError):
        played(shown)()


def flaw_of(events: list[Push | Wind], law: Law[Any]) -> Flaw:
    found = first_flaw(HALL, Hall(), events, [law])
    assert found is not None
    return found[1]


@settings(max_examples=60)
@given(st.lists(st.builds(Push, st.integers(0, 9)) | st.builds(Wind), max_size=30))
def test_what_remains_breaks_the_same_law_and_less_of_it_does_not(drawn: list[Push | Wind]) -> None:
    events = [*drawn, Push(9), Push(9)]
    found = first_flaw(HALL, Hall(), [Push(9), *events], [SOME_OIL])
    if found is None:
        return
    left, flaw = without_needless(HALL, Hall(), *found)
    assert flaw.law is SOME_OIL
    again = first_flaw(HALL, Hall(), left, [SOME_OIL])
    assert again is not None
    assert again[0] == left
    for place in range(len(left)):
        assert first_flaw(HALL, Hall(), left[:place] + left[place + 1 :], [SOME_OIL]) is None


def test_what_does_not_fail_again_is_left_as_it_is() -> None:
    flaw = flaw_of([Push(9)], NEVER_OPEN)
    weak = (Wind(), Push(1))
    assert without_needless(HALL, Hall(), weak, flaw) == (weak, flaw)


def test_no_event_is_left_out_where_a_function_says_what_a_run_can_meet() -> None:
    def sends(run: Hall) -> st.SearchStrategy[Push | Wind]:
        return st.just(Push(9)) if run.notes else st.just(Wind())

    def note(run: Hall, event: Wind) -> tuple[Hall, tuple[()]]:
        return attrs.evolve(run, notes=[1]), ()

    noted = row(Door.SHUT, Wind, Door.SHUT, note)
    table = hall(OPENS, CREAKS, BREAKS, SHUTS, noted, ignore([Door.OPEN], [Wind], "nobody feels it"))
    with pytest.raises(Broken) as found:
        walk(table, Hall(), sends, laws=[NEVER_OPEN], steps=10, examples=10)
    assert str(found.value).count("step_one(") == 2, "no push may come before the wind"
    with pytest.raises(Broken) as found:
        walk(table, Hall(), FORCE, laws=[NEVER_OPEN], steps=10, examples=10)
    assert str(found.value).count("step_one(") == 1
