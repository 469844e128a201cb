"""Which dependency a question is about is found in seconds, and in little memory, whatever the dependencies of a clone are."""

from __future__ import annotations

import os
import tracemalloc
from functools import partial
from typing import TYPE_CHECKING

import pytest
from support.regexes import seconds_for

from kr_core.project.project import LocalProject
from kr_core.question.dependency_search import choose_framework
from kr_core.question.packages import subjects_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.req("Z8")

_SECONDS = 20.0
"""Of processor time; what was mended took minutes, and takes one to three seconds."""
_MOST_DESCRIBED_SECONDS = 4.0
_MOST_MEMORY = 250_000_000
_DEPENDENCIES = 120
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
def test_sources_of_nothing_but_lines_are_searched_in_seconds(tmp_path: Path, question: str) -> None:
    """KR looks for a name where it stands, not from each line, and reads a bounded part of all sources in all."""
    said = b"FrobClient\n" + b"".join(b"frob_%d\n" % number for number in range(40))
    found = project(tmp_path, said.ljust(_LARGEST, b"\n"), "NAME/__init__.py,,\n" * 80)
    assert seconds_for(lambda: choose_framework(question, found), limit=_SECONDS) < _SECONDS


@pytest.mark.parametrize("line", ["NAME/%d.py,,\n", "%d.txt,,\n", "NAME/__init__.py,,\n"])
@pytest.mark.parametrize("choose", [choose_framework, subjects_of])
def test_a_list_of_very_many_files_is_read_in_part(tmp_path: Path, line: str, choose) -> None:
    """Of the files that a package lists, KR looks at a bounded number: their names alone would fill the memory."""
    count = 400_000
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
    found = project(tmp_path, b"set value of file " * (_LARGEST // 18), "NAME/__init__.py,,\n" * 4, 20)
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
