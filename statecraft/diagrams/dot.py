"""A table in Graphviz's DOT language.

A state that runs an inner machine stands with it in one frame, and arrows lead to the state, not to the frame: a frame
cannot have an arrow to itself. Final states have a double line.
"""

from __future__ import annotations

from collections.abc import Iterator

from .drawn import Taken, check_fits, inner, looks
from .edges import AnyTable, Inside, Picture, picture
from .labels import Arrow, arrows, labels, total, whole, wrapped
from .listing import headline, listing
from .names import shown

INDENT = "    "
LEFT = "\\l"  # ends a line of a label and sets it to the left
NEVER = 'color="#cccccc", fontcolor="#999999"'
STYLES = {
    "never": f'{NEVER}, fillcolor="#f7f7f7"',
    "taken": 'color="#b35900", fillcolor="#fff3e0"',
    "ended": 'color="#b35900", fillcolor="#ffd699", penwidth=3',
}
TESTED = {
    "never": 'color="#c62828", fontcolor="#b71c1c", fillcolor="#ffebee"',
    "taken": 'color="#2e7d32", fillcolor="#e8f5e9"',
}
TESTED_ARROWS = {
    "never": 'color="#c62828", fontcolor="#b71c1c", penwidth=1.5',
    "taken": 'color="#2e7d32", penwidth=1.5',
    "part": 'color="#b26a00", fontcolor="#8a5200", penwidth=1.5',
}
WIDEST = 5.0  # points, of the arrow that was taken most


def dot(table: AnyTable, taken: Taken | None = None) -> str:
    """The table's diagram, or with `taken` that run drawn over it; ValueError where it is another machine's run.

    The same rows give the same text. Rows that share their two states stand on one arrow; every row in full, and the
    cells that are ignored or refused, stand before it as comments.
    """
    drawn = picture(table)
    if taken is not None:
        check_fits(drawn, taken)
    lines = [
        f"graph [label={quoted(headline(drawn, taken))}, labelloc=t, fontname=Helvetica]",
        # Without newrank a state in a frame may come to lie on its neighbour's line, their arrows upon each other.
        "graph [newrank=true, ranksep=0.6, nodesep=0.5]",
        'node [shape=box, style="rounded,filled", fillcolor=white, fontname=Helvetica, fontsize=12]',
        "edge [fontname=Helvetica, fontsize=10]",
        *_machine(drawn, taken),
    ]
    comments = [f"// {shown(line)}" for line in listing(drawn)]
    return "\n".join([*comments, f"digraph {drawn.box} {{", *(INDENT + line for line in lines), "}", ""])


def quoted(text: str) -> str:
    """The text as a DOT label that shows exactly it: backslashes and entities mean something in one."""
    return f'"{_plain(shown(text))}"'


def _plain(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


def _machine(drawn: Picture, run: Taken | None) -> Iterator[str]:
    look = {} if run is None else looks(drawn, run)
    styles = TESTED if run is not None and run.tested else STYLES
    for state in drawn.states:
        double = ", peripheries=2" if state in drawn.final else ""
        style = f", {styles[look[state]]}" if state in look else ""
        node = f"{drawn.ids[state]} [label={quoted(state)}{double}{style}]"
        within = [held for held in drawn.inside if held.during == (state,)]
        if not within:
            yield node
            continue
        yield f"subgraph cluster_{drawn.ids[state]} {{"
        yield f'{INDENT}graph [label="", style=rounded, color="#888888"]'
        yield INDENT + node
        for held in within:
            yield from (INDENT + line for line in _frame(held, held.picture.name, run))
            # No arrow: it only keeps the state above what runs in it.
            yield f"{INDENT}{drawn.ids[state]} -> {held.picture.box}_start [style=dotted, arrowhead=none]"
        yield "}"
    for held in drawn.inside:
        if len(held.during) != 1:
            yield from _frame(held, f"{held.picture.name}, in {', '.join(held.during) or 'no state'}", run)
    yield f'{drawn.box}_start [shape=point, width=0.15, fillcolor=black, label=""]'
    yield f"{drawn.box}_start -> {drawn.ids[drawn.initial]}"
    for arrow in arrows(drawn):
        yield f"{drawn.ids[arrow.source]} -> {drawn.ids[arrow.target]} [{_arrow(arrow, run)}]"


def _frame(held: Inside, title: str, run: Taken | None) -> Iterator[str]:
    yield f"subgraph cluster_{held.picture.box} {{"
    yield f'{INDENT}graph [label={quoted(title)}, style="rounded,dashed", color="#888888"]'
    yield from (INDENT + line for line in _machine(held.picture, None if run is None else inner(run, held)))
    yield "}"


def _arrow(arrow: Arrow, run: Taken | None) -> str:
    lines = [_plain(line) for told in labels(arrow, run) for line in wrapped(shown(told))]
    # A blank before each line keeps the words off the arrow.
    text = 'label="' + "".join(f" {line}{LEFT}" for line in lines) + '"'
    if run is None:
        return text
    count = total(arrow, run)
    if run.tested:
        return f"{text}, {TESTED_ARROWS['never' if not count else 'taken' if whole(arrow, run) else 'part']}"
    if not count:
        return f"{text}, {NEVER}"
    return f'{text}, color="#b35900", penwidth={min(WIDEST, 1.5 + count.bit_length() / 2)}'
