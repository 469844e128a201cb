"""Admonitions of reStructuredText in the index: what they say is found, and warnings keep their mark."""

import pytest

from kr_core.search.documents.reading import read


@pytest.mark.req("E6")
@pytest.mark.parametrize("kind", ["warning", "danger", "note", "tip"])
@pytest.mark.parametrize("blank", ["", "\n"])
def test_an_admonition_is_text(kind, blank):
    """Its words are there wherever they stand; that something is a warning is, too."""
    text = f"Backups\n=======\n\nKept for a week.\n\n.. {kind}::\n{blank}   Never restore at noon.\n"
    body = "\n".join(piece.text for piece in read("a.rst", text.encode()).pieces)
    assert "Never restore at noon." in body
    assert f".. {kind}::" in body or (kind in {"note", "tip"} and blank)
