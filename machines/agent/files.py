"""Tools for files below one folder: list, read, write. Nothing outside the folder is read or written."""

from __future__ import annotations

import hashlib
from pathlib import Path

import anyio

from ..manifest import Kind, Tool
from .tools import AgentTool, ToolError, tool

MOST_CHARS = 50_000
"""Characters of a file that one reading gives."""


def file_tools(folder: Path) -> tuple[AgentTool, ...]:
    """The three tools, for one folder."""
    root = folder.resolve()

    def inside(path: str) -> anyio.Path:
        whole = (root / path).resolve()
        if whole != root and root not in whole.parents:
            raise ToolError("permission", f"{path} is outside the folder")
        return anyio.Path(whole)

    async def digest(path: str) -> str:
        place = inside(path)
        content = await place.read_bytes() if await place.is_file() else b""
        return hashlib.sha256(content).hexdigest()

    @tool(manifest=Tool(kind=Kind.READ, look=True))
    async def list_files(path: str = ".") -> list[str]:
        """List the files and folders in a folder; folders end with a slash."""
        place = inside(path)
        if not await place.is_dir():
            raise ToolError("business", f"{path} is no folder")
        return sorted([entry.name + ("/" if await entry.is_dir() else "") async for entry in place.iterdir()])

    @tool(manifest=Tool(kind=Kind.READ, source=("path",)))
    async def read_file(path: str) -> str:
        """Read a text file; a long one is cut off."""
        place = inside(path)
        if not await place.is_file():
            raise ToolError("business", f"{path} is no file")
        text = (await place.read_bytes()).decode("utf-8", "replace")
        return text if len(text) <= MOST_CHARS else text[:MOST_CHARS] + f"\n(cut off; {len(text)} characters in all)"

    @tool(
        manifest=Tool(kind=Kind.WRITE, target=("path",), required=("path", "content"), idempotent=True), digest=digest
    )
    async def write_file(path: str, content: str) -> str:
        """Write a text file, whole; folders on the way are made."""
        place = inside(path)
        await place.parent.mkdir(parents=True, exist_ok=True)
        await place.write_text(content, encoding="utf-8")
        return f"wrote {len(content)} characters to {path}"

    return list_files, read_file, write_file
