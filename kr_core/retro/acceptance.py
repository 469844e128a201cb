"""Recommendations accepted and taken back: the files written, and both on record.

What is about to be written is noted before and after, as a document of the journal. Of two who accept at once, one is first;
after a crash in between, accepting again finishes what was begun.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.config import trust_store
from kr_core.errors import ConfigError, StorageError
from kr_core.file_edits import FileEdit, check_writable, text_of
from kr_core.files import lock, write_atomically
from kr_core.git.autocommit import commit_changes
from kr_core.model.event import Event, new_id
from kr_core.protocols import Document
from kr_core.retro.changes import PlannedChange, plan
from kr_core.retro.effects import KIND
from kr_core.retro.figures import advised
from kr_core.retro.logged_questions import read_all

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kr_core.config import Config
    from kr_core.lessons.lesson_service import Lessons
    from kr_core.model.retro_report import Recommendation
    from kr_core.protocols import Journal

__all__ = ["Acceptance", "Offer"]

_LARGEST = 20_000_000


class Offer(NamedTuple):
    """A recommendation with what accepting it would write."""

    feature: str
    advice: Recommendation
    change: PlannedChange


class Acceptance:
    """Accepts the recommendations of a project and takes them back.

    Args:
        config: of the project.
        journal: its record.
        lessons: its lessons.
    """

    def __init__(self, config: Config, journal: Journal, lessons: Lessons) -> None:
        self._config = config
        self._journal = journal
        self._lessons = lessons

    def offer(self, name: str, feature: str = "", agent: str | None = None) -> Offer:
        """A recommendation by its id, with what it would change.

        Args:
            name: the id.
            feature: whose retrospective gives it; where it is empty, the only one.
            agent: who a new rule or fallback names.

        Raises:
            ConfigError: there is none, it is accepted already, or KR cannot write it.
            StorageError: the journal or the lessons cannot be read.
        """
        asked = read_all(self._journal, feature)
        found = [
            (of, advice)
            for of, questions in asked.items()
            for advice in advised(self._journal, questions, self._config.settings.retro)
            if advice.id == name
        ]
        if len(found) != 1:
            raise _not_one(name, [of for of, _advice in found])
        of, advice = found[0]
        kept = self._journal.document(KIND, _key(of, name))
        if kept is not None and kept.status == "accepted":
            raise ConfigError(
                "is accepted already", where=name, hint=f"`kr retro revert {name}` takes it back"
            )
        if kept is not None and kept.status == "writing" and self._is_written(kept):
            edits = tuple(self._edit_of(one) for one in kept.data["files"])
            return Offer(of, advice, PlannedChange(kept.data["change"], edits))
        return Offer(of, advice, plan(self._config, self._lessons, advice, asked[of], agent))

    def accept(self, offer: Offer, by: str) -> tuple[str, ...]:
        """Write an offered change, durable and on record on return; returns notes on what was not committed.

        Raises:
            ConfigError: another process was first, or a file is not as it was when the change was made up.
            StorageError: a file or the journal cannot be written; the files are as they were.
        """
        feature, advice, change = offer
        key = _key(feature, advice.id)
        data = {
            "feature": feature,
            "id": advice.id,
            "detector": advice.detector,
            "about": advice.about,
            "change": change.kind,
            "predicted": advice.predicted,
            "evidence": list(advice.evidence),
            "text": advice.text,
            "by": by,
            "files": [self._kept_edit(one) for one in change.edits],
        }
        begun = self._changed(key, "writing", data)
        try:
            written = all(text_of(*self._place(one.path), _LARGEST) == one.after for one in change.edits)
            if not written:
                self._write(change.edits)
        except (ConfigError, StorageError):
            self._journal.change(begun._replace(status="reverted", version=begun.version + 1))
            raise
        event = Event(
            "recommendation.accepted",
            new_id(),
            {
                "feature_id": feature,
                "recommendation": advice.id,
                "detector": advice.detector,
                "change": change.kind,
                "files": [self._shown(one.path) for one in change.edits],
                "evidence": list(advice.evidence),
                "predicted": advice.predicted,
                "by": by,
            },
        )
        done = {**data, "accepted": event.time.isoformat()}
        self._journal.change(Document(KIND, key, "accepted", begun.version + 1, done), [event])
        return self._committed(change, f"accept {advice.id}")

    def undoing(self, name: str, feature: str = "") -> tuple[Document, PlannedChange]:
        """What taking back an accepted recommendation would write.

        Raises:
            ConfigError: it is not accepted, or what it wrote is not there any more.
        """
        kept = [
            one
            for one in self._journal.documents(KIND, "accepted")
            if one.data["id"] == name and feature in {"", one.data["feature"]}
        ]
        if len(kept) != 1:
            raise _not_one(name, [one.data["feature"] for one in kept], "is accepted nowhere")
        edits = tuple(self._undone(kept[0].data, one) for one in kept[0].data["files"])
        for edit in edits:
            check_writable(edit.path)
        return kept[0], PlannedChange(kept[0].data["change"], edits)

    def revert(self, kept: Document, change: PlannedChange, by: str) -> tuple[str, ...]:
        """Take back what was accepted; returns notes on what was not committed.

        Raises:
            ConfigError: another process was first, or a file has changed since.
            StorageError: a file or the journal cannot be written.
        """
        event = Event(
            "recommendation.reverted",
            new_id(),
            {
                "feature_id": kept.data["feature"],
                "recommendation": kept.data["id"],
                "files": [self._shown(one.path) for one in change.edits],
                "by": by,
            },
        )
        self._write(change.edits)
        done = {**kept.data, "reverted": event.time.isoformat()}
        if not self._journal.change(Document(KIND, kept.key, "reverted", kept.version + 1, done), [event]):
            raise _overtaken(kept.data["id"])
        return self._committed(change, f"take back {kept.data['id']}")

    # -- files ----------------------------------------------------------------------------------------------

    def _place(self, path: Path) -> tuple[Path, Path]:
        """The folder that a file must really lie in, and the file."""
        base = self._config.knowledge_base
        return (base if path.is_relative_to(base.resolve()) else self._config.root), path

    def _write(self, edits: Sequence[FileEdit]) -> None:
        """Make all changes or none; what has changed since it was shown is not overwritten."""
        made: list[FileEdit] = []
        try:
            for edit in (one for one in edits if one.before != one.after):
                with lock(_existing(edit.path)):
                    if text_of(*self._place(edit.path), _LARGEST) != edit.before:
                        hint = "nothing was changed; look at the difference again"
                        raise ConfigError(
                            "was changed by someone else meanwhile", where=self._shown(edit.path), hint=hint
                        )
                    _put(edit.path, edit.after)
                made.append(edit)
        except (OSError, ConfigError) as error:
            for edit in reversed(made):
                _put(edit.path, edit.before)
            if isinstance(error, ConfigError):
                raise
            raise StorageError(
                f"cannot be written: {error.strerror or error}",
                where=str(error.filename or ""),
                hint="nothing was changed",
            ) from error
        for edit in edits:
            if edit.path == self._config.file and edit.after is not None:
                trust_store.follow(self._config, sha256(edit.after.encode()).hexdigest())

    def _committed(self, change: PlannedChange, subject: str) -> tuple[str, ...]:
        if change.kind != "lesson":
            return ()
        return commit_changes(self._config, [one.path for one in change.edits], subject)

    def _shown(self, path: Path) -> str:
        return os.path.relpath(path, self._config.root)

    # -- documents ------------------------------------------------------------------------------------------

    def _changed(self, key: str, status: str, data: dict[str, Any]) -> Document:
        kept = self._journal.document(KIND, key)
        version = 1 if kept is None else kept.version + 1
        document = Document(KIND, key, status, version, data)
        if (kept is not None and kept.status == "accepted") or not self._journal.change(document):
            raise _overtaken(data["id"])
        return document

    def _kept_edit(self, edit: FileEdit) -> dict[str, Any]:
        """A change as its place and the lines that differ."""
        before, after = _lines(edit.before), _lines(edit.after)
        start = _alike(before, after)
        end = _alike(before[start:][::-1], after[start:][::-1])
        return {
            "path": self._shown(edit.path),
            "made": edit.before is None,
            "old": before[start : len(before) - end],
            "new": after[start : len(after) - end],
            "sha256": sha256((edit.after or "").encode()).hexdigest(),
        }

    def _is_written(self, kept: Document) -> bool:
        return all(
            sha256((self._edit_of(one).after or "").encode()).hexdigest() == one["sha256"]
            for one in kept.data["files"]
        )

    def _edit_of(self, kept: dict[str, Any]) -> FileEdit:
        """A change that may be made already, with what the file holds now."""
        path = self._config.root / kept["path"]
        now = text_of(*self._place(path), _LARGEST)
        return FileEdit(path, None if kept["made"] else self._without(kept, now), now)

    def _undone(self, of: dict[str, Any], kept: dict[str, Any]) -> FileEdit:
        path = self._config.root / kept["path"]
        now = text_of(*self._place(path), _LARGEST)
        without = self._without(kept, now)
        if without is None and of["change"] != "configuration" and of["id"] not in (now or ""):
            return FileEdit(path, now, now)  # a person has taken it out
        if without is None:
            raise ConfigError(
                "has changed so that what was added is not there, or there twice",
                where=kept["path"],
                hint="take these lines out yourself: " + " ".join("".join(kept["new"]).split())[:200],
            )
        whole = kept["made"] and sha256((now or "").encode()).hexdigest() == kept["sha256"]
        return FileEdit(path, now, None if whole else without)

    @staticmethod
    def _without(kept: dict[str, Any], now: str | None) -> str | None:
        """The text with the old lines in place of the new ones; None where these are not there exactly once."""
        lines, new = _lines(now), kept["new"]
        places = [at for at in range(len(lines) - len(new) + 1) if new and lines[at : at + len(new)] == new]
        if len(places) != 1:
            return None
        at = places[0]
        return "".join([*lines[:at], *kept["old"], *lines[at + len(new) :]])


def _lines(text: str | None) -> list[str]:
    return (text or "").splitlines(keepends=True)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are the same from the beginning on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (line, same) in pairs if line != same), min(len(one), len(other)))


def _existing(path: Path) -> Path:
    """The nearest folder of a file that is there."""
    return next(above for above in path.resolve().parents if above.is_dir())


def _put(path: Path, text: str | None) -> None:
    if text is None:
        path.resolve().unlink()
    else:
        write_atomically(path.resolve(), text)  # a link stays one


def _key(feature: str, name: str) -> str:
    return f"{feature}/{name}"


def _overtaken(name: str) -> ConfigError:
    return ConfigError("was changed by someone else meanwhile", where=name, hint="look at it again")


def _not_one(
    name: str, features: Sequence[str], none: str = "no retrospective has this finding"
) -> ConfigError:
    if not features:
        return ConfigError(none, where=name, hint="`kr retro FEATURE` lists the ids of what it recommends")
    listed = ", ".join(features[:5])
    return ConfigError(f"several features have it: {listed}", where=name, hint="name one with `--feature`")
