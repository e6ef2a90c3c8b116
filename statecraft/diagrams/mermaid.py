"""A table as a Mermaid `stateDiagram-v2`.

Mermaid reads its labels loosely: `;` and `:` end them, `#` begins an entity or a comment, `direction TB` anywhere on a
line turns the picture, `%%{` configures the renderer even inside a comment. So all but plain characters are written as
entities, and identifiers are our own. Arrows cannot be coloured in this kind of diagram: a run shows as counts, as
full labels on the rows that were taken, and in the colours of the states.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from .drawn import Taken, check_fits, inner, looks
from .edges import AnyTable, Inside, Picture, picture
from .labels import arrows, labels
from .listing import headline, listing
from .names import shown

INDENT = "    "
SPACING = "{state: {nodeSpacing: 130, rankSpacing: 100}}"  # less, and the labels of arrows to oneself cover others
STYLES = {
    "never": "fill:#f7f7f7,stroke:#cccccc,color:#999999",
    "taken": "fill:#fff3e0,stroke:#b35900,color:#000000",
    "ended": "fill:#ffd699,stroke:#b35900,color:#000000,stroke-width:4px",
}
TESTED = {
    "never": "fill:#ffebee,stroke:#c62828,color:#b71c1c",
    "taken": "fill:#e8f5e9,stroke:#2e7d32,color:#000000",
}
# A blank after & makes it plain; everything else outside of these may mean something to Mermaid or to HTML.
_SPECIAL = re.compile(
    r"&(?! )|[^\w &.,()\[\]/|~+=?!×≤…−-]|\[(?=\[)|(?<![^\W_])_|_(?![^\W_])|(?<=direction) ", re.IGNORECASE
)
_MINUS = re.compile(r" -(?=\w)")  # browsers break a line after a hyphen, not after a minus sign
_IN_COMMENT = re.compile(r"[%{}]")


def mermaid(table: AnyTable, taken: Taken | None = None) -> str:
    """The table's diagram, or with `taken` that run drawn over it; ValueError where it is another machine's run.

    The same rows give the same text. Rows that share their two states stand on one arrow; every row in full, and the
    cells that are ignored or refused, follow as comments.
    """
    drawn = picture(table)
    if taken is not None:
        check_fits(drawn, taken)
    title = json.dumps(shown(headline(drawn, taken)), ensure_ascii=False)
    lines = list(_machine(drawn, taken))
    if taken is not None:
        styles = TESTED if taken.tested else STYLES
        lines += [f"classDef {name} {style}" for name, style in styles.items()]
        lines += _classes(drawn, taken)
    lines += [f"%% {_comment(line)}" for line in listing(drawn)]
    head = ["---", f"title: {title}", f"config: {SPACING}", "---", "stateDiagram-v2"]
    return "\n".join([*head, *(INDENT + line for line in lines), ""])


def escaped(text: str) -> str:
    """The text as a Mermaid label that shows exactly it."""
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", shown(text))


def _comment(text: str) -> str:
    return _IN_COMMENT.sub(lambda found: f"#{ord(found[0])};", shown(text))


def _machine(drawn: Picture, run: Taken | None) -> Iterator[str]:
    alone = [held for held in drawn.inside if len(held.during) != 1]
    for state in drawn.states:
        within = [held for held in drawn.inside if held.during == (state,)]
        yield f'state "{escaped(state)}" as {drawn.ids[state]}' + (" {" if within else "")
        if within:
            for held in within:
                yield from (INDENT + line for line in _box(held, held.picture.name, run))
            yield "}"
    for held in alone:
        yield from _box(held, f"{held.picture.name}, in {', '.join(held.during) or 'no state'}", run)
    yield f"[*] --> {drawn.ids[drawn.initial]}"
    for arrow in arrows(drawn):
        text = "<br/>".join(escaped(_MINUS.sub(" −", shown(line))) for line in labels(arrow, run))
        yield f"{drawn.ids[arrow.source]} --> {drawn.ids[arrow.target]} : {text}"
    for state in drawn.final:
        yield f"{drawn.ids[state]} --> [*]"


def _classes(drawn: Picture, run: Taken) -> Iterator[str]:
    """At the top level also for what stands in a box, where Mermaid reads none."""
    for state, look in looks(drawn, run).items():
        yield f"class {drawn.ids[state]} {look}"
    for held in drawn.inside:
        yield from _classes(held.picture, inner(run, held))


def _box(held: Inside, title: str, run: Taken | None) -> Iterator[str]:
    yield f'state "{escaped(title)}" as {held.picture.box} {{'
    for line in _machine(held.picture, None if run is None else inner(run, held)):
        yield INDENT + line
    yield "}"
