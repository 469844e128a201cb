"""Which dependency a question is about is found in seconds, and in little memory, whatever the dependencies of a clone are."""

from __future__ import annotations

import os
import tracemalloc
from functools import partial
from typing import TYPE_CHECKING

import pytest
from support.regexes import seconds_for

from kr_core.project import node_modules
from kr_core.project.project import LocalProject
from kr_core.question import dependency_search
from kr_core.question.dependency_search import choose_framework
from kr_core.question.packages import subjects_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.req("Z8")

_SECONDS = 10.0
"""Of processor time; what was mended took minutes, and takes less than a second."""
_MOST_DESCRIBED_SECONDS = 4.0
_MOST_MEMORY = 100_000_000
_DEPENDENCIES = 20
_READ_BYTES = 200_000_000
"""That many are read of all dependencies, as of 120 ten times as many are."""
_LARGEST = 399_000
"""Bytes: larger files are left out."""


def project(root: Path, source: bytes, record: str, dependencies: int = _DEPENDENCIES) -> LocalProject:
    """A clone that brings its environment, in which each dependency has these sources; they take little space in git."""
    site = root / ".venv" / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    (root / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.1\n")
    names = [f"zebra{number}x" for number in range(dependencies)]
    for name in names:
        (site / name).mkdir()
        first = site / names[0] / "__init__.py"
        if name == names[0]:
            first.write_bytes(source)
        else:
            os.link(first, site / name / "__init__.py")
        folder = site / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n\nFrobs.\n")
        (folder / "RECORD").write_text(record.replace("NAME", name))
    listed = ", ".join(f'"{name}"' for name in names)
    (root / "pyproject.toml").write_text(
        f'[project]\nname = "clone"\nversion = "1"\ndependencies = [{listed}]\n'
    )
    return LocalProject(root, root, {})


@pytest.mark.parametrize(
    "question",
    [
        "How do I set FrobClient headers?",
        "How do I set frobs headers?",
        "Why does it say ValueError: these frobs are not the ones that you are looking for at all?",
        f"How do I use {', '.join(f'frob_{number}' for number in range(40))}?",
    ],
)
def test_sources_of_nothing_but_lines_are_searched_in_seconds(
    tmp_path: Path, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KR looks for a name where it stands, not from each line, and reads a bounded part of all sources in all."""
    monkeypatch.setattr(dependency_search, "_MAX_READ_BYTES", _READ_BYTES)
    said = b"FrobClient\n" + b"".join(b"frob_%d\n" % number for number in range(40))
    found = project(tmp_path, said.ljust(_LARGEST, b"\n"), "NAME/__init__.py,,\n" * 80)
    assert seconds_for(lambda: choose_framework(question, found), limit=_SECONDS) < _SECONDS


@pytest.mark.parametrize("line", ["NAME/%d.py,,\n", "%d.txt,,\n", "NAME/__init__.py,,\n"])
@pytest.mark.parametrize("choose", [choose_framework, subjects_of])
def test_a_list_of_very_many_files_is_read_in_part(
    tmp_path: Path, line: str, choose, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the files that a package lists, KR looks at a bounded number: their names alone would fill the memory."""
    monkeypatch.setattr(dependency_search, "_MAX_READ_BYTES", _READ_BYTES)
    count = 100_000
    record = "".join(line % number for number in range(count)) if "%" in line else line * count
    found = project(tmp_path, b"", record, 3)
    tracemalloc.start()
    try:
        question = "How do I set `server-sent frobs` headers?"
        assert seconds_for(lambda: choose(question, found), limit=_SECONDS) < _SECONDS
        assert tracemalloc.get_traced_memory()[1] < _MOST_MEMORY
    finally:
        tracemalloc.stop()


def test_sources_of_nothing_but_words_of_the_question_fill_no_memory(tmp_path: Path) -> None:
    """KR notes a bounded number of places where a library says the words of a question."""
    found = project(tmp_path, b"set value of file " * (_LARGEST // 18), "NAME/__init__.py,,\n" * 4, 8)
    tracemalloc.start()
    try:
        question = "How do I set the value of a file?"
        assert seconds_for(lambda: choose_framework(question, found), limit=_SECONDS) < _SECONDS
        assert tracemalloc.get_traced_memory()[1] < _MOST_MEMORY
    finally:
        tracemalloc.stop()


def test_of_descriptions_only_the_start_is_read(tmp_path: Path) -> None:
    """Hundreds of packages may share one description of 20 MB by links."""
    found = project(tmp_path, b"", "", 400)
    site = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    text = "Metadata-Version: 2.1\nName: z\nVersion: 1.0\n\n"
    (site / "long.txt").write_text(text + "frobs of words\n" * 1_300_000)
    for folder in site.glob("*.dist-info"):
        (folder / "METADATA").unlink()
        (folder / "METADATA").symlink_to("../long.txt")
    for choose in (subjects_of, choose_framework):
        work = partial(choose, "How do I set frobs?", found)
        assert seconds_for(work, limit=_MOST_DESCRIBED_SECONDS) < _MOST_DESCRIBED_SECONDS


@pytest.mark.parametrize("name", ["RECORD", "top_level.txt"])
def test_the_owner_of_a_module_is_found_in_seconds(tmp_path: Path, name: str) -> None:
    """Whatever the packages of an environment say that they ship: KR looks at a bounded part of it."""
    found = project(tmp_path, b"", "", 40)
    site = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    line = "ab{:06}\n" if name == "top_level.txt" else "ab/x,,\n"
    (site / "long.txt").write_text("".join(map(line.format, range(1_500_000))))
    (site / "frobs").mkdir()
    for folder in site.glob("*.dist-info"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to("../long.txt")
    assert seconds_for(lambda: found.version_of("frobs"), limit=_SECONDS) < _SECONDS
    assert found.version_of("zebra0x") == ("1.0", ".venv")


def test_a_question_is_held_against_very_many_packages_in_linear_time(tmp_path: Path) -> None:
    """What a word is worth is found once, and not for each of a thousand packages."""
    found = project(tmp_path, b"", "", 1_000)
    question = f"How do I send {', '.join(f'zagre{number}' for number in range(150))} to frobs?"
    assert (
        seconds_for(lambda: subjects_of(question, found), limit=_MOST_DESCRIBED_SECONDS)
        < _MOST_DESCRIBED_SECONDS
    )


def test_package_files_of_npm_are_read_up_to_a_sum(tmp_path: Path, monkeypatch) -> None:
    """Thousands of packages may share one large `package.json` by links; how many are left out is told."""
    monkeypatch.setattr(node_modules, "_MOST_BYTES", 1_000_000)
    modules = tmp_path / "node_modules"
    modules.mkdir()
    (modules / "large.json").write_text('{"version": "1.0", "a": "' + "a" * 300_000 + '"}')
    for number in range(5):
        (modules / f"p{number}").mkdir()
        (modules / f"p{number}" / "package.json").symlink_to("../large.json")
    found = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert [name for name, _version, _where in found.versions()] == ["p0", "p1", "p2"]
    assert found.warnings == [
        "node_modules: 2 packages left out; their package.json files are too large together"
    ]


@pytest.mark.parametrize(
    "of", ["one file of many lines", "many files", "one file that is listed again and again", "eggs"]
)
def test_files_that_name_folders_are_read_in_seconds(tmp_path: Path, of: str) -> None:
    """KR looks at a bounded number of the folders that `.pth` files name, and lists each once."""
    found = project(tmp_path, b"", "all.pth,,\n" * 50_000 if "again" in of else "", 3)
    site = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    (site / "all.pth").write_text("zebra0x\n" * 12_000 if of != "eggs" else "")
    if of == "eggs":
        for number in range(2_000):
            (site / f"egg{number}-1.0.egg-info").touch()
    for number in range(400 if of == "many files" else 0):
        (site / f"more{number}.pth").symlink_to("all.pth")
    (site / "frobs").mkdir()
    assert (
        seconds_for(lambda: found.version_of("frobs"), limit=_MOST_DESCRIBED_SECONDS)
        < _MOST_DESCRIBED_SECONDS
    )


def test_the_deepest_owner_of_a_dotted_name_is_found_in_seconds(tmp_path: Path) -> None:
    """Very many packages may say that they ship the beginning of a name: each list is searched a few times at most."""
    found = project(tmp_path, b"", "", 20)
    site = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    (site / "long.txt").write_text("frobs/a/x.py,,\n" * 100_000)
    (site / "frobs").mkdir()
    for folder in site.glob("*.dist-info"):
        (folder / "RECORD").unlink()
        (folder / "RECORD").symlink_to("../long.txt")
    names = [f"frobs.{letter}.{letter}.{letter}.{letter}" for letter in "bcdefg"]
    work = partial(list, map(found.version_of, names))
    assert seconds_for(work, limit=_MOST_DESCRIBED_SECONDS) < _MOST_DESCRIBED_SECONDS
