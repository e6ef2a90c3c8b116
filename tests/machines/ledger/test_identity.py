"""The arguments that say what a call is: those that its tool names as its identity, or all of them."""

from __future__ import annotations

import pytest

from machines.ledger.observe import call_of, text_of
from machines.manifest import UNDECLARED, Tool

BASH = Tool(identity=("command",))
MOVE = Tool(identity=("from", "to"))


def sign(args: str, tool: Tool = BASH, *, parsed: bool = True) -> bytes:
    return call_of("1", "tool", args, tool, problem="" if parsed else "no JSON").signature


def test_what_is_not_of_its_identity_makes_no_other_call() -> None:
    one, other = '{"command": "ls", "why": "to look"}', '{"why": "once more", "command": "ls", "seconds": 5}'
    assert sign(one) == sign(other) == sign('{"command": "ls"}')
    assert sign(one, UNDECLARED) != sign(other, UNDECLARED)


def test_what_is_of_its_identity_does() -> None:
    assert sign('{"command": "ls"}') != sign('{"command": "ls -l"}')
    assert sign('{"command": "ls"}') != sign('{"why": "to look"}')
    assert sign('{"command": null}') != sign("{}")


def test_several_arguments_count_together_and_in_any_order() -> None:
    assert sign('{"from": "a", "to": "b"}', MOVE) == sign('{"to": "b", "from": "a", "force": true}', MOVE)
    assert sign('{"from": "a", "to": "b"}', MOVE) != sign('{"from": "b", "to": "a"}', MOVE)
    assert sign('{"from": "a"}', MOVE) != sign('{"to": "a"}', MOVE)


@pytest.mark.parametrize("args", ['["ls"]', '"ls"', "null"])
def test_arguments_that_are_no_object_are_taken_whole(args: str) -> None:
    assert sign(args) == sign(args, UNDECLARED)


def test_a_call_that_does_not_parse_is_taken_whole() -> None:
    one, other = '{"command": "ls", "why": "a', '{"command": "ls", "why": "b'
    assert sign(one, parsed=False) != sign(other, parsed=False)
    assert sign(one, parsed=False) == sign(one, UNDECLARED, parsed=False)


def test_the_arguments_stay_as_they_were_received() -> None:
    args = '{"command": "ls", "why": "to look"}'
    assert call_of("1", "tool", args, BASH).args == text_of(args)
