"""The policy as a TOML file. What a file leaves out has its default.

TOML has no null, so a limit that is switched off is written `"unlimited"`. A key that does not exist is an error that
names its path, what was found, and the nearest right name.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final, cast

import tomli_w

from statecraft.codec import BadData, codec

from .policy import DEFAULT, Policy, problems_of

UNLIMITED: Final = "unlimited"

_CODEC = codec(Policy, forbid_extra=True)


class BadPolicy(Exception):
    """A policy file that cannot be used: which file, which key, what was found, what was expected."""


def read_policy(path: Path, base: Policy = DEFAULT) -> Policy:
    """The policy in a TOML file; what it leaves out is as in `base`. Raises `BadPolicy`."""
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadPolicy(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadPolicy(f"{path}: not TOML: {error}") from error
    return policy_of(plain, str(path), base)


def policy_of(plain: dict[str, Any], name: str, base: Policy = DEFAULT) -> Policy:
    """The policy in plain data, as TOML or JSON gives it; `name` says where it came from. Raises `BadPolicy`."""
    try:
        policy = _CODEC.from_plain(_over(_CODEC.to_plain(base), _read(plain)), Policy)
    except BadData as error:
        shown = (f"{p.path.removeprefix('$.')}: found {p.found}, expected {p.expected}" for p in error.problems)
        raise BadPolicy("\n".join(f"{name}: {line}" for line in shown)) from error
    if problems := problems_of(policy):
        raise BadPolicy("\n".join(f"{name}: {problem}" for problem in problems))
    return policy


def policy_toml(policy: Policy) -> str:
    """The policy, whole, as TOML."""
    return tomli_w.dumps(_written(_CODEC.to_plain(policy)))


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
