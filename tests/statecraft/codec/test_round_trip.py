"""What is written is what is read, for every type that can be kept, and it is the same bytes each time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum, Flag, StrEnum, auto
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar

import attrs
import pytest
import rpds
from cattrs import Converter
from hypothesis import given
from hypothesis import strategies as st
from rpds import HashTrieMap, HashTrieSet

from statecraft import Evidence, Reading, Scalar
from statecraft.codec import codec, digest_of


class Colour(Enum):
    RED = auto()
    BLUE = auto()


class Stop(StrEnum):
    END = "end_turn"
    TOOL = "tool_use"


class Level(Enum):
    LOW = "low"
    HIGH = "high"


@attrs.frozen
class Circle:
    radius: float


@attrs.frozen
class Square:
    side: int
    colour: Colour = Colour.RED


Shape = Circle | Square
Id = NewType("Id", str)
T = TypeVar("T")


@attrs.frozen
class Pair(Generic[T]):
    one: T
    other: T


@attrs.frozen
class Tree:
    kids: tuple[Tree | None, ...]
    shape: Shape | None = None


@attrs.frozen
class Everything:
    text: str
    number: int
    share: float
    flag: bool
    nothing: None
    raw: bytes
    colour: Colour
    stop: Stop
    level: Level | None
    shape: Shape | str | None
    lone: Circle | None
    scalar: Scalar
    choice: Literal["a", "b", 3] | None
    ident: Id
    noted: Annotated[int, "a note"]
    items: tuple[Shape, ...]
    fixed: tuple[int, str, Circle]
    words: list[str]
    order: Sequence[Stop]
    several: frozenset[Colour]
    shapes: frozenset[Circle]
    raws: HashTrieSet[bytes]
    table: Mapping[str, tuple[Shape, ...]]
    counts: Mapping[Colour, int | None]
    numbered: dict[int, str]
    persistent: HashTrieMap[str, Shape]
    by_stop: rpds.HashTrieMap[Stop, rpds.HashTrieSet[str]]
    pair: Pair[int]
    tree: Tree | None
    anything: Any


text = st.text(st.characters(exclude_categories=()), max_size=6)
whole = st.integers() | st.integers(min_value=-(2**200), max_value=2**200)
real = st.floats(allow_nan=False) | st.integers()
colours, stops = st.sampled_from(Colour), st.sampled_from(Stop)
circles = st.builds(Circle, real)
shapes: st.SearchStrategy[Shape] = circles | st.builds(Square, whole, colours)
scalars = text | whole | st.floats(allow_nan=False) | st.booleans() | st.none()
plain: st.SearchStrategy[Any] = st.recursive(
    text | whole | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=4,
)
trees = st.recursive(
    st.builds(Tree, st.just(())), lambda inner: st.builds(Tree, st.tuples(inner | st.none()), shapes | st.none())
)
everything = st.builds(
    Everything,
    text=text,
    number=whole,
    share=real,
    flag=st.booleans(),
    nothing=st.none(),
    raw=st.binary(max_size=4),
    colour=colours,
    stop=stops,
    level=st.sampled_from(Level) | st.none(),
    shape=shapes | text | st.none(),
    lone=circles | st.none(),
    scalar=scalars,
    choice=st.sampled_from(["a", "b", 3, None]),
    ident=text.map(Id),
    noted=whole,
    items=st.lists(shapes, max_size=2).map(tuple),
    fixed=st.tuples(whole, text, circles),
    words=st.lists(text, max_size=2),
    order=st.lists(stops, max_size=2).map(tuple),
    several=st.frozensets(colours),
    shapes=st.frozensets(circles, max_size=2),
    raws=st.frozensets(st.binary(max_size=2), max_size=3).map(HashTrieSet),
    table=st.dictionaries(text, st.lists(shapes, max_size=2).map(tuple), max_size=2),
    counts=st.dictionaries(colours, whole | st.none()),
    numbered=st.dictionaries(whole, text, max_size=2),
    persistent=st.dictionaries(text, shapes, max_size=2).map(HashTrieMap),
    by_stop=st.dictionaries(stops, st.frozensets(text, max_size=2).map(HashTrieSet)).map(HashTrieMap),
    pair=st.builds(Pair[int], whole, whole),
    tree=trees | st.none(),
    anything=plain,
)
CODEC = codec(Everything, Shape)
FINDINGS = codec(Evidence | Reading)


@given(everything)
def test_what_was_written_is_read_back(value: Everything) -> None:
    written = CODEC.to_json(value)
    read = CODEC.from_json(written, Everything)
    assert read == value
    assert CODEC.to_json(read) == written
    assert type(read.share) is type(value.share)


@given(st.builds(Evidence, text, st.booleans(), st.dictionaries(text, scalars, max_size=3)))
def test_evidence_keeps_every_scalar(evidence: Evidence) -> None:
    read = FINDINGS.from_json(FINDINGS.to_json(evidence, Evidence | Reading), Evidence | Reading)
    assert read == evidence
    assert [type(value) for value in read.seen.values()] == [type(evidence.seen[key]) for key in read.seen]


@given(st.lists(st.text(), unique=True))
def test_a_set_is_written_in_one_order(members: list[str]) -> None:
    forth = CODEC.to_json(frozenset(members), frozenset[str])
    back = CODEC.to_json(frozenset(reversed(members)), frozenset[str])
    assert forth == back
    assert json.loads(forth) == sorted(members)


def test_keys_are_sorted_and_nothing_is_indented() -> None:
    assert CODEC.to_json(Square(1)) == b'{"colour":"RED","side":1}'


def test_a_class_of_a_union_carries_its_name_and_a_lone_one_does_not() -> None:
    assert CODEC.to_plain(Circle(1.5), Shape) == {"is": "Circle", "radius": 1.5}
    assert CODEC.to_plain(Circle(1.5), Circle | None) == {"radius": 1.5}
    assert CODEC.tagged(Circle).write(Circle(1.5)) == {"is": "Circle", "radius": 1.5}


def test_an_enum_of_texts_is_written_by_value_and_any_other_by_name() -> None:
    assert CODEC.to_plain(Stop.END) == "end_turn"
    assert CODEC.to_plain(Level.HIGH) == "high"
    assert CODEC.to_plain(Colour.BLUE) == "BLUE"
    assert CODEC.to_plain({Colour.BLUE: 1}, dict[Colour, int]) == {"BLUE": 1}


def test_bytes_are_written_in_hex() -> None:
    assert CODEC.to_json(b"\x00\xff") == b'"00ff"'


def test_a_number_that_is_not_finite_stands_in_an_object() -> None:
    written = FINDINGS.to_json(Evidence("g", True, {"at": float("nan"), "to": float("-inf")}))
    assert json.loads(written)["seen"] == {"at": {"is": "nan"}, "to": {"is": "-inf"}}
    read = FINDINGS.from_json(written, Evidence)
    assert read.seen["to"] == float("-inf")
    assert read.seen["at"] != read.seen["at"]


def test_a_field_with_a_default_may_be_missing() -> None:
    assert CODEC.from_json(b'{"side": 2}', Square) == Square(2)


def test_further_hooks_come_first() -> None:
    def shout(colour: Colour) -> str:
        return f"{colour.name}!"

    def shouted(converter: Converter) -> None:
        converter.register_unstructure_hook(Colour, shout)

    assert codec(Square, configure=shouted).to_plain(Square(1)) == {"side": 1, "colour": "RED!"}


def test_a_digest_is_the_sha_256() -> None:
    assert digest_of(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@attrs.frozen
class Untyped:
    value = attrs.field(default=1)  # type: ignore[var-annotated]  # what a codec has to refuse


@attrs.frozen
class Holder:
    value: complex


class Other:
    @attrs.frozen
    class Circle:
        size: int


class Rights(Flag):
    READ = 1
    WRITE = 2


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (complex, "complex cannot be kept as JSON"),
        (Holder, "Holder: complex cannot be kept"),
        (Untyped, "Untyped.value has no type"),
        (str | Colour, "text and a Colour look alike"),
        (tuple[int, ...] | list[int], "look alike in JSON"),
        (Mapping[str, int] | Circle, "look alike in JSON"),
        (Circle | Square | Mapping[str, int], "look alike in JSON"),
        (Circle | Other.Circle, "two classes of one union are called Circle"),
        (Mapping[Circle, int], "keys are text, integers, bytes or an enum"),
        (Rights, "a combination of flags has no name"),
        (Literal[b"a"], "a literal is text"),
    ],
)
def test_a_type_that_cannot_be_read_back_is_refused_when_the_codec_is_made(kind: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said.replace(".", r"\.")):
        codec(kind)
