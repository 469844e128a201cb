"""The pages for contributors show the code as it is."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from pages import ROOT

PAGE = (ROOT / "docs/design.md").read_text("utf-8")
LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]


@pytest.mark.req("I4")
def test_the_layers_of_the_page_are_those_that_are_checked() -> None:
    """The page lists the layers of kr_core that `make check` verifies, in their order."""
    checked = next(each["layers"] for each in LINTER["contracts"] if each.get("containers") == ["kr_core"])
    shown = re.search(r"^Layers hold .+?\n```text\n(.+?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
    assert shown is not None
    assert shown[1].splitlines() == checked


@pytest.mark.req("I4")
@pytest.mark.parametrize("package", ["kr_core", "plugins/kr_plugins"])
def test_each_folder_is_on_the_page(package: str) -> None:
    """The page says of each folder what is in it."""
    folders = {each.parent.name for each in (ROOT / package).glob("*/__init__.py")}
    assert folders
    assert {folder for folder in folders if f"`{folder}/`" not in PAGE} == set()


@pytest.mark.req("I4")
def test_what_the_table_for_contributors_names_is_there() -> None:
    """Each file and name in the table "Where do I change" exists, the name in a file of its row."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) >= 10
    for row in rows:
        files = [ROOT / path for path in re.findall(r"`((?:kr_core|plugins|tests)/[^`]+)`", row)]
        missing = [path for path in files if not path.exists()]
        assert (row, missing) == (row, [])
        texts = [
            each.read_text("utf-8")
            for path in files
            for each in (path.glob("*.py") if path.is_dir() else [path, *path.parent.glob("*.py")])
        ]
        for name in re.findall(r"`(_?[A-Z_]{4,})`", row):
            assert any(re.search(rf"^(?:\w+, )?{name}\b", one, re.MULTILINE) for one in texts), name
