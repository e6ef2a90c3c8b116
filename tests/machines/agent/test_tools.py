"""Tools that an agent may have, and what is wrong with those that it may not."""

from __future__ import annotations

from typing import Any

import pytest

from machines.agent.tools import check_tools, tool
from machines.manifest import Kind, Tool, Wait


@tool(manifest=Tool(kind=Kind.WRITE, target=("path",), may_be_empty=("text",)))
async def put(path: str, text: str) -> str:
    """Put a text there."""
    return path + text


@tool(name="finish")
async def over(path: str) -> str:
    """End something."""
    return path


def test_sound_tools_are_taken() -> None:
    check_tools([put])
    check_tools([])


def test_two_tools_of_one_name_and_one_called_finish_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="2 tools are called put") as error:
        check_tools([put, over, put])
    assert "a tool is called finish" in str(error.value)


@pytest.mark.parametrize("field", ["target", "source", "topic", "identity", "required", "may_be_empty"])
def test_a_manifest_that_names_no_parameter_is_refused(field: str) -> None:
    names: dict[str, Any] = {field: ("path", "elsewhere")}

    @tool(manifest=Tool(**names))
    async def named(path: str) -> str:
        """Do something."""
        return path

    with pytest.raises(ValueError, match=f"tool named: {field} names elsewhere; its parameters are: path"):
        check_tools([named])


def test_a_tool_without_parameters_may_let_everything_be_empty() -> None:
    @tool(manifest=Tool(may_be_empty=True))
    async def bare() -> str:
        """Do something."""
        return ""

    check_tools([bare])


def test_nothing_of_a_manifest_is_in_what_the_model_is_told() -> None:
    schema = put.schema
    assert (schema.name, schema.description) == ("put", "Put a text there.")
    assert schema.schema == {
        "type": "object",
        "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
        "required": ["path", "text"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("wait", "seconds", "problem"),
    [
        (Wait("status", ("running",), ()), None, "wait.terminal_values: found none"),
        (Wait("status", ("running", "done"), ("done",)), None, "found 'done' in both"),
        (Wait("status", ("running",), ("done",), 60.0), 59.0, "max_wait_seconds: found 60, expected no more than"),
        (Wait("status", ("running",), ("done",), 0.0), None, "max_wait_seconds: found 0.0"),
        (Wait("status", ("running",), ("done",), 60.0, -1.0), None, "min_interval_seconds: found -1.0"),
    ],
)
def test_a_wait_that_cannot_be_meant_is_refused(wait: Wait, seconds: float | None, problem: str) -> None:
    @tool(manifest=Tool(wait=wait))
    async def build() -> str:
        """Build."""
        return ""

    with pytest.raises(ValueError, match=problem):
        check_tools([build], seconds)


def test_a_wait_as_long_as_the_run_is_taken() -> None:
    @tool(manifest=Tool(wait=Wait("status", ("running",), ("done",), 60.0, 0.0)))
    async def build() -> str:
        """Build."""
        return ""

    check_tools([build], 60.0)
    check_tools([build])
