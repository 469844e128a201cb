"""The category of a fact, by rules; the first that fits.

As defined: *safety* is security warnings, data loss, critical caveats; *history* deprecations, breaking changes, migration;
*diagnostics* error messages, troubleshooting, debugging; *compatibility* what works with what, version constraints;
*procedures* step-by-step instructions, workflows; *specifications* the rest: version numbers, signatures, configuration.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kr_core.model.expedition import Category

__all__ = ["MEANINGS", "category_of"]

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
            r"\b(?:security|insecure|unsafe|vulnerab\w+|attack\w*|malicious|untrusted|injection|CSRF|XSS|SSRF|danger\w*"
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
