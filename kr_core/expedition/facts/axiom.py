"""Axioms made of quotes: the statement as its source has it, with the signal that it came by.

The category of a fact, by rules; the first that fits.

As defined: *safety* is security warnings, data loss, critical caveats; *history* deprecations, breaking changes, migration;
*diagnostics* error messages, troubleshooting, debugging; *compatibility* what works with what, version constraints;
*procedures* step-by-step instructions, workflows; *specifications* the rest: version numbers, signatures, configuration.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from kr_core.evidence.citations import folded, plain
from kr_core.expedition.facts.corroboration import confidence_of
from kr_core.model.expedition import WEIGHTS, Axiom, Signal, id_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Passage
    from kr_core.model.expedition import Category, SignalType

__all__ = ["MEANINGS", "category_of", "id_of", "of_inference", "of_note", "of_quote", "signal_type"]


_CODE_FILES = re.compile(
    r"\.(?:py|pyi|js|mjs|cjs|ts|tsx|jsx|go|rs|java|kt|c|h|cc|cpp|hpp|rb|php|sh|sql|toml|ya?ml|json|ini|cfg|conf|env|tf)"
    r"(?=$|[#:?])",
    re.IGNORECASE,
)


def signal_type(passage: Passage) -> SignalType:
    """What kind of signal a passage is (E3).

    Installed documentation and indexed files are DOCUMENT, and so are official manuals wherever they lie; source code and
    configuration are CODE, but for what they document; other pages are WEB.
    """
    if passage.url.startswith("pkg:"):
        return "CODE" if passage.kind in {"constant", "type"} else "DOCUMENT"
    if urlsplit(passage.url).scheme in {"http", "https"}:
        return "DOCUMENT" if passage.official else "WEB"
    return "CODE" if _CODE_FILES.search(passage.url.partition("#")[0]) else "DOCUMENT"


def of_quote(
    passage: Passage,
    quote: str,
    source: str,
    *,
    statement: str | None = None,
    category: Category | None = None,
) -> Axiom:
    """The axiom that a passage states in these words.

    Args:
        passage: holds the quote.
        quote: its words.
        source: the KR source that found it.
        statement: in other words, where a model has written them; else the quote as it reads.
        category: as a model has said; else by rule.
    """
    said = statement or plain(quote)
    kind = signal_type(passage)
    signal = Signal(
        type=kind,
        source=passage.url,
        weight=WEIGHTS[kind] if passage.official else min(WEIGHTS[kind], WEIGHTS["WEB"]),
        timestamp=passage.fetched_at,
        locator=passage.locate(quote),
        title=passage.title or passage.symbol or "",
        quote=folded(quote),
        version=passage.version,
        dated=passage.dated,
        sha256=passage.sha256,
        found_by=source,
        official=passage.official,
    )
    return _made(said, signal, category)


def of_note(
    statement: str, by: str, when: datetime | None = None, *, kind: Literal["USER", "SESSION"] = "USER"
) -> Axiom:
    """What a person states or corrects, or what was said in a conversation that runs."""
    signal = Signal(
        type=kind,
        source=by,
        weight=WEIGHTS[kind],
        timestamp=when or datetime.now(UTC),
        quote=folded(statement),
        official=kind == "USER",
    )
    return _made(folded(statement), signal, None)


def of_inference(parts: Sequence[Axiom], agent: str) -> Axiom:
    """What a model concluded from several passages, none of which says it alone: each is a part of one inference."""
    signals = tuple(
        signal.model_copy(update={"type": "INFERENCE", "weight": WEIGHTS["INFERENCE"], "found_by": agent})
        for part in parts
        for signal in part.signals
    )
    return parts[0].model_copy(update={"signals": signals, "confidence": confidence_of(signals)})


def _made(statement: str, signal: Signal, category: Category | None) -> Axiom:
    return Axiom(
        statement=statement,
        category=category or category_of(statement),
        confidence=confidence_of((signal,)),
        signals=(signal,),
        created_at=signal.timestamp,
    )


MEANINGS: dict[Category, str] = {
    "specifications": "version numbers, API signatures, configuration schemas",
    "procedures": "step-by-step instructions, workflows, recipes",
    "compatibility": "what works with what, version constraints",
    "diagnostics": "error messages, troubleshooting, debug information",
    "history": "deprecations, breaking changes, migration paths",
    "safety": "security warnings, data loss risks, critical caveats",
}
_RULES: tuple[tuple[Category, re.Pattern[str]], ...] = (
    (
        "safety",
        re.compile(
            r"\b(?:security (?:\w+ ){0,2}(?:risks?|issues?|holes?|warnings?|implications?|reasons?|flaws?|problems?)|insecure|unsafe|vulnerab\w+|attack\w*"
            r"|malicious|untrusted|(?:SQL|code|command|script|header|template|shell|prompt)[- ]injection|CSRF|XSS|SSRF|danger\w*"
            r"|data loss|los(?:e|es|ing) data|corrupt\w*|irreversibl\w+|destructive|leak(?:s|ed|ing)?|deadlock\w*"
            r"|be careful|caution|never (?:use|pass|store|call|share)|do not (?:use|pass|store|call|share))\b",
            re.IGNORECASE,
        ),
    ),
    (
        "history",
        re.compile(
            r"\b(?:deprecat\w+|(?:added|new|changed|removed|introduced|renamed|dropped|available) (?:in|since|from)\b"
            r"|since (?:version )?v?\d|as of (?:version )?v?\d|no longer|formerly|previously|used to be|breaking change"
            r"|migrat\w+|backwards?[- ](?:in)?compatib\w+|in favou?r of|superseded|obsolete|in earlier versions"
            r"|prior to (?:version )?v?\d)",
            re.IGNORECASE,
        ),
    ),
    (
        "diagnostics",
        re.compile(
            r"(?:\b\w+(?:Error|Exception|Warning)\b|\b(?:raises?|raised|throws?|thrown|fails? with|traceback|stack trace"
            r"|error messages?|debug(?:ging)?|troubleshoot\w*|diagnos\w+|exit codes?|status code [45]\d\d)\b)",
            re.IGNORECASE,
        ),
    ),
    (
        "compatibility",
        re.compile(
            r"\b(?:compatib\w+|requires? (?:\w+ ){0,3}(?:version|\d|or (?:later|newer|higher))|depends on"
            r"|works? (?:only )?(?:with|on)|(?:is|are|not|only|un)\s?supported (?:by|on|in|with)|supports? (?:only )?Python"
            r"|(?:version|Python|Node(?:\.js)?|Django) \d[\w.]* (?:or|and) (?:later|newer|higher|above)"
            r"|minimum (?:supported )?version|only (?:available )?on (?:Windows|Linux|macOS|Unix|POSIX)|browsers? support\w*"
            r"|interoperab\w+)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "procedures",
        re.compile(
            r"^(?:`[^`]+`:\s*)?(?:First|Then|Next|Finally|To \w+|Use|Call|Pass|Set|Run|Install|Create|Add|Define|Configure|"
            r"Import|Return|Write|Make sure|Start|Open|Enable|Disable|Instead of)\b"
            r"|\b(?:you can|you should|you need to|you must|step \d|by (?:calling|passing|setting|using)|in order to)\b",
            re.IGNORECASE,
        ),
    ),
)


def category_of(statement: str) -> Category:
    """The category of a statement."""
    return next((category for category, rule in _RULES if rule.search(statement)), "specifications")
