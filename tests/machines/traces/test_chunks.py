from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from machines.traces.chunks import PIECE, joined
from machines.traces.lines import Channel, ChunkLine, Line, UserLine

CHANNELS: list[Channel] = ["text", "thinking"]


def pieces(lines: list[Line]) -> list[Line]:
    return [line for _, line in joined(enumerate(lines, start=1))]


def test_a_piece_is_given_out_when_it_is_full_and_not_before() -> None:
    short, full = "a" * (PIECE - 1), "a" * PIECE
    assert pieces([ChunkLine(short), ChunkLine("b")]) == [ChunkLine(short + "b")]
    assert pieces([ChunkLine(full), ChunkLine("b")]) == [ChunkLine(full), ChunkLine("b")]
    assert pieces([ChunkLine(short + "bc")]) == [ChunkLine(short + "b"), ChunkLine("c")]


def test_what_is_left_is_given_out_before_any_other_line() -> None:
    assert pieces([ChunkLine("a"), UserLine("x"), ChunkLine("b")]) == [ChunkLine("a"), UserLine("x"), ChunkLine("b")]


def test_what_is_left_is_given_out_when_the_channel_changes() -> None:
    given_lines: list[Line] = [ChunkLine("a"), ChunkLine("b", "thinking"), ChunkLine("c", "thinking"), ChunkLine("d")]
    assert pieces(given_lines) == [ChunkLine("a"), ChunkLine("bc", "thinking"), ChunkLine("d")]


def test_empty_chunks_make_no_piece() -> None:
    assert pieces([ChunkLine(""), ChunkLine("", "thinking"), UserLine("x")]) == [UserLine("x")]


def test_a_piece_has_the_number_and_time_of_the_chunk_that_filled_it() -> None:
    lines: list[tuple[int | None, Line]] = [(4, ChunkLine("a", at=1.0)), (7, ChunkLine("a" * PIECE, at=2.0))]
    assert [(number, getattr(line, "at", None)) for number, line in joined(lines)] == [(7, 2.0), (7, 2.0)]


@given(st.lists(st.tuples(st.sampled_from(CHANNELS), st.text("ab", max_size=PIECE + 500)), max_size=12), st.data())
def test_pieces_depend_on_the_text_and_not_on_how_it_was_cut(
    said: list[tuple[Channel, str]], data: st.DataObject
) -> None:
    whole: list[Line] = [ChunkLine(text, channel) for channel, text in said]
    cut: list[Line] = []
    for channel, text in said:
        at = data.draw(st.integers(0, len(text)))
        cut += [ChunkLine(text[:at], channel), ChunkLine(text[at:], channel)]
    assert pieces(cut) == pieces(whole)
    assert "".join(line.text for line in pieces(whole) if isinstance(line, ChunkLine)) == "".join(t for _, t in said)
