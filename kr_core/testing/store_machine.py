"""A store beside a plain model of it: both do the same, and must hold the same.

Hypothesis chooses what is done, and when something differs, prints the steps that led there.
"""

from __future__ import annotations

import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kr_core.errors import StorageError
from kr_core.model import Entry
from kr_core.testing import samples
from kr_core.testing.checks import raises_nothing
from kr_core.testing.surroundings import DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kr_core.protocols import ChangeResult, Store, WriteResult
    from kr_core.testing.plugin_contract import PluginContract
    from kr_core.testing.second_process import SecondProcess

_SUBJECTS = [
    (framework, topic) for framework in ("parcel", "letter") for topic in ("timeouts", "retries", "logs")
]
_LINES = st.text(st.characters(exclude_categories=["C"]), min_size=1).map(lambda line: f"# {line}\n\nText.\n")
_QUOTES = st.dictionaries(
    st.text(max_size=5), st.lists(st.integers() | st.text(max_size=5), max_size=3), max_size=3
)


class _ModelEntry(NamedTuple):
    """An entry and its report, as the model holds them."""

    entry: Entry
    report: str
    evidence: dict[str, Any]


def _subject(entry: Entry) -> tuple[str, str]:
    return entry.framework, entry.topic


class StoreMachine(RuleBasedStateMachine):
    """The steps that a store may go through.

    Args:
        contract: builds the store.
        elsewhere: starts, once, a process that uses the same knowledge base.
    """

    def __init__(self, contract: PluginContract, elsewhere: Callable[[], SecondProcess]) -> None:
        super().__init__()
        self._contract = contract
        self._elsewhere = elsewhere
        self._folder = tempfile.TemporaryDirectory()
        self._project = Path(self._folder.name) / "project"
        self._model: dict[tuple[str, str], _ModelEntry] = {}
        self._archive: list[_ModelEntry] = []
        self._store: Store

    @initialize()
    def begin(self) -> None:
        """A store in an empty project."""
        self._project.mkdir()
        self._contract.prepare(self._project)
        self.reopen()

    def teardown(self) -> None:
        """Remove the project."""
        self._folder.cleanup()

    # -- steps -------------------------------------------------------------------------------------------

    @rule()
    def reopen(self) -> None:
        """Another program opens the same knowledge base."""
        self._store = self._contract.build(self._project)

    @rule(
        subject=st.sampled_from(_SUBJECTS),
        report=_LINES,
        evidence=_QUOTES,
        version=st.sampled_from(["1.4", "2.0"]),
    )
    def write(self, subject: tuple[str, str], report: str, evidence: dict[str, Any], version: str) -> None:
        """A report is kept, or kept anew."""
        entry = samples.entry(*subject, version=version)
        kept: WriteResult = self._call("write", report, evidence, entry)
        assert kept.entry is not None, (
            "`write` returned no entry for a report that is indexed; return it in `WriteResult`"
        )
        self._is_as_written(kept.entry, entry)
        self._written(subject, _ModelEntry(kept.entry, report, evidence))
        assert kept.index_count == len(self._model), (
            f"`write` said that there are {kept.index_count} entries, and there are {len(self._model)}; an entry whose "
            "id is known is updated in place, not added"
        )
        assert kept.path == kept.entry.path, (
            "`Kept.path` is not the entry's; return the report's path, relative to the knowledge base"
        )

    @rule(subject=st.sampled_from(_SUBJECTS), report=_LINES, evidence=_QUOTES)
    def write_elsewhere(self, subject: tuple[str, str], report: str, evidence: dict[str, Any]) -> None:
        """Another process keeps a report."""
        entry = samples.entry(*subject, version="3.0")
        told = self._elsewhere().ask(
            project=str(self._project), report=report, evidence=evidence, entry=entry.model_dump(mode="json")
        )
        kept = Entry.model_validate(told)
        self._is_as_written(kept, entry)
        self._written(subject, _ModelEntry(kept, report, evidence))

    def _written(self, subject: tuple[str, str], known: _ModelEntry) -> None:
        """A report was kept; an archived one on the same subject stays beside it, or gives way as a whole."""
        self._model[subject] = known
        there = {(one.id, one.path) for one in self._call("archived")}
        for old in [one for one in self._archive if _subject(one.entry) == subject]:
            if (old.entry.id, old.entry.path) not in there:
                self._archive.remove(old)
            else:
                assert old.entry.path != known.entry.path, (
                    f"the report of the archived entry {old.entry.id} was overwritten; give the new one another path, or "
                    "take the old entry out of the archive"
                )

    @rule(subject=st.sampled_from(_SUBJECTS))
    def write_skeleton(self, subject: tuple[str, str]) -> None:
        """A report that is not indexed goes nowhere near one that is there."""
        skeleton, entry = "# skeleton\n", samples.entry(*subject)
        kept: WriteResult = self._call("write", skeleton, {}, entry, index=False)
        assert kept.entry is None, (
            "`write(..., index=False)` returned an entry; it makes none: return Kept(None, ...)"
        )
        assert kept.index_count == len(self._model), (
            f"`write(..., index=False)` said that there are {kept.index_count} entries, and there are "
            f"{len(self._model)}; such a report is not indexed"
        )
        known = self._model.get(subject)
        if known is not None:
            assert self._store.read(known.entry) == (known.report, known.evidence), (
                "`write(..., index=False)` overwrote a report that was there; keep the one that is there"
            )

    @precondition(lambda self: self._model)
    @rule(data=st.data(), days=st.integers(0, 3))
    def touch(self, data: st.DataObject, days: int) -> None:
        """An entry is used."""
        subject = data.draw(st.sampled_from(sorted(self._model)))
        known, day = self._model[subject], DAY + timedelta(days=days)
        count: int = self._call("touch", known.entry, day)
        assert count == len(self._model), (
            f"`touch` returned {count!r}; return the number of entries, {len(self._model)}"
        )
        self._model[subject] = known._replace(entry=known.entry.model_copy(update={"last_accessed": day}))

    @precondition(lambda self: self._model)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        """An entry is dropped whose report is gone; where the store keeps reports as files, it is really gone."""
        subject = data.draw(st.sampled_from(sorted(self._model)))
        entry = self._model[subject].entry
        file = self._project / "knowledge-base" / entry.path
        if file.is_file():
            file.unlink()
            assert self._call("read", entry) is None, "`read` gave a report whose file is gone; return None"
        self._call("drop", entry)
        left = {one.id for one in self._store.entries()}
        is_kept = (
            entry.id in left and self._store.read(entry) is not None
        )  # a store may know that it is not gone
        assert entry.id not in left or is_kept, (
            "`drop` left the entry of a report that is gone; remove it from the index"
        )
        if not is_kept:
            del self._model[subject]

    @rule(data=st.data())
    def mark_stale(self, data: st.DataObject) -> None:
        """Some entries, or none, are marked as stale."""
        subjects, moved = self._chosen(data, "mark_stale")
        for subject in subjects:
            known = self._model[subject]
            self._model[subject] = known._replace(entry=known.entry.model_copy(update={"status": "stale"}))
        self._told(moved, [self._model[subject].entry for subject in self._model if subject in subjects])

    @rule(data=st.data())
    def archive(self, data: st.DataObject) -> None:
        """Some entries, or none, are moved to the archive."""
        subjects, moved = self._chosen(data, "archive")
        gone = [self._model.pop(subject) for subject in list(self._model) if subject in subjects]
        gone = [one._replace(entry=one.entry.model_copy(update={"status": "archived"})) for one in gone]
        self._archive += gone
        self._told(moved, [one.entry for one in gone])

    def _chosen(self, data: st.DataObject, method: str) -> tuple[set[tuple[str, str]], ChangeResult]:
        """Have the store move some entries."""
        known = sorted(self._model)
        subjects = set(data.draw(st.lists(st.sampled_from(known), max_size=3))) if known else set()
        ids = {self._model[subject].entry.id for subject in subjects}
        seen: list[str] = []

        def choose(entries: Sequence[Entry]) -> list[Entry]:
            seen.extend(one.id for one in entries)
            return [one for one in entries if one.id in ids]

        moved: ChangeResult = self._call(method, choose)
        wanted = [known.entry.id for known in self._model.values()]
        assert seen == wanted, (
            f"`{method}` gave `choose` the entries {seen}, not {wanted}; call it once, with all entries"
        )
        return subjects, moved

    def _told(self, moved: ChangeResult, wanted: list[Entry]) -> None:
        assert [one.id for one in moved.entries] == [one.id for one in wanted], (
            f"it returned {[one.id for one in moved.entries]}; return the chosen entries, "
            f"{[one.id for one in wanted]}, in `ChangeResult`"
        )
        for one, entry in zip(moved.entries, wanted, strict=True):
            self._is_as_written(one, entry)

    @precondition(lambda self: self._archive)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        """An archived entry comes back, unless one of its id is there."""
        known = self._archive[data.draw(st.integers(0, len(self._archive) - 1))]
        subject = _subject(known.entry)
        entry = known.entry.model_copy(update={"status": "fresh", "last_accessed": DAY + timedelta(days=9)})
        if subject in self._model:
            try:
                self._store.restore(entry)
            except StorageError:
                return
            raise AssertionError(
                f"`restore` took back {entry.id} though an entry of this id is there; raise kr_core.StorageError"
            )
        kept: WriteResult = self._call("restore", entry)
        assert kept.entry is not None, "`restore` returned no entry; return it in `WriteResult`"
        self._is_as_written(kept.entry, entry)
        self._archive.remove(known)
        self._model[subject] = known._replace(entry=kept.entry)
        assert kept.index_count == len(self._model), (
            f"`restore` said that there are {kept.index_count} entries, and there are {len(self._model)}"
        )

    # -- what always holds -------------------------------------------------------------------------------

    @invariant()
    def holds_the_entries(self) -> None:
        """The index has exactly the entries that it should, in the order in which they came."""
        if not self._project.exists():
            return
        entries = {entry.id: entry for entry in self._call("entries")}
        wanted = {known.entry.id: known.entry for known in self._model.values()}
        lost, strange = wanted.keys() - entries.keys(), entries.keys() - wanted.keys()
        assert not lost, f"`entries` lacks {', '.join(sorted(lost))}; an entry stays until it is dropped"
        assert not strange, f"`entries` has {', '.join(sorted(strange))}, which was dropped or never indexed"
        assert list(entries) == list(wanted), (
            f"`entries` are in the order {', '.join(entries)}, not {', '.join(wanted)}; an entry that is updated "
            "keeps its place, and a new one comes last"
        )
        for name, entry in wanted.items():
            self._is_as_written(entries[name], entry)
            used = entries[name].last_accessed
            assert isinstance(used, date) and used == entry.last_accessed, (  # noqa: PT018  one message for both
                f"`last_accessed` of {name} is {used}, not {entry.last_accessed}; `touch(entry, today)` notes the day, "
                "and it is kept"
            )

    @invariant()
    def holds_the_reports(self) -> None:
        """Each report and its evidence are as they were written, and each entry is a candidate for its subject."""
        for (framework, topic), known in self._model.items():
            entry = known.entry
            read = self._call("read", entry)
            assert read == (known.report, known.evidence), (
                f"`read` gave {read!r} for a report written as {(known.report, known.evidence)!r}; "
                "keep text and evidence as they are"
            )
            query = samples.query(framework, topic)
            found = self._call("candidates", query)
            assert entry.id in {one.id for one in found.entries}, (
                f"the entry {entry.id} is not among the candidates for its own framework and topic; give every entry "
                "that may match, or more: the engine decides"
            )

    @invariant()
    def holds_the_archive(self) -> None:
        """What was archived is there, with its report, until it is restored or its subject is written anew."""
        if not self._project.exists():
            return
        there = [(one.id, one.path, one.status) for one in self._call("archived")]
        wanted = [(one.entry.id, one.entry.path, "archived") for one in self._archive]
        assert sorted(there) == sorted(wanted), (
            f"`archived` gave {there}, not {wanted}; an entry that is archived leaves the index, stays in the archive with "
            "the status `archived`, and leaves it when it is restored"
        )
        for known in self._archive:
            candidates = self._call("candidates", samples.query(*_subject(known.entry))).entries
            assert (known.entry.id, known.entry.path) not in {(one.id, one.path) for one in candidates}, (
                f"the archived entry {known.entry.id} is among the candidates; leave archived entries out"
            )
            assert self._call("read", known.entry) == (known.report, known.evidence), (
                f"the report of the archived entry {known.entry.id} is not as it was; archiving moves entries, not reports"
            )

    @staticmethod
    def _is_as_written(found: Entry, written: Entry) -> None:
        for field in ("id", "framework", "framework_version", "topic", "tags", "status"):
            was, is_now = getattr(written, field), getattr(found, field)
            assert was == is_now, (
                f"`{field}` of {written.id} is {is_now!r}, and was written as {was!r}; keep it as it is"
            )

    def _call(self, method: str, *arguments: Any, **options: Any) -> Any:
        hint = "raise kr_core.StorageError, and only where the knowledge base cannot be read or written"
        with raises_nothing(f"`{method}`", hint):
            return getattr(self._store, method)(*arguments, **options)
