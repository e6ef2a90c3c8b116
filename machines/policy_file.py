"""The policy as a TOML file. What a file leaves out has its default.

TOML has no null, so a limit that is switched off is written `"unlimited"`, and errors say so too. A key that does not
exist is an error that names its path, what was found, and the nearest right name. All that is wrong is said at once.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, cast

import tomli_w

from statecraft.codec import BadData, codec

from .policy import DEFAULT, Policy, problems_of
from .policy_shipped import name_in, names, text_of
from .policy_words import words_of

UNLIMITED: Final = "unlimited"

COMMENTS: Final = 26
"""The column at which the comments of a written policy begin."""

_CODEC = codec(Policy, forbid_extra=True)


class BadPolicy(Exception):
    """A policy file that cannot be used: which file, which key, what was found, what was expected."""


def read_policy(path: Path, base: Policy = DEFAULT) -> Policy:
    """The policy in a TOML file, or of that name where there is no such file; what it leaves out is as in `base`.

    Raises `BadPolicy`.
    """
    return policy_of(_plain(path), str(path), base)


def keys_of(path: Path) -> tuple[str, ...]:
    """The keys that a policy file sets, as paths (`budget.turns`). Raises `BadPolicy`."""
    return tuple(_keys(_plain(path), ""))


def _plain(path: Path) -> dict[str, Any]:
    name = name_in(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8") if name is None else text_of(name))
    except FileNotFoundError as error:
        known = f", and no policy of that name; there are {', '.join(names())}" if path == Path(path.name) else ""
        raise BadPolicy(f"{path}: {error.strerror}{known}") from error
    except OSError as error:
        raise BadPolicy(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError, MemoryError) as error:  # what is not TOML, or not UTF-8, is a ValueError
        raise BadPolicy(f"{path}: not TOML: {error}") from error


def policy_of(plain: dict[str, Any], name: str, base: Policy = DEFAULT) -> Policy:
    """The policy in plain data, as TOML or JSON gives it; `name` says where it came from. Raises `BadPolicy`."""
    whole = _over(_CODEC.to_plain(base), _read(plain))
    try:
        policy = _CODEC.from_plain(whole, Policy)
        problems = problems_of(policy)
    except BadData as error:
        found = [f"{p.path.removeprefix('$.')}: found {p.found}, expected {p.expected}" for p in error.problems]
        raise _bad(name, found + _beside(plain, (p.path for p in error.problems), base)) from error
    if problems:
        raise _bad(name, problems)
    return policy


def policy_toml(policy: Policy) -> str:
    """The policy, whole, as TOML, with a comment on each key."""
    return "\n".join(_commented(tomli_w.dumps(_written(_CODEC.to_plain(policy))).splitlines())) + "\n"


def _commented(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a TOML file that has one key a line, with what each key is."""
    section = ""
    for line in lines:
        key, sign, _ = line.partition(" = ")
        if line.startswith("["):
            section = line.strip("[]")
        words = words_of(section, key if sign else "")
        yield f"{line:<{COMMENTS}}  # {words}" if line and words else line


def _bad(name: str, problems: Iterable[str]) -> BadPolicy:
    """The error, a line for each problem, in the words of a file in TOML, which has no null."""
    told = (re.sub(r"\bnull\b|\bno limit\b", f'"{UNLIMITED}"', problem) for problem in problems)
    return BadPolicy("\n".join(f"{name}: {problem}" for problem in told))


def _beside(plain: dict[str, Any], wrong: Iterable[str], base: Policy) -> list[str]:
    """What is wrong with the numbers of a policy in which some keys cannot be read; those have the base's values."""
    rest = _without(plain, {path.removeprefix("$.") for path in wrong}, "")
    try:
        return problems_of(_CODEC.from_plain(_over(_CODEC.to_plain(base), _read(rest)), Policy))
    except BadData:
        return []


def _without(plain: dict[str, Any], paths: set[str], above: str) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in plain.items():
        path = f"{above}{key}"
        if path not in paths:
            kept[key] = _without(cast("dict[str, Any]", value), paths, f"{path}.") if isinstance(value, dict) else value
    return kept


def _keys(plain: dict[str, Any], above: str) -> Iterator[str]:
    for key, value in plain.items():
        if isinstance(value, dict):
            yield from _keys(cast("dict[str, Any]", value), f"{above}{key}.")
        else:
            yield f"{above}{key}"


def _over(base: Any, plain: Any) -> Any:
    """The plain data laid over that of another policy."""
    if not isinstance(base, dict) or not isinstance(plain, dict):
        return plain
    below, above = cast("dict[str, Any]", base), cast("dict[str, Any]", plain)
    return {**below, **{key: _over(below.get(key), value) for key, value in above.items()}}


def _read(plain: Any) -> Any:
    if isinstance(plain, dict):
        return {key: _read(value) for key, value in cast("dict[str, Any]", plain).items()}
    return None if plain == UNLIMITED else plain


def _written(plain: Any) -> Any:
    if isinstance(plain, dict):
        return {key: _written(value) for key, value in cast("dict[str, Any]", plain).items()}
    return UNLIMITED if plain is None else plain
