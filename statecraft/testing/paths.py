"""Paths as a Python module that pytest runs as it stands: each row of a table is taken by a test that says so.

A path is a run, the events, and what each of them does: the rows that are taken, each with the state that it led to, as
`led` spells them, and the kinds of commands that are asked for, as `commanded` does. Of a command its fields are not
told. A way whose run is changed between two steps by whatever plays the world is as many paths as it has such
stretches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

import attrs

from ..proofs.paths import Paths, Stretch, stretches
from ..proofs.search import RowPath, rows_of
from ..step import Step
from .homes import Home, Names, home_of
from .layout import INDENT, Bracket, Node, bracket, laid_out
from .source import Writer

LOCAL = ("pytest", "PATHS", "run", "events", "rows", "commands", "event", "row", "kinds", "answer", "test_path")


@attrs.frozen
class Module:
    """The text of a module, how many paths it has, and what could not be written, each as `where: what`."""

    text: str
    paths: int
    missing: tuple[str, ...]


def taken(answer: Any) -> list[str]:
    """What stepping a table has answered: which rows were taken.

    Of a step its row and those that inner machines took: `["run 20", "run/wait 1"]`. Of any other answer its name.
    """
    if isinstance(answer, Step):
        return [spelled(row) for row in rows_of(answer)]
    return [type(answer).__name__.lower()]


def led(answer: Any) -> list[str]:
    """What stepping a table has answered, as a test of a path expects it: the rows, and the states they led to.

    Of a step as `taken`, with the states: `["run 20 -> HOLDING", "run/wait 1 -> OVER"]`. Of any other answer its name.
    """
    if not isinstance(answer, Step):
        return taken(answer)
    return [f"{row} -> {state.name}" for row, state in zip(taken(answer), _targets(answer), strict=True)]


def commanded(answer: Any) -> list[str]:
    """The commands that stepping a table has asked for, each by the name of its class, in their order."""
    return [type(command).__name__ for command in answer.commands]


def _targets(answer: Any) -> Iterator[Enum]:
    """The state that each row of `rows_of` led to."""
    if answer.__class__ is Step:
        step: Step[Any, Any] = answer
        yield step.target
        for held in step.inside:
            yield from _targets(held)


def spelled(row: RowPath) -> str:
    """`run/wait 1`: row 1 of the machine `wait` that is inside `run`."""
    path, number = row
    return f"{'/'.join(path)} {number}"


def path_module(found: Paths) -> Module:
    """The module for these paths."""
    names = Names(LOCAL)
    writer = Writer(names)
    home = home_of(found.table)
    called = "..." if home is None else names.take(home)
    if home is None:
        writer.missing.append(f"the table {found.table.name}: no module holds it by a name")
    listed = [stretch for way in found.ways for stretch in stretches(way) if _takes(stretch)]
    runs, starts = _runs(writer, listed)
    any_ = names.take(Home("typing", "Any"))
    read, asked = (names.take(Home("statecraft.testing", name)) for name in ("led", "commanded"))
    made = [
        _param(writer, stretch, name, f"{_slug(stretch.start)}-{number}")
        for number, (stretch, name) in enumerate(zip(listed, starts, strict=True), 1)
    ]
    body = [
        *runs,
        *laid_out(bracket("[", made, "]"), "PATHS = "),
        *("", ""),
        '@pytest.mark.parametrize(("run", "events", "rows", "commands"), PATHS)',
        f"def test_path(run: {any_}, events: list[{any_}], rows: list[list[str]], commands: list[list[str]]) -> None:",
        f'{INDENT}"""Each event takes these rows to these states, and asks for these kinds of commands."""',
        f"{INDENT}for event, row, kinds in zip(events, rows, commands, strict=True):",
        f"{INDENT * 2}answer = {called}.step(run, event)",
        f"{INDENT * 2}assert {read}(answer) == row",
        f"{INDENT * 2}assert {asked}(answer) == kinds",
        f"{INDENT * 2}run = answer.run",
    ]
    count = len(found.rows)
    doc = (
        f'"""Paths that take {count} row{"" if count == 1 else "s"} of {found.table.name}: made by statecraft paths."""'
    )
    text = "\n".join([doc, "", *_imports(names), "", *body, ""])
    return Module(text, len(listed), tuple(dict.fromkeys(writer.missing)))


def _imports(names: Names) -> list[str]:
    """Its imports, with that of pytest, which stands whole: before the first that is not of Python itself."""
    lines = list(names.imports())
    at = lines.index("") + 1
    return [*lines[:at], "import pytest", *lines[at:]]


def _takes(stretch: Stretch) -> bool:
    return any(isinstance(step.answer, Step) for step in stretch.steps)


def _runs(writer: Writer, listed: Iterable[Stretch]) -> tuple[list[str], list[str]]:
    """The lines that name each run that a path begins with, once; and the name for each path."""
    known: list[tuple[Any, str]] = []
    lines: list[str] = []
    names: list[str] = []
    for stretch in listed:
        name = next((name for run, name in known if run is stretch.run), None)
        if name is None:
            name = writer.names.local(_slug(stretch.start).upper())
            known.append((stretch.run, name))
            lines += laid_out(writer.write(stretch.run, f"the run {stretch.start!r}"), f"{name} = ")
        names.append(name)
    return lines, names


def _param(writer: Writer, stretch: Stretch, name: str, id: str) -> Node:
    where = f"path {id}"
    events = bracket("[", (writer.write(step.event, f"{where}: event") for step in stretch.steps), "]")
    rows = bracket("[", (_texts(led(step.answer)) for step in stretch.steps), "]")
    commands = bracket("[", (_texts(commanded(step.answer)) for step in stretch.steps), "]")
    return Bracket("pytest.param(", (("", name), ("", events), ("", rows), ("", commands), ("id=", f'"{id}"')), ")")


def _texts(texts: Iterable[str]) -> Node:
    return bracket("[", (f'"{text}"' for text in texts), "]")


def _slug(text: str) -> str:
    """The text as a name: letters, digits and underscores, and a letter first."""
    slug = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
    return slug if slug[:1].isalpha() else f"run_{slug}".rstrip("_")
