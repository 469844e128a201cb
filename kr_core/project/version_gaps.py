"""Versions as people and lock files write them, and whether two of them are too far apart."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

Gap = Literal["major", "minor"]
VersionMatch = Literal["auto", "major"]

_NUMBERS = r"(?:(?P<epoch>[0-9]{1,9})!)?v?(?P<release>[0-9]{1,9}(?:\.(?:[0-9]{1,9}|[xX*](?![\w])))*)"
_TAIL = r"(?P<open>\+(?![\w]))?(?:(?:[-_.+]?(?:a|b|c|rc|alpha|beta|pre|preview|dev|post|final)[-_.]?[0-9]*)|[-_.+][\w.+-]*)?(?![\w])"
_CLAUSE = re.compile(
    rf"(?:(?P<operator>\^|~=|~>|~|===?|=|>=|<=|!=|>|<|≥|≤)\s*+)?(?<![\w.!]){_NUMBERS}{_TAIL}", re.IGNORECASE
)
_BOUND = r"\s*+((?:v?[0-9][\w.+-]*+)?+)\s*+"
_INTERVAL = re.compile(rf"([\[\](]){_BOUND}(?:(,){_BOUND})?([\])\[])")
_INTERVALS = re.compile(rf"\s*{_INTERVAL.pattern}(?:\s*,\s*{_INTERVAL.pattern})*\s*")
_MAX_INTERVALS_LENGTH = 200
_HYPHEN_RANGE = re.compile(r"(?<=[0-9xX*])\s+-\s+(?=[0-9v])")


class Loose(NamedTuple):
    """What a version, or a range of them, says for certain.

    `major` is (epoch, major number), with the minor number as a third for `0.y`, where it counts as the major;
    None where nothing is known. `minor` is None where the text leaves it open.
    """

    major: tuple[int, ...] | None
    minor: int | None


UNKNOWN = Loose(None, None)


class _Clause(NamedTuple):
    operator: str
    epoch: int
    release: tuple[int, ...]
    wild: bool


@lru_cache(maxsize=1024)
def parse(text: str) -> Loose:
    """Read a version or a range loosely; what cannot be read, `latest` included, is unknown.

    A range names the major number of its lower bound, and further numbers only where the upper bound leaves no
    other choice: `~=2.1.0`, `~2.1`, `2.1.x`, `>=2.1,<2.2` and `[2.1,2.2)` name the minor 1, `^2.1`, `>=2.1` and
    `~=2.1` do not. Alternatives (`^1 || ^2`) name what they have in common.
    """
    alternatives = [_range(part) for part in re.split(r"\|\|?", _without_intervals(text))]
    majors = {loose.major for loose in alternatives}
    if len(majors) > 1:
        return UNKNOWN
    minors = {loose.minor for loose in alternatives}
    return Loose(majors.pop(), minors.pop() if len(minors) == 1 else None)


def gap(entry_version: str, version: str, *, mode: VersionMatch = "auto") -> Gap | None:
    """Return the number in which two versions differ, or None if they agree or one is unknown.

    `auto` compares major numbers (for `0.y` the minor counts as the major), then minor numbers if both texts name one.
    `major` compares only major numbers, literally.
    """
    ours, theirs = parse(entry_version), parse(version)
    if ours.major is None or theirs.major is None:
        return None
    depth = 2 if mode == "major" else min(len(ours.major), len(theirs.major))
    if ours.major[:depth] != theirs.major[:depth]:
        return "major"
    if mode == "auto" and None not in {ours.minor, theirs.minor} and ours.minor != theirs.minor:
        return "minor"
    return None


def is_earlier_major(version: str, other: str) -> bool:
    """Whether a version is of an earlier major version than the other; False where either is unknown."""
    return gap(version, other) == "major" and (parse(version).major or ()) < (parse(other).major or ())


def _without_intervals(text: str) -> str:
    """Write the intervals of Maven and Ivy as bounds: `[1.0,2.0)` becomes `>=1.0,<2.0`; several are alternatives."""
    if len(text) > _MAX_INTERVALS_LENGTH or not _INTERVALS.fullmatch(text):
        return text
    alternatives = []
    for opening, low, comma, high, closing in _INTERVAL.findall(text):
        lower = low and (">=" if opening == "[" else ">") + low
        upper = high and ("<=" if closing == "]" else "<") + high
        alternatives.append(",".join(part for part in (lower, upper) if part) if comma else f"=={low}")
    return "||".join(alternatives)


def _range(text: str) -> Loose:
    clauses = [_clause(found) for found in _CLAUSE.finditer(_HYPHEN_RANGE.sub(" <=", text))]
    if clauses and clauses[-1].operator == "<=" and _HYPHEN_RANGE.search(text):
        clauses[0] = clauses[0]._replace(operator=">=")
    for clause in clauses:
        if clause.operator in {"", "=", "==", "===", "^", "~", "~=", "~>"}:
            return _named(clause, _certain(clause))
    lower = max((c for c in clauses if c.operator in {">=", ">", "≥"}), key=_order, default=None)
    if lower is None:
        return UNKNOWN
    upper = min((c for c in clauses if c.operator in {"<", "<=", "≤"}), key=_order, default=None)
    return _named(lower, 1 if upper is None else _agreed(lower, upper))


def _clause(found: re.Match[str]) -> _Clause:
    parts = found["release"].split(".")
    numbers = tuple(int(part) for part in parts if part.isdigit())
    operator = ">=" if found["open"] else found["operator"] or ""  # "17+" is "17 and later"
    return _Clause(operator, int(found["epoch"] or 0), numbers, len(numbers) < len(parts))


def _order(clause: _Clause) -> tuple[int, tuple[int, ...]]:
    return clause.epoch, clause.release


def _certain(clause: _Clause) -> int:
    """How many numbers of a single clause every version that it allows has."""
    count = len(clause.release)
    if clause.operator == "~=" and not clause.wild:
        return max(count - 1, 1)  # PEP 440: the last number may rise
    if clause.operator == "~>":
        return max(count - 1, 1)  # RubyGems: the same
    if clause.operator == "^":
        # npm: what stands left of the first number that is not zero is kept, and that number too.
        leading = next((i for i, number in enumerate(clause.release) if number), count - 1)
        return leading + 1
    return min(count, 2) if clause.operator == "~" else count


def _agreed(lower: _Clause, upper: _Clause) -> int:
    """How many numbers all versions from the lower to the upper bound have in common; at least the major."""
    if lower.epoch != upper.epoch:
        return 1
    low = (*lower.release, 0, 0)[: max(2, len(lower.release))]
    high = (*upper.release, 0, 0)
    for depth in range(min(2, len(lower.release)), 1, -1):
        same = high[:depth] == low[:depth]
        below_next = upper.operator == "<" and high[: depth + 1] == (*low[: depth - 1], low[depth - 1] + 1, 0)
        if same or (below_next and not any(upper.release[depth:])):
            return depth
    return 1


def _named(clause: _Clause, certain: int) -> Loose:
    numbers = clause.release[:certain]
    if not numbers:
        return UNKNOWN
    if numbers[0] == 0:
        return Loose((clause.epoch, *numbers[:2]), None)
    return Loose((clause.epoch, numbers[0]), numbers[1] if len(numbers) > 1 else None)
