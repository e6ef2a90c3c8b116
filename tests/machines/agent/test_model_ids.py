from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.agent.model_ids import longest, normal

SAME = {
    "claude-sonnet-4-5": (
        "claude-sonnet-4-5",
        "Claude-Sonnet-4-5",
        " claude-sonnet-4-5 ",
        "anthropic:claude-sonnet-4-5",
        "anthropic/claude-sonnet-4-5",
        "anthropic/claude-sonnet-4.5",
        "openrouter/anthropic/claude-sonnet-4.5:beta",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-5@20250929",
        "vertex_ai/claude-sonnet-4-5@default",
        "projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@20250929",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "bedrock/us-east-1/anthropic.claude-sonnet-4-5-20250929-v1:0:200k",
        "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ),
    "gpt-4o": ("gpt-4o", "openai:gpt-4o", "openai-responses:gpt-4o", "gpt-4o-2024-08-06", "azure/eu/gpt-4o-2024-08-06"),
    "gpt-4o:org::id": ("ft:gpt-4o:org::id",),
    "gpt-oss-120b": ("openai.gpt-oss-120b-1:0", "groq/openai/gpt-oss-120b"),
    "gemini-2.5-pro": ("models/gemini-2.5-pro", "publishers/google/models/gemini-2.5-pro", "gemini:gemini-2.5-pro"),
    "deepseek-r1": ("deepseek/deepseek-r1:free", "deepseek-r1:latest", "us.deepseek.deepseek-r1"),
}


@pytest.mark.parametrize(("name", "given"), [(name, given) for name, all_ in SAME.items() for given in all_])
def test_a_model_has_one_normal_id(name: str, given: str) -> None:
    assert normal(given) == name


@pytest.mark.parametrize(
    "kept",
    [
        "deepseek-v3",  # a version of its own, not Bedrock's
        "mistral-large-2512",  # no day
        "claude-sonnet-4-20251301",  # no month
        "gpt-4o-2024-08-32",  # no day
        "command-a-03-2025",
        "llama3:8b",  # another size is another model
        "gemini-flash-latest",
        "qwen2.5-max",  # only Claude is written with hyphens
        "anthropic",
        ":free",
        "/",
        "",
    ],
)
def test_what_only_looks_like_a_prefix_or_a_date_stays(kept: str) -> None:
    assert normal(kept) == kept


def test_an_address_is_no_path_to_a_model() -> None:
    assert normal("http://127.0.0.1:8080/o1") == "http://127.0.0.1:8080/o1"


PIECES = st.sampled_from(
    ["anthropic/", "us.", "anthropic.", "models/", "claude-", "4.5", "-20250929", "@default", "-v1:0", ":free", "ft:"]
)


@given(st.one_of(st.text(), st.lists(PIECES | st.text(max_size=3)).map("".join)))
def test_a_normal_id_is_normal(model: str) -> None:
    assert normal(normal(model)) == normal(model)
    assert bool(normal(model)) == bool(model.strip())


ENTRIES = frozenset({"gpt-4", "gpt-4.1", "gpt-4-turbo", "o1"})


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("gpt-4", "gpt-4"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-4:org::id", "gpt-4"),
        ("gpt-4.5", "gpt-4"),  # a later version of what is known is nearer to it than a guess
        ("gpt-4.1", "gpt-4.1"),
        ("gpt-4.1-mini", "gpt-4.1"),
        ("gpt-4.15", "gpt-4"),
        ("gpt-4-turbo-preview", "gpt-4-turbo"),
        ("gpt-4-turbos", "gpt-4"),
        ("gpt-4o", None),
        ("gpt-40", None),
        ("gpt-", None),
        ("o1-mini", "o1"),
        ("o10", None),
        ("my-gpt-4", None),
        ("", None),
    ],
)
def test_the_longest_entry_that_ends_where_a_word_does_is_found(name: str, entry: str | None) -> None:
    assert longest(name, ENTRIES) == entry
