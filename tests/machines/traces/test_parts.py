from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from machines.traces.bad_trace import BadTrace
from machines.traces.parts import items, members


def written(folder: Path, data: bytes) -> Path:
    path = folder / "some.json"
    path.write_bytes(data)
    return path


LISTS: list[tuple[bytes, Any]] = [
    (b"[]", []),
    (b'[{"a": 1}, {}]', [("[0]", {"a": 1}), ("[1]", {})]),
    (
        b'\xef\xbb\xbf [\n{"a": 123456789012345678901234567890}\n] ',
        [("[0]", {"a": 123456789012345678901234567890})],
    ),
    (b'[{"a": "\\ud800"}]', [("[0]", {"a": "\ud800"})]),
]


@pytest.mark.parametrize(("data", "found"), LISTS)
def test_the_objects_of_a_list_come_with_their_place(tmp_path: Path, data: bytes, found: Any) -> None:
    assert list(items(written(tmp_path, data))) == found


OBJECTS: list[tuple[bytes, Any]] = [
    (b"{}", []),
    (b'{"b": {"a": 1}, "a": {}}', [("b", {"a": 1}), ("a", {})]),
    (b'{"\\ud800": {}}', [("\ud800", {})]),
]


@pytest.mark.parametrize(("data", "found"), OBJECTS)
def test_the_objects_of_an_object_come_with_their_key(tmp_path: Path, data: bytes, found: Any) -> None:
    assert list(members(written(tmp_path, data))) == found


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "an empty file"),
        (b'[{"a": 1}', "text that is no JSON at column 10"),
        (b"{}", "an object"),
        (b"1", "1"),
        (b'["\\ud800"]', r'"\ud800"'),
        (b"[{}, []]", "a list"),
        (b'[{"a": "\xff"}]', "bytes that are not UTF-8, at byte 8"),
        (b"[" * 200_000, "JSON that is nested too deeply"),
    ],
)
def test_what_is_no_list_of_objects_is_refused(tmp_path: Path, data: bytes, found: str) -> None:
    with pytest.raises(BadTrace) as caught:
        list(items(written(tmp_path, data)))
    assert caught.value.found == found


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b" ", "an empty file"),
        (b'{"a": {}', "text that is no JSON at column 9"),
        (b"[]", "a list"),
        (b'{"a": {}, "b": "\\ud800"}', r'"\ud800"'),
        (b'{"a": 1}', "1"),
    ],
)
def test_what_is_no_object_of_objects_is_refused(tmp_path: Path, data: bytes, found: str) -> None:
    with pytest.raises(BadTrace) as caught:
        list(members(written(tmp_path, data)))
    assert caught.value.found == found


def test_a_part_that_is_not_reached_is_not_read(tmp_path: Path) -> None:
    found = items(written(tmp_path, b'[{"a": 1}, {"a": "\xff"}]'))
    assert next(found) == ("[0]", {"a": 1})
    with pytest.raises(BadTrace, match=r"field \[1\]: found bytes that are not UTF-8"):
        next(found)
