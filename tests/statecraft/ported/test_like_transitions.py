"""The ported table and the machine that it was read from do the same on the same events, whatever conditions answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st
from transitions import Machine, MachineError
from transitions.extensions import HierarchicalMachine

from statecraft import Step
from statecraft.ported import NotPorted, Ported, Written, loaded, read, settle, write

CONDITIONS = ("dry", "hot", "late")
TRIGGERS = ("go", "stop", "turn")
FLAT = ("a", "b", "c", "d")
FEW = settings(max_examples=50, deadline=None)  # a module is written and loaded for each


class Model:
    """A model whose conditions answer what they are told to."""

    def __init__(self) -> None:
        self.answers: Mapping[str, bool] = {}
        self.state = ""

    def dry(self) -> bool:
        return self.answers["dry"]

    def hot(self) -> bool:
        return self.answers["hot"]

    def late(self) -> bool:
        return self.answers["late"]


@attrs.frozen
class Both:
    """A machine with its model, and the module that was written of it."""

    machine: Any
    model: Any
    ported: Ported
    written: Written
    module: Any

    @property
    def table(self) -> Any:
        return getattr(self.module, self.written.table)


some_conditions = st.lists(st.sampled_from(CONDITIONS), max_size=2)
answers = st.fixed_dictionaries({name: st.booleans() for name in CONDITIONS})
story = st.lists(st.tuples(st.sampled_from(TRIGGERS), answers), max_size=12)
switch = st.sampled_from([None, True, False])


def transitions_among(states: tuple[str, ...]) -> st.SearchStrategy[list[dict[str, Any]]]:
    one = st.fixed_dictionaries(
        {
            "trigger": st.sampled_from(TRIGGERS),
            "source": st.one_of(st.sampled_from((*states, "*")), st.lists(st.sampled_from(states), min_size=1)),
            "dest": st.sampled_from((*states, "=", None)),
            "conditions": some_conditions,
            "unless": some_conditions,
        }
    )
    return st.lists(one, min_size=1, max_size=10)


flat_states = st.lists(st.booleans(), min_size=2, max_size=4).flatmap(
    lambda final: st.tuples(
        *(
            st.fixed_dictionaries({"name": st.just(name), "final": st.just(end), "ignore_invalid_triggers": switch})
            for name, end in zip(FLAT, final, strict=False)
        )
    )
)


@FEW
@given(st.data(), story, st.booleans(), switch)
def test_a_flat_machine(data: st.DataObject, said: list[tuple[str, dict[str, bool]]], auto: bool, ignores: Any) -> None:
    states = data.draw(flat_states)
    names = tuple(state["name"] for state in states)
    model = Model()
    given_ones = data.draw(transitions_among(names))
    first = data.draw(st.sampled_from(names))
    machine = Machine(
        model,
        states=[dict(one) for one in states],
        transitions=given_ones,
        initial=first,
        auto_transitions=auto,
        ignore_invalid_triggers=ignores,
    )
    same(machine, model, said)


@FEW
@given(st.data(), story, st.booleans(), switch)
def test_a_machine_whose_states_lie_in_one_another(
    data: st.DataObject, said: list[tuple[str, dict[str, bool]]], auto: bool, ignores: bool | None
) -> None:
    innermost = held(data, "y", ["z"], ("z",))
    middle = held(data, "b", ["x", innermost], ("x", "y", "y_z"))
    names = ("a", "b", "b_x", "b_y", "b_y_z", "c")
    model = Model()
    machine = HierarchicalMachine(
        model,
        states=["a", middle, "c"],
        transitions=data.draw(transitions_among(names)),
        initial=data.draw(st.sampled_from(names)),
        auto_transitions=auto,
        ignore_invalid_triggers=ignores,
    )
    same(machine, model, said)


def held(data: st.DataObject, name: str, children: list[Any], inside: tuple[str, ...]) -> dict[str, Any]:
    """A state with others in it, which it may enter by itself, and with transitions of its own among them."""
    state: dict[str, Any] = {"name": name, "children": children, "transitions": data.draw(transitions_among(inside))}
    begins = data.draw(st.sampled_from([None, *(one for one in inside if "_" not in one)]))
    return {**state, "initial": begins} if begins else state


def ported(machine: Any, model: Any) -> Both:
    found = settle(read(machine, "both"))
    written = write(found, "tests:machine")
    return Both(machine, model, found, written, loaded(written))


def same(machine: Any, model: Any, said: list[tuple[str, dict[str, bool]]]) -> None:
    """Both hear the same story: each event leads to the same state on both sides, or is no transition on either."""
    try:
        both = ported(machine, model)
    except NotPorted:
        first = model.state
        for trigger, answered in said:
            assert not moves(model, trigger, answered)
        assert model.state == first
        return
    member = both.module.State
    run = both.module.Run()
    assert run.at.value == both.model.state
    for trigger, answered in said:
        if trigger not in both.written.events:
            continue  # neither knows it
        moved = moves(both.model, trigger, answered)
        answer = both.table.step(run, event(both, trigger, answered))
        assert isinstance(answer, Step) is moved, (trigger, answered, answer)
        run = answer.run
        assert run.at is member(both.model.state)


def moves(model: Any, trigger: str, answered: Mapping[str, bool]) -> bool:
    """Whether transitions takes one."""
    model.answers = answered
    try:
        return bool(model.trigger(trigger))
    except (MachineError, AttributeError):  # the latter where no transition at all has the trigger
        return False


def event(both: Both, trigger: str, answered: Mapping[str, bool]) -> Any:
    kind = getattr(both.module, both.written.events[trigger])
    asked = {both.written.asks[number]: both.ported.asks[number].name for number in both.written.asks}
    return kind(**{field.name: answered[asked[field.name]] for field in attrs.fields(kind)})
