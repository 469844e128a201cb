"""What agents and humans pasted into questions and replies does not make a look back long."""

from __future__ import annotations

import pytest
from support.regexes import seconds_for

from kr_core.retro.added_context import often_added
from kr_core.retro.logged_questions import AskedQuestion, HumanReply

pytestmark = pytest.mark.req("Z8")
_SECONDS = 20.0


def test_many_phrases_that_come_back_are_compared_in_seconds():
    """Replies that share 20,000 words, each set of replies another, are looked through in seconds; the most frequent phrases are given."""
    questions = []
    for number in range(12):
        told = " ".join(f"word{one}x" for one in range(20_000) if (one * 2654435761 >> 7) & (1 << number))
        reply = HumanReply("correct", told, "ada", None, f"L{number}")
        questions.append(AskedQuestion(f"Q{number}", text="How?", replies=[reply]))
    found = []
    spent = seconds_for(lambda: found.extend(often_added(questions, minimum=2, lift=1.0)), limit=_SECONDS)
    assert spent < _SECONDS
    assert 0 < len(found) <= 500
