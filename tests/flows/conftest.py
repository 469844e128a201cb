"""A project with a small documented package, pipelines in a folder, and the real command."""

from __future__ import annotations

import os
import time

import pytest
from support.commands import run_here
from support.fork_server import run_program
from support.projects import PARCEL, Bench, Done, install, make_environment
from support.tasks import TaskProject

_REFUSES = "http://127.0.0.1:9"
NOWHERE = {
    **dict.fromkeys(("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"), _REFUSES),
    "NO_PROXY": "127.0.0.1,localhost",
}
"""A proxy that nobody answers at: what would leave the machine is refused, and tests are the same with and without a network."""


@pytest.fixture
def project_folder(tmp_path):
    """A project whose environment has the package `parcel` 1.4.0."""
    folder = tmp_path / "project"
    folder.mkdir()
    install(make_environment(folder), "parcel", "1.4.0", {"parcel/__init__.py": PARCEL})
    time.sleep(0.03)  # a command may not trust what changed right before it began
    return folder


@pytest.fixture
def bench(tmp_path):
    """A folder without an environment, in which pipelines are opened with given sources."""
    made = Bench(tmp_path / "work")
    yield made
    made.close()


@pytest.fixture
def environ(tmp_path):
    """The environment of commands: nothing of the tester's own projects."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("VIRTUAL_ENV", "CONDA", "KR_"))
    }
    folders = {"KR_CACHE_DIR": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}
    return {**kept, **folders, "NO_COLOR": "1"}


@pytest.fixture
def nowhere(monkeypatch):
    """The same for pipelines of the test's own process."""
    for name, value in NOWHERE.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def of_nobody(monkeypatch, tmp_path):
    """Nothing of the tester's own projects and caches."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "KR_TRUST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KR_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def here(project_folder, monkeypatch):
    """The project, as the working folder."""
    monkeypatch.chdir(project_folder)
    return project_folder


@pytest.fixture
def kr(project_folder, environ):
    """Run `kr` in the project: `kr("research", "...", input=b"", cwd=folder)`."""

    def run(*arguments, input=b"", cwd=project_folder, env=None, timeout=300):  # noqa: A002  as in subprocess
        known = {**environ, **NOWHERE, **(env or {})}
        return Done(run_program(arguments, cwd=cwd, environ=known, timeout=timeout, stdin=input))

    return run


@pytest.fixture
def kr_here(project_folder, monkeypatch, environ, capsys):
    """The same in this process, which takes a tenth of the time; every plugin is trusted, unless `env` says otherwise."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    for name in ("KR_CACHE_DIR", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, environ[name])
    monkeypatch.setenv("KR_TRUST", "all")
    before = dict(os.environ)

    def run(*arguments, input=b"", cwd=project_folder, env=None):  # noqa: A002  as in subprocess
        of_test = {name: value for name, value in os.environ.items() if before.get(name) != value}
        known = {**environ, "KR_TRUST": "all", **of_test, **NOWHERE, **(env or {})}
        return run_here(monkeypatch, capsys, arguments, cwd=cwd, environ=known, input=input)

    return run


@pytest.fixture
def make_tasks(tmp_path, monkeypatch):
    """Make a project with these tasks."""
    monkeypatch.setenv("KR_TRUST", "all")
    monkeypatch.setenv("KR_CACHE_DIR", str(tmp_path / "cache"))
    return lambda *tasks, **options: TaskProject(tmp_path / "project", tasks, **options)
