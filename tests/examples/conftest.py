"""Each example in an environment of its own, with KR as a wheel: what a reader who copies it has."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager

import pytest
from strangers.building import ROOT, Environment, uv
from support.projects import shared_folder

from kr_core.toolkit import lock

EXAMPLES = ROOT / "examples"
REQUIRED = "KR_REQUIRE_INDEX"
"""Set to 1, as CI does, it makes a failure of what is skipped where the package index cannot be reached."""
_UNREACHABLE = ("Failed to fetch", "error sending request", "network was disabled")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """KR as it would be published, built once for all workers."""
    folder = shared_folder(tmp_path_factory, "dist")
    with lock(folder), _index_needed():
        if not list(folder.glob("*.whl")):
            uv("build", "--wheel", "--quiet", "--out-dir", folder, ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture
def work(tmp_path):
    """The folder that an example is copied to and started in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def environment_for(tmp_path, work, wheel):
    """`environment_for("script.py")`: what the example requires is installed, and a copy of it is in `work`."""

    def made(example):
        requirements = (EXAMPLES / "requirements" / example).with_suffix(".txt")
        environment = Environment(tmp_path / "place")
        with _index_needed():
            environment.make("--requirements", requirements, wheel)
        shutil.copy(EXAMPLES / example, work)
        return environment

    return made


@contextmanager
def _index_needed():
    """Skip where the package index cannot be reached, unless CI demands it."""
    try:
        yield
    except AssertionError as error:
        if os.environ.get(REQUIRED) == "1" or not any(said in str(error) for said in _UNREACHABLE):
            raise
        pytest.skip(f"the package index cannot be reached: {error}")
