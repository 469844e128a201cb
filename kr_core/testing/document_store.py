"""What every document store keeps to (`kr_core.plugin.DocumentStore`)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kr_core.protocols import Document
from kr_core.testing import samples
from kr_core.testing.opened_journal import OpenedJournal, in_threads
from kr_core.testing.second_process import Meeting, change_document

if TYPE_CHECKING:
    from kr_core.testing.opened_journal import OpenJournal

_VERSIONS = 20


class DocumentStoreContract(OpenedJournal):
    """The rules for document stores: version after version, each with its events (`kr_core.plugin.DocumentStore`)."""

    def test_a_document_changes_version_by_version(self, open_journal: OpenJournal) -> None:
        """The latest version, with the events of each change, is there when the journal is opened again."""
        journal = open_journal()
        assert journal.document("letter", "one") is None, "a document that nobody kept gives None"
        first = Document("letter", "one", "open", 1, {"list": [1, 2.5, "three", None, True]})
        second = Document("letter", "one", "closed", 2, {})
        events = samples.events(3, feature="login")
        for document, told in ((first, events[:1]), (second, events[1:])):
            assert journal.change(document, told) is True, (
                f"version {document.version} follows the one that is kept, and `change` did not return True"
            )
            assert journal.document("letter", "one") == document, (
                "the document read is not the version kept last; keep status, version and data together"
            )
        assert journal.document("parcel", "one") is None, (
            "a document of another kind was given; keep kinds apart"
        )
        again = open_journal()
        assert again.document("letter", "one") == second, "a journal opened anew does not have the document"
        assert [event for _number, event in again.read(0, 10)] == events, (
            "the events of the changes are not there once each, in order; append them in the same transaction"
        )

    @pytest.mark.parametrize("version", [1, 2, 4])
    def test_a_change_that_comes_too_late_changes_nothing(
        self, version: int, open_journal: OpenJournal
    ) -> None:
        """If the stored version is not the preceding one, `change` stores nothing and returns False."""
        journal = open_journal()
        kept = [Document("letter", "one", "open", number, {"number": number}) for number in (1, 2)]
        for document in kept:
            journal.change(document)
        late = Document("letter", "one", "late", version, {})
        assert journal.change(late, samples.events(1)) is False, (
            f"version 2 is kept, and a change to version {version} was not refused; return False unless the version that "
            "is kept is `document.version - 1`"
        )
        assert journal.document("letter", "one") == kept[-1], "a change that was refused changed the document"
        assert not journal.read(0, 10), "a change that was refused left its events behind; append none"
        nobody = journal.change(Document("letter", "another", "open", 2, {}))
        assert nobody is False, (
            "version 2 of a document that there is not was kept; what is not there has version 0"
        )

    def test_documents_are_listed(self, open_journal: OpenJournal) -> None:
        """Documents are listed by kind and status, oldest first regardless of changes, with a limit, page by page."""
        journal = open_journal()
        for key in ("b", "a", "c"):
            journal.change(Document("letter", key, "open", 1, {}))
        journal.change(Document("letter", "b", "closed", 2, {}))
        journal.change(Document("parcel", "d", "open", 1, {}))
        lists = [
            [one.key for one in found]
            for found in (
                journal.documents("letter"), journal.documents("letter", "open"), journal.documents("letter", limit=2),
            )
        ]  # fmt: skip
        assert lists == [["b", "a", "c"], ["a", "c"], ["b", "a"]], (
            f"all, the open and two documents of a kind are {lists}; list the oldest first, by when each was new"
        )
        pages = [
            [one.key for one in found]
            for found in (
                journal.documents("letter", after="b", limit=1), journal.documents("letter", "open", after="b"),
                journal.documents("letter", after="c"),
            )
        ]  # fmt: skip
        assert pages == [["a"], ["a", "c"], []], (
            f"one document after `b`, the open ones after it, and all after the last one are {pages}; `after` is a key, and what "
            "was new after it comes next, whatever its own status is"
        )

    def test_versions_are_listed(self, open_journal: OpenJournal) -> None:
        """`versions` lists the key, status and version of each document of a kind, oldest first."""
        journal = open_journal()
        for key in ("b", "a"):
            journal.change(Document("letter", key, "open", 1, {}))
        journal.change(Document("letter", "b", "closed", 2, {}))
        journal.change(Document("parcel", "d", "open", 1, {}))
        versions = [tuple(one) for one in journal.versions("letter")]
        assert versions == [("b", "closed", 2), ("a", "open", 1)], (
            f"the versions of a kind are {versions}; give (key, status, version) of each, in the order in which they were new"
        )

    def test_a_change_survives_the_process(self, project: Path, open_journal: OpenJournal) -> None:
        """If two processes make the same version at once, one succeeds; its version survives its process."""
        journal, meeting = open_journal(), str(project.parent / "meeting")
        with self._second_process(
            project, "change_document", by="theirs", versions=_VERSIONS, meeting=meeting, seat=1
        ) as process:
            Meeting(Path(meeting), 0)
            process.go()
            made = {
                "mine": change_document(journal, "mine", _VERSIONS, meeting, 0),
                "theirs": process.result(),
            }
        versions = sorted(chain.from_iterable(made.values()))
        assert versions == list(range(1, _VERSIONS + 1)), (
            f"two processes tried to make {_VERSIONS} versions, each at once, and {versions} were made; exactly one "
            "makes each: compare and set the version in one transaction, or under one lock on the file"
        )
        last = open_journal().document("contest", "one")
        assert last is not None, "the document is not there after the other process ended"
        assert last.version == _VERSIONS, f"version {_VERSIONS} was made, and {last.version} is kept"
        assert _VERSIONS in made[last.data["by"]], "the document is not the one of who made its version"
        events = [(event.data["feature_id"], event.run) for _number, event in journal.entries()]
        wanted = [
            (f"version {version}", by)
            for version in versions
            for by, theirs in made.items()
            if version in theirs
        ]
        assert events == wanted, (
            f"{len(wanted)} changes were made, and the record has {len(events)} events of them, or others; append a "
            "change's events in its transaction, durable on return, and none of one that was refused"
        )

    def test_threads_change_a_document(self, open_journal: OpenJournal) -> None:
        """If several threads make the same version at once, one succeeds."""
        journal = open_journal()
        made = in_threads(
            lambda _thread, number: journal.change(Document("letter", "one", "open", number + 1, {})),
            _VERSIONS,
        )
        assert made == _VERSIONS, (
            f"four threads made {_VERSIONS} versions of a document {made} times; compare and set the version under one "
            "lock, or in one transaction"
        )
