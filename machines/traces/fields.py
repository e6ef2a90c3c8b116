"""One field of a JSON object, with its type: what it is, or FieldError.

`need_*` take a field that must be there; `may_*` take one that may be absent or null, and then give their empty value.
`at` is the path of the object that the field is in, such as `calls[0]`, empty for the line itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from statecraft import Scalar

from .json_text import JsonError, write_json
from .lines import Json, JsonObject

T = TypeVar("T")

MOST_COUNT = 10**15
"""The largest count that is taken for one: nothing that is counted here comes near to it."""


class FieldError(Exception):
    """A field is not what it must be; whoever knows the file and the line makes a BadTrace of it."""

    def __init__(self, field: str | None, found: str, expected: str) -> None:
        self.field = field
        self.found = found
        self.expected = expected
        super().__init__(f"{field}: found {found}, expected {expected}")


def path_to(at: str, key: str) -> str:
    """The path of the field `key` of the object at `at`."""
    return f"{at}.{key}" if at else key


def shown(value: Json) -> str:
    """A value as an error names it: a scalar itself, cut short; a list or an object by its kind."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    text = write_json(value).decode()
    return text if len(text) <= 60 else text[:60] + "..."


def _wrong(found: Json, key: str, at: str, expected: str) -> FieldError:
    return FieldError(path_to(at, key), shown(found), expected)


def need(record: JsonObject, key: str, at: str, expected: str) -> Json:
    """The field, null too, or FieldError where it is absent."""
    if key not in record:
        raise FieldError(path_to(at, key), "nothing", expected)
    return record[key]


def need_text(record: JsonObject, key: str, at: str = "") -> str:
    """A string."""
    value = record.get(key)
    if isinstance(value, str):
        return value
    raise _wrong(need(record, key, at, "a string"), key, at, "a string")


def may_text(record: JsonObject, key: str, at: str = "") -> str | None:
    """A string or None."""
    value = record.get(key)
    if value is None or isinstance(value, str):
        return value
    raise _wrong(value, key, at, "a string")


def may_bool(record: JsonObject, key: str, at: str = "") -> bool | None:
    """True, false or None."""
    value = record.get(key)
    if value is None or isinstance(value, bool):
        return value
    raise _wrong(value, key, at, "true or false")


def may_number(record: JsonObject, key: str, at: str = "") -> float | None:
    """A number of 0 or more, or None."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise _wrong(value, key, at, "a number, 0 or more")
    try:
        return float(value)
    except OverflowError:
        raise _wrong(value, key, at, "a number below 1e308") from None


def need_number(record: JsonObject, key: str, at: str = "") -> float:
    """A number of 0 or more."""
    value = may_number(record, key, at)
    if value is None:
        raise _absent(record, key, at, "a number, 0 or more")
    return value


def may_count(record: JsonObject, key: str, at: str = "") -> int | None:
    """A whole number of 0 or more, or None."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_COUNT:
        raise _wrong(value, key, at, "a whole number from 0 to 1e15")
    return value


def need_count(record: JsonObject, key: str, at: str = "") -> int:
    """A whole number of 0 or more."""
    value = may_count(record, key, at)
    if value is None:
        raise _absent(record, key, at, "a whole number, 0 or more")
    return value


def may_object(record: JsonObject, key: str, at: str = "") -> JsonObject | None:
    """An object or None."""
    value = record.get(key)
    if value is None or isinstance(value, dict):
        return value
    raise _wrong(value, key, at, "an object")


def need_object(record: JsonObject, key: str, at: str = "") -> JsonObject:
    """An object."""
    value = may_object(record, key, at)
    if value is None:
        raise _absent(record, key, at, "an object")
    return value


def may_list(record: JsonObject, key: str, at: str = "") -> list[Json] | None:
    """A list or None."""
    value = record.get(key)
    if value is None or isinstance(value, list):
        return value
    raise _wrong(value, key, at, "a list")


def may_scalars(record: JsonObject, key: str, at: str = "") -> tuple[Scalar, ...]:
    """A list of texts, numbers, true, false or null; nothing where there is none."""
    found: list[Scalar] = []
    for item in may_list(record, key, at) or ():
        if isinstance(item, dict | list):
            raise _wrong(record.get(key), key, at, "a list of texts, numbers, true, false or null")
        found.append(item)
    return tuple(found)


def need_list(record: JsonObject, key: str, at: str = "") -> list[Json]:
    """A list."""
    value = may_list(record, key, at)
    if value is None:
        raise _absent(record, key, at, "a list")
    return value


def objects(items: list[Json], at: str) -> Iterator[tuple[JsonObject, str]]:
    """Each item of the list at `at`, which must be an object, with its path."""
    for number, item in enumerate(items):
        path = f"{at}[{number}]"
        if not isinstance(item, dict):
            raise FieldError(path, shown(item), "an object")
        yield item, path


def may_names(record: JsonObject, key: str, at: str = "") -> tuple[str, ...]:
    """A list of strings, or one string alone; empty where it is absent."""
    value = record.get(key)
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list):
        raise _wrong(value, key, at, "a list of strings")
    names: list[str] = []
    for number, item in enumerate(value):
        if not isinstance(item, str):
            raise FieldError(f"{path_to(at, key)}[{number}]", shown(item), "a string")
        names.append(item)
    return tuple(names)


def may_be(record: JsonObject, key: str, known: Mapping[str, T], at: str = "") -> T | None:
    """One of the known names, as what stands for it, or None."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, str) and value in known:
        return known[value]
    raise _wrong(value, key, at, f"one of {', '.join(known)}")


def need_one_of(record: JsonObject, key: str, known: Mapping[str, T], at: str = "") -> T:
    """One of the known names, as what stands for it."""
    value = may_be(record, key, known, at)
    if value is None:
        raise _absent(record, key, at, f"one of {', '.join(known)}")
    return value


def json_text(value: Json, field: str) -> str:
    """The JSON text of a field's value."""
    try:
        return write_json(value).decode()
    except JsonError as error:
        raise FieldError(field, str(error), "JSON of fewer levels") from None


def _absent(record: JsonObject, key: str, at: str, expected: str) -> FieldError:
    return FieldError(path_to(at, key), "null" if key in record else "nothing", expected)
