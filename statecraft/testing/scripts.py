"""A walk through a table as a test that can be pasted into a file and run.

It begins with the start run and plays every event: `step_one` where a row was taken, with its number, so that the
script says when the machine has changed; where none was, what was answered instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..diagrams.edges import picture
from ..diagrams.listing import row as row_text
from ..heard import AnyTable
from ..step import Answer, Fault, Ignored, Refused, Step
from .homes import Home, Names, home_of
from .layout import INDENT, Bracket, Node, laid_out
from .source import Writer

LOCAL = ("run", "event", "answer", "caught")
_NO_MEMORY: Any = object()
OURS = "statecraft.testing"


def script(
    table: AnyTable,
    run: Any,
    events: Iterable[Any],
    *,
    name: str = "test_it",
    because: str = "",
    law: Callable[..., object] | None = None,
    memory: Any = _NO_MEMORY,
    fails: bool = False,
) -> str:
    """The text of a test function `name` that plays the events from `run` on, with all that it imports.

    `because` becomes its docstring. `law`, a function of the last answer, is asserted at the end; with `memory` it is
    the `broken` of a law of the proofs, which is asked of the last step, and of what it remembered before. A `Fault`
    ends the script: it is expected, or with `fails` it comes through, so that the test fails until the machine is
    mended. What cannot be written stands as `...`, and a comment at the top says what it is.
    """
    names = Names((*LOCAL, name))
    writer = Writer(names)
    home = home_of(table)
    called = names.take(home) if home else "TABLE"
    if home is None:
        writer.missing.append(f"the table {table.name}: no module holds it by a name")
    body = laid_out(writer.write(run, "run"), "run = ", depth=1)
    body += _played(writer, table, called, run, events, law, memory, fails)
    doc = [f"{INDENT}{_docstring(because)}"] if because else []
    lacks = [f"# Put in by hand where ... stands, {line}" for line in writer.missing]
    lacks += ["TABLE = ...", ""] if home is None else []
    imports = names.imports()
    head = [*imports, *([""] if imports else []), *lacks, ""]
    return "\n".join([*head, f"def {name}() -> None:", *doc, *body, ""])


def _played(
    writer: Writer,
    table: AnyTable,
    called: str,
    run: Any,
    events: Iterable[Any],
    law: Callable[..., object] | None,
    memory: Any,
    fails: bool,
) -> Iterator[str]:
    rows = [row_text(line) for line in picture(table).lines]
    listed = list(events)
    for number, event in enumerate(listed):
        last = number == len(listed) - 1 and law is not None
        sent: tuple[str, Node] = ("", writer.write(event, f"event {number}"))
        if last and memory is not _NO_MEMORY:
            yield from laid_out(sent[1], "event = ", depth=1)
            sent = ("", "event")
        start = (("", called), ("", "run"), sent)
        try:
            answer: Answer[Any, Any] = table.step(run, event)
        except Fault as fault:
            yield f"{INDENT}# {_one_line(f'Fault: {fault}')}"
            yield from _faulty(writer, start, fails)
            return
        if isinstance(answer, Step):
            yield f"{INDENT}# {_one_line(rows[answer.row])}"
            call = Bracket(f"{_ours(writer, 'step_one')}(", (*start, ("row=", str(answer.row))), ")")
            if last:
                yield from laid_out(call, "answer = ", depth=1)
            else:
                yield from laid_out(call, "run = ", ".run", depth=1)
            run = answer.run
        else:
            kind = type(answer).__name__
            why = answer.why if isinstance(answer, Refused | Ignored) else ""
            yield f"{INDENT}# {_one_line(f'{kind}: {why}' if why else kind)}"
            yield from laid_out(Bracket(f"{called}.step(", (("", "run"), sent), ")"), "answer = ", depth=1)
            yield f"{INDENT}assert isinstance(answer, {writer.names.take(Home('statecraft', kind))})"
    if law is not None and listed:
        yield from _asserted(writer, law, memory)


def _asserted(writer: Writer, law: Callable[..., object], memory: Any) -> Iterator[str]:
    """The last line: what has to hold."""
    held = home_of(law)
    if held is None:
        yield f"{INDENT}# The law that does not hold here has no name in a module: {_one_line(repr(law))}"
    elif memory is _NO_MEMORY:
        yield f"{INDENT}assert {writer.names.take(held)}(answer) is not False"
    else:
        taken = writer.names.take(Home("statecraft.proofs", "Taken"))
        step = Bracket(f"{taken}(", tuple(("", one) for one in ("run", "event", "answer", "answer.run")), ")")
        asked = (("", step), ("", writer.write(memory, "what the law remembers")))
        yield from laid_out(Bracket(f"{writer.names.take(held)}(", asked, ")"), "assert not ", depth=1)


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


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _docstring(text: str) -> str:
    return '"""' + _one_line(text).replace("\\", "\\\\").replace('"', "'") + '"""'
