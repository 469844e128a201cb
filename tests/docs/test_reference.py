"""The reference is complete and current."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import get_args

import pytest

from kr_core.hookspecs import NOUNS
from kr_core.model import ResearchResult
from kr_core.model.questions import AskResult

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from pages import PAGES, ROOT
from reference import pages

ASKED = {"agent", "router", "escalation", "runtime"}
"""What has a part in `kr ask`; all else but `SEARCHED` has one in `kr research`."""
SEARCHED = {"embedder"}
"""What has a part in `kr docs search`."""
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.req("I4")
def test_generated_pages_are_current() -> None:
    """What `make reference` would write stands in docs/reference."""
    for path, text in pages().items():
        assert path.read_text("utf-8") == text, f"{path.name} is old; run `make reference`"


@pytest.mark.parametrize("noun", NOUNS)
def test_every_hook_has_a_heading_and_its_contract(noun: str) -> None:
    """A new hook fails here until docs/reference/plugins.md describes it."""
    page = (ROOT / "docs" / "reference" / "plugins.md").read_text("utf-8")
    section = re.split(rf"^## {noun}$", page, flags=re.MULTILINE)[1].split("\n## ")[0]
    for said in ("**When it is called.**", "**When it fails.**", f"def {NOUNS[noun]}()"):
        assert said in section, f"plugins.md, {noun}: {said}"


@pytest.mark.req("I4")
@pytest.mark.parametrize("noun", NOUNS)
def test_every_hook_has_a_how_to(noun: str) -> None:
    """A new hook fails here until a page shows how to write, test and activate a plugin of its kind."""
    article = "an" if noun[0] in "aeiou" else "a"
    page = (ROOT / "docs" / "how-to" / f"write-{article}-{noun}.md").read_text("utf-8")
    for said in (
        f"def {NOUNS[noun]}()",
        f"({noun.capitalize()}Contract)",
        "[project.entry-points.kr]",
        "kr ask" if noun in ASKED else "kr docs search" if noun in SEARCHED else "kr research",
    ):
        assert said in page, f"write-{article}-{noun}.md: {said}"


@pytest.mark.req("I4")
def test_every_status_of_a_result_has_its_place() -> None:
    """Whatever `status` a program may find, results.md says what it means."""
    page = (ROOT / "docs" / "reference" / "results.md").read_text("utf-8")
    research, asked = page.split("## Answers of agents and people")
    for text, result in ((research, ResearchResult), (asked, AskResult)):
        for status in get_args(result.model_fields["status"].annotation):
            assert f"`{status}`" in text, f"{result.__name__}: {status}"


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_somewhere(page: str) -> None:
    """A relative link names a file that is there."""
    text = (ROOT / page).read_text("utf-8")
    for target in _LINK.findall(text):
        if not target.startswith(("http:", "https:", "#")):
            assert ((ROOT / page).parent / target.split("#")[0]).exists(), target


def test_every_page_is_in_the_index() -> None:
    """docs/index.md leads to all pages."""
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "index.md" or f"({name})" in index, name
