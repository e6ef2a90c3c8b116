"""What every store does with what lies beside a journal: lines after a number, notes, mail, lease."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from statecraft.journal import (
    Store,
)


def line(number: int) -> bytes:
    return b'{"seq":%d,"x":"%s"}' % (number, b"y" * (number * 37 % 90))


def fill(store: Store, count: int) -> list[bytes]:
    lines = [line(number) for number in range(count)]
    for number, each in enumerate(lines):
        store.append(number, each)
    return lines


def test_lines_after_a_number_are_those_above_it(make: Callable[[], Store]) -> None:
    store = make()
    lines = fill(store, 600)
    store.close()
    again = make()
    for after in (-2, -1, 0, 1, 255, 256, 257, 511, 512, 597, 598):
        assert list(again.lines(after)) == lines[max(after, -1) + 1 :]
    for after in (599, 600, 10_000):
        assert list(again.lines(after)) == []
    again.append(600, line(600))
    assert list(again.lines(599)) == [line(600)]
    again.close()


def test_a_reader_of_lines_does_not_keep_others_from_the_store(make: Callable[[], Store]) -> None:
    store = make()
    fill(store, 300)
    reading = store.lines()
    assert next(reading) == line(0)
    store.append(300, line(300))
    store.keep("snapshot", b"x")
    assert len(list(reading)) >= 299
    store.close()


def test_a_note_is_replaced_as_a_whole_and_taken_away(make: Callable[[], Store]) -> None:
    store = make()
    assert store.kept("snapshot") is None
    store.keep("snapshot", None)
    store.keep("snapshot", b"one")
    store.keep("made_by", b"")
    assert make().kept("snapshot") == b"one"
    store.keep("snapshot", b"\0" * 100_000)
    other = make()
    assert other.kept("snapshot") == b"\0" * 100_000
    assert other.kept("made_by") == b""
    other.keep("snapshot", None)
    assert store.kept("snapshot") is None
    assert store.kept("made_by") == b""
    store.close()


@pytest.mark.parametrize("name", ["", "Snapshot", "a/b", "..", "a.b", "ä", "a\n", "a b", "a1"])
def test_a_note_has_a_plain_name(make: Callable[[], Store], name: str) -> None:
    store = make()
    with pytest.raises(ValueError, match="expected letters a to z and _"):
        store.keep(name, b"")
    with pytest.raises(ValueError, match="expected letters a to z and _"):
        store.keep(name, None)
    with pytest.raises(ValueError, match="expected letters a to z and _"):
        store.kept(name)


def test_whoever_finds_a_note_finds_the_content_that_was_put_before_it(make: Callable[[], Store]) -> None:
    store = make()
    store.append(0, line(0))
    digest = store.put(b"what the note names")
    store.keep("snapshot", digest.encode())
    other = make()
    assert other.kept("snapshot") == digest.encode()
    assert other.get(digest) == b"what the note names"
    store.append(1, line(1))
    second = store.put(b"another")
    store.keep("snapshot", None)
    assert make().get(second) == b"another"
    store.close()


LONG = ["x" * 200, "ü" * 200]
IDS = [
    "a",
    "A",
    "a/b",
    "..",
    ".",
    "/",
    "a\0b",
    "\0",
    "\ud83d\ude00",
    "😀",
    "ä",
    "a\u0308",
    "\ud800",
    "x" * 200,
    "ü" * 200,
    "\n",
]


def test_letters_are_found_in_the_order_in_which_they_came_whatever_their_ids(make: Callable[[], Store]) -> None:
    store = make()
    assert store.mail() == []
    assert all(store.post(id, b"to %d\n\0" % number) for number, id in enumerate(IDS))
    expected = [(id, b"to %d\n\0" % number) for number, id in enumerate(IDS)]
    assert make().mail() == expected
    for id in IDS[::2]:
        make().unpost(id)
    assert store.mail() == expected[1::2]
    for id in IDS:
        store.unpost(id)
        store.unpost(id)
    assert make().mail() == []


def test_an_id_is_one_letter_until_it_is_taken_away(make: Callable[[], Store]) -> None:
    store = make()
    assert store.post("one", b"first") is True
    assert make().post("one", b"second") is False
    assert store.post("one", b"first") is False
    assert store.mail() == [("one", b"first")]
    store.unpost("one")
    assert store.post("one", b"third") is True
    assert make().mail() == [("one", b"third")]


@pytest.mark.parametrize("id", ["", "x" * 201])
def test_an_id_has_1_to_200_characters(make: Callable[[], Store], id: str) -> None:
    store = make()
    with pytest.raises(ValueError, match="expected 1 to 200"):
        store.post(id, b"")
    with pytest.raises(ValueError, match="expected 1 to 200"):
        store.unpost(id)
    assert store.mail() == []


def test_mail_comes_before_a_writer_and_beside_one(make: Callable[[], Store]) -> None:
    make().post("before", b"1")
    writer = make()
    writer.claim(fresh=True)
    held = writer.put(b"held back")
    make().post("beside", b"2")
    writer.post("own", b"3")
    assert [id for id, _ in make().mail()] == ["before", "beside", "own"]
    writer.append(0, line(0))
    assert make().get(held) == b"held back"
    writer.close()


def test_a_lease_is_had_until_it_runs_out_or_is_given_up(make: Callable[[], Store]) -> None:
    store, other = make(), make()
    assert store.lease("ada", 10, 1000) is None
    assert other.lease("bob", 10, 1009.999) == "ada"
    assert store.lease("ada", 10, 1005) is None  # renewed
    assert other.lease("bob", 10, 1014.999) == "ada"
    assert other.lease("bob", 10, 1015) is None
    assert store.lease("ada", 10, 1016) == "bob"
    store.release("ada")  # not hers any more
    assert store.lease("ada", 10, 1016) == "bob"
    other.release("bob")
    other.release("bob")
    assert store.lease("ada", 0.5, 1016) is None
    assert other.lease("bob", 1, 1016.4) == "ada"
    assert other.lease("bob", 1, 1016.5) is None


def test_a_lease_outlives_its_store(make: Callable[[], Store]) -> None:
    store = make()
    store.release("nobody")
    assert store.lease("Ada's worker, the 2nd", float("inf"), 1000) is None
    store.close()
    assert make().lease("bob", 10, 1e12) == "Ada's worker, the 2nd"


@pytest.mark.parametrize("holder", ["", "x" * 201, "a\nb", "a\0", "\ud800"])
def test_who_holds_a_lease_has_a_printable_name(make: Callable[[], Store], holder: str) -> None:
    store = make()
    with pytest.raises(ValueError, match="expected 1 to 200 printable"):
        store.lease(holder, 10, 0)
    with pytest.raises(ValueError, match="expected 1 to 200 printable"):
        store.release(holder)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_lease_lasts_a_while(make: Callable[[], Store], seconds: float) -> None:
    with pytest.raises(ValueError, match="expected more than 0"):
        make().lease("ada", seconds, 0)
