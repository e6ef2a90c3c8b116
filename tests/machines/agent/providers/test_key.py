from __future__ import annotations

import logging
import re

import pytest

from machines.agent.providers.key import LOGS, Key, NoKey, data_without_key, hide_in_logs, key_from, without_key

SECRET = "sk-ant-A/b+c=0123456789"


def test_a_key_shows_itself_nowhere() -> None:
    key = Key(SECRET)
    for shown in (repr(key), str(key), f"{key}", f"{[key]}", "%s" % key):  # noqa: UP031  # all ways of showing one
        assert SECRET not in shown


def test_white_space_around_a_key_is_no_part_of_it() -> None:
    assert key_from({"K": f" {SECRET}\n"}, "K", "m").text == SECRET


@pytest.mark.parametrize("environ", [{}, {"K": ""}, {"K": " \n"}])
def test_a_missing_key_names_the_variable(environ: dict[str, str]) -> None:
    with pytest.raises(NoKey, match=r"^anthropic:x needs a key: set K in the environment$"):
        key_from(environ, "K", "anthropic:x")


@pytest.mark.parametrize("value", ["two words12345", "sk-\u00e9toile", "a\nb", "a\x7fb", "a\tb"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(value: str) -> None:
    with pytest.raises(NoKey, match=r"^K holds characters that no key has") as caught:
        key_from({"K": value}, "K", "m")
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    "said",
    [
        SECRET,
        f"Bearer {SECRET}",
        SECRET.replace("/", "\\/"),
        "sk-ant-A%2Fb%2Bc%3D0123456789",
        f"{SECRET}{SECRET}",
    ],
)
def test_every_spelling_of_a_key_is_taken_out(said: str) -> None:
    left = without_key(f"before {said} after", Key(SECRET))
    assert re.fullmatch(r"before (Bearer )?(\[key\])+ after", left)
    assert data_without_key(said.encode(), Key(SECRET)).decode() in left


def test_a_placeholder_is_taken_out_of_a_refusal_and_left_in_a_reply() -> None:
    short, long = "k" * 19, "k" * 20
    assert without_key(short, Key(short)) == "[key]"
    assert data_without_key(short.encode(), Key(short)) == short.encode()
    assert data_without_key(long.encode(), Key(long)) == b"[key]"


def test_without_a_key_nothing_changes() -> None:
    assert without_key("text", None) == "text"
    assert data_without_key(b"text", None) == b"text"


def test_a_key_is_taken_out_of_what_the_http_libraries_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    hide_in_logs(Key(SECRET))
    hide_in_logs(Key("short"))
    for name in LOGS:
        logging.getLogger(name).debug("headers=%s of %d", [("x-api-key", SECRET)], 1)
        logging.getLogger(name).debug("short %s", "words")
    assert [r.getMessage() for r in caplog.records] == ["headers=[('x-api-key', '[key]')] of 1", "short words"] * 6
    assert all(len(logging.getLogger(name).filters) == 1 for name in LOGS)
    assert caplog.records[1].args == ("words",)
