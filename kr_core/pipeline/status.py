"""The status of a run, by the first rule that applies (R15); pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.model import Outcome

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
    outcomes = {entry.finding.outcome for entry in chain.consulted if entry.finding is not None}
    if chain.budget_cut:
        return "budget-exhausted"
    if not content:
        return "degraded"
    if chain.run_timeout or Outcome.timeout in outcomes:
        return "timeout"
    if write_failed or outcomes - {Outcome.ok}:
        return "partial"
    return "success"
