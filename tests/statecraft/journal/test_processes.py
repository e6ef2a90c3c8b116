"""What lies beside a journal, among processes that are killed, or that want the same at once."""

from __future__ import annotations

from typing import Any

import pytest

from statecraft.journal import (
    Shelf,
)


def whole(body: bytes) -> bool:
    return len(body) == 200_000 and len({body[at : at + 10] for at in range(0, len(body), 10)}) == 1


@pytest.mark.parametrize("said", [1, 7, 20])
def test_a_note_whose_writer_is_killed_is_the_old_one_or_the_new(
    place: str, launch: Any, kill: Any, shelf: Shelf, said: int
) -> None:
    process = launch("keep", place, "r", mate=True)
    last = [int(process.stdout.readline()) for _ in range(said)][-1]
    last = [last, *map(int, kill(process, place))][-1]
    body = shelf.store("r").kept("snapshot")
    assert body is not None
    assert whole(body)
    assert int(body[:10]) in (last, last + 1)
    shelf.store("r").keep("snapshot", b"next")
    assert shelf.store("r").kept("snapshot") == b"next"


@pytest.mark.parametrize("said", [1, 7, 20])
def test_a_letter_whose_writer_is_killed_is_there_or_can_be_written_again(
    place: str, launch: Any, kill: Any, shelf: Shelf, said: int
) -> None:
    process = launch("post", place, "r", mate=True)
    last = [int(process.stdout.readline()) for _ in range(said)][-1]
    last = [last, *map(int, kill(process, place))][-1]
    mail = shelf.store("r").mail()
    assert [id for id, _ in mail] == [f"letter {number}" for number in range(len(mail))]
    assert len(mail) in (last + 1, last + 2)
    assert all(whole(body) for _, body in mail)
    assert shelf.store("r").post(f"letter {len(mail)}", b"again") is True
    assert shelf.store("r").mail()[-1] == (f"letter {len(mail)}", b"again")
    for id, _ in shelf.store("r").mail():
        shelf.store("r").unpost(id)
    assert shelf.mailed() == ()


def race(launch: Any, *args: str) -> list[list[int]]:
    """What two processes that begin at once have got."""
    both = [launch(*args[:3], who, *args[3:], mate=True) for who in ("ada", "bob")]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    return [[int(number) for number in out.split()] for out, _ in said]


def test_of_two_processes_that_post_the_same_id_at_once_one_does(place: str, launch: Any, shelf: Shelf) -> None:
    ada, bob = race(launch, "same", place, "r", "200")
    assert sorted(ada + bob) == list(range(200))
    mail = dict(shelf.store("r").mail())
    assert len(mail) == 202
    assert all(mail[f"letter {number}"] == who for who, got in ((b"ada", ada), (b"bob", bob)) for number in got)


def test_of_two_processes_that_lease_a_run_at_once_one_has_it(place: str, launch: Any, shelf: Shelf) -> None:
    ada, bob = race(launch, "lease", place, "r", "200")
    assert sorted(ada + bob) == list(range(200))
    for who, got in (("ada", ada), ("bob", bob)):
        assert all(shelf.store(f"r-{number}").lease("eve", 1, 1009) == who for number in got)


def test_a_killed_holders_lease_is_taken_over_once_it_has_run_out(
    place: str, launch: Any, kill: Any, shelf: Shelf
) -> None:
    process = launch("hold", place, "r", "ada", mate=True)
    assert process.stdout.readline() == "ready\n"
    kill(process, place)
    store = shelf.store("r")
    assert store.lease("bob", 10, 1009.9) == "ada"
    assert store.lease("bob", 10, 1010) is None
    again = launch("hold", place, "r", "ada", mate=True)
    assert again.stdout.readline() == "bob\n"
