"""A clone that calls its own pages official: without `kr trust` nothing of them is `medium`, and each is cited by its path."""

from __future__ import annotations

import os
import zlib
from types import SimpleNamespace

import pytest
from flows.conftest import NOWHERE
from support.commands import run_here
from support.projects import PARCEL, install, make_environment

pytestmark = pytest.mark.req("Z8", "R13")

QUESTION = "What is the default tolerance of stripe.Webhook.construct_event?"
INVENTORY = b"# Sphinx inventory version 2\n# Project: %s\n# Version: %s\n# The remainder of this file is compressed using zlib.\n"  # fmt: skip
PAGE = """<!DOCTYPE html><html><head><title>{name} documentation</title></head><body><div role="main" class="body">
<dl class="py function"><dt class="sig sig-object py" id="{symbol}"><span class="sig-name">{symbol}</span>(<em>payload</em>,
<em>tolerance=99999</em>)</dt><dd><p>Verify a webhook. The default tolerance is 99999 seconds.</p></dd></dl>
</div></body></html>"""


@pytest.fixture
def clone(tmp_path, monkeypatch, capsys):
    root = tmp_path / "clone"
    root.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KR_", "VIRTUAL_ENV", "CONDA"))}  # fmt: skip
    own = {"HOME": str(tmp_path), "KR_CACHE_DIR": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state"), "NO_COLOR": "1"}  # fmt: skip

    def run(*arguments, **env):
        return run_here(monkeypatch, capsys, arguments, cwd=root, environ={**kept, **NOWHERE, **own, **env})

    def site(name, version, symbol):
        (root / "site").mkdir()
        (root / "site/index.html").write_text(PAGE.format(name=name, symbol=symbol))
        listed = zlib.compress(f"{symbol} py:function 1 index.html#{symbol} -\n".encode())
        (root / "site/objects.inv").write_bytes(INVENTORY % (name.encode(), version.encode()) + listed)
        (root / "kr.yaml").write_text(
            "knowledge_research: {sources: [installed_docs]}\nplugins:\n  installed_docs: {folders: [site]}\n"
        )

    return SimpleNamespace(kr=run, root=root, site=site)


def test_an_inventory_of_a_clone_is_low_and_is_cited_by_its_path(clone):
    """It may call itself stripe 11.4.1; KR cites `site/index.html`, and says what to do. After trust it is official."""
    clone.site("stripe", "11.4.1", "stripe.Webhook.construct_event")
    done = clone.kr("research", QUESTION, "--framework", "stripe")
    assert done.code == 0
    assert "**Confidence: low" in done.out
    assert "file:site/index.html" in done.out
    assert "pkg:generic/stripe" not in done.out
    assert "site: pages of this project that call themselves documentation of stripe 11.4.1: not rated as official" in done.err  # fmt: skip
    assert "kr trust" in done.err
    doctor = clone.kr("doctor").out
    assert "kr.yaml:3: `plugins.installed_docs.folders` rates documents of the project as official: `site`" in doctor  # fmt: skip
    assert "plugins.installed_docs.folders rates documents of the project as official" in clone.kr("trust").out  # fmt: skip
    trusted = clone.kr("research", QUESTION, "--framework", "stripe", "--refresh")
    assert "**Confidence: low" not in trusted.out
    assert "file:site/index.html" in trusted.out
    assert "kr trust" not in trusted.err


def test_an_inventory_of_a_clone_says_nothing_beside_the_installed_package(clone):
    """The real package answers alone, and a note names the pages that were left out."""
    install(make_environment(clone.root), "parcel", "1.4.0", {"parcel/__init__.py": PARCEL})
    clone.site("parcel", "1.4.0", "parcel.evil")
    done = clone.kr("research", "What does parcel.evil do? What is the timeout of a parcel?", "--framework", "parcel")  # fmt: skip
    assert done.code == 0
    assert "99999" not in done.out
    assert "documentation of parcel 1.4.0: left out" in done.err


def test_a_switch_of_a_clone_does_not_make_its_documents_official(clone):
    """`official: true` counts after `kr trust`; before, the answer is `low`, exit 0, with a note."""
    (clone.root / "docs").mkdir()
    (clone.root / "docs/httpx.md").write_text(
        "# Widgetry\n\n## Configure retries\n\nTo configure retries in widgetry, pass `retries=5` to `widgetry.get`.\n\n"
        "```python\nwidgetry.get(url, retries=5, verify=False)\n```\n"
    )
    (clone.root / "kr.yaml").write_text(
        "knowledge_research: {sources: [local_docs]}\nplugins: {local_docs: {official: true}}\n"
    )
    assert clone.kr("docs", "index", "docs").code == 0
    question = ("research", "How do I configure retries in widgetry?", "--framework", "widgetry")
    done = clone.kr(*question)
    assert done.code == 0
    assert "**Confidence: low" in done.out
    assert "documents of this project are not rated as official" in done.err
    assert "`plugins.local_docs.official` rates documents of the project as official" in clone.kr("doctor").out  # fmt: skip
    clone.kr("trust")
    trusted = clone.kr(*question, "--refresh")
    assert "**Confidence: low" not in trusted.out
    assert "kr trust" not in trusted.err
