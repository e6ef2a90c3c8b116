"""`import transitions`: what of a machine is carried over, what is told instead, and what is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from statecraft import Ignored, Refused, Step

Verb = Callable[..., tuple[int, str, str]]
Made = Callable[[str], None]

LAMP = """
from transitions import Machine
from transitions.extensions import HierarchicalMachine, LockedMachine
from transitions.extensions.states import Retry, Tags, Timeout, add_state_features


class Lamp:
    def is_dark(self):
        return True

    def is_broken(self):
        return False

    def click(self):
        pass

    def on_enter_on(self):
        pass


def quiet(*_):
    return True
"""

WATER = """
WATER = Machine(
    states=["ice", "water", "steam"],
    initial="ice",
    auto_transitions=False,
    transitions=[["melt", "ice", "water"], ["boil", "water", "steam"], ["freeze", ["water", "steam"], "ice"]],
)
"""

GUARDED = """
GUARDED = Machine(
    Lamp(),
    states=["off", "on", {"name": "gone", "final": True}],
    initial="off",
    auto_transitions=False,
    before_state_change=quiet,
    transitions=[
        {"trigger": "press", "source": "off", "dest": "on", "conditions": "is_dark", "unless": ["is_broken"],
         "before": "click", "after": [quiet]},
        {"trigger": "press", "source": "off", "dest": "gone", "conditions": ["is_broken", lambda *_: True]},
        {"trigger": "press", "source": "off", "dest": "off", "conditions": quiet},
        {"trigger": "press", "source": "on", "dest": "off"},
        {"trigger": "press", "source": "on", "dest": "gone"},
    ],
)
"""


@pytest.fixture
def lamps(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    """Writes the module `lamps_of_tests`, with more at its end."""
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])

    def write(more: str) -> None:
        sys.modules.pop("lamps_of_tests", None)
        (here / "lamps_of_tests.py").write_text(LAMP + more)

    yield write
    sys.modules.pop("lamps_of_tests", None)


def module_of(text: str) -> Any:
    module = ModuleType("written")
    exec(compile(text, "written", "exec"), module.__dict__)
    return module


def test_states_triggers_and_sources_are_carried_over_and_checked(verb: Verb, lamps: Made) -> None:
    lamps(WATER)
    code, out, err = verb("import", "transitions", "lamps_of_tests:WATER")
    assert code == 0
    told = err.splitlines()
    assert told[0] == ("carried over: 3 states, 3 triggers, 0 conditions, 3 rows; begins in ice, no state is final")
    assert told[1:4] == ["checked:", "  water: NOT PROVED", "    water can go round for ever:"]
    assert told[-1].startswith("A cycle that nothing bounds is normal in a table without budgets")
    found = module_of(out)
    run = found.WATER.step(found.Run(), found.Melt()).run
    assert run.at is found.State.WATER
    answer = found.WATER.step(run, found.Melt())
    assert isinstance(answer, Refused)
    assert answer.why == "transitions raises MachineError here"


def test_conditions_and_unless_are_guards_over_what_an_event_says_and_their_order_is_said(
    verb: Verb, lamps: Made
) -> None:
    lamps(GUARDED)
    code, out, err = verb("import", "transitions", "lamps_of_tests:GUARDED")
    assert code == 0
    assert "row(S.OFF, Press, S.ON, keep, is_dark, ~is_broken)," in out
    assert 'ordered([S.OFF], [Press], "transitions tries them in this order")' in out
    assert "# lamps_of_tests.Lamp.is_dark" in out
    assert "# lamps_of_tests.<lambda>, line " in out
    assert "final=[S.GONE]" in out
    found = module_of(out)
    nothing = {"is_dark": False, "is_broken": False, "unnamed": False, "quiet": False}
    for answers, target in [
        ({"is_dark": True}, "on"),
        ({"is_dark": True, "is_broken": True, "unnamed": True}, "gone"),
        ({"is_broken": True, "unnamed": True, "quiet": True}, "gone"),
        ({"quiet": True}, "off"),
    ]:
        answer = found.GUARDED.step(found.Run(), found.Press(**{**nothing, **answers}))
        assert isinstance(answer, Step)
        assert answer.target.value == target
    refused = found.GUARDED.step(found.Run(), found.Press(**nothing))
    assert isinstance(refused, Refused)
    assert refused.why == ""
    assert [one.name for one in refused.seen] == ["is_dark", "is_broken", "quiet"]
    assert "the transition of press: on -> gone: transitions never takes it" in err


def test_what_is_called_on_the_way_is_told_with_its_place_and_stands_at_the_module_s_head(
    verb: Verb, lamps: Made
) -> None:
    lamps(GUARDED)
    code, out, err = verb("import", "transitions", "lamps_of_tests:GUARDED")
    assert code == 0
    for line in (
        "before_state_change lamps_of_tests.quiet of the machine",
        "on_enter 'on_enter_on' of state on",
        "before 'click' of press: off -> on",
        "after lamps_of_tests.quiet of press: off -> on",
    ):
        assert f"  {line}\n" in err
        assert f"# * {line}\n" in out


def test_wildcards_reflexive_and_internal_transitions_stand_in_one_row_each(verb: Verb, lamps: Made) -> None:
    lamps(
        """
M = Machine(states=["a", "b"], initial="a", auto_transitions=False, transitions=[
    ["reset", "*", "a"], ["again", "*", "="], ["look", "*", None], ["go", "a", "b"]])
"""
    )
    _, out, _ = verb("import", "transitions", "lamps_of_tests:M")
    rows = [line.strip() for line in out.splitlines() if line.lstrip().startswith("row")]
    assert rows[1:] == [
        "row([S.A, S.B], Reset, S.A, keep),",
        "row.stay([S.A, S.B], Again, keep),",
        "row.stay([S.A, S.B], Look, keep),  # internal",
        "row(S.A, Go, S.B, keep),",
    ]


def test_ordered_transitions_are_rows_like_others(verb: Verb, lamps: Made) -> None:
    lamps('M = Machine(states=["a", "b", "c"], initial="a", ordered_transitions=True)\n')
    code, out, err = verb("import", "transitions", "lamps_of_tests:M")
    assert code == 0
    assert "the automatic triggers to_a, to_b, to_c: ask for them with --auto" in err
    assert "row(S.C, NextState, S.A, keep)," in out
    assert "ToA" not in out


def test_automatic_triggers_are_carried_over_where_they_are_asked_for(verb: Verb, lamps: Made) -> None:
    lamps('M = Machine(states=["a", "b"], initial="a")\n')
    code, out, err = verb("import", "transitions", "lamps_of_tests:M")
    assert (code, out) == (2, "")
    assert "found a machine without a trigger, only its automatic to_a, to_b, expected one with transitions" in err
    code, out, _ = verb("import", "transitions", "lamps_of_tests:M", "--auto")
    assert code == 0
    assert "row([S.A, S.B], ToB, S.B, keep)," in out


def test_triggers_that_are_ignored_where_they_are_not_valid_are_ignored_here(verb: Verb, lamps: Made) -> None:
    lamps(
        """
M = Machine(states=["a", {"name": "b", "ignore_invalid_triggers": False}], initial="a", auto_transitions=False,
            ignore_invalid_triggers=True, transitions=[["go", "a", "b"], ["back", "b", "a"]])
"""
    )
    found = module_of(verb("import", "transitions", "lamps_of_tests:M")[1])
    assert isinstance(found.M.step(found.Run(), found.Back()), Ignored)
    assert isinstance(found.M.step(found.Run(found.State.B), found.Go()), Refused)


def test_states_in_one_another_are_flattened_where_transitions_does_it(verb: Verb, lamps: Made) -> None:
    lamps(
        """
M = HierarchicalMachine(
    states=["idle", {"name": "work", "initial": "draw", "children": ["draw", "cut"],
                     "transitions": [["next", "draw", "cut"]]}],
    initial="idle", auto_transitions=False,
    transitions=[["start", "idle", "work"], ["stop", "work", "idle"], ["next", "work_cut", "idle"]])
"""
    )
    code, out, _ = verb("import", "transitions", "lamps_of_tests:M")
    assert code == 0
    found = module_of(out)
    assert [state.value for state in found.State] == ["idle", "work_draw", "work_cut"]
    run, way = found.Run(), list[str]()
    for event in (found.Start(), found.Next(), found.Next(), found.Start(), found.Stop()):
        run = found.M.step(run, event).run
        way.append(run.at.value)
    assert way == ["work_draw", "work_cut", "idle", "work_draw", "idle"]


def test_queues_features_of_states_and_other_machines_are_told(verb: Verb, lamps: Made) -> None:
    lamps(
        """
@add_state_features(Tags, Timeout, Retry)
class Featured(LockedMachine):
    def callback(self, func, event_data):
        pass


M = Featured(states=["a", {"name": "b", "timeout": 5, "on_timeout": "late", "tags": ["busy"]}], initial="a",
             auto_transitions=False, queued=True, transitions=[["go", "a", "b"]], on_exception=quiet,
             prepare_event="click", finalize_event="click")
"""
    )
    code, _, err = verb("import", "transitions", "lamps_of_tests:M")
    assert code == 0
    for line in (
        "lamps_of_tests.Featured.callback of the machine: it may be tried or taken otherwise here",
        "what transitions.extensions.locking.LockedMachine adds to a plain machine",
        "queued=True of the machine: a table is stepped by its caller, one at a time",
        "on_exception lamps_of_tests.quiet of the machine",
        "prepare_event 'click' of the machine",
        "finalize_event 'click' of the machine",
        "timeout 5 of state b",
        "on_timeout 'late' of state b",
        "tags 'busy' of state b",
    ):
        assert f"  {line}\n" in err


@pytest.mark.parametrize(
    ("more", "name", "said"),
    [
        ("X = 3\n", "X", "expected a transitions.Machine, what makes one without arguments, or what holds one"),
        ("", "Lamp", "it made an instance of Lamp, expected a transitions.Machine"),
        (
            "class Asks:\n    def __init__(self, name):\n        pass\n",
            "Asks",
            "making it raised TypeError: Asks.__init__() missing 1 required positional argument: 'name'; expected",
        ),
        (
            'M = Machine(states=["a"], initial="a", auto_transitions=False)\n',
            "M",
            "found a machine without a trigger, expected one with transitions",
        ),
        (
            'M = Machine(None, states=["a"], initial=None, transitions=[["go", "a", "a"]])\n',
            "M",
            "found a machine without an initial state, expected one made with initial=...",
        ),
        (
            'M = Machine(states=["a"], initial="a", transitions=[["go", "a", "x"]])\n',
            "M",
            "found a transition to a state that there is not (go: a -> x), expected one of a",
        ),
        (
            'M = Machine(states=["a"], initial="a", transitions=[["go", "b", "a"]])\n',
            "M",
            "found a machine none of whose transitions can ever be taken",
        ),
        (
            'M = HierarchicalMachine(states=["a", {"name": "p", "parallel": ["x", "y"]}], initial="a")\n',
            "M",
            "found the parallel state p (x, y at once); expected one state at a time",
        ),
        (
            'M = HierarchicalMachine(states=["a", "b"], initial=["a", "b"])\n',
            "M",
            "found a machine that begins in several states at once (a, b); expected one state at a time",
        ),
    ],
)
def test_what_no_table_could_hold_is_bad_input(verb: Verb, lamps: Made, more: str, name: str, said: str) -> None:
    lamps(more)
    code, out, err = verb("import", "transitions", f"lamps_of_tests:{name}")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


ARGUMENTS = "states=['a', 'b'], initial='a', transitions=[['go', 'a', 'b']]"
FUNCTION = f"def make():\n    return Machine({ARGUMENTS})\n"
HOLDER = f"class make:\n    def __init__(self):\n        self.machine = Machine(self, {ARGUMENTS})\n"
KIND = f"class make(Machine):\n    def __init__(self):\n        super().__init__({ARGUMENTS})\n"
OBJECT = f"class Holds:\n    machine = Machine({ARGUMENTS})\n\n\nmake = Holds()\n"


@pytest.mark.parametrize("holds", [FUNCTION, HOLDER, KIND, OBJECT])
def test_a_machine_may_be_made_or_held(verb: Verb, lamps: Made, holds: str) -> None:
    lamps(holds)
    code, out, err = verb("import", "transitions", "lamps_of_tests:make")
    assert code == 0, err
    assert "MAKE: Table[Run, State, Event, Never] = Table(" in out


def test_a_machine_that_only_goes_forward_is_proved_to_end(verb: Verb, lamps: Made) -> None:
    lamps('M = Machine(states=["a", "b"], initial="a", auto_transitions=False, transitions=[["go", "a", "b"]])\n')
    _, _, err = verb("import", "transitions", "lamps_of_tests:M")
    assert "  m: ok\n    ends: at most 1 step\n" in err
    assert "A cycle that nothing bounds" not in err


def test_a_file_is_written_once_and_over_again_only_by_force(verb: Verb, lamps: Made, here: Path) -> None:
    lamps(WATER)
    words = ("import", "transitions", "lamps_of_tests:WATER", "--into", "water_table.py")
    code, out, err = verb(*words)
    assert (code, out) == (0, "")
    assert "`statecraft check water_table` proves" in err
    (here / "water_table.py").write_text("")
    code, out, err = verb(*words)
    assert (code, out) == (2, "")
    assert err == "statecraft: water_table.py: is there already; expected a new file, or --force\n"
    assert verb(*words, "--force")[0] == 0
    code, out, _ = verb("check", "water_table")
    sys.modules.pop("water_table", None)
    assert (code, out.splitlines()[0]) == (1, "water: NOT PROVED")


def test_for_programs_there_is_one_object_with_what_was_carried_over_and_what_was_not(verb: Verb, lamps: Made) -> None:
    lamps(GUARDED)
    code, out, err = verb("import", "transitions", "lamps_of_tests:GUARDED", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["states"] == {"off": "OFF", "on": "ON", "gone": "GONE"}
    assert (found["initial"], found["final"], found["triggers"]) == ("off", ["gone"], {"press": "Press"})
    assert found["conditions"][0] == {"guard": "is_dark", "place": "lamps_of_tests.Lamp.is_dark"}
    assert {"what": "before 'click'", "where": "press: off -> on", "why": ""} in found["not_carried_over"]
    assert found["report"]["tables"][0]["table"] == "guarded"
    assert module_of(found["module"]).GUARDED.name == "guarded"


def test_what_classes_of_one_s_own_do_otherwise_is_told_once_and_what_they_only_name_is_not(
    verb: Verb, lamps: Made
) -> None:
    lamps(
        """
from transitions.core import Condition, Transition
from transitions.extensions.nesting import NestedState, NestedTransition


class AnyOf(Condition):
    def check(self, event_data):
        return True


class Loud(NestedTransition):
    condition_cls = AnyOf


class Dotted(NestedState):
    separator = "."


class Own(HierarchicalMachine):
    transition_cls, state_cls = Loud, Dotted


M = Own(states=["a", {"name": "b", "initial": "x", "children": ["x", "y"]}], initial="a", auto_transitions=False,
        transitions=[{"trigger": "go", "source": "a", "dest": "b", "conditions": quiet}, ["go", "b.x", "b.y"]])
"""
    )
    code, out, err = verb("import", "transitions", "lamps_of_tests:M")
    assert code == 0
    told = err.partition("not carried over:\n")[2].partition("checked:")[0].splitlines()
    assert told == [
        "  lamps_of_tests.AnyOf.check of the conditions of go: a -> b: it may be tried or taken otherwise here"
    ]
    assert 'B_X = "b.x"' in out
