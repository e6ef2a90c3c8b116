"""Strongly connected parts and shortest ways, against slower and plainer ways to find them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from statecraft.proofs.graph import reached, shortest_way, strong_parts

Graph = dict[int, list[int]]

graphs = st.integers(1, 7).flatmap(
    lambda size: st.dictionaries(st.integers(0, size - 1), st.lists(st.integers(0, size - 1), max_size=4)).map(
        lambda after: (list(range(size)), after)
    )
)


def closure(nodes: Sequence[int], after: Mapping[int, Sequence[int]]) -> dict[int, set[int]]:
    far = {node: {node} for node in nodes}
    for _ in nodes:
        for node in nodes:
            far[node] |= {other for one in list(far[node]) for other in after.get(one, ())}
    return far


@given(graphs)
def test_two_nodes_share_a_part_exactly_where_each_reaches_the_other(graph: tuple[list[int], Graph]) -> None:
    nodes, after = graph
    far = closure(nodes, after)
    found = {node: part for part in strong_parts(nodes, after) for node in part}
    assert sorted(found) == nodes
    for one in nodes:
        assert set(found[one]) == {other for other in far[one] if one in far[other]}


@given(graphs)
def test_every_edge_leads_to_the_same_part_or_to_one_before_it(graph: tuple[list[int], Graph]) -> None:
    nodes, after = graph
    place = {node: n for n, part in enumerate(strong_parts(nodes, after)) for node in part}
    assert all(place[other] <= place[node] for node, others in after.items() for other in others)


def test_a_part_lists_its_nodes_in_the_order_given() -> None:
    assert strong_parts([3, 1, 2], {1: [2], 2: [3], 3: [1]}) == [(3, 1, 2)]


def test_a_chain_longer_than_the_recursion_limit_is_no_trouble() -> None:
    size = 20_000
    chain = {n: [n + 1] for n in range(size - 1)}
    assert len(strong_parts(range(size), chain)) == size
    assert strong_parts(range(size), {**chain, size - 1: [0]}) == [tuple(range(size))]


@given(graphs)
def test_what_is_reached_is_what_the_closure_says(graph: tuple[list[int], Graph]) -> None:
    nodes, after = graph
    assert reached([0], after) == closure(nodes, after)[0]


def test_a_shortest_way_has_the_fewest_edges() -> None:
    out = {1: [("slow", 2), ("fast", 4)], 2: [("slow too", 3)], 3: [("there", 4)], 4: [("on", 5)]}
    assert shortest_way(1, 5, out) == ["fast", "on"]


def test_the_way_from_a_node_to_itself_is_empty_and_to_what_is_not_reached_is_none() -> None:
    out = {1: [("back", 1)]}
    assert shortest_way(1, 1, out) == []
    assert shortest_way(1, 2, out) is None
