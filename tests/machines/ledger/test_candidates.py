from __future__ import annotations

import pytest

from machines.ledger.candidates import ENOUGH, MOST, Candidates, volatile_candidates


def test_the_fields_that_differ_are_named_by_their_paths() -> None:
    one = {"state": "ok", "beat": 1, "in": {"seq": "a"}, "rows": [{"n": 1, "tag": "a"}, {"n": 2, "tag": "b"}]}
    other = {"state": "ok", "beat": 2, "in": {"seq": "b"}, "rows": [{"n": 1, "tag": "c"}, {"n": 2, "tag": "d"}]}
    assert volatile_candidates(one, other) == ["beat", "in.seq", "rows.*.tag"]


def test_what_is_volatile_anyway_is_no_candidate() -> None:
    assert volatile_candidates({"n": 1, "pid": 1, "t": "took 3 ms"}, {"n": 1, "pid": 2, "t": "took 4 ms"}) == []


def test_a_text_that_is_json_is_compared_by_its_fields() -> None:
    assert volatile_candidates('{"n": 1, "beat": 1}', {"n": 1, "beat": 2.5}) == ["beat"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"n": 1}, {"n": 1}),
        ({"a": 1, "n": 1}, {"a": 1, "n": 1, "m": 1}),
        ({"a": 1, "n": [1]}, {"a": 1, "n": [1, 2]}),
        ({"a": 1, "n": 1}, {"a": 1, "n": "1"}),
        ({"a": 1, "n": 1}, {"a": 1, "n": True}),
        ({"a": 1, "n": None}, {"a": 1, "n": 3}),
        ({"a": 1, "n": {}}, {"a": 1, "n": []}),
        ({"a": 1, "b": 2}, {"a": 2, "b": 3}),
        ("some text", "another text"),
        (1, 2),
    ],
)
def test_answers_that_are_not_otherwise_equal_give_no_candidates(one: object, other: object) -> None:
    assert volatile_candidates(one, other) == []


def test_nesting_is_no_error_at_any_depth() -> None:
    one: object = 1
    other: object = 2
    for _ in range(300):
        one, other = [one, 0], [other, 0]
    assert volatile_candidates(one, other) == []


def ticking(number: int) -> dict[str, object]:
    return {"state": "idle", "beat": number}


@pytest.mark.parametrize(("answers", "found"), [(ENOUGH - 1, ()), (ENOUGH, ("status.beat",)), (9, ("status.beat",))])
def test_a_field_that_changes_on_every_otherwise_equal_answer_is_named(answers: int, found: tuple[str, ...]) -> None:
    watched = Candidates()
    for number in range(answers):
        watched.see("status", b"call", ticking(number))
    assert watched.found() == found


def test_an_answer_that_is_equal_or_quite_another_begins_the_count_again() -> None:
    for other in (ticking(1), {"state": "busy"}, "gone"):
        watched = Candidates()
        for value in (ticking(0), ticking(1), other, ticking(2), ticking(3)):
            watched.see("status", b"call", value)
        assert watched.found() == ()


def test_calls_are_kept_apart_and_the_oldest_forgotten() -> None:
    watched = Candidates()
    for number in range(2):
        watched.see("status", b"call", ticking(number))
    for number in range(MOST):
        watched.see("other", b"%d" % number, ticking(number))
    watched.see("status", b"call", ticking(2))
    assert watched.found() == ()
