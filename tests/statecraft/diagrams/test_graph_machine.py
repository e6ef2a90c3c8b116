"""The edges that transitions' own GraphMachine draws, beside ours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from transitions.extensions import GraphMachine

from machines.tables import TABLES
from statecraft import Table
from statecraft.diagrams import edges
from statecraft.guards import name_of

AnyTable = Table[Any, Any, Any, Any]
Drawn = tuple[str, str, str, str]  # source, event, guards, target


def drawn_by_transitions(table: AnyTable) -> Counter[Drawn]:
    """The arrows of the library's diagram of its own machine, set up as the engine sets up its core."""
    machine: Any = GraphMachine(
        "self",
        states=[state.name for state in table.states],
        initial=table.initial.name,
        auto_transitions=False,
        send_event=True,
        queued=False,
        show_conditions=True,
        graph_engine="mermaid",
    )
    for row in table.rows:
        for source in row.sources:
            guards = [name_of(guard) for guard in row.guards]
            machine.add_transition(row.event.__name__, source.name, row.target.name, conditions=guards)
    found = Counter[Drawn]()
    for line in machine.get_combined_graph().source.splitlines():
        if match := re.fullmatch(r"\s*(\w+) --> (\w+): (.+)", line):
            for label in match[3].split(" | "):
                event, _, asked = label.partition(" [")
                found[match[1], event, asked.removesuffix("]"), match[2]] += 1
    return found


def drawn_by_us(table: AnyTable) -> Counter[Drawn]:
    return Counter(
        (edge.source, edge.event, " & ".join(line.guards), edge.target) for edge in edges(table) for line in edge.lines
    )


@pytest.mark.parametrize("name", ["hall", "lift"])
def test_the_library_draws_the_same_edges(name: str, request: pytest.FixtureRequest) -> None:
    table: AnyTable = request.getfixturevalue(name)
    assert drawn_by_us(table) == drawn_by_transitions(table)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_library_draws_the_same_edges_of_the_machines_of_a_run(table: AnyTable) -> None:
    assert drawn_by_us(table) == drawn_by_transitions(table)


def test_the_library_draws_the_same_edges_of_a_larger_machine(machine: Callable[..., AnyTable]) -> None:
    states = [f"S{number}" for number in range(7)]
    rows = [
        (states[number], f"E{event}", states[(number * 3 + event) % 7], guards, ())
        for number in range(6)
        for event in range(3)
        for guards in (("g", "h"), ("g",), ())
    ]
    table = machine("large", states, rows, final=states[6:])
    ours = drawn_by_us(table)
    assert sum(ours.values()) == 54
    assert ours == drawn_by_transitions(table)


def test_the_check_can_fail(hall: AnyTable, lift: AnyTable) -> None:
    assert drawn_by_us(hall) != drawn_by_transitions(lift)
