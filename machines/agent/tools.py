"""Tools: typed async functions, the JSON Schema made from their annotations, and the manifest beside them.

The model sees a tool's name, its docstring and its schema. The manifest (`machines.manifest.Tool`) says what the tool
does to the world; it never leaves this process.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Final, get_type_hints, overload

import attrs
import msgspec

from ..events import ErrorKind
from ..manifest import Tool, wait_problems
from ..words import FINISH
from .wire import ToolSchema

Function = Callable[..., Awaitable[Any]]

NAMING = ("required", "identity", "target", "source", "topic", "may_be_empty")
"""The fields of a manifest that name parameters of the tool."""


TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What both providers take as the name of a tool."""


class ToolError(Exception):
    """A tool failed, and says how: raise it in a tool's function to give the error a kind.

    `ToolError("transient", "the line is busy")`; with a message alone the kind is `business`.
    """

    def __init__(self, kind: ErrorKind | str, message: str | None = None) -> None:
        self.kind = ErrorKind.BUSINESS if message is None else ErrorKind(kind)
        super().__init__(str(kind) if message is None else message)


@attrs.frozen(eq=False)
class AgentTool:
    """A tool as the agent holds it.

    `arguments` is the type that arguments are checked against. `alone`: never at once with other calls of its turn.
    `digest` tells the state of a target, such as a file's content, in a short text; it is asked before and after.
    """

    name: str
    description: str
    function: Callable[..., Awaitable[Any]]
    arguments: type[msgspec.Struct]
    manifest: Tool
    alone: bool = False
    digest: Callable[[str], Awaitable[str]] | None = None

    @cached_property
    def schema(self) -> ToolSchema:
        """What the model is told."""
        return ToolSchema(self.name, self.description, _schema(self.arguments))


@overload
def tool(function: Function, /) -> AgentTool: ...
@overload
def tool(
    *,
    name: str | None = None,
    manifest: Tool = ...,
    alone: bool = False,
    digest: Callable[[str], Awaitable[str]] | None = None,
) -> Callable[[Function], AgentTool]: ...
def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    manifest: Tool | None = None,
    alone: bool = False,
    digest: Callable[[str], Awaitable[str]] | None = None,
) -> AgentTool | Callable[[Function], AgentTool]:
    """Make a tool of an async function; usable as a decorator, bare or with options.

    Raises `TypeError` for a function that is not async, has no docstring, or has a parameter without an annotation:
    the model could not know what to send.
    """

    def make(given: Function) -> AgentTool:
        called = name or str(getattr(given, "__name__", "without a name"))
        if not inspect.iscoroutinefunction(given):
            raise TypeError(f"tool {called}: found a plain function, expected an async one")
        said = inspect.getdoc(given)
        if not said:
            raise TypeError(f"tool {called}: has no docstring, which is what the model is told of it")
        required = _arguments(called, given)
        own = manifest or Tool()
        own = own if own.required else attrs.evolve(own, required=_required(required))
        return AgentTool(called, said, given, required, own, alone, digest)

    return make if function is None else make(function)


def check_tools(tools: Iterable[object], seconds: float | None = None) -> None:
    """Raises `ValueError`, a line for each thing that is wrong with tools that one agent is to have.

    `seconds` is the time of a run, where it has a limit: no declared wait may be longer.

    Two of one name, a name that no provider takes or that is the built-in declaration's, and a manifest that names a
    parameter which the tool does not have: each would be overlooked in silence otherwise. `TypeError` for what is no
    tool.
    """
    held = tuple(map(_tool, tools))
    counts = Counter(tool.name for tool in held)
    found = [f"{count} tools are called {name}, expected one" for name, count in counts.items() if count > 1]
    found += [
        f"tool {name!r}: expected a name of at most 64 of A-Z a-z 0-9 _ -"
        for name in counts
        if not TOOL_NAME.fullmatch(name)
    ]
    if FINISH in counts:
        found.append(f"a tool is called {FINISH}, by which a model ends a run; expected another name")
    for tool in held:
        has = tool.arguments.__struct_fields__
        for field in NAMING:
            named = getattr(tool.manifest, field)
            unknown = () if isinstance(named, bool) else tuple(name for name in named if name not in has)
            if unknown:
                known = ", ".join(has) or "none"
                found.append(f"tool {tool.name}: {field} names {', '.join(unknown)}; its parameters are: {known}")
        if tool.manifest.wait is not None:
            found += [f"tool {tool.name}: wait.{problem}" for problem in wait_problems(tool.manifest.wait, seconds)]
    if found:
        raise ValueError("\n".join(found))


def _tool(given: object) -> AgentTool:
    if isinstance(given, AgentTool):
        return given
    called = getattr(given, "__name__", None) or repr(given)
    raise TypeError(f"tools: found {called}, expected a tool; put @tool over the function")


def _arguments(name: str, function: Callable[..., Awaitable[Any]]) -> type[msgspec.Struct]:
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"tool {name}: parameter {parameter.name} cannot be sent by name")
        if parameter.name not in hints:
            raise TypeError(f"tool {name}: parameter {parameter.name} has no annotation")
        default = () if parameter.default is parameter.empty else (parameter.default,)
        fields.append((parameter.name, hints[parameter.name], *default))
    try:
        made = msgspec.defstruct(name, fields, forbid_unknown_fields=True, kw_only=True)
        msgspec.json.schema(made)
    except (TypeError, ValueError) as error:
        raise TypeError(f"tool {name}: no JSON Schema can be made of its parameters: {error}") from error
    return made


def _required(arguments: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(field.name for field in msgspec.structs.fields(arguments) if field.required)


def _schema(arguments: type[msgspec.Struct]) -> Mapping[str, Any]:
    """The schema as one object, with its definitions inside, as providers want it."""
    whole = msgspec.json.schema(arguments)
    definitions: dict[str, Any] = whole.get("$defs", {})
    top = dict(definitions.pop(whole["$ref"].rsplit("/", 1)[-1]))
    top.pop("title", None)
    top.setdefault("properties", {})
    return {**top, "$defs": definitions} if definitions else top
