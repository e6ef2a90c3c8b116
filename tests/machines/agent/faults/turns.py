"""Replies of a scripted model, drawn at random: good ones, and those that go wrong in themselves.

Each says its name and number, so that what a run ends with can be traced to the reply that it comes from.
"""

from __future__ import annotations

from random import Random
from typing import Final

import attrs

from machines.agent.scripted import Received, Turn, call
from machines.agent.wire import CallPart
from machines.events import StopReason, Usage

PATHS: Final = ("a.txt", "b.txt", "c/ä.txt", "d.txt", "e.txt")
SHAPES: Final = (
    *("huge", "surrogates", "control", "wire", "prompt", "nan", "deep", "bytes", "set", "big", "none", "empty"),
    *("keys", "object", "cyclic", "other_wires"),
)
FAILS: Final = ("transient", "permission", "business", "value", "wordless", "group", "timeout", "memory")


def _args(rng: Random, tool: str) -> dict[str, object]:
    path = rng.choice(PATHS)
    match tool:
        case "look":
            return {"path": path}
        case "save":
            return {"path": path, "text": f"{rng.random():.3f}"}
        case "fail":
            return {"how": rng.choice(FAILS)}
        case "hostile":
            return {"shape": rng.choice(SHAPES)}
        case "ask_person":
            return {"question": "Which?", "choices": rng.choice(([], ["yes", "no"])), "deadline": rng.choice((5, 500))}
        case "signal":
            return {"name": rng.choice(("built", "paid")), "seconds": rng.choice((None, 20, 4_000))}
        case "poll":
            return {"job": rng.choice("xyz")}
        case "deploy":
            return {"target": path}
        case _:
            return {}


TOOLS: Final = (
    *("look", "look", "look", "save", "save", "save", "fail", "slow", "hostile"),
    *("poll", "signal", "deploy", "ask_person", "read_todos"),
)


def good_call(rng: Random, id: str = "") -> CallPart:
    tool = rng.choice(TOOLS)
    return call(tool, _args(rng, tool), id=id)


def _said(name: str, received: Received, more: str = "") -> str:
    return f"[{name} {received.number}]{more}"


def calls(rng: Random, received: Received) -> Turn:
    made = tuple(good_call(rng) for _ in range(rng.choice((1, 1, 2, 5))))
    return Turn(rng.choice(("", _said("calls", received))), made, thinking=rng.choice(("", "so")))


def same_again(rng: Random, received: Received) -> Turn:
    return Turn(calls=(call("look", {"path": "a.txt"}),))


def duplicates(rng: Random, received: Received) -> Turn:
    one = good_call(rng)
    return Turn(calls=(one, one, good_call(rng), one))


def unknown_name(rng: Random, received: Received) -> Turn:
    return Turn(calls=(call(rng.choice(("search_web", "lock", "ls", "multi_tool_use.parallel", "x" * 70)), {"q": 1}),))


def misnamed(rng: Random, received: Received) -> Turn:
    names = ("Look", "functions.look", " look", "look()", "default_api:look", "LOOK", "look<|channel|>commentary")
    return Turn(calls=(call(rng.choice(names), {"path": rng.choice(PATHS)}),))


GARBLED: Final = (
    *(
        "not json",
        "{path: 'a'}",
        "[1]",
        '"a.txt"',
        "null",
        "7",
        '{"path": 7}',
        '{"path": "a", "path": "b"}',
        '{"nope": 1}',
    ),
    *(
        '{"path": NaN}',
        '{"path": "\\ud800"}',
        '{"path": "a"}}',
        "{}",
        '{"path": ""}',
        "<path>a</path>",
        "\x00",
        "{" * 400,
    ),
)


def garbled(rng: Random, received: Received) -> Turn:
    others = tuple(good_call(rng) for _ in range(rng.choice((0, 0, 1))))
    return Turn(calls=(call(rng.choice(("look", "save", "finish")), rng.choice(GARBLED)), *others))


def cut_args(rng: Random, received: Received) -> Turn:
    whole = rng.choice(('{"path": "a.txt", "text": "it is long"}', '{"kind": "final", "text": "It is done"}'))
    tool = "finish" if "kind" in whole else "save"
    others = tuple(good_call(rng) for _ in range(rng.choice((0, 0, 1))))
    stop = rng.choice((None, StopReason.LENGTH, StopReason.END_TURN))
    return Turn(calls=(*others, call(tool, whole[: rng.randrange(1, len(whole))])), stop=stop)


def duplicate_ids(rng: Random, received: Received) -> Turn:
    id = rng.choice(("same", "call_1", "0", "täg", "x" * 300))
    return Turn(calls=(good_call(rng, id), good_call(rng, id)))


def nameless(rng: Random, received: Received) -> Turn:
    others = tuple(good_call(rng) for _ in range(rng.choice((0, 1))))
    return Turn(calls=(*others, call(rng.choice(("", " ")), {"path": "a.txt"})))


def text(rng: Random, received: Received) -> Turn:
    return Turn(_said("text", received, rng.choice(("", " Nearly there.", " Done.", " \x00\x1b[31m red", " \u2028é𝄞"))))


def thought_and_text(rng: Random, received: Received) -> Turn:
    return Turn(_said("thought_and_text", received), thinking="Let me think.")


def thinking_only(rng: Random, received: Received) -> Turn:
    return Turn(thinking="Let me think.")


def blank(rng: Random, received: Received) -> Turn:
    return Turn(rng.choice((" ", "\n\n", "\u200b", "")))


def paused(rng: Random, received: Received) -> Turn:
    return Turn(rng.choice(("", _said("paused", received))), stop=StopReason.PAUSE, thinking=rng.choice(("", "so")))


def refused(rng: Random, received: Received) -> Turn:
    return Turn(rng.choice(("", _said("refused", received))), stop=StopReason.REFUSAL)


def filtered(rng: Random, received: Received) -> Turn:
    made = rng.choice(((), (good_call(rng),)))
    return Turn(rng.choice(("", _said("filtered", received))), made, stop=StopReason.CONTENT_FILTER)


def malformed_call(rng: Random, received: Received) -> Turn:
    return Turn(rng.choice(("", _said("malformed", received))), stop=StopReason.MALFORMED_CALL)


def length_text(rng: Random, received: Received) -> Turn:
    return Turn(_said("length_text", received, " It begins here and"), stop=StopReason.LENGTH)


def length_call(rng: Random, received: Received) -> Turn:
    return Turn(rng.choice(("", _said("length_call", received))), (good_call(rng),), stop=StopReason.LENGTH)


def length_thinking(rng: Random, received: Received) -> Turn:
    return Turn(thinking="Let me think, and", stop=StopReason.LENGTH)


def length_nothing(rng: Random, received: Received) -> Turn:
    return Turn(stop=StopReason.LENGTH)


def context_window(rng: Random, received: Received) -> Turn:
    turn = rng.choice((length_text, length_call, length_thinking, length_nothing))(rng, received)
    return attrs.evolve(turn, stop=StopReason.CONTEXT_WINDOW)


def capped(rng: Random, received: Received) -> Turn:
    """It used up its budget, and the provider calls it whole."""
    turn = rng.choice((text, calls, finish_final))(rng, received)
    return attrs.evolve(turn, usage=Usage(100, received.request.max_tokens))


def odd_usage(rng: Random, received: Received) -> Turn:
    used = rng.choice((Usage(0, 0), Usage(150_000, 10), Usage(10**9, 1), Usage(2_950, 20)))
    return attrs.evolve(rng.choice((text, calls))(rng, received), usage=used)


def _finish(rng: Random, received: Received, kind: str) -> Turn:
    said = rng.choice((_said(f"finish_{kind}", received), "", "  "))
    return Turn(rng.choice(("", _said("beside", received))), (call("finish", {"kind": kind, "text": said}),))


def finish_final(rng: Random, received: Received) -> Turn:
    return _finish(rng, received, "final")


def finish_partial(rng: Random, received: Received) -> Turn:
    return _finish(rng, received, "partial")


def finish_failure(rng: Random, received: Received) -> Turn:
    return _finish(rng, received, "failure")


def finish_and_call(rng: Random, received: Received) -> Turn:
    turn = finish_final(rng, received)
    return attrs.evolve(turn, calls=(*turn.calls, good_call(rng), *rng.choice(((), turn.calls))))


def finish_cut(rng: Random, received: Received) -> Turn:
    return attrs.evolve(finish_final(rng, received), stop=StopReason.LENGTH)


def _todos(rng: Random, status: tuple[str, ...]) -> CallPart:
    items = [{"content": f"item {n}", "status": rng.choice(status)} for n in range(rng.choice((1, 3)))]
    return call("write_todos", {"todos": items})


def plan_open(rng: Random, received: Received) -> Turn:
    return Turn(calls=(_todos(rng, ("pending", "in_progress", "completed")),))


def plan_done(rng: Random, received: Received) -> Turn:
    return Turn(calls=(_todos(rng, ("completed",)), *rng.choice(((), (good_call(rng),)))))


def read_on(rng: Random, received: Received) -> Turn:
    of = rng.choice(("call_1", "call_2", "call_3", "none"))
    return Turn(calls=(call("read_result", {"call": of, "start": rng.choice((0, 400, 10**6))}),))


def chant(rng: Random, received: Received) -> Turn:
    lap = rng.choice(("so it is. ", "and then ", "x"))
    many = lap * (6_500 // len(lap))
    return Turn(_said("chant", received, many)) if rng.random() < 0.7 else Turn("", thinking=many)


GOOD_TURNS: Final = (calls, text, finish_final, finish_partial, finish_failure, plan_open, plan_done)
WRONG_TURNS: Final = (
    *(same_again, duplicates, unknown_name, misnamed, garbled, cut_args, duplicate_ids, nameless, thinking_only, blank),
    *(paused, refused, filtered, malformed_call, length_text, length_call, length_thinking, length_nothing, read_on),
    *(context_window, capped, odd_usage, finish_and_call, finish_cut, chant, thought_and_text),
)
