"""Every line that can be written is read as it was."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, get_args

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from machines.manifest import Kind, Tool, Wait
from machines.traces import lines as t
from machines.traces.json_text import write_json
from machines.traces.neutral import dumps, read

TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
NAMES = st.lists(TEXT, max_size=3).map(tuple)
COUNT = st.integers(0, 10**15)
NUMBER = st.floats(0, 1e12)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**25), 10**25) | st.floats(-1e9, 1e9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
SCALARS = st.lists(st.none() | st.booleans() | COUNT | TEXT, max_size=2).map(tuple)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


WAITS = st.builds(
    Wait,
    progress_field=TEXT,
    waiting_values=SCALARS,
    terminal_values=SCALARS,
    max_wait_seconds=maybe(NUMBER),
    min_interval_seconds=maybe(NUMBER),
)
TOOLS = st.builds(
    Tool,
    kind=st.sampled_from(Kind),
    required=NAMES,
    may_be_empty=st.booleans() | NAMES.filter(bool),
    volatile=NAMES,
    repeats=st.booleans(),
    idempotent=st.booleans(),
    scratch=st.booleans(),
    identity=NAMES,
    target=NAMES,
    source=NAMES,
    family=maybe(TEXT),
    topic=NAMES,
    look=st.booleans(),
    fruitless=st.lists(JSON, max_size=2).map(tuple),
    poll=st.booleans(),
    timeout_seconds=maybe(NUMBER),
    idle_seconds=maybe(NUMBER),
    wait=maybe(WAITS),
)
BUDGETS = st.builds(t.Budget, turns=maybe(COUNT), seconds=maybe(NUMBER), tokens=maybe(COUNT), usd=maybe(NUMBER))
RUNS = st.builds(
    t.RunLine,
    id=TEXT,
    title=maybe(TEXT),
    task=maybe(TEXT),
    tools=st.dictionaries(TEXT, TOOLS, max_size=2),
    budget=maybe(BUDGETS),
    policy=maybe(TEXT | OBJECT),
    agent=maybe(TEXT | OBJECT),
    work=maybe(st.sampled_from(get_args(t.Work))),
    requires=NAMES,
)
CALLS = st.builds(t.CallSpec, id=TEXT, tool=TEXT, args=OBJECT.map(lambda args: write_json(args).decode())) | st.builds(
    t.CallSpec, id=TEXT, tool=TEXT, args=TEXT, raw=st.just(True)
)
USAGES = st.builds(t.Usage, input=maybe(COUNT), output=maybe(COUNT), cached=maybe(COUNT), usd=maybe(NUMBER))
FACTS = st.builds(
    t.Facts,
    answer_producing=maybe(st.booleans()),
    attempted=maybe(st.booleans()),
    eligible=maybe(COUNT),
    grounded=maybe(st.booleans()),
    honest_no_source=maybe(st.booleans()),
    blockers=maybe(st.booleans() | COUNT | NAMES),
    recovering=maybe(st.booleans()),
)
REPLIES = st.builds(
    t.ReplyLine,
    stop=st.sampled_from(get_args(t.Stop)),
    calls=st.lists(CALLS, max_size=3).map(tuple),
    text=TEXT,
    thinking=TEXT,
    usage=maybe(USAGES),
    kind=maybe(st.sampled_from(get_args(t.ReplyKind))),
    facts=maybe(FACTS),
    agent=maybe(TEXT),
)
ERRORS = st.builds(t.result_error, st.sampled_from(get_args(t.ErrorKind)) | TEXT, maybe(TEXT))
RESULTS = st.builds(
    t.ResultLine,
    call=TEXT,
    value=st.just(t.UNSEEN) | JSON,
    error=maybe(ERRORS),
    state=maybe(TEXT),
    target=maybe(TEXT),
    wrote=st.booleans(),
)
ITEMS = st.builds(t.PlanItem, content=TEXT, status=st.sampled_from(get_args(t.PlanStatus)))
OTHERS = st.one_of(
    st.builds(t.UserLine, text=TEXT, synthetic=st.booleans()),
    st.builds(t.PlanLine, items=st.lists(ITEMS, max_size=3).map(tuple)),
    st.builds(t.GoalLine, done=NUMBER, total=NUMBER),
    st.builds(t.RefusalLine, status=COUNT, body=JSON, headers=st.dictionaries(TEXT, TEXT, max_size=2)),
    st.builds(t.CondensedLine, freed=COUNT, summarised=maybe(st.booleans() | COUNT | TEXT)),
    st.builds(t.SignalLine, name=TEXT, value=JSON),
    st.builds(t.CancelLine, reason=maybe(TEXT)),
    st.builds(t.EndLine, status=TEXT, text=TEXT),
)


@st.composite
def recordings(draw: st.DrawFn) -> list[t.Line]:
    """One or two runs whose times, once known, never fall."""
    made: list[t.Line] = []
    for run in draw(st.lists(RUNS, min_size=1, max_size=2)):
        made.append(run)
        now: float | None = None
        for line in draw(st.lists(REPLIES | RESULTS | OTHERS, max_size=4)):
            gap = draw(maybe(NUMBER))
            now = now if gap is None else gap + (now or 0.0)
            made.append(evolve(line, at=now))
    return made


@given(recordings())
def test_lines_that_are_written_are_read_as_they_were(made: list[t.Line]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        path.write_bytes(b"".join(dumps(line) + b"\n" for line in made))
        found = [line for run in read(path) for line in (run.run, *(line for _, line in run.lines))]
    assert found == made


@given(recordings())
def test_a_line_is_written_without_a_line_break(made: list[t.Line]) -> None:
    for line in made:
        assert b"\n" not in dumps(line)


def test_what_is_empty_is_left_out_and_what_the_format_requires_is_not() -> None:
    assert dumps(t.RunLine("r")) == b'{"t":"run","id":"r","format":"statecraft.trace/1"}'
    assert dumps(t.ReplyLine("end_turn")) == b'{"t":"reply","stop":"end_turn","calls":[]}'
    assert dumps(t.ResultLine("c")) == b'{"t":"result","call":"c"}'
    assert dumps(t.ResultLine("c", None)) == b'{"t":"result","call":"c","value":null}'
    assert dumps(t.RefusalLine(0, None)) == b'{"t":"refusal","status":0,"body":null}'


def test_the_text_of_arguments_is_written_as_it_is_held() -> None:
    held = t.ReplyLine("tool_use", (t.CallSpec("c", "f", '{"b": 1.50, "a":12345678901234567890123}'),))
    assert b'"args":{"b": 1.50, "a":12345678901234567890123}' in dumps(held)


def test_an_error_keeps_the_name_it_came_with() -> None:
    assert t.result_error("timeout").kind == "timeout"
    assert t.result_error("rate_limited").kind == "other"
    assert b'"kind":"rate_limited"' in dumps(t.ResultLine("c", error=t.result_error("rate_limited")))
