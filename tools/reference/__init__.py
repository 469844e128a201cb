"""The pages of `docs/reference` that are made from the code; a test checks that they are current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .command_line import command_line_page
from .configuration import configuration_page
from .events import events_page
from .included import included_page
from .plugins import plugins_page
from .python import python_pages
from .testing import testing_page

__all__ = ["pages"]

ROOT = Path(__file__).parents[2]


def pages() -> dict[Path, str]:
    """Each page and its text; of the page about plugins only the parts between its marks are made."""
    folder = ROOT / "docs" / "reference"
    plugins = folder / "plugins.md"
    made = {
        folder / "configuration.md": configuration_page(),
        folder / "command-line.md": command_line_page(),
        folder / "events.md": events_page(),
        folder / "included.md": included_page(),
        **{folder / page: text for page, text in python_pages().items()},
        folder / "testing.md": testing_page(),
        plugins: plugins_page(plugins.read_text("utf-8")),
    }
    return {path: _formatted(path, text) for path, text in made.items()}


def _formatted(path: Path, text: str) -> str:
    """A page as `make check` wants it: ruff formats the code blocks of Markdown too."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(path), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)  # noqa: S603  our own ruff
    return done.stdout
