"""Reading on in a result that was set aside, and what is said where it cannot be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.agent.spilling import MOST_READ, READ_RESULT, SHOWN, piece, preview, spill_tools
from machines.agent.tools import ToolError, check_tools
from machines.agent.transcript import Transcript
from machines.agent.wire import CallPart

TEXTS = {"one": "0123456789" * 1_000, "two": "short"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_the_tool_reads_what_the_transcript_set_aside_as_it_is_then() -> None:
    transcript = Transcript()
    (tool,) = spill_tools(lambda: transcript.spilled)
    check_tools([tool])
    assert tool.name == READ_RESULT
    with pytest.raises(ToolError, match="there are: none"):
        await tool.function("one")
    transcript.reply([CallPart("one", "look", "{}")])
    transcript.answer("one", TEXTS["one"])
    transcript.spill_large_results()
    assert (await tool.function("one", 500)).startswith(TEXTS["one"][500:2_500] + "\n[characters 500 to 2500 of 10000;")
    assert set(tool.schema.schema["properties"]) == {"call", "start", "length"}
    assert tool.schema.schema["required"] == ["call"]


@pytest.mark.parametrize(
    ("call", "start", "length", "said"),
    [
        ("three\nlines", 0, 10, r"no result of the call 'three\\nlines' was set aside; there are: one, two"),
        ("x" * 1_000, 0, 10, "there are"),
        ("two", -1, 10, "found start -1, expected 0 to 4"),
        ("two", 5, 10, "found start 5, expected 0 to 4"),
        ("two", 0, 0, f"found length 0, expected 1 to {MOST_READ}"),
        ("two", 0, MOST_READ + 1, f"found length {MOST_READ + 1}, expected 1 to {MOST_READ}"),
    ],
)
def test_what_is_not_there_is_an_error_of_one_line(call: str, start: int, length: int, said: str) -> None:
    with pytest.raises(ToolError, match=said) as error:
        piece(TEXTS, call, start, length)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(("start", "length", "on"), [(4, 1, False), (0, 5, False), (0, MOST_READ, False), (0, 4, True)])
def test_a_piece_says_where_it_stands_and_whether_there_is_more(start: int, length: int, on: bool) -> None:
    assert ("go on with start=4" in piece(TEXTS, "two", start, length)) is on


@given(st.text(min_size=1, max_size=300), st.integers(1, 50))
def test_the_pieces_of_a_result_are_the_whole_of_it(text: str, length: int) -> None:
    starts = range(0, len(text), length)
    read = [piece({"one": text}, "one", start, length).rsplit("\n[characters", 1)[0] for start in starts]
    assert "".join(read) == text


def test_a_preview_says_how_long_the_result_is_and_how_to_read_on() -> None:
    shown = preview("one", TEXTS["one"])
    assert shown.startswith(TEXTS["one"][:SHOWN])
    assert f"10000 characters in all, of which these are the first {SHOWN}" in shown
    assert f'{READ_RESULT} with call="one" and start={SHOWN}' in shown
