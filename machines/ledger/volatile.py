"""What is volatile in any tool's answer, as one table: what changes by itself while nothing happens.

A rule knows a volatile part by a form that speaks for itself in running text (`text`), or by the name of the field it
stands in (`field` and `value`): a key of a JSON object, or `name=value` and `name: value` in running text. Patterns are
RE2's, in any case of letters.

What has no rule is content and stays: exit codes, counts, sizes, prices, ports, line numbers, versions (1.2.3),
progress (3/10, 37%), calendar dates without a time of day, UUIDs in fields that name no id. So do `null`, true and
false under any name: a `finished_at` that is set for the first time is news.

Every alternative begins at the start of a word, or with the byte before it, and ends at the end of one; what may repeat
without bound belongs to the match wherever it stops; and none can match across the mark. The first two bound how far
a search looks past its match, so that stripping is linear; all three make stripping twice the same as stripping once.
"""

from __future__ import annotations

from functools import lru_cache

from attrs import frozen

from .. import _re2

MARK = '<"~">'
"""Stands for a volatile part of a text. No JSON text can hold it, so a stripped text is never taken for JSON."""

_YEAR = "[12][0-9]{3}"
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    "|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = "(?:mon|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri|sat(?:urday)?|sun)(?:day)?,? "
_ZONE_NAME = "(?:utc|gmt|[ew]es?t|bst|cest|cet|msk|[ijk]st|[cemp][sd]t|a[ek][sd]t|nz[sd]t)"
_ZONE = f"(?:z| ?(?:{_ZONE_NAME}|(?:utc|gmt)?[+-][0-9]{{2}}:?[0-9]{{2}})|[+-][0-9]{{2}})?"
_MINUTES = "(?:[01]?[0-9]|2[0-3]):[0-5][0-9]"
_SECONDS = ":[0-6][0-9](?:[.,:][0-9]+)?"
_CLOCK = f"{_MINUTES}{_SECONDS}(?: ?[ap]m)?{_ZONE}"
_TIME = f"{_MINUTES}(?:{_SECONDS})?(?: ?[ap]m)?{_ZONE}"
_STAMP = "|".join(
    (
        # 2026-03-17T09:00:44.181Z   2026/03/17 09:00
        f"{_YEAR}[-/.][01]?[0-9][-/.][0-3]?[0-9](?:[t_-]|,? {{1,2}}){_TIME}",
        # 20260317T090044Z   2026-03-17_09-00-44
        "20[0-9]{2}-?[01][0-9]-?[0-3][0-9][t_-][0-2][0-9][-_]?[0-5][0-9][-_]?[0-5][0-9](?:[._][0-9]+)?z?",
        # 03/17/2026, 09:00:44 AM
        f"[0-3]?[0-9]/[0-3]?[0-9]/(?:{_YEAR}|[0-9]{{2}}),? {_TIME}",
        # Tue, 17 Mar 2026 09:00:44 GMT   17/Mar/2026:09:00:44 +0000
        f"(?:{_WEEKDAY})?[0-3]?[0-9][ /-]{_MONTH}[ /-]{_YEAR}(?::|,? (?:at )?){_TIME}",
        # Tuesday, 17-Mar-26 09:00:44 GMT; without the weekday `41496 17 Mar 26 09:00` may be a size and a day
        f"(?:{_WEEKDAY}[0-3]?[0-9][ -]{_MONTH}[ -]|[0-3]?[0-9]-{_MONTH}-)[0-9]{{2}} {_TIME}",
        # 17.03.2026, 09:00
        f"[0-3]?[0-9][.][01]?[0-9][.]{_YEAR},? {_TIME}",
        # Mar 17 09:00:44   Tue Mar 17 09:00:44 UTC 2026   Mar 17, 2026 at 9:00 AM
        f"(?:{_WEEKDAY})?{_MONTH} {{1,2}}[0-3]?[0-9],?(?: {_YEAR},?)?(?: at)? {_TIME}(?: {_YEAR})?(?: [+-][0-9]{{4}})?",
        # 00:00:1773738044.181, as a C++ logger writes before it knows the zone
        "[0-2][0-9]:[0-5][0-9]:[12][0-9]{9}[.][0-9]+",
        _CLOCK,
    )
)
# From 2001 to 2065, in seconds, milliseconds, microseconds or nanoseconds.
_EPOCH = "[12][0-9]{9}(?:[0-9]{3}|[0-9]{6}|[0-9]{9})?(?:[.][0-9]+)?"

_NUMBER = "[0-9]+(?:,[0-9]{3})*(?:[.][0-9]+)?"
_UNIT = r"(?:(?-i:(?:n|u|m|\xc2\xb5|\xce\xbc)?s)|m?secs?|(?:nano|micro|milli)?seconds?)"
_SPAN = f"(?:[0-9]+ ?h(?:ours?|rs?)? ?)?(?:[0-9]+ ?m(?:in(?:ute)?s?)? ?)?{_NUMBER} ?{_UNIT}"
_LASTED = f"(?:[0-9]+(?::[0-9]{{2}}){{1,2}}(?:[.][0-9]+)?|{_SPAN}|{_NUMBER})"
_IN_UNIT = "(?:[_-]?(?:ns|us|ms|s|secs?|seconds|millis|micros|nanos|(?:nano|micro|milli)seconds|time))?"

# In running text an id holds a digit or is long: `session_id = None` and `request_id: str` are code.
_ID = r"(?:[a-z_+/=.-]{0,40}[0-9][\w+/=.-]*|[a-z]{20,})"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

# Quotes may be escaped: JSON is found inside of strings.
_SEPARATOR = r"""\\?["']?[ \t]{0,4}(?:=>|[:=])[ \t]{0,4}\\?["']?"""


@frozen
class Rule:
    """One kind of volatile part.

    `alone` is what the text of a JSON string or number under `field` must be in full, where that is more than `value`.
    """

    name: str
    why: str
    text: str = ""
    field: str = ""
    value: str = ""
    alone: str = ""


RULES: tuple[Rule, ...] = (
    Rule(
        "timestamp",
        "the moment at which an answer was made; a date with a time of day, or a clock time to the second",
        text=rf"(?:^|[^\w.:])(?:{_STAMP})\b",
    ),
    Rule(
        "time field",
        "the same moment as a number since 1970, which only the name of its field tells from a count",
        field=r"\w*time|\w*stamp|(?:\w*[_-])?(?:ts|at|date)|(?-i:\w*[a-z](?:At|Date|Ts))|epoch|now|exp|iat|nbf|expires"
        r"|\w*(?:created|updated|modified|changed|accessed|seen|started|finished|checked|polled|fetched|refreshed|synced"
        r"|generated|queried)(?:[_-]?on)?",
        value=_EPOCH,
        alone=f"{_EPOCH}|{_STAMP}",
    ),
    Rule(
        "age",
        "how long ago a thing was grows by itself",
        text=r"\b(?:(?:an?|[0-9]+) (?:second|minute|hour|day|week|month|year)s?|[0-9]+ ?[smhd]) ago\b",
    ),
    Rule(
        "duration",
        "how long work took differs each time; only after a word that says so, since a bare 5 s may be content",
        text=r"\b(?:took|taken|in|elapsed|duration|latency|time|after)(?: [(][a-z]{1,8}[)])?"
        rf"""["']?[ \t]{{0,8}}[:=]?[ \t]{{0,8}}["'(]{{0,2}}{_SPAN}\b""",
    ),
    Rule(
        "duration in its own place",
        "alone in brackets (mocha, MySQL), after a tab (go test), as the shell's `time` and as ping's summary write it",
        text=rf"[(]{_SPAN}\b|\t[0-9]+[.][0-9]{{3}}s\b|\b(?:real|user|sys)[ \t]{{1,8}}[0-9]+m[0-9]+[.,][0-9]+s\b"
        r"|\b(?:rtt|round-trip) min/avg/max/(?:mdev|stddev) = [0-9./]{7,60} ms\b",
    ),
    Rule(
        "clock of a progress bar",
        "time gone, time left and rate, in the brackets after the counts, which stay",
        text=r"\[[0-9:]{4,10}<[0-9:?]{1,10}, {0,3}[0-9.?]{1,12} ?[a-z]{1,8}/[a-z]{1,8}\b",
    ),
    Rule(
        "duration field",
        "the same, with or without a unit, where the name of the field says so",
        field=rf"(?:\w*(?:latency|duration|elapsed|uptime)|took|rtt|ttfb){_IN_UNIT}"
        r"|\w*(?:response|execution|exec|total|cpu|wall|process|processing|query|compile|build|load|request)"
        rf"[_-]?(?:time{_IN_UNIT}|ms|millis|(?:milli|micro|nano)?seconds)"
        r"|time(?:[_-]s|[_-]?(?:ms|secs?|seconds|taken|spent|total))|x-runtime|runtime[_-]?(?:ms|seconds)",
        value=_LASTED,
        alone=rf"-?{_NUMBER}(?:e-?[0-9]+)?|{_LASTED}|pt[0-9hms.]+|(?:[0-9]+ ?[dhms] ?)+",
    ),
    Rule(
        "id of the exchange",
        "request, trace, span, correlation, message and session ids name the exchange, not what it brought",
        text=rf"\b(?:request|trace|span|correlation|message|session|process) id: ?{_ID}\b",
        field=r"\w*(?:request|req|trace|span|correlation|message|msg|session|process|invocation)[_-]?id"
        "|traceparent|cf-ray|x-amz-id-2|x-amz-cf-id",
        value=_ID,
        alone=".+",
    ),
    Rule(
        "process id",
        "the system gives each process the next free number; valgrind puts it before each line",
        text=r"\bp?pid #?[0-9]+\b|[\n\x00]==[0-9]{1,7}\b",
        field=r"(?:\w*[_-])?p?pid",
        value="[0-9]+",
    ),
    Rule(
        "ETag",
        "names one rendering of a resource; what the resource holds is in the answer itself",
        field="e[_-]?tag",
        value=rf"""(?:w/)?\\?["']?{_ID}""",
        alone=".+",
    ),
    Rule(
        "UUID in an id field",
        "made up anew for each thing, and says nothing about it",
        field=r"\w*(?:id|guid)",
        value=_UUID,
    ),
    Rule(
        "address of an object",
        "where a process happened to put it; only as Python and ldd show it, since a shorter one is often content",
        text=r"\bat 0x[0-9a-f]{9,16}\b|[(]0x[0-9a-f]{16}\b",
    ),
)


def _in_text(field: str, value: str) -> str:
    return rf"\b(?:{field}){_SEPARATOR}(?:{value})\b"


_IN_TEXT = "|".join(
    part for rule in RULES for part in (rule.text, rule.field and _in_text(rule.field, rule.value)) if part
)
_ANY_FIELD = _re2.pattern("|".join(rf"(?:.*\W)?(?:{rule.field})" for rule in RULES if rule.field))
_FIELDS = tuple(
    (_re2.pattern(rf"(?:.*\W)?(?:{rule.field})"), _re2.pattern(rule.alone or rule.value))
    for rule in RULES
    if rule.field
)


@lru_cache(maxsize=256)
def text_pattern(names: tuple[str, ...] = ()) -> _re2.Pattern:
    """What is volatile in running text; `names` are fields declared volatile beside the table."""
    if not names:
        return _re2.pattern(_IN_TEXT)
    declared = "|".join(_re2.literal(name) for name in names)
    return _re2.pattern(_in_text(declared, r"[\w+/=.:%-]*\w") + "|" + _IN_TEXT)


@lru_cache(maxsize=4096)
def values_of(field: str) -> tuple[_re2.Pattern, ...]:
    """The patterns of which one must match a JSON value under `field` in full for it to be volatile; mostly none."""
    name = field.encode("utf-8", "surrogatepass")
    if not _re2.whole(_ANY_FIELD, name):  # most names: an answer of many different ones pays for one match each
        return ()
    return tuple(value for fields, value in _FIELDS if _re2.whole(fields, name))
