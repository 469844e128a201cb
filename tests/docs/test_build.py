"""The pages build as HTML, without a warning."""

from __future__ import annotations

import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kr_core.toolkit import lock

sys.path.insert(0, str(Path(__file__).parent))
from pages import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The built pages, as `make docs` builds them: once for all workers."""
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "site"
    with lock(folder.with_name("site.lock")):
        if not (folder / "index.html").exists():
            _build(folder)
    return folder


def _build(folder: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-n",
        "-q",
        str(ROOT / "docs"),
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        shutil.rmtree(folder, ignore_errors=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr


class _Page(HTMLParser):
    """What a page loads, and the text that stands outside its code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.prose = ""
        self._code = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in {"script", "img", "iframe", "source"}:
            self.loads.append(values.get("src") or "")
        elif tag == "link":
            self.loads.append(values.get("href") or "")
        self._code += tag in {"code", "pre", "script", "style"}

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in {"code", "pre", "script", "style"}

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.prose += data


@pytest.mark.req("I4")
def test_every_page_is_built_and_stands_in_the_navigation(site: Path) -> None:
    """From the index each page of docs/ can be reached by the sidebar."""
    index = (site / "index.html").read_text("utf-8")
    sidebar = index.partition('class="sidebar-tree"')[2].partition("</aside>")[0]
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert (site / name).exists()
        assert name == "index.html" or f'href="{name}"' in sidebar, name


def test_a_page_loads_nothing_from_elsewhere(site: Path) -> None:
    """The pages work offline and tell nobody who reads them."""
    for page in site.rglob("*.html"):
        for address in _Page(page.read_text("utf-8")).loads:
            assert not address.startswith(("http:", "https:", "//")), f"{page.name}: {address}"


def test_no_markup_is_left_in_the_prose(site: Path) -> None:
    """A broken table, fence or emphasis would stand in the page as it was typed."""
    for page in site.rglob("*.html"):
        prose = _Page(page.read_text("utf-8")).prose
        for left in ("|---", "```", "**", "](", "<!--"):
            assert left not in prose, (
                f"{page.name}: {left} in {prose[max(0, prose.find(left) - 80) :][:160]!r}"
            )
