"""A declared URL: what fills its gaps stays in its place."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.agent.address import MOST_CHARS, address, redirected

BUILD = address("https://ci.example:8443/api/builds/{id}/status?of={part}")
HOSTILE = [
    "../../admin",
    "..",
    ".",
    "..\\admin",
    "%2e%2e/admin",
    "%252e%252e%252fadmin",
    "a/../../b",
    "..;x/admin",
    "x\r\nHost: evil.example",
    "x%0d%0aHost: evil.example",
    "\0",
    "\ud800",
    "",
]


def test_an_argument_is_one_part_of_the_path_whatever_is_in_it() -> None:
    url = BUILD.url({"id": "a/b?c=d&e#f@evil.example", "part": "x&admin=1"})
    at = "https://ci.example:8443/api/builds/a%2Fb%3Fc%3Dd%26e%23f%40evil.example/status?of=x%26admin%3D1"
    assert url == at
    assert BUILD.url({"id": 17, "part": "1..2"}) == "https://ci.example:8443/api/builds/17/status?of=1..2"
    assert BUILD.names == ("id", "part")


@pytest.mark.parametrize("id", HOSTILE)
def test_an_argument_that_steps_out_of_its_place_is_refused(id: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        BUILD.url({"id": id, "part": "log"})


def test_a_step_that_two_arguments_make_together_is_refused() -> None:
    with pytest.raises(ValueError, match="a step to another folder"):
        address("https://ci.example/{a}{b}/x").url({"a": ".", "b": "."})
    assert address("https://ci.example/{a}{b}/x").url({"a": ".", "b": "g"}) == "https://ci.example/.g/x"


def test_the_longest_url_is_taken_and_one_more_is_not() -> None:
    place = address("https://ci.example/{id}")
    room = MOST_CHARS - len("https://ci.example/")
    assert len(place.url({"id": "x" * room})) == MOST_CHARS
    with pytest.raises(ValueError, match="found 2049 characters, expected at most 2048"):
        place.url({"id": "x" * (room + 1)})


@given(st.text(), st.one_of(st.text(), st.integers()))
def test_no_argument_leads_to_another_host_or_out_of_the_folder(id: str, part: str | int) -> None:
    try:
        url = BUILD.url({"id": id, "part": part})
    except ValueError:
        return
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc, parts.fragment) == ("https", "ci.example:8443", "")
    assert parts.path.startswith("/api/builds/")
    assert (parts.path.count("/"), parts.query.count("=")) == (4, 1)
    assert ".." not in unquote(parts.path).split("/")


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("ci.example/{id}", "expected http:// or https://, a host"),
        ("ftp://ci.example/{id}", "expected http:// or https://, a host"),
        ("https://{host}/builds", "a host without gaps"),
        ("https://ci.example{id}/builds", "a host without gaps"),
        ("https://ci.example:{port}/builds", "a host without gaps"),
        ("https://me:secret@ci.example/builds", "user or password"),
        ("https://ci.example", "and a path"),
        ("https://ci.example?id={id}", "and a path"),
        ("https://ci.example:99999/", "a host"),
        ("https:///builds", "a host"),
        ("", "a host"),
        ("https://ci.example/{id", "braces that cannot be read"),
        ("https://ci.example/{}", "found the gap {}"),
        ("https://ci.example/{a.b}", "found the gap {a.b}"),
        ("https://ci.example/{id!r}", "found the gap {id}"),
        ("https://ci.example/{class}", "found the gap {class}"),
        ("https://ci.example/a b", "visible ASCII"),
        ("https://ci.example/ä", "visible ASCII"),
        ("https://ci.example/{id}#top", "a fragment"),
        ("https://ci.example/../{id}", "a step to another folder"),
        (f"https://ci.example/{'x' * MOST_CHARS}", "expected at most 2048"),
    ],
)
def test_a_url_that_could_not_be_is_refused_where_it_is_declared(template: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"^url: ") as refused:
        address(template)
    assert said in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("location", "leads"),
    [
        ("/done/7", "https://ci.example/done/7"),
        ("8?full=1#top", "https://ci.example/builds/8?full=1"),
        ("https://ci.example/x", "https://ci.example/x"),
        ("https://CI.example:443/x", "https://ci.example/x"),
        ("https://ci.example", "https://ci.example/"),
    ],
)
def test_a_redirect_leads_anywhere_on_its_own_origin(location: str, leads: str) -> None:
    assert redirected("https://ci.example/builds/7", location) == leads


@pytest.mark.parametrize(
    "location",
    [
        "https://evil.example/x",
        "//evil.example/x",
        "http://ci.example/x",
        "https://ci.example:444/x",
        "https://ci.example.evil.example/",
        "https://ci.example@evil.example/",
        "https://me:pw@ci.example/",
        "https://evil.example\\@ci.example/",
        "file:///etc/passwd",
    ],
)
def test_a_redirect_to_another_origin_is_refused(location: str) -> None:
    with pytest.raises(ValueError, match="a redirect to another origin"):
        redirected("https://ci.example/builds/7", location)


@pytest.mark.parametrize("location", ["https://[::1/x", "https://ci.example:port/", "/a b", "/\x80"])
def test_a_redirect_that_cannot_be_read_is_refused(location: str) -> None:
    with pytest.raises(ValueError, match="a redirect that cannot be read"):
        redirected("https://ci.example/builds/7", location)
