"""A written module as Python has it, without a file."""

from __future__ import annotations

from types import ModuleType

from .writing import Written


def loaded(written: Written) -> ModuleType:
    """The module. A table that breaks a rule raises `BadTable`, as it would for whoever imports the file."""
    module = ModuleType(written.module)
    exec(compile(written.text, f"<{written.module}>", "exec"), module.__dict__)
    return module
