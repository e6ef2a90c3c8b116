"""Strategies made from annotations: every kind of field, what is said for types and names, and clear errors."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NewType, Optional

import attrs
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st
from rpds import HashTrieMap, HashTrieSet

from statecraft import Rows, Table, keep
from statecraft.testing import NoStrategy, events, events_by_type, runs

if TYPE_CHECKING:
    from decimal import Decimal

Name = NewType("Name", str)


class Colour(Enum):
    RED = auto()
    BLUE = auto()


@attrs.frozen
class Inside:
    number: int


@attrs.frozen
class Kept:
    kept: tuple[str, ...] = ("default",)


@attrs.frozen
class Tree:
    branches: tuple[Tree, ...] = ()


class Pair(NamedTuple):
    left: int
    right: Colour


@dataclass(frozen=True)
class Data:
    one: int
    many: list[int] = field(default_factory=list[int])
    made: int = field(init=False, default=3)


@attrs.frozen
class Everything:
    flag: bool
    number: int
    share: float
    text: str
    raw: bytes
    nothing: None
    colour: Colour
    inside: Inside
    tree: Tree
    pair: Pair
    data: Data
    maybe: Optional[int]  # noqa: UP045  # users write it
    either: int | str | None
    word: Literal["a", "b"]
    name: Name
    noted: Annotated[int, "a note"]
    day: datetime.date
    two: tuple[int, str]
    many: tuple[int, ...]
    listed: list[Colour]
    sequence: Sequence[int]
    unique: frozenset[int]
    by_name: dict[str, Inside]
    mapping: Mapping[Colour, int | None]
    persistent: HashTrieMap[str, int]
    seen: HashTrieSet[bytes]
    _hidden: int
    kept: tuple[str, ...] = ("default",)
    made: int = attrs.field(init=False, default=5)


KINDS: dict[str, Any] = {
    "flag": bool,
    "number": int,
    "share": float,
    "text": str,
    "raw": bytes,
    "nothing": type(None),
    "colour": Colour,
    "inside": Inside,
    "tree": Tree,
    "pair": Pair,
    "data": Data,
    "maybe": int | None,
    "either": int | str | None,
    "word": str,
    "name": str,
    "noted": int,
    "day": datetime.date,
    "two": tuple,
    "many": tuple,
    "listed": list,
    "sequence": list,
    "unique": frozenset,
    "by_name": dict,
    "mapping": dict,
    "persistent": HashTrieMap,
    "seen": HashTrieSet,
    "_hidden": int,
    "kept": tuple,
}


@given(runs(Everything))
@settings(max_examples=40, deadline=None)
def test_every_field_is_of_its_kind(run: Everything) -> None:
    for name, kind in KINDS.items():
        assert isinstance(getattr(run, name), kind), name
    assert run.made == 5
    assert run.word in ("a", "b")
    assert all(isinstance(key, Colour) for key in run.mapping)
    assert all(isinstance(one, Inside) for one in run.by_name.values())
    assert run.share == run.share


def test_a_field_is_drawn_or_left_at_its_default() -> None:
    assert find(runs(Kept), lambda run: run.kept == ("default",))
    assert find(runs(Kept), lambda run: run.kept == ())
    assert find(runs(Tree), lambda tree: bool(tree.branches and tree.branches[0].branches))


def test_a_changeable_default_is_made_anew() -> None:
    one = find(runs(Data), lambda data: data.many == [])
    assert one.many is not find(runs(Data), lambda data: data.many == []).many


class Door(Enum):
    SHUT = auto()


@attrs.frozen
class Push:
    force: int
    at: float = 0.0


@attrs.frozen
class Wind:
    force: int
    inside: Inside


@attrs.frozen
class Hall:
    at: Door = Door.SHUT


row = Rows[Hall, Door, Any]()
HALL: Table[Hall, Door, Push | Wind, Any] = Table(
    "hall",
    [row(Door.SHUT, Push, Door.SHUT, keep), row(Door.SHUT, Wind, Door.SHUT, keep)],
    events=[Push, Wind],
    initial=Door.SHUT,
    final=[],
    at=lambda run: run.at,
    move=lambda run, state: Hall(state),
)


def test_events_are_of_every_kind_of_the_alphabet() -> None:
    assert list(events_by_type(HALL)) == [Push, Wind]
    for kind in (Push, Wind):
        assert find(events(HALL), lambda event, kind=kind: isinstance(event, kind))  # type: ignore[misc]


OVERRIDES: dict[str, tuple[Mapping[Any, Any], Mapping[str, Any], Any, Any]] = {
    "by field": ({}, {"force": 7}, Push(7), Wind(7, Inside(1))),
    "by class and field": ({"Push.force": 7}, {"force": 8}, Push(7), Wind(8, Inside(1))),
    "by type": ({int: st.just(7)}, {}, Push(7), Wind(7, Inside(7))),
    "a field before its type": ({int: 7, "force": 8}, {}, Push(8), Wind(8, Inside(7))),
    "a class of its own": ({Inside: Inside(3)}, {"force": 1}, Push(1), Wind(1, Inside(3))),
    "a whole event": ({Push: Push(5)}, {"force": 1}, Push(5), Wind(1, Inside(1))),
}


@pytest.mark.parametrize(("overrides", "fields", "push", "wind"), OVERRIDES.values(), ids=OVERRIDES)
def test_what_is_said_for_types_and_fields_is_drawn(
    overrides: Mapping[Any, Any], fields: Mapping[str, Any], push: Push, wind: Wind
) -> None:
    given_one = {float: 0.0, Inside: Inside(1), **overrides} if int not in overrides else {float: 0.0, **overrides}
    made = events_by_type(HALL, given_one, **fields)
    assert find(made[Push], lambda event: True) == push
    assert find(made[Wind], lambda event: True) == wind


@attrs.frozen
class Called:
    calls: Callable[[int], int]


@attrs.frozen
class Holds:
    inside: tuple[Called, ...]


@attrs.frozen
class Anything:
    what: Any


@attrs.frozen
class Bare:
    many: list  # type: ignore[type-arg]  # pyright: ignore[reportMissingTypeArgument, reportUnknownVariableType]


@attrs.frozen
class Walkable:
    many: Iterable[int]


@attrs.frozen
class Unread:
    price: Decimal


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (
            Called,
            r"Called\.calls: no strategy can be made of .*Callable.*\{\"Called\.calls\": strategy\} for the field",
        ),
        (Holds, r"Called\.calls: no strategy can be made of "),
        (Anything, r"Anything\.what: no strategy can be made of "),
        (Bare, r"Bare\.many: no strategy can be made of list; pass one for the type"),
        (Unread, r"Unread: its annotations cannot be read \(name 'Decimal' is not defined\).*test_strategies\.py"),
    ],
)
def test_a_field_without_a_strategy_is_named_with_its_class_and_the_way_out(kind: type[Any], said: str) -> None:
    with pytest.raises(NoStrategy, match=said):
        runs(kind)


def test_the_way_out_leads_out() -> None:
    assert find(runs(Called, {"Called.calls": st.just(abs)}), lambda run: True) == Called(abs)
    assert find(runs(Holds, calls=abs), lambda run: bool(run.inside)) == Holds((Called(abs),))
    assert find(runs(Bare, {list: [1]}), lambda run: True) == Bare([1])
    assert find(runs(Walkable), lambda run: True) == Walkable([])
