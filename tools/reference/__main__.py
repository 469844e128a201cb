"""Write the pages: `make reference`."""

from __future__ import annotations

from pathlib import Path

from . import pages

for path, text in pages().items():
    path.write_text(text, "utf-8")
    print(f"wrote {path.relative_to(Path.cwd())}")
