"""Which wire a part that goes back as it stands came from, so that it goes back on no other.

A run may ask one model after another, and each provider refuses, or misreads, what another one sealed. The parts are
told apart by their form, since a transcript may be older than the process that sends it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

THINKING: Final = ("reasoning_content", "reasoning", "reasoning_details")
"""Where servers on the Chat Completions wire put thinking. OpenAI's own models do not show any there."""

# Items of the Responses wire: reasoning, calls of the provider's own tools, and what comes with those of MCP servers.
_ITEMS: Final = ("reasoning", "mcp_list_tools", "mcp_approval_request", "tool_search_output")


def origin(raw: Mapping[str, Any]) -> str:
    """The name of the wire, as `provider_for` has it."""
    kind = raw.get("type")
    if not isinstance(kind, str):
        return "openai" if set(raw) <= set(THINKING) else "gemini"
    # Both call a summary of what went before a compaction, and both may seal it; Anthropic's has its words beside that.
    sealed = "encrypted_content" in raw and "content" not in raw
    if kind in _ITEMS or kind.endswith(("_call", "_call_output")) or sealed:
        return "openai-responses"
    return "anthropic"
