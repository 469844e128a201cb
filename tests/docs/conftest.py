"""Where the documentation's blocks run."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
import venv
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.fork_server import fork_server  # type: ignore[import-not-found]  # as below
from support.projects import (  # type: ignore[import-not-found]  # tests are not a package, and have no types
    shared_folder,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_SWITCHES = {
    "KR_CACHE_DIR", "KR_TRUST", "XDG_STATE_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE",  # each `pip` and `pytest` would compile all of itself again
}  # fmt: skip


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """KR's cache folder: a page need not read again what another page has read."""
    folder: Path = shared_folder(tmp_path_factory, "docs-cache")
    return folder


@pytest.fixture
def run(tmp_path: Path, cache_folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run(command, installs=False, starts=False)`: run a command as a reader does, in the page's own folder.

    README's `kr` is started as a reader's is, as is that of an environment of the page's own; others are forked, which takes
    a fifth of the time.
    """
    folder = tmp_path / "project"
    folder.mkdir()
    environ = {name: value for name, value in os.environ.items() if name not in _SWITCHES}
    environ |= {"KR_CACHE_DIR": str(cache_folder), "HOME": str(tmp_path), "NO_COLOR": "1"}
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # a reader has none of those that test KR itself
    ready: list[Path] = []

    def run(
        command: list[str], *, installs: bool = False, starts: bool = False
    ) -> subprocess.CompletedProcess[str]:
        if not ready:
            ready.append(_own_environment(tmp_path / "env") if installs else Path(sys.executable).parent)
            if not installs and not starts:
                ready.insert(0, _forked_kr(tmp_path / "forked"))
            environ["PATH"] = os.pathsep.join([*map(str, ready), environ.get("PATH", os.defpath)])
            if installs:  # the build backend is in the environment: no network is needed
                environ.update(PIP_NO_BUILD_ISOLATION="false", PIP_NO_INDEX="1")
        return subprocess.run(
            command, cwd=folder, env=environ, capture_output=True, text=True, timeout=120, check=False
        )

    return run


def _forked_kr(folder: Path) -> Path:
    """A folder with a `kr` that the fork server runs."""
    folder.mkdir()
    script = folder / "kr"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(fork_server().argv())} "$@"\n', "utf-8")
    script.chmod(0o755)
    return folder


def _own_environment(folder: Path) -> Path:
    """An environment that a page may install into; it has all that this one has, KR included."""
    venv.create(folder, symlinks=True, with_pip=find_spec("pip") is None)  # uv makes environments without pip
    site = next(folder.glob("lib/python*/site-packages"))
    for installed in Path(sysconfig.get_path("purelib")).iterdir():
        (site / installed.name).symlink_to(installed)
    for name, module in {"kr": "kr_core.cli", "pip": "pip._internal.cli.main"}.items():
        script = folder / "bin" / name
        script.write_text(
            f"#!{folder}/bin/python\nimport sys\nfrom {module} import main\nsys.exit(main())\n", "utf-8"
        )
        script.chmod(0o755)
    return folder / "bin"
