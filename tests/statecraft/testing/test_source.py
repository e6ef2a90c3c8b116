"""A value as source: what is pasted makes an equal one; what cannot be written is named and never guessed."""

from __future__ import annotations

import datetime
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum, auto
from functools import partial
from math import inf, nan
from pathlib import PurePosixPath
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rpds import HashTrieMap, HashTrieSet, List

from statecraft import Evidence, Fault, Rows, Step, Table, keep, refuse, seen
from statecraft.proofs import Law, Taken
from statecraft.testing import script, written


class Colour(Enum):
    RED = auto()


class Word(StrEnum):
    ONE = "one"


class Number(IntEnum):
    TWO = 2


class Right(Flag):
    READ = auto()
    WRITE = auto()


@attrs.frozen
class Plain:
    first: int
    second: int = 7
    many: tuple[int, ...] = attrs.field(factory=tuple)


@attrs.frozen
class One:
    value: object = 1


@attrs.frozen
class Hidden:
    _secret: int
    named: int = attrs.field(kw_only=True)
    made: int = attrs.field(init=False, default=3)
    taken: int = attrs.field(converter=int, default=4)

    class Inside(Enum):
        DEEP = auto()


@attrs.frozen
class Counted:
    start: int
    total: int = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "total", self.start + 1)


@dataclass(frozen=True)
class Data:
    one: int
    more: list[int] = field(default_factory=list[int])


class Pair(NamedTuple):
    left: int
    right: float


class Named(dict[str, int]):
    pass


class _Private(dict[str, int]):
    pass


def a_function(value: int = 0) -> int:
    return value


def again(value: object) -> Any:
    source = written(value)
    assert source.missing == ()
    known: dict[str, Any] = {}
    exec("\n".join(source.imports), known)
    return eval(source.text, known)


VALUES: list[Any] = [
    *(None, True, 1, -1, 1.5, inf, -inf, "", "it's", 'a "word"', "line\nend \ud800", b"\x00'", bytearray(b"x"), ...),
    *((), (1,), (1, (2, "x" * 200)), [], [[1]], {}, {1: {"a": (None,)}}, set(), {1}, frozenset(), frozenset({1, "a"})),
    *(Colour.RED, Word.ONE, Number.TWO, Right.READ, Right.READ | Right.WRITE, Hidden.Inside.DEEP),
    *(Plain(1), Plain(1, 8, (1,)), Plain(True), Hidden(5, named=6), Counted(1), Data(1), Data(1, [2]), Pair(1, 2.0)),
    *(MappingProxyType({"a": 1}), HashTrieMap({"a": 1, "b": 2}), HashTrieMap(), HashTrieSet([1, 2]), List([2, 1])),
    *(Named(a=1), Counter("aab"), OrderedDict(a=1), defaultdict(int, {"a": 1})),
    *(Decimal("1.50"), UUID(int=5), PurePosixPath("a/b"), datetime.timedelta(1, 2), datetime.date(2020, 1, 2)),
    *(datetime.datetime(2020, 1, 2, 3, tzinfo=datetime.UTC), datetime.time(4, 5), datetime.UTC),
    *(a_function, Plain, Hidden.Inside, int, keep, range(3), complex(1, 2)),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30])
def test_what_is_pasted_is_equal_and_of_the_same_type(value: Any) -> None:
    found = again(value)
    assert type(found) is type(value)
    assert found == value
    assert written(found) == written(value)


def test_not_a_number_comes_back_as_such() -> None:
    assert repr(again((nan, Plain(1)))) == repr((nan, Plain(1)))


atoms = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.sampled_from(Colour)
hashable = st.integers() | st.text(max_size=3) | st.sampled_from(Colour)
values = st.recursive(
    atoms,
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.lists(inside, max_size=3).map(tuple)
        | st.dictionaries(hashable, inside, max_size=3)
        | st.sets(hashable, max_size=3)
        | st.dictionaries(st.text(max_size=3), inside, max_size=3).map(HashTrieMap)  # it fails for keys of two types
        | st.builds(Plain, inside, inside)
    ),
    max_leaves=8,
)


@given(values)
def test_any_nest_of_values_comes_back_with_the_same_source(value: Any) -> None:
    assert written(again(value)) == written(value)


def test_only_fields_that_differ_from_their_defaults_are_written() -> None:
    assert written(Plain(1, 7, ())).text == "Plain(first=1)"
    assert written(Plain(1, 8)).text == "Plain(first=1, second=8)"
    assert written(Hidden(5, named=6)).text == "Hidden(secret=5, named=6)"


def test_true_is_not_taken_for_a_default_of_one() -> None:
    assert written(Plain(0, True)).text == "Plain(first=0, second=True)"
    assert written(One()).text == "One()"
    assert written(One(True)).text == "One(value=True)"
    assert written(One((True,))).text == "One(value=(True,))"


def test_a_set_is_written_in_one_order_whatever_its_own() -> None:
    assert written(frozenset({"b", "a", "c"})).text == 'frozenset({"a", "b", "c"})'
    assert written(HashTrieMap({"b": 1, "a": 2})).text == 'HashTrieMap({"a": 2, "b": 1})'


def test_a_long_value_is_broken_one_item_a_line() -> None:
    assert written([["a" * 50], ["b" * 50, 1]]).text == f'[["{"a" * 50}"], ["{"b" * 50}", 1]]'
    assert written([["a" * 50], ["b" * 60, 1]]).text.split("\n") == [
        "[",
        f'    ["{"a" * 50}"],',
        f'    ["{"b" * 60}", 1],',
        "]",
    ]


def test_a_private_kind_of_dict_is_written_as_the_dict_that_it_equals() -> None:
    assert written(_Private(a=1)).text == '{"a": 1}'


def test_a_call_with_some_arguments_given_is_written_as_such() -> None:
    found = again(partial(a_function, value=3))
    assert (found.func, found.args, found.keywords) == (a_function, (), {"value": 3})


def in_a_function() -> object:
    @attrs.frozen
    class Local:
        pass

    return Local()


def around_itself() -> object:
    inside: list[object] = []
    inside.append(inside)
    return inside


def changed() -> object:
    counted = Counted(1)
    object.__setattr__(counted, "total", 9)
    return counted


LACKING: dict[str, tuple[object, str]] = {
    "an object": ((1, deque([1])), "the value[1]: deque([1]), a collections.deque"),
    "a lambda": (Data(lambda: 1), "the value.one: <function"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    "a local class": (in_a_function(), "Local'>, which no module holds by a name"),
    "a loop": (around_itself(), "the value[0]: a builtins.list that contains itself"),
    "a changed field": (changed(), "the value.total: 9, which the class does not make of it"),
    "a key": ({deque: 1, (1, object): 2, frozenset({in_a_function}): in_a_function()}, "which no module"),
}


@pytest.mark.parametrize(("value", "said"), LACKING.values(), ids=LACKING)
def test_what_cannot_be_written_is_named_with_its_place(value: object, said: str) -> None:
    (missing,) = written(value).missing
    assert said in missing


def test_two_classes_of_one_name_are_told_apart() -> None:
    other = ModuleType("other_colours")
    other.Colour = type("Colour", (), {"__module__": "other_colours"})  # type: ignore[attr-defined]
    sys.modules["other_colours"] = other
    try:
        source = written((Colour, other.Colour))
        assert source.text == "(Colour, Colour_2)"
        assert source.imports[0] == "from other_colours import Colour as Colour_2"
        assert again((Colour, other.Colour)) == (Colour, other.Colour)
    finally:
        del sys.modules["other_colours"]


# Scripts


class Lamp(Enum):
    OFF = auto()
    ON = auto()
    BROKEN = auto()


@attrs.frozen
class Press:
    force: int = 1


@attrs.frozen
class Look:
    pass


@attrs.frozen
class Room:
    at: Lamp = Lamp.OFF
    pressed: Mapping[str, int] = attrs.field(factory=dict[str, int])


def gentle(run: Room, event: Press) -> Evidence:
    return seen("gentle", event.force < 9 and 1 // (7 - event.force) < 9)


def lamp_at(run: Room) -> Lamp:
    return run.at


def lamp_move(run: Room, state: Lamp) -> Room:
    return attrs.evolve(run, at=state)


row = Rows[Room, Lamp, Any]()
LAMP: Table[Room, Lamp, Press | Look, Any] = Table(
    "lamp",
    [
        row(Lamp.OFF, Press, Lamp.ON, keep, gentle),
        row(Lamp.ON, Press, Lamp.BROKEN, keep, gentle),
        refuse([Lamp.OFF, Lamp.ON], [Look], "nobody may"),
    ],
    events=[Press, Look],
    initial=Lamp.OFF,
    final=[Lamp.BROKEN],
    at=lamp_at,
    move=lamp_move,
)


def breaks(step: Taken[Any, Any], _: object) -> str:
    return "broken" if isinstance(step.answer, Step) and step.answer.target is Lamp.BROKEN else ""


DARK = Law[Taken[Any, Any]]("it does not break", "for this test", breaks)


def played(text: str) -> Callable[[], None]:
    known: dict[str, Any] = {}
    exec(text, known)
    found: Callable[[], None] = known["test_it"]
    return found


def test_a_script_plays_every_event_and_says_what_came_of_it() -> None:
    text = script(LAMP, Room(), [Press(), Press(9), Look(), Press(2), Press(1)], because='Broken by "two"')
    assert text.split("\n")[-17:] == [
        "def test_it() -> None:",
        '    """Broken by \'two\'"""',
        "    run = Room()",
        "    # 0 OFF Press [gentle] -> ON keep",
        "    run = step_one(LAMP, run, Press(), row=0).run",
        "    # Refused",
        "    answer = LAMP.step(run, Press(force=9))",
        "    assert isinstance(answer, Refused)",
        "    # Refused: nobody may",
        "    answer = LAMP.step(run, Look())",
        "    assert isinstance(answer, Refused)",
        "    # 1 ON Press [gentle] -> BROKEN keep",
        "    run = step_one(LAMP, run, Press(force=2), row=1).run",
        "    # Refused: the run has ended: BROKEN",
        "    answer = LAMP.step(run, Press())",
        "    assert isinstance(answer, Refused)",
        "",
    ]
    played(text)()


def test_a_fault_is_expected_or_comes_through() -> None:
    played(script(LAMP, Room(), [Press(), Press(7), Press()]))()
    with pytest.raises(Fault, match="gentle raised ZeroDivisionError"):
        played(script(LAMP, Room(), [Press(), Press(7)], fails=True))()


def test_a_law_is_asserted_of_the_last_answer() -> None:
    played(script(LAMP, Room(), [Press()], law=DARK))()
    with pytest.raises(AssertionError):
        played(script(LAMP, Room(), [Press(), Press()], law=DARK))()


def test_a_script_says_at_its_head_what_has_to_be_put_in() -> None:
    lamp = Table("lamp", LAMP.rows, events=[Press], initial=Lamp.OFF, final=[Lamp.BROKEN], at=lamp_at, move=lamp_move)
    unnamed = Law[Taken[Any, Any]]("nothing holds", "for this test", lambda step, memory: "never")
    press = Press(force=object())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    text = script(lamp, Room(pressed={"a": 1}), [press], law=unnamed)
    lines = text.split("\n")
    assert "# Put in by hand where ... stands, the table lamp: no module holds it by a name" in lines
    assert any(line.startswith("# Put in by hand where ... stands, event 0.force: <object") for line in lines)
    assert "TABLE = ..." in lines


NEVER = Law[Taken[Any, Any]]("it is never on", "for this test", lambda step, _: breaks(step, _))
LAWS = (DARK, Law[Taken[Any, Any]]("it is never broken", "for this test", lambda step, _: breaks(step, _)))


@pytest.mark.parametrize(("law", "called"), [(NEVER, "NEVER.broken("), (LAWS[1], "LAWS[1].broken(")])
def test_a_law_without_a_named_function_is_asked_through_what_holds_it(law: Law[Any], called: str) -> None:
    text = script(LAMP, Room(), [Press(), Press()], law=law)
    assert f"assert not {called}" in text
    with pytest.raises(AssertionError):
        played(text)()
    played(script(LAMP, Room(), [Press()], law=law))()


def test_a_law_that_no_module_leads_to_is_to_be_put_in() -> None:
    law = Law[Taken[Any, Any]]('no "light"', "for this test", lambda step, _: "")
    with pytest.raises(pytest.fail.Exception, match='put in the law: no "light"'):
        played(script(LAMP, Room(), [Press()], law=law))()
