"""A verb's help, taken from its docstring: paragraphs that flow to any width, and the examples below the options."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, Final

from cyclopts import App

EXAMPLES: Final = "Examples:"
"""The heading of the docstring's last part, which has one command a line."""


def add(app: App, verb: Callable[..., int], name: str) -> None:
    """Add a verb. The framework that prints the help reads docstrings too, but would leave the examples out."""
    told, examples = split(verb)
    app.command(verb, name=name, help=told, help_epilogue=examples)


def split(verb: Callable[..., Any]) -> tuple[str, str]:
    """What a docstring says, each paragraph one line; and its examples with their heading, as they stand."""
    told, heading, examples = (inspect.getdoc(verb) or "").partition(f"\n{EXAMPLES}\n")
    paragraphs = (" ".join(paragraph.split()) for paragraph in told.strip().split("\n\n"))
    shown = textwrap.indent(textwrap.dedent(examples).rstrip(), "  ")
    return "\n\n".join(paragraphs), f"{EXAMPLES}\n{shown}\n" if heading else ""
