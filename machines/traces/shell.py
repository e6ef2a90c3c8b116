"""Whether a recorded shell command plainly writes.

A recording of an agent that works by shell has no dispatch layer that saw a write, and the commands that write mostly
print nothing: to make a folder, copy a file and change it would look like three turns without news. So the command's
own words are read, and only where they leave no doubt; what a script does inside is not known, and counts for nothing.
"""

from __future__ import annotations

import re
from typing import Final

_REDIRECT: Final = re.compile(r"(?<![0-9&<>=-])>{1,2}(?!&)\s*(?!/dev/(?:null|stdout|stderr|tty)\b)[\w./~$\"'{-]")
_SPLIT: Final = re.compile(r"&&|\|\||[;|\n]")
_WRITERS: Final = frozenset(
    ("chmod", "chown", "cp", "dd", "install", "ln", "mkdir", "mv", "patch", "rm", "rmdir", "tee", "touch", "truncate")
)
_GIT: Final = frozenset(
    (
        "add",
        "am",
        "apply",
        "checkout",
        "cherry-pick",
        "clone",
        "commit",
        "init",
        "merge",
        "mv",
        "pull",
        "push",
        "rebase",
    )
) | {"reset", "restore", "revert", "rm", "stash", "switch", "tag"}
_INSTALLERS: Final = frozenset(("apt", "apt-get", "cargo", "gem", "npm", "pip", "pip3", "uv", "yarn"))


_MAY: Final = re.compile(rf"\b(?:{'|'.join(sorted(_WRITERS | _INSTALLERS | {'sed', 'perl', 'git'}))})\b")


def writes(command: str) -> bool:
    """Whether a shell command, if it succeeded, has changed something outside the shell."""
    if ">" in command and _REDIRECT.search(_without_quotes(command)) is not None:
        return True
    return _MAY.search(command) is not None and any(map(_part_writes, _SPLIT.split(command)))


def _part_writes(part: str) -> bool:
    words = part.split()
    while words and ("=" in words[0] or words[0] in ("sudo", "env", "time", "nohup")):
        words = words[1:]
    if not words or words[0].startswith((":", "#")):
        return False
    name, rest = words[0].rsplit("/", 1)[-1], words[1:]
    if name in ("sed", "perl"):
        return any(word.startswith(("-i", "--in-place")) or (word.startswith("-p") and "i" in word) for word in rest)
    if name == "git":
        return bool(rest) and rest[0] in _GIT
    return name in _WRITERS or (name in _INSTALLERS and any(word in ("install", "add", "remove") for word in rest))


def _without_quotes(command: str) -> str:
    """The command without what stands in quotes, where a `>` is only a character; nothing of a comment or a no-op."""
    kept = re.sub(r"'[^']*'|\"[^\"]*\"", "q", command)
    return "" if kept.lstrip().startswith((":", "#")) else kept
