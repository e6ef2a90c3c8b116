"""The tools for files: inside the folder alone, whole or not at all, and never the run's own journal."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.agent import files
from machines.agent.calling import Ran, run_call
from machines.agent.files import MOST_CHARS, MOST_ENTRIES, file_tools
from machines.agent.scripted import Turn, call
from machines.agent.tools import AgentTool
from machines.events import ErrorKind

pytestmark = pytest.mark.anyio

Use = Callable[..., Any]


@pytest.fixture
def use(tmp_path: Path) -> Use:
    """Calls one of the three tools by name, with the text of its arguments as a model would send them."""
    (tmp_path / "in").mkdir()

    async def give(name: str, args: str, hidden: tuple[Path, ...] = ()) -> Ran:
        tools = {made.name: made for made in file_tools(tmp_path / "in", hidden)}
        return await run_call(tools[name], args)

    return give


async def test_what_is_written_is_read_and_listed(use: Use, tmp_path: Path) -> None:
    wrote = await use("write_file", '{"path": "a/b.txt", "content": "häll\\n"}')
    assert (wrote.error, wrote.content, wrote.wrote) == (None, "wrote 5 characters to a/b.txt", True)
    assert (tmp_path / "in/a/b.txt").read_bytes() == "häll\n".encode()
    assert (await use("read_file", '{"path": "a/b.txt"}')).content == "häll\n"
    assert (await use("list_files", '{"path": "a"}')).value == ["b.txt"]
    assert (await use("list_files", "{}")).value == ["a/"]


async def test_a_text_that_is_none_leaves_the_file_as_it_was(use: Use, tmp_path: Path) -> None:
    place = tmp_path / "in/kept.txt"
    place.write_text("precious")
    ran = await use("write_file", '{"path": "kept.txt", "content": "x\\ud800"}')
    assert ran.error is ErrorKind.VALIDATION
    assert "character 1 is half of a surrogate pair" in ran.content
    assert place.read_text() == "precious"
    assert not ran.wrote


async def test_a_write_that_breaks_off_leaves_the_file_as_it_was_and_nothing_beside_it(
    use: Use, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "in/kept.txt"
    place.write_text("precious")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    ran = await use("write_file", '{"path": "kept.txt", "content": "new"}')
    assert (ran.error, ran.content) == (ErrorKind.BUSINESS, "kept.txt: No space left on device")
    assert place.read_text() == "precious"
    assert list((tmp_path / "in").iterdir()) == [place]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
async def test_a_file_keeps_its_mode(use: Use, tmp_path: Path, mode: int) -> None:
    place = tmp_path / "in/tool.sh"
    place.write_text("old")
    place.chmod(mode)
    assert (await use("write_file", '{"path": "tool.sh", "content": "new"}')).error is None
    assert stat.S_IMODE(place.stat().st_mode) == mode
    assert place.read_text() == "new"


async def test_a_new_file_has_the_mode_that_any_new_file_has(use: Use, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        await use("write_file", '{"path": "new.txt", "content": "new"}')
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "in/new.txt").stat().st_mode) == 0o640


async def test_a_link_inside_stays_one_and_its_file_is_written(use: Use, tmp_path: Path) -> None:
    (tmp_path / "in/real.txt").write_text("old")
    (tmp_path / "in/link.txt").symlink_to("real.txt")
    assert (await use("write_file", '{"path": "link.txt", "content": "new"}')).error is None
    assert (tmp_path / "in/link.txt").is_symlink()
    assert (tmp_path / "in/real.txt").read_text() == "new"


@pytest.mark.parametrize("path", ["../out.txt", "/etc/hostname", "a/../../out.txt", "door/out.txt"])
@pytest.mark.parametrize("name", ["read_file", "write_file", "list_files"])
async def test_nothing_outside_is_reached(use: Use, tmp_path: Path, name: str, path: str) -> None:
    (tmp_path / "out.txt").write_text("secret")
    (tmp_path / "in/door").symlink_to(tmp_path)
    more = ', "content": "x"' if name == "write_file" else ""
    ran = await use(name, f'{{"path": "{path}"{more}}}')
    assert ran.error is ErrorKind.PERMISSION
    assert ran.content == f"{path} is outside the folder"
    assert (tmp_path / "out.txt").read_text() == "secret"


@pytest.mark.parametrize("path", ["runs/a.jsonl", "runs", "./runs/../runs/a.content/x", "way/a.jsonl"])
@pytest.mark.parametrize("name", ["read_file", "write_file", "list_files"])
async def test_what_is_hidden_is_not_there(use: Use, tmp_path: Path, name: str, path: str) -> None:
    (tmp_path / "in/runs").mkdir()
    (tmp_path / "in/runs/a.jsonl").write_text("line")
    (tmp_path / "in/way").symlink_to("runs")
    more = ', "content": "x"' if name == "write_file" else ""
    ran = await use(name, f'{{"path": "{path}"{more}}}', (tmp_path / "in/runs",))
    assert (ran.error, ran.content) == (ErrorKind.PERMISSION, f"{path} is not for the agent")
    assert (tmp_path / "in/runs/a.jsonl").read_text() == "line"
    assert (await use("list_files", "{}", (tmp_path / "in/runs",))).value == []
    assert (await use("list_files", "{}")).value == ["runs/", "way/"]


@pytest.mark.parametrize("hide", [".", ".."])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_folder_itself_cannot_be_hidden(tmp_path: Path, hide: str, anyio_backend: str) -> None:
    with pytest.raises(ValueError, match="itself would be hidden"):
        file_tools(tmp_path, [tmp_path / hide])


@pytest.mark.parametrize(("chars", "cut"), [(MOST_CHARS, False), (MOST_CHARS + 1, True), (4 * MOST_CHARS + 9, True)])
@pytest.mark.parametrize("letter", ["a", "é", "𝄞"])
async def test_a_long_file_is_cut_off_and_says_so(use: Use, tmp_path: Path, chars: int, cut: bool, letter: str) -> None:
    (tmp_path / "in/long.txt").write_text(letter * chars, encoding="utf-8")
    said = (await use("read_file", '{"path": "long.txt"}')).content
    size = chars * len(letter.encode())
    note = f"\n(cut off after {MOST_CHARS} characters; the file has {size} bytes)" if cut else ""
    assert said == letter * min(chars, MOST_CHARS) + note


async def test_no_more_is_read_than_is_shown(use: Use, tmp_path: Path) -> None:
    with (tmp_path / "in/huge").open("wb") as file:
        file.truncate(1 << 40)  # a terabyte that no memory holds
    assert (
        "(cut off after 50000 characters; the file has 1099511627776 bytes)"
        in (await use("read_file", '{"path": "huge"}')).content
    )


@pytest.mark.parametrize("more", [0, 3])
async def test_a_long_listing_is_cut_off_and_says_so(
    use: Use, tmp_path: Path, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_ENTRIES", 5)
    for number in range(5 + more):
        (tmp_path / f"in/{number}").touch()
    listed = (await use("list_files", "{}")).value
    assert listed == ["0", "1", "2", "3", "4", *(["(and 3 more)"] if more else [])]
    assert MOST_ENTRIES > 5


@pytest.mark.parametrize(
    ("name", "args", "error", "said"),
    [
        ("read_file", '{"path": "none"}', ErrorKind.BUSINESS, "none is no file"),
        ("list_files", '{"path": "none"}', ErrorKind.BUSINESS, "none is no folder"),
        ("write_file", '{"path": ".", "content": "x"}', ErrorKind.BUSINESS, ". is no file"),
        ("write_file", '{"path": "pipe", "content": "x"}', ErrorKind.BUSINESS, "pipe is no file"),
        ("read_file", '{"path": "pipe"}', ErrorKind.BUSINESS, "pipe is no file"),
        ("write_file", '{"path": "file/x", "content": "x"}', ErrorKind.BUSINESS, "file/x: "),
        ("write_file", '{"path": "%s", "content": "x"}' % ("n" * 300), ErrorKind.BUSINESS, "File name too long"),
        ("read_file", '{"path": "a\\u0000b"}', ErrorKind.VALIDATION, "'a\\x00b' is no path"),
        ("read_file", '{"path": "a\\ud800"}', ErrorKind.VALIDATION, "'a\\ud800' is no path"),
    ],
)
async def test_what_cannot_be_done_is_said_in_the_agents_own_words_for_it(
    use: Use, tmp_path: Path, name: str, args: str, error: ErrorKind, said: str
) -> None:
    os.mkfifo(tmp_path / "in/pipe")
    (tmp_path / "in/file").touch()
    with anyio.fail_after(5):
        ran = await use(name, args)
    assert ran.error is error
    assert said in ran.content
    assert str(tmp_path) not in ran.content


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
async def test_a_file_that_may_not_be_written_is_left_alone(use: Use, tmp_path: Path) -> None:
    place = tmp_path / "in/fixed"
    place.write_text("old")
    place.chmod(0o444)
    ran = await use("write_file", '{"path": "fixed", "content": "new"}')
    assert (ran.error, ran.content) == (ErrorKind.PERMISSION, "fixed may not be written")
    assert place.read_text() == "old"


async def test_two_writes_of_one_file_in_one_turn_happen_in_their_order(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    writes = tuple(call("write_file", {"path": "a", "content": str(number) * 1000}) for number in range(8))
    done = Turn(calls=(call("finish", {"kind": "final", "text": "done"}),))
    tools: tuple[AgentTool, ...] = file_tools(str(work))
    with serve([Turn(calls=writes), done]) as stage:
        assert (await stage.agent(tools).run("write")).ok
        await stage.close()
    assert (work / "a").read_text() == "7" * 1000
    assert [path.name for path in work.iterdir()] == ["a"]
