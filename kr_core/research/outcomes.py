"""What came of a call: a source's answer if it is one, else the outcome that says why there is none."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from kr_core.errors import KRError, RequestError
from kr_core.evidence.coverage import measured
from kr_core.evidence.soft_errors import refusal
from kr_core.model import Finding, Outcome
from kr_core.net.reasons import is_of_httpx, said, short
from kr_core.plugin_calls import fault_line
from kr_core.terminal_text import cleaned

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from kr_core.model import Passage
    from kr_core.net.source_context import ConsultationContext

ABSOLUTE = re.compile(r"\s*(?:/|~/|\\\\|[A-Za-z]:[\\/]|file:/|file:~|file:[A-Za-z]:)", re.IGNORECASE)


def outcome_of(
    task: asyncio.Task[Any],
    context: ConsultationContext,
    elapsed: float,
    question: str,
    package: str = "",
    *,
    external: bool,
) -> Finding:
    """What became of a call that ended by itself; a fault in the source's package has its file and line."""
    if task.cancelled():
        return Finding(outcome=Outcome.unavailable, reason="the source cancelled itself")
    error = task.exception()
    if error is None:
        finding = _checked(task.result(), question, external=external)
        return finding if context.reached else finding.model_copy(update={"reached": False})
    reached = context.reached if context.tried else not _is_refusal(error)
    if isinstance(error, TimeoutError) or is_of_httpx(error, "TimeoutException"):
        return Finding(outcome=Outcome.timeout, reason=timeout(elapsed), reached=reached)
    if isinstance(error, RequestError):
        return Finding(outcome=_of(error), reason=said(error), reached=reached)
    limited = _is_rate(error)
    foreseen = isinstance(error, KRError) or is_of_httpx(error, "TransportError")
    reason = said(error) if foreseen else short(fault_line(error, package))
    return Finding(
        outcome=Outcome.limited if limited else Outcome.unavailable, reason=reason, reached=reached
    )


def _of(error: RequestError) -> Outcome:
    """The outcome that an error names; an answer it is not."""
    named = {outcome.value: outcome for outcome in Outcome if outcome is not Outcome.ok}
    return named.get(error.outcome, Outcome.unavailable)


def _is_refusal(error: BaseException | None) -> bool:
    """Whether an error, or what it was raised from, says that no connection came about."""
    while error is not None:
        no_connection = is_of_httpx(error, "ConnectError") or is_of_httpx(error, "ConnectTimeout")
        if isinstance(error, ConnectionRefusedError) or no_connection:
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_rate(error: BaseException) -> bool:
    """Whether it is KR's own rate limit that left no turn."""
    line = sys.modules.get("kr_core.net.gateway")
    return line is not None and isinstance(error, line.RateReached)


def _checked(answer: Any, question: str, *, external: bool) -> Finding:
    """A source's answer, if it is one: of the right types, printable, with citations that others can follow."""
    if not isinstance(answer, Finding):
        return _bad(f"returned {type(answer).__name__}, not a Finding")
    try:
        finding = Finding.model_validate(cleaned(answer.model_dump(warnings=False)))
    except Exception as error:  # made without validation, it may hold anything
        return _bad(f"returned a Finding with wrong values: {fault_line(error)}")
    if finding.outcome is not Outcome.ok:
        url = None if ABSOLUTE.match(finding.url or "") else finding.url
        # a failure is never an answer
        return finding.model_copy(update={"passages": (), "support": (), "url": url})
    passages = [passage for passage in finding.passages if passage.text.strip()]
    if not passages:
        reason = finding.reason or "no passages"
        return finding.model_copy(
            update={"outcome": Outcome.empty, "passages": (), "support": (), "reason": reason}
        )
    cited = [finding.url or "", *(passage.url for passage in (*passages, *finding.support))]
    cited += [passage.locator for passage in (*passages, *finding.support)]
    if any(map(ABSOLUTE.match, cited)):
        return _bad("absolute path in a citation")
    if external and (refused := _refused(passages, question)):
        outcome, reason = refused
        return finding.model_copy(
            update={"outcome": outcome, "passages": (), "support": (), "reason": reason}
        )
    rated = tuple(measured(_bounded(passage), question) for passage in passages)
    return finding.model_copy(update={"passages": rated, "support": tuple(map(_bounded, finding.support))})


def _bad(reason: str) -> Finding:
    return Finding(outcome=Outcome.bad_answer, reason=short(reason))


def _bounded(passage: Passage) -> Passage:
    """A passage whose coverage is a share; what is no number is none."""
    coverage = passage.coverage
    if 0.0 <= coverage <= 1.0:
        return passage
    return passage.model_copy(update={"coverage": 1.0 if coverage > 1.0 else 0.0})


def _refused(passages: Sequence[Passage], question: str) -> tuple[Outcome, str] | None:
    """What a service said in place of an answer, and of which kind that is; None where it answered: with code, say."""
    if any(passage.code for passage in passages):
        return None
    text = " ".join(passage.text for passage in passages)
    outcome = refusal(text, question)
    return None if outcome is None else (outcome, short(text))


def timeout(seconds: float) -> str:
    return f"timeout after {round(seconds, 2 if seconds < 0.5 else 1):g} s"
