"""`intercode-turn-history`: one JSON object, a task under each key: lists of actions, observations and rewards.

The environment says what an action is: bash, python or SQL, or bash and a `submit` (capture the flag). An agent that
works by ReAct writes `execute[...]` and `submit`, and its thoughts are there. What a reply said beside its action is
not recorded. A person's sessions have another shape: a `trajectory` of actions and observations, with one reward.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from attrs import frozen

from ..manifest import Tool
from .bad_trace import BadTrace
from .fields import FieldError, may_list, may_number, may_object, need_list, need_object, need_text, objects, shown
from .lines import (
    UNSEEN,
    CallSpec,
    EndLine,
    GoalLine,
    Json,
    JsonObject,
    Line,
    Missing,
    ReplyLine,
    ResultError,
    ResultLine,
    RunLine,
    UserLine,
    result_error,
)
from .loose import args_text, number_of, text_of
from .parts import members
from .recorded import Numbered, Recorded, runs
from .tools import INTERCODE, manifest

NAME: Final = "intercode-turn-history"

# The tool that an environment is, and the argument that its action is; an unlisted one is bash.
_SHELL: Final = ("bash", "command")
_CAPTURE_THE_FLAG: Final = "ic_ctf"
_TOOLS: Final = {"ic_python": ("python", "code"), "ic_sql": ("sql", "query")}

# What the harness writes in an action's place: the provider gave no answer to use; the turns were spent.
_BLOCKED: Final = "blocked"
_SPENT: Final = "EXCEEDED MAX TURNS"

_EXECUTE: Final = "execute["
_SUBMIT: Final = "submit"

# What the environments print word for word where they could not carry an action out; a program's own words are not.
_REFUSED: Final = ("Error executing ", "{'error': ")
_TIMED_OUT: Final = "Command timed out"


def read(path: Path) -> Iterator[Recorded]:
    """The runs of a file, each with its task's key for an id. Raises BadTrace."""
    return runs(path, NAME, _lines(path))


@frozen
class _Turn:
    """An action and what came of it; `observation` is UNSEEN where there is none."""

    action: str
    thought: str | None
    observation: Json | Literal[Missing.UNSEEN]
    invalid: bool
    reward: Json


def _lines(path: Path) -> Iterator[Numbered]:
    for key, task in members(path):
        try:
            for line in _run(key, task):
                yield None, line
        except FieldError as wrong:
            raise BadTrace(path, field=wrong.field, found=wrong.found, expected=wrong.expected) from None


def _run(key: str, task: JsonObject) -> Iterator[Line]:
    environment, query = need_text(task, "environment", key), need_text(task, "query", key)
    if "turn_history" in task or "trajectory" not in task:
        turns = _history(need_object(task, "turn_history", key), f"{key}.turn_history")
        rewarded, at, name = may_object(task, "summary", key) or {}, f"{key}.summary", "max_reward"
    else:
        turns = _trajectory(need_list(task, "trajectory", key), f"{key}.trajectory")
        rewarded, at, name = task, key, "reward"
    reward = None if may_number(rewarded, name, at) is None else shown(rewarded[name])
    calls = [_call(environment, number, turn, turn is turns[-1]) for number, turn in enumerate(turns, start=1)]
    yield RunLine(key, tools=manifest((call.tool for call in calls if call is not None), INTERCODE, Tool()))
    yield UserLine(query)
    for turn, call in zip(turns, calls, strict=True):
        yield from _turn(turn, call)
    if reward is not None:
        submitted = bool(turns) and calls[-1] is None
        yield EndLine(f"reward {reward}", text_of(_seen(turns[-1])) if submitted else "")


def _history(history: JsonObject, at: str) -> list[_Turn]:
    actions = need_list(history, "actions", at)
    observations = need_list(history, "observations", at)
    rewards = may_list(history, "rewards", at) or []
    thoughts, valid = may_list(history, "thoughts", at), may_list(history, "valid_action", at) or []
    turns: list[_Turn] = []
    for number, action in enumerate(actions):
        if not isinstance(action, str):
            raise FieldError(f"{at}.actions[{number}]", shown(action), "a string")
        turns.append(
            _Turn(
                action,
                None if thoughts is None else text_of(_at(thoughts, number)),
                observations[number] if number < len(observations) else UNSEEN,
                # Null where the environment does not say, as python's.
                invalid=_at(valid, number) is False,
                reward=_at(rewards, number),
            )
        )
    return turns


def _at(values: list[Json], number: int) -> Json:
    return values[number] if number < len(values) else None


def _trajectory(steps: list[Json], at: str) -> list[_Turn]:
    return [
        _Turn(need_text(step, "action", path), None, step.get("observation", UNSEEN), invalid=False, reward=None)
        for step, path in objects(steps, at)
    ]


def _call(environment: str, number: int, turn: _Turn, last: bool) -> CallSpec | None:
    """The call that an action is; None where it is none, as it declares the end or stands for no answer at all."""
    action, rest = turn.action, turn.action.partition(" ")[2]
    if _stands_in(turn):
        return None
    if turn.thought is not None:
        if action == _SUBMIT:
            return None if last else CallSpec(f"turn-{number}", _SUBMIT)
        action = action.removeprefix(_EXECUTE).removesuffix("]") if action.startswith(_EXECUTE) else action
    elif environment == _CAPTURE_THE_FLAG:
        if action.startswith(f"{_SUBMIT} "):
            return None if last else CallSpec(f"turn-{number}", _SUBMIT, args_text({"text": rest}))
        action = rest if action.startswith("cmd ") else action
    tool, argument = _TOOLS.get(environment, _SHELL)
    return CallSpec(f"turn-{number}", tool, args_text({argument: action}))


def _stands_in(turn: _Turn) -> bool:
    """Whether the harness wrote the action itself: the model gave none that it could use, or was not asked."""
    blocked = turn.action == _BLOCKED and turn.observation is UNSEEN
    return blocked or (turn.thought or "").startswith(_SPENT)


def _turn(turn: _Turn, call: CallSpec | None) -> Iterator[Line]:
    text = turn.thought or ""
    if call is not None:
        yield ReplyLine("tool_use", (call,), text=text)
        yield ResultLine(call.id, turn.observation, _error(turn))
    elif not _stands_in(turn):
        yield ReplyLine("end_turn", text=f"{text}\n{turn.action}".strip(), kind="final")
    elif turn.action == _BLOCKED:
        yield ReplyLine("content_filter")
    reward = number_of(turn.reward)
    # Scores are fractions; the integer 0 stands where nothing was scored.
    if reward is not None and (isinstance(turn.reward, float) or reward > 0):
        yield GoalLine(reward, 1)


def _seen(turn: _Turn) -> Json:
    return None if turn.observation is UNSEEN else turn.observation


def _error(turn: _Turn) -> ResultError | None:
    text = text_of(_seen(turn))
    if text.strip() == _TIMED_OUT:
        return result_error("timeout")
    return result_error("other") if turn.invalid or text.startswith(_REFUSED) else None
