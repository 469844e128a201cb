# ruff: noqa: INP001  a script, not a package
"""Print the versions of `uv.lock` as constraints for pip, so that both install the same tools."""

from __future__ import annotations

import tomllib
from pathlib import Path

LOCK = Path(__file__).parents[1] / "uv.lock"


def constraints(lock: str) -> list[str]:
    """`name==version` for every package of a lock file that comes from an index."""
    packages = tomllib.loads(lock)["package"]
    versions: dict[str, set[str]] = {}
    for package in packages:
        if "registry" in package["source"]:
            versions.setdefault(package["name"], set()).add(package["version"])
    # a package that is locked at several versions, for different Pythons, is left to pip
    return [f"{name}=={version}" for name, (version, *others) in sorted(versions.items()) if not others]


if __name__ == "__main__":
    print("\n".join(constraints(LOCK.read_text("utf-8"))))
