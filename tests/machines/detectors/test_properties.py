"""What no verdict rests on, and what every verdict rests on, for any history of an agent with every kind of tool."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from itertools import count, pairwise
from typing import Any, cast

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.detectors.roster import NUDGES
from machines.events import Condensed, ErrorKind, GoalMeasured, PlanChanged, PlanItem, Text
from machines.manifest import Kind, Tool
from machines.policy import DEFAULT, Limits, Plain

from .told import Answered, Call, Happening, Told, Verdict, told

TOOLS: Mapping[str, Tool] = {
    "open": Tool(kind=Kind.READ, source=("of",)),
    "find": Tool(kind=Kind.SEARCH),
    "lexicon": Tool(kind=Kind.READ, family="people", topic=("of",)),
    "papers": Tool(kind=Kind.READ, family="people", topic=("of",)),
    "save": Tool(kind=Kind.WRITE, target=("of",)),
    "build": Tool(kind=Kind.COMMAND),
    "look": Tool(look=True),
    "jot": Tool(scratch=True),
    "ponder": Tool(kind=Kind.THINK),
    "tail": Tool(repeats=True),
}
NAMES = [*TOOLS, "undeclared"]
OTHER_NAMES = [f"tool_{chr(122 - n)}" for n in range(len(NAMES))]  # in another order when sorted

ANSWERS: list[object] = [
    {"said": "one"},
    {"said": "two"},
    {"said": "three", "results": []},
    {"said": "four", "hits": 0},
    ErrorKind.TRANSIENT,
    ErrorKind.VALIDATION,
    ErrorKind.UNKNOWN_TOOL,
    Answered({"said": "kept"}, wrote=True, state="a"),
    Answered({"said": "kept"}, wrote=True, state="b"),
    Answered({"said": "kept"}, wrote=True),
    ...,
]
ARGUMENTS: list[dict[str, object]] = [
    {},
    {"of": "river towns", "n": 1},
    {"of": "towns on a river", "n": 2, "deep": {"b": [1, 2.5], "a": None}},
    {"of": "", "n": 0},
]


@attrs.frozen
class Made:
    """A call as it is drawn: its arguments are not spelled yet."""

    tool: str
    args: dict[str, object]
    answer: object


def plan(closed: int) -> PlanChanged:
    items = [PlanItem(Text(f"item {n}", 6), "completed" if n < closed else "pending") for n in range(3)]
    return PlanChanged(1.0, tuple(items))


Drawn = list[Made] | PlanChanged | GoalMeasured | Condensed

made = st.builds(Made, st.sampled_from(NAMES), st.sampled_from(ARGUMENTS), st.sampled_from(ANSWERS))
turns = st.lists(made, max_size=3)
other = (
    st.integers(0, 3).map(plan)
    | st.integers(0, 3).map(lambda done: GoalMeasured(1.0, done, 3))
    | st.sampled_from([0, 100_000]).map(lambda freed: Condensed(1.0, freed))
)
happenings: st.SearchStrategy[Drawn] = turns | turns | turns | other


def again(lap: list[Drawn]) -> list[Drawn]:
    return lap * 9


histories: st.SearchStrategy[list[Drawn]] = st.lists(happenings, max_size=16) | st.lists(
    happenings, min_size=1, max_size=3
).map(again)


def plainly(args: dict[str, object]) -> str:
    return json.dumps(args)


def spelled(
    history: list[Drawn],
    args: Callable[[dict[str, object]], str] = plainly,
    answer: Callable[[object], object] = lambda a: a,
) -> list[Happening]:
    return [
        [(one.tool, args(one.args), answer(one.answer)) for one in drawn] if isinstance(drawn, list) else drawn
        for drawn in history
    ]


def shorts(history: list[Happening], tools: Mapping[str, Tool] = TOOLS) -> list[Verdict]:
    return [one.short for one in told(history, tools=tools)]


def rules(history: list[Happening]) -> list[tuple[str, str]]:
    return [(verdict, by) for _, verdict, by in shorts(history)]


seeds = st.integers(0, 999)
law = settings(max_examples=80, deadline=None)


@given(history=histories, renamed=st.permutations(OTHER_NAMES))
@law
def test_no_verdict_rests_on_what_a_tool_is_called(history: list[Drawn], renamed: list[str]) -> None:
    names = dict(zip(NAMES, renamed, strict=True))
    tools = {names[name]: tool for name, tool in TOOLS.items()}
    called: list[Drawn] = [
        [attrs.evolve(one, tool=names[one.tool]) for one in drawn] if isinstance(drawn, list) else drawn
        for drawn in history
    ]
    assert shorts(spelled(called), tools) == shorts(spelled(history))


few = st.sampled_from(
    [Made(tool, args, answer) for tool in ("find", "papers", "tail") for args in ARGUMENTS for answer in ANSWERS]
)
wide: st.SearchStrategy[list[Drawn]] = st.lists(
    st.lists(few, max_size=3).flatmap(
        lambda some: st.lists(st.sampled_from(some), max_size=14) if some else st.just([])
    ),
    max_size=4,
)


@given(history=histories | wide, seed=seeds)
@law
def test_no_verdict_rests_on_the_order_of_the_calls_of_a_turn(history: list[Drawn], seed: int) -> None:
    shuffle = random.Random(seed)
    shuffled: list[Drawn] = [
        shuffle.sample(drawn, len(drawn)) if isinstance(drawn, list) else drawn for drawn in history
    ]
    assert shorts(spelled(shuffled)) == shorts(spelled(history))


def otherwise(shuffle: random.Random) -> Callable[[dict[str, object]], str]:
    """Arguments in another spelling each time: order of keys, white space, escapes, the form of numbers."""

    def value(given: object) -> str:
        if isinstance(given, dict):
            pairs = list(cast("dict[str, object]", given).items())
            space = shuffle.choice(["", " ", "\n\t"])
            inside = f",{space}".join(
                f'{space}"{name}"{space}:{value(item)}' for name, item in shuffle.sample(pairs, len(pairs))
            )
            return f"{{{inside}{space}}}"
        if isinstance(given, list):
            return "[" + ", ".join(map(value, cast("list[object]", given))) + "]"
        if isinstance(given, int):
            return shuffle.choice([f"{given}", f"{given}.0", f"{given}e0", f"{given * 10}E-1"])
        if isinstance(given, str) and shuffle.random() < 0.5:
            return '"' + "".join(f"\\u{ord(c):04x}" for c in given) + '"'
        return json.dumps(given)

    return value


@given(history=histories, seed=seeds)
@law
def test_no_verdict_rests_on_how_arguments_are_spelled(history: list[Drawn], seed: int) -> None:
    assert shorts(spelled(history, otherwise(random.Random(seed)))) == shorts(spelled(history))


def ticking(shuffle: random.Random) -> Callable[[object], object]:
    """Answers with what changes by itself, another each time."""

    def with_volatile(value: object) -> object:
        if isinstance(value, Answered):
            return attrs.evolve(value, value=with_volatile(value.value))
        if not isinstance(value, dict):
            return value
        number = shuffle.randrange(10**6)
        more: dict[str, Any] = {
            "served_at": f"2026-03-17T09:{number % 60:02}:{number // 60 % 60:02}Z",
            "request_id": f"req-{number:06x}",
            "latency_ms": number % 997,
            "log": f"finished after {number % 89 + 1}.{number % 7} seconds at 2026-03-17 09:{number % 60:02}:07",
        }
        fields = [*cast("dict[str, object]", value).items(), *more.items()]
        return dict(shuffle.sample(fields, len(fields)))

    return with_volatile


@given(history=histories, seed=seeds)
@law
def test_no_verdict_rests_on_what_only_ticks(history: list[Drawn], seed: int) -> None:
    # All ticking answers have a line of log, so the plain ones get one that stands still.
    still = ticking(random.Random(0))
    once = {repr(answer): still(answer) for answer in ANSWERS}
    plain = spelled(history, answer=lambda answer: once[repr(answer)])
    assert shorts(spelled(history, answer=ticking(random.Random(seed)))) == shorts(plain)


# Distinct work.


def distinct(kind: str, number: int) -> Call:
    """A call not made before that does something not done before."""
    said: object = {"said": f"news {number}", "results": [number]}
    if kind == "save":
        said = Answered("ok", wrote=True, state=f"state {number}")
    return kind, json.dumps({"of": f"matter {number}", "n": number}), said


WORKING = ["open", "find", "lexicon", "papers", "save", "build", "look", "tail", "undeclared"]
kinds = st.sampled_from(WORKING)


@given(
    batch=st.lists(st.lists(kinds, min_size=1, max_size=4), min_size=1, max_size=12),
    length=st.integers(1, 400),
    beside=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_distinct_work_earns_no_verdict_at_any_length(batch: list[list[str]], length: int, beside: bool) -> None:
    numbers = count()
    history: list[Happening] = []
    for turn in range(length):
        calls = [distinct(kind, next(numbers)) for kind in batch[turn % len(batch)]]
        note: list[Call] = [("jot", f'{{"line": {turn}}}', "kept")] if beside else []  # which brings nothing
        history.append(calls + note)
    assert shorts(history) == []


@pytest.mark.parametrize("kind", WORKING)
def test_four_hundred_turns_of_one_kind_of_work_earn_no_verdict(kind: str) -> None:
    assert shorts([[distinct(kind, number)] for number in range(400)]) == []


@given(history=histories, padding=st.lists(kinds, min_size=1, max_size=45))
@law
def test_work_before_a_history_hides_nothing_and_adds_nothing(history: list[Drawn], padding: list[str]) -> None:
    numbers = count(1_000)
    # By tools of its own, so that no result of the history is news for another reason.
    work: list[Happening] = [[("work", f'{{"n": {n}}}', f"news {n}")] for _, n in zip(padding, numbers, strict=False)]
    later = [(turn + len(padding), verdict, by) for turn, verdict, by in shorts(spelled(history))]
    assert shorts([*work, *spelled(history)]) == later


# What every verdict rests on.


def wanting(one: Told) -> str:
    """What is wrong with the evidence of a verdict; empty where nothing is."""
    if one.by == "escalation":
        return "" if {"detector", "older", "newer", "turn"} <= one.values.keys() else "a value is missing"
    limits: Plain = getattr(DEFAULT.detectors, one.by)
    now, stop = one.values["now"], one.values["stop"]
    assert isinstance(now, int)
    assert isinstance(stop, int)
    nudges, stops = limits.nudge, limits.stop
    if isinstance(limits, Limits) and one.values["failing"]:
        nudges, stops = limits.failing_nudge, limits.failing_stop
    assert nudges is not None
    if stops is not None and stop != stops:
        return f"its stop is said to be {stop}"
    if one.verdict == "stop":
        return "" if now >= stop else "stopped below its stop"
    return "" if nudges <= now < stop else "nudged outside of its limits"


@given(history=histories)
@settings(max_examples=200, deadline=None)
def test_every_verdict_has_its_counters_and_no_run_is_stopped_below_a_stop(history: list[Drawn]) -> None:
    for one in told(spelled(history), tools=TOOLS):
        assert one.by in {*NUDGES, "escalation"}
        assert wanting(one) == "", one


@given(history=histories)
@law
def test_a_detector_speaks_once_in_what_it_sees_without_a_break(history: list[Drawn]) -> None:
    """Of two nudges by one detector, right after one another, the second is of another streak, which began anew."""
    found = told(spelled(history), tools=TOOLS)
    nudges = [one for one in found if one.verdict == "nudge" and one.by not in ("redundant_check", "vain_condensing")]
    for one, other in pairwise(nudges):
        assert (one.by, one.turn + 1) != (other.by, other.turn)


@given(history=histories)
@law
def test_a_stop_is_the_last_verdict_and_a_turn_has_one_of_its_own(history: list[Drawn]) -> None:
    found = [one for one in told(spelled(history), tools=TOOLS) if one.by != "vain_condensing"]
    assert [one.verdict for one in found[:-1]].count("stop") == 0
    assert len({one.turn for one in found}) == len(found)
