"""Jupyter notebooks: cells of Markdown and code, and what they printed; pictures and other data are left out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kr_core.markup import markdown
from kr_core.markup.blocks import Block

if TYPE_CHECKING:
    from collections.abc import Iterator

_OUTPUT = 2_000
"""Characters of what a cell printed; the rest is data."""
_LEVELS = range(1, 7)
_MAX_VALUES = 3_000_000
"""Brackets and commas of a notebook; an empty cell takes 3 bytes in the file, and 70 in memory."""


def blocks(data: bytes) -> Iterator[Block]:
    """The blocks of a notebook, placed by the number of their cell.

    Raises:
        ValueError: it is no JSON, or holds too much.
    """
    if sum(map(data.count, b"[{,")) > _MAX_VALUES:
        raise ValueError(f"it has more than {_MAX_VALUES:,} values")
    notebook = json.loads(data)
    if not isinstance(notebook, dict):
        return
    cells = _list(notebook.get("cells"))
    if notebook.get("cells") is None:  # before version 4
        sheets = [sheet for sheet in _list(notebook.get("worksheets")) if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in _list(sheet.get("cells"))]
    language = _language(notebook)
    for number, cell in enumerate(cells, start=1):
        if isinstance(cell, dict):
            yield from _cell(cell, f"#cell-{number}", language)


def _cell(cell: dict[str, Any], place: str, language: str) -> Iterator[Block]:
    text = _text(cell.get("source", cell.get("input", "")))
    kind = cell.get("cell_type")
    if kind == "heading":
        level = cell.get("level")
        if not isinstance(level, int) or level not in _LEVELS:
            level = 1
        yield Block("heading", text, place, level, " ".join(text.split()))
    elif kind == "markdown":
        yield from (block._replace(location=place) for block in markdown.blocks(text))
    elif kind == "code" and text.strip():
        yield Block("code", f"```{language}\n{text.rstrip()}\n```", place)
        printed = "".join(_printed(cell.get("outputs")))[:_OUTPUT].strip()
        if printed:
            yield Block("code", f"```text\n{printed}\n```", place)
    elif text.strip():
        yield Block("prose", text.strip(), place)


def _printed(outputs: Any) -> Iterator[str]:
    for output in _list(outputs):
        if isinstance(output, dict):
            data = output.get("data")
            text = output.get("text", data.get("text/plain", "") if isinstance(data, dict) else "")
            yield _text(text)[:_OUTPUT]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) and name.isalnum() else "python"
