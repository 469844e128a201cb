"""The status of a run, by the first rule that applies (R15); pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kr_core.model import Status
    from kr_core.pipeline.chain import Chain


def status_of(chain: Chain, *, content: bool, write_failed: bool) -> Status:
    """The status after the chain was walked.

    Args:
        chain: what became of the sources.
        content: whether any source gave content.
        write_failed: whether the report or its entry could not be kept.
    """
    if chain.budget_cut:
        return "budget-exhausted"
    timed_out = chain.run_timeout or any(
        entry.finding is not None and entry.finding.outcome == "timeout" for entry in chain.consulted
    )
    if chain.run_timeout and content:
        return "timeout"
    if not content:
        return "timeout" if chain.run_timeout else "degraded"
    if timed_out:
        return "timeout"
    if write_failed or any(entry.line.status == "unavailable" for entry in chain.consulted):
        return "partial"
    return "success"
