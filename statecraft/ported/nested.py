"""States that lie in one another, as `transitions.extensions.nesting` has them, seen as the states a machine stands in.

A trigger is tried in each scope that holds the state, from the innermost out; in a scope, for the state and those that
hold it, from the innermost out. A scope's transitions name their sources as seen from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

from .leaving_out import many

Path = tuple[str, ...]


class Nested:
    """A hierarchical machine. `names` are all its states, `leaves` those without any in them, both by full name.

    `triggers` are those of all scopes; `parallel` says where it stands in several states at once (empty: nowhere).
    """

    def __init__(self, machine: Any) -> None:
        self._machine = machine
        self._sign: str = machine.state_cls.separator
        self._all: dict[str, tuple[Path, Any]] = {
            self._sign.join(path): (path, state) for path, state in _walk(machine)
        }
        self.names = list(self._all)
        self.leaves = [name for name, (_, state) in self._all.items() if not state.states]
        scopes = [machine, *(state for _, state in self._all.values())]
        self.triggers = list(dict.fromkeys(trigger for scope in scopes for trigger in scope.events))
        self.parallel = self._parallel()

    def entered(self, name: str) -> str:
        """The state in which the machine stands once it has entered the one of this name."""
        while inside := _names(self._all[name][1].initial):
            name = self._sign.join((name, inside[0]))
        return name

    def tried(self, name: str, trigger: str) -> list[tuple[Any, Path]] | None:
        """What is tried in the state, each with its scope, in order; None where the trigger is not valid there."""
        path = self._all[name][0]
        found: list[tuple[Any, Path]] = []
        valid = False
        for depth in range(len(path) - 1, -1, -1):
            events = self._scope(path[:depth]).events
            if trigger not in events:
                continue
            by_source = events[trigger].transitions
            for end in range(len(path), depth, -1):
                source = self._sign.join(path[depth:end])
                if source in by_source:
                    valid = True
                    found += [(one, path[:depth]) for one in by_source[source]]
        return found if valid else None

    def target(self, one: Any, scope: Path, name: str) -> Any:
        """Where the transition leads from the state: a name, or a list of names. Asks the library."""
        from transitions.extensions import nesting

        model = SimpleNamespace(**{self._machine.model_attribute: name})
        data: Any = nesting.NestedEventData(None, None, self._machine, model, (), {})  # pyright: ignore[reportArgumentType]
        with ExitStack() as scopes:
            scopes.enter_context(self._machine())
            for part in scope:
                scopes.enter_context(self._machine(part))
            tree = one._resolve_transition(data)[0]
        return nesting._build_state_list(tree, self._sign)  # pyright: ignore[reportPrivateUsage]

    def transitions(self) -> Iterator[tuple[str, Any]]:
        """All transitions of all scopes, each with its trigger."""
        for scope in (self._machine, *(state for _, state in self._all.values())):
            for trigger, event in scope.events.items():
                for ones in event.transitions.values():
                    yield from ((trigger, one) for one in ones)

    def _scope(self, path: Path) -> Any:
        return self._all[self._sign.join(path)][1] if path else self._machine

    def _parallel(self) -> str:
        first = _names(self._machine.initial)
        if len(first) > 1:
            return f"a machine that begins in several states at once ({', '.join(first)})"
        for name, (_, state) in self._all.items():
            together = _names(state.initial)
            if len(together) > 1:
                return f"the parallel state {name} ({', '.join(together)} at once)"
        return ""


def _walk(scope: Any, above: Path = ()) -> Iterator[tuple[Path, Any]]:
    for name, state in scope.states.items():
        path = (*above, name)
        yield path, state
        yield from _walk(state, path)


def _names(given: Any) -> list[str]:
    """The names of a state, of a list of states, or of none."""
    return [str(getattr(one, "name", one)) for one in many(given or None)]
