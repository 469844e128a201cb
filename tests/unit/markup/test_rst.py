"""Admonitions of reStructuredText in the index: what they say is found, and warnings keep their mark."""

import pytest

from kr_core.markup import rst
from kr_core.search.documents.loaders import read


@pytest.mark.req("E6")
@pytest.mark.parametrize("kind", ["warning", "danger", "note", "tip"])
@pytest.mark.parametrize("blank", ["", "\n"])
def test_an_admonition_is_text(kind, blank):
    """Its words are there wherever they stand; that something is a warning is, too."""
    text = f"Backups\n=======\n\nKept for a week.\n\n.. {kind}::\n{blank}   Never restore at noon.\n"
    body = "\n".join(piece.text for piece in read("a.rst", text.encode()).pieces)
    assert "Never restore at noon." in body
    assert f".. {kind}::" in body or (kind in {"note", "tip"} and blank)


LISTED = ".. list-table::\n   :header-rows: 1\n\n   * - Name\n     - Meaning\n"


@pytest.mark.req("E6")
def test_a_list_that_is_shown_as_a_table_is_whole():
    """Its directive and options are there, since they say which row is the heading; what follows it is not."""
    text = f"Names\n=====\n\n{LISTED}\n   * - WAIT\n\n     - Seconds.\n\nBehind.\n"
    (piece,) = read("a.rst", text.encode()).pieces
    assert piece.text == text.rstrip()


@pytest.mark.req("E6")
def test_a_long_one_is_divided_between_rows():
    """Each part has the headings with it, and its own place."""
    rows = [f"   * - NAME_{number}\n     - {'What it means. ' * 8}" for number in range(60)]
    pieces = list(read("a.rst", f"{LISTED}{chr(10).join(rows)}\n".encode()).pieces)
    assert len(pieces) > 2
    assert {piece.head for piece in pieces} == {"", LISTED.rstrip()}
    assert all(piece.text.startswith("   * - NAME_") for piece in pieces[1:])
    lines = f"{LISTED}{chr(10).join(rows)}".split("\n")
    assert all(lines[int(piece.location[1:]) - 1] == piece.text.split("\n")[0] for piece in pieces)


@pytest.mark.req("Z8")
def test_very_many_headings_without_a_blank_line_are_each_read_once(monkeypatch):
    """The rest of a paragraph was copied for each of its headings: 1 MB took minutes."""
    looked, count = [], 2_000

    def heading(rows):
        looked.append(len(rows))
        return read_heading(rows)

    read_heading = rst._heading
    monkeypatch.setattr(rst, "_heading", heading)
    found = list(rst.blocks("aaa\n===\n" * count + "===\nbbb\n===\nwords\nmore"))
    assert sum(looked) <= 3 * (count + 2)
    assert [block.location for block in found] == [f":{1 + 2 * number}" for number in range(count + 1)] + [
        f":{2 * count + 4}"
    ]
    assert [(block.kind, block.text) for block in found[-2:]] == [
        ("heading", "===\nbbb\n==="),
        ("prose", "words\nmore"),
    ]
