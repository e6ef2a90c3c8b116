"""The edge set from which both languages are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from statecraft import Table
from statecraft.diagrams import Edge, edges
from statecraft.diagrams.edges import picture

AnyTable = Table[Any, Any, Any, Any]


def short(found: tuple[Edge, ...]) -> list[tuple[str, str, str, tuple[int, ...]]]:
    return [(edge.source, edge.event, edge.target, edge.rows) for edge in found]


def test_edges_come_by_source_in_the_order_of_the_enum_then_by_row(hall: AnyTable) -> None:
    assert short(edges(hall)) == [
        ("OPEN", "Push", "SHUT", (2,)),
        ("SHUT", "Push", "OPEN", (0,)),
        ("SHUT", "Push", "SHUT", (1,)),
    ]


def test_a_row_with_two_sources_is_two_edges(lift: AnyTable) -> None:
    assert [edge for edge in short(edges(lift)) if edge[3] == (5,)] == [
        ("IDLE", "Halt", "OUT", (5,)),
        ("MOVING", "Halt", "OUT", (5,)),
    ]


def test_rows_alike_in_source_event_and_target_are_one_edge(machine: Callable[..., AnyTable]) -> None:
    table = machine(
        "m",
        ["A", "B"],
        [
            ("A", "Go", "B", ("g", "h"), ()),
            ("A", "Go", "A", ("g",), ()),
            ("A", "Go", "B", (), ()),
            ("A", "By", "B", (), ()),
        ],
        final=["B"],
    )
    assert short(edges(table)) == [("A", "Go", "B", (0, 2)), ("A", "Go", "A", (1,)), ("A", "By", "B", (3,))]


def test_a_line_holds_all_that_a_row_says(lift: AnyTable) -> None:
    line = picture(lift).lines[0]
    assert (line.sources, line.event, line.target, line.effect) == (("IDLE",), "Call", "MOVING", "start")
    assert (line.guards, line.commands, line.paid) == (("(above & known)",), ("Drive",), ("-units", "+motor"))


def test_commands_stand_in_the_order_of_their_names(lift: AnyTable) -> None:
    assert picture(lift).lines[3].commands == ("Bell", "Drive")


def test_inner_machines_are_told_with_the_states_in_which_they_run(lift: AnyTable) -> None:
    assert [(held.picture.name, held.during) for held in picture(lift).inside] == [
        ("motor", ("MOVING",)),
        ("lamp", ("IDLE", "MOVING")),
    ]


def test_no_two_states_of_a_machine_and_its_inner_machines_share_an_identifier(
    machine: Callable[..., AnyTable],
) -> None:
    within = machine("A", ["A", "B"], [("A", "Go", "B", (), ())], final=["B"])
    whole = picture(machine("A", ["A", "B"], [("A", "Go", "B", (), ())], final=["B"], inside=[(within, ["A"])]))
    within_picture = whole.inside[0].picture
    found = [*whole.ids.values(), whole.box, *within_picture.ids.values(), within_picture.box]
    assert found == ["A", "B", "A_2", "A_3", "B_2", "A_4"]
