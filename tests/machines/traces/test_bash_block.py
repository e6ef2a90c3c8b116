from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.traces.bash_block import blocks

# What mini-swe-agent 1 itself looks for, from its default configuration.
PATTERN = re.compile(r"```bash\s*\n(.*?)\n```", re.DOTALL)

BITS = st.sampled_from(
    ["```bash", "```", "\n", "\n\n", " ", "\t", "ls", "`", "bash", "\n```\n", "```bash\n", "\x0b", "\u2003"]
)


@given(st.lists(BITS, max_size=14).map("".join))
def test_blocks_are_those_that_the_agent_finds(text: str) -> None:
    assert blocks(text) == PATTERN.findall(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no block", []),
        ("```bash\nls\n```", ["ls"]),
        ("```bash ls\n```", []),
        ("```bash\n\n```", [""]),
        ("```bash\n```", []),
        ("a\n```bash\nls\n```\nb\n```bash\npwd\n```", ["ls", "pwd"]),
        ("```python\nls\n```", []),
        ("```bash\nls", []),
    ],
)
def test_a_block_needs_its_fences_on_lines_of_their_own(text: str, found: list[str]) -> None:
    assert blocks(text) == found


@pytest.mark.parametrize("text", ["x```bash\n" * 20_000, "```bash" + "\n" * 200_000, "```bash\n```bash\n" * 20_000])
def test_hostile_text_takes_linear_time(text: str) -> None:
    begun = time.process_time()
    blocks(text)
    assert time.process_time() - begun < 2.0
