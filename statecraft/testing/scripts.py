"""A walk through a table as a test that can be pasted into a file and run.

It begins with the start run and plays every event: `step_one` where a row was taken, with its number, so that the
script says when the machine has changed; where none was, what was answered instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from ..diagrams.edges import picture
from ..diagrams.listing import row as row_text
from ..heard import AnyTable
from ..proofs import Law, Taken
from ..step import Answer, Fault, Ignored, Refused, Step
from .homes import Home, Names, home_of
from .law_names import broken_name, put_in
from .layout import INDENT, Bracket, Node, laid_out
from .source import Writer

LOCAL = ("run", "event", "answer", "caught")
OURS = "statecraft.testing"


@attrs.frozen
class Asked:
    """A law, and what it remembers of the steps so far."""

    law: Law[Taken[Any, Any]]
    memory: Any


def script(
    table: AnyTable,
    run: Any,
    events: Iterable[Any],
    *,
    name: str = "test_it",
    because: str = "",
    law: Law[Taken[Any, Any]] | None = None,
    fails: bool = False,
) -> str:
    """The text of a test function `name` that plays the events from `run` on, with all that it imports.

    `because` becomes its docstring. `law` is asserted of the last step; where no
    module leads to it, the test fails there and says so. A `Fault` ends the script: it is expected, or
    with `fails` it comes through, so that the test fails until the machine is mended. What cannot be written stands as
    `...`, and a comment at the top says what it is.
    """
    names = Names((*LOCAL, name))
    writer = Writer(names)
    home = home_of(table)
    called = names.take(home) if home else "TABLE"
    if home is None:
        writer.missing.append(f"the table {table.name}: no module holds it by a name")
    body = laid_out(writer.write(run, "run"), "run = ", depth=1)
    asked = None if law is None else Asked(law, law.start)
    body += _played(writer, table, called, run, tuple(events), asked, fails)
    return whole(writer, name, because, body, ["TABLE = ...", ""] if home is None else [])


def whole(writer: Writer, name: str, because: str, body: Iterable[str], lacks: Iterable[str] = ()) -> str:
    """The text of the test: what it imports, what is to be put in by hand, and then the function."""
    doc = [f"{INDENT}{_docstring(because)}"] if because else []
    missing = [f"# Put in by hand where ... stands, {line}" for line in writer.missing]
    imports = writer.names.imports()
    head = [*imports, *([""] if imports else []), *missing, *lacks, ""]
    return "\n".join([*head, f"def {name}() -> None:", *doc, *body, ""])


def _played(
    writer: Writer, table: AnyTable, called: str, run: Any, events: Sequence[Any], asked: Asked | None, fails: bool
) -> Iterator[str]:
    rows = [row_text(line) for line in picture(table).lines]
    for number, event in enumerate(events):
        last = asked is not None and number == len(events) - 1
        sent: tuple[str, Node] = ("", writer.write(event, f"event {number}"))
        try:
            answer: Answer[Any, Any] = table.step(run, event)
        except Fault as fault:
            yield f"{INDENT}# {one_line(f'Fault: {fault}')}"
            yield from _faulty(writer, (("", called), ("", "run"), sent), fails)
            return
        if last:
            yield from laid_out(sent[1], "event = ", depth=1)
            sent = ("", "event")
        if isinstance(answer, Step):
            yield f"{INDENT}# {one_line(rows[answer.row])}"
            start = (("", called), ("", "run"), sent, ("row=", str(answer.row)))
            call = Bracket(f"{_ours(writer, 'step_one')}(", start, ")")
            yield from laid_out(call, "answer = " if last else "run = ", "" if last else ".run", depth=1)
        else:
            kind = type(answer).__name__
            why = answer.why if isinstance(answer, Refused | Ignored) else ""
            yield f"{INDENT}# {one_line(f'{kind}: {why}' if why else kind)}"
            yield from laid_out(Bracket(f"{called}.step(", (("", "run"), sent), ")"), "answer = ", depth=1)
            yield f"{INDENT}assert isinstance(answer, {writer.names.take(Home('statecraft', kind))})"
        if last:
            assert asked is not None
            yield from _asserted(writer, asked)
        elif asked is not None and asked.law.remember is not None:
            asked = Asked(asked.law, asked.law.remember(asked.memory, Taken(run, event, answer, answer.run)))
        run = answer.run


def _asserted(writer: Writer, asked: Asked) -> Iterator[str]:
    """The last line: what has to hold."""
    broken = broken_name(writer, asked.law)
    if broken is None:
        yield from put_in(writer, asked.law)
        return
    taken = writer.names.take(Home("statecraft.proofs", "Taken"))
    step = Bracket(f"{taken}(", tuple(("", one) for one in ("run", "event", "answer", "answer.run")), ")")
    values = (("", step), ("", writer.write(asked.memory, "what the law remembers")))
    yield from laid_out(Bracket(f"{broken}(", values, ")"), "assert not ", depth=1)


def _faulty(writer: Writer, start: tuple[tuple[str, Node], ...], fails: bool) -> Iterator[str]:
    call = Bracket(f"{_ours(writer, 'step_one')}(", start, ")")
    if fails:
        yield from laid_out(call, depth=1)
        return
    raises, fault = writer.names.take(Home("pytest", "raises")), writer.names.take(Home("statecraft", "Fault"))
    yield f"{INDENT}with {raises}({fault}):"
    yield from laid_out(call, depth=2)


def _ours(writer: Writer, name: str) -> str:
    return writer.names.take(Home(OURS, name))


def one_line(text: str) -> str:
    """The text without what ends a line."""
    return " ".join(text.split())


def _docstring(text: str) -> str:
    return '"""' + one_line(text).replace("\\", "\\\\").replace('"', "'") + '"""'
