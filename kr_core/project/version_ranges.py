"""Whether a version lies in a range, in the words of each ecosystem.

After the tools' own documents: PEP 440; npm's semver; Cargo's "Specifying Dependencies"; Composer's "Versions and
constraints"; RubyGems' "Patterns". Pre-releases count as what they come before, since only disagreements are told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kr_core.project.lockfiles.pins import Ecosystem

_CLAUSE = re.compile(
    r"\s*+(?:(?P<operator>\^|~>|~=|~|<=|>=|===?|!=|=|<|>)\s*+)?[vV]?(?P<release>(?:\d{1,15}|[xX*])(?:\.(?:\d{1,15}|[xX*])(?!\w))*+)"
    r"(?:[-.+@][\w.+-]*+)?+(?:\s*+(?:,|$|(?=[<>=~^!]))|\s*(?=\s))"
)
_HYPHEN = re.compile(r"(?P<low>[\w.+-]+)\s+-\s+(?P<high>[\w.+-]+)")
_RELEASE = re.compile(r"\s*[vV]?(\d{1,15}(?:\.\d{1,15})*)")
_HIGHEST = (10**16,)


def allows(wanted: str, version: str, ecosystem: Ecosystem) -> bool | None:
    """Tell whether a version lies in a range; None where either cannot be read, such as `latest` or a branch."""
    if ecosystem == "python" and (answer := _pep440(wanted, version)) is not None:
        return answer
    number = _RELEASE.match(version)
    if number is None or ecosystem in {"java", "go"}:
        return None
    release = _numbers(number[1])
    answers = [_alternative(part, release, ecosystem) for part in re.split(r"\|\|?", wanted)]
    if any(answers):
        return True
    return None if None in answers else False


def _pep440(wanted: str, version: str) -> bool | None:
    from packaging.specifiers import SpecifierSet

    try:
        return SpecifierSet(wanted).contains(version.partition("+")[0], prereleases=True)
    except ValueError:  # not of PEP 440, or a number of thousands of digits
        return None


def _alternative(text: str, release: tuple[int, ...], ecosystem: Ecosystem) -> bool | None:
    """Whether a release satisfies all clauses of one alternative."""
    plain = text.strip()
    if hyphen := _HYPHEN.fullmatch(plain):
        plain = f">={hyphen['low']} <={hyphen['high']}"
    position = 0
    holds = True
    while position < len(plain):
        clause = _CLAUSE.match(plain, position)
        if clause is None or clause.end() == position:
            return None
        position = clause.end()
        low, high = _bounds(clause["operator"] or "", clause["release"], ecosystem)
        inside = low <= _padded(release) < high
        holds = holds and inside != (clause["operator"] == "!=")
    return holds


def _bounds(operator: str, text: str, ecosystem: Ecosystem) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lowest release that a clause allows and the lowest above them."""
    parts = text.split(".")
    wild = any(not part.isdigit() for part in parts)
    numbers = tuple(
        int(part) for part in parts[: next((i for i, p in enumerate(parts) if not p.isdigit()), None)]
    )
    low = _padded(numbers)
    if not numbers:
        return (), _HIGHEST
    partial = wild or (len(numbers) < 3 and ecosystem in {"node", "rust"})
    beyond = _next(numbers, len(numbers)) if partial else (*low, 1)
    if operator in {">", ">=", "<", "<="}:
        return {
            ">": (beyond, _HIGHEST), ">=": (low, _HIGHEST), "<": ((), low), "<=": ((), beyond),
        }[operator]  # fmt: skip
    if operator == "^" or (operator == "" and ecosystem == "rust" and not wild):
        leading = next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
        return low, _next(numbers, leading + 1)
    if operator in {"~>", "~="} or (operator == "~" and ecosystem == "php"):
        return low, _next(numbers, max(len(numbers) - 1, 1))
    if operator == "~":
        return low, _next(numbers, min(len(numbers), 2))
    return low, beyond


def _next(numbers: tuple[int, ...], count: int) -> tuple[int, ...]:
    return _padded((*numbers[: count - 1], numbers[count - 1] + 1))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _padded(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return (*numbers, 0, 0, 0, 0)[: max(4, len(numbers))]
