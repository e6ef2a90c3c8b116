"""What is known of the tools that the recorded agents ship with: the manifest that their recordings do not have.

From each agent's own description of its tools. `fruitless` holds only sentences that a tool prints word for word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ..manifest import Kind, Tool

_COMMAND: Final = Tool(kind=Kind.COMMAND)
_LOOK: Final = Tool(kind=Kind.READ, look=True)
_SEARCH: Final = Tool(kind=Kind.SEARCH, look=True)
_EDIT: Final = Tool(kind=Kind.WRITE, target=("file_path",))

CLAUDE_CODE: Final[Mapping[str, Tool]] = {
    # Two calls of one command are one call, whatever its description and time limit say.
    "Bash": Tool(kind=Kind.COMMAND, identity=("command",)),
    "BashOutput": _LOOK,
    "Edit": _EDIT,
    "Glob": Tool(kind=Kind.SEARCH, look=True, topic=("pattern",), fruitless=("No files found",)),
    "Grep": Tool(kind=Kind.SEARCH, look=True, topic=("pattern",), fruitless=("No files found", "No matches found")),
    "KillShell": _COMMAND,
    "LS": Tool(kind=Kind.READ, look=True, source=("path",)),
    "MultiEdit": _EDIT,
    "NotebookEdit": Tool(kind=Kind.WRITE, target=("notebook_path",)),
    "NotebookRead": Tool(kind=Kind.READ, look=True, source=("notebook_path",)),
    "Read": Tool(kind=Kind.READ, look=True, source=("file_path",)),
    "TaskOutput": _LOOK,
    "TodoWrite": Tool(kind=Kind.THINK, scratch=True),
    "WebFetch": Tool(kind=Kind.READ, source=("url",)),
    "WebSearch": Tool(kind=Kind.SEARCH, topic=("query",)),
    "Write": _EDIT,
}

SWE_AGENT: Final[Mapping[str, Tool]] = {
    "create": Tool(kind=Kind.WRITE),
    "edit": Tool(kind=Kind.WRITE),
    "find_file": _SEARCH,
    "goto": _LOOK,
    "insert": Tool(kind=Kind.WRITE),
    "open": _LOOK,
    "scroll_down": _LOOK,
    "scroll_up": _LOOK,
    "search_dir": _SEARCH,
    "search_file": _SEARCH,
    "str_replace_editor": Tool(kind=Kind.WRITE),
    "submit": Tool(),
}

ANY: Final[Mapping[str, Tool]] = {"think": Tool(kind=Kind.THINK)}
"""Tools whose whole name means one thing wherever it is recorded; a recording's own declaration goes before."""

MINI_SWE_AGENT: Final[Mapping[str, Tool]] = {"bash": Tool(kind=Kind.COMMAND, identity=("command",))}


def manifest(names: Iterable[str], known: Mapping[str, Tool], unknown: Tool) -> dict[str, Tool]:
    """A manifest of the named tools, sorted; `unknown` stands for those that are not known."""
    return {name: known.get(name, unknown) for name in sorted(set(names))}


def commands(names: Iterable[str], known: Mapping[str, Tool]) -> dict[str, Tool]:
    """The same, where every name that is not known is a program that was run."""
    return manifest(names, known, _COMMAND)
