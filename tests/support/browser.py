"""Debian's Chromium, driven by Playwright; one for each module of tests."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.mcp_servers import npm

AXE = "axe-core@4.14.1"
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
"""Kept after a run of CI."""
_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip


@contextmanager
def chromium():
    """A browser; the test is skipped where there is none."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def tab(browser, url, **options):
    """A window of a person of their own; whatever the browser complains of fails the test.

    The page scrolls smoothly for those who have nothing against it. A click by position
    during the scroll hits what has moved there since, so these windows ask for less motion.
    """
    context = browser.new_context(base_url=url, reduced_motion="reduce", **options)
    page = context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.complaints = complaints
    try:
        yield page
        assert complaints == []
    finally:
        context.close()


def faults(page):
    """What axe-core finds serious on the page."""
    script = (npm("axe", AXE) / "axe.min.js").read_text("utf-8")
    page.evaluate(script)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"]][:5])
        for one in found["violations"]
        if one["impact"] in {"serious", "critical", "moderate"}
    ]


def keep(page, name):
    """Keep a picture of the whole page."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
