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

from kr_core.testing import samples
from kr_core.testing.surroundings import DAY

if TYPE_CHECKING:
    from kr_core.model import Entry
    from kr_core.protocols import Kept, Store
    from kr_core.testing.store import StoreContract

_SUBJECTS = [
    (framework, topic) for framework in ("parcel", "letter") for topic in ("timeouts", "retries", "logs")
]
_LINES = st.text(st.characters(exclude_categories=["C"]), min_size=1).map(lambda line: f"# {line}\n\nText.\n")
_QUOTES = st.dictionaries(
    st.text(max_size=5), st.lists(st.integers() | st.text(max_size=5), max_size=3), max_size=3
)


class _Known(NamedTuple):
    """An entry and its report, as the model holds them."""

    entry: Entry
    report: str
    evidence: dict[str, Any]


class StoreMachine(RuleBasedStateMachine):
    """The steps that a store may go through.

    Args:
        contract: builds the store.
    """

    def __init__(self, contract: StoreContract) -> None:
        super().__init__()
        self._contract = contract
        self._folder = tempfile.TemporaryDirectory()
        self._project = Path(self._folder.name) / "project"
        self._model: dict[tuple[str, str], _Known] = {}
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
        kept: Kept = self._call("write", report, evidence, entry)
        assert kept.entry is not None, (
            "`write` returned no entry for a report that is indexed; return it in `Kept`"
        )
        self._is_as_written(kept.entry, entry)
        self._model[subject] = _Known(kept.entry, report, evidence)
        assert kept.index_count == len(self._model), (
            f"`write` said that there are {kept.index_count} entries, and there are {len(self._model)}; an entry whose "
            "id is known is updated in place, not added"
        )
        assert kept.path == kept.entry.path, (
            "`Kept.path` is not the entry's; return the report's path, relative to the knowledge base"
        )

    @rule(subject=st.sampled_from(_SUBJECTS))
    def write_skeleton(self, subject: tuple[str, str]) -> None:
        """A report that is not indexed goes nowhere near one that is there."""
        skeleton, entry = "# skeleton\n", samples.entry(*subject)
        kept: Kept = self._call("write", skeleton, {}, entry, index=False)
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

    @staticmethod
    def _is_as_written(found: Entry, written: Entry) -> None:
        for field in ("id", "framework", "framework_version", "topic", "tags", "status"):
            was, is_now = getattr(written, field), getattr(found, field)
            assert was == is_now, (
                f"`{field}` of {written.id} is {is_now!r}, and was written as {was!r}; keep it as it is"
            )

    def _call(self, method: str, *arguments: Any, **options: Any) -> Any:
        try:
            return getattr(self._store, method)(*arguments, **options)
        except Exception as error:
            raise AssertionError(
                f"`{method}` raised {type(error).__name__}: {error}; raise kr_core.StorageError, and only where the "
                "knowledge base cannot be read or written"
            ) from error
