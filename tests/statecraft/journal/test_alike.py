"""Every kind of store answers as the one in memory does, and a file's last lines are found wherever blocks end."""

from __future__ import annotations

from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecraft.journal import FileStore, MemoryStore, Shelf, Store, ends

BODIES = st.binary(max_size=12)
IDS = st.sampled_from(["a", "b", "A", "a/b", "\ud800", "\0"])
NAMES = st.sampled_from(["snapshot", "made_by"])
HOLDERS = st.sampled_from(["ada", "bob"])
MOMENTS = st.integers(0, 12)
ACTS = st.one_of(
    st.tuples(st.just("append"), st.integers(0, 3), BODIES),
    st.tuples(st.just("lines"), st.integers(-2, 4)),
    st.tuples(st.just("put"), BODIES),
    st.tuples(st.just("keep"), NAMES, BODIES | st.none()),
    st.tuples(st.just("kept"), NAMES),
    st.tuples(st.just("post"), IDS, BODIES),
    st.tuples(st.just("unpost"), IDS),
    st.tuples(st.just("mail")),
    st.tuples(st.just("lease"), HOLDERS, st.integers(1, 5), MOMENTS),
    st.tuples(st.just("release"), HOLDERS),
    st.tuples(st.just("close")),
)


def done(store: Store, name: str, *values: Any) -> Any:
    """What the act gives. `append` writes the next line, or one that is there already again."""
    if name == "append":
        back, body = values
        there = list(store.lines())
        number = max(len(there) - back, 0)
        again = there[number : number + 1]
        return store.append(number, again[0] if again else b'{"seq":%d,"x":"%s"}' % (number, body.hex().encode()))
    answer = getattr(store, name)(*values)
    return list(answer) if name == "lines" else answer


def test_every_kind_of_store_answers_as_the_one_in_memory_does(shelf: Shelf) -> None:
    runs = count()

    @given(st.lists(ACTS, max_size=25))
    @settings(max_examples=60, deadline=None)
    def check(acts: list[tuple[Any, ...]]) -> None:
        plain, store = MemoryStore(), shelf.store(f"run {next(runs)}")
        store.claim()
        for act in acts:
            assert done(store, *act) == done(plain, *act), act
        assert (store.mail(), store.kept("snapshot")) == (plain.mail(), plain.kept("snapshot"))
        store.close()

    check()


@pytest.mark.parametrize("block", [1, 2, 7, 64])
def test_lines_after_a_number_are_found_wherever_blocks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(ends, "BLOCK", block)
    place = tmp_path / "r.jsonl"

    @given(st.lists(st.integers(0, 20), max_size=12), st.integers(-1, 14), st.binary(max_size=20), st.integers(-1, 11))
    @settings(max_examples=60, deadline=None)
    def check(lengths: list[int], after: int, torn: bytes, gone: int) -> None:
        lines = [b'{"seq":%d,"x":"%s"}' % (number, b"x" * length) for number, length in enumerate(lengths)]
        kept = [line for number, line in enumerate(lines) if number != gone]
        place.write_bytes(b"".join(line + b"\n" for line in kept) + torn.replace(b"\n", b""))
        with closing(FileStore(place)) as store:
            assert list(store.lines(after)) == [line for line in lines[after + 1 :] if line in kept]

    check()
