"""attrs classes: an object with a key for each field.

A field that has a default may be missing. A wrong value is reported with its path, all of a class's problems together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, get_origin

import attrs
import rpds
from cattrs import ClassValidationError, Converter, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn

from .hooks import STAND_INS, Reader, Writer
from .problems import BadData, Problem, bad, nearest, said, shown, step_to


def is_class(kind: Any) -> bool:
    """Whether it is an attrs class, or a generic one with its arguments."""
    return attrs.has(get_origin(kind) or kind)


def configure_classes(converter: Converter, *, forbid_extra: bool) -> None:
    """Hooks for attrs classes; with `forbid_extra` a key that is no field is a problem, otherwise it is left unread."""

    def reader(kind: Any) -> Reader:
        return _reader(kind, converter, forbid_extra=forbid_extra)

    converter.register_structure_hook_factory(is_class, reader)
    converter.register_unstructure_hook_factory(is_class, _writer)


def _reader(kind: Any, converter: Converter, *, forbid_extra: bool) -> Reader:
    cls = _resolved(kind)
    fill: Callable[[Any, Any], Any] = _made(
        cls, lambda: make_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=forbid_extra)
    )
    expected = said(cls)

    def read(value: Any, _: Any) -> Any:
        if value.__class__ is not dict:
            raise bad(value, expected)
        try:
            return fill(value, kind)
        except ClassValidationError as error:
            raise BadData(_problems(error, value, cls)) from None

    return read


def _writer(kind: Any, converter: Converter) -> Writer:
    cls = _resolved(kind)
    write: Writer = _made(cls, lambda: make_dict_unstructure_fn(kind, converter))
    return write


def _made(cls: type[Any], make: Callable[[], Any]) -> Any:
    try:
        return make()
    except TypeError as error:
        raise TypeError(f"{cls.__name__}: {error}") from error


def _problems(error: ClassValidationError, value: dict[str, Any], cls: type[Any]) -> list[Problem]:
    noted, others = error.group_exceptions()
    fields = {field.name: field for field in attrs.fields(cls) if field.init}
    found: list[Problem] = []
    for problem, note in noted:
        step = step_to(note.name)
        if note.name not in value:
            found.append(Problem(f"${step}", "nothing", said(note.type)))
        elif isinstance(problem, BadData):
            found.extend(problem.under(step))
        else:
            found.append(Problem(f"${step}", shown(value[note.name]), f"what {cls.__name__} accepts ({problem})"))
    for problem in others:
        if isinstance(problem, ForbiddenExtraKeysError):
            found.extend(
                Problem(f"${step_to(key)}", "an unknown key", nearest(key, fields))
                for key in sorted(problem.extra_fields)
            )
        else:
            found.append(Problem("$", "an object", f"what {cls.__name__} accepts ({problem})"))
    return found


def _resolved(kind: Any) -> type[Any]:
    """The class with its annotations evaluated."""
    cls: type[Any] = get_origin(kind) or kind
    if any(isinstance(field.type, str) for field in attrs.fields(cls)):
        try:
            attrs.resolve_types(cls, globalns=_names_seen_by(cls))
        except NameError as error:
            raise TypeError(f"{cls.__name__}: {error}, so the type of a field cannot be known") from None
    for field in attrs.fields(cls):
        if field.init and field.type is None:
            raise TypeError(f"{cls.__name__}.{field.name} has no type, so it cannot be kept as JSON")
    return cls


def _names_seen_by(cls: type[Any]) -> dict[str, Any]:
    """The names that its annotations may use, with the classes of rpds replaced."""
    names: dict[str, Any] = {}
    for base in reversed(cls.__mro__[:-1]):
        module = sys.modules.get(base.__module__)
        names.update(vars(module) if module else {})
    return {name: _stand_in(value) for name, value in names.items()}


def _stand_in(value: Any) -> Any:
    if value is rpds:
        return SimpleNamespace(**{**vars(rpds), **{real.__name__: stand_in for real, stand_in in STAND_INS.items()}})
    return STAND_INS.get(value, value) if isinstance(value, type) else value
