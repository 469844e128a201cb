"""The documentation below an answer: what is shown of the passages, and what is left out."""

from __future__ import annotations

import pytest

from kr_core.cli.documentation import documentation
from kr_core.model import ResultPassage


def passage(text: str, symbol: str = "pool.connect", locator: str = "pool/api.py:1") -> ResultPassage:
    return ResultPassage(
        n=1, symbol=symbol, kind="symbol", text=text, tokens=1, url="pkg:pypi/pool@1.0", locator=locator
    )


@pytest.mark.req("A3")
def test_the_passage_is_shown_as_its_authors_wrote_it_with_its_lists():
    text = 'mode : str\n    How to open it.\n\n    - "r": read\n    - "w": write\nclass connect\nmode="r"'
    shown = documentation([passage(text)], "Which modes are there?", "mode: How to open it. [1]")
    assert shown == [
        "Documentation:", "", "`pool.connect`, pool/api.py:1:", "",
        "```", "mode : str", "    How to open it.", "", '    - "r": read', '    - "w": write', "```", "",
    ]  # fmt: skip


@pytest.mark.req("A3")
def test_what_the_answer_or_another_passage_says_is_not_shown_again():
    first = passage("def connect(dsn)\nOpens a connection.\n\nIt is closed by `close`.")
    same = passage("It is closed by\n``close``.", symbol="pool.close")
    shown = documentation([first, same], "How do I open a connection?", "Opens a connection. [1]")
    assert "\n".join(shown).count("closed by") == 1
    assert (
        documentation([first], "How?", "`def connect(dsn)`: Opens a connection. It is closed by close.") == []
    )


@pytest.mark.req("A3")
def test_a_long_passage_is_cut_to_the_lines_that_speak_of_the_question():
    """It begins at its beginning unless that has less; parameters that nobody asked about are dots."""
    parameters = [f"    part{number}: int = 0," for number in range(20)]
    body = [f"Line {number}." for number in range(60)] + ["The timeout of a session is 300 seconds."]
    text = "\n".join(["def connect(", *parameters, "    timeout: int = 3,", "):", *body])
    shown = documentation([passage(text)], "How many seconds is the timeout of a session?", "")
    assert len(shown) < 52
    assert "..." in shown
    assert "The timeout of a session is 300 seconds." in shown
    assert documentation([passage(text)], "What about connect?", "")[5:13] == [
        "def connect(", *parameters[:4], "    ...,", "):", "Line 0.",
    ]  # fmt: skip


@pytest.mark.req("A3")
def test_all_passages_together_fit_a_screen_or_two():
    many = [passage("\n".join(f"pool word{n}x{line}" for line in range(30)), f"pool.f{n}") for n in range(20)]
    shown = documentation(many, "pool", "")
    assert 70 < sum(line.startswith("pool ") for line in shown) <= 80
    assert shown.count("```") % 2 == 0


def test_headings_without_anything_below_are_left_out_and_code_of_a_passage_cannot_end_its_block():
    text = "Connects.\n\nArgs:\n\nParameters\n----------\nAttributes\n----------\nNotes\n-----\n```\nx\n```"
    shown = documentation([passage(text)], "connect", "")
    assert not {"Args:", "Parameters"} & set(shown)
    assert "Notes" in shown
    assert shown.count("````") == 2


@pytest.mark.req("A3", "A14")
def test_what_is_named_is_shown_whatever_it_says():
    """A few lines that say no word of the question are not shown of anything else behind the first ones."""
    many = [passage("def open(pool)\nOpen the pool with a size.", f"pool.f{number}") for number in range(4)]
    bare = [passage("def get(key)\n    return self.rows[key]", name) for name in ("pool.get", "pool.take")]
    shown = "\n".join(documentation([*many, *bare], "What size has the pool, beside get?", ""))
    assert documentation(bare, "What size?", "") == []
    assert documentation(bare, "What size?", "", names=["Pool.close"])
    assert "`pool.get`" in shown
    assert "`pool.take`" not in shown
    assert "`pool.take`" in "\n".join(documentation([*many, *bare], "What size?", "", names=["Pool.take"]))


@pytest.mark.req("A3")
def test_what_a_class_is_derived_from_is_shown_though_the_answer_says_its_name():
    """`except DecodeError` catches a `ValidationError` too: no sentence says so."""
    shown = documentation(
        [passage("class Torn(Broken): ...", "pool.Torn")], "What is raised?", "`pool.Torn`, Broken [1]"
    )
    assert "class Torn(Broken): ..." in shown
    assert (
        documentation([passage("class Torn(object): ...", "pool.Torn")], "What?", "`pool.Torn` object [1]")
        == []
    )


@pytest.mark.req("A3")
def test_lines_that_only_give_types_are_left_out():
    text = "def put(a)\nPut it in.\n\n:type a: a crate\n:rtype: bool\n:raises Full: when there is no room"
    shown = documentation([passage(text)], "What is raised?", "")
    assert ":raises Full: when there is no room" in shown
    assert not [line for line in shown if "type" in line]
