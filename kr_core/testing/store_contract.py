"""What every store keeps to (`kr_core.plugin.Store`)."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING

import pytest

from kr_core.errors import StorageError
from kr_core.protocols import ArchiveByFramework, ConditionalWrites, Repairable
from kr_core.testing import samples
from kr_core.testing.checks import raises_nothing
from kr_core.testing.plugin_contract import PluginContract
from kr_core.testing.second_process import keep_entries

if TYPE_CHECKING:
    from pathlib import Path

    from kr_core.testing.second_process import SecondProcess

_HOSTILE_NAMES = (
    "../..", "..", ".", "/etc", "C:\\Windows", "con", "-rf", "a/b/c", "~", "index", "\u65e5\u672c\u8a9e", "\u202egnp",
    "two\nlines", "quote\" and 'quote'", "{{ name }}", "%s", "x" * 300,
)  # fmt: skip
_HOSTILE_PATHS = ("../escaped.md", "../../escaped.md", "{root}/escaped.md", "frameworks/../../escaped.md")


class StoreContract(PluginContract):
    """The rules for stores, tested against a simple model, with a second process, and with hostile names."""

    noun = "store"

    def test_it_behaves_like_its_model(self, project: Path) -> None:
        """After any writes, touches, drops, marks, archivings and restores, in any process, the content is right."""
        from hypothesis import HealthCheck, Phase, settings
        from hypothesis.stateful import run_state_machine_as_test

        from kr_core.testing.store_machine import StoreMachine

        with ExitStack() as stack:

            @cache
            def elsewhere() -> SecondProcess:
                process = stack.enter_context(self._second_process(project, "obey"))
                process.go(plugin=[self.module, self.noun, dict(self.settings)])
                return process

            run_state_machine_as_test(
                lambda: StoreMachine(self, elsewhere),  # type: ignore[arg-type]  # hypothesis asks for a class, and calls it
                settings=settings(
                    derandomize=True,
                    database=None,
                    deadline=None,
                    phases=(Phase.generate,),  # to find the fewest steps may take minutes on a slow disk
                    max_examples=16,
                    stateful_step_count=20,
                    suppress_health_check=list(HealthCheck),
                ),
            )

    def test_a_new_knowledge_base_is_empty(self, project: Path) -> None:
        """A new knowledge base has no entries, and reading creates nothing."""
        store = self.build(project)
        before = _files(project)
        assert list(store.entries()) == [], "a new knowledge base has entries; give none"
        assert list(store.candidates(samples.query()).entries) == [], (
            "a new knowledge base has candidates; give none"
        )
        assert list(store.archived()) == [], "a new knowledge base has archived entries; give none"
        assert store.read(samples.entry("parcel", "timeouts")) is None, (
            "`read` gave a report that was never written; return None for one that is not there"
        )
        made = sorted(_files(project) - before)
        assert not made, (
            f"reading made {', '.join(made)}; make files on the first write: a knowledge base may be read-only"
        )

    def test_two_processes_lose_nothing(self, project: Path) -> None:
        """If two processes write at the same time, every entry and every report is stored."""
        store = self.build(project)
        with self._second_process(project, "keep_entries", framework="theirs", count=20) as process:
            process.go()
            wanted = set(keep_entries(store, "mine", 20))
            wanted |= set(process.result())
        for what, seen in (("the store that wrote", store), ("a store opened anew", self.build(project))):
            entries = {entry.id: entry for entry in seen.entries()}
            lost = wanted - entries.keys()
            assert not lost, (
                f"two processes wrote {len(wanted)} entries, and {what} lacks {len(lost)} of them; hold a lock on the "
                "folder (`kr_core.locked`) from reading the index to writing it, and read it anew if it has changed"
            )
            torn = [
                one.id
                for one in entries.values()
                if seen.read(one) != (f"# {one.topic}\n", {"topic": one.topic})
            ]
            assert not torn, (
                f"two processes wrote at the same time, and {len(torn)} reports are not as they were written; "
                "replace each file as a whole (`kr_core.toolkit.write_atomically`)"
            )

    def test_it_finds_the_archive_of_a_framework(self, project: Path) -> None:
        """A store that has `archived_of` returns the archived entries of that framework, all of them and no others."""
        store = self.build(project)
        if not has_archive_by_framework(store):
            return
        for framework, topic in (("parcel", "timeouts"), ("letters", "timeouts"), ("parcel", "retries")):
            store.write(f"# {topic}\n\nText.\n", {"topic": topic}, samples.entry(framework, topic))
        store.archive(lambda entries: entries[:2])
        wanted = [one for one in store.archived() if one.framework == "parcel"]
        for name in ("parcel", "Parcel"):
            assert list(store.archived_of(name)) == wanted, (
                f"`archived_of({name!r})` did not return the entries that `archived` has of it; "
                "compare names with `kr_core.toolkit.fold_name`"
            )

    def test_it_writes_over_what_was_read_only(self, project: Path) -> None:
        """A store that has `write_over` replaces only the report that was read."""
        store = self.build(project)
        if not has_conditional_writes(store):
            return
        entry = samples.entry("parcel", "timeouts")
        stored = store.write("# old\n", {"n": 1}, entry).entry or entry
        for before in (("# older\n", {"n": 1}), ("# old\n", {"n": 0})):
            written = store.write_over(before, "# lost\n", {}, stored)
            assert written is None, (
                f"`write_over` returned {written} for a report that has changed; return None"
            )
            assert store.read(stored) == ("# old\n", {"n": 1}), (
                "`write_over` replaced a report or evidence that has changed since it was read; compare both with `before`"
            )
        written = store.write_over(("# old\n", {"n": 1}), "# new\n", {"n": 2}, stored)
        assert written is not None, (
            "`write_over` wrote nothing over the report that was read; do what `write` does"
        )
        assert store.read(stored) == ("# new\n", {"n": 2}), (
            "`write_over` did not write the report; do what `write` does"
        )

    def test_it_finds_and_mends_what_is_wrong(self, project: Path) -> None:
        """A repairable store reports only real faults, names an entry whose report is gone, and repairs only that."""
        store = self.build(project)
        if not is_repairable(store):
            return
        for topic in ("timeouts", "retries"):
            store.write(f"# parcel - {topic}\n\nText.\n", {"topic": topic}, samples.entry("parcel", topic))
        flaws = list(store.check())
        assert not flaws, f"`check` found something wrong where nothing is: {flaws}"
        before = _contents(project)
        assert not store.rebuild().message, (
            "`rebuild` says that it did something where nothing is wrong; return nothing"
        )
        assert _contents(project) == before, (
            "`rebuild` wrote something where nothing is wrong; leave it as it is"
        )
        gone, stays = store.entries()
        file = project / "knowledge-base" / gone.path
        if not file.is_file():
            return
        file.unlink()
        named = [flaw for flaw in store.check() if gone.id in flaw.location + flaw.message]
        assert named, (
            f"`check` does not name {gone.id}, whose report is gone; give a Flaw of the kind `dangling`"
        )
        assert all(flaw.hint for flaw in named), "a Flaw does not say what to do; fill in `hint`"
        assert store.rebuild().message, (
            "`rebuild` does not say what it did; return a line for each thing in `RebuildResult`"
        )
        assert list(store.entries()) == [stays], (
            f"after `rebuild` the entries are {list(store.entries())}; leave out those without a report, and keep the "
            "others as they are"
        )

    @pytest.mark.parametrize("name", _HOSTILE_NAMES, ids=lambda name: ascii(name[:12]))
    def test_hostile_names_stay_inside(self, project: Path, name: str) -> None:
        """A framework or topic with any name is stored inside the knowledge base, and found again."""
        before = _files(project.parent)
        kept: list[str] = []
        for framework, topic in ((name, "timeouts"), ("parcel", name)):
            entry = samples.entry(framework, topic)
            with raises_nothing(
                "`write`",
                "the entry's path is safe as the engine made it: use that for the file's name",
                f"for the framework {framework!r} and the topic {topic!r}",
            ):
                self.build(project).write(f"# {framework}\n", {}, entry)
            kept.append(entry.id)
            again = self.build(project)
            found = [
                one for one in again.candidates(samples.query(framework, topic)).entries if one.id == entry.id
            ]
            assert found, (
                f"the entry of the framework {framework!r} and the topic {topic!r} is not among the candidates for "
                "both; give all entries whose framework has the same name (`kr_core.toolkit.fold_name`), or more"
            )
            assert again.read(found[0]) == (f"# {framework}\n", {}), (
                f"the report of {framework!r}, {topic!r} does not come back as it was written"
            )
        self._nothing_outside(project, before, name)

    @pytest.mark.parametrize("path", _HOSTILE_PATHS)
    def test_hostile_paths_stay_inside(self, project: Path, path: str) -> None:
        """The store neither writes nor reads an entry whose path, say from an index, leads out of the knowledge base."""
        outside = project.parent
        (outside / "escaped.md").write_text("secret\n", "utf-8")
        (project / "escaped.md").write_text("secret\n", "utf-8")
        before = _files(outside)
        entry = samples.entry("parcel", "timeouts").model_copy(update={"path": path.format(root=outside)})
        store = self.build(project)
        read = store.read(entry)
        assert read is None or "secret" not in read[0], (
            f"`read` gave a file outside the knowledge base (path {path!r}); an index is a file that anybody may have "
            "changed: check the path (`kr_core.toolkit.inside`)"
        )
        try:
            store.write("# escaped\n", {}, entry)
        except StorageError:
            pass  # to refuse is as good as to write it elsewhere
        self._nothing_outside(project, before, path)

    def _nothing_outside(self, project: Path, before: set[str], name: str) -> None:
        allowed = ("project/knowledge-base/", "project/.kr/", "cache/")
        made = sorted(file for file in _files(project.parent) - before if not file.startswith(allowed))
        changed = [
            file
            for file in (project / "escaped.md", project.parent / "escaped.md")
            if file.exists() and file.read_text("utf-8") != "secret\n"
        ]
        assert not made and not changed, (  # noqa: PT018  one message for both
            f"{name!r} led out of the knowledge base: {', '.join([*made, *map(str, changed)])} was written; check the "
            "path (`kr_core.toolkit.inside`), and raise kr_core.StorageError for one that leaves the folder"
        )


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def has_archive_by_framework(store: object) -> bool:
    """Whether a store finds the archive of one framework; it need not."""
    return isinstance(store, ArchiveByFramework)


def has_conditional_writes(store: object) -> bool:
    """Whether a store writes over what was read; it need not."""
    return isinstance(store, ConditionalWrites)


def is_repairable(store: object) -> bool:
    """Whether a store can be repaired; it need not."""
    return isinstance(store, Repairable)


def _contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in _files(folder) if not name.startswith(".kr/")}
