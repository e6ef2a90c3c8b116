"""Makes `known_limits.json` from a wheel of litellm, by hand: `python -m machines.agent.make_limits WHEEL DATE`.

litellm (MIT) keeps a list of models by every provider. Only the facts are taken: how many tokens a prompt and a reply
may have. DATE is the day the wheel was released, YYYY-MM-DD: the wheel itself does not say. This stands in the package
and not beside the tests because it must normalise ids as the package does when it looks them up.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

import orjson

from .limit_table import FILE
from .model_ids import longest, normal

LIST: Final = "litellm/model_prices_and_context_window_backup.json"

HOUSES: Final = (
    "anthropic",
    "openai",
    "gemini",
    "deepseek",
    "xai",
    "moonshot",
    "mistral",
    "cohere_chat",
    "dashscope",
    "qwen_ai_platform",
    "groq",
)
"""Whose entries are taken. Where several have a model, the first counts: those that make models before those that host
the models of others."""

CLOUDS: Final[Mapping[str, tuple[str, ...]]] = {
    "vertex_ai-anthropic_models": ("claude-",),
    "vertex_ai-language-models": ("gemini-",),
    "bedrock_converse": ("claude-",),
    "bedrock": ("claude-",),
    "azure": ("gpt-", "o1", "o3", "o4"),
}
"""Clouds that serve models which their own house no longer lists, and what those begin with. They come after all
houses."""

MODES: Final = frozenset({"chat", "responses"})

LEAST_WINDOW: Final = 1_000
"""Tokens: what takes fewer is a classifier, and no such limit would be believed if a provider named it."""

LEAST_OUTPUT: Final = 256
"""Tokens: a smaller bound of a reply is none of a model to work with."""

Limits = tuple[int, int]


def limits_of(models: Mapping[str, Mapping[str, Any]]) -> dict[str, Limits]:
    """The table from litellm's list: normal ids, sorted, to window and longest reply. Pure.

    Of several entries of a house for one model the one without a date counts, and of those that are left the smaller:
    too small a limit costs a condensing, too large a one a request that is refused. An entry that a shorter one implies
    is left out.
    """
    found: dict[str, tuple[int, bool, Limits]] = {}
    for model, entry in models.items():
        name, limits = normal(model), _limits(entry)
        rank = _rank(str(entry.get("litellm_provider")), name)
        if limits is None or rank is None or entry.get("mode") not in MODES or _is_family(name):
            continue
        one = (rank, not model.lower().endswith(name), limits)
        found[name] = min(one, found.get(name, one))
    kept: dict[str, Limits] = {}
    for name in sorted(found, key=lambda name: (len(name), name)):
        shorter = longest(name, kept)
        if shorter is None or kept[shorter] != found[name][2]:
            kept[name] = found[name][2]
    return dict(sorted(kept.items()))


def written(limits: Mapping[str, Limits], source: str, released: date) -> bytes:
    """The file: one model a line, so that a change can be read."""
    head = {"source": source, "date": released.isoformat()}
    lines = [f"  {orjson.dumps(key).decode()}: {orjson.dumps(value).decode()}," for key, value in head.items()]
    rows = [f"    {orjson.dumps(name).decode()}: [{window}, {output}]" for name, (window, output) in limits.items()]
    return "\n".join(["{", *lines, '  "limits": {', ",\n".join(rows), "  }", "}", ""]).encode()


def main(arguments: list[str]) -> str | None:
    """Write the file; what is wrong with the arguments is returned."""
    try:
        path, day = arguments
        released = date.fromisoformat(day)
        with zipfile.ZipFile(path) as wheel:
            models: Any = orjson.loads(wheel.read(LIST))
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        return (
            f"found {' '.join(arguments) or 'nothing'} ({error}), expected WHEEL DATE: litellm's wheel and YYYY-MM-DD"
        )
    version = next(iter(re.findall(r"^litellm-([^-]+)-", Path(path).name)), "of an unknown version")
    limits = limits_of(models)
    FILE.write_bytes(written(limits, f"litellm {version} (MIT), {LIST}", released))
    print(f"{len(limits)} models in {FILE}")
    return None


def _limits(entry: Mapping[str, Any]) -> Limits | None:
    window, output = entry.get("max_input_tokens"), entry.get("max_output_tokens")
    if not isinstance(window, int) or not isinstance(output, int):
        return None
    output = min(output, window)  # some models reply at more length than they read
    return (window, output) if window >= LEAST_WINDOW and output >= LEAST_OUTPUT else None


def _rank(provider: str, name: str) -> int | None:
    if provider in HOUSES:
        return HOUSES.index(provider)
    clouds: Iterator[int] = (
        len(HOUSES) + number
        for number, (cloud, families) in enumerate(CLOUDS.items())
        if cloud == provider and name.startswith(families)
    )
    return next(clouds, None)


def _is_family(name: str) -> bool:
    """Whether a name is one word without a number: it would stand for every model of a house."""
    return name.isalpha()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
