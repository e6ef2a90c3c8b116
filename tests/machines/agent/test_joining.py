"""A cut text and its continuation become one text, without what was said twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.agent.joining import LEAST, joined

letters = st.text("ab ", max_size=60)


def slow_overlap(before: str, after: str) -> int:
    """The same by trying every length."""
    shared = [n for n in range(LEAST, min(len(before), len(after)) + 1) if before.endswith(after[:n])]
    return max(shared, default=0)


@given(letters, letters)
def test_the_longest_overlap_is_left_out_once(before: str, after: str) -> None:
    anew = joined(before, after) == after and after.startswith(before[:LEAST])
    assert anew or joined(before, after) == before + after[slow_overlap(before, after) :]


@given(st.text(max_size=80), st.integers(0, 80))
def test_a_text_that_was_cut_anywhere_and_goes_on_is_whole_again(text: str, at: int) -> None:
    whole = joined(text[:at], text[at:])
    assert whole == text or slow_overlap(text[:at], text[at:]) or text[at:].startswith(text[:LEAST])


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        ("The answer is fo", "rty-two.", "The answer is forty-two."),
        ("one two three four", "two three four five", "one two three four five"),
        ("one two three", "three four", "one two threethree four"),  # five letters prove nothing
        ("The report has three parts. The fi", "The report has three parts, all.", "The report has three parts, all."),
        ("The answer is forty", "The answer is forty-two.", "The answer is forty-two."),
        ("- [ ] the oven\n- [ ] the sink\n", "- [ ] the door\n", "- [ ] the oven\n- [ ] the sink\n- [ ] the door\n"),
        ("", "whole", "whole"),
        ("whole", "", "whole"),
    ],
)
def test_joining_at_the_seam(before: str, after: str, whole: str) -> None:
    assert joined(before, after) == whole
