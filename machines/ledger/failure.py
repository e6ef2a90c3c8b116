"""What went wrong, in one line that is the same however often it goes wrong."""

from __future__ import annotations

from .. import _re2
from .volatile import MARK, text_pattern

# Lines from the end that are looked at: what failed stands there, and a huge log costs no more.
_LINES = 1000

# Says what went wrong.
_TELLS = _re2.pattern(
    r"(?:error|exception|fatal|panic|\bfail(?:ed|ure|s)?\b|cannot|can't|could not|couldn't|unable|not found|no such"
    r"|denied|refused|forbidden|unauthorized|invalid|illegal|undefined|unknown|unexpected|unrecognized|unresolved"
    r"|missing|must be|required|assert|mismatch|conflict|exceeded|timed out|timeout:|segmentation|killed|abort"
    r"|traceback)"
)

_COLOUR = r"(?:\x1b\[[0-9;]*m)*"
# Says only that something did, after the line that says what.
_SUMMARIES = (
    r"[=_!-]{2,} .* [=_!-]{2,}|plugins: .*",  # pytest's rulers and header
    r"FAILED [(].*|FAIL(?:\s.*)?|tests finished: .*",  # unittest, go, sympy
    r"Tests?:? .*[0-9]+ failed.*|Test Suites: .*|test result: .*",  # jest, cargo
    r"Found [0-9]+ errors?.*|[0-9]+ (?:errors?|problems?|failed|failing|failures?)\b.*",  # tsc, ruff, eslint, mocha
    r"make(?:\[[0-9]+\])?: \*\*\* .*|ninja: build stopped.*",
    r"error: (?:aborting due to|could not compile|test failed).*|For more information.*|Some errors have .*",  # rustc
    r"npm (?:ERR!|error)(?: (?:A complete log|code|errno|syscall|path|command|Exit status|This is probably).*|\s*)",
    r"error Command failed with exit code.*|info Visit .*",  # yarn
    r"\[ERROR\](?:\s*| (?:->|To see|Re-run|For more|\[Help).*)",  # maven
    r"Traceback \(most recent call last\):|During handling of .*|The above exception .*|at .*",  # frames
    r".*\bexit(?:ed)?(?: with)?(?: (?:code|status|value))?:? ?-?[0-9]+[.)]?",
)
_SUMMARY = _re2.pattern(rf"(?:{_COLOUR}\s*)*(?:{'|'.join(_SUMMARIES)}){_COLOUR}\s*")

# Beside what is volatile in any answer. Eight digits from 8 or c are no address but how Windows numbers its errors.
_ADDRESS = r"\b0x(?:[0-9a-f]{5,7}|[0-79abdef][0-9a-f]{7}|[0-9a-f]{9,})\b"
# The folders of a temporary path, and its last name where that is made up too (tempfile, mktemp, gcc); another stays.
_TEMPORARY = (
    r"(?:^|[^\w./~])(?:(?:/private)?/tmp|/var/tmp|(?:/private)?/var/folders|/dev/shm|[a-z]:(?:[\\/][\w.~-]+)*[\\/]te?mp)"
    r"(?:[\\/][\w.@+-]+)*[\\/](?:tmp[\w.]{5,}|cc[a-z0-9]{6}[.]\w+)?"
)
_MADE_UP = _re2.pattern(f"{_ADDRESS}|{_TEMPORARY}")


def normalise_failure(text: str) -> str:
    """The last line of a failing answer that says what went wrong, without volatile parts; "" for an empty text.

    Volatile is what the table says, and memory addresses and temporary folders. Line numbers stay: the same error on
    another line is another outcome. Where no line says what went wrong, it is the last one that is not empty. White
    space is made even.
    """
    lines = [line for line in text.encode("utf-8", "surrogatepass").splitlines() if line and not line.isspace()]
    mark = MARK.encode()
    stripped = _re2.replace(_MADE_UP, _re2.replace(text_pattern(), _telling(lines[-_LINES:]), mark), mark)
    return " ".join(stripped.decode("utf-8", "surrogatepass").split())


def _telling(lines: list[bytes]) -> bytes:
    """The last line that says what went wrong; else the last that says that something did; else the last."""
    summary = b""
    for line in reversed(lines):
        if _re2.found(_TELLS, line):
            if not _re2.whole(_SUMMARY, line):
                return line
            summary = summary or line
    return summary or (lines[-1] if lines else b"")
