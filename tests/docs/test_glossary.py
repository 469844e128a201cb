"""The glossary names what is there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from pages import ROOT

CLASSES = re.findall(
    r"\| `(\w+)` \| `([\w/.]+)` \|$", (ROOT / "docs/glossary.md").read_text("utf-8"), re.MULTILINE
)


@pytest.mark.req("I4")
@pytest.mark.parametrize(("name", "file"), CLASSES)
def test_a_class_of_the_glossary_is_in_its_file(name: str, file: str) -> None:
    """A reader who looks a term up finds its class where the glossary says."""
    assert re.search(rf"^(class {name}\b|{name} = )", (ROOT / file).read_text("utf-8"), re.MULTILINE)


def test_no_term_is_explained_twice() -> None:
    """One word for one thing: a term has one row."""
    text = (ROOT / "docs/glossary.md").read_text("utf-8").partition("## In the code")[0]
    terms = [
        term for row in re.findall(r"^\| (.+?) \| .+ \|$", text, re.MULTILINE) for term in row.split(", ")
    ]
    assert len(CLASSES) > 10
    assert sorted({term for term in terms if terms.count(term) > 1}) == ["term"]
