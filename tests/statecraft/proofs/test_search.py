"""A search finds every run that the moves lead to, once, and a shortest way to whatever breaks a law."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import count
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import Evidence, Refused, Rows, Step, Table, guard, refuse, seen
from statecraft.proofs import NO_FAULT, CannotAsk, Explored, Law, Progress, Search, Taken, explore


class Bank(Enum):
    """Where the farmer stands."""

    NEAR = "near"
    FAR = "far"
    HOME = "home"


@attrs.frozen
class Farm:
    """The old riddle: a wolf, a goat and a cabbage are rowed across, one at a time."""

    at: Bank = Bank.NEAR
    across: frozenset[str] = frozenset()


@attrs.frozen
class Row:
    """The farmer rows across, with one of the three or alone."""

    takes: str | None


@attrs.frozen
class Sleep:
    """The farmer goes to bed."""


ALL = frozenset({"wolf", "goat", "cabbage"})
EATEN = ({"wolf", "goat"}, {"goat", "cabbage"})


@guard
def aboard(run: Farm, event: Row) -> Evidence:
    here = run.across if run.at is Bank.FAR else ALL - run.across
    return seen("aboard", event.takes is None or event.takes in here, takes=event.takes)


@guard
def nothing_is_eaten(run: Farm, event: Row) -> Evidence:
    left = (run.across if run.at is Bank.FAR else ALL - run.across) - {event.takes}
    return seen("nothing_is_eaten", not any(pair <= left for pair in EATEN), left=",".join(sorted(left)))


def crossed(run: Farm, event: Row) -> tuple[Farm, tuple[()]]:
    taken = frozenset(() if event.takes is None else (event.takes,))
    return attrs.evolve(run, across=run.across ^ taken), ()


def asleep(run: Farm, event: Sleep) -> tuple[Farm, tuple[()]]:
    if len(run.across) == 2:
        raise RuntimeError("a nightmare")
    return run, ()


row = Rows[Farm, Bank, object]()
FARM = Table[Farm, Bank, Row | Sleep, object](
    "farm",
    [
        row(Bank.NEAR, Row, Bank.FAR, crossed, aboard, nothing_is_eaten),
        row(Bank.FAR, Row, Bank.NEAR, crossed, aboard, nothing_is_eaten),
        row(Bank.FAR, Sleep, Bank.HOME, asleep),
        refuse([Bank.NEAR], [Sleep], "the bed is on the other side"),
    ],
    events=[Row, Sleep],
    initial=Bank.NEAR,
    final=[Bank.HOME],
    at=lambda run: run.at,
    move=lambda run, state: attrs.evolve(run, at=state),
)


def rowing(run: Farm) -> Iterator[Row | Sleep]:
    yield from (Row(takes) for takes in (None, "wolf", "goat", "cabbage"))


def sleeping(run: Farm) -> Iterator[Row | Sleep]:
    yield from rowing(run)
    yield Sleep()


def fine(step: Taken[Farm, Row | Sleep], _: object) -> str:
    return ""


def solved(step: Taken[Farm, Row | Sleep], _: object) -> str:
    return "all are across" if step.after.across == ALL else ""


UNSOLVED: Law[Taken[Farm, Row | Sleep]] = Law("the riddle has no answer", "it is said to be hard", solved)
PLAIN = Search(FARM, {"near": Farm()}, rowing, lambda run: run)
RIDDLE = attrs.evolve(PLAIN, laws=(UNSOLVED,))


def test_every_run_that_the_moves_lead_to_is_found_once() -> None:
    found = explore(PLAIN, "near")
    assert found.closed
    assert found.ok
    assert found.states == 10  # of the 16 ways to stand, as it is told since the ninth century
    assert found.steps == 10 * 4


def test_the_way_to_what_breaks_a_law_is_a_shortest_one_and_can_be_played_again() -> None:
    (broken,) = explore(RIDDLE, "near").broken
    assert broken.law is UNSOLVED
    assert broken.problem == "all are across"
    assert len(broken.way.events) == len(broken.way.steps) == 7
    run = broken.way.run
    for event, step in zip(broken.way.events, broken.way.steps, strict=True):
        assert step.before == run
        answer = FARM.step(run, event)
        assert isinstance(answer, Step)
        run = answer.run
    assert run.across == ALL


@pytest.mark.parametrize(("states", "closed"), [(10, False), (11, True)])
def test_a_search_is_closed_only_when_nothing_was_left_to_look_at(states: int, closed: bool) -> None:
    # The tenth run is found before it was looked at, so ten are not enough to know that there is no eleventh.
    assert explore(PLAIN, "near", states=states).closed is closed


def test_a_search_that_is_cut_short_has_seen_every_way_of_its_depth() -> None:
    found = explore(RIDDLE, "near", states=9)
    assert not found.closed
    assert found.depth == 5
    assert found.ok, "it takes seven"


def test_a_fault_is_a_broken_law_of_every_machine_and_ends_nothing() -> None:
    found = explore(attrs.evolve(PLAIN, moves=sleeping), "near")
    (broken,) = found.broken
    assert broken.law is NO_FAULT
    assert "a nightmare" in broken.problem
    assert len(broken.way.events) == 4
    assert found.closed


def test_refusals_are_steps_for_the_laws_and_lead_nowhere() -> None:
    def never_refused(step: Taken[Farm, Row | Sleep], _: object) -> str:
        return "refused" if isinstance(step.answer, Refused) and step.answer.why else ""

    law = Law[Taken[Farm, Row | Sleep]]("nothing is refused", "so that this test has something", never_refused)
    found = explore(attrs.evolve(PLAIN, moves=sleeping, laws=(law,)), "near")
    problem = next(broken for broken in found.broken if broken.law is law)
    assert [type(event) for event in problem.way.events] == [Sleep]


def test_what_a_law_remembers_parts_runs_that_are_the_same_without_it() -> None:
    def counted(crossings: int, step: Taken[Farm, Row | Sleep]) -> int:
        return (crossings + isinstance(step.answer, Step)) % 3

    law = Law[Taken[Farm, Row | Sleep]]("counts by three", "a memory of three values", fine, 0, counted)
    assert explore(attrs.evolve(PLAIN, laws=(law,)), "near").states == 3 * 10


def test_a_law_is_given_what_it_remembers_of_the_steps_before() -> None:
    def longer(taken: tuple[str, ...], step: Taken[Farm, Row | Sleep]) -> tuple[str, ...]:
        return (*taken, str(step.event))[-2:]

    def twice(step: Taken[Farm, Row | Sleep], taken: tuple[str, ...]) -> str:
        return "the same twice" if isinstance(step.answer, Step) and taken[-1:] == (str(step.event),) else ""

    law = Law[Taken[Farm, Row | Sleep]]("nothing is rowed back", "the goat is tired", twice, (), longer)
    (broken,) = explore(attrs.evolve(PLAIN, laws=(law,)), "near").broken
    assert broken.way.events == (Row("goat"), Row("goat"))


def test_runs_of_one_key_are_walked_once() -> None:
    def place(run: Farm) -> Bank:
        return run.at

    by_place = attrs.evolve(PLAIN, key=place)
    assert explore(by_place, "near").states == 2


def test_the_first_way_to_each_row_is_kept() -> None:
    found = explore(attrs.evolve(PLAIN, moves=sleeping), "near")
    ways = {row: len(way.events) for (_, row), way in found.rows.items()}
    assert ways == {0: 1, 1: 2, 2: 2}


def test_the_same_search_sees_the_same_again() -> None:
    def plain(found: Explored) -> Explored:
        return attrs.evolve(found, seconds=0.0)

    assert plain(explore(RIDDLE, "near")) == plain(explore(RIDDLE, "near"))


def test_progress_is_told_as_states_are_found() -> None:
    ticks = count()
    heard: list[Progress] = []
    numbers = attrs.evolve(PLAIN, starts={"n": Farm()}, key=_distinct())
    explore(numbers, "n", states=4_500, tell=heard.append, clock=lambda: float(next(ticks)))
    assert len(heard) == 2
    assert heard[0].states >= 2_000
    assert heard[1].states >= 4_000
    assert heard[0].seconds > 0
    assert heard[0].start == "n"


def test_what_leads_to_a_new_run_is_watched() -> None:
    seen: list[Taken[Farm, Row | Sleep]] = []
    found = explore(PLAIN, "near", watch=seen.append)
    assert len(seen) == found.states - 1, "each run but the first was come to once"


def _distinct() -> Callable[[Farm], int]:
    numbers = count()
    return lambda run: next(numbers)


@given(st.dictionaries(st.integers(0, 8), st.lists(st.integers(0, 8), max_size=4), min_size=1))
def test_all_that_can_be_reached_is_found_as_by_another_walk(ways: dict[int, list[int]]) -> None:
    def onward(run: int) -> list[int]:
        return ways.get(run, [])

    found = explore(Search(FARM, {"a": 0}, onward, hash, play=_jump), "a", states=1_000)
    reached, todo = {0}, deque([0])
    while todo:
        for other in ways.get(todo.popleft(), []):
            if other not in reached:
                reached.add(other)
                todo.append(other)
    assert found.closed
    assert found.states == len(reached)


def _jump(run: int, event: int) -> tuple[Taken[int, int], ...]:
    answer = Refused(run, (), (), "farm", Bank.NEAR, "Row")
    return (Taken(run, event, answer, event),)


def test_numbers_that_hash_alike_are_told_apart() -> None:
    """-1 and -2 have one hash in Python: a search that kept no more of a key would take them for one run."""

    def below(step: Taken[int, int], _: object) -> str:
        return "too deep" if step.after < -4 else ""

    law = Law[Taken[int, int]]("never below four", "for this test", below)

    def lower(run: int) -> list[int]:
        return [run - 1] if run > -9 else []

    def key(run: int) -> tuple[int]:
        return (run,)

    down = Search(FARM, {"top": 2}, lower, key, [law], play=_jump)
    (broken,) = explore(down, "top").broken
    assert len(broken.way.events) == 7
    assert explore(down, "top").states == 12


def test_a_key_of_bytes_is_told_apart_by_its_digest() -> None:
    def key(run: Farm) -> bytes:
        return repr((run.at, sorted(run.across))).encode()

    assert explore(attrs.evolve(PLAIN, key=key), "near").states == 10


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"starts": [Farm()]}, "Search: starts: found list, expected runs by a name for each"),
        ({"laws": UNSOLVED}, "Search: laws: found Law, expected a list of Laws"),
        ({"shape": [solved]}, "Search: shape: found function, expected a list of Laws"),
        ({"moves": None}, "Search: moves: found NoneType, expected a function of the run"),
    ],
)
def test_a_search_of_wrong_parts_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=f"^{said}$"):
        attrs.evolve(PLAIN, **wrong)


def test_a_law_that_answers_with_no_text_is_refused() -> None:
    def knows(step: Taken[Farm, Row | Sleep], _: object) -> Any:
        return step.after.at is Bank.FAR

    law = Law[Taken[Farm, Row | Sleep]]("knows", "for this test", knows)
    with pytest.raises(CannotAsk, match="the law 'knows' answered True, expected a text: what is wrong, or nothing"):
        explore(attrs.evolve(PLAIN, laws=(law,)), "near")
