"""Entries made anew from the reports on disk, for an index that was lost.

Read are KR's own reports and those found in the wild: a title (`# framework - topic`, or the topic alone), then
bold lines (`**Framework:** vue-easytable 2.x`, `**Version:**`, `**Topic:**`, `**Research Date:**` or
`**Researched:**`, ...). What the lines do not say is taken from the place: `frameworks/{framework}/{topic}.md`.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.plugin import STALE_MARK, Entry
from kr_core.toolkit import inside, lies_within, read_bytes
from kr_plugins.stores.files.report_files import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterator

_TITLE = re.compile(r"^#[ \t]+(.+)$", re.MULTILINE)
_BOLD = re.compile(r"^[ \t]*(?:[-*][ \t]+)?\*\*([A-Za-z ]+?)(?::\*\*|\*\*[ \t]*:)[ \t]*(.+)$", re.MULTILINE)
_SECTION = re.compile(r"^##[ \t]", re.MULTILINE)
_VERSION_AT_END = re.compile(r"^(.*\S)[ \t]+[(`]*(v?\d[\w.+-]*|latest)[)`]*$")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TITLE_PARTS = re.compile(r"(?<![ \t])[ \t]++[-\N{EN DASH}\N{EM DASH}][ \t]++")


def readable_text(file: Path) -> str | None:
    """The text of a report, or None if it is gone, empty or not text."""
    try:
        return as_text(read_bytes(file, limit=LARGEST))
    except OSError:
        return None


def as_text(raw: bytes) -> str | None:
    """The text of a report's bytes, or None if there is none in them."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeError:
        return None
    return text if text.strip() and "\0" not in text else None


def report_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The reports in a knowledge base by path, relative and whole; links that lead out are left out."""
    for file in sorted(files_below(folder, ".md")):
        path = file.relative_to(folder).as_posix()
        if inside(folder, path) and not file.name.startswith("."):
            yield path, file


def files_below(folder: Path, ending: str) -> Iterator[Path]:
    """The files in the folders of a knowledge base's frameworks; a link to a folder elsewhere is not followed."""
    frameworks = folder / "frameworks"
    if not lies_within(frameworks, folder):
        return
    for name in _names(frameworks):
        if not lies_within(frameworks / name, folder):
            continue
        for here, _folders, names in os.walk(frameworks / name):
            yield from (Path(here, one) for one in names if one.endswith(ending))


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  names are enough
    except OSError:
        return []


def written_on(file: Path) -> date:
    """The day on which a file was last written."""
    return datetime.fromtimestamp(file.stat().st_mtime, UTC).date()


def entry_of(path: str, text: str, *, undated: date) -> Entry | None:
    """The entry of one report, or None if the text has neither a title nor a framework line.

    When it was last read is not known: the research date stands for it.
    """
    from kr_core.toolkit import content_words

    section = _SECTION.search(text)
    head = text[: section.start()] if section else text
    lines = {name.strip().casefold(): _plain(value.rstrip(" \t\\")) for name, value in _BOLD.findall(head)}
    title = _TITLE.search(head)
    if title is None and "framework" not in lines:
        return None
    _, folder, *below = path.removesuffix(".md").split("/")
    framework, version = _framework_and_version(lines.get("framework", ""), lines.get("version", ""))
    named, topic = _title_parts(_plain(title.group(1).rstrip(" \t#")) if title else "", framework)
    topic = lines.get("topic") or topic or " ".join(below).replace("-", " ")
    researched = _DATE.search(lines.get("research date") or lines.get("researched") or "")
    day = _day(researched.group()) if researched else None
    return Entry(
        id="-".join((folder, *below)),
        framework=framework or named or folder,
        framework_version=version or "latest",
        topic=topic,
        tags=tuple(content_words(topic)),
        path=path,
        created=day or undated,
        last_accessed=day or undated,
        status="stale" if STALE_MARK in text else "fresh",
    )


def _framework_and_version(framework: str, version: str) -> tuple[str, str]:
    inline = _VERSION_AT_END.match(framework)
    if inline is None or version not in {"", inline.group(2)}:  # a name may end with a number of its own
        return framework, version
    return inline.group(1).rstrip("`(").strip(), inline.group(2)


def _title_parts(title: str, framework: str) -> tuple[str, str]:
    """The framework and the topic of a title; the framework is empty where the title is the topic alone."""
    if framework and title.casefold().startswith(framework.casefold()):
        rest = _TITLE_PARTS.split(title[len(framework) :], maxsplit=1)
        return framework, _plain(rest[1]) if len(rest) == 2 else title
    parts = _TITLE_PARTS.split(title, maxsplit=1)
    if len(parts) == 2 and not framework:
        return parts[0].strip(), parts[1].strip()
    return "", title


def _plain(text: str) -> str:
    """Without the marks of Markdown around it: code ticks, and the backslash with which KR keeps text plain."""
    return text.strip().strip("`").removeprefix("\\").strip()


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
