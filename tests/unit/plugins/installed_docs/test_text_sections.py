"""README and documentation files cut into sections."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_plugins.sources.installed_docs.text_sections import sections

MARKDOWN = """\
# Box

Introduction, long enough to be kept.

## Install ##

```bash
# a comment, no heading
pip install box
```

### Deep <a name="x"></a>

More text, long enough to be kept.

## Back

Text of back, long enough to be kept.
"""
RST = """\
===
Box
===

Introduction, long enough to be kept.

Install
-------

So, long enough to be kept::

    # a comment, no heading
    f()

Deep
~~~~

More text, long enough to be kept.

Back
----

Text of back, long enough to be kept.
"""


def outline(text, **options):
    return [(found.headings, found.line) for found in sections(text, **options)]


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    ("text", "lines"), [(MARKDOWN, (2, 6, 13, 17)), (RST, (4, 9, 17, 22))], ids=["markdown", "rst"]
)
def test_a_text_is_cut_at_its_headings(text, lines):
    """Each section has its headings, outermost first, and the line on which its text begins."""
    headings = [("Box",), ("Box", "Install"), ("Box", "Install", "Deep"), ("Box", "Back")]
    assert outline(text) == list(zip(headings, lines, strict=True))


@pytest.mark.parametrize("text", [MARKDOWN, RST], ids=["markdown", "rst"])
def test_code_stays_in_its_section(text):
    """A comment in an example is no heading, and the example is the section's code."""
    found = sections(text)[1]
    assert found.code[0].startswith("# a comment, no heading\n")


def test_a_hash_in_a_docstring_is_a_comment():
    """In a docstring `# text` belongs to an example; only underlined titles are headings."""
    text = "Lead, long enough to be kept.\n\n    x = 1\n# a comment\ny = 2\n\nNotes\n-----\nLong enough to be kept.\n"
    assert outline(text, docstring=True) == [((), 0), (("Notes",), 8)]


def test_a_fence_ends_only_at_its_like():
    """A fence of four backticks may show one of three."""
    text = "# Box\n\n````md\n```\n# no heading\n```\n# neither this one\n````\n\n## After\n\nText, long enough to be kept.\n"
    assert [headings for headings, _line in outline(text)] == [("Box",), ("Box", "After")]


def test_badges_and_short_remarks_are_left_out():
    """A section of badges or of a few words is nothing to cite."""
    text = "# Box\n\n[![build](https://x/b.svg)](https://x)\n<p align=center>\n\n## Empty\n\nSee.\n\n## Text\n\nLong enough to be kept.\n"
    assert outline(text) == [(("Box", "Text"), 11)]


def test_a_long_section_is_cut_at_paragraphs():
    """A section that is too long to cite becomes several, none of which begins inside a fence or indented code."""
    paragraphs = [f"Paragraph {number} " + "words " * 60 for number in range(20)]
    paragraphs[8] = (
        "```\n" + "\n\n".join(f"code_{n} = 'long enough to fill a line'" for n in range(90)) + "\n```"
    )
    text = "# Box\n\n" + "\n\n".join(paragraphs)
    found = sections(text)
    assert len(found) > 3
    assert sum(section.text.count("```") for section in found) == 2
    assert all(section.text.count("```") in {0, 2} for section in found)


@given(
    st.lists(
        st.sampled_from([*MARKDOWN.split("\n"), *RST.split("\n"), "```", "~~~~", "====", "<summary>x</summary>"]),
        max_size=40,
    )
)  # fmt: skip
def test_every_section_stands_where_it_says(lines):
    """Whatever the mark-up, the text of a section is found in the file from its line on."""
    for section in sections("\n".join(lines)):
        kept = section.text.split("\n")
        assert [line.rstrip() for line in lines[section.line : section.line + len(kept)]] == [
            line.rstrip() for line in kept
        ]
