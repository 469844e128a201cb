"""What people said of answers: read from the record, fitted into a map of confidences, and proven in certificates."""

from __future__ import annotations

from kr_core.verdicts.certificates import Certificate, certificate
from kr_core.verdicts.judged import Judged, OpenCheck, Subject, says_right
from kr_core.verdicts.learned import Learned
from kr_core.verdicts.verdict_record import VerdictRecord

__all__ = [
    "Certificate",
    "Judged",
    "Learned",
    "OpenCheck",
    "Subject",
    "VerdictRecord",
    "certificate",
    "says_right",
]
