"""Laps of a stream: exact, whatever the pieces; outside of what repeats by nature; linear and bounded."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.ledger.chant import LONGEST, SHORTEST, Chant

SUNG = "And so it goes on and on, as it did before. "
PIECES = (1, 5, 44, 2_048, 1_000_000)


def most(text: str, piece: int = 2_048) -> int:
    """The most laps that the stream ever had."""
    chant = Chant()
    return max((chant.feed(text[at : at + piece]) for at in range(0, len(text), piece)), default=1)


def in_pieces(text: str, sizes: list[int]) -> tuple[int, int, int]:
    chant, found, at = Chant(), 1, 0
    for size in sizes:
        found = max(found, chant.feed(text[at : at + size]))
        at += size
    return max(found, chant.feed(text[at:])), chant.laps, chant.period


# Counting.


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("laps", [5, 9, 10, 11, 200])
def test_laps_are_counted_exactly(laps: int, piece: int) -> None:
    assert most(SUNG * laps, piece) == laps
    assert most("Before it, something else was said. " + SUNG * laps, piece) == laps
    assert most(SUNG * laps + SUNG[:-1], piece) == laps, "a lap that is not whole is none"


words = st.lists(st.integers(100, 999), min_size=2, max_size=60, unique=True)


@given(lap=words, laps=st.integers(2, 12), before=st.lists(st.integers(1_000, 9_999), max_size=50, unique=True))
@settings(max_examples=60, deadline=None)
def test_any_sentence_said_again_is_as_many_laps(lap: list[int], laps: int, before: list[int]) -> None:
    sentence = "".join(f"word{word} " for word in lap)
    said = "".join(f"thing{word} " for word in before) + sentence * laps
    assert most(said) == (laps if len(sentence) * laps >= SHORTEST else 1)


@pytest.mark.parametrize("length", [4, 40, 500, LONGEST, LONGEST + 1])
def test_a_stretch_is_recognised_up_to_the_longest(length: int) -> None:
    stretch = "".join(f"a{number} " for number in range(1_000))[: length - 1] + "."
    assert most(stretch * (SHORTEST // 4)) == (SHORTEST // 4 if length <= LONGEST else 1)


def test_laps_that_are_short_all_together_are_no_chant() -> None:
    assert most("ha " * 66) == 1
    assert most("ha " * 67) == 67
    assert most("no! " * 49) == 1
    assert most("no! " * 50) == 50


def test_what_has_no_letter_is_no_chant() -> None:
    for stretch in ("... ", "12 34 56 ", "\u2500" * 9, "\n\n", "    ", "\U0001f642 "):
        assert most("It is so. " + stretch * 200) == 1


def test_another_word_ends_the_laps_and_they_begin_anew() -> None:
    chant = Chant()
    assert chant.feed(SUNG * 9) == 9
    assert (chant.laps, chant.period) == (9, len(SUNG))
    assert chant.feed("But then it was something else. ") == 9, "as many as there were before it"
    assert (chant.laps, chant.period) == (1, 0)
    assert chant.feed(SUNG * 6) in (5, 6), "the first of them stands as far from the old ones as nothing repeats"
    assert chant.feed(SUNG * 5) in (10, 11)


def test_every_lap_that_differs_by_a_word_is_none() -> None:
    assert most("".join(f"Now I look at file number {number} of them. " for number in range(300))) == 1


# Pieces.

parts = st.sampled_from(
    [
        "go on ",
        "and on, ",
        "I will try again now. ",
        "\n",
        "- item\n",
        "```",
        "`",
        "==== so ",
        "----\n",
        "* ",
        "1. one\n",
    ]
)


@given(
    text=st.lists(parts, max_size=12).map(lambda lap: "".join(lap * 12)),
    sizes=st.lists(st.integers(1, 40), max_size=60),
)
@settings(max_examples=150, deadline=None)
def test_where_the_pieces_end_is_nothing(text: str, sizes: list[int]) -> None:
    assert in_pieces(text, sizes) == in_pieces(text, [])


# What stands apart.

APART = {
    "dashes": "- the same item again\n",
    "stars": "* the same item again\n",
    "pluses": "+ the same item again\n",
    "bullets": "\u2022 the same item again\n",
    "numbers": "12. the same item again\n",
    "brackets": "3) the same item again\n",
    "letters": "b) the same item again\n",
    "indented": "    - the same item again\n",
    "a table": "| name | the same value |\n",
    "a quote": "> the same words again\n",
    "headings": "## The same heading\n",
    "dividers": "Part of it\n--------\n",
    "long dividers": "Part of it\n" + "=" * 100 + "\n",
    "starred dividers": "Part of it\n* * *\n",
}
RUNNING = {
    "lines": "I will try this again now.\n",
    "paragraphs": "I will try this again now.\n\n",
    "emphasis": "**Wait**, I will try this again now.\n",
    "emphasis with one star": "*Hm*, I will try this again now.\n",
    "dots before": "... and I will try this again now.\n",
    "numbers before": "12 times I have tried this now.\n",
    "code in words": "I call `open` again, and `read` again. ",
    "carriage returns": "I will try this again now.\r",
}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("form", list(APART))
def test_a_form_that_repeats_by_nature_is_not_counted(form: str, piece: int) -> None:
    assert most(APART[form] * 40, piece) == 1


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("form", list(RUNNING))
def test_running_text_is_counted_whatever_its_form(form: str, piece: int) -> None:
    assert most(RUNNING[form] * 40, piece) == 40


@pytest.mark.parametrize("piece", PIECES)
def test_code_between_fences_is_not_counted_and_what_comes_after_is(piece: int) -> None:
    code = "```python\n" + "value = compute(value)\n" * 60 + "```\n"
    assert most(code, piece) == 1
    assert most("So:\n" + code + SUNG * 12, piece) == 12
    assert most(SUNG * 6 + "\n" + code + SUNG * 6, piece) == 6, "a fence begins a new count"
    assert most("```\n" + SUNG * 60, piece) == 1, "code that is still open"


@pytest.mark.parametrize("at", range(1, 8))
def test_a_fence_may_be_split_over_pieces(at: int) -> None:
    code = "So:\n```\n" + "value = compute(value)\n" * 60 + "```\n" + SUNG * 12
    assert in_pieces(code, [at]) == in_pieces(code, [at, 1]) == (12, 12, len(SUNG))
    closing = code.rindex("```")
    assert in_pieces(code, [closing + 1, 1]) == (12, 12, len(SUNG))


def test_a_healthy_list_in_a_reply_hides_no_chant_after_it() -> None:
    assert most("- one\n- two\n- three\n" * 9 + "\n" + SUNG * 10) == 10


# Cost.

LONG: dict[str, Callable[[int], str]] = {
    "a chant": lambda size: SUNG * (size // len(SUNG)),
    "nearly a chant": lambda size: "".join(f"{SUNG}{number % 10}" for number in range(size // 45)),
    "nothing twice": lambda size: "".join(f"{number} " for number in range(size // 7)),
    "one letter": lambda size: "a" * size,
    "fences": lambda size: "`" * size,
    "lines": lambda size: "\n" * size,
    "short lines": lambda size: "so\n" * (size // 3),
    "a list": lambda size: "- so\n" * (size // 5),
    "seeds that come to nothing": lambda size: "".join(f"abcdefghijkl{number:x}" for number in range(size // 17)),
}


def seconds(text: str) -> float:
    start = time.process_time()
    most(text)
    return time.process_time() - start


@pytest.mark.parametrize("form", list(LONG))
def test_ten_times_the_text_costs_about_ten_times_the_time(form: str) -> None:
    """From 100 KB to 1 MB; a quadratic cost would grow a hundred times."""
    small = max(sorted(seconds(LONG[form](100_000)) for _ in range(3))[1], 1e-4)
    assert seconds(LONG[form](1_000_000)) / small <= 13


@pytest.mark.parametrize("piece", [2_048, 1_000_000])
def test_ten_times_the_text_needs_no_more_memory(piece: int) -> None:
    def peak(size: int) -> int:
        chant, text = Chant(), LONG["nothing twice"](size)
        tracemalloc.start()
        try:
            for at in range(0, len(text), piece):
                chant.feed(text[at : at + piece])
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # A piece itself is copied a few times on its way.
    assert peak(100_000) <= peak(20_000) * 1.2 + (0 if piece == 2_048 else 4 * 100_000)


def test_what_one_item_of_a_list_says_in_itself_is_counted() -> None:
    assert most("- first\n- " + SUNG * 10 + "\n- last\n") == 10
    assert most("## " + SUNG * 12 + "\n") == 12


def test_a_fence_in_the_middle_of_a_line_opens_nothing() -> None:
    assert most("He wrote ``` and then: " + SUNG * 10) == 10
