"""What a client can read without calling a tool: the index of the knowledge base, and each report, found by words or by name."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from mcp_types import Resource, ResourceTemplate, TextResourceContents

from kr_core.aio import shielded
from kr_core.errors import ConfigError
from kr_core.knowledge.ids import fold_name
from kr_core.knowledge.report_words import ReportWords
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Entry
    from kr_core.protocols import Store
    from kr_core.server.served_project import ServedProject

__all__ = ["INDEX", "REPORT", "TEMPLATES", "Resources", "entry_of", "found", "report_of"]

REPORT = "kr://report/"
"""What a report's address begins with; its path in the knowledge base follows."""


def found(
    store: Store, words: str, framework: str | None, *, archived: bool
) -> tuple[list[Entry], tuple[str, ...]]:
    """The entries that hold most of the words, or whose reports do, and notes on the search.

    The best come first, and an entry's own words count more than its report's.
    """
    search = ReportWords(store, words)
    entries = [
        entry
        for entry in (store.archived() if archived else store.entries())
        if framework is None or fold_name(entry.framework) == fold_name(framework)
    ]
    weighed = [
        (len(one.all) + len(one.own) / 2, one.entry)
        for one in search.of(entries)
        if one.all and len(one.all) * 2 >= len(search.wanted)
    ]
    return [entry for _weight, entry in sorted(weighed, key=lambda one: -one[0])], search.notes


def report_of(store: Store, name: str) -> tuple[Entry, str]:
    """An entry, archived ones too, and its report, by its id, path or address.

    Raises:
        ConfigError: there is none, or several have the id.
    """
    entry = entry_of(store, name, archived=True)
    stored = store.read(entry)
    if stored is None:
        raise ConfigError("is gone or empty", where=entry.path, hint="research the question again")
    return entry, stored[0]


def entry_of(store: Store, name: str, *, archived: bool = False) -> Entry:
    """The entry of an id, path or address.

    Raises:
        ConfigError: there is none, or several have the id.
    """
    name = name.strip().removeprefix(REPORT)
    known = list(store.entries())
    entry = _named(name, known) or (_named(name, store.archived()) if archived else None)
    if entry is None:
        near = get_close_matches(name, [one.id for one in known], 1)
        hint = f"did you mean {near[0]}?" if near else "search_knowledge lists what there is"
        raise ConfigError("no such report", where=name, hint=hint)
    return entry


def _named(name: str, entries: Sequence[Entry]) -> Entry | None:
    same = [entry for entry in entries if name in {entry.id, entry.path}]
    if len(same) > 1:
        paths = ", ".join(entry.path for entry in same)
        raise ConfigError("several reports have this id", where=name, hint=f"give the path of one: {paths}")
    return same[0] if same else None


INDEX = "kr://index"
TEMPLATES = (
    ResourceTemplate(
        name="report",
        title="A report",
        uri_template=f"{REPORT}{{+path}}",
        description="A report of the knowledge base, by its path in the index",
        mime_type="text/markdown",
    ),
)
PER_PAGE = 100
_CURSOR = 20
"""Characters."""


class Resources:
    """The resources of a project.

    Args:
        project: whose they are.
    """

    def __init__(self, project: ServedProject) -> None:
        self._project = project

    async def listed(self, cursor: str | None) -> tuple[list[Resource], str | None]:
        """A page of the resources, and the cursor of the next one.

        Raises:
            ConfigError: the cursor is none that was given out.
        """
        store = (await self._project.pipeline()).store
        entries = await shielded(store.entries)
        start = _number(cursor)
        shown = [
            Resource(
                name=printable(entry.id),
                title=printable(f"{entry.framework} {entry.framework_version}: {entry.topic}"),
                uri=f"{REPORT}{quote(entry.path)}",
                mime_type="text/markdown",
                description=f"A {entry.status} report of {entry.created}",
            )
            for entry in entries[start : start + PER_PAGE]
        ]
        if start == 0:
            shown.insert(0, _INDEX)
        after = start + PER_PAGE
        return shown, str(after) if after < len(entries) else None

    async def read(self, uri: str) -> TextResourceContents:
        """The text of a resource.

        Raises:
            ConfigError: there is none of this address.
        """
        store = (await self._project.pipeline()).store
        if uri == INDEX:
            entries = await shielded(store.entries)
            told = [entry.model_dump(mode="json") for entry in entries]
            text = json.dumps(told, ensure_ascii=False, indent=1)
            return TextResourceContents(uri=uri, text=text, mime_type="application/json")
        if not uri.startswith(REPORT):
            raise ConfigError("no such resource", where=uri, hint="resources/list shows what there is")
        path = unquote(uri.removeprefix(REPORT))
        _entry, report = await shielded(lambda: report_of(store, path))
        return TextResourceContents(uri=uri, text=printable(report), mime_type="text/markdown")


_INDEX = Resource(
    name="index",
    title="The index of the knowledge base",
    uri=INDEX,
    mime_type="application/json",
    description="All reports with library, version, topic, tags, path and status",
)


def _number(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < _CURSOR):
        raise ConfigError("is no cursor of this list", where=cursor, hint="begin without one")
    return int(cursor)
