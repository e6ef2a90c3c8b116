"""The proof against an exhaustive walk over the real steps of small random machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

from statecraft import BadTable
from statecraft.proofs import Bound, FreeCycle, ends

BUDGETS = ("x", "y")
FEW_EXAMPLES = settings(max_examples=120, deadline=None)


@st.composite
def lines(
    draw: st.DrawFn,
    states: Sequence[str],
    payable: Sequence[str],
    events: Sequence[str] = ("Go",),
    most: int = 6,
    always: bool = False,
    used_up: bool = False,
) -> str:
    """Rows from each of which another reads `A Go -> B; spends x; refills y; asks Call`, joined by line ends."""
    found: list[str] = []
    for _ in range(draw(st.integers(1, most))):
        source, target = draw(st.sampled_from(states)), draw(st.sampled_from([*states, "Z"]))
        text = f"{source} {draw(st.sampled_from(events))} -> {target}"
        if payable and draw(st.integers(0, 9)) < 6:
            text += f"; spends {draw(st.sampled_from(payable))}"
        refills = [one for one in payable if draw(st.integers(0, 9)) < 2]
        asks = [one for one in ("Call", "Tell") if draw(st.integers(0, 9)) < 3]
        text += f"; refills {' '.join(refills)}" if refills else ""
        text += f"; asks {' '.join(asks)}" if asks else ""
        text += "; always" if always and draw(st.integers(0, 9)) < 2 else ""
        if used_up and payable and draw(st.booleans()):
            text += f"; {draw(st.sampled_from(['while', 'once']))} {draw(st.sampled_from(payable))}"
        found.append(text)
    return "\n".join(found)


flat = st.integers(2, 4).flatmap(lambda size: lines("ABCD"[:size], BUDGETS))
sizes = st.fixed_dictionaries({name: st.integers(0, 2) for name in BUDGETS})


def machine(build: Any, text: str, **more: Any) -> Any:
    return build(*text.split("\n"), final="Z" if "-> Z" in text else "", **more)


def kinds(table: Any) -> list[Any]:
    held = [table, *(one.table for one in table.inners)]
    return [
        None,
        *sorted({kind for one in held for row in one.rows for kind in row.asks}, key=lambda one: one.__name__),
    ]


@FEW_EXAMPLES
@given(text=flat, size=sizes)
def test_a_bound_is_never_below_the_dearest_walk(build: Any, walk: Any, text: str, size: dict[str, int]) -> None:
    table = machine(build, text, budgets=size)
    for kind in kinds(table):
        found = ends(table, None, kind)
        if isinstance(found, Bound):
            most = walk(table, kind)
            assert most is not None
            assert most <= found.number


@FEW_EXAMPLES
@given(text=st.integers(2, 4).flatmap(lambda size: lines("ABCD"[:size], BUDGETS, used_up=True)), size=sizes)
def test_a_bound_that_knows_what_is_used_up_is_never_below_the_dearest_walk(
    build: Any, walk: Any, text: str, size: dict[str, int]
) -> None:
    try:
        table = machine(build, text, budgets=size)
    except BadTable:  # a row shadowed by one that asks no more, or a cell marked as ordered whose rows are apart
        reject()
    plain = machine(build, "\n".join(line.split("; while")[0] for line in text.split("\n")), budgets=size)
    for kind in kinds(table):
        found, less = ends(table, None, kind), ends(plain, None, kind)
        if isinstance(found, Bound):
            most = walk(table, kind)
            assert most is not None
            assert most <= found.number
            if isinstance(less, Bound) and "once" not in text:
                event("less" if found.number < less.number else "alike")
                assert found.number <= less.number


@FEW_EXAMPLES
@given(text=flat, size=sizes)
def test_a_payable_free_cycle_is_walked_for_ever(build: Any, walk: Any, text: str, size: dict[str, int]) -> None:
    table = machine(build, text, budgets=size)
    found = ends(table)
    if isinstance(found, FreeCycle) and found.payable:
        assert walk(table) is None


@FEW_EXAMPLES
@given(text=flat, size=sizes)
def test_a_free_cycle_is_walked_for_ever_where_budgets_are_large(
    build: Any, walk: Any, text: str, size: dict[str, int]
) -> None:
    """So the only tables that end and have no bound are those whose purse cannot pay for a way to a refill."""
    found = ends(machine(build, text, budgets=size))
    if isinstance(found, FreeCycle):
        longest = len(found.way) + 2 * len(found.hops)
        large = machine(build, text, budgets={name: min(full + longest, 12) for name, full in size.items()})
        if longest <= 12:
            assert walk(large) is None


@FEW_EXAMPLES
@given(text=flat, size=sizes)
def test_a_free_cycle_closes_and_gives_back_what_it_takes(build: Any, text: str, size: dict[str, int]) -> None:
    found = ends(machine(build, text, budgets=size))
    if isinstance(found, FreeCycle):
        walked = (*found.way, *found.hops)
        assert [hop.source for hop in walked] == [text[0], *(hop.target for hop in walked[:-1])]
        assert walked[-1].target == found.hops[0].source
        spent = {name for hop in found.hops for name in hop.spends}
        assert spent <= {name for hop in found.hops for name in hop.refills}


def formula(rows: Sequence[Any], states: Sequence[Any], size: dict[Any, int]) -> int | None:
    """Size x dearest row + (size + 1) x the rest, part by part, first budget first; None where none can be peeled."""
    far = {state: {state} for state in states}
    for _ in states:
        for source, target, *_ in rows:
            for one in states:
                if source in far[one]:
                    far[one].add(target)
    longest: dict[Any, int] = {}
    for state in sorted(states, key=lambda one: len(far[one])):
        if state in longest:
            continue
        part = {other for other in far[state] if state in far[other]}
        own = [row for row in rows if row[0] in part and row[1] in part]
        inside = 0
        if own:
            refilled = {what for row in own for what in row[3]}
            peel = next((row[2] for row in own if row[2] is not None and row[2] not in refilled), None)
            rest = None if peel is None else formula([row for row in own if row[2] is not peel], states, size)
            if peel is None or rest is None:
                return None
            inside = size[peel] + (size[peel] + 1) * rest
        onward = max((1 + longest[row[1]] for row in rows if row[0] in part and row[1] not in part), default=0)
        longest.update(dict.fromkeys(part, inside + onward))
    return max(longest.values(), default=0)


@FEW_EXAMPLES
@given(text=flat, size=sizes)
def test_the_bound_is_never_above_the_plain_formula(build: Any, text: str, size: dict[str, int]) -> None:
    table = machine(build, text, budgets=size)
    full = {budget: size[str(budget.value)] for budget in table.budgets}
    live = [
        (source, row.target, row.spends, row.refills)
        for row in table.rows
        for source in row.sources
        if full.get(row.spends, 1)
        and not (source is row.target and not row.spends and not row.refills and not row.asks)
    ]
    near = {table.initial}
    for _ in table.states:
        near |= {target for source, target, *_ in live if source in near}
    plain = formula([row for row in live if row[0] in near], table.states, full)
    found = ends(table)
    assert isinstance(found, Bound) is (plain is not None)
    if isinstance(found, Bound) and plain is not None:
        assert found.number <= plain


kid_lines = lines("PQ", ["p"], ("Go", "Tick"), 4, always=True)
deep_lines = lines("UV", ["q"], ("Go", "Tick"), 3)


@settings(max_examples=150, deadline=None)
@given(
    text=lines("AB", ["x", "kid"], ("Go", "Tick"), 6, always=True),
    kid=st.tuples(kid_lines, st.booleans(), st.integers(0, 2), st.sampled_from(["A", "B", "A B"]), st.integers(1, 2)),
    deep=st.none() | st.tuples(deep_lines, st.integers(0, 2), st.sampled_from(["P", "Q", "P Q"])),
    size=st.integers(0, 2),
)
def test_a_bound_with_inner_machines_is_never_below_the_dearest_walk(
    build: Any, hold: Any, walk: Any, text: str, kid: Any, deep: Any, size: int
) -> None:
    inside: dict[str, Any] = {}
    kid_text, paid, kid_size, during, most = kid
    try:
        if deep is not None:
            table = machine(build, deep[0], name="deep", depth=2, budgets={"q": deep[1]})
            inside["deep"] = hold(table, deep[2])
            kid_text = "P Go -> Q; spends deep; asks Call\nQ Tick -> P; spends p\n" + kid_text
        elif paid:
            kid_text = "P Go -> Q; spends p; asks Call\nQ Tick -> P; spends p\n" + kid_text
        else:
            kid_text = "P Go -> Q\n" + kid_text
        inner = machine(build, kid_text, name="kid", depth=1, budgets={"p": kid_size}, inners=inside)
        outer = "A Go -> B; spends kid\nB Tick -> A; spends kid\n" + text
        table = machine(build, outer, budgets={"x": size}, inners={"kid": hold(inner, during, most)})
    except BadTable:  # a row shadowed by one that always fires
        reject()
    for kind in kinds(table):
        found = ends(table, None, kind)
        event(type(found).__name__)
        if isinstance(found, FreeCycle):
            break
        try:
            walked = walk(table, kind, 800)
        except OverflowError:
            reject()
        assert walked is not None
        assert walked <= found.number
