"""What is said of a machine's world is looked at where it is said."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

from statecraft import World


class State(Enum):
    IDLE = "idle"


class Ask: ...


class Reply: ...


RIGHT: dict[str, Any] = {
    "answers": {Ask: [Reply]},
    "waits": (State.IDLE,),
    "time": Reply,
    "request": Ask,
    "examples": {Reply: Reply()},
}


def test_a_world_of_the_right_parts_is_one() -> None:
    assert World(**RIGHT).answers == {Ask: [Reply]}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"answers": {Ask: Reply}}, "answers of Ask: found the class Reply, expected a list of classes of events"),
        ({"answers": 5}, "answers: found the number 5, expected a mapping"),
        ({"waits": ("IDLE",)}, "waits: found the text 'IDLE', expected a state"),
        ({"time": 5}, "time: found the number 5, expected the class of one event"),
        ({"request": "ask"}, "request: found the text 'ask', expected the class of a command"),
        ({"examples": {Reply: Ask()}}, "examples of Reply: found an instance of Ask, expected one of its instances"),
    ],
)
def test_a_world_of_wrong_parts_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError) as found:
        World(**{**RIGHT, **wrong})
    assert str(found.value).startswith(f"World: {said}")
