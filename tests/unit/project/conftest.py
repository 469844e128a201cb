"""Projects made by hand: folders that look like environments, with nothing real in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kr_core.project.project import LocalProject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def _make_environment(
    prefix: Path, packages: Mapping[str, str] | None = None, *, version: str = "3.12.4"
) -> Path:
    """A virtual environment with these distributions (name -> version); returns its site-packages."""
    minor = ".".join(version.split(".")[:2])
    site = prefix / "lib" / f"python{minor}" / "site-packages"
    site.mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text(f"home = {prefix}/base/bin\nversion_info = {version}\n")
    for name, release in (packages or {}).items():
        _install(site, name, release)
    return site


def _install(
    site: Path, name: str, version: str, *, modules: tuple[str, ...] = (), top_level: bool = False
) -> Path:
    """A distribution with the given packages or modules (its own name where none are given)."""
    files = []
    for module in modules or (name.lower().replace("-", "_"),):
        path = module if module.endswith((".py", ".so", ".pyi")) else f"{module}/__init__.py"
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text("")
        files.append(path)
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    lines = [f"{path},sha256=x,0" for path in files]
    (folder / "RECORD").write_text("\n".join([*lines, f"{folder.name}/METADATA,,", "../../../bin/tool,,"]))
    if top_level:
        (folder / "top_level.txt").write_text("\n".join(m.partition("/")[0] for m in modules))
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., LocalProject]:
    """Opens the project in the temporary folder as KR would, without an environment of KR's own."""

    def opened(
        folder: str = ".", environ: Mapping[str, str] | None = None, own: Path | None = None
    ) -> LocalProject:
        return LocalProject(tmp_path, tmp_path / folder, environ or {}, own_prefix=own)

    return opened


@pytest.fixture
def make_environment() -> Callable[..., Path]:
    """Makes a virtual environment with these distributions and returns its site-packages."""
    return _make_environment


@pytest.fixture
def install() -> Callable[..., Path]:
    """Adds a distribution to a site-packages folder and returns its metadata folder."""
    return _install
