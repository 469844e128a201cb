"""The pages say which contract plugins are written for, as the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kr_core.hookspecs import CONTRACT_VERSION, OLDEST_CONTRACT
from kr_core.registry.contract import DOORS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
_BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.req("P1", "Z8")


def test_the_number_of_the_contract_is_that_of_the_code() -> None:
    """The page on versions names the contract that KR offers."""
    page = (DOCS / "versioning.md").read_text("utf-8")
    assert f"has a number of its own, now {CONTRACT_VERSION}." in page
    assert OLDEST_CONTRACT == CONTRACT_VERSION, "say in docs/versioning.md which contracts KR offers"
    assert f"This KR offers contract {CONTRACT_VERSION} only." in page


def test_every_door_is_in_the_table_of_what_is_public() -> None:
    """What plugins may import is listed as public."""
    table = (DOCS / "versioning.md").read_text("utf-8").partition("## Plugins")[0]
    assert [door for door in DOORS if f"`{door}`" not in table] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_writes_a_plugin_says_its_contract(page: str) -> None:
    """Each module with a hook says the number of the contract, and no page another one."""
    text = (DOCS / page).read_text("utf-8")
    said = set(re.findall(r"^KR_CONTRACT = (\d+)", text, re.MULTILINE))
    assert said <= {str(CONTRACT_VERSION)}
    if page.startswith("how-to/"):
        modules = [block for block in _BLOCK.findall(text) if "\n@hookimpl" in block and "import" in block]
        modules = [
            module for module in modules if "class Decisions:" not in module
        ]  # the one that is below 30 lines
        assert all("\nKR_CONTRACT = " in module for module in modules), page
