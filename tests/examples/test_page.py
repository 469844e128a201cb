"""What the page on embedding shows are the examples themselves."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
from pages import ROOT, blocks

EXAMPLES = ROOT / "examples"
SHOWN = {
    block.title: block.text for block in blocks(ROOT / "docs/how-to/embed.md") if block.title != "cell.py"
}


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_the_page_shows_the_example(example):
    """An example that is changed is changed on the page too, and has its requirements beside it."""
    assert SHOWN[example] == (EXAMPLES / example).read_text("utf-8")
    assert (EXAMPLES / "requirements" / example).with_suffix(".txt").exists()


def test_the_page_shows_the_notebook():
    """The cell on the page stands in the notebook, which has no outputs: they would differ each time."""
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text("utf-8"))["cells"]
    assert SHOWN["notebook.ipynb"].rstrip("\n") in ["".join(cell["source"]) for cell in cells]
    assert not any(cell.get("outputs") for cell in cells)
