"""What is known of the tools that the recorded agents ship with: the manifest that their recordings do not have.

From each agent's own description of its tools. `fruitless` holds only sentences that a tool prints word for word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from .lines import ToolSpec

_COMMAND: Final = ToolSpec(kind="command")
_LOOK: Final = ToolSpec(kind="read", look=True)
_SEARCH: Final = ToolSpec(kind="search", look=True)
_EDIT: Final = ToolSpec(kind="write", target=("file_path",))

CLAUDE_CODE: Final[Mapping[str, ToolSpec]] = {
    # Two calls of one command are one call, whatever its description and time limit say.
    "Bash": ToolSpec(kind="command", identity=("command",)),
    "BashOutput": _LOOK,
    "Edit": _EDIT,
    "Glob": ToolSpec(kind="search", look=True, topic=("pattern",), fruitless=("No files found",)),
    "Grep": ToolSpec(kind="search", look=True, topic=("pattern",), fruitless=("No files found", "No matches found")),
    "KillShell": _COMMAND,
    "LS": ToolSpec(kind="read", look=True, source=("path",)),
    "MultiEdit": _EDIT,
    "NotebookEdit": ToolSpec(kind="write", target=("notebook_path",)),
    "NotebookRead": ToolSpec(kind="read", look=True, source=("notebook_path",)),
    "Read": ToolSpec(kind="read", look=True, source=("file_path",)),
    "TaskOutput": _LOOK,
    "TodoWrite": ToolSpec(kind="think", scratch=True),
    "WebFetch": ToolSpec(kind="read", source=("url",)),
    "WebSearch": ToolSpec(kind="search", topic=("query",)),
    "Write": _EDIT,
}

SWE_AGENT: Final[Mapping[str, ToolSpec]] = {
    "create": ToolSpec(kind="write"),
    "edit": ToolSpec(kind="write"),
    "find_file": _SEARCH,
    "goto": _LOOK,
    "insert": ToolSpec(kind="write"),
    "open": _LOOK,
    "scroll_down": _LOOK,
    "scroll_up": _LOOK,
    "search_dir": _SEARCH,
    "search_file": _SEARCH,
    "str_replace_editor": ToolSpec(kind="write"),
    "submit": ToolSpec(),
}

MINI_SWE_AGENT: Final[Mapping[str, ToolSpec]] = {"bash": ToolSpec(kind="command", identity=("command",))}


def manifest(names: Iterable[str], known: Mapping[str, ToolSpec], unknown: ToolSpec) -> dict[str, ToolSpec]:
    """A manifest of the named tools, sorted; `unknown` stands for those that are not known."""
    return {name: known.get(name, unknown) for name in sorted(set(names))}


def commands(names: Iterable[str], known: Mapping[str, ToolSpec]) -> dict[str, ToolSpec]:
    """The same, where every name that is not known is a program that was run."""
    return manifest(names, known, _COMMAND)
