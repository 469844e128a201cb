"""How a note is divided."""

import pytest

from kr_source_example.sections import sections


def titles(note):
    return [section.title for section in sections(note, "note")]


def test_a_passage_is_what_stands_below_one_heading():
    """Its title names the headings that lead to it; its text is verbatim and begins at the heading's line."""
    note = "# Orders\n\nTakes orders.\n\n## Deploy\n\nMerge  to `main`.\n\n## Roll back\n\nAsk first.\n"
    first, second, third = sections(note, "orders")
    assert (first.title, first.line, first.text) == ("Orders", 1, "# Orders\n\nTakes orders.")
    assert (second.title, second.line) == ("Orders / Deploy", 5)
    assert second.text == "## Deploy\n\nMerge  to `main`."
    assert second.lead == "Merge to `main`."
    assert third.title == "Orders / Roll back"


def test_a_heading_ends_those_of_its_level_and_below():
    """The trail is that of the outline, also where levels are skipped."""
    note = "# A\n\na\n\n### B\n\nb\n\n## C\n\nc\n\n# D\n\nd\n"
    assert titles(note) == ["A", "A / B", "A / C", "D"]


def test_text_above_the_first_heading_bears_the_name_of_the_note():
    """A note without headings is a section."""
    assert titles("Only this.\n") == ["note"]
    assert titles("Before.\n\n# Heading\n\nAfter.\n") == ["note", "Heading"]


def test_headings_with_nothing_below_them_are_left_out():
    """They are part of the titles below them all the same."""
    assert titles("# A\n\n## B\n\ntext\n\n## C\n") == ["A / B"]
    assert titles("A\n=\n\nB\n-\n\ntext\n") == ["A / B"]


@pytest.mark.parametrize(
    "heading", ["# On call", "# On call #", "On call\n=======", "  # On call", "#\tOn call"]
)
def test_both_ways_to_write_a_heading(heading):
    """Marked by `#` or by a line below it."""
    (section,) = sections(f"{heading}\n\nMonday at ten.\n", "note")
    assert (section.title, section.lead) == ("On call", "Monday at ten.")


@pytest.mark.parametrize("text", ["#channel", "- item\n---", "\n---", "| a |\n---", "####### seven"])
def test_what_only_looks_like_a_heading(text):
    """A tag, a rule and a table are text."""
    assert titles(f"before\n\n{text}\n\nafter\n") == ["note"]


def test_code_is_what_stands_between_fences():
    """A `#` in it is a comment, not a heading; indentation that all lines share is taken away."""
    note = "# A\n\n1. Run\n\n   ```sh\n   # first\n   make\n     all\n   ```\n\n~~~\n```\nraw\n~~~\n"
    (section,) = sections(note, "note")
    assert section.code == ("# first\nmake\n  all", "```\nraw")
    assert section.lead == "1. Run"


def test_a_fence_that_is_never_closed():
    """It goes to the end of the note, as Markdown says."""
    (section,) = sections("# A\n\n```\nmake\n# B\n", "note")
    assert section.code == ("make\n# B",)


@pytest.mark.parametrize(
    "matter", ["---\nowner: me\n---\n", "---\nowner: me\n...\n", "+++\nowner = 'me'\n+++\n"]
)
def test_front_matter_is_skipped(matter):
    """Lines are counted from the top of the file all the same."""
    (section,) = sections(f"{matter}# A\n\ntext\n", "note")
    assert section.line == 4
    assert "owner" not in section.text


def test_a_rule_on_the_first_line_is_no_front_matter_without_an_end():
    """Nothing of the note is lost."""
    (section,) = sections("---\ntext\n", "note")
    assert section.text == "---\ntext"


def test_a_long_section_is_divided_at_blank_lines():
    """Each piece knows its line; code is never divided."""
    paragraph = "word " * 200
    code = "```\n" + "line\n\n" * 800 + "```"
    note = "# A\n\n" + f"{paragraph}\n\n" * 8 + code + "\n"
    found = sections(note, "note")
    assert len(found) > 1
    assert {section.title for section in found} == {"A"}
    for section in found:
        assert "\n".join(note.split("\n")[section.line - 1 :]).startswith(section.text)
    assert [bool(section.code) for section in found] == [*[False] * (len(found) - 1), True]


def test_line_ends_of_every_system():
    """A note from Windows reads as any other."""
    assert sections("# A\r\n\r\ntext\r\n", "note") == sections("# A\n\ntext\n", "note")


@pytest.mark.parametrize(
    "note", ["", "\n\n", "---\n---\n", "# A\n\n```\n```\n", "\x00", "#" * 100_000, "`" * 100_000]
)
def test_any_text_is_read(note):
    """Nothing that a file may hold stops the reading."""
    assert isinstance(sections(note, "note"), list)
