"""The policies that ship with the package, each under a name: the default, and other designs to compare it with."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

FOLDER: Final = "policies"
ENDING: Final = ".toml"


@cache
def names() -> tuple[str, ...]:
    """The names, the default's first."""
    found = (each.name for each in files("machines").joinpath(FOLDER).iterdir() if each.name.endswith(ENDING))
    return tuple(sorted((name.removesuffix(ENDING) for name in found), key=lambda name: (name != "default", name)))


def name_in(given: Path) -> str | None:
    """The name that is meant where there is no such file: a word of its own that is one of the names."""
    name = given.name
    return name if given == Path(name) and name in names() and (not given.exists() or given.is_dir()) else None


def text_of(name: str) -> str:
    """The policy of that name, as its file has it."""
    return files("machines").joinpath(FOLDER, name + ENDING).read_text(encoding="utf-8")


def head_of(name: str) -> str:
    """The comment at the head of its file, line by line, which says what it reproduces; with its newline."""
    lines: list[str] = []
    for line in text_of(name).splitlines(keepends=True):
        if not line.startswith("#"):
            break
        lines.append(line)
    return "".join(lines)


def title_of(name: str) -> str:
    """What it is, in a line: the first of its head."""
    return head_of(name).partition("\n")[0].removeprefix("#").strip()
