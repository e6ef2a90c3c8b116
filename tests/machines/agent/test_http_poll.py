"""A status behind a real socket, polled on a clock that is moved by hand."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Mapping
from math import inf
from typing import Any, cast

import attrs
import pytest

from machines.agent.awaiting import Poll, await_until, timed_out
from machines.agent.http_poll import MOST_BYTES, MOST_MISSES, MOST_REDIRECTS, UrlLook
from machines.agent.providers.http import Http
from machines.agent.tools import ToolError
from machines.events import ErrorKind
from machines.manifest import Wait

from .status_server import DONE, RUNNING, Reply, Server, serving

pytestmark = pytest.mark.anyio

BUILD = Wait("status", ("running",), ("success", "failed"), 1_200.0)
SECRET = "t0ken-0123456789-abcdefghij"
SEEN, OVER = {"status": "running"}, {"status": "success"}


@attrs.define
class World:
    """A clock that sleeping moves, and the times at which it was looked."""

    at: float = 0.0
    looks: list[float] = attrs.field(factory=list[float])

    async def sleep(self, seconds: float) -> None:
        self.at += seconds

    async def until(self, server: Server, wait: Wait = BUILD, left: float = inf, **more: Any) -> object:
        http = Http()
        look = UrlLook(http, f"{server.url}/builds/7", **more)

        async def looked() -> object:
            self.looks.append(self.at)
            return await look()

        poll = Poll(5.0, 1.0, 5.0)
        try:
            return await await_until(looked, wait, poll, left=left, now=lambda: self.at, sleep=self.sleep)
        finally:
            await http.aclose()


async def fails(server: Server, kind: ErrorKind, **more: Any) -> tuple[str, int]:
    """The words of the error that a wait ends with, and how often it was looked."""
    world = World()
    with pytest.raises(ToolError) as failed:
        await world.until(server, **more)
    assert failed.value.kind is kind
    return str(failed.value), len(world.looks)


async def test_without_a_word_from_the_server_it_is_looked_gap_by_gap() -> None:
    with serving(*[Reply()] * 4, Reply(body=DONE)) as server:
        world = World()
        assert await world.until(server) == OVER
        assert world.looks == [0.0, 5.0, 10.0, 15.0, 20.0]


@pytest.mark.parametrize("status", [200, 202, 503, 429])
async def test_the_next_look_comes_when_the_server_says_and_not_before(status: int) -> None:
    with serving(Reply(status, headers={"retry-after": "20"}), Reply(), Reply(body=DONE)) as server:
        world = World()
        assert await world.until(server) == OVER
        assert world.looks == [0.0, 20.0, 25.0]


async def test_a_304_may_put_the_next_look_off_too() -> None:
    unchanged = Reply(304, headers={"retry-after": "40"})
    with serving(Reply(headers={"etag": '"1"'}), unchanged, Reply(body=DONE)) as server:
        world = World()
        assert await world.until(server) == OVER
        assert world.looks == [0.0, 5.0, 45.0]


async def test_what_the_server_says_saves_requests() -> None:
    """A build of 600 seconds whose server says that a look a minute is enough: 11 looks for 121."""

    async def looks(headers: Mapping[str, str]) -> int:
        world = World()
        with serving(reply=lambda _: Reply(body=DONE if world.at >= 600 else RUNNING, headers=headers)) as server:
            assert await world.until(server) == OVER
        return len(server.asked)

    assert (await looks({}), await looks({"retry-after": "60"})) == (121, 11)


@pytest.mark.parametrize(
    ("said", "gap"),
    [
        ("Wed, 21 Oct 2015 07:28:30 GMT", 30.0),
        ("Wednesday, 21-Oct-15 07:28:30 GMT", 30.0),
        ("Wed, 21 Oct 2015 07:28:04 GMT", 5.0),
        ("Wed, 21 Oct 2015 07:00:00 GMT", 5.0),
        ("5", 5.0),
        ("5.5", 5.5),
        ("0", 5.0),
        ("-3", 5.0),
        ("nan", 5.0),
        ("inf", 5.0),
        ("soon", 5.0),
        ("10, 20", 5.0),
        ("Wed, 99 Oct 2015", 5.0),
    ],
)
async def test_a_retry_after_is_read_as_seconds_or_a_date_and_nonsense_is_not_heard(said: str, gap: float) -> None:
    headers = {"date": "Wed, 21 Oct 2015 07:28:00 GMT", "retry-after": said}
    with serving(Reply(headers=headers), Reply(body=DONE)) as server:
        world = World()
        await world.until(server)
        assert world.looks == [0.0, gap]


@pytest.mark.parametrize("said", ["99.9", "100", "100.1", "86400", "9" * 30, "Fri, 31 Dec 9999 23:59:59 GMT"])
async def test_the_last_look_is_at_the_deadline_whatever_the_server_says(said: str) -> None:
    with serving(Reply(headers={"retry-after": said})) as server:
        world = World()
        assert await world.until(server, left=100.0) == timed_out(100.0, SEEN)
        assert world.looks == ([0.0, 99.9, 100.0] if said == "99.9" else [0.0, 100.0])


async def test_a_wait_without_a_deadline_is_put_off_by_an_hour_at_most() -> None:
    with serving(Reply(headers={"retry-after": "1e300"}), Reply(body=DONE)) as server:
        world = World()
        assert await world.until(server, attrs.evolve(BUILD, max_wait_seconds=None)) == OVER
        assert world.looks == [0.0, 3_600.0]


async def test_what_has_not_changed_is_not_read_again() -> None:
    big = b'{"status":"running","log":"' + b"x" * 100_000 + b'"}'
    first = Reply(body=big, headers={"etag": '"a"', "last-modified": "Wed, 21 Oct 2015 07:28:00 GMT"})
    with serving(first, *[Reply(304)] * 20, Reply(body=DONE)) as server:
        assert await World().until(server) == OVER
        assert server.bodies == len(big) + len(DONE)
        assert server.sent("if-none-match") == [None, *['"a"'] * 21]
        assert server.sent("if-modified-since") == [None] * 22


async def test_a_304_leaves_the_last_value_standing() -> None:
    with serving(Reply(headers={"etag": '"a"'}), Reply(304)) as server:
        assert await World().until(server, left=20.0) == timed_out(20.0, SEEN)
        assert len(server.asked) == 5


async def test_it_is_asked_by_the_tag_of_the_last_answer_and_by_its_date_where_there_is_none() -> None:
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    tags: list[dict[str, str]] = [{"etag": '"a"'}, {"etag": 'W/"b"'}, {"last-modified": date}, {}, {"etag": '"\xff"'}]
    with serving(*[Reply(headers=said) for said in tags], Reply(503), Reply(body=DONE)) as server:
        assert await World().until(server) == OVER
        assert server.sent("if-none-match") == [None, '"a"', 'W/"b"', None, None, None, None]
        assert server.sent("if-modified-since") == [None, None, None, date, None, None, None]


async def test_a_304_to_a_question_that_named_no_version_is_an_error() -> None:
    with serving(Reply(304)) as server:
        said, looks = await fails(server, ErrorKind.OTHER)
        assert said.endswith("/builds/7: HTTP 304")
        assert looks == 1


async def test_a_server_that_drops_every_second_connection_is_waited_for_all_the_same() -> None:
    dropping = [Reply(drop=number % 2 == 0) for number in range(30)]
    with serving(*dropping, Reply(body=DONE)) as server:
        assert await World().until(server) == OVER
        assert len(server.asked) == 31


@pytest.mark.parametrize("miss", [Reply(drop=True), Reply(500), Reply(503), Reply(599), Reply(429), Reply(408)])
async def test_so_many_misses_in_a_row_are_an_error_and_one_less_is_not(miss: Reply) -> None:
    some = [miss] * (MOST_MISSES - 1)
    with serving(*some, Reply(), *some, Reply(body=DONE)) as server:
        assert await World().until(server) == OVER
    with serving(*some, miss, Reply(body=DONE)) as server:
        said, looks = await fails(server, ErrorKind.TRANSIENT)
        assert "5 looks in a row came to nothing; the last: " in said
        assert looks == MOST_MISSES


async def test_a_server_that_is_not_there_is_an_error_after_so_many_looks() -> None:
    with serving(Reply()) as server:
        pass
    said, looks = await fails(server, ErrorKind.TRANSIENT)
    assert "Connection refused" in said
    assert looks == MOST_MISSES


async def test_a_miss_leaves_the_last_value_standing_and_none_was_seen_before_the_first() -> None:
    with serving(Reply(), Reply(503)) as server:
        assert await World().until(server, left=12.0) == timed_out(12.0, SEEN)
    with serving(Reply(503)) as server:
        assert await World().until(server, left=12.0) == timed_out(12.0, None)


async def test_a_server_that_never_answers_is_given_up_look_by_look() -> None:
    with serving(Reply(hang=True)) as server:
        said, looks = await fails(server, ErrorKind.TRANSIENT, longest=0.05)
        assert said.endswith("the last: no answer within 0.05 s")
        assert looks == MOST_MISSES
    with serving(Reply(hang=True), Reply(body=DONE)) as server:
        assert await World().until(server, longest=1.0) == OVER


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ErrorKind.VALIDATION),
        (401, ErrorKind.PERMISSION),
        (403, ErrorKind.PERMISSION),
        (404, ErrorKind.BUSINESS),
        (409, ErrorKind.BUSINESS),
        (410, ErrorKind.BUSINESS),
        (422, ErrorKind.VALIDATION),
        (499, ErrorKind.BUSINESS),
        (300, ErrorKind.OTHER),
        (302, ErrorKind.OTHER),
    ],
)
async def test_any_other_status_ends_it_at_once(status: int, kind: ErrorKind) -> None:
    with serving(Reply(status), Reply(body=DONE)) as server:
        assert await fails(server, kind) == (f"{server.url}/builds/7: HTTP {status}", 1)


@pytest.mark.parametrize("body", [b'{"status":"paused"}', b"[]", b"null"])
async def test_a_value_that_nobody_declared_ends_it_at_once_and_is_the_answer(body: bytes) -> None:
    with serving(Reply(), Reply(body=body)) as server:
        assert await World().until(server) in ({"status": "paused"}, [], None)
        assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("kind", "body", "value"),
    [
        ("text/plain", b"done", "done"),
        ("text/plain; charset=utf-8", b'"done"', '"done"'),
        ("text/html", b"\xff<html>", "\ufffd<html>"),
        ("application/problem+json", b'"done"', "done"),
        ("APPLICATION/JSON; charset=utf-8", b'"done"', "done"),
        (None, b'"done"', "done"),
        (None, b"done", "done"),
        (None, b"", ""),
    ],
)
async def test_json_is_read_where_the_server_says_so_and_text_stays_text(
    kind: str | None, body: bytes, value: str
) -> None:
    with serving(Reply(body=body, kind=kind)) as server:
        assert await World().until(server, Wait("*", ("running",), ("done",))) == value


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(body=b"<html>"), "found no JSON at line 1, column 1, expected JSON"),
        (Reply(body=b""), "found no JSON"),
        (Reply(body=b"\xff"), "found bytes that are not UTF-8"),
        (Reply(body=b"[" * 300 + b"]" * 300), "found JSON that is nested too deeply"),
        (Reply(body=b"[" * 500_000), "found JSON that is nested too deeply"),
        (Reply(body=b" " * (MOST_BYTES + 1)), f"an answer of more than {MOST_BYTES} bytes"),
        (Reply(body=b" " * (64 * MOST_BYTES)), f"an answer of more than {MOST_BYTES} bytes"),
        (Reply(body=gzip.compress(DONE), headers={"content-encoding": "gzip"}), "a packed body"),
        # Unpacked, it would be too large: it is not unpacked.
        (Reply(body=gzip.compress(b" " * (2 * MOST_BYTES)), headers={"content-encoding": "gzip"}), "a packed body"),
    ],
)
async def test_a_body_that_cannot_be_taken_ends_it_as_an_error(reply: Reply, said: str) -> None:
    with serving(reply) as server:
        found, looks = await fails(server, ErrorKind.OTHER)
        assert said in found
        assert looks == 1
        assert server.sent("accept-encoding") == ["identity"]


async def test_a_body_just_as_large_and_just_as_deep_as_may_be_is_taken() -> None:
    for body in (DONE + b" " * (MOST_BYTES - len(DONE)), DONE[:-1] + b',"x":' + b"[" * 253 + b"]" * 253 + b"}"):
        with serving(Reply(body=body)) as server:
            assert cast("dict[str, object]", await World().until(server))["status"] == "success"


async def test_a_redirect_to_another_host_is_refused_and_nothing_is_sent_there() -> None:
    with serving(Reply(body=DONE)) as other, serving(Reply(302, headers={"location": other.url})) as server:
        said, looks = await fails(server, ErrorKind.OTHER, headers={"authorization": f"Bearer {SECRET}"})
        assert "a redirect to another origin (http://127.0.0.1), which is not followed" in said
        assert (looks, other.asked) == (1, [])


async def test_a_redirect_on_the_same_origin_is_followed_and_has_a_version_of_its_own() -> None:
    moved = Reply(303, headers={"location": "/results/7"})
    found = Reply(headers={"etag": '"r"'})
    with serving(moved, found, moved, Reply(304), Reply(body=DONE)) as server:
        assert await World().until(server) == OVER
        assert server.paths() == ["/builds/7", "/results/7", "/builds/7", "/results/7", "/builds/7"]
        assert server.sent("if-none-match") == [None, None, None, '"r"', None]


async def test_so_many_redirects_are_followed_and_one_more_is_not() -> None:
    moved = Reply(302, headers={"location": "/builds/7"})
    with serving(*[moved] * MOST_REDIRECTS, Reply(body=DONE)) as server:
        assert await World().until(server) == OVER
    with serving(*[moved] * (MOST_REDIRECTS + 1), Reply(body=DONE)) as server:
        said, _ = await fails(server, ErrorKind.OTHER)
        assert said.endswith(f"more than {MOST_REDIRECTS} redirects")


async def test_a_given_header_is_sent_and_shown_neither_in_errors_nor_values_nor_logs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    headers = {"authorization": f"Bearer {SECRET}"}
    caplog.set_level(logging.DEBUG)
    body = f'{{"status":"success","you":"{SECRET}"}}'.encode()
    with serving(Reply(body=body, headers={"x-you": SECRET})) as server:
        assert await World().until(server, headers=headers) == {"status": "success", "you": "[key]"}
        assert server.sent("authorization") == [f"Bearer {SECRET}"]
    elsewhere = f"http://{SECRET}.example/"
    for reply in (Reply(401, body=body), Reply(302, headers={"location": elsewhere}), Reply(body=SECRET.encode())):
        with serving(reply) as server:
            with pytest.raises(ToolError) as failed:
                await World().until(server, headers=headers)
            assert SECRET not in str(failed.value)
    assert SECRET not in repr(UrlLook(Http(), "http://127.0.0.1/", headers))
    assert any("httpcore" in record.name for record in caplog.records)
    assert SECRET not in caplog.text
