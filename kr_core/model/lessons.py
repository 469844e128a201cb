"""Lessons, and requests for them, in the shapes that other programs depend on."""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

from kr_core.model.base import Value
from kr_core.model.research import Fault

PHASES = ("story-creation", "story-review", "dev-execution", "code-review", "e2e-inspection")
"""The phases that lessons are handed out for; each is a tag of its lessons."""


class Lesson(Value):
    """A lesson of a project: what went wrong once, and where to look.

    `line` is the line on which it begins in its file, from 1. `tags` are as written, including phase and story;
    `summary` is one line. `date` is None if the lesson has no date, or not a valid one.
    """

    line: int
    date: dt.date | None = None
    tags: tuple[str, ...] = ()
    summary: str
    path: str | None = None


class LessonsRequest(Value):
    """A validated request for the lessons of a phase.

    `framework`, `topic` and `text` are what the caller is about; lessons of one day are ranked by them. `notes` tell
    what was not understood and left out.
    """

    story_key: str
    session_id: str
    phase: str
    framework: str = ""
    topic: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()


class LessonsResults(Value):
    """The body of a result; all its keys are always there."""

    phase: str = ""
    total_lessons_found: int = 0
    phase_filtered_count: int = 0
    injected_count: int = 0
    injection_block: str = ""
    notes: tuple[str, ...] = ()


class LessonsResult(Value):
    """The result of every request for lessons."""

    status: Literal["success", "empty", "failure"]
    story_key: str
    mode: Literal["lessons-inject"] = "lessons-inject"
    session_id: str
    results: LessonsResults = LessonsResults()
    errors: tuple[Fault, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values in the order of the published schema."""
        return self.model_dump(mode="json")
