"""The error messages of a stranger's package are read, and looked for, in bounded time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from kr_core.toolkit import IndexedPassage, build_index, parse_question
from kr_plugins.sources.installed_docs.pasted_messages import pasted_messages
from kr_plugins.sources.installed_docs.python.module_parser import read_module

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.req("Z8")

_SECONDS = 10.0
"""Of processor time; without bounds it takes many minutes."""

_SOURCES = {
    "a constant that is raised often": 'A = ("'
    + "word " * 290
    + '")\n'
    + "def run():\n"
    + '    raise E(A + "more")\n' * 20_000,
    "a sum of many parts": "def run():\n" + ("    raise E(" + '"a b c d " + n + ' * 400 + "n)\n") * 150,
    "many constants": "".join(
        f'error_{n} = "An error message of forty characters, {n}"\n' for n in range(10_000)
    ),
    "a chain of elif": "if a:\n    raise E()\n" + 'elif a:\n    raise E("four words and more " + n)\n' * 900,
    "many messages on one long line": "def run(x):\n    if x:\n        "
    + ";".join(f'raise ValueError("four words or more {n}")' for n in range(5_500))
    + " #"
    + "\t" * 900_000
    + "\n",
    "fields that are functions": "def run():\n" + '    raise E("%(' * 1 + "(" * 500_000 + '")\n',
}


@pytest.mark.parametrize("name", _SOURCES)
def test_a_hostile_source_is_read_in_bounded_time(tmp_path: Path, name: str) -> None:
    """Many names, parts and statements are read in time that grows with the file alone."""
    (tmp_path / "box.py").write_text(_SOURCES[name])
    started = time.process_time()
    module = read_module(tmp_path / "box.py", "box", "box.py")
    assert time.process_time() - started < _SECONDS
    assert len(module.messages) <= 6_000
    assert all(len(one.text) <= 1_500 for one in module.messages)


def test_hostile_messages_are_looked_for_in_bounded_time() -> None:
    """Messages full of holes, blank lines and repeated words cannot hold up a question full of the same."""
    texts = [
        ("a b c d ... " * 120)[:1_500],
        "\n" * 1_400 + "four words and more",
        ("aa aa aa aa. " * 110)[:1_500],
        ("a b c d" + "..." * 490)[:1_500],
    ]
    made = [
        IndexedPassage(
            "message", f"E in box {n}", texts[n % 4], "box.py:1", lead=texts[n % 4], data={"error": ""}
        )
        for n in range(3_000)
    ]
    index = build_index(None, made)
    for question in (
        "ValueError: " + "a b c d " * 4_000,
        "ValueError: " + '"aa' * 9_000,
        "\n" * 20_000 + '"a' * 9_000,
    ):
        parsed = parse_question(question)
        started = time.process_time()
        pasted_messages(index, parsed)
        assert time.process_time() - started < _SECONDS
    index.close()
