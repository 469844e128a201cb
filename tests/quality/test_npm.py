"""Answers on real questions to real npm packages; few questions, so the floors are loose (`docs/quality.md`)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from quality.measure import figures
from quality.measure_npm import measure_npm
from support.projects import shared_folder

from kr_core.toolkit import lock

HERE = Path(__file__).parent / "npm"

pytestmark = [
    pytest.mark.quality,
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed"),
]


@pytest.fixture(scope="module")
def node(tmp_path_factory) -> Path:
    """The packages of `tests/quality/npm/package.json`, as npm installs them."""
    folder = shared_folder(tmp_path_factory, "node")
    with lock(folder):
        if not (folder / "installed").exists():
            shutil.copy(HERE / "package.json", folder)
            command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=False, timeout=300
            )
            if done.returncode:
                pytest.skip(f"npm cannot install: {done.stderr.strip()[:200]}")
            (folder / "installed").touch()
    return folder


@pytest.mark.req("R5", "R13")
@pytest.mark.parametrize(
    ("file", "first_five", "usable"), [("dev.yaml", 0.7, 0.6), ("held_out.yaml", 0.4, 0.5)]
)
def test_right_passages_are_found_and_nothing_unanswerable_is_sure(node, file, first_five, usable):
    """The right passage is among the first; what a package cannot answer is `low`."""
    with lock(node):  # both halves ask about the same packages, which are read once
        found = figures(measure_npm(HERE / file, node, node.parent / "node-cache"))
    print(found)
    assert found.first_five >= first_five
    assert found.usable >= usable
    assert found.false_high == 0
    assert found.false_medium <= 0.15 * found.unanswerable
