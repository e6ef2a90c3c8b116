"""A reply that says the same again and again while it streams: cut at ten laps, in text and in thinking."""

from __future__ import annotations

import pytest

from machines.commands import Ask, Withdraw
from machines.policy import DEFAULT, only

from .incidents import SUNG, work
from .told import Told, streamed, told

ALONE = only(DEFAULT.detectors, "chanting")


def found(text: str, channel: str = "text", piece: int = 2_048) -> list[Told]:
    return told([work(0), *streamed(text, channel, piece)], detectors=ALONE)


@pytest.mark.parametrize("channel", ["text", "thinking"])
@pytest.mark.parametrize("piece", [1, 7, 44, 2_048, 100_000])
def test_the_tenth_lap_cuts_the_stream_and_not_the_ninth(channel: str, piece: int) -> None:
    assert found(SUNG * 9, channel, piece) == []
    (stop,) = found(SUNG * 10, channel, piece)
    assert (stop.short, stop.values["now"], stop.values["channel"]) == ((2, "stop", "chanting"), 10, channel)
    assert stop.values["period"] == len(SUNG)
    assert stop.commands == (Withdraw(), Ask(final=True))


def test_a_stop_in_the_middle_of_a_stream_is_given_where_it_is() -> None:
    before = "Here is what I found about the harbour, in the order in which I found it. "
    after = "".join(f"Then came number {number}, which was unlike the others. " for number in range(400))
    assert [one.verdict for one in found(before + SUNG * 12 + after, piece=64)] == ["stop"]
    assert found(before + SUNG * 9 + after, piece=64) == []
