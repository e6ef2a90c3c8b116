"""What was wrong with the words of a command line, in one line that ends with where help is."""

from __future__ import annotations

from cyclopts import CycloptsError, MissingArgumentError, UnusedCliTokensError


def usage(error: CycloptsError, program: str) -> str:
    """The error for people: the verb, what was found, what was expected."""
    chain = tuple(error.command_chain or ())
    words = " ".join((program, *chain))
    verb = f"{chain[-1]}: " if chain else ""
    return f"{verb}{_problem(error)}; see {words} --help"


def _problem(error: CycloptsError) -> str:
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        name = error.keyword or error.argument.name
        return f"{name}: found no value, expected one" if name.startswith("-") else f"found no {name}, expected one"
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        return f"found {' '.join(error.unused_tokens)}, expected nothing more"
    text = " ".join(str(error).split())
    return text[:1].lower() + text[1:].removesuffix(".")
