"""KR reads in a lock file what the tool that wrote it says: for each tool, projects of the kinds that are easily misread.

`locks/README.md` says how the files were made. What a tool knows, but not from its lock file, KR leaves open.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from kr_core.project.project import LocalProject

WRITTEN = Path(__file__).parent / "locks" / "of_tools"
CASES = sorted(path.parent.relative_to(WRITTEN).as_posix() for path in WRITTEN.glob("*/*/expected.json"))
LEFT_OPEN = {
    "npm-1/git": {"tiny-git", "other"},  # version 1 has the commit only
    "npm-1/sources": {"packed"},
    "pnpm-8/sources": {"local"},
    "pnpm-9/sources": {"local"},
    "pnpm-8/injected": {"@shop/b"},
    "pnpm-9/injected": {"@shop/b"},
    "yarn-4/portals": {"port"},
    "uv-pylock/git": {"py-git"},
    "pip-pylock/git": {"py-git"},
    "pip-pylock/path": {"local-thing"},
    "pipenv/git": {"py-git"},
    "pipenv/path": {"local-thing"},
    "compile/git": {"py-git"},
    "pip-freeze/git": {"py-git"},
}
"""Packages from git, folders and archives, of which the lock file does not say the version."""
NAME = re.compile(r"(?:@[\w.-]+/)?[\w.-]+")
VERSION = re.compile(r"v?\d[\w.+!-]*|[\^~<>=][\w.+!,<>=* -]*|\*")


def opened(tmp_path: Path, case: str, member: str) -> tuple[LocalProject, dict[str, dict[str, str]]]:
    """A project, looked at from one of its members, and the versions that the tool named for each member."""
    root = tmp_path / "shop"
    if not root.exists():
        shutil.copytree(WRITTEN / case, root, ignore=shutil.ignore_patterns("expected.json"))
    expected = json.loads((WRITTEN / case / "expected.json").read_text("utf-8"))
    if python := expected.get("python"):
        (root / ".venv").mkdir(exist_ok=True)
        (root / ".venv" / "pyvenv.cfg").write_text(f"version = {python}\n")
    return LocalProject(root, root / member, {}, own_prefix=None), expected["versions"]


@pytest.mark.req("K9")
@pytest.mark.parametrize("case", CASES)
def test_versions_in_a_lock_file_are_those_that_its_tool_names(tmp_path, case):
    """From each member, each package has the version that the tool names; where the lock file has none, KR has none."""
    _, versions = opened(tmp_path, case, ".")
    for member, expected in versions.items():
        project, _ = opened(tmp_path, case, member)
        listed = {name: version for name, version, _ in project.versions()}
        for name, version in expected.items():
            found = (project.version_of(name) or ("",))[0]
            if name in LEFT_OPEN.get(case, ()):
                assert found.removeprefix("v") in {"", version}, (member, name)
            else:
                assert (found, listed.get(name)) == (version, version), (member, name)
        assert project.warnings == []


@pytest.mark.req("K9")
@pytest.mark.parametrize("case", CASES)
def test_no_name_and_no_version_is_invented(tmp_path, case):
    """What is listed has the form of a name and of a version, and stands in the project's files so."""
    _, versions = opened(tmp_path, case, ".")
    text = "\n".join(
        path.read_text("utf-8") for path in (tmp_path / "shop").rglob("*") if path.is_file()
    ).lower()
    plain = re.sub(r"[-_.]+", "-", text)
    for member in versions:
        project, _ = opened(tmp_path, case, member)
        for name, version, where in project.versions():
            assert NAME.fullmatch(name), (name, version, where)
            assert VERSION.fullmatch(version), (name, version, where)
            assert re.sub(r"[-_.]+", "-", name.lower()) in plain
            assert version.lower() in text.replace(" ", "") or version.lower() in text, (name, version, where)


@pytest.mark.req("K9")
def test_forty_lock_files_of_node_and_python_are_compared():
    """The comparison rests on at least forty files of at least eight tools."""
    assert len(CASES) >= 40
    assert len({case.partition("/")[0].partition("-")[0] for case in CASES}) >= 8
