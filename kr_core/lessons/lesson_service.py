"""The lessons of one project: read, handed to an agent, and written down."""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.errors import ConfigError, StorageError
from kr_core.files import lock, read_bytes, write_atomically
from kr_core.knowledge.ids import inside
from kr_core.lessons import selection
from kr_core.lessons.file import (
    LessonsFile,
    canonical_path,
    canonical_summary,
    holds_reference,
    is_date,
    line_of,
    parse,
    same_words,
)
from kr_core.lessons.lesson_requests import for_phase, lessons_from_mapping, phase_of
from kr_core.model import Fault
from kr_core.model.lessons import PHASES, Lesson, LessonsRequest, LessonsResult, LessonsResults
from kr_core.model.research import DISABLED
from kr_core.research.request_form import InvalidRequest
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from kr_core.config import Config

FILE = "lessons/_lessons-learned.md"
"""Where the lessons lie in the knowledge base."""

_TITLE = "# Lessons Learned\n"
_LARGEST = 20_000_000
"""Bytes of the file: some 100,000 lessons."""
_MAX_TAG_LENGTH = 60
_NOT_IN_A_TAG = frozenset("[],，")
_LINE_END = re.compile(r"\r\n|\n|\r")


class RecordedLesson(NamedTuple):
    """What became of a lesson that was to be recorded; `added` is False where it was there already."""

    lesson: Lesson
    added: bool
    notes: tuple[str, ...] = ()
    """Why it was not committed, where it should have been."""


class Lessons:
    """The lessons in a project's knowledge base. Reading them writes nothing and calls no service.

    Args:
        config: names the knowledge base and the budget.
        today: the date that a new lesson carries.
    """

    def __init__(self, config: Config, today: Callable[[], date]) -> None:
        self.file: Path = config.knowledge_base / FILE
        self._config = config
        self._today = today

    @property
    def shown(self) -> str:
        """The file's name as messages show it: relative to the project if the file is inside it."""
        root = self._config.root
        return str(self.file.relative_to(root) if root in self.file.parents else self.file)

    def read(self) -> LessonsFile:
        """Read the file; a missing file has no lessons.

        Raises:
            StorageError: it cannot be read.
        """
        return parse(self._text())

    def inject(self, asked: str | Mapping[str, Any] | LessonsRequest, **options: str) -> LessonsResult:
        """Return the lessons of a phase: the newest, then those most relevant to the caller.

        Args:
            asked: a phase, or a request in the published form (L1).
            options: framework, topic, text, story_key, session_id; only with a phase.

        Raises:
            TypeError: options together with a request, or unknown options.
        """
        request = self._requested(asked, options)
        if isinstance(request, InvalidRequest):
            return _refused(request.story_key, request.session_id, phase_of(asked), request.faults)
        if not self._config.settings.knowledge_research.enabled:
            return _refused(request.story_key, request.session_id, request.phase, (DISABLED,))
        try:
            found = self.read()
        except StorageError as error:
            fault = Fault(type="file_read_error", message=f"Failed to read _lessons-learned.md: {error.what}")
            return _refused(request.story_key, request.session_id, request.phase, (fault,))
        return self._result(request, found)

    def _requested(
        self, asked: str | Mapping[str, Any] | LessonsRequest, options: Mapping[str, str]
    ) -> LessonsRequest | InvalidRequest:
        if isinstance(asked, str):
            return for_phase(asked, **options)
        if options:
            raise TypeError(f"{', '.join(options)}: options go with a phase; a request has its own")
        return asked if isinstance(asked, LessonsRequest) else lessons_from_mapping(asked)

    def _result(self, request: LessonsRequest, found: LessonsFile) -> LessonsResult:
        budget = self._config.settings.knowledge_research.lessons_injection_budget
        fitting = selection.of_phase(found.lessons, request.phase)
        about = f"{request.framework} {request.topic} {request.text}"
        chosen = selection.select(fitting, budget, about)
        notes = [*request.notes, *self.conflicts(found)]
        if not fitting:
            notes.append(f"No lessons found for phase '{request.phase}'")
        return LessonsResult(
            status="success" if chosen else "empty",
            story_key=request.story_key,
            session_id=request.session_id,
            results=LessonsResults(
                phase=request.phase,
                total_lessons_found=len(found.lessons),
                phase_filtered_count=len(fitting),
                injected_count=len(chosen),
                injection_block=selection.block(request.phase, chosen),
                notes=tuple(notes),
            ),
        )

    def conflicts(self, found: LessonsFile) -> list[str]:
        """A note for each merge conflict in the file."""
        return [
            f"{self.shown}:{line}: a merge conflict begins here; lessons of both sides count until it is resolved"
            for line in found.conflicts
        ]

    def add(
        self, summary: str, *, phase: str, tags: Sequence[str] = (), ref: str | None = None
    ) -> RecordedLesson:
        """Append a lesson to the file, dated today and durable on return; nothing else in the file changes.

        A lesson with the same words and phase is not recorded twice.

        Args:
            summary: at most two lines of 80 characters, including its reference.
            phase: one of the five.
            tags: further tags.
            ref: where to look, as `src/app.py:12`.

        Raises:
            ConfigError: the lesson cannot be recorded as it is.
            StorageError: the file cannot be read or written; nothing was changed.
        """
        lesson = _lesson(summary, phase, tags, ref, self._today())
        try:
            with lock(
                self._config.knowledge_base
            ):  # the lock of the store, which may be making the same file
                recorded = self._append(lesson, phase)
        except OSError as error:
            raise StorageError(
                error.strerror or str(error),
                where=str(error.filename or self.file),
                hint="make the knowledge base writable; nothing was recorded",
            ) from error
        if not recorded.added:
            return recorded
        from kr_core.git.autocommit import commit_changes

        subject = f"lesson for {phase} - {recorded.lesson.summary}"
        return recorded._replace(notes=commit_changes(self._config, (self._place(),), subject))

    def addition(self, summary: str, *, phase: str, tags: Sequence[str] = ()) -> tuple[Path, str, str]:
        """What `add` would do: the file itself, its text, and its text with the lesson; the same where it is there.

        Raises:
            ConfigError: the lesson cannot be recorded as it is.
            StorageError: the file cannot be read.
        """
        text = self._text()
        return (
            self._place(),
            text,
            self._added(text, _lesson(summary, phase, tags, None, self._today()), phase),
        )

    def _append(self, lesson: Lesson, phase: str) -> RecordedLesson:
        text = self._text()
        known = _known(text, lesson, phase)
        if known is not None:
            return RecordedLesson(known, added=False)
        after = self._added(text, lesson, phase)
        write_atomically(self._place(), after)
        line = len(_LINE_END.findall(after))
        return RecordedLesson(lesson.model_copy(update={"line": line}), added=True)

    @staticmethod
    def _added(text: str, lesson: Lesson, phase: str) -> str:
        if _known(text, lesson, phase) is not None:
            return text
        before = text or _TITLE
        ends = _LINE_END.findall(before)
        end = ends[-1] if ends else "\n"
        gap = "" if before.endswith(("\n", "\r")) else end
        return f"{before}{gap}{line_of(lesson)}{end}"

    def _place(self) -> Path:
        """The file itself, where its name is a link; one that leads out of the knowledge base is not followed.

        Raises:
            StorageError: it leads out.
        """
        place = inside(self._config.knowledge_base, FILE)
        if place is None:
            raise StorageError(
                "is a link that leads out of the knowledge base",
                where=self.shown,
                hint="put the file in its place",
            )
        return place

    def _text(self) -> str:
        """The file's text, byte for byte, with its mark of byte order; empty where there is no file.

        Raises:
            StorageError: it cannot be read.
        """
        place = self._place()
        try:
            raw = read_bytes(place, limit=_LARGEST, within=self._config.knowledge_base)
        except FileNotFoundError:
            return ""
        except OSError as error:
            if error.errno in {errno.EINVAL, errno.EISDIR}:
                raise StorageError(
                    "is no file", where=self.shown, hint="move away what lies there"
                ) from error
            hint = "shorten it" if error.errno == errno.EFBIG else "make the file readable"
            raise StorageError(error.strerror or str(error), where=self.shown, hint=hint) from error
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise StorageError(
                f"line {line} is not UTF-8 text", where=f"{self.shown}:{line}", hint="save the file in UTF-8"
            ) from error


def _known(text: str, lesson: Lesson, phase: str) -> Lesson | None:
    """The lesson of the same phase that has the same words."""
    return next(
        (one for one in parse(text).lessons if phase in one.tags and same_words(one.summary, lesson.summary)),
        None,
    )


def _refused(story_key: str, session_id: str, phase: str, faults: Sequence[Fault]) -> LessonsResult:
    return LessonsResult(
        status="failure",
        story_key=story_key,
        session_id=session_id,
        results=LessonsResults(phase=phase),
        errors=tuple(faults),
    )


def _lesson(summary: str, phase: str, tags: Sequence[str], ref: str | None, today: date) -> Lesson:
    """The lesson as it will be read again, or a ConfigError that says what it cannot be recorded with."""
    if phase not in PHASES:
        raise ConfigError(
            "Invalid phase tag", where=f"phase {phase!r}", hint=f"use one of {', '.join(PHASES)}"
        )
    path = None if ref is None else _path(ref)
    words = _one_line("the lesson", summary)
    if path is None and holds_reference(words):
        raise ConfigError("holds `Ref:`", where="the lesson", hint="give what follows it with --ref")
    lesson = Lesson(
        line=0,
        date=today,
        tags=tuple(dict.fromkeys([phase, *map(_tag, tags)])),
        summary=canonical_summary(words),
        path=path,
    )
    if not lesson.summary:
        raise ConfigError("is empty", where="the lesson", hint="say in a sentence what to do or to avoid")
    lines = max(
        selection.lines_taken(lesson.summary, path), sum(bool(line.strip()) for line in summary.splitlines())
    )
    if lines > selection.LINES:
        raise ConfigError(
            f"takes {lines} lines of {selection.WIDTH} characters with its number and reference; at most {selection.LINES} are handed out",
            where="the lesson",
            hint="say it shorter, and leave the rest to what --ref points at",
        )
    return lesson


def _path(ref: str) -> str:
    path = canonical_path(_one_line("--ref", ref))
    if path is None or holds_reference(path) or len(path) > selection.MAX_PATH_LENGTH:
        raise ConfigError(
            f"is not a place of at most {selection.MAX_PATH_LENGTH} characters",
            where=f"--ref {ref!r}",
            hint="write it as src/app.py:12",
        )
    return path


def _tag(tag: str) -> str:
    word = _one_line("--tag", tag)
    if not word or len(word) > _MAX_TAG_LENGTH or is_date(word) or not _NOT_IN_A_TAG.isdisjoint(word):
        raise ConfigError(
            f"is not a tag of at most {_MAX_TAG_LENGTH} characters",
            where=f"--tag {tag!r}",
            hint="use words without brackets and commas, one --tag for each",
        )
    return word


def _one_line(name: str, text: str) -> str:
    folded = " ".join(text.split())
    if printable(folded) != folded:
        raise ConfigError("holds control characters or is no text", where=name, hint="leave them out")
    return folded
