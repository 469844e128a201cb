"""Docstrings taken apart."""

import inspect
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_plugins.sources.installed_docs.python.docstrings import clean, described, lead, parse

GOOGLE = """\
Send it.

Args:
    url (str): Where to.
        More on it.
    timeout (Optional[Dict[str, int]], optional): Seconds.
    *args: The rest.
    **kwargs: Others: with a colon.
    low, high: Two at once.

    verify: After a blank line.

Returns:
    x: No parameter.

Raises:
    ValueError: Neither.
"""
NUMPY = """\
Send it.

Parameters
----------
url : str
    Where to.
timeout, retries : int, optional
    Seconds.

    A second paragraph.
*args, **kwargs
    Others.
copy : bool, default: True

Returns
-------
out : int
    No parameter.
"""
SPHINX = """\
Send it.

:param url: Where to.
:type url: str
:param int timeout: Seconds,
    and more of it.
:param \\*\\*kwargs: Others.
:keyword verify: Whether.
:returns: No parameter.
:rtype: int
"""
BULLETS = """\
Send it.

**Parameters:**

* **url** - Where to.
* **timeout** - *(optional)* Seconds
  continued.
* `verify` - Whether.

**Returns:** `Response`
"""


def parameters(text):
    return [(entry.name, entry.type_text, entry.line) for entry in parse(text.split("\n")).parameters]


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            GOOGLE,
            [
                ("url", "str", 3),
                ("timeout", "Optional[Dict[str, int]], optional", 5),
                ("args", "", 6),
                ("kwargs", "", 7),
                ("low", "", 8),
                ("high", "", 8),
                ("verify", "", 10),
            ],
        ),
        (
            NUMPY,
            [
                ("url", "str", 4),
                ("timeout", "int, optional", 6),
                ("retries", "int, optional", 6),
                ("args", "", 10),
                ("kwargs", "", 10),
                ("copy", "bool, default: True", 12),
            ],
        ),
        (SPHINX, [("url", "str", 2), ("timeout", "int", 4), ("kwargs", "", 6), ("verify", "", 7)]),
        (BULLETS, [("url", "", 4), ("timeout", "", 5), ("verify", "", 7)]),
    ],
    ids=["google", "numpy", "sphinx", "bullets"],
)
def test_parameters_are_read_with_type_and_line(text, expected):
    """Each documented parameter is found in each of the four styles, with the line on which it begins."""
    assert parameters(text) == expected


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    ("text", "name", "lines"),
    [
        (GOOGLE, "url", (3, 5)),
        (NUMPY, "timeout", (6, 10)),
        (SPHINX, "timeout", (4, 6)),
        (BULLETS, "timeout", (5, 7)),
        (BULLETS, "verify", (7, 9)),
    ],
)
def test_a_parameter_ends_where_its_text_does(text, name, lines):
    """A parameter holds its continuation lines, and nothing of what follows the list."""
    found = next(entry for entry in parse(text.split("\n")).parameters if entry.name == name)
    assert (found.line, found.end) == lines


def test_text_after_a_google_section_is_no_parameter():
    """A sentence with a colon below the parameters belongs to none of them."""
    text = "Lead.\n\nArgs:\n    a: One.\nNot indented: text.\n"
    assert parameters(text) == [("a", "", 3)]


def test_a_parameter_may_hold_code():
    """A colon inside a fenced example within a parameter makes no further parameter."""
    text = "Lead.\n\nArgs:\n    a: As in:\n\n        ```\n        x: 1\n        ```\n    b: Other.\n"
    assert parameters(text) == [("a", "", 3), ("b", "", 8)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One line.", "One line."),
        ("Over\ntwo lines.\n\nNot this.", "Over two lines."),
        ("!!! warning\n    Do not.\n\nThe lead.", "The lead."),
        ("!!! note\n\n    A note.\n\n    More of it.\n\nThe lead.", "The lead."),
        (".. deprecated:: 1.0\n   Use other.\n\nThe lead.", "The lead."),
        (".. note::\n\n   A note.\n\n   More of it.\n\nThe lead.", "The lead."),
        ("Title\n=====\n\nThe lead.", "The lead."),
        ("```\npip install box\n```\n\nThe lead.", "The lead."),
        (">>> f(1)\n\nThe lead.", "The lead."),
        (":param x: What.\n", ""),
        ("The lead.\n:param x: What.", "The lead."),
        ("- A bullet.", "A bullet."),
        ("Page.goto\n\nGoes there.\n\nNot this.", "Goes there."),
        ("Page.goto\n:param x: What.", "Page.goto"),
        ("Page.goto", "Page.goto"),
        ("", ""),
    ],
)
def test_the_lead_is_the_first_prose(text, expected):
    """The lead is the first paragraph of prose: no admonition, directive, heading, field or code."""
    assert lead(text.split("\n")) == expected


@given(st.text(st.sampled_from(" \t\nab.:-`"), max_size=60))
def test_cleaning_is_what_inspect_does(text):
    """A cleaned docstring is the same as `inspect.cleandoc` makes, but for blanks at line ends, and says what it cut."""
    lines, cut = clean(text)
    expected = "\n".join(line.rstrip() for line in inspect.cleandoc(text).split("\n"))
    assert "\n".join(lines) == expected.strip("\n")
    assert not lines or text.expandtabs().split("\n")[cut].strip() == lines[0].strip()


@given(st.lists(st.sampled_from([*GOOGLE.split("\n"), *NUMPY.split("\n"), *SPHINX.split("\n"), *BULLETS.split("\n"),
                                 "```python", "```", "~~~", ".. note::", "::", ">>> f()", "    f(1)"]), max_size=25))  # fmt: skip
def test_any_mixture_of_styles_is_taken_apart(lines):
    """Whatever the lines, all parts lie inside the text, in order, and code is made of its lines."""
    found = parse(lines)
    for entry in found.parameters:
        assert 0 <= entry.line < entry.end <= len(lines)
        assert entry.name in lines[entry.line]
    for section in found.sections:
        assert 0 <= section.line < section.end <= len(lines)
    for before, after in zip(found.code, found.code[1:], strict=False):
        assert before.end <= after.line
    for block in found.code:
        whole = "\n".join(lines[block.line : block.end])
        assert all(line.strip() in whole for line in block.code.split("\n"))


def test_a_docstring_keeps_its_own_indentation():
    """Only the margin is taken away."""
    lines, cut = clean(textwrap.dedent("""
        Lead.

            indented
        back"""))  # fmt: skip
    assert (lines, cut) == (["Lead.", "", "    indented", "back"], 1)


@pytest.mark.req("A7")
@pytest.mark.parametrize(
    ("text", "name", "wanted"),
    [
        (
            "Head.\n\n    `finalize`\n        Called before output.\n\n        Twice.\n\n    `other`\n        No.",
            "finalize",
            (2, 6),
        ),
        (
            "Keywords:\n    - prog -- The name\n        of the program\n    - usage -- A message",
            "prog",
            (1, 3),
        ),
        ("Open a ZIP file.\n\nfile: The path,\n      or an object.\nmode: How.", "file", (2, 4)),
        ("Head.\n\n``parse_constant``, if given, is called\nwith NaN.\n\nMore.", "parse_constant", (2, 4)),
        ("Head.\n\nIf *strict* is set, it raises.", "strict", (2, 3)),
        ("Head.\n\nThe name of a thing.", "name", None),
        ("Head.\n\nfile\n", "file", None),
    ],
)
def test_a_parameter_is_described_outside_of_sections(text, name, wanted):
    """A definition list, a dash, a colon or a paragraph that marks the name as code describes a parameter."""
    assert described(text.split("\n"), name) == wanted


@pytest.mark.req("A1")
def test_fields_may_have_a_default_beside_the_name_and_be_of_keywords():
    """SQLAlchemy's `:param pool_size=5:` and pytest's `:kwparam type name:`."""
    lines = ["Make it.", "", ":param pool_size=5: how many", ":kwparam str | None match:", "    A pattern."]
    found = parse(lines).parameters
    assert [(one.name, one.type_text, one.default) for one in found] == [
        ("pool_size", "", "5"),
        ("match", "str | None", ""),
    ]
