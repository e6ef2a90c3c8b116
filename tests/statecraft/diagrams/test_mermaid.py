"""The Mermaid text, read back by a parser that knows only what may stand in it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis.strategies as st
import pytest
from attrs import define, field
from hypothesis import given, settings

from statecraft import Table
from statecraft.diagrams import edges, mermaid, taken
from statecraft.diagrams.edges import Picture, picture
from statecraft.diagrams.labels import arrows, labels
from statecraft.diagrams.listing import listing
from statecraft.diagrams.mermaid import escaped
from statecraft.diagrams.names import shown

AnyTable = Table[Any, Any, Any, Any]

# What Mermaid's lexer, its directives, Markdown and HTML would act on, looked for once the entities are taken out.
MEANS_SOMETHING = re.compile(r"[;:#{}\"<>`*%\\^@$]|\[\[|direction\s|&(?! )|(?<![^\W_])_|_(?![^\W_])", re.IGNORECASE)
ENTITY = re.compile(r"#\d+;")


@define
class Read:
    """What a Mermaid text says: states by identifier, arrows, starts and ends, boxes by the identifier around them."""

    states: dict[str, str] = field(factory=dict[str, str])
    arrows: list[tuple[str, str, list[str]]] = field(factory=list[tuple[str, str, list[str]]])
    starts: list[str] = field(factory=list[str])
    ends: list[str] = field(factory=list[str])
    within: dict[str, str] = field(factory=dict[str, str])
    classes: dict[str, str] = field(factory=dict[str, str])
    comments: list[str] = field(factory=list[str])


def read(text: str) -> Read:
    lines = text.split("\n")
    assert lines == [*text.splitlines(), ""], "a line ends where Mermaid sees none"
    assert [lines[0], lines[3], lines[4]] == ["---", "---", "stateDiagram-v2"]
    found, around = Read(), list[str]()
    for line in (line.lstrip(" ") for line in lines[5:-1]):
        if line == "}":
            around.pop()
        elif match := re.fullmatch(r'state "([^"]+)" as (\w+)( \{)?', line, re.ASCII):
            assert match[2] not in found.states
            found.states[match[2]] = plain(match[1])
            found.within[match[2]] = around[-1] if around else ""
            around += [match[2]] if match[3] else []
        elif match := re.fullmatch(r"\[\*\] --> (\w+)", line, re.ASCII):
            found.starts.append(match[1])
        elif match := re.fullmatch(r"(\w+) --> \[\*\]", line, re.ASCII):
            found.ends.append(match[1])
        elif match := re.fullmatch(r"(\w+) --> (\w+) : (.+)", line, re.ASCII):
            found.arrows.append((match[1], match[2], [plain(part) for part in match[3].split("<br/>")]))
        elif match := re.fullmatch(r"class (\w+) (\w+)", line, re.ASCII):
            assert not around, "Mermaid reads no class in a box"
            found.classes[match[1]] = match[2]
        elif line.startswith("%% "):
            assert "%" not in line[3:]
            assert "{" not in line
            found.comments.append(line[3:])
        else:
            assert re.fullmatch(r"classDef \w+ [\w:#,-]+", line), line
    assert not around
    return found


def plain(text: str) -> str:
    assert not MEANS_SOMETHING.search(ENTITY.sub("x", text)), text
    return html.unescape(ENTITY.sub(lambda match: f"&{match[0]}", re.sub(r"&(?=\s)", "&amp;", text)))


def every(drawn: Picture) -> Iterator[Picture]:
    yield drawn
    for held in drawn.inside:
        yield from every(held.picture)


def minus(text: str) -> str:
    return re.sub(r" -(?=\w)", " −", text)


def test_the_door_as_a_whole(hall: AnyTable) -> None:
    assert (
        mermaid(hall)
        == """\
---
title: "hall"
config: {state: {nodeSpacing: 130, rankSpacing: 100}}
---
stateDiagram-v2
    state "OPEN" as OPEN
    state "SHUT" as SHUT
    [*] --> SHUT
    OPEN --> SHUT : 2 Push
    SHUT --> OPEN : 0 Push [strong] / Ring −drops
    SHUT --> SHUT : 1 Push
    %% hall: OPEN, SHUT
    %%   from SHUT to no end
    %%   budget drops 3
    %%   0 SHUT Push [strong] -> OPEN swing / Ring -drops
    %%   1 SHUT Push -> SHUT keep
    %%   2 OPEN Push -> SHUT keep
    %%   ignored: OPEN on Knock, because it is open
    %%   refused: SHUT on Knock, because nobody is in
"""
    )


def test_an_inner_machine_stands_in_the_state_in_which_it_runs(lift: AnyTable) -> None:
    found = read(mermaid(lift))
    assert found.within["motor"] == "MOVING"
    assert {state: box for state, box in found.within.items() if box == "motor"} == dict.fromkeys(
        ["SLOW", "FAST", "HOT"], "motor"
    )
    assert found.starts == ["SLOW", "DARK", "IDLE"]
    assert found.ends == ["HOT", "OUT"]


def test_an_inner_machine_of_several_states_stands_beside_them_and_names_them(lift: AnyTable) -> None:
    found = read(mermaid(lift))
    assert found.states["lamp"] == "lamp, in IDLE, MOVING"
    assert (found.within["lamp"], found.within["DARK"]) == ("", "lamp")


def test_every_edge_is_on_an_arrow(lift: AnyTable) -> None:
    arrows_drawn = {(source, target) for source, target, _ in read(mermaid(lift)).arrows}
    assert {(edge.source, edge.target) for edge in edges(lift)} <= arrows_drawn


def test_the_same_table_gives_the_same_text(lift: AnyTable) -> None:
    assert mermaid(lift) == mermaid(lift)


@settings(deadline=None)
@given(data=st.data())
def test_hostile_names_add_no_states_and_no_arrows_and_are_shown_as_they_are(
    data: st.DataObject, hostile_tables: st.SearchStrategy[AnyTable]
) -> None:
    table = data.draw(hostile_tables)
    found, whole = read(mermaid(table)), picture(table)
    states, drawn = dict[str, str](), list[tuple[str, str, list[str]]]()
    for one in every(whole):
        states.update((one.ids[state], shown(state)) for state in one.states)
        drawn += [
            (one.ids[arrow.source], one.ids[arrow.target], [minus(shown(text)) for text in labels(arrow)])
            for arrow in arrows(one)
        ]
    boxes = {one.box for one in every(whole)} - {whole.box}
    assert {state: name for state, name in found.states.items() if state not in boxes} == states
    assert boxes == found.states.keys() - states.keys()
    assert sorted(found.arrows) == sorted(drawn)
    assert len(found.comments) == len(list(listing(whole)))


@given(data=st.data())
def test_a_hostile_label_reads_back_as_it_was(data: st.DataObject, hostile: st.SearchStrategy[str]) -> None:
    name = data.draw(hostile)
    assert plain(escaped(name)) == shown(name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("(a & b)", "(a & b)"),
        ("no_progress at stop", "no_progress at stop"),
        ("a&b", "a#38;b"),
        ("a;b", "a#59;b"),
        ("a --> b", "a --#62; b"),
        ("direction LR", "direction#32;LR"),
        ("directions LR", "directions LR"),
        ("[[fork]]", "#91;[fork]]"),
        ("[fork]", "[fork]"),
        ("__init__", "#95;#95;init#95;#95;"),
    ],
)
def test_only_what_means_something_is_written_as_an_entity(name: str, text: str) -> None:
    assert escaped(name) == text


def test_a_run_marks_states_and_counts_rows(hall: AnyTable, hall_answers: list[Any]) -> None:
    text = mermaid(hall, taken(hall_answers))
    found = read(text)
    assert 'title: "hall: 4 rows taken, stands in OPEN"' in text
    assert found.classes == {"OPEN": "ended", "SHUT": "taken"}
    assert found.arrows == [
        ("OPEN", "SHUT", ["2 Push ×1"]),
        ("SHUT", "OPEN", ["0 Push [strong] / Ring −drops ×2"]),
        ("SHUT", "SHUT", ["1 Push ×1"]),
    ]


def test_a_run_marks_the_inner_machines_too(lift: AnyTable, lift_answers: list[Any]) -> None:
    found = read(mermaid(lift, taken(lift_answers)))
    lift_itself = {"IDLE": "taken", "MOVING": "taken", "OUT": "ended"}
    motor = {"SLOW": "taken", "FAST": "taken", "HOT": "ended"}
    assert found.classes == lift_itself | motor | {"DARK": "taken", "LIT": "ended"}


def test_rows_that_a_run_never_took_are_given_by_number(lift: AnyTable, lift_answers: list[Any]) -> None:
    told = {(source, target): text for source, target, text in read(mermaid(lift, taken(lift_answers[:1]))).arrows}
    assert told["IDLE", "MOVING"] == ["0 Call [(above & known)] / Drive −units +motor ×1"]
    assert told["MOVING", "IDLE"] == ["3 Tick"]
    assert told["IDLE", "IDLE"] == ["1, 4 Call, Tick"]


def test_what_the_run_took_comes_before_what_it_never_took(lift: AnyTable, lift_answers: list[Any]) -> None:
    without = [answer for answer in lift_answers if answer.row != 1]
    told = {(source, target): text for source, target, text in read(mermaid(lift, taken(without))).arrows}
    assert told["IDLE", "IDLE"] == ["4 Tick ×1", "never 1"]


def test_a_state_that_the_run_never_saw_is_grey(machine: Callable[..., AnyTable]) -> None:
    table = machine("m", ["A", "B", "C"], [("A", "Go", "B", ("g",), ()), ("A", "Go", "C", (), ())], final=["B", "C"])
    assert read(mermaid(table, taken([(1, {})], table))).classes == {"A": "taken", "B": "never", "C": "ended"}
