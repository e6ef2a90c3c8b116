"""A description as a module: names that Python would not take, lines that would be too long, what is settled first."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecraft.ported import Ask, LeftOut, Move, NotPorted, Ported, loaded, settle, write
from statecraft.ported.settling import can_be_taken

HOT, DRY = (0, True), (1, True)
COLD = (0, False)
BARE = Ported(
    name="bare",
    states=("a", "b"),
    initial="a",
    final=(),
    triggers=("go",),
    asks=(Ask("hot", "shop.hot"), Ask("dry", "shop.dry")),
    cells={("go", "a"): (Move("b"),)},
    ignored=frozenset(),
    left_out=(),
)


@pytest.mark.parametrize(
    ("move", "earlier", "can"),
    [
        (Move("b"), [], True),
        (Move("b"), [Move("a")], False),
        (Move("b", (HOT, COLD)), [], False),
        (Move("b", (HOT, DRY)), [Move("a", (HOT,))], False),
        (Move("b", (HOT,)), [Move("a", (HOT, DRY))], True),
        (Move("b"), [Move("a", (HOT,)), Move("a", (COLD,))], False),
        (Move("b"), [Move("a", (HOT,)), Move("a", (COLD, DRY))], True),
        (Move("b", (DRY,)), [Move("a", (HOT,)), Move("a", (COLD, DRY))], False),
    ],
)
def test_a_transition_that_those_before_it_leave_nothing_is_never_taken(
    move: Move, earlier: list[Move], can: bool
) -> None:
    assert can_be_taken(move, earlier) is can


def test_what_is_never_taken_is_left_out_and_told_with_its_reason() -> None:
    cells = {("go", "a"): (Move("b", (HOT, COLD), of=1), Move("b", of=2), Move("a", of=3))}
    found = settle(attrs.evolve(BARE, cells=cells))
    assert found.cells["go", "a"] == (Move("b"),)
    assert [str(one) for one in found.left_out] == [
        "the transition of go: a -> b: transitions never takes it: it asks hot and its opposite",
        "the transition of go: a -> a: transitions never takes it: one tried before it always says yes where it would",
    ]


def test_a_transition_that_is_taken_in_another_state_is_not_told_as_one_that_never_is() -> None:
    cells = {("go", "a"): (Move("b", of=1), Move("a", of=2)), ("go", "b"): (Move("a", of=2),)}
    assert settle(attrs.evolve(BARE, cells=cells)).left_out == ()


def test_a_state_that_nothing_leaves_or_enters_is_left_out_unless_it_is_the_first_or_final() -> None:
    found = settle(attrs.evolve(BARE, states=("a", "b", "c", "d"), final=("d",)))
    assert (found.states, found.final) == (("a", "b", "d"), ("d",))
    assert found.left_out == (LeftOut("the state c", "", "no transition leaves it or leads to it"),)


def test_a_final_state_that_is_left_all_the_same_is_not_final() -> None:
    cells = {("go", "a"): (Move("b"),), ("go", "b"): (Move("a"),)}
    found = settle(attrs.evolve(BARE, final=("b",), cells=cells))
    assert found.final == ()
    assert found.left_out == (LeftOut("final", "state b", "transitions leave it, so nothing ends there"),)


def test_a_machine_in_which_nothing_happens_is_refused() -> None:
    with pytest.raises(NotPorted, match="none of whose transitions can ever be taken"):
        settle(attrs.evolve(BARE, cells={}))


@pytest.mark.parametrize(
    ("state", "member"),
    [("on hold", "ON_HOLD"), ("2nd", "STATE_2ND"), ("_", "STATE"), ("été", "ÉTÉ"), ("a²", "A2"), ('"""\n', "STATE")],
)
def test_a_state_is_called_as_near_to_its_name_as_python_allows(state: str, member: str) -> None:
    written = write(attrs.evolve(BARE, states=("a", state), cells={("go", "a"): (Move(state),)}), "shop:BARE")
    assert written.states[state] == member
    assert loaded(written).State[member].value == state


def test_names_that_python_or_the_module_needs_itself_and_names_that_become_alike_are_told_apart() -> None:
    states = ("go on", "go_on", "go-on")
    cells = {
        (trigger, "go on"): (Move("go_on", ((0, True), (1, False), (2, True))), Move("go-on"))
        for trigger in ("class", "run", "Run")
    }
    asks = (Ask("self", "x"), Ask("lambda", "y"), Ask("lambda", "z"))
    hostile = attrs.evolve(
        BARE, name="é é", states=states, initial="go on", triggers=("class", "run", "Run"), cells=cells, asks=asks
    )
    written = write(hostile, "shop:BARE")
    assert list(written.states.values()) == ["GO_ON", "GO_ON_2", "GO_ON_3"]
    assert list(written.events.values()) == ["Class", "Run_2", "Run_3"]
    assert list(written.asks.values()) == ["self_2", "lambda_", "lambda__2"]
    module = loaded(written)
    table = getattr(module, written.table)
    assert len(table.rows) == 6
    assert table.step(module.Run(), module.Run_2(self_2=True, lambda_=False, lambda__2=True)).row == 2


def test_no_line_is_longer_than_a_module_s_may_be() -> None:
    states = tuple(f"a_rather_long_state_{number}" for number in range(30))
    triggers = tuple(f"a_rather_long_trigger_{number}" for number in range(12))
    cells = {(trigger, state): (Move(states[0], (HOT,)),) for trigger in triggers for state in states[:20]}
    asked = tuple(Ask("a_rather_long_condition" * 2, "shop.hot") for _ in range(2))
    said = LeftOut("before 'x'", ", ".join(states))
    wide = attrs.evolve(
        BARE, states=states, initial=states[0], triggers=triggers, cells=cells, asks=asked, left_out=(said,)
    )
    written = write(settle(wide), "shop:BARE")
    assert max(map(len, written.text.splitlines())) <= 120
    assert len(getattr(loaded(written), written.table).rows) == 12


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(min_size=1), min_size=2, max_size=4, unique=True), st.text(min_size=1), st.text(min_size=1))
def test_any_names_make_a_module_that_can_be_loaded(states: list[str], trigger: str, name: str) -> None:
    cells = {(trigger, states[0]): tuple(Move(state, ((0, True), (1, n == 0))) for n, state in enumerate(states[:2]))}
    found = attrs.evolve(
        BARE,
        name=name,
        states=tuple(states),
        initial=states[0],
        triggers=(trigger,),
        asks=(Ask(name, trigger), Ask(trigger, name)),
        cells=cells,
        left_out=(LeftOut(name, trigger, states[0]),),
    )
    written = write(settle(found), "shop:BARE")
    module = loaded(written)
    assert [state.value for state in module.State] == list(settle(found).states)
