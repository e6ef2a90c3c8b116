"""The one error of the importers: a recording that cannot be read, and where."""

from __future__ import annotations

from pathlib import Path


class BadTrace(Exception):
    """A recording could not be read; its text is one line.

    `line` counts from 1 and is None where the file as a whole is meant; `field` is a path such as `calls[0].id`,
    None where no field is to blame.
    """

    def __init__(
        self, file: Path | str, *, found: str, expected: str, line: int | None = None, field: str | None = None
    ) -> None:
        self.file = str(file)
        self.line = line
        self.field = field
        self.found = found
        self.expected = expected
        place = [self.file]
        if line is not None:
            place.append(f"line {line}")
        if field is not None:
            place.append(f"field {field}")
        # A file's name and a field's may hold anything, line breaks too.
        super().__init__(" ".join(f"{', '.join(place)}: found {found}, expected {expected}".split()))
