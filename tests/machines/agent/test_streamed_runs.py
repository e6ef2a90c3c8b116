"""Runs whose replies are told as they come: the same runs, and given up where a reply only says the same again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from machines.agent.notices import AttemptResetNotice, PieceNotice, RecoveryNotice, TextNotice, VerdictNotice
from machines.agent.scripted import CutStream, ErrorInStream, Received, Turn, Unstreamed, call
from machines.agent.tools import tool
from machines.events import StopReason
from machines.outcome import Fact, TerminalStatus
from machines.policy import Detectors, Plain, Policy

from .scripts import calling, done, last_texts

pytestmark = pytest.mark.anyio

CHANT = "I will now read the file and tell you what it says. " * 400
"""Far more than is read of it: 20,800 characters."""


@tool
async def look(number: int) -> str:
    """Look at something."""
    return f"number {number}"


def pieces(ran: Any, channel: str = "text") -> list[str]:
    return [notice.text for notice in ran.heard(PieceNotice) if notice.channel == channel]


async def test_pieces_come_in_their_order_and_are_the_text(serve: Callable[..., Any]) -> None:
    words = "I have looked at it twice, and it is a number like any other: 7, or perhaps 8. 🙂"
    with serve([Turn(words, thinking="Which number is it?"), done()]) as stage:
        ran = await stage.ran("look", stream=True)
    assert ran.result.ok
    assert len(pieces(ran)) > 5
    assert "".join(pieces(ran)) == words
    assert "".join(pieces(ran, "thinking")) == "Which number is it?"
    told = [notice for notice in ran.notices if isinstance(notice, PieceNotice | TextNotice)]
    assert isinstance(told[-1], TextNotice), "the whole is told behind its pieces"
    assert told[-1].text == words
    assert all(received.streamed for received in ran.requests)


async def test_nothing_is_told_in_pieces_where_no_stream_was_asked_for(serve: Callable[..., Any]) -> None:
    with serve([Turn("A few words."), done()]) as stage:
        ran = await stage.ran("look")
    assert (ran.result.ok, pieces(ran)) == (True, [])
    assert not any(received.streamed for received in ran.requests)


async def test_a_stream_that_says_the_same_again_and_again_is_closed_and_the_run_concludes(
    serve: Callable[..., Any],
) -> None:
    with serve([calling("look", number=1), Turn(CHANT), Turn("I was going in circles.")]) as stage:
        ran = await stage.ran("look", [look], stream=True)
        # A connection whose stream was given up is used no more: the last request needs another.
        assert stage.server.connections > 1
    result = ran.result
    assert (result.status, result.outcome.reason.by) == (TerminalStatus.BLOCKED, "chanting")
    assert Fact.STUCK in result.facts
    assert [notice.by for notice in ran.heard(VerdictNotice)] == ["chanting"]
    said = "".join(pieces(ran))
    assert said.startswith(CHANT[:2_000])
    assert len(said) < len(CHANT), "it is not heard to its end"
    assert "I was going in circles." in result.output
    assert CHANT[:200] not in "\n".join(last_texts(ran.requests[-1].request))


async def test_with_the_detector_off_a_chant_is_heard_to_its_end(serve: Callable[..., Any]) -> None:
    off = Policy(detectors=Detectors(chanting=Plain(enabled=False)))
    with serve([Turn(CHANT), done()]) as stage:
        ran = await stage.ran("look", policy=off, stream=True)
    assert (ran.result.ok, "".join(pieces(ran))) == (True, CHANT)


SCRIPTS: dict[str, list[Any]] = {
    "calls": [Turn("I look.", (call("look", {"number": 1}), call("look", {"number": 2}))), done("Two numbers.")],
    "cut": [Turn("The number is se", stop=StopReason.LENGTH), done("ven, or eight.")],
    "cut call": [Turn(calls=(call("look", {"number": 1}),), stop=StopReason.LENGTH), calling("look", number=1), done()],
    "empty": [Turn(), Turn(thinking="Hm."), done()],
    "nameless": [Turn(calls=(call("", {}),)), Turn(calls=(call("", {}),)), Turn("I cannot call it.")],
    "narrated": [Turn("Next I will look."), calling("look", number=1), done()],
    "stuck": [*[calling("look", number=1)] * 4, Turn("I went in circles.")],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
async def test_a_run_ends_the_same_streamed_or_not(serve: Callable[..., Any], script: list[Any]) -> None:
    found: list[object] = []

    def move(received: Received) -> Any:
        return script[received.number]

    with serve(move) as stage:
        for stream in (False, True):
            told: list[Any] = []
            agent = stage.agent([look], run=f"streamed-{stream}", stream=stream)
            agent.notices.subscribe(told.append)
            result = await agent.run("look", run=f"streamed-{stream}")
            requests = [received.request.messages for received in stage.server.requests(f"streamed-{stream}")]
            recovered = [(one.reason, one.attempt) for one in told if isinstance(one, RecoveryNotice)]
            found.append((result.status, result.outcome.reason, result.facts, requests, recovered))
        await stage.close()
    assert found[0] == found[1]


@pytest.mark.parametrize("broken", [CutStream(pieces=2), CutStream(pieces=2, clean=True), ErrorInStream(pieces=2)])
async def test_a_stream_that_breaks_off_is_asked_for_again_and_what_was_shown_of_it_is_taken_back(
    serve: Callable[..., Any], broken: Any
) -> None:
    with serve([broken, done("It is whole.")]) as stage:
        ran = await stage.ran("look", stream=True)
    assert (ran.result.ok, ran.result.output) == (True, "It is whole.")
    shown = [notice for notice in ran.notices if isinstance(notice, PieceNotice | AttemptResetNotice)]
    assert isinstance(shown[0], PieceNotice)
    assert isinstance(shown[-1], AttemptResetNotice)


async def test_a_server_that_knows_no_streams_is_read_all_the_same(serve: Callable[..., Any]) -> None:
    with serve([Unstreamed(Turn("All at once.")), Unstreamed(done("It is done."))]) as stage:
        ran = await stage.ran("look", stream=True)
    assert (ran.result.ok, ran.result.output, pieces(ran)) == (True, "It is done.", ["All at once."])


async def test_a_cut_text_is_told_once_in_pieces_and_joined_in_the_outcome(serve: Callable[..., Any]) -> None:
    first = Turn("The report has three parts. The fi", stop=StopReason.LENGTH)
    with serve([first, done("rst is long.")]) as stage:
        ran = await stage.ran("report", stream=True)
    assert ran.result.output == "The report has three parts. The first is long."
    assert "".join(pieces(ran)) == "The report has three parts. The fi"
    assert [notice.reason for notice in ran.heard(AttemptResetNotice)] == []
