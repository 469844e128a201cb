"""Answers about npm packages, measured like those about Python packages in `measure.py`:

    KR_QUALITY_NODE=/tmp/node python tests/quality/measure_npm.py tests/quality/npm/dev.yaml

The folder that KR_QUALITY_NODE names is a copy of `tests/quality/npm` in which `npm install` was run.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from quality.measure import Outcome, ask, figures

from kr_core.toolkit import LocalProject, yaml_text
from kr_plugins.sources.installed_docs import InstalledDocs


def measure_npm(file: Path, folder: Path, cache: Path) -> list[Outcome]:
    """Ask every question of a file about the packages in a folder's `node_modules`."""
    project = LocalProject(folder, folder, {}, own_prefix=None)
    source = InstalledDocs(cache)
    return [ask(source, project, entry) for entry in yaml_text.load(file.read_text("utf-8"))]


def main() -> None:
    cache = Path(os.environ.get("KR_CACHE_DIR") or tempfile.mkdtemp())
    outcomes = measure_npm(Path(sys.argv[1]), Path(os.environ["KR_QUALITY_NODE"]), cache)
    for one in outcomes:
        print(
            f"{one.id}: place={one.location} usable={one.usable} {one.level} {one.score} {one.coverage:.2f} {one.shown[:4]}"
        )
        if "-s" in sys.argv:
            print(f"{one.summary[:900]}\n")
    print(figures(outcomes))


if __name__ == "__main__":
    main()
