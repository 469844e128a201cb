"""What the status of an answer means, whoever gives it."""

from __future__ import annotations

from kr_core.model import Outcome

REFUSED = {
    401: Outcome.blocked,
    402: Outcome.limited,
    403: Outcome.blocked,
    429: Outcome.limited,
}
"""Outcomes by HTTP status; what else a status means depends on what was asked."""
