"""No regular expression of the code takes more than linear time on a text made of its own characters (issue 15, F6)."""

from __future__ import annotations

import time
from heapq import nlargest
from operator import itemgetter

import pytest
from support import regexes
from support.projects import made_once

pytestmark = pytest.mark.req("Z8")

_SMALL, _LARGE = 800, 100_000
_AT_ONCE = 0.4
"""Seconds of processor time that are granted to any text; a quadratic pattern takes several times as many."""
_AT_MOST = 2.0
_AT_MOST_SMALL = 0.05
_SLOWEST = 3
"""So many of the small texts are tried large: those that took longest."""
_AGAIN, _TIMES = 5 * _SLOWEST, 5
"""So many of the small texts are measured so often once more: what else the machine did may make any text slow."""
_MORE_THAN_LINEAR = 4
"""So many times what the small text lets expect; a quadratic pattern takes 125 times as many."""


def _made(text: tuple[str, str, str], size: int, pattern: regexes.Pattern) -> str | bytes:
    before, unit, behind = text
    made = before + unit * max(1, size // len(unit)) + behind
    return made.encode() if isinstance(pattern.compiled.pattern, bytes) else made


def _seconds(
    pattern: regexes.Pattern, method: str, text: str | bytes, limit: float, *, tries: int = 1
) -> float:
    return regexes.seconds_for(
        lambda: regexes.apply(pattern.compiled, method, text), limit=limit, tries=tries
    )


def _slow(pattern: regexes.Pattern, method: str, *, tries: int = 2) -> str:
    """The text on which a pattern takes more than linear time in each try, if there is one."""
    small: list[tuple[float, tuple[str, str, str]]] = []
    slowest = 0
    for text in regexes.texts(pattern.compiled):
        seconds = _seconds(pattern, method, _made(text, _SMALL, pattern), _AT_MOST_SMALL)
        small.append((seconds, text))
        slowest += seconds == _AT_MOST_SMALL
        if slowest == _SLOWEST:
            break  # no other text can be among the slowest any more
    again = [
        (_seconds(pattern, method, _made(text, _SMALL, pattern), _AT_MOST_SMALL, tries=_TIMES), text)
        for _seconds_once, text in nlargest(_AGAIN, small, key=itemgetter(0))
    ]
    for seconds, text in nlargest(_SLOWEST, again, key=itemgetter(0)):
        large = _made(text, _LARGE, pattern)
        for _try in range(tries):  # what else the machine did may have made the first one slow
            granted = min(_AT_ONCE + _MORE_THAN_LINEAR * seconds * _LARGE / _SMALL, _AT_MOST)
            if _seconds(pattern, method, large, granted) < granted:
                break
        else:
            return f"{pattern.location}: {method} on {text}"
    return ""


@pytest.fixture(scope="module")
def uses(tmp_path_factory: pytest.TempPathFactory) -> regexes.Uses:
    """How the code applies its patterns: to read all of it takes seconds."""
    found: regexes.Uses = made_once(tmp_path_factory, "patterns", regexes.applied)
    return found


@pytest.mark.parametrize("part", regexes.parts("kr_core", "kr_plugins"))
def test_a_pattern_reads_its_own_characters_in_linear_time(part: str, uses: regexes.Uses) -> None:
    """Each pattern of the code reads 100 kB of its own characters, openers and repeated parts in linear time."""
    started = time.monotonic()
    slow = [
        text
        for pattern in regexes.patterns_of(part, uses)
        for method in sorted(pattern.methods)
        if time.monotonic() - started < 300 and (text := _slow(pattern, method))
    ]
    assert not slow, "\n".join(slow)


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"([A-Za-z_]\w*)(?=\()|`~?\.?(?:\w+\.)*([A-Za-z_]\w*)(?:\(\))?`|\b([a-z_]\w*)=", "finditer"),
        (r":[\w:+.-]+:`[~!]?([^`<]*?)(?:\s*<[^`>]*>)?`", "finditer"),
        (r"\s+$", "finditer"),
        (r"(?:\s*\d+\s*)+", "fullmatch"),
        (r"(.*?)\s*$", "match"),
        (r"<[^>]+>", "finditer"),
        (
            r"[\[({<]*\s*(?:e\.g\.|NEEDS CLARIFICATION)|[\[({<].*\bNEEDS CLARIFICATION\b.*[\])}>]\W*$",
            "match",
        ),
        (
            r"\b(?:depends?\s+(?:up)?on|after)\b[:\s]*(?P<ids>T\d{1,6}(?:[\s,&]*(?:and|to|-)?\s*T\d{1,6})*)",
            "finditer",
        ),
        (r"~~.+~~\W*", "fullmatch"),
        (r"(?P<name>[a-z]+)\s*(?:\[[^\]]*\])?\s*(?P<range>[^;#@]*)\s*(?P<url>@[^;]*)?", "fullmatch"),
    ],
)
def test_patterns_that_were_slow_would_be_found(pattern: str, method: str) -> None:
    """The check above finds quadratic and worse patterns, those that counted mentions and read roles among them."""
    here = regexes.Pattern("here", regexes.re.compile(pattern), frozenset({method}))
    assert _slow(here, method, tries=1)
