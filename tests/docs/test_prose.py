"""The pages read as plain English; `make check` looks at them, and at the texts of the code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import prose


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("The question is told to the agent.", ["The question is told to the agent."]),
        ("It waits.\nWhoever answers first decides. Done.", ["Whoever answers first decides."]),
        ("It is no\nJSON object.", ["It is no JSON object."]),
        ("It is no longer used.", []),
        ("The word `anew` may be quoted.", []),
        ("```text\nnobody stands there\n```\nKR prints it.", []),
        ("| a | nobody is asked |\n| b | fine |", ["| a | nobody is asked"]),
    ],
)
def test_translated_turns_are_flagged(text: str, flagged: list[str]) -> None:
    """Each sentence with a marker is shown once; code, in a fence or in back-ticks, is not looked at."""
    found, _ = prose.flags(text)
    assert [flag.sentence.strip(" |") for flag in found] == [one.strip(" |") for one in flagged]


def test_a_flag_names_its_line() -> None:
    """The line is the one where the turn of phrase is."""
    found, count = prose.flags("# Title\n\nOne sentence is here.\n\n```sh\nls\n```\nIt is kept\nfor a day.\n")
    assert [(flag.line, flag.advice.split(":")[0]) for flag in found] == [(8, "'is kept'")]
    assert count == 2


def test_strings_of_code_are_read() -> None:
    """Docstrings, messages and the fixed parts of f-strings count, each once."""
    source = '"""What a module says here."""\nfail(f"{name} is no such thing", "short one")\n'
    assert list(prose.texts(source)) == [(1, "What a module says here."), (2, "x is no such thing")]


@pytest.mark.req("I4")
def test_pages_and_code_pass() -> None:
    """No page has a flagged sentence, and the code no more than its ceiling."""
    assert prose.main([]) == 0
