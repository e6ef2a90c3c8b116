"""A description as the text of a Python module: states, events, guards, and one literal table.

What a condition looks at is known to its function alone. So each event carries what the conditions of its rows
answered, a field for each, and a guard reads that field: all answers can be tried, and the table needs no model.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from .described import LeftOut, Literal, Ported
from .naming import Names, camel, file_name, lower, upper
from .rows import Entry, Said, entries, said

WIDTH = 120
WHY: Mapping[str, str] = {
    "ordered": "transitions tries them in this order",
    "ignore": "ignore_invalid_triggers: transitions does nothing here",
    "refuse": "transitions raises MachineError here",
}

ROWS = (
    "A trigger is an event, and its transitions are rows, in the order in which transitions tries them. What it would "
    "raise MachineError for is refused."
)
ANSWERS = (
    "A condition is a function of a model and of a call's arguments, and what it looks at cannot be told from here. So "
    "an event carries what the conditions of its rows answered, one field each, and a guard reads that field: whoever "
    "makes the event asks them first. Each is asked once an event, by whatever number of rows. The answer is True or "
    "False; any other (None) transitions takes for a no, of `unless` too."
)
VALUES = "To let a guard decide by itself, give `Run` or the event the values that its function looked at."
INTERNAL = "An internal transition is a row that stays; like every row here, it leaves and enters nothing."


@attrs.frozen
class Written:
    """The module's text, and under which names of it the machine's own are found.

    `table` is the variable of the table; `states` gives each state's member, `events` each trigger's class, `asks` each
    condition's guard and field, by the condition's number.
    """

    text: str
    module: str
    table: str
    states: Mapping[str, str]
    events: Mapping[str, str]
    asks: Mapping[int, str]


@attrs.frozen
class _Module:
    """What is written: the machine, its names here, and its cells as rows and marks. `name` is the table's."""

    machine: Ported
    named: Written
    name: str
    rows: tuple[Entry, ...]
    said: tuple[Said, ...]


def write(machine: Ported, origin: str) -> Written:
    """The module for a settled description; `origin` says where the machine was found (MODULE:NAME)."""
    rows = tuple(entries(machine))
    used = dict.fromkeys(number for row in rows for number, _ in row.asks)
    members, names = Names(frozenset()), Names()
    states = {state: members.give(upper(state)) for state in machine.states}
    table = names.give(upper(file_name(machine.name)))
    events = {trigger: names.give(camel(trigger)) for trigger in machine.triggers}
    asks = {number: names.give(lower(machine.asks[number].name)) for number in sorted(used)}
    name = file_name(machine.name)
    named = Written("", name.lower(), table, states, events, asks)
    module = _Module(machine, named, name, rows, tuple(said(machine)))
    return attrs.evolve(named, text="\n".join(_lines(module, origin)) + "\n")


def _lines(module: _Module, origin: str) -> Iterator[str]:
    yield from _head(module, origin)
    yield from _not_carried_over(module.machine.left_out)
    yield from _imports(module)
    yield from _states(module)
    yield from _events(module)
    yield from _run(module)
    yield from _guards(module)
    yield from _table(module)


def _head(module: _Module, origin: str) -> Iterator[str]:
    rules = [ROWS]
    if module.named.asks:
        rules += [ANSWERS, VALUES]
    if any(row.internal for row in module.rows):
        rules.append(INTERNAL)
    yield f'"""The machine {_plain(module.name)}, ported from the transitions machine {_plain(origin)}.'
    yield from ("", "The rules:", "")
    for rule in rules:
        yield from textwrap.wrap(rule, WIDTH, initial_indent="* ", subsequent_indent="  ")
    yield from ('"""', "")


def _not_carried_over(left_out: Sequence[LeftOut]) -> Iterator[str]:
    if left_out:
        yield "# Not carried over:"
        for one in left_out:
            yield from textwrap.wrap(_plain(str(one)), WIDTH, initial_indent="# * ", subsequent_indent="#   ")
        yield ""


def _imports(module: _Module) -> Iterator[str]:
    marks = {one.how for one in module.said}
    given = {"Rows", "Table", "keep", *marks, *(("Evidence", "guard", "seen") if module.named.asks else ())}
    yield from ("from __future__ import annotations", "", "from enum import Enum", "from typing import Never", "")
    yield from ("import attrs", "", f"from statecraft import {', '.join(sorted(given, key=_import_order))}", "", "")


def _import_order(name: str) -> tuple[bool, str]:
    return name.islower(), name


def _states(module: _Module) -> Iterator[str]:
    yield "class State(Enum):"
    yield '    """The states; the values are their names in the machine of transitions."""'
    yield ""
    yield from (f"    {member} = {_quoted(state)}" for state, member in module.named.states.items())
    yield from ("", "")


def _events(module: _Module) -> Iterator[str]:
    for trigger, event in module.named.events.items():
        yield "@attrs.frozen"
        yield f"class {event}:"
        yield f'    """The trigger {_plain(trigger)}."""'
        if fields := _asked_by(module, trigger):
            yield ""
            yield from (f"    {module.named.asks[number]}: bool" for number in fields)
        yield from ("", "")
    names = list(module.named.events.values())
    together = " | ".join(names)
    if len(f"Event = {together}") <= WIDTH:
        yield f"Event = {together}"
    elif len(f"    {together}") <= WIDTH:
        yield from ("Event = (", f"    {together}", ")")
    else:
        yield from ("Event = (", f"    {names[0]}", *(f"    | {name}" for name in names[1:]), ")")
    yield from ("", "")


def _run(module: _Module) -> Iterator[str]:
    yield "@attrs.frozen"
    yield "class Run:"
    yield '    """One run: where it stands. What conditions answered comes with each event."""'
    yield ""
    yield f"    at: State = State.{module.named.states[module.machine.initial]}"
    yield from ("", "", "def at(run: Run) -> State:", "    return run.at", "", "")
    yield from ("def move(run: Run, state: State) -> Run:", "    return attrs.evolve(run, at=state)", "", "")


def _guards(module: _Module) -> Iterator[str]:
    for number, name in module.named.asks.items():
        asking = [event for trigger, event in module.named.events.items() if number in _asked_by(module, trigger)]
        union = asking if len(asking) < len(module.named.events) else ["Event"]
        yield "@guard"
        yield from _signature(name, union)
        yield from textwrap.wrap(
            _plain(module.machine.asks[number].place), WIDTH, initial_indent="    # ", subsequent_indent="    # "
        )
        yield f'    return seen("{name}", event.{name})'
        yield from ("", "")


def _signature(name: str, events: Sequence[str]) -> Iterator[str]:
    line = f"def {name}(run: Run, event: {' | '.join(events)}) -> Evidence:"
    if len(line) <= WIDTH:
        yield line
        return
    *most, last = (f"    | {event}" if place else f"    event: {event}" for place, event in enumerate(events))
    yield from (f"def {name}(", "    run: Run,", *most, f"{last},", ") -> Evidence:")


def _table(module: _Module) -> Iterator[str]:
    machine = module.machine
    yield from ("S = State", "row = Rows[Run, State, Never]()", "")
    yield f"{module.named.table}: Table[Run, State, Event, Never] = Table("
    yield f"    {_quoted(module.name)},"
    yield "    ["
    for one in module.rows:
        yield from _row(module, one)
    for mark in module.said:
        events = [module.named.events[one] for one in mark.triggers]
        yield from _call(f"        {mark.how}(", [_members(module, mark.states), events, _quoted(WHY[mark.how])], "),")
    yield "    ],"
    yield from _call("    events=[", list(module.named.events.values()), "],")
    yield f"    initial=S.{module.named.states[machine.initial]},"
    yield from _call("    final=[", _members(module, machine.final), "],")
    yield from ("    at=at,", "    move=move,", ")")


def _row(module: _Module, one: Entry) -> Iterator[str]:
    event = module.named.events[one.trigger]
    guards = [_guard(module, ask) for ask in one.asks]
    if one.target is None:
        start = "        row.stay("
        words: list[str | list[str]] = [_members(module, one.sources), event, "keep", *guards]
    else:
        first, *others = one.sources
        source = _members(module, one.sources) if others else f"S.{module.named.states[first]}"
        start, words = "        row(", [source, event, f"S.{module.named.states[one.target]}", "keep", *guards]
    *most, last = _call(start, words, "),")
    yield from most
    yield f"{last}  # internal" if one.internal else last


def _guard(module: _Module, ask: Literal) -> str:
    number, answer = ask
    return module.named.asks[number] if answer else f"~{module.named.asks[number]}"


def _asked_by(module: _Module, trigger: str) -> list[int]:
    return list(dict.fromkeys(n for row in module.rows if row.trigger == trigger for n, _ in row.asks))


def _members(module: _Module, states: Iterable[str]) -> list[str]:
    return [f"S.{module.named.states[state]}" for state in states]


def _call(start: str, parts: Sequence[str | list[str]], closing: str) -> Iterator[str]:
    """The parts (a list of them is one) in one line, or where that is too long one below the other."""
    line = f"{start}{', '.join(map(_inline, parts))}{closing}"
    if len(line) <= WIDTH - len("  # internal"):
        yield line
        return
    indent = " " * (len(start) - len(start.lstrip()))
    yield start
    for part in parts:
        if isinstance(part, list):
            yield from _call(f"{indent}    [", part, "],")
        else:
            yield f"{indent}    {part},"
    yield f"{indent}{closing}"


def _inline(part: str | list[str]) -> str:
    return part if isinstance(part, str) else f"[{', '.join(part)}]"


def _quoted(text: str) -> str:
    """The text as a literal with the quotes of the rest of the module, where that is as plain."""
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in text else shown


def _plain(text: str) -> str:
    """The text in one line that ends no docstring and holds no escape."""
    kept = "".join(sign if sign.isprintable() else "?" for sign in text)
    return kept.replace("\\", "/").replace('"', "'")
