"""The packages, built and installed once for all tests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from strangers.building import PACKAGES, Built, Environment, build_all, uv
from support.projects import shared_folder

from kr_core.toolkit import lock

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

REQUIRED = "KR_REQUIRE_INDEX"
"""Set to 1, as CI does, it makes a failure of what is skipped where the package index cannot be reached."""


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what is made once, shared by the processes of one test run."""
    return shared_folder(tmp_path_factory, "strangers")


@pytest.fixture(scope="session")
def index(shop: Path) -> None:
    """The package index can be reached; else the tests that need it are skipped."""
    wanted = shop / "wanted.txt"
    wanted.write_text("hatchling>=1.27\npydantic>=2.9\nhypothesis>=6\n", "utf-8")
    try:
        uv("pip", "compile", "--quiet", wanted)
    except AssertionError as error:
        reason = f"the package index cannot be reached: {' '.join(str(error).split())[:300]}"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def built(shop: Path, index: None) -> dict[str, Built]:
    """The wheel and the sdist of kr-core and of each package, by distribution."""
    with lock(shop):
        if not (shop / "built").exists():
            build_all(shop)
            (shop / "built").touch()
    return {
        name: Built(next((shop / name).glob("*.whl")), next((shop / name).glob("*.tar.gz")))
        for name in ("kr-core", *(package.distribution for package in PACKAGES))
    }


@pytest.fixture(scope="session")
def environment(shop: Path, built: dict[str, Built]) -> Environment:
    """One environment with all packages, from their wheels."""
    made = Environment(shop / "all")
    wheels = [one.wheel for name, one in built.items() if name != "kr-core"]
    made.make(f"kr-core[testing,serve] @ {built['kr-core'].wheel.as_uri()}", *wheels)
    return made


@pytest.fixture
def kr(environment: Environment, project: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `kr` in the stranger's project."""
    return lambda *arguments: environment.run("kr", *arguments, cwd=project)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with notes, records and a glossary."""
    files = {
        "notes/services/orders.md": "# Order service\n\n## Deploy\n\nMerge to `main` and wait for the release job.\n\n"
        "```sh\n./deploy orders --region eu-1\n```\n",
        "decisions/0007-use-sqlite.md": "# Use SQLite for the order queue\n\n"
        "The order queue is a SQLite table, because one machine serves the shop.\n",
        "glossary.txt": "lead time: Days between an order and its delivery.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path
