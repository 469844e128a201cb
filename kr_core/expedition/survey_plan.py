"""What a survey asks for: its kind, and the words that name its subject once those are gone that only ask.

The subjects themselves are found by the sources, in the structure of what they have; here they are read from what came.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from kr_core.model.research import SurveyKind, SurveyPlan
from kr_core.project.package_names import normalise
from kr_core.question.parsed_question import parse_question
from kr_core.text import STOP_WORDS, content_words, is_weak

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Passage

__all__ = [
    "OF_SUBJECT",
    "compared_with",
    "names_subject",
    "plan_of",
    "short_name",
    "without_libraries",
]

_CHANGES = re.compile(
    r"\bwhat(?:'s| is| has| have| was| were)? (?:been )?(?:changed|new|added|removed|deprecated|different)\b|\bchange(?:s|d|log)\b"
    r"|\b(?:migrat|upgrad|deprecat)\w*|\bbreaking\b|\brelease notes\b|\bsince (?:version )?v?\d",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"\b(?:dangers?|dangerous|risks?|risky|pitfalls?|gotchas?|limits?|limitations?|restrictions?|caveats?|warnings?|unsafe|insecure|traps?"
    r"|careful|watch out|go(?:es)? wrong|vulnerab\w+|attacks?|not (?:be )?(?:safe|supported|allowed|possible))\b",
    re.IGNORECASE,
)
_COMPARISON = re.compile(
    r"\b(?:compar\w+|versus|vs|differ(?:s|ent from|ences?)?|distinguish\w*|trade-?offs?)\b", re.IGNORECASE
)
_TOGETHER = re.compile(
    r"\b(?:together|interact\w*|(?:how|are|is) .{1,40}? related|relate to|fit|combine[ds]?|integrat\w+|interplay|connect\w* to each other)\b",
    re.IGNORECASE,
)
_OPTIONS = re.compile(
    r"\b(?:which|what)\b.{1,80}?\b(?:are there|is there|offers?|provides?|supports?|ha(?:s|ve)|comes?|exist|available|can|ships?|includes?"
    r"|accepts?|takes?)\b|\b(?:ways|kinds|sorts|types|alternatives|choices|strategies|overview|list) (?:of|to|in|for|are)\b",
    re.IGNORECASE,
)
_FRAMES = frozenset(
    """way ways kind kinds sort sorts different various possible available main there each right wrong best good better work works working
    together fit fits interact interacts relate relates related combine combines combined differ differs difference differences compare
    compares compared comparison versus vs between choose choosing pick prefer offer offers offered provide provides provided support
    supports supported have has having come comes exist exists give gives given use uses used using need needs needed enable enabled change
    changes changed new danger dangers dangerous risk risks pitfall pitfalls gotcha gotchas limit limits limitation limitations caveat
    caveats warning warnings unsafe safe insecure careful apply applies applied run runs do does done make makes made get gets appropriate
    suitable suited overview list explain describe tell know available built-in builtin mean means happen happens everything anything
    something version versions release releases recent since introduced deprecated removed added library package python matter matters
    trade-off trade-offs tradeoff tradeoffs instead rather must cannot could would should may might want wants ship ships accept accepts
    object objects single others other another say says mean means suit suits two three call calls calling
    function functions derive wrote write writing own one many thing things case cases question serve serves whole part parts role roles play plays go goes set sets""".split()
)
"""Verbs and frames of questions: what is done with the things that a survey is about, and no such thing."""
_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+)+(?:[a-z]\w*)?(?![\w.]*\w)")
_MAJOR = re.compile(r"(?<![\w.-])v?(\d{1,2})(?![\w.-]*\w)")
"""A whole number in a question about changes: `between marshmallow 3 and 4`."""
_JOINING = frozenset("or and vs versus against with to".split())
_FEW = 2
"""Words that name no aspect in which libraries are compared."""
OF_SUBJECT = 0.3
"""The coverage of a passage at most that was found for one subject alone."""
_WORD = re.compile(r"[\w.+/#'-]+")


@lru_cache(maxsize=64)
def plan_of(question: str) -> SurveyPlan:
    """What a survey asks for; pure."""
    parsed = parse_question(question)
    asking = parsed.asking
    kind = _kind(asking, parsed.kinds, parsed.versions)
    versions = tuple(version.lstrip("v") for version in _VERSION.findall(asking))
    if kind == "changes":
        versions += tuple(_MAJOR.findall(_VERSION.sub(" ", asking)))
        asking = _MAJOR.sub(" ", asking)
    return SurveyPlan(kind=kind, about=_about(asking), versions=versions)


def compared_with(question: str, named: Sequence[str]) -> list[str]:
    """What a question sets beside a library that it names, be it an everyday word: `requests` in "httpx or requests"."""
    said = [normalise(word.strip(".,'-")) for word in _WORD.findall(question)]
    beside = [
        said[place + 2 * step]
        for place, word in enumerate(said)
        for step in (1, -1)
        if word in named and 0 <= place + 2 * step < len(said) and said[place + step] in _JOINING
    ]
    return [
        word
        for word in dict.fromkeys(beside)
        if word not in named and word not in _FRAMES and word not in STOP_WORDS
    ]


def without_libraries(plan: SurveyPlan, libraries: Sequence[str]) -> SurveyPlan:
    """A plan whose subject names none of some libraries; one that compares libraries as a whole has no other subject."""
    names = {normalise(name) for name in libraries}
    left = [word for word in plan.about.split() if normalise(word) not in names]
    whole = plan.kind == "comparison" and len(names) > 1 and len(left) < _FEW
    return plan.model_copy(update={"about": "" if whole else " ".join(left) or plan.about})


def short_name(title: str, parts: int = 1) -> str:
    """What a subject is called among others: `joinedload` of `sqlalchemy.orm.Load.joinedload`, a section's own heading.

    Args:
        title: of its passage.
        parts: how many of the last parts of its name.
    """
    for step in (" § ", " / "):
        if step in title:
            last = ", ".join(title.split(step)[-parts:])
            return f"{last}`" if last.count("`") % 2 else last
    head, bracket, parameter = title.partition("(")
    last = ".".join(head.split(".")[-parts:]) if " " not in head else head
    return f"{last}({parameter}" if bracket else last


def names_subject(passage: Passage, subject: str) -> bool:
    """Whether a passage is about a subject: its title has the subject's name, or its text has it as a name or a call."""
    name = re.escape(short_name(subject).partition("(")[0])
    if re.search(rf"(?<![\w]){name}(?!\w)", f"{passage.title} {passage.symbol or ''}"):
        return True
    is_plain = re.fullmatch(r"[A-Z]?[a-z]+", name) is not None
    form = rf"`(?:[\w.~]+\.)?{name}`|(?<!\w){name}\(" if is_plain else rf"(?<!\w){name}(?!\w)"
    return re.search(form, passage.text) is not None


def _kind(asking: str, kinds: tuple[str, ...], versions: tuple[str, ...]) -> SurveyKind:
    if _CHANGES.search(asking) and (versions or not _COMPARISON.search(asking)):
        return "changes"
    if _LIMITS.search(asking):
        return "limits"
    if _COMPARISON.search(asking) or "difference" in kinds:
        return "comparison"
    if _OPTIONS.search(asking) or "options" in kinds:
        return "options"
    return "together" if _TOGETHER.search(asking) else "workings"


def _about(asking: str) -> str:
    """The words that name the subject, as they stand; all telling ones where nothing else is left."""
    words = [word.strip(".,'-") for word in _WORD.findall(_VERSION.sub(" ", asking))]
    telling = [word for word in words if word and word.lower() not in STOP_WORDS and content_words(word)]
    named = [word for word in telling if word.lower() not in _FRAMES]
    strong = [word for word in named if not is_weak(word.lower())]
    return " ".join(strong or named or telling)
