"""An inner machine that names all its runs cannot be begun again behind the table's back, whatever the event."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, Never

import attrs
import pytest

from statecraft import Fault, Inner, Rows, Step, Table, inner, keep, refuse


class Within(Enum):
    FIRST = auto()
    LAST = auto()


class Out(Enum):
    IDLE = auto()
    BUSY = auto()


@attrs.frozen
class Tick:
    pass


@attrs.frozen
class Go:
    to: str = "one"


@attrs.frozen
class Kid:
    at: Within = Within.FIRST


@attrs.frozen
class Outer:
    at: Out = Out.IDLE
    kids: Mapping[str, Kid] = attrs.field(factory=dict[str, Kid])


kid_row = Rows[Kid, Within, Never]()
KID = Table[Kid, Within, Tick, Never](
    "kid",
    [kid_row(Within.FIRST, Tick, Within.LAST, keep)],
    events=[Tick],
    initial=Within.FIRST,
    final=[Within.LAST],
    at=lambda run: run.at,
    move=lambda run, at: attrs.evolve(run, at=at),
)


def one(run: Outer, event: object) -> Kid | None:
    return run.kids.get("one")


def with_one(run: Outer, event: object, kid: Kid) -> Outer:
    return attrs.evolve(run, kids={**run.kids, "one": kid})


def begin(run: Outer, event: Go) -> tuple[Outer, tuple[()]]:
    return attrs.evolve(run, kids={**run.kids, event.to: Kid()}), ()


def put_away(run: Outer, event: Go) -> tuple[Outer, tuple[()]]:
    return attrs.evolve(run, kids={name: kid for name, kid in run.kids.items() if name != event.to}), ()


def outer(effect: Any, *, held: bool = True, refills: bool = False) -> Table[Outer, Out, Tick | Go, Never]:
    inside: Inner[Outer, Out, Never] = inner(
        KID, during=[Out.BUSY], get=one, put=with_one, most=2, held=(lambda run: run.kids) if held else None
    )
    row = Rows[Outer, Out, Never]()
    return Table[Outer, Out, Tick | Go, Never](
        "outer",
        [
            row(Out.IDLE, Go, Out.BUSY, effect, refills=[inside] if refills else []),
            row(Out.BUSY, Tick, Out.IDLE, keep, spends=inside),
            row(Out.BUSY, Tick, Out.BUSY, keep),
            refuse([Out.IDLE], [Tick], "idle"),
            refuse([Out.BUSY], [Go], "busy"),
        ],
        events=[Tick, Go],
        initial=Out.IDLE,
        final=[],
        at=lambda run: run.at,
        move=lambda run, at: attrs.evolve(run, at=at),
        inners=[inside],
    )


@pytest.mark.parametrize("to", ["one", "two"])
def test_an_event_that_the_inner_machine_does_not_know_may_not_begin_it(to: str) -> None:
    with pytest.raises(Fault, match="changes the inner machine kid without refilling it"):
        outer(begin).step(Outer(), Go(to))


@pytest.mark.parametrize("to", ["one", "two"])
def test_a_row_that_refills_it_may(to: str) -> None:
    answer = outer(begin, refills=True).step(Outer(), Go(to))
    assert isinstance(answer, Step)
    assert answer.run.kids == {to: Kid()}


@pytest.mark.parametrize("to", ["one", "nobody"])
def test_one_that_is_put_away_is_not_begun(to: str) -> None:
    answer = outer(put_away).step(Outer(kids={"one": Kid(), "two": Kid(Within.LAST)}), Go(to))
    assert isinstance(answer, Step)
    assert "two" in answer.run.kids


def test_without_the_lens_over_all_it_is_an_assumption() -> None:
    assert isinstance(outer(begin, held=False).step(Outer(), Go()), Step)
