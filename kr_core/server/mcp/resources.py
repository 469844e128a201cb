"""What a client can read without calling a tool: the index of the knowledge base, and each report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from mcp_types import Resource, ResourceTemplate, TextResourceContents

from kr_core.aio import shielded
from kr_core.errors import ConfigError
from kr_core.server.mcp.report_search import REPORT, report_of
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from kr_core.server.served_project import ServedProject

__all__ = ["INDEX", "TEMPLATES", "Resources"]

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
