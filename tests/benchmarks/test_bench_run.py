"""What a run costs: its memory at rest, what its ledger adds for each distinct thing, and the judging of a turn."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import attrs
import pytest

from machines.events import Begin, Reply, StopReason, TurnEnded, Usage
from machines.ledger.observe import call_of, result_of, text_of
from machines.ledger.work import Ledger
from machines.manifest import Tool, Wait
from machines.policy import Budget, Policy
from machines.run import RUN
from machines.state import Phase, Run, new_run, shared
from machines.supervisor import feed
from statecraft import Step

from .conftest import Bench

pytestmark = pytest.mark.benchmark

ENDLESS = Policy(budget=Budget(turns=None, seconds=None, tokens=None, usd=None, unbounded=True))
POLL = Tool(wait=Wait("state", ("running",), ("done",), 3_600.0, 5.0))
TOOLS = shared({"read": Tool(), "poll": POLL})
REST_BYTES = 2_048
THING_BYTES = 200


def replied(run: Run, number: int, tool: str = "read") -> Run:
    """The run after the model's next reply, with one call in it. All texts are new ones, as a host would make them."""
    call = call_of(f"call_{number}", f"{tool}", f'{{"path": "src/module_{number}.py"}}', TOOLS[tool])
    text = text_of(f"Now I read module {number}.")
    usage = Usage(15_000 + number, 300, 0, 0.02)
    return feed(run, Reply(10.0 * number, StopReason.TOOL_USE, (call,), text=text, usage=usage)).run


def turned(run: Run, number: int, tool: str = "read", value: object = None) -> Run:
    """The run after one whole turn."""
    run = replied(run, number, tool)
    said = f"content of module {number}" if value is None else value
    return feed(run, result_of(run.turn.open[0], TOOLS[tool], at=10.0 * number + 5, value=said)).run


def begun(name: str, policy: Policy = ENDLESS) -> Run:
    return feed(new_run(name, policy, tools=TOOLS), Begin(0.0)).run


def at_rest(name: str) -> Run:
    """A run that has done a few turns, and waits for the model."""
    run = begun(name)
    for number in range(1, 4):
        run = turned(run, number)
    assert run.at is Phase.ASKING
    return run


def waiting(name: str) -> Run:
    """A run that waits for a build."""
    run = turned(turned(begun(name), 1), 2, "poll", {"state": "running", "build": name})
    assert run.at is Phase.WAITING
    return run


def own_bytes(run: Run, like: Run) -> int:
    """The size of all that a run holds alone: without its ledger, and without what another run, made apart, holds too.

    So the policy, the tools, enum members, defaults, small numbers and interned strings count for nothing.
    """
    own, others = _values(run), _values(like)  # both are kept, so that no two of them have one id
    shared = {id(value) for value in others}
    return sum({id(value): sys.getsizeof(value) for value in own if id(value) not in shared}.values())


def _values(run: Run) -> list[object]:
    found: list[object] = []
    todo: list[object] = [attrs.evolve(run, ledger=Ledger())]
    while todo:
        value = todo.pop()
        found.append(value)
        if isinstance(value, Mapping):
            todo += [*value.keys(), *value.values()]
        elif isinstance(value, tuple | frozenset | list):
            todo += value
        elif not isinstance(value, Enum):
            todo += [getattr(value, field.name) for field in getattr(value, "__attrs_attrs__", ())]
    return found


@pytest.mark.parametrize("make", [at_rest, waiting])
def test_a_run_at_rest_holds_2_kb_beyond_its_ledger(make: Callable[[str], Run], bench: Bench) -> None:
    run, like = make("run number one"), make("run number two")
    found = own_bytes(run, like)
    assert found > sys.getsizeof(run)
    bench.hold(
        f"a run {run.at.value}, value by value",
        found,
        REST_BYTES,
        "bytes",
        beside="a transitions Machine each, 29 to 66 KB",
    )


def test_the_size_of_a_run_is_more_with_each_value_that_only_it_holds() -> None:
    run, like = at_rest("run number one"), at_rest("run number two")
    more = attrs.evolve(run, requires=(f"{run.id}/a.py",))
    assert own_bytes(more, like) - own_bytes(run, like) == sys.getsizeof(more.requires) + sys.getsizeof(
        more.requires[0]
    )


@pytest.mark.parametrize("make", [at_rest, waiting])
@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.deep)])
def test_many_runs_at_rest_take_2_kb_each_beyond_their_ledgers(
    make: Callable[[str], Run], count: int, bench: Bench
) -> None:
    make("warm")
    gc.collect()
    gc.disable()  # nothing that is made here needs it, and it would look at all of it again and again
    tracemalloc.start()
    try:
        runs = [make(f"run_{number}") for number in range(count)]
        gc.collect()  # it also empties what the interpreter keeps for its next small tuples
        whole = tracemalloc.get_traced_memory()[0]
        runs = [attrs.evolve(run, ledger=Ledger()) for run in runs]
        gc.collect()
        found = tracemalloc.get_traced_memory()[0] / count
    finally:
        tracemalloc.stop()
        gc.enable()
    assert len(runs) == count
    many = f"{count:,} runs {runs[0].at.value}"
    bench.hold(f"{many}, each", found, REST_BYTES, "bytes", beside="as tracemalloc sees it")
    bench.hold(f"{many}, with ledgers", whole / 1e6, 50 * count / 10_000, "MB", beside="10,000 of transitions, 292 MB")


GROW = """
import gc, os, pathlib, resource
from machines.events import Call, Result, Text
from machines.ledger.work import Ledger, learn_result
from machines.manifest import Tool

def learn(held, numbers):
    for number in numbers:
        digest = number.to_bytes(8, "big")
        call = Call("c", "read", digest, Text("0" * 64, 2))
        result = Result(0.0, "c", digest=digest, value=Text("1" * 64, 1))
        held[0] = learn_result(held[0], call, result, Tool(), 8).ledger

def used():
    pages = pathlib.Path("/proc/self/statm")  # Linux; the peak there would be the parent's
    if pages.exists():
        return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

held = [Ledger()]  # so that nobody keeps an older one
learn(held, range(1000))
gc.collect()
before = used()
learn(held, range(1000, {last}))
between = used()
learn(held, range(1000, {last}))
assert held[0].work.size == {last}
print(between - before, used() - between, sep=",")
"""


def test_the_ledger_takes_200_bytes_for_each_distinct_thing_and_none_for_what_it_knows(bench: Bench) -> None:
    """Measured as the memory of a process of its own: the persistent sets lie where tracemalloc sees nothing."""
    things = 100_000
    program = GROW.replace("{last}", str(1000 + things))
    path = {"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": "0"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=path, check=False)
    assert done.returncode == 0, done.stderr
    grown, grown_again = (int(part) for part in done.stdout.split(","))
    assert grown > things * 40  # an 8-byte digest alone is 41 bytes of Python
    bench.hold("the ledger, a distinct thing", grown / things, THING_BYTES, "bytes")
    bench.hold("the ledger, a thing that it knows", grown_again / things, THING_BYTES / 10, "bytes")


def before_the_end_of_turn(number: int) -> Run:
    """The run with the whole turn of this number in it, every result a new one, just before the turn is judged."""
    run = begun("long")
    for turn in range(1, number):
        run = turned(run, turn)
    run = replied(run, number)
    result = result_of(run.turn.open[0], TOOLS["read"], at=10.0 * number + 5, value=f"content of module {number}")
    answer = RUN.step(run, result)
    assert isinstance(answer, Step)
    assert answer.run.turn.number == number
    return answer.run


def test_all_detectors_judge_a_turn_in_60_us_and_no_slower_when_the_run_is_long(bench: Bench) -> None:
    early, late = before_the_end_of_turn(100), before_the_end_of_turn(10_000)
    judged: list[Any] = [RUN.step(run, TurnEnded(1e6)) for run in (early, late)]
    assert [(type(one), one.target) for one in judged] == [(Step, Phase.ASKING)] * 2
    # A run of its own each time, since what a run has worked out of its turn it does not work out again.
    (first, last, copied), factor = bench.race(
        lambda: RUN.step(attrs.evolve(early), TurnEnded(1e6)),
        lambda: RUN.step(attrs.evolve(late), TurnEnded(1e6)),
        lambda: attrs.evolve(early),
        rounds=25,
    )
    first, last = first - copied, last - copied
    bench.hold("TurnEnded, turn 10,000 to turn 100", last / first, 1.3, "x")
    bench.hold("TurnEnded, all detectors", first, 60 * factor, beside="HarnessX 9 to 13 us, OpenHands 29 to 59 us")


def test_a_whole_turn_costs_no_more_when_the_run_is_long(bench: Bench) -> None:
    early, late = begun("early"), begun("late")
    for number in range(1, 10_000):
        late = turned(late, number)
        early = late if number == 99 else early
    (first, last), _ = bench.race(lambda: turned(early, 10_000), lambda: turned(late, 10_000), rounds=25)
    bench.hold("a whole turn, from reply to next request", first, None)
    bench.hold("a whole turn, turn 10,000 to turn 100", last / first, 1.3, "x")
