"""`kr docs`: index documents of any kind, search them, list and remove what is indexed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kr_core.cli.output import as_json
from kr_core.errors import ConfigError
from kr_core.pipeline import Pipeline
from kr_core.printable import printable
from kr_core.search.documents.store import FILE_NAME, DocumentStore

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from kr_core.search.documents.searching import DocumentHit

NO_CONTENT = 4
_SHOWN_LINES = 6
_WIDTH = 200
_GENERIC = frozenset("html doc docs api build _build site public man share".split())
"""Names of folders that say nothing of what is in them."""
_NOTES = 20
"""Notes that are printed; with -v all of them."""


def run(options: argparse.Namespace) -> int:
    """Run an action and return the exit code."""
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        return _ACTIONS[options.action](pipeline, options)


def _index(pipeline: Pipeline, options: argparse.Namespace) -> int:
    from kr_core.search.documents.updating import update

    working = options.folder or Path.cwd()
    store = _store(pipeline, writable=True)
    try:
        known = {path: name for _root, name, path in store.roots_of()}
        wanted = [
            (options.name or known.get(str(path)) or _name_of(path, known), path)
            for path in _paths(options.paths, working)
        ]
        if not wanted:
            wanted = [(name, Path(path)) for _root, name, path in store.roots_of(options.name)]
        if not wanted:
            raise ConfigError("nothing is indexed yet", todo="name a folder or a file: `kr docs index PATH`")
        for name, path in wanted:
            with _Counter(quiet=options.quiet) as counter:
                done = update(store, path, name, counter.show)
            said = f"{done.name}: {_shown(path, pipeline)}: {_counted(done.read, 'file')} read, {done.unchanged} unchanged"
            gone = f", {done.removed} removed" if done.removed else ""
            print(printable(f"{said}{gone}; {_counted(done.passages, 'passage')} new"))
            notes = done.notes if options.verbose else done.notes[:_NOTES]
            for note in () if options.quiet else notes:
                print(printable(f"note: {note}"), file=sys.stderr)
            if len(notes) < len(done.notes) and not options.quiet:
                print(f"note: {len(done.notes) - len(notes)} more; -v shows them", file=sys.stderr)
    finally:
        store.close()
    return 0


def _search(pipeline: Pipeline, options: argparse.Namespace) -> int:
    from kr_core.search.documents.library import Documents

    found = False
    with Documents(pipeline.config.state_folder, pipeline.components.embedder) as documents:
        for query in _queries(options):
            hits = documents.search(query, options.limit)
            found = found or bool(hits)
            if options.json or options.batch:
                line = {"query": query, "hits": [_as_dict(hit, pipeline) for hit in hits]}
                print(as_json(line, indent=None), flush=True)
            else:
                _print(hits, pipeline)
        for note in () if options.quiet else documents.notes:
            print(printable(f"note: {note}"), file=sys.stderr)
    return 0 if found or options.json or options.batch else NO_CONTENT


def _list(pipeline: Pipeline, options: argparse.Namespace) -> int:
    store = _store(pipeline)
    try:
        collections = store.collections()
    finally:
        store.close()
    if options.json:
        print(as_json([one._asdict() for one in collections]))
        return 0
    for one in collections:
        places = ", ".join(_shown(Path(path), pipeline) for path in one.paths)
        print(
            printable(
                f"{one.name}  {_counted(one.files, 'file')}  {_counted(one.passages, 'passage')}  {places}"
            )
        )
    if not collections:
        print("nothing is indexed")
    return 0


def _remove(pipeline: Pipeline, options: argparse.Namespace) -> int:
    from kr_core.search.documents.updating import remove

    store = _store(pipeline, writable=True)
    try:
        names = {name for _root, name, _path in store.roots_of()}
        if options.name not in names:
            from kr_core.errors import suggestion

            raise ConfigError(
                "nothing is indexed under this name",
                where=options.name,
                todo=suggestion(options.name, names, "names"),
            )
        count = remove(store, options.name)
    finally:
        store.close()
    print(printable(f"removed: {options.name}, {_counted(count, 'file')}"))
    return 0


def _store(pipeline: Pipeline, *, writable: bool = False) -> DocumentStore:
    path = pipeline.config.state_folder / FILE_NAME
    if not writable and not path.exists():
        raise ConfigError("nothing is indexed yet", todo="`kr docs index PATH` indexes a folder or a file")
    return DocumentStore(path, writable=writable)


def _paths(given: list[str], working: Path) -> list[Path]:
    paths = [Path(os.path.abspath(working / Path(path).expanduser())) for path in given]  # noqa: PTH100  keeps symbolic links
    for path in paths:
        if not path.exists():
            raise ConfigError("there is no such file or folder", where=str(path))
    return [path.resolve() for path in paths]


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
    try:
        with (
            sys.stdin
            if options.batch == "-"
            else Path(options.batch).open(encoding="utf-8", errors="replace") as lines
        ):
            for line in lines:
                if line.strip():
                    yield line.strip()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=options.batch) from None


def _as_dict(hit: DocumentHit, pipeline: Pipeline) -> dict[str, object]:
    path = _shown(Path(hit.path), pipeline)
    return {"path": path, "locator": f"{path}{hit.locator}", "score": round(hit.score, 4), "text": hit.text}


def _print(hits: list[DocumentHit], pipeline: Pipeline) -> None:
    for number, hit in enumerate(hits, start=1):
        print(printable(f"{number}. {_shown(Path(hit.path), pipeline)}{hit.locator}  ({hit.score:.2f})"))
        lines = [line for line in hit.text.split("\n") if line.strip()]
        for line in lines[:_SHOWN_LINES]:
            print(printable(f"   {line if len(line) <= _WIDTH else line[: _WIDTH - 3] + '...'}"))
        if len(lines) > _SHOWN_LINES:
            print("   ...")
        print()
    if not hits:
        print("nothing was found")


def _shown(path: Path, pipeline: Pipeline) -> str:
    """A path in the project by its place there, any other as it is."""
    root = pipeline.config.root
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


class _Counter:
    """A line on the terminal that moves while files are read."""

    def __init__(self, *, quiet: bool) -> None:
        self._moving = sys.stderr.isatty() and not quiet
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._shown:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)

    def show(self, files: int, passages: int) -> None:
        """Show how far the update is."""
        if self._moving:
            self._shown = True
            print(f"\r{files} files, {passages} new passages", end="", file=sys.stderr, flush=True)


_ACTIONS = {"index": _index, "search": _search, "list": _list, "remove": _remove}
