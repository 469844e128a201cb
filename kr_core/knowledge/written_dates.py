"""A day as people write it: in figures, or with the month's name in English, French, German or Spanish; pure."""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from functools import cache

__all__ = ["day_in", "is_day"]

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
