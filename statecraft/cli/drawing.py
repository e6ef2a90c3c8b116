"""`diagram`: tables drawn into a folder, the drift check, and one run drawn over its machine."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from ..diagrams import GraphvizError, Taken, diagrams_of, dot, drift, mermaid, svg
from .loading import AnyTable
from .running import BadInput

Form = Literal["mermaid", "dot", "svg"]
ENDINGS: Mapping[Form, str] = {"mermaid": ".mmd", "dot": ".dot", "svg": ".svg"}


def keep(tables: Iterable[AnyTable], place: Path, form: Form | None) -> int:
    """Write the diagrams into the folder, both kinds or the one that is asked for, and say which."""
    drawn = _diagrams(tables, form)
    _folder(place)
    place.mkdir(parents=True, exist_ok=True)
    for name in sorted(drawn):
        (place / name).write_bytes(drawn[name])
        sys.stdout.write(f"{place / name}\n")
    return 0


def stale(tables: Iterable[AnyTable], place: Path) -> int:
    """1 with a diff if what the folder keeps is not what the tables give now."""
    _folder(place)
    found = drift(_texts(tables), place)
    sys.stdout.write(found)
    return 1 if found else 0


def draw(table: AnyTable, way: Taken | None, form: Form) -> bytes:
    """One picture."""
    if form == "svg":
        try:
            return svg(table, way)
        except GraphvizError as error:
            raise BadInput(str(error)) from error
    return (mermaid(table, way) if form == "mermaid" else dot(table, way)).encode()


def _diagrams(tables: Iterable[AnyTable], form: Form | None) -> dict[str, bytes]:
    given = tuple(tables)
    texts = _texts(given)
    if form == "svg":
        return {f"{table.name}{ENDINGS[form]}": draw(table, None, form) for table in given}
    return {name: text.encode() for name, text in texts.items() if form is None or name.endswith(ENDINGS[form])}


def _texts(tables: Iterable[AnyTable]) -> dict[str, str]:
    try:
        return diagrams_of(tables)
    except ValueError as error:  # a name that no file can have, or two of one name
        raise BadInput(str(error)) from error


def _folder(place: Path) -> None:
    if place.exists() and not place.is_dir():
        raise BadInput(f"{place}: found a file, expected a folder for the diagrams")
