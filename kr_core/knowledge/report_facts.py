"""What the head of a report says of it: its title, then bold lines, in English or in any other language; pure.

Read are KR's own reports and those found in the wild: `# framework - topic`, or the topic alone, then `**Framework:** vue 3.x`,
`**Version:**`, `**Topic:**`, `**Research Date:**` or `**Researched:**`. A label in another language is told by its value: a
date, a version, or the framework's name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.knowledge.ids import fold_name, framework_folder
from kr_core.knowledge.written_dates import day_in, is_day

if TYPE_CHECKING:
    from datetime import date

__all__ = ["ReportFacts", "is_framework_of", "report_facts"]

_TITLE = re.compile(r"^#[ \t]+(.+)$", re.MULTILINE)
_BOLD = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?\*\*([^*\n:\N{FULLWIDTH COLON}]{1,60})"
    r"(?:[:\N{FULLWIDTH COLON}]\*\*|\*\*[ \t]*[:\N{FULLWIDTH COLON}])[ \t]*(.+)$",
    re.MULTILINE,
)
_SECTION = re.compile(r"^##[ \t]", re.MULTILINE)
_VERSION_AT_END = re.compile(r"^(.*\S)[ \t]+[(`]*(v?\d[\w.+-]*|latest)[)`]*$")
_VERSION = re.compile(r"v?\d{1,9}(?:\.(?:\d{1,9}|x|\*)){1,9}[\w.+-]{0,40}|v\d{1,9}", re.ASCII)
_AND = re.compile(r"(?<![ \t])[ \t]+(?:[/+&|]|and)[ \t]+|[,;][ \t]+")
_DATES = ("research date", "researched", "date")
_KNOWN = {"framework", "version", "topic", "confidence", "score", "source", "sources", *_DATES}
_HEAD = 20_000
"""Characters of a report in which its head ends."""


class ReportFacts(NamedTuple):
    """What a report's head says; empty what it does not say."""

    title: str
    framework: str
    """As the report names it, without a version."""
    framework_version: str
    topic: str
    researched: date | None


def report_facts(text: str, folder: str = "") -> ReportFacts:
    """Read the head of a report.

    Args:
        text: the report.
        folder: the name of the framework's folder, which says what a report is about: of a line that names several frameworks
            (`React + TypeScript`) the one of the folder counts, or else the folder's name.
    """
    section = _SECTION.search(text, 0, _HEAD)
    head = text[: section.start() if section else _HEAD]
    lines = [(name.strip().casefold(), _plain(value.rstrip(" \t\\"))) for name, value in _BOLD.findall(head)]
    known = {name: value for name, value in lines if name in _KNOWN}
    others = [value for name, value in lines if name not in _KNOWN]
    title = _TITLE.search(head)
    framework, version = _framework(known, others, folder)
    return ReportFacts(
        _plain(title.group(1).rstrip(" \t#")) if title else "", framework, version, known.get("topic", ""),
        _researched(known, others),
    )  # fmt: skip


def _framework(known: dict[str, str], others: list[str], folder: str) -> tuple[str, str]:
    """The framework and the version, of the line in English or of one that says the same in another language."""
    said, version = known.get("framework", ""), known.get("version", "")
    if not version:
        version = next((one for one in others if _VERSION.fullmatch(one) and not is_day(one)), "")
    if not folder:
        return _name_and_version(said, version)
    for line in [said] if said else others:
        for part in [line, *_AND.split(line)]:
            name, inline = _name_and_version(part, version)
            if is_framework_of(name, folder):
                return name, inline
    name, inline = _name_and_version(said, version)
    return (folder, inline if said and not _AND.search(name) else version) if said else ("", version)


def is_framework_of(name: str, folder: str) -> bool:
    """Whether a name is that of the framework whose reports lie in a folder."""
    return bool(name) and (fold_name(name) == fold_name(folder) or framework_folder(name) == folder)


def _name_and_version(framework: str, version: str) -> tuple[str, str]:
    inline = _VERSION_AT_END.match(framework)
    if inline is None or version not in {"", inline.group(2)}:  # a name may end with a number of its own
        return framework, version
    return inline.group(1).rstrip("`(").strip(), inline.group(2)


def _researched(known: dict[str, str], others: list[str]) -> date | None:
    said = [day_in(known[name], anywhere=True) for name in _DATES if name in known]
    return next((day for day in said if day), None) or next(
        (day for value in others if (day := day_in(value, anywhere=False))), None
    )


def _plain(text: str) -> str:
    """Without the marks of Markdown around it: code ticks, and the backslash with which KR keeps text plain."""
    return text.strip().strip("`").removeprefix("\\").strip()
