"""The DOT text, read back by a small parser, and once by Graphviz itself where it is present."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import pytest
from attrs import define, field
from hypothesis import given, settings

from statecraft import Table
from statecraft.diagrams import Pair, dot, taken
from statecraft.diagrams.dot import quoted
from statecraft.diagrams.edges import Picture, picture
from statecraft.diagrams.labels import arrows, labels
from statecraft.diagrams.listing import listing
from statecraft.diagrams.names import shown

AnyTable = Table[Any, Any, Any, Any]
TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\w[\w.]*|->|[{}\[\]=,])', re.ASCII)


@define
class Read:
    """What a DOT text says: nodes and arrows with their attributes, frames with the frame around them."""

    nodes: dict[str, dict[str, str]] = field(factory=dict[str, dict[str, str]])
    arrows: list[tuple[str, str, dict[str, str]]] = field(factory=list[tuple[str, str, dict[str, str]]])
    frames: dict[str, dict[str, str]] = field(factory=dict[str, dict[str, str]])
    within: dict[str, str] = field(factory=dict[str, str])
    comments: list[str] = field(factory=list[str])


def read(text: str) -> Read:
    lines = text.split("\n")
    assert lines == [*text.splitlines(), ""], "a line ends where DOT sees none"
    found, around = Read(), list[str]()
    found.comments = [line for line in lines if line.startswith("//")]
    body = [line for line in lines if not line.startswith("//")][:-1]
    assert re.fullmatch(r"digraph \w+ \{", body[0], re.ASCII)
    assert body[-1] == "}"
    for tokens in (list(split(line)) for line in body[1:-1]):
        if tokens == ["}"]:
            around.pop()
        elif tokens[0] == "subgraph":
            assert tokens[2:] == ["{"]
            found.within[tokens[1]] = around[-1] if around else ""
            around.append(tokens[1])
        elif tokens[0] == "graph":
            found.frames.setdefault(around[-1] if around else "", {}).update(attributes(tokens[1:]))
        elif tokens[0] in ("node", "edge"):
            attributes(tokens[1:])
        elif tokens[1] == "->":
            found.arrows.append((tokens[0], tokens[2], attributes(tokens[3:])))
        else:
            assert tokens[0] not in found.nodes
            found.nodes[tokens[0]] = attributes(tokens[1:])
            found.within[tokens[0]] = around[-1] if around else ""
    assert not around
    return found


def split(line: str) -> Iterator[str]:
    at = 0
    while at < len(line):
        match = TOKEN.match(line, at)
        assert match, line[at:]
        yield match[1]
        at = match.end()


def attributes(tokens: list[str]) -> dict[str, str]:
    if not tokens:
        return {}
    assert (tokens[0], tokens[-1]) == ("[", "]")
    inside = tokens[1:-1]
    assert inside[1::4] == ["="] * len(inside[0::4])
    assert inside[3::4] == [","] * (len(inside[0::4]) - 1)
    return dict(zip(inside[0::4], inside[2::4], strict=True))


def plain(label: str) -> list[str]:
    """The lines that Graphviz shows for a label; a backslash may only stand before itself, a quote or an `l`."""
    pieces = re.findall(r"\\.|[^\\]", label[1:-1])
    assert {piece for piece in pieces if piece.startswith("\\")} <= {"\\\\", '\\"', "\\l"}
    lines = "".join("\n" if piece == "\\l" else piece[-1] for piece in pieces).split("\n")
    return [html.unescape(line) for line in lines]


def arrow_text(label: str) -> list[str]:
    """The words of an arrow's label, without the blanks and line ends that only lay them out."""
    return " ".join(plain(label)).split()


def every(drawn: Picture) -> Iterator[Picture]:
    yield drawn
    for held in drawn.inside:
        yield from every(held.picture)


def test_the_door_as_a_whole(hall: AnyTable) -> None:
    assert (
        dot(hall)
        == """\
// hall: OPEN, SHUT
//   from SHUT to no end
//   budget drops 3
//   0 SHUT Push [strong] -> OPEN swing / Ring -drops
//   1 SHUT Push -> SHUT keep
//   2 OPEN Push -> SHUT keep
//   ignored: OPEN on Knock, because it is open
//   refused: SHUT on Knock, because nobody is in
digraph hall {
    graph [label="hall", labelloc=t, fontname=Helvetica]
    graph [newrank=true, ranksep=0.6, nodesep=0.5]
    node [shape=box, style="rounded,filled", fillcolor=white, fontname=Helvetica, fontsize=12]
    edge [fontname=Helvetica, fontsize=10]
    OPEN [label="OPEN"]
    SHUT [label="SHUT"]
    hall_start [shape=point, width=0.15, fillcolor=black, label=""]
    hall_start -> SHUT
    OPEN -> SHUT [label=" 2 Push\\l"]
    SHUT -> OPEN [label=" 0 Push [strong] / Ring -drops\\l"]
    SHUT -> SHUT [label=" 1 Push\\l"]
}
"""
    )


def test_an_inner_machine_stands_in_a_frame_with_its_state(lift: AnyTable) -> None:
    found = read(dot(lift))
    assert found.within["MOVING"] == found.within["cluster_motor"] == "cluster_MOVING"
    assert (found.within["SLOW"], found.frames["cluster_motor"]["label"]) == ("cluster_motor", '"motor"')


def test_an_inner_machine_of_several_states_stands_beside_them_and_names_them(lift: AnyTable) -> None:
    found = read(dot(lift))
    assert (found.within["cluster_lamp"], found.frames["cluster_lamp"]["label"]) == ("", '"lamp, in IDLE, MOVING"')


def test_final_states_have_a_double_line(lift: AnyTable) -> None:
    nodes = read(dot(lift)).nodes
    assert [name for name, said in nodes.items() if said.get("peripheries") == "2"] == ["HOT", "OUT"]


@settings(deadline=None)
@given(data=st.data())
def test_hostile_names_add_no_nodes_and_no_arrows_and_are_shown_as_they_are(
    data: st.DataObject, hostile_tables: st.SearchStrategy[AnyTable]
) -> None:
    table = data.draw(hostile_tables)
    found, whole = read(dot(table)), picture(table)
    states, drawn = dict[str, list[str]](), list[tuple[str, str, list[str]]]()
    for one in every(whole):
        states.update((one.ids[state], [shown(state)]) for state in one.states)
        drawn += [
            (one.ids[arrow.source], one.ids[arrow.target], " ".join(shown(text) for text in labels(arrow)).split())
            for arrow in arrows(one)
        ]
    starts = {f"{one.box}_start" for one in every(whole)}
    assert {name: plain(said["label"]) for name, said in found.nodes.items() if name not in starts} == states
    assert starts == found.nodes.keys() - states.keys()
    between_states = [(a, b, arrow_text(said["label"])) for a, b, said in found.arrows if {a, b}.isdisjoint(starts)]
    assert sorted(between_states) == sorted(drawn)
    assert len(found.comments) == len(list(listing(whole)))


@given(data=st.data())
def test_a_hostile_label_reads_back_as_it_was(data: st.DataObject, hostile: st.SearchStrategy[str]) -> None:
    name = data.draw(hostile)
    assert plain(quoted(name)) == [shown(name)]


def test_graphviz_sees_the_states_that_we_meant(lift: AnyTable) -> None:
    program = shutil.which("dot")
    if program is None:
        pytest.skip("Graphviz is not installed")
    ran = subprocess.run([program, "-Tplain"], input=dot(lift).encode(), capture_output=True, check=True)
    nodes = {line.split()[1] for line in ran.stdout.decode().splitlines() if line.startswith("node ")}
    states = {"IDLE", "MOVING", "OUT", "SLOW", "FAST", "HOT", "DARK", "LIT"}
    assert nodes == states | {"lift_start", "motor_start", "lamp_start"}
    assert not ran.stderr


def test_what_a_run_took_is_coloured_and_the_rest_is_grey(lift: AnyTable, lift_answers: list[Any]) -> None:
    found = read(dot(lift, taken(lift_answers[:1])))
    colours = {(a, b): (said["color"], said.get("penwidth")) for a, b, said in found.arrows if "color" in said}
    assert colours.pop(("IDLE", "MOVING")) == ('"#b35900"', "2.0")
    assert set(colours.values()) == {('"#cccccc"', None)}
    assert found.nodes["MOVING"]["fillcolor"] == '"#ffd699"'
    assert found.nodes["IDLE"]["fillcolor"] == '"#fff3e0"'
    assert found.nodes["OUT"]["fillcolor"] == '"#f7f7f7"'


@pytest.mark.parametrize(("times", "width"), [(1, "2.0"), (2, "2.5"), (63, "4.5"), (64, "5.0"), (1_000, "5.0")])
def test_an_arrow_grows_with_its_count_up_to_a_limit(hall: AnyTable, times: int, width: str) -> None:
    steps: list[Pair] = [(1, {})] * times
    found = read(dot(hall, taken(steps, hall)))
    assert [said["penwidth"] for a, b, said in found.arrows if (a, b) == ("SHUT", "SHUT")] == [width]
