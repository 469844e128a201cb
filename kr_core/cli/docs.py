"""`kr docs`: index documents of any kind, search them, list and remove what is indexed."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kr_core.cli.excerpt import excerpt
from kr_core.cli.given_file import lines_of, place_of
from kr_core.cli.output import as_json
from kr_core.config.plugin_names import DOCUMENTS_SOURCE
from kr_core.errors import ConfigError, StorageError
from kr_core.research import Pipeline
from kr_core.search.documents.index_errors import fault, is_there, out_of_place, unread
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.terminal_text import Screen, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from kr_core.search.documents.hits import DocumentHit
    from kr_core.search.documents.indexer import UpdateResult
    from kr_core.search.documents.sqlite_index import Collection

NO_CONTENT = 4
_GENERIC = frozenset("html doc docs api build _build site public man share".split())
"""Names of folders that say nothing of what is in them."""
_REASONS = 3
"""Of what could not be indexed, in the error."""
_NOTES = 20
"""Notes that are printed; with -v all of them."""


def run(options: argparse.Namespace) -> int:
    """Run an action and return the exit code."""
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        return _ACTIONS[options.action](pipeline, options)


def _index(pipeline: Pipeline, options: argparse.Namespace) -> int:
    working = options.folder or Path.cwd()
    if options.name is not None and not options.name.strip():
        raise ConfigError("is empty", where="--name", hint="say what to call it, or leave the option out")
    _check_text(options.name or "")
    store = _store(pipeline, writable=True)
    try:
        return _index_into(store, pipeline, options, working)
    except sqlite3.Error as error:
        raise fault("cannot be read", error, store.path) from None
    finally:
        store.close()


def _index_into(store: DocumentStore, pipeline: Pipeline, options: argparse.Namespace, working: Path) -> int:
    """Index the paths that are named, or again what is indexed, and return the exit code."""
    from kr_core.search.documents.indexer import remove

    roots = list(store.roots_of())
    before = set(roots)
    named = _named(roots, pipeline, options, working)
    wanted = named or _indexed(store, options.name)
    gone = {one: said for one in wanted if (said := out_of_place(*one))}
    for said in gone.values():
        _note(options, said)
    nothing: list[ConfigError] = []
    for name, path in [one for one in wanted if one not in gone]:
        done = _index_path(store, name, path, pipeline, options)
        if _is_new_and_empty(store, before, name, path):
            remove(store, name, path)
            nothing.append(_nothing_in(path, done))
    for name, place in store.bare():
        if named and (name, Path(place)) not in named:
            _note(options, unread(name, place))
    _follow(store, options)
    _note_damage(options)
    if not before and store.roots_of():
        _tell_who_asks(pipeline, options)
    if nothing:
        raise nothing[0]
    return 0 if len(gone) < len(wanted) else ConfigError.exit_code


def _note_damage(options: argparse.Namespace) -> None:
    """Say so where the table of words, of which the passages' vectors are made, cannot be read."""
    from kr_core.search.word_vectors import word_table

    try:
        word_table()
    except StorageError as error:
        _note(options, f"{error}; passages have no vectors, and words alone are searched")


def _named(
    roots: Iterable[tuple[int, str, str]], pipeline: Pipeline, options: argparse.Namespace, working: Path
) -> list[tuple[str, Path]]:
    """The paths of the command line, each with the name to index it under."""
    known = {path: name for _root, name, path in roots}
    return [
        (options.name or known.get(str(path)) or _name_of(path, known), path)
        for path in _paths(options.paths, working, pipeline.config.root)
    ]


def _index_path(
    store: DocumentStore, name: str, path: Path, pipeline: Pipeline, options: argparse.Namespace
) -> UpdateResult:
    """Index one path, and say what was read."""
    from kr_core.search.documents.indexer import update

    with _Counter(quiet=options.quiet) as counter:
        done = update(store, path, name, counter.show)
    said = f"{done.name}: {_shown(path, pipeline)}: {_counted(done.read, 'file')} read, {done.unchanged} unchanged"
    taken = f", {done.removed} removed" if done.removed else ""
    print(_line(f"{said}{taken}; {_counted(done.passages, 'passage')} new"))
    notes = done.notes if options.verbose else done.notes[:_NOTES]
    for note in notes:
        _note(options, note)
    if len(notes) < len(done.notes):
        _note(options, f"{len(done.notes) - len(notes)} more; -v shows them")
    return done


def _tell_who_asks(pipeline: Pipeline, options: argparse.Namespace) -> None:
    """Once, since who has indexed documents takes them for asked."""
    if DOCUMENTS_SOURCE not in (pipeline.config.settings.knowledge_research.sources or ()):
        _note(
            options, f"`kr research` asks them once `knowledge_research.sources` names `{DOCUMENTS_SOURCE}`"
        )


def _indexed(store: DocumentStore, name: str | None) -> list[tuple[str, Path]]:
    """What was indexed, under a name or at all."""
    roots = store.roots_of()
    if not roots:
        raise ConfigError("nothing is indexed yet", hint="name a folder or a file: `kr docs index PATH`")
    _check_name(name, roots)
    return [(of, Path(path)) for _root, of, path in roots if name in (None, of)]


def _check_name(name: str | None, roots: Iterable[tuple[int, str, str]]) -> None:
    names = {of for _root, of, _path in roots}
    if name is not None and name not in names:
        from kr_core.errors import suggestion

        raise ConfigError(
            "nothing is indexed under this name", where=name, hint=suggestion(name, names, "names")
        )


def _is_new_and_empty(store: DocumentStore, before: set[tuple[int, str, str]], name: str, path: Path) -> bool:
    """Whether a path is indexed for the first time, and has no passage."""
    new = [root for root in store.roots_of(name) if root[2] == str(path) and root not in before]
    return any(store.passages_of(root) == 0 for root, _name, _path in new)


def _nothing_in(path: Path, done: UpdateResult) -> ConfigError:
    why = (
        "; ".join(note.removeprefix(f"{path}: ") for note in done.notes[:_REASONS])
        or "there is no text in it"
    )
    return ConfigError(f"nothing in it could be indexed: {why}", where=str(path))


def _note(options: argparse.Namespace, said: str) -> None:
    if not options.quiet:
        print(_line(f"note: {said}"), file=sys.stderr)


def _search(pipeline: Pipeline, options: argparse.Namespace) -> int:
    from kr_core.search.documents.documents import Documents

    if options.batch is None and not any(map(str.isalnum, options.query)):
        raise ConfigError("is empty", where="the question", hint="write it in words")
    found = False
    with (
        _Counter(quiet=options.quiet) as counter,
        Documents(
            pipeline.config.state_folder,
            pipeline.components.embedder,
            counter.show_vectors if counter.is_seen else None,
        ) as documents,
    ):
        for query in _queries(options):
            hits = documents.search(query, options.limit)
            counter.clear()
            found = found or bool(hits)
            if options.json or options.batch:
                line = {"query": query, "hits": [_as_dict(hit, pipeline) for hit in hits]}
                print(as_json(line, indent=None), flush=True)
            else:
                _print(hits, pipeline, documents.weights(query))
        for note in documents.notes:
            _note(options, note)
    return 0 if found or options.json or options.batch else NO_CONTENT


def _list(pipeline: Pipeline, options: argparse.Namespace) -> int:
    collections = _collections(pipeline)
    if options.json:
        print(as_json([{**one._asdict(), "not_there": _gone(one.paths)} for one in collections]))
        return 0
    for one in collections:
        gone = _gone(one.paths)
        places = ", ".join(
            _shown(Path(path), pipeline) + (" (not there)" if path in gone else "") for path in one.paths
        )
        print(
            _line(f"{one.name}  {_counted(one.files, 'file')}  {_counted(one.passages, 'passage')}  {places}")
        )
    if not collections:
        print("nothing is indexed")
    return 0


def _collections(pipeline: Pipeline) -> list[Collection]:
    """What is indexed; nothing where no index was made yet."""
    if not (pipeline.config.state_folder / FILE_NAME).exists():
        return []
    store = _store(pipeline)
    try:
        return store.collections()
    except sqlite3.Error as error:
        raise fault("cannot be read", error, store.path) from None
    finally:
        store.close()


def _gone(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if not is_there(path)]


def _remove(pipeline: Pipeline, options: argparse.Namespace) -> int:
    from kr_core.search.documents.indexer import remove

    store = _store(pipeline, writable=True)
    try:
        _check_name(options.name, store.roots_of())
        count = remove(store, options.name)
        _follow(store, options)
    except sqlite3.Error as error:
        raise fault("cannot be read", error, store.path) from None
    finally:
        store.close()
    print(printable(f"removed: {options.name}, {_counted(count, 'file')}"))
    return 0


def _follow(store: DocumentStore, options: argparse.Namespace) -> None:
    """Bring up to date what finds words quickly, where that is installed; where it cannot be, the store finds them as ever."""
    from kr_core.search.documents.tantivy_index import FOLDER_NAME, follow

    try:
        with _Counter(quiet=options.quiet) as counter:
            follow(store, store.path.with_name(FOLDER_NAME), counter.show_share)
    except ImportError:
        pass  # the extra `fast` is not installed
    except StorageError as error:
        _note(options, f"{error}; words are found all the same, more slowly")


def _store(pipeline: Pipeline, *, writable: bool = False) -> DocumentStore:
    path = pipeline.config.state_folder / FILE_NAME
    if not writable and not path.exists():
        raise ConfigError("nothing is indexed yet", hint="`kr docs index PATH` indexes a folder or a file")
    return DocumentStore(path, writable=writable)


def _paths(given: list[str], working: Path, root: Path) -> list[Path]:
    if "" in given:  # of a variable that is not set, say; the working folder is called `.`
        raise ConfigError("is empty", where="PATH", hint="name a folder or a file")
    paths = [Path(os.path.abspath(working / Path(path).expanduser())) for path in given]  # noqa: PTH100  keeps symbolic links
    for path in paths:
        if not path.exists():
            raise ConfigError("there is no such file or folder", where=str(path))
        _check_text(str(path.resolve()))
    return [place_of(path, root) for path in paths]


def _check_text(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        raise ConfigError(
            "is not UTF-8, and cannot be kept in the index", where=shown, hint="use another name"
        ) from None


def _name_of(path: Path, known: dict[str, str]) -> str:
    """What a folder is called that was given no name, among those that have one already."""
    parts = [part for part in path.parts[1:] if part.lower() not in _GENERIC] or [path.name or "root"]
    name = parts[-1]
    while name in known.values():
        name = f"{parts[-2]}-{name}" if name == parts[-1] and len(parts) > 1 else f"{name}-2"
    known[str(path)] = name
    return name


def _queries(options: argparse.Namespace) -> Iterator[str]:
    if options.batch is None:
        yield options.query
        return
    for line in lines_of(options.batch):
        if line.strip():
            yield line.strip()


def _as_dict(hit: DocumentHit, pipeline: Pipeline) -> dict[str, object]:
    path = _shown(Path(hit.path), pipeline)
    return {"path": path, "locator": f"{path}{hit.locator}", "score": round(hit.score, 4), "text": hit.text}


def _print(hits: list[DocumentHit], pipeline: Pipeline, weights: dict[str, float]) -> None:
    for number, hit in enumerate(hits, start=1):
        print(_line(f"{number}. {_shown(Path(hit.path), pipeline)}{hit.locator}  ({hit.score:.2f})"))
        for line in excerpt(hit.text, weights):
            print(printable(f"   {line}"))
        print()
    if not hits:
        print("nothing was found")


def _shown(path: Path, pipeline: Pipeline) -> str:
    """A path in the project by its place there, any other as it is."""
    root = pipeline.config.root
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _line(text: str) -> str:
    """A line of KR's own; a line break in the name of somebody's file begins no other."""
    return printable(text).replace("\n", "\N{REPLACEMENT CHARACTER}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


class _Counter:
    """A line on the terminal that moves while there is something to wait for."""

    def __init__(self, *, quiet: bool) -> None:
        self.is_seen = sys.stderr.isatty() and not quiet
        """Whether anybody looks on."""
        self._shown = False
        self._percent = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            print("\r\x1b[2K", end="", file=Screen(sys.stderr, moving=True), flush=True)
        self._shown = False

    def show(self, files: int, passages: int) -> None:
        """Show how far the update is."""
        self._show(f"{files} files, {passages} new passages")

    def show_share(self, share: float) -> None:
        """Show how far the words are that are found quickly; what takes no time is not shown."""
        percent = int(100 * share)
        if self._percent < percent < 100:
            self._percent = percent
            self._show(f"words: {percent} %")

    def show_vectors(self, done: int, count: int) -> None:
        """Show how far the vectors are."""
        self._show(f"making vectors, {done} of {count}")

    def _show(self, said: str) -> None:
        if self.is_seen:
            self._shown = True
            print(f"\r{said}", end="", file=Screen(sys.stderr, moving=True), flush=True)


_ACTIONS = {"index": _index, "search": _search, "list": _list, "remove": _remove}
