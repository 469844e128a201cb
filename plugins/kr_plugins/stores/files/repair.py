"""What is wrong with a knowledge base, and its index made again from the reports and from what a broken index still tells."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.plugin import SKELETON_MARK, Issue
from kr_core.toolkit import yaml_text
from kr_plugins.stores.files.folder import reason
from kr_plugins.stores.files.index import ARCHIVED, BOM, LIVE, Index, IndexRow, RowChange
from kr_plugins.stores.files.index_edit import item_of, odd_values, read
from kr_plugins.stores.files.index_file import CONFLICT_MARK, UnreadableIndexError, parse
from kr_plugins.stores.files.index_merge import resolve_conflict
from kr_plugins.stores.files.reports import ReportList, entry_of, readable_text, written_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kr_core.plugin import Entry
    from kr_plugins.stores.files.folder import KnowledgeFolder
    from kr_plugins.stores.files.index_file import IndexFile

_REBUILD = "`kr cache rebuild`"
_HINT = {
    "unreadable": f"mend it, or {_REBUILD}",
    "nothing": "mend it, or remove it",
    "duplicate": "give one of them another id, or remove it",
    "path": f"correct it, or {_REBUILD} to leave the entry out",
    "value": f"correct it, or {_REBUILD}",
}


# -- looking -----------------------------------------------------------------------------------------------


def flaws(
    folder: KnowledgeFolder,
    live: IndexFile,
    archive: IndexFile,
    today: date,
    look: Callable[[Entry, str], None],
) -> list[Issue]:
    """Everything that is wrong, the index first, then reports by path.

    Args:
        folder: the knowledge base.
        live: its index.
        archive: the index of what left it.
        today: the day that counts.
        look: is called with each entry of the index that has a report, and that report.
    """
    found: list[Issue] = []
    known: set[str] = set()
    reports = ReportList(folder.root)
    broken = False
    for file in (live, archive):
        try:
            index = file.read()
        except (OSError, UnreadableIndexError) as error:
            place = file.place_of(error)
            found.append(Issue("unreadable", place, f"cannot be read: {reason(error)}", _HINT["unreadable"]))
            broken = True
            continue
        known |= index.paths
        found += _of_items(folder, file, index, today)
        if file is live:
            found += _dangling(folder, index, reports, look, "its report")
        else:
            found += _dangling(folder, index, reports, lambda *_: None, "archived, and its report")
    if not broken:  # else every report would seem to be nobody's
        found += _orphans(reports, known)
    return found


def _of_items(folder: KnowledgeFolder, file: IndexFile, index: Index, today: date) -> Iterator[Issue]:
    for odd in index.oddities:
        is_lost = odd.kind == "unreadable" and not _can_be_completed(
            folder, index.rows[odd.number - 1], today
        )
        yield Issue(odd.kind, _at(file, odd.line), odd.message, _HINT["nothing" if is_lost else odd.kind])
    for number, row in enumerate(index.rows):
        if not row.is_plain(today) and row.read.entry is not None:
            for said in odd_values(row.read.item, row.read.entry, today):
                place = _at(file, index.line_of(number))
                yield Issue(
                    "value", place, f"entry {number + 1}, {row.read.entry.id}: {said}", _HINT["value"]
                )


def _at(file: IndexFile, line: int | None) -> str:
    return f"{file.path}:{line}" if line else str(file.path)


def _dangling(
    folder: KnowledgeFolder,
    index: Index,
    reports: ReportList,
    look: Callable[[Entry, str], None],
    where: str,
) -> Iterator[Issue]:
    for entry in index.entries:
        text = reports.text(entry.path)
        if text is None:
            file = folder.report(entry.path)
            if file is None:
                continue
            text = readable_text(file)
        if text is not None:
            look(entry, text)
        else:
            hint = f"bring {entry.path} back, or {_REBUILD}; else it is dropped when it is next asked for"
            yield Issue("dangling", entry.id, f"{where} is gone, empty or no text", hint)


def _orphans(reports: ReportList, known: set[str]) -> Iterator[Issue]:
    for path, file in reports.reports(besides=known):
        text = readable_text(file)
        if text is not None and SKELETON_MARK not in text:
            if entry_of(path, text, undated=written_on(file)) is None:
                hint = (
                    "give it a title and a line `**Framework:** name version`, or move it out of the folder"
                )
                yield Issue(
                    "orphan", path, "no entry leads to it, and it does not say what it is about", hint
                )
            else:
                yield Issue("orphan", path, "no entry leads to it", f"{_REBUILD} takes it up")
    for path in reports.evidence_alone():
        yield Issue("orphan", path, "its report is gone", "remove it, or bring the report back")


# -- mending -----------------------------------------------------------------------------------------------


class _Made(NamedTuple):
    """A row and how it came about: `kept`, `mended` or `made` from its report; or why it is left out: `lost` or `double`."""

    row: IndexRow
    how: str
    undated: str = ""
    """The path of its report, where that tells no day, so that the file's counts."""


def rebuild(folder: KnowledgeFolder, live: IndexFile, archive: IndexFile, today: date) -> list[str]:
    """Make both index files anew where that changes them; say what was done, a line for each file.

    Raises:
        OSError: a file cannot be written.
    """
    said = []
    archived = _readable(archive, ARCHIVED, today)
    if archived.is_broken:
        aside = folder.set_aside(archive.path, "corrupt")
        archive.save(archived.contents, before=None)
        said.append(
            f"{archive.path.name}: {len(archived.contents.entries)} entries could be read; set aside as {aside}"
        )
    found = _readable(live, LIVE, today)
    made = list(_rows(folder, found.contents, archived.contents.paths, today))
    index = found.contents.with_rows(one.row for one in made if one.how not in _LEFT_OUT)
    if not found.is_broken and index.rows == found.contents.rows:
        return said
    aside = ""
    if live.path.exists():
        aside = f"; set aside as {folder.set_aside(live.path, 'corrupt' if found.is_broken else 'before')}"
    live.save(index, before=None)
    counts = Counter(one.how for one in made)
    told = ", ".join(f"{counts[how]} {what}" for how, what in _SAID.items() if counts[how])
    return [*said, f"{live.path.name}: {told or 'no entries'}{aside}", *_undated(made)]


def _undated(made: Iterable[_Made]) -> list[str]:
    """A line about the reports that tell no day, if there are any."""
    paths = [one.undated for one in made if one.undated]
    if not paths:
        return []
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    tell = "1 report tells" if len(paths) == 1 else f"{len(paths)} reports tell"
    says = f"{tell} no day of their research that KR can read; the day on which the file was written counts"
    return [f"{says}: {', '.join(paths[:_NAMED])}{more}"]


_NAMED = 3
"""A note names at most this many reports."""


_SAID = {
    "kept": "entries kept",
    "mended": "mended",
    "made": "made from their reports",
    "lost": "without a report left out",
    "double": "left out, since another leads to the same report",
}
_LEFT_OUT = frozenset({"lost", "double"})


def rebuilt(
    folder: KnowledgeFolder, live: IndexFile, archived: frozenset[str], today: date
) -> tuple[Index, list[str]]:
    """The index of a file that cannot be parsed: what it still tells, and the rest from the reports; also a note on their days."""
    found = _readable(live, LIVE, today)
    made = list(_rows(folder, found.contents, archived, today))
    return found.contents.with_rows(one.row for one in made if one.how not in _LEFT_OUT), _undated(made)


def salvaged_rows(file: IndexFile, today: date) -> list[IndexRow]:
    """The items of a broken file that can still be read; none where the file cannot be."""
    try:
        return salvaged(file.raw(), today)
    except OSError:
        return []


class _Found(NamedTuple):
    contents: Index
    is_broken: bool


def _readable(file: IndexFile, key: str, today: date) -> _Found:
    """An index, or what can be read of a broken one: its head, and its items one by one."""
    try:
        return _Found(file.read(), is_broken=False)
    except UnreadableIndexError:
        index = resolve_conflict(file.raw(), undated=today)
        if index is not None and index.key == key:
            return _Found(index, is_broken=True)
        index = head_of(file.raw(), key, file.new(), today)
        rows = [one.read for one in salvaged_rows(file, today)]
        changes = [RowChange(one.entry, item=one.item) for one in rows if one.entry is not None]
        return _Found(index.with_entries(changes), is_broken=True)


def _rows(folder: KnowledgeFolder, index: Index, archived: frozenset[str], today: date) -> Iterator[_Made]:
    """The rows of the old index that have a report, in their order, then those of reports without one."""
    found = ReportList(folder.root)
    reports = {
        path: text
        for path, file in found.reports()
        if (text := found.text(path) or readable_text(file)) is not None and SKELETON_MARK not in text
    }
    seen: set[str] = set()
    for number, row in enumerate(index.rows):
        entry, undated = row.read.entry, ""
        if entry is None:
            entry, undated = _completed(row, reports, folder, today)
        if entry is None:
            yield _Made(row, "kept")  # it is none of ours
        elif entry.path in seen:
            yield _Made(row, "double")
        elif folder.report(entry.path) is None or (
            entry.path not in reports and readable_text(folder.root / entry.path) is None
        ):
            yield _Made(row, "lost")
        else:
            seen.add(entry.path)
            best = _possible(_latest(entry, index), today)
            mended = index.changed_row(number, best) if best != row.read.entry else row
            yield _Made(mended, "kept" if mended is row else "mended", undated)
    known = seen | archived  # one union for each report would take minutes
    for path, text in reports.items():
        made, undated = (None, "") if path in known else _told(folder, path, text)
        if made is not None:
            yield _Made(index.new_row(made), "made", undated)


def _told(folder: KnowledgeFolder, path: str, text: str) -> tuple[Entry | None, str]:
    """The entry of a report, and its path where the day of its file counts."""
    made = entry_of(path, text, undated=date.min)
    if made is None or made.created > date.min:
        return made, ""
    day = written_on(folder.root / path)
    return made.model_copy(update={"created": day, "last_accessed": day}), path


def _can_be_completed(folder: KnowledgeFolder, row: IndexRow, today: date) -> bool:
    """Whether `rebuild` makes an entry of an item that lacks something."""
    path = row.read.item.get("path") if isinstance(row.read.item, dict) else None
    if not isinstance(path, str):
        return False
    file = folder.report(path)
    text = None if file is None else readable_text(file)
    return text is not None and _completed(row, {path: text}, folder, today)[0] is not None


def _completed(
    row: IndexRow, reports: dict[str, str], folder: KnowledgeFolder, today: date
) -> tuple[Entry | None, str]:
    """The entry of an item that lacks something, where its report says the rest; and as `_told`."""
    item = row.read.item
    path = item.get("path") if isinstance(item, dict) else None
    if not isinstance(path, str) or path not in reports:
        return None, ""
    told, undated = _told(folder, path, reports[path])
    if told is None:
        return None, ""
    usable = {key: value for key, value in item.items() if value not in (None, "", [], {})}
    entry = read({**told.model_dump(mode="json"), **usable}, today).entry or told
    return entry, undated if entry.created == told.created else ""


def _latest(entry: Entry, index: Index) -> Entry:
    """The entry with the best that all items on its report say: first created, last used."""
    same = index.on_report(entry.path) or (entry,)
    if len(same) == 1 and same[0] == entry:
        return entry
    used = max(same, key=lambda one: one.last_accessed)
    return entry.model_copy(
        update={"created": min(one.created for one in same), "last_accessed": used.last_accessed}
    )


def _possible(entry: Entry, today: date) -> Entry:
    """The entry with no date in the future."""
    if max(entry.created, entry.last_accessed) <= today:
        return entry
    return entry.model_copy(
        update={"created": min(entry.created, today), "last_accessed": min(entry.last_accessed, today)}
    )


_MOST_LINES = 60
"""So many lines of an item are tried where a file is broken; KR's own have about a dozen."""
_MOST_SALVAGED = 10_000
"""Pieces of a broken index that are tried one by one."""
_MOST_TRIED = 10_000_000
"""Characters that are tried in all: a piece that is broken itself is tried once for each of its lines."""
_TRY = 500
"""Characters that are read in the time that each attempt takes besides."""


def head_of(text: str, key: str, new: Index, undated: date) -> Index:
    """An empty index with the comments and keys before the list of a broken file, as far as they can be read."""
    text = _without_marks(text)
    found = re.search(rf"^{key}:", text, re.MULTILINE)
    if found is None:
        return new
    try:
        return parse(f"{text[: found.start()]}{key}: []\n", key=key, header=new.header or {}, undated=undated)
    except UnreadableIndexError:
        return new


def salvaged(text: str, undated: date) -> list[IndexRow]:
    """The items of a broken index file that can still be read one by one.

    The marks of a merge conflict are passed over, so that both sides count.
    """
    left = [_MOST_TRIED]
    found = (read(_item(chunk, left), undated) for chunk in _chunks(_without_marks(text)))
    return [IndexRow("", made) for made in found if made.entry is not None]


def _without_marks(text: str) -> str:
    text = text.removeprefix(BOM).replace("\r\n", "\n")
    return "".join(line for line in text.splitlines(keepends=True) if not CONFLICT_MARK.match(line))


def _item(chunk: str, left: list[int]) -> Any:
    """What a piece of a broken file says; where it cannot be read, what its lines before the break say."""
    lines = chunk.splitlines(keepends=True)[:_MOST_LINES]
    while lines:
        tried = "".join(lines)
        left[0] -= len(tried) + _TRY
        if left[0] < 0:
            return None
        try:
            return item_of(tried)
        except (yaml_text.YAMLError, ValueError, RecursionError):
            lines.pop()
    return None


def _chunks(text: str) -> list[str]:
    """The text cut wherever the least indented dashes stand."""
    dashes = list(re.finditer(r"^( *)- ", text, re.MULTILINE))
    if not dashes:
        return []
    indent = min((dash.group(1) for dash in dashes), key=len)
    starts = [dash.start() for dash in dashes if dash.group(1) == indent][: _MOST_SALVAGED + 1]
    chunks = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)][:_MOST_SALVAGED]
    # Where the list ends, or the file was cut off, what follows is none of the item's.
    return [
        re.split(rf"^(?!{indent}[ -]|[^\S\n]*+(?:$|#))", chunk, maxsplit=1, flags=re.MULTILINE)[0]
        for chunk in chunks
    ]
