"""The default of an option, as its documentation spells it: a tag, a sentence, or a comment beside the value."""

from __future__ import annotations

import re

_LONGEST = 60
_UNIT = r"(?:(?:milli|micro)?seconds?|minutes?|hours?|days?|bytes?|ms|[KMG]i?B)"
"""Without its unit `300 seconds` reads as 300 of what the option is measured in."""
_VALUE = rf"(?:`([^`\n]{{1,60}})`|(['\"][^'\"\n]{{0,58}}['\"])|(-?\d[\d_.]*+(?:e\d+)?(?:[ ]{_UNIT})?|true|false|null|undefined)(?![\w.]*\w))"
_TAG = re.compile(r"@default(?:[vV]alue)?\b[ \t]*+(?::[ \t]*+)?([^\n]{1,200})")
_SAID = re.compile(
    rf"\bdefault(?:s to| is| value is|\s?value:| value of|ing to|:| =)\*{{0,2}}:?[ \t]*+{_VALUE}",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"^[ \t]*+['\"]?[A-Za-z_$][\w$]*+['\"]?\s?+:\s?+([^\s,][^,\n]{0,59}),?[ \t]*+//[ \t]?default\b",
    re.MULTILINE,
)
"""`maxRedirects: 21, // default`"""


def default_in(text: str) -> str | None:
    """The default that the documentation of one option tells, as it is written there; None where it tells none."""
    tagged = _TAG.search(text)
    if tagged:
        value = tagged[1].strip()
        quoted = re.match(r"`([^`]+)`", value)
        value = quoted[1] if quoted else value.removesuffix(".")
        return value if value and len(value) <= _LONGEST else None
    said = _SAID.search(text)
    if said:
        return next(one for one in said.groups() if one is not None).rstrip(".")
    beside = _BESIDE.search(text)
    return beside[1].strip() if beside else None
