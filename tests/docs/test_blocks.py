"""Every command and every program that README and docs show runs as it stands there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.postgres_server import (  # type: ignore[import-not-found]  # tests are not a package, and have no types
    postgres_server,
)

sys.path.insert(0, str(Path(__file__).parent))
from pages import PAGES, ROOT, Block, blocks, not_printed

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

RUN = {"sh", "console", "python"}
SHOWN = {"text", "markdown", "yaml", "toml", "json", "pyi"}
"""Languages of blocks that are only shown (`pyi`: signatures); with a title they are written to that file."""

EXEMPT = {
    "make try": "installs from the network; CI calls it first",
    "make test": "runs this test",
    "make faults": "CI's second command",
    "make bench": "takes minutes; run for each release",
    "make bench-table": "rewrites a page",
    "make reference": "rewrites pages; test_reference.py checks that they are current",
    "make docs": "test_build.py builds them",
    "make format": "rewrites the code",
    'pip install "kr-core[testing]"': "needs the network; tests/strangers installs it",
    "pip install path/to/kr": "needs the network; tests/strangers installs the wheel",
    'pip install "path/to/kr[testing]"': "needs the network; tests/strangers installs the wheel so",
}
"""Commands that are shown and not run, each with its reason."""


@pytest.fixture(autouse=True)
def _database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database for a page that names one; without PostgreSQL the test skips such a page."""
    page = request.node.callspec.params.get("page") if hasattr(request.node, "callspec") else None
    if (
        "run" in request.fixturenames
        and page
        and 'title="kr.yaml"\nstore: postgres' in (ROOT / page).read_text("utf-8")
    ):
        monkeypatch.setenv("KR_DSN", postgres_server().new_database())


def _command(block: Block) -> str:
    """The block without the exempt lines."""
    lines = block.commands.splitlines(keepends=True)
    return "".join(line for line in lines if line.split("#")[0].strip() not in EXEMPT)


@pytest.mark.req("I4")
@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in PAGES])
def test_the_blocks_of_a_page_run_in_order(
    page: str, tmp_path: Path, run: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """A reader who follows a page from top to bottom in one folder meets no error, and sees what the page shows."""
    found = blocks(ROOT / page)
    printed = ["", ""]
    installs = any("pip install" in _command(block) for block in found if block.language in {"sh", "console"})
    for block in found:
        if block.title:
            file = tmp_path / "project" / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, "utf-8")
            continue
        if block.is_output:
            assert not_printed(block.shown_output, *printed) == [], f"{page}:{block.line}\n{printed[0]}"
        if block.language not in RUN:
            continue
        command = ["python", "-W", "error", "-c", block.text]
        if block.language != "python":
            command = ["sh", "-e", "-c", _command(block)]
        done = run(command, installs=installs, starts=page == "README.md")
        assert done.returncode == 0, f"{page}:{block.line}\n{block.text}\n{done.stdout}\n{done.stderr}"
        printed = [done.stdout, done.stderr]
        assert "persona_load_failed" not in "".join(printed), (
            f"{page}:{block.line}: the page names a persona it lacks"
        )
        assert not_printed(block.shown_output, *printed) == [], (
            f"{page}:{block.line}\n{done.stdout}\n{done.stderr}"
        )


def test_an_output_that_differs_from_what_is_printed_is_found() -> None:
    """A changed word, and lines in another order; `...` and dates may differ, and either stream may have a line."""
    printed = "a 1.5\n\nwrote 2026-11-24 x\nend\n", "note: b\n"
    assert not_printed(["a ...", "...", "wrote 2026-01-05 x", "note: b", "end"], *printed) == []
    assert not_printed(["a 1.6", "end", "wrote 2026-01-05 x"], *printed) == ["a 1.6", "wrote 2026-01-05 x"]


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in PAGES])
def test_every_block_says_what_it_is(page: str) -> None:
    """A block with no language, or an unknown one, would be passed over in silence."""
    for block in blocks(ROOT / page):
        assert block.language in RUN | SHOWN, f"{page}:{block.line}: language {block.language!r}"


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in PAGES])
def test_the_file_of_a_block_is_named_before_it(page: str) -> None:
    """On a forge a block's title is not shown: the text above says which file it is."""
    text = (ROOT / page).read_text("utf-8").splitlines()
    for block in blocks(ROOT / page):
        if block.title:
            above = "\n".join(text[max(0, block.line - 6) : block.line - 1])
            assert f"`{block.title}`" in above, f"{page}:{block.line}: name `{block.title}` above the block"
