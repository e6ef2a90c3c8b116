"""What of a user's own searches and laws cannot be asked is named in one line, and is bad input."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Verb = Callable[..., tuple[int, str, str]]
Gates = Callable[..., None]

ON = "asked of Gate(at=<At.SHUT: 'shut'>, paid=0, coins=4)"
NEW = "the search of gate from 'new'"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("def moves(run):\n    return [1 / 0]", f"{NEW}: moves, {ON}, raised ZeroDivisionError: division by zero"),
        (
            "def moves(run):\n    return None",
            f"{NEW}: moves, {ON}, raised TypeError: 'NoneType' object is not iterable",
        ),
        (
            "def moves(run):\n    return [Gate]",
            "the search of gate: moves answers <class 'gates_of_tests.Gate'>, expected",
        ),
        (
            "from itertools import repeat\ndef moves(run):\n    return repeat(Push())",
            f"{NEW}: moves, {ON}, answers more",
        ),
        ("def key(run):\n    return run.kee", f"{NEW}: key, {ON}, raised AttributeError: 'Gate' object has no"),
        ("def key(run):\n    return 1 // run.coins % 9 and 0 or [run][run.coins < 4]", f"{NEW}: key, asked of Gate("),
        ("def key(run):\n    return []", f"{NEW}: the hash of the key of the start, asked of [], raised TypeError"),
        (
            "def unpaid(step, paid):\n    return 1 / paid",
            f"{NEW}: broken of the law 'nobody passes for less'",
        ),
        ("def paid_after(paid, step):\n    return []", "the hash of what the law 'nobody passes for less' remembers"),
        (
            "def paid_after(paid, step):\n    return 1 / 0",
            "remember of the law 'nobody passes for less'",
        ),
        (
            "def opens(row, _):\n    return row.nothing",
            "the skeleton of gate: broken of the law 'a coin opens it'",
        ),
        ("STARTS = {'new': 7}", f"{NEW}: at of the table gate, asked of 7, raised AttributeError: 'int' object"),
        ("STARTS = {'new': Gate('shut')}", f"{NEW}: found a start in 'shut', expected one in a state of gate"),
        ("STARTS = {}", "the search of gate: found no starts, expected one at least"),
        ("LAWS = [PAID, PAID]", f"{NEW}: two laws are called 'nobody passes for less', expected a name for each"),
    ],
)
def test_what_cannot_be_asked_is_named_in_one_line(verb: Verb, gates: Gates, more: str, said: str) -> None:
    head = "STARTS, LAWS = {'new': Gate()}, None\n"
    tail = """
LAWS = LAWS or [Law("nobody passes for less", "it costs two", unpaid, 0, paid_after)]
SEARCHES = [Search(GATE, STARTS, moves, key, LAWS, [Law("a coin opens it", "nothing else is taken", opens)])]
"""
    gates(f"{head}{more}\n{tail}")
    code, out, err = verb("check", "gates_of_tests")
    assert (code, out) == (2, "")
    assert err.startswith("statecraft: gates_of_tests: ")
    assert said in err
    assert err.count("\n") == 1


def test_what_answers_differently_when_it_is_asked_again_is_told(verb: Verb, gates: Gates) -> None:
    gates("""
TIMES = []


def moves(run):
    TIMES.append(run)
    if len(TIMES) == 2:
        raise RuntimeError("only once")
    return [Coin(), Push(), Remove()]


SEARCHES = [Search(GATE, {"new": Gate()}, moves, key)]
""")
    code, _, err = verb("check", "gates_of_tests")
    assert code == 2
    assert "a function raised RuntimeError: only once, and not when asked again" in err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            "SEARCHES = 7",
            "SEARCHES: expected a list of searches, each with its table or as a text",
        ),
        (
            "SEARCHES = [7]",
            "SEARCHES: expected a list of searches, each with its table",
        ),
        ("SEARCHES = [Facts(GATE, list, list)]", "SEARCHES: found Facts, expected a list of Search"),
        ("FACTS = SEARCHES", "FACTS: found Search, expected a list of Facts"),
        (
            "SEARCHES = ['gates_of_tests:NONE']",
            "SEARCHES: gates_of_tests:NONE: expected one of SEARCHES",
        ),
        ("SEARCHES = ['nowhere:AT']", "SEARCHES: nowhere:AT: cannot import 'nowhere'"),
        ("SEARCHES = ['gates_of_tests']", "SEARCHES: 'gates_of_tests': expected MODULE:NAME of one of SEARCHES"),
    ],
)
def test_what_is_no_search_is_bad_input(verb: Verb, gates: Gates, more: str, said: str) -> None:
    gates(more)
    code, out, err = verb("check", "gates_of_tests")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
