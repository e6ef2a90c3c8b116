"""What of a `transitions` machine has no place in a table: functions that it calls on its way, and what states do.

A table's effects are pure and say what they ask for, so a function that acts on a model is not carried over, but named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from .described import LeftOut

AT_MACHINE = (
    "prepare_event",
    "before_state_change",
    "after_state_change",
    "finalize_event",
    "on_exception",
    "on_final",
)
AT_STATE = ("on_enter", "on_exit", "on_final")
AT_TRANSITION = ("prepare", "before", "after")
FEATURES = ("timeout", "on_timeout", "retries", "on_failure", "tags", "volatile_cls")
PLAIN = ("Machine", "HierarchicalMachine")
PARTS = ("state_cls", "event_cls", "transition_cls", "condition_cls", "separator", "dynamic_methods")
LIBRARY = "transitions"


def of_machine(machine: Any, added: Mapping[str, None]) -> Iterator[LeftOut]:
    """What holds for the whole machine."""
    if added:
        yield LeftOut(f"the automatic triggers {', '.join(added)}", "", "ask for them with --auto")
    for base in machine.__class__.__mro__:
        if base.__name__ in PLAIN and _is_library(base):
            break
        if _is_library(base):
            yield LeftOut(f"what {_written(base)} adds to a plain machine", "")
    yield from _changes(machine.__class__, "the machine")
    yield from _changes(machine.event_cls, "the machine's events")
    if machine.has_queue:
        yield LeftOut(f"queued={machine.has_queue!r}", "the machine", "a table is stepped by its caller, one at a time")
    for kind_of_callback in AT_MACHINE:
        for function in getattr(machine, kind_of_callback, ()):
            yield LeftOut(f"{kind_of_callback} {_called(function)}", "the machine")


def of_states(machine: Any, names: Iterable[str]) -> Iterator[LeftOut]:
    """What the states do, with the features that a machine's states may have."""
    kinds: dict[type[Any], None] = {}
    for name in names:
        state = machine.get_state(name)
        kinds[state.__class__] = None
        for kind in AT_STATE:
            for function in getattr(state, kind, ()):
                yield LeftOut(f"{kind} {_called(function)}", f"state {name}")
        own: dict[str, Any] = state.__dict__
        held = {key.removeprefix("_"): value for key, value in own.items()}
        for feature in FEATURES:
            if found := held.get(feature):
                shown = found if isinstance(found, int | float) else ", ".join(map(_called, many(found)))
                yield LeftOut(f"{feature} {shown}", f"state {name}")
    for kind_of_state in kinds:
        yield from _changes(kind_of_state, "states")


def of_transition(trigger: str, sources: Sequence[str], one: Any) -> Iterator[LeftOut]:
    """What is called beside a transition; and what is its own in how it asks."""
    where = where_of(trigger, sources, one)
    for kind in AT_TRANSITION:
        for function in getattr(one, kind):
            yield LeftOut(f"{kind} {_called(function)}", where)
    yield from _changes(one.__class__, where)
    for kind_of_condition in dict.fromkeys(ask.__class__ for ask in one.conditions):
        yield from _changes(kind_of_condition, f"the conditions of {where}")


def where_of(trigger: str, sources: Sequence[str], one: Any) -> str:
    """A transition as it is called in messages."""
    target = "(internal)" if one.dest is None else "itself" if one.dest == one.source else one.dest
    return f"{trigger}: {', '.join(dict.fromkeys(sources))} -> {target}"


def place_of(function: Any, machine: Any) -> str:
    """Where a function stands: its full name, or how the library finds it by the text that was given."""
    if not isinstance(function, str):
        return _called(function)
    owners = [_written(model.__class__) for model in many(machine.models) if hasattr(model.__class__, function)]
    return f"{owners[0]}.{function}" if owners else f"{function!r}, found on the model or imported"


def _changes(kind: type[Any], where: str) -> Iterator[LeftOut]:
    """What a class of the user's own does otherwise than the library's class that it is made of."""
    library = next((base for base in kind.__mro__ if _is_library(base)), None)
    if library is None:
        yield LeftOut(_written(kind), where, "it may be tried or taken otherwise here")
        return
    for base in kind.__mro__:
        if _is_library(base):
            return
        for name in vars(base):
            if hasattr(library, name) and not name.startswith("__") and name not in PARTS:
                yield LeftOut(f"{_written(base)}.{name}", where, "it may be tried or taken otherwise here")


def _is_library(kind: type[Any]) -> bool:
    return kind.__module__.partition(".")[0] == LIBRARY


def many(given: Any) -> list[Any]:
    """What the library takes for a list: one, one alone, or none."""
    return list(cast("list[Any]", given)) if isinstance(given, list | tuple) else [] if given is None else [given]


def _called(function: Any) -> str:
    if isinstance(function, str):
        return repr(function)
    inner = getattr(function, "func", function)  # functools.partial
    if not hasattr(inner, "__qualname__"):
        return f"an instance of {_written(type(inner))}"
    line = f", line {inner.__code__.co_firstlineno}" if inner.__qualname__.endswith("<lambda>") else ""
    return f"{_written(inner)}{line}"


def _written(named: Any) -> str:
    return f"{getattr(named, '__module__', '')}.{named.__qualname__}".lstrip(".")
