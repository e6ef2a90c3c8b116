from __future__ import annotations

import subprocess
import sys
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest

from machines.agent import make_limits
from machines.agent.limit_table import FILE, in_table
from machines.agent.make_limits import LIST, limits_of, main, written
from machines.agent.model_ids import longest, normal


def entry(provider: str, window: object, output: object, mode: str = "chat") -> dict[str, object]:
    return {"litellm_provider": provider, "mode": mode, "max_input_tokens": window, "max_output_tokens": output}


SAMPLE: dict[str, dict[str, object]] = {
    "sample_spec": {"max_input_tokens": "in words"},
    "claude-a-1-20250101": entry("anthropic", 200_000, 64_000),
    "claude-a-1": entry("anthropic", 210_000, 64_000),
    "us.anthropic.claude-a-1-20250101-v1:0": entry("bedrock", 100_000, 4_096),
    "anthropic.claude-old-20230101-v1:0": entry("bedrock", 100_000, 4_096),
    "meta.llama-9": entry("bedrock", 100_000, 4_096),
    "gpt-x": entry("openai", 8_192, 4_096),
    "gpt-x-2024-01-01": entry("openai", 8_192, 2_048),
    "gpt-x-mini": entry("openai", 8_192, 4_096),
    "gpt-x-pro": entry("openai", 8_192, 8_192, "responses"),
    "gpt-xl": entry("openai", 8_192, 4_096),
    "gpt-image": entry("openai", 8_192, 4_096, "image_generation"),
    "gpt-unknown": entry("openai", None, 4_096),
    "azure/gpt-x": entry("azure", 4_096, 4_096),
    "azure/gpt-gone": entry("azure", 4_096, 4_096),
    "gemini/g1-2025-01-01": entry("gemini", 3_000, 300),
    "gemini/g1-2025-02-01": entry("gemini", 2_000, 400),
    "gemini/reads-less": entry("gemini", 1_000, 9_000),
    "gemini/too-small": entry("gemini", 999, 999),
    "gemini/too-short": entry("gemini", 8_192, 255),
    "gemini/short-1": entry("gemini", 8_192, 256),
    "anthropic.claude-v2:1": entry("bedrock", 100_000, 8_191),
    "someone/else-1": entry("someone", 8_192, 4_096),
}


def test_the_table_is_made_of_the_facts_in_the_list() -> None:
    assert limits_of(SAMPLE) == {
        "claude-a-1": (210_000, 64_000),  # the house's own, the one without a date
        "claude-old": (100_000, 4_096),  # only a cloud still has it
        "g1": (2_000, 400),  # of two dates the smaller
        "gpt-gone": (4_096, 4_096),
        "gpt-x": (8_192, 4_096),  # implies gpt-x-mini
        "gpt-x-pro": (8_192, 8_192),
        "gpt-xl": (8_192, 4_096),  # the same numbers, but no word of it ends where gpt-x does
        "reads-less": (1_000, 1_000),
        "short-1": (8_192, 256),
    }


def test_a_made_file_has_its_source_its_date_and_one_model_a_line() -> None:
    made = written({"a": (2, 1), "b": (4, 3)}, "litellm 1 (MIT)", date(2026, 1, 2))
    assert orjson.loads(made) == {
        "source": "litellm 1 (MIT)",
        "date": "2026-01-02",
        "limits": {"a": [2, 1], "b": [4, 3]},
    }
    assert b'\n    "a": [2, 1],\n    "b": [4, 3]\n' in made


def test_the_file_is_made_from_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_limits, "FILE", tmp_path / "made.json")
    wheel = tmp_path / "litellm-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(LIST, orjson.dumps(SAMPLE))
    assert main([str(wheel), "2026-01-02"]) is None
    made = (tmp_path / "made.json").read_bytes()
    assert made == written(limits_of(SAMPLE), f"litellm 1.2.3 (MIT), {LIST}", date(2026, 1, 2))


@pytest.mark.parametrize("arguments", [[], ["absent.whl", "2026-01-02"], ["absent.whl", "today"], ["a", "b", "c"]])
def test_what_is_wrong_with_the_arguments_is_said(arguments: list[str]) -> None:
    said = main(arguments)
    assert said is not None
    assert "expected WHEEL DATE" in said


def table() -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(FILE.read_bytes())
    return data


def test_the_file_names_its_source_and_its_date() -> None:
    assert set(table()) == {"source", "date", "limits"}
    assert table()["source"].startswith("litellm ")
    assert date.fromisoformat(table()["date"]) >= date(2026, 11, 20)


def test_every_entry_is_sane_and_needed() -> None:
    limits = table()["limits"]
    assert list(limits) == sorted(limits)
    assert len(limits) > 100
    for name, (window, output) in limits.items():
        assert 4_000_000 > window >= output >= 256, name
        assert window >= 1_000, name
        assert normal(name) == name
        assert len(name) > 1
        shorter = longest(name, limits.keys() - {name})
        assert shorter is None or limits[shorter] != [window, output], name


@pytest.mark.parametrize(
    ("model", "limits"),
    [
        ("claude-sonnet-4-5-20250929", (200_000, 64_000)),
        ("us.anthropic.claude-opus-4-1-20250805-v1:0", (200_000, 32_000)),
        ("anthropic/claude-3.5-haiku", (200_000, 8_192)),
        ("gpt-4", (8_192, 4_096)),
        ("gpt-4o-mini-2024-07-18", (128_000, 16_384)),
        ("gpt-4.1-nano", (1_047_576, 32_768)),
        ("gpt-4-turbo-2024-04-09", (128_000, 4_096)),
        ("o3-mini", (200_000, 100_000)),
        ("models/gemini-2.5-flash", (1_048_576, 65_536)),
        ("mistral/mistral-large-latest", (262_144, 262_144)),
        ("deepseek-chat", (131_072, 8_192)),
    ],
)
def test_well_known_models_are_in_the_table(model: str, limits: tuple[int, int]) -> None:
    assert in_table(model) == limits


@pytest.mark.parametrize("model", ["", "claude", "gpt", "gemini", "my-finetune", "llama-3", "o", "gpt-4q"])
def test_a_house_or_a_stranger_is_not_in_the_table(model: str) -> None:
    assert in_table(model) is None


def test_the_table_is_read_when_it_is_first_asked_and_no_http_library_with_it() -> None:
    code = (
        "import sys, machines.agent\n"
        "from machines.agent import ModelLimits, register_model_limits\n"
        "from machines.agent import limit_table\n"
        "assert not limit_table._entries.cache_info().currsize\n"
        "assert limit_table.in_table('gpt-4') and limit_table._entries.cache_info().currsize\n"
        "assert 'httpx' not in sys.modules and 'machines.agent.providers' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
