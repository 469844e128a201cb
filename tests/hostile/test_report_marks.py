"""What a package says of itself is text in a report: no picture is loaded and no link made by it."""

from __future__ import annotations

import pytest
from support.regexes import seconds_for

from kr_core.evidence.citations import Citer, loads_or_links
from kr_core.model import Passage
from kr_core.testing.samples import report
from kr_plugins.renderers.markdown import values

pytestmark = pytest.mark.req("Z8")


@pytest.mark.parametrize(
    "said",
    [
        'Seconds ![p](https://c.example/f.png "title") to wait.',
        "Seconds ![p](<https://c.example/f f.png>) to wait.",
        "How large <img src=https://c.example/e.png> it is.",
        "How large <img/src=https://c.example/e.png> it is.",
        'The default is `"a` ![p](https://c.example/f.png) `"`.',
        "A tick ` and two `` ![p](https://c.example/f.png) end no code.",
        "An escaped \\` ![p](https://c.example/f.png) ` is no code.",
        "A tag <img alt='` ' src=https://c.example/e.png> ` begins before the code.",
    ],
)
def test_a_claim_with_a_picture_is_dropped(said: str) -> None:
    """A claim that Markdown would show as a picture, tag or link is left out, and a note says so."""
    citer = Citer()
    passage = Passage(text=said, url="pkg:pypi/box@1.0", locator="box/__init__.py:1", title="box")
    assert citer.claim(said, [citer.cite("docs", passage, said)], []) is None
    assert citer.dropped[-1].endswith("a picture, tag or link outside of code")


@pytest.mark.parametrize(
    "said",
    [
        "Use `handlers[name](event)` and ``<img src='`'>`` in a page.",
        "A `dict[str, int]` (default `None`) [1] is taken if x < y and y = 2.",
        "See `<a href=...>` for <name> of the thing [1][2].",
    ],
)
def test_marks_inside_code_are_shown(said: str) -> None:
    """Code may hold what would be a link or picture outside of it."""
    assert not loads_or_links(said)


def test_a_file_whose_name_is_a_picture_is_not_cited() -> None:
    """The name of a file stands in the list of citations; one that Markdown would show as a picture is not cited."""
    citer = Citer()
    place = "box/docs/![p](https:/c.example/q).md:3"
    passage = Passage(text="The box is fed.", url="pkg:pypi/box@1.0", locator=place, title="box")
    assert citer.cite("docs", passage, "The box is fed.") is None
    assert not citer.citations


@pytest.mark.parametrize("unit", ["`", "` ``", "`a", "<a ", "<a b", "!["])
def test_long_claims_are_looked_through_at_once(unit: str) -> None:
    """A text of many ticks or tags is looked through in linear time."""
    text = unit * (1_000_000 // len(unit))
    assert seconds_for(lambda: loads_or_links(text), limit=5.0) < 5.0


def test_a_note_names_what_was_left_out_as_text() -> None:
    """The note quotes the dropped claim and shows no picture."""
    made = report(note="quote dropped: ![p](https://c.example/f.png) <img src=https://c.example/e.png>")
    assert values(made)["notes"] == [
        "quote dropped: ![p] (https://c.example/f.png) < img src=https://c.example/e.png>"
    ]
