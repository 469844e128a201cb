"""What the head of a report says of it: its title, then bold lines, in English or in any other language; pure.

Read are KR's own reports and those found in the wild: `# framework - topic`, or the topic alone, then `**Framework:** vue 3.x`,
`**Version:**`, `**Topic:**`, `**Research Date:**` or `**Researched:**`. A label in another language is told by its value: a
date, a version, or the framework's name.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from functools import cache
from typing import NamedTuple

from kr_core.knowledge.ids import fold_name, framework_folder

__all__ = ["ReportFacts", "day_in", "is_day", "is_framework_of", "report_facts"]

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
_FIGURES = (
    r"(?P<y>\d{4})(?:-|/|\.|[ ]?年[ ]?|년[ ]?)(?P<m>\d{1,2})(?:-|/|\.|[ ]?月[ ]?|월[ ]?)(?P<d>\d{1,2})(?:[ ]?日|일)?"
    r"|(?P<day>\d{1,2})\.[ ]?(?P<month>\d{1,2})\.[ ]?(?P<year>\d{4})"
)
"""`02/03/2026` is a day in February or in March, and so none."""
_NAMED = (
    r"|(?P<named_day>\d{1,2})(?:st|nd|rd|th|er|\.)?[ ](?:de[ ])?(?P<name>[a-z]{3,10})\.?,?[ ](?:del?[ ])?(?P<of>\d{4})"
    r"|(?P<first_name>[a-z]{3,10})\.?[ ](?P<first_day>\d{1,2})(?:st|nd|rd|th)?,?[ ](?P<first_of>\d{4})"
)
_MONTHS = """jan january janv janvier januar ene enero|feb february fev fevr fevrier februar febrero
mar march mars marz maerz mrz marzo|apr april avr avril abr abril|may mai mayo|jun june juin juni junio
jul july juil juillet juli julio|aug august aout ago agosto|sep sept september septembre septiembre
oct october octobre okt oktober octubre|nov november novembre noviembre
dec december decembre dez dezember dic diciembre"""
_LONGEST = 200


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


def day_in(text: str, *, anywhere: bool) -> date | None:
    """The first day that a text names.

    Args:
        text: one line.
        anywhere: the line is known to tell a day. Otherwise it must begin with it, and only a remark may follow.
    """
    plain = unicodedata.normalize("NFKD", text[:_LONGEST].casefold())
    plain = unicodedata.normalize("NFC", "".join(one for one in plain if not unicodedata.combining(one)))
    in_text, at_start, months = _patterns()
    found = in_text.search(plain) if anywhere else at_start.match(plain)
    if found is None:
        return None
    year = found["y"] or found["year"] or found["of"] or found["first_of"]
    month = found["m"] or found["month"] or months.get(found["name"] or found["first_name"], "0")
    day = found["d"] or found["day"] or found["named_day"] or found["first_day"]
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def is_day(text: str) -> bool:
    """Whether a text is a day in figures, and nothing else."""
    return re.fullmatch(_FIGURES, text, re.ASCII) is not None


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, str]]:
    """What finds a day in a text and at its start, and the months by name: made when the first is asked for."""
    day = f"(?<![0-9])(?:{_FIGURES}{_NAMED})(?![0-9])"
    names = re.split(r"[|\n]", _MONTHS)
    months = {name: str(number) for number, line in enumerate(names, 1) for name in line.split()}
    remark = r"(?=\s*$|\s*[,;(\[|\u2013\u2014]|\s+-\s)"
    return re.compile(day, re.ASCII), re.compile(day + remark, re.ASCII), months
