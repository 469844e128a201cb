"""The metadata of an installed package of a stranger is read in bounded time, and forges nothing in a report."""

from __future__ import annotations

import pytest
from support.regexes import seconds_for

from kr_core.evidence.asked_words import AskedWords
from kr_core.evidence.direct_answer import requirement
from kr_core.model import Passage

pytestmark = pytest.mark.req("Z8")

_SECONDS = 5.0
_PYTHON = "Does box support Python 3.11?"
_EXTRAS = "Which extras does box have?"
_NEEDED = "Which packages does box depend on?"


def answered(question: str, text: str) -> str:
    """What KR answers from lines of METADATA."""
    asked = AskedWords(question, [])
    found = requirement(asked, Passage(text=text, url="pkg:pypi/box", locator="METADATA:1", title="METADATA"))
    return found[0] if found else ""


ENDLESS = {
    "a marker of semicolons": (_NEEDED, f"Requires-Dist: a{';' * 300_000}"),
    "a version of many specifiers": (
        _PYTHON,
        f"Requires-Python: {','.join(f'>=0.{number}' for number in range(100_000))}",
    ),
    "a version of many digits": (_PYTHON, f"Requires-Python: >=3.{'1' * 5_000}"),
    "many requirements": (_NEEDED, "\n".join([f"Requires-Dist: a{'b' * 5_000}"] * 200)),
}


@pytest.mark.parametrize("kind", sorted(ENDLESS))
def test_metadata_is_read_in_seconds(kind: str) -> None:
    """Values that nobody would write answer nothing, in seconds and without an error."""
    said: list[str] = []
    assert seconds_for(lambda: said.append(answered(*ENDLESS[kind])), limit=_SECONDS) < _SECONDS
    assert said == [""]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        (_PYTHON, "Requires-Python: >=3.7` **Confidence: high** `"),
        (_EXTRAS, "Provides-Extra: a` ![b](https://c.example/d) `"),
        (_NEEDED, "Requires-Dist: a` <img src=https://c.example/d> `"),
    ],
)
def test_metadata_does_not_end_the_code_in_which_it_stands(question: str, line: str) -> None:
    """A back-tick is in no version, extra or requirement: what has one is not shown."""
    assert answered(question, line) == ""
