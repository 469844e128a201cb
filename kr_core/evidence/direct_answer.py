"""The first sentence of an answer, in the kind of the question, where one is certain; else none.

A sentence made by rule holds a value, never advice: what to do with it the documentation says.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.evidence.answer_sentence import LONG_VALUE, DirectAnswer, Quote
from kr_core.evidence.asked_words import first_parameter, named_parameters
from kr_core.evidence.citations import folded
from kr_core.evidence.default_answer import default_answer, default_described, told_by_callable
from kr_core.evidence.difference_answer import difference_answer, subjects
from kr_core.evidence.options_answer import options_answer
from kr_core.evidence.raised_errors import raised_answer
from kr_core.evidence.yes_no_answer import yes_no_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_ASKS_RAISED = re.compile(
    r"\bwhat happens (?:if|when)\b|\b(?:what|which) (?:\w+ )?(?:errors?|exceptions?)\b.{0,60}\b(?:raise[sd]?|throws?)\b|\bwhen (?:does|will|do)\b.{1,60}\b(?:raise|throw|fail)\b"
    r"|\b(?:does|will|do)\b.{1,60}\b(?:raise|throw) (?:an? )?(?:\w+ )?(?:error|exception)|\bwhat does .{1,60}\b(?:raise|throw|do (?:if|when))\b",
    re.IGNORECASE,
)
_ASKS_REQUIRED = re.compile(
    r"\b(?:is|are)\b.{1,80}\b(?:required|mandatory|optional)\b|\b(?:must (?:I|you|we)|do (?:I|you|we) (?:have|need) to) (?:give|pass|set)\b",
    re.IGNORECASE,
)
_ASKS_RETURNED = re.compile(
    r"\bwhat (?:type )?(?:does|do|will|is) [^?]{1,80} return(?:ed by [^?]{1,80})?[\s?.]*+$|\breturn type\b",
    re.IGNORECASE,
)
_SWITCHES = re.compile(r"(?:whether|(?:if|when) (?:true|set|given|enabled|false)|should)\b", re.IGNORECASE)
_OF_SWITCH = 0.35
"""The share of a yes/no question that the documentation of a switch must say."""
_MOST_LISTED = 30
_LONGEST = 300
"""Characters of a field; one that people write has a third."""
_MICROS = 60
"""No minor version of Python had as many releases."""
_VERSION = re.compile(r"\bpython (?:version\s)?v?(\d+(?:\.\d+){0,2})\b", re.IGNORECASE)
_EXTRA = re.compile(r"\bextra\s*+==")
_ASKS = re.compile(
    r"\b(?:supports?|works?|runs?|needs?|requires?|compatible|installs?|use|available|minimum|lowest|oldest|which|what)\b"
    r".{0,80}\b(?P<python>python (?:version\s)?v?\d[\d.]*|python versions?|versions? of python)\b|\b(?:minimum|lowest|oldest) (?P<least>python)\b"
    r"|\b(?:which|what)\b.{0,40}\b(?P<extras>extras|optional dependencies)\b"
    r"|\b(?:which|what) (?P<needed>packages|dependencies|distributions|libraries)\b.{1,60}\b(?:depend|need|require|install)",
    re.IGNORECASE,
)


def direct_answer(
    asked: AskedWords, passages: Sequence[Passage], support: Sequence[Passage]
) -> DirectAnswer | None:
    """The sentence that answers in the question's kind; None where none is certain.

    Args:
        asked: what the question asks for.
        passages: those that answer, the best first.
        support: what explains them.
    """
    if not passages:
        return None
    known = [*passages, *support]
    if passages[0].what == "requirements":
        return _stated(asked, passages[0])
    if asked.asks("default") or (passages[0].parameter and _ASKS_REQUIRED.search(asked.parsed.asking)):
        only = passages[0].parameter if len(passages) == 1 and passages[0].pinned else None
        named = [*first_parameter(passages[0], known), *named_parameters(asked, known)]
        found = default_answer(asked, named, known, only) or default_described(asked, known)
        if found is not None:
            return found
        told = told_by_callable(asked, passages[0])
        if told is not None:
            return told
    if _ASKS_RAISED.search(asked.parsed.asking) and passages[0].pinned:
        raised = raised_answer(asked, passages[0])
        if raised is not None:
            return raised
    first = passages[0]
    if _ASKS_RETURNED.search(asked.parsed.asking) and first.pinned and first.what == "function":
        return _returned(first)
    if asked.asks("options"):
        return options_answer(asked, known)
    if asked.asks("difference"):
        return difference_answer(asked, subjects(asked, passages))
    if asked.asks("yes_no"):
        return yes_no_answer(asked, first, known) or _switched(asked, first, known)
    return None


def _switched(asked: AskedWords, first: Passage, known: Sequence[Passage]) -> DirectAnswer | None:
    """The default of the parameter that switches what a yes/no question asks about: "Whether to override ..."."""
    is_switch = first.parameter and first.pinned and first.default in {"True", "False"}
    if not is_switch or not _SWITCHES.match(first.lead) or asked.share(first.lead) < _OF_SWITCH:
        return None
    return default_answer(asked, first_parameter(first, known), known, first.parameter)


def _stated(asked: AskedWords, metadata: Passage) -> DirectAnswer | None:
    """The field of a package's metadata that answers."""
    stated = requirement(asked, metadata)
    if stated is None:
        return None
    text, quotes, slots = stated
    return DirectAnswer(text, tuple(Quote(metadata, one) for one in quotes), tuple(slots), tuple(quotes))


def _returned(first: Passage) -> DirectAnswer | None:
    """What a callable is declared to return."""
    declared = first.returns or ""
    if first.parameter or not first.symbol or not declared or len(declared) > LONG_VALUE:
        return None
    text = f"`{first.symbol}` returns `{folded(declared)}`."
    return DirectAnswer(text, (Quote(first, declared),), (first.symbol, declared))


def metadata_field(asking: str) -> str:
    """The field of the metadata that answers a question; empty where none does.

    Args:
        asking: the sentences that ask.
    """
    asks = _ASKS.search(asking)
    if asks is None:
        return ""
    if asks["python"] or asks["least"]:
        return "Requires-Python"
    return "Provides-Extra" if asks["extras"] else "Requires-Dist"


def requirement(asked: AskedWords, passage: Passage) -> tuple[str, list[str], list[str]] | None:
    """The sentence that answers, the lines that it quotes, and its parts that are verbatim in them.

    Args:
        asked: the question.
        passage: lines of METADATA, as the core metadata specification has them.
    """
    field = metadata_field(asked.parsed.asking)
    lines = [line.partition(": ") for line in passage.text.split("\n")]
    values = [
        value
        for name, _colon, value in lines
        if name == field and len(value) <= _LONGEST and "`" not in value
    ]
    if field == "Requires-Dist":
        values = [value for value in values if not _EXTRA.search(value)]
    if not values:
        return None
    if field != "Requires-Python":
        shown = values[:_MOST_LISTED]
        text = f"`{field}`: {', '.join(f'`{value}`' for value in shown)}."
        return text, [f"{field}: {value}" for value in shown], [field, *shown]
    verdict = _supports(values[0], _VERSION.search(asked.parsed.asking))
    text = f"{verdict}`{field}` is `{values[0]}`."
    return text, [f"{field}: {values[0]}"], [field, values[0]]


def _supports(given: str, asked: re.Match[str] | None) -> str:
    """`Yes: ` or `No: `, where all releases of the version that is asked about are admitted, or none."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    if asked is None or asked[1].count(".") < 1:
        return ""
    releases = [asked[1]] if asked[1].count(".") > 1 else [f"{asked[1]}.{micro}" for micro in range(_MICROS)]
    try:
        admitted = SpecifierSet(given)
        found = [admitted.contains(release, prereleases=True) for release in releases]
    except InvalidSpecifier:
        return ""
    return "Yes: " if all(found) else "" if any(found) else "No: "
