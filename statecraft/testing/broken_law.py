"""A way to a step that breaks a law, as a test that fails until the machine is mended.

It plays the events that the search played, and asks the law of what came of the last. No row is asserted on the way: a
mended machine may take others, and the law holds of any step. What the law remembers is carried along by its own
function for the same reason. A law that no module leads to (see `law_names`) cannot be asked: the test fails, and says
so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..proofs import Broken, Law, Search, Taken, Way
from ..step import Fault, Ignored, Refused, Step
from .homes import Home, Names, home_of
from .law_names import Named, named, put_in
from .layout import INDENT, Bracket, Node, laid_out, on_one_line
from .scripts import one_line, whole
from .source import Writer

LOCAL = ("run", "event", "answer", "step", "memory")


def law_script(search: Search[Any, Any], broken: Broken, name: str) -> str:
    """The text of a test function `name`, with all that it imports; `...` stands for what no module holds by a name."""
    names = Names((*LOCAL, name))
    writer = Writer(names)
    home = home_of(search.table)
    called = names.take(home) if home else "TABLE"
    lacks = search.play is None and home is None
    if lacks:
        writer.missing.append(f"the table {search.table.name}: no module holds it by a name")
    law, way = broken.law, broken.way
    asked = named(writer, law, search)
    body = laid_out(writer.write(way.run, "run"), "run = ", depth=1)
    if asked is not None and asked.remember:
        body += laid_out(writer.write(law.start, "memory"), "memory = ", depth=1)
    for number, (event, steps) in enumerate(played(search, way)):
        last = number == len(way.events) - 1
        body += [f"{INDENT}# {one_line(steps_text(steps))}"]
        sent = writer.write(event, f"event {number}")
        if search.play is None:
            body += _stepped(writer, called, law, asked, sent, last)
        else:
            body += _played(writer, search, law, asked, sent, last)
    because = f"{law.name}: {broken.problem}."
    return whole(writer, name, because, body, ["TABLE = ...", ""] if lacks else [])


def played(search: Search[Any, Any], way: Way[Any, Any]) -> Iterator[tuple[Any, Sequence[Taken[Any, Any]]]]:
    """Each event of the way, with the steps that it brought."""
    run = way.run
    for event in way.events:
        steps = search.steps(run, event)
        yield event, steps
        run = steps[-1].after if steps else run


def steps_text(steps: Sequence[Taken[Any, Any]]) -> str:
    """What was made of an event, in few words; machines are named where there are several."""
    several = len({step.answer.machine for step in steps}) > 1
    return "; ".join(f"{step.answer.machine} {_said(step)}" if several else _said(step) for step in steps)


def _said(step: Taken[Any, Any]) -> str:
    answer = step.answer
    if isinstance(answer, Fault):
        return f"a fault, {answer}"
    if isinstance(answer, Step):
        return f"row {answer.row}, {answer.source.name} -> {answer.target.name}"
    why = f": {answer.why}" if isinstance(answer, Refused | Ignored) and answer.why else ""
    return f"{type(answer).__name__.lower()} in {answer.source.name}{why}"


def _stepped(writer: Writer, called: str, law: Law[Any], asked: Named | None, sent: Node, last: bool) -> Sequence[str]:
    """One step of the table."""
    if not last and (asked is None or not asked.remember):
        return laid_out(Bracket(f"{called}.step(", (("", "run"), ("", sent)), ")"), "run = ", ".run", depth=1)
    lines = [*laid_out(sent, "event = ", depth=1), f"{INDENT}answer = {called}.step(run, event)"]
    if asked is None:
        return [*lines, *put_in(writer, law)]
    taken = f"{writer.names.take(Home('statecraft.proofs', 'Taken'))}(run, event, answer, answer.run)"
    if last:
        return [*lines, f"{INDENT}assert not {asked.broken}({taken}, {_known(writer, law)})"]
    remembered = f"{INDENT}memory = {asked.remember}(memory, {taken})"
    return [*lines, remembered, f"{INDENT}run = answer.run"]


def _played(
    writer: Writer, search: Search[Any, Any], law: Law[Any], asked: Named | None, sent: Node, last: bool
) -> Iterator[str]:
    """All the steps that `play` makes of the event."""
    home = home_of(search.play)
    play = writer.names.take(home) if home else on_one_line(writer.write(search.play, "play"))
    call = Bracket(f"{play}(", (("", "run"), ("", sent)), ")")
    if not last and (asked is None or not asked.remember):
        yield from laid_out(call, "run = ", "[-1].after", depth=1)
        return
    yield from laid_out(call, "for step in ", ":", depth=1)
    if asked is None:
        yield from put_in(writer, law, depth=2)
        return
    if last:
        yield f"{INDENT * 2}assert not {asked.broken}(step, {_known(writer, law)})"
    if asked.remember:
        yield f"{INDENT * 2}memory = {asked.remember}(memory, step)"
        yield from () if last else (f"{INDENT * 2}run = step.after",)


def _known(writer: Writer, law: Law[Any]) -> str:
    """What the law is given beside the step."""
    return "memory" if law.remember is not None else on_one_line(writer.write(law.start, "what the law remembers"))
