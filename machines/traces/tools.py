"""What is known of the tools that the recorded agents ship with: the manifest that their recordings do not have.

From each agent's own description of its tools. `fruitless` holds only sentences that a tool prints word for word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ..manifest import Kind, Tool, Wait

_COMMAND: Final = Tool(kind=Kind.COMMAND)
_LOOK: Final = Tool(kind=Kind.READ, look=True)
_SEARCH: Final = Tool(kind=Kind.SEARCH, look=True)
_EDIT: Final = Tool(kind=Kind.WRITE, target=("file_path",))

CLAUDE_CODE: Final[Mapping[str, Tool]] = {
    # Two calls of one command are one call, whatever its description and time limit say.
    "Bash": Tool(kind=Kind.COMMAND, identity=("command",)),
    # A command in the background: asked while it runs, for no longer than a command in the foreground may take.
    "BashOutput": Tool(
        kind=Kind.WAIT, look=True, wait=Wait("status", ("running",), ("completed", "failed", "killed"), 600.0)
    ),
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

_RESERVATION: Final = Tool(kind=Kind.WRITE, target=("reservation_id",))
_ORDER: Final = Tool(kind=Kind.WRITE, target=("order_id",))
# Both print the list of what they found, and an empty one where there is nothing.
_FLIGHTS: Final = Tool(kind=Kind.SEARCH, look=True, fruitless=("[]",))

# Its airline and its shop.
TAU_BENCH: Final[Mapping[str, Tool]] = {
    "book_reservation": Tool(kind=Kind.WRITE, target=("user_id",)),
    "calculate": Tool(),
    "cancel_pending_order": _ORDER,
    "cancel_reservation": _RESERVATION,
    "exchange_delivered_order_items": _ORDER,
    "find_user_id_by_email": _SEARCH,
    "find_user_id_by_name_zip": _SEARCH,
    "get_order_details": Tool(kind=Kind.READ, look=True, source=("order_id",)),
    "get_product_details": Tool(kind=Kind.READ, look=True, source=("product_id",)),
    "get_reservation_details": Tool(kind=Kind.READ, look=True, source=("reservation_id",)),
    "get_user_details": Tool(kind=Kind.READ, look=True, source=("user_id",)),
    "list_all_airports": _LOOK,
    "list_all_product_types": _LOOK,
    "modify_pending_order_address": _ORDER,
    "modify_pending_order_items": _ORDER,
    "modify_pending_order_payment": _ORDER,
    "modify_user_address": Tool(kind=Kind.WRITE, target=("user_id",)),
    "return_delivered_order_items": _ORDER,
    "search_direct_flight": _FLIGHTS,
    "search_onestop_flight": _FLIGHTS,
    "send_certificate": Tool(kind=Kind.WRITE, target=("user_id",)),
    "think": Tool(kind=Kind.THINK, scratch=True),
    "transfer_to_human_agents": Tool(),
    "update_reservation_baggages": _RESERVATION,
    "update_reservation_flights": _RESERVATION,
    "update_reservation_passengers": _RESERVATION,
}

# InterCode's environments, each under the name of what it runs.
INTERCODE: Final[Mapping[str, Tool]] = {
    "bash": Tool(kind=Kind.COMMAND, identity=("command",)),
    "python": Tool(kind=Kind.COMMAND, identity=("code",)),
    "sql": Tool(kind=Kind.COMMAND, identity=("query",)),
    "submit": Tool(),
}

REACT: Final[Mapping[str, Tool]] = {
    "Lookup": Tool(kind=Kind.SEARCH, look=True, topic=("keyword",), fruitless=("No Results",)),
    "Search": Tool(kind=Kind.SEARCH, look=True, topic=("entity",)),
}


def manifest(names: Iterable[str], known: Mapping[str, Tool], unknown: Tool) -> dict[str, Tool]:
    """A manifest of the named tools, sorted; `unknown` stands for those that are not known."""
    return {name: known.get(name, unknown) for name in sorted(set(names))}


def commands(names: Iterable[str], known: Mapping[str, Tool]) -> dict[str, Tool]:
    """The same, where every name that is not known is a program that was run."""
    return manifest(names, known, _COMMAND)
