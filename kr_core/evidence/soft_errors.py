"""Failures that arrive as text, dressed as an answer, and the outcome that each means."""

from __future__ import annotations

import re

from kr_core.model import Outcome

__all__ = ["refusal"]

_SHORT = 600
"""Characters; a longer text says something besides."""
_LIMITED = re.compile(
    r"""quota|rate[ -]limit|too\ many\ requests|(?:monthly|daily|usage|request)\ limit|upgrade\ your\ plan|billing
      | spending\ limit|\b429\b""",
    re.IGNORECASE | re.VERBOSE,
)
_BLOCKED = re.compile(
    r"""unauthori[sz]ed|forbidden|access\ denied|permission\ denied|not\ logged\ in|log\ in\ to\ continue|captcha
      | (?:api\ key|token|credentials?)\W++(?:(?:is|are|was|were)\W*+)?(?:invalid|missing|required|expired|wrong)
      | (?:invalid|missing|no|expired|wrong)\ (?:api\ key|token|credentials?)
      | authentication\ (?:failed|required)|\b40[13]\b""",
    re.IGNORECASE | re.VERBOSE,
)
_LATE = re.compile(r"\btimed out\b|\btime-?out (?:exceeded|expired)|\bdeadline exceeded", re.IGNORECASE)
_PENDING = re.compile(
    r"(?:being|still) (?:index|process|buil|prepar|generat)\w+|not (?:yet )?(?:finali[sz]ed|indexed)",
    re.IGNORECASE,
)
_KINDS = (
    (_LIMITED, Outcome.limited),
    (_BLOCKED, Outcome.blocked),
    (_LATE, Outcome.timeout),
    (_PENDING, Outcome.pending),
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_NOTHING = re.compile(
    r"""\s*+\W{0,80}(?:error\W++)?(?:(?:sorry|unfortunately)\W++)?(?:
        (?:no|0|zero)\ (?:\w+\ ){0,3}?(?:results?|matches|hits|documents?|documentation|docs|pages?|entries|answers?
            |information|snippets?|content|libraries|data)
            (?:\s*$|[.!,:;]|\ (?:found|available|exists?|for|about|on|match\w*|(?:was|were|could\ be|is|are)\ (?:found|available))\b)
        | nothing\ (?:was\ |could\ be\ )?found
        | (?:[^\s`]{1,80}\ ){1,8}?(?:(?:was|were|is|are)\ )?(?:not\ found|could\ not\ be\ found|does\ not\ exist)(?:[.!:,;]|\s*$|\ or\b)
        | (?:i|we)\ (?:could\ not|couldn['\u2019]t|cannot|can['\u2019]t|was\ unable\ to|were\ unable\ to|did\ not|didn['\u2019]t)\ (?:find|locate|answer)
        | there\ (?:is|was|are)\ no\ (?:\w+\ )?(?:information|mention|documentation|evidence|reference)
        | the\ (?:\w+\ ){0,3}?(?:code|codebase|code\ base|context|snippets?|documentation|repository|wiki)\ (?:\w+\ ){0,3}?
            (?:does\ not|doesn['\u2019]t|do\ not|don['\u2019]t)\ (?:\w+\ )?(?:contain|include|provide|mention|show|cover)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""How a text begins that says that there is no answer."""


def refusal(text: str, question: str = "", *, is_error: bool = False) -> Outcome | None:
    """The outcome that a refusal means; None for a text that may be an answer.

    Args:
        text: the service's text.
        question: the question; its words are not a sign of a failure.
        is_error: whether the service itself reports a failure. Its text then decides only the kind of failure; even
            "not found" is then a failure, because a setting may be wrong.
    """
    said = text.strip()
    if is_error:
        kinds = (outcome for pattern, outcome in _KINDS if pattern.search(said))
        return next(kinds, Outcome.unavailable)
    if not said:
        return Outcome.empty
    if len(said) > _SHORT:
        return None
    nothing = _NOTHING.match(said)
    first = _SENTENCE_END.split(said, maxsplit=1)[0]
    for pattern, outcome in _KINDS:
        found = pattern.search(first)
        # An answer about rate limits is one, and it shows code.
        if found and "`" not in said and found.group().lower() not in question.lower():
            return Outcome.empty if nothing and outcome is Outcome.pending else outcome
    return Outcome.empty if nothing else None
