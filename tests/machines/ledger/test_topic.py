"""What a call is about: its words, whatever their order and case, and its numbers apart from them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.ledger.topic import MOST_WORDS, figures_of, topic_of

PLAIN = topic_of(["harvest of the northern valleys"])


@pytest.mark.parametrize(
    "text",
    [
        "Harvest of the Northern Valleys",
        "northern valleys: the HARVEST",
        "harvest, harvest of the   northern/valleys!",
        "the harvest of northern valleys 1990",
        "harvest of the northern valleys at 3 pm",
    ],
)
def test_order_case_signs_and_numbers_are_no_words(text: str) -> None:
    """And neither are words of two letters."""
    assert topic_of([text]) == PLAIN


@pytest.mark.parametrize("text", ["harvest of the northern valley", "harvest northern valleys", "the harvests"])
def test_other_words_are_another_topic(text: str) -> None:
    assert topic_of([text]) != PLAIN


def test_a_word_is_four_bytes_and_stands_once() -> None:
    assert topic_of([]) == topic_of([""]) == topic_of(["a to 12 of 3rd"]) == b""
    assert len(topic_of(["fox"])) == 4
    assert len(topic_of(["fox den fox"])) == 8


@pytest.mark.parametrize("count", [1, MOST_WORDS - 1, MOST_WORDS, MOST_WORDS + 1, 400])
def test_no_more_than_the_longest_words_are_kept(count: int) -> None:
    words = ["w" * (3 + number) for number in range(count)]
    assert len(topic_of([" ".join(words)])) == 4 * min(count, MOST_WORDS)
    assert topic_of([" ".join(words)]) == topic_of([" ".join(words[-MOST_WORDS:])])


def test_several_arguments_are_one_topic_and_no_text_is_read_too() -> None:
    assert topic_of(["northern harvest", "the valleys"]) == PLAIN
    assert topic_of([["harvest", "northern"], {"the": "valleys"}]) == PLAIN
    assert topic_of([None]) == topic_of(["null"])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("in 1990", "1990 it was", True),
        ("3 May 1990", "1990-05-3", False),
        ("10 and 20", "20, 10, 20", True),
        ("1990", "1991", False),
        ("2nd", "2", False),
        ("1,000", "1.000", True),
        ("no number", "none at all", True),
    ],
)
def test_figures_are_the_words_with_a_digit_in_any_order(one: str, other: str, same: bool) -> None:
    assert (figures_of([one]) == figures_of([other])) == same


def test_figures_are_eight_bytes_or_nothing() -> None:
    assert figures_of(["no number", None]) == b""
    assert len(figures_of(["1990"])) == len(figures_of(["1990 1991 1992"])) == 8
    assert figures_of([1990]) == figures_of(["1990"])
    assert figures_of(["\u0663 \u0664"]) != b"", "digits of any script are digits"


@given(texts=st.lists(st.text(max_size=40), max_size=4), seed=st.integers(0, 99))
def test_any_text_has_a_topic_whatever_the_order_of_its_words(texts: list[str], seed: int) -> None:
    words = " ".join(texts).split()
    shuffled = random.Random(seed).sample(words, len(words))
    for read in (topic_of, figures_of):
        assert read([" ".join(words)]) == read([" ".join(shuffled)]) == read(shuffled)


def test_a_lone_surrogate_is_no_obstacle() -> None:
    assert topic_of(["\ud800fox"]) == topic_of(["fox \ud800"]) == topic_of(["fox"])
    assert len(topic_of([{"name": "\ud800"}, "fox"])) >= 4
