"""`kr cache`: what is kept, found again, archived and mended."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core.cli import output
from kr_core.errors import ConfigError, StorageError
from kr_core.research import Pipeline
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from kr_core.model import Entry
    from kr_core.protocols import Store

NO_CONTENT = 4
_today = date.today
"""The user's own day, as in everything that a pipeline writes."""


def run(options: argparse.Namespace) -> int:
    """Run an action and return the exit code."""
    if options.action == "merge":
        return _merge(options)
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        return _ACTIONS[options.action](pipeline, options)


# -- looking -----------------------------------------------------------------------------------------------


def _list(pipeline: Pipeline, options: argparse.Namespace) -> int:
    entries = pipeline.store.archived() if options.archived else pipeline.store.entries()
    _print_entries(
        entries, options, "nothing is archived" if options.archived else "the knowledge base is empty"
    )
    return 0


def _search(pipeline: Pipeline, options: argparse.Namespace) -> int:
    """Entries whose own words hold all that are searched for, then those whose reports do."""
    from kr_core.knowledge.report_words import ReportWords

    store = pipeline.store
    search = ReportWords(store, " ".join(options.words))
    named: list[Entry] = []
    told: list[Entry] = []
    for one in search.of(store.archived() if options.archived else store.entries()):
        if one.all == search.wanted:
            (named if one.own == search.wanted else told).append(one.entry)
    if not options.quiet:
        output.tell(search.notes)
    _print_entries([*named, *told], options, "nothing was found")
    return 0 if named or told or options.json else NO_CONTENT


def _show(pipeline: Pipeline, options: argparse.Namespace) -> int:
    store = pipeline.store
    known = list(store.entries())
    entry = entry_named(options.id, known if _named(options.id, known) else [*known, *store.archived()])
    stored = store.read(entry)
    if stored is None:
        raise ConfigError("its report is gone or empty", where=entry.id, hint="research the question again")
    print(printable(stored[0]), end="" if stored[0].endswith("\n") else "\n")
    return 0


def _check(pipeline: Pipeline, options: argparse.Namespace) -> int:
    from kr_core.research.maintenance import UNUSED, check

    flaws = check(pipeline.store, pipeline.config.settings.knowledge_research, pipeline.project, _today())
    if options.json:
        _print_json([flaw._asdict() for flaw in flaws])
    else:
        for flaw in flaws:
            print(printable(f"{flaw.kind}: {flaw.location}: {flaw.message}; {flaw.hint}"))
        if not flaws:
            print("nothing is wrong, and nothing is stale")
    return 1 if options.ci and any(flaw.kind != UNUSED for flaw in flaws) else 0


# -- keeping in order --------------------------------------------------------------------------------------


def _gc(pipeline: Pipeline, options: argparse.Namespace) -> int:
    from kr_core.research.maintenance import archive_surplus

    gone = archive_surplus(pipeline.store, lambda: pipeline.journal, pipeline.config, _today())
    _print_entries(gone.entries, options, "nothing had to be archived")
    what = f"archive {_counted(gone.entries)}"
    _commit(pipeline, options, gone.files, what, (entry.id for entry in gone.entries))
    return 0


def _restore(pipeline: Pipeline, options: argparse.Namespace) -> int:
    from kr_core.knowledge.retention import restored

    entry = entry_named(options.id, pipeline.store.archived(), hint="`kr cache list --archived` shows all")
    kept = pipeline.store.restore(restored(entry, _today()))
    print(printable(f"restored: {entry.id}  {kept.path}"))
    _commit(pipeline, options, kept.files, f"restore {entry.id}", (kept.path,))
    return 0


def _refresh(pipeline: Pipeline, options: argparse.Namespace) -> int:
    from kr_core.knowledge.retention import overtaken
    from kr_core.research.maintenance import version_in_use

    store, project = pipeline.store, pipeline.project

    def choose(entries: Sequence[Entry]) -> list[Entry]:
        return overtaken(entries, lambda framework: version_in_use(project, framework))

    marked: Sequence[Entry] = ()
    files: Sequence[Path] = ()
    if choose(store.entries()):  # else nothing is locked or written
        marked, files = store.mark_stale(choose)
    _print_entries(marked, options, "no answer is overtaken by a major version")
    if not options.quiet:
        output.tell(project.warnings)
    facts = (
        f"{one.id}: {one.framework_version}, in use {version_in_use(project, one.framework)}"
        for one in marked
    )
    _commit(pipeline, options, files, f"mark {_counted(marked)} as stale", facts)
    return 0


def _rebuild(pipeline: Pipeline, options: argparse.Namespace) -> int:
    from kr_core.protocols import Repairable

    store = pipeline.store
    if not isinstance(store, Repairable):
        name = pipeline.config.settings.store
        raise ConfigError(
            "this store cannot be rebuilt", where=f"store: {name}", hint="see the plugin's own tools"
        )
    done = store.rebuild()
    for said in done.message:
        print(printable(said))
    if not done.message:
        print("the index is as the reports say; nothing was written")
    _commit(pipeline, options, done.files, "rebuild the index from the reports", done.message)
    return 0


_UNFINISHED = "_export-unfinished"
"""A file in a folder into which an export is under way."""


def _export(pipeline: Pipeline, options: argparse.Namespace) -> int:
    """Copy all into a folder; while this is under way a file there says so, since it may be cut off."""
    folder = options.target
    with _folder_store(pipeline, folder) as store:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / _UNFINISHED).write_text(
                "`kr cache export` is under way here, or was cut off.\n", "utf-8"
            )
            code = _copy(pipeline.store, store, f"exported to {folder}", replace=True)
            (folder / _UNFINISHED).unlink()
        except OSError as error:
            raise StorageError(
                f"cannot be written: {error.strerror or error}",
                where=str(folder),
                hint="check its permissions",
            ) from error
    return code


def _import(pipeline: Pipeline, options: argparse.Namespace) -> int:
    folder = options.origin
    if (folder / _UNFINISHED).exists():
        raise StorageError(
            "the export into this folder was cut off",
            where=str(folder),
            hint=f"run `kr cache export` again; or remove {_UNFINISHED} to import what is there",
        )
    if not (folder / "index.yaml").is_file():
        raise ConfigError("has no index.yaml", where=str(folder), hint="give a folder with a knowledge base")
    with _folder_store(pipeline, folder) as store:
        return _copy(store, pipeline.store, f"imported from {folder}", replace=False)


@contextmanager
def _folder_store(pipeline: Pipeline, folder: Path) -> Iterator[Store]:
    """The store of files in a folder, with the limits of this project."""
    from kr_core.config import given
    from kr_core.config.plugin_names import SINGLE

    if (
        pipeline.config.settings.store == SINGLE["store"]
        and folder.resolve() == pipeline.config.knowledge_base.resolve()
    ):
        raise ConfigError("is the knowledge base itself", where=str(folder), hint="give another folder")
    settings = pipeline.config.settings.knowledge_research
    limits = {"max_entries": settings.max_entries, "cache_ttl_days": settings.cache_ttl_days}
    values = {"knowledge_research": {"knowledge_base_path": ".", **limits}}
    with Pipeline(given(values, folder, pipeline.config.environ)) as other:
        yield other.store


def _copy(source: Store, target: Store, said: str, *, replace: bool) -> int:
    from kr_core.research.knowledge_copy import copy_knowledge

    result = copy_knowledge(source, target, replace=replace)
    print(
        printable(
            f"{said}: {result.copied} copied, {result.same} there already, {len(result.skipped)} skipped"
        )
    )
    for one in result.skipped:
        print(printable(f"skipped: {one}"))
    return 1 if result.skipped else 0


_LARGEST = 100_000_000
"""Bytes of an index."""


def _merge(options: argparse.Namespace) -> int:
    """Merge two versions of an index as git's merge driver: the result takes the place of ours, with 1 where it has conflicts.

    Git runs this in any project that it merges. So it reads these files alone: no configuration, and no plugin but KR's own.
    """
    from kr_core.config import given
    from kr_core.files import read_text
    from kr_core.protocols import Mergeable

    place = Path(options.ours)
    if place.is_symlink():  # git makes plain files
        raise StorageError("is a link; give the file itself", where=options.ours)
    with Pipeline(given({}, options.folder or Path.cwd())) as pipeline:
        store = pipeline.store
        assert isinstance(store, Mergeable), "KR's own store is"
        try:
            base, ours, theirs = (
                read_text(Path(name), limit=_LARGEST) for name in (options.base, options.ours, options.theirs)
            )
        except (OSError, UnicodeDecodeError) as error:  # git keeps ours, and the path as a conflict
            said = getattr(error, "strerror", None) or "not UTF-8 text"
            raise StorageError(f"the two versions cannot be merged: {said}", where="index.yaml") from None
        try:
            merged, code = store.merge(base, ours, theirs), 0
        except StorageError as error:
            output.tell([str(error)])
            merged, code = f"<<<<<<< ours\n{_ended(ours)}=======\n{_ended(theirs)}>>>>>>> theirs\n", 1
    place.write_text(merged, "utf-8", newline="")
    return code


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"


def _commit(
    pipeline: Pipeline, options: argparse.Namespace, files: Sequence[Path], subject: str, facts: Iterable[str]
) -> None:
    from kr_core.git.autocommit import commit_changes

    notes = commit_changes(pipeline.config, files, subject, facts)
    if not options.quiet:
        output.tell(notes)


# -- what all of them need ---------------------------------------------------------------------------------


def _named(name: str, entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if name in {entry.id, entry.path}]


def entry_named(name: str, entries: Sequence[Entry], hint: str = "`kr cache list` shows all") -> Entry:
    """The entry of an id or path; ids of two frameworks, and of archived entries, may be equal."""
    found = _named(name, entries)
    if len(found) == 1:
        return found[0]
    if found:
        paths = ", ".join(entry.path for entry in found)
        raise ConfigError("several entries have this id", where=name, hint=f"give the path of one: {paths}")
    import difflib

    near = difflib.get_close_matches(name, [entry.id for entry in entries], 1)
    raise ConfigError("no such entry", where=name, hint=f"did you mean {near[0]}?" if near else hint)


def _counted(entries: Sequence[Entry]) -> str:
    return "1 entry" if len(entries) == 1 else f"{len(entries)} entries"


def _print_entries(entries: Sequence[Entry], options: argparse.Namespace, otherwise: str) -> None:
    if options.json:
        _print_json([entry.model_dump(mode="json") for entry in entries])
        return
    for entry in entries:
        said = f"{entry.id}  {entry.framework} {entry.framework_version}  {entry.status}  used {entry.last_accessed}  {entry.path}"
        print(printable(said))
    if not entries:
        print(otherwise)


def _print_json(value: Any) -> None:
    print(output.as_json(value))


_ACTIONS = {
    "list": _list,
    "search": _search,
    "show": _show,
    "check": _check,
    "gc": _gc,
    "restore": _restore,
    "refresh": _refresh,
    "rebuild": _rebuild,
    "export": _export,
    "import": _import,
}
