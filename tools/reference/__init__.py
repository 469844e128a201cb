"""The pages of `docs/reference` that are made from the code; a test checks that they are current."""

from __future__ import annotations

from pathlib import Path

from .command_line import command_line_page
from .configuration import configuration_page
from .events import events_page
from .included import included_page
from .plugins import plugins_page
from .python import python_page
from .testing import testing_page

__all__ = ["pages"]

ROOT = Path(__file__).parents[2]


def pages() -> dict[Path, str]:
    """Each page and its text; of the page about plugins only what stands between its marks is made."""
    folder = ROOT / "docs" / "reference"
    plugins = folder / "plugins.md"
    return {
        folder / "configuration.md": configuration_page(),
        folder / "command-line.md": command_line_page(),
        folder / "events.md": events_page(),
        folder / "included.md": included_page(),
        folder / "python.md": python_page(),
        folder / "testing.md": testing_page(),
        plugins: plugins_page(plugins.read_text("utf-8")),
    }
