"""What strangers put into packages and stored answers, and people into questions, does not make a look-up long."""

from __future__ import annotations

import pytest
from support.regexes import seconds_for

from kr_core.cli import json_edit
from kr_core.errors import ConfigError
from kr_core.evidence.asked_words import AskedWords
from kr_core.evidence.code_examples import shortest_example
from kr_core.model import Passage
from kr_core.question import dependency_search
from kr_core.question.packages import ReadingAllowance
from kr_core.question.parsed_question import parse_question
from kr_core.research.passages import stored_passages
from kr_core.search.absent_names import is_said
from kr_core.search.name_resolution import resolve
from kr_core.search.passage_index import IndexedPassage, build

pytestmark = pytest.mark.req("Z8")

_SECONDS = 20.0
"""Of processor time; what was mended took minutes to hours, and takes a second or two."""


def quick(work) -> bool:
    return seconds_for(work, limit=_SECONDS) < _SECONDS


def symbol(name: str, what: str, signature: str = "") -> IndexedPassage:
    data = {"what": what, "signature": signature}
    return IndexedPassage("symbol", name, what, "box.py:1", symbol=name, lead="Says it.", data=data)


def test_a_member_is_looked_for_in_many_bases_in_seconds() -> None:
    """KR looks at each base of a class once, though classes may have many bases that share theirs."""
    passages = [symbol(f"box.other{number}.send", "function") for number in range(2_000)]
    for depth in range(7):
        bases = ", ".join(f"B{depth + 1}x{number}" for number in range(12))
        for number in range(12):
            name = f"B{depth}x{number}"
            passages += [symbol(f"box.{top}.{name}", "class", f"class {name}({bases})") for top in "pq"]
    index = build(None, passages)
    question = parse_question("What does `B0x0.send` do in box?")
    assert quick(lambda: resolve(index, question, ["box"]))


@pytest.mark.parametrize(("bases", "found"), [("Near, Far", "box.Above.send"), ("Far", "box.Far.send")])
def test_a_member_is_that_of_the_first_base_that_has_it(bases: str, found: str) -> None:
    """KR follows the bases as Python does: what stands above the first one comes before the second one."""
    index = build(
        None,
        [
            symbol("box.Client", "class", f"class Client({bases})"),
            symbol("box.Near", "class", "class Near(Above)"),
            symbol("box.Above.send", "function"),
            symbol("box.Far.send", "function"),
        ],
    )
    resolved = resolve(index, parse_question("What does `Client.send` do in box?"), ["box"])
    assert [each.entry.name for each in resolved.subjects] == [found]


def test_a_question_of_many_names_that_thousands_take_is_resolved_in_seconds() -> None:
    """KR looks up each name once, and finds what takes a parameter without comparing each with each."""
    takers = [
        symbol(f"box.f{n}", "function")._replace(data={"what": "function", "keywords": ["q"]})
        for n in range(20)
    ]
    parameters = [
        symbol(f"box.g{n // 40}", "function")._replace(kind="parameter", parameter=f"p{n % 40}")
        for n in range(80_000)
    ]
    index = build(None, [*takers, *parameters])
    named = " ".join(f"`f{n}`" for n in range(20))
    calls = "\n".join(f"f{n}({'p0=1,' * 190})" for n in range(20))
    several = " ".join(f"`p{n}`" for n in range(40))
    texts = (
        f"What do {named} do in box?\n\n```python\n{calls}\n```",
        f"What do {several} in {named} of box?",
    )
    questions = [parse_question(text) for text in texts]
    assert quick(lambda: [resolve(index, question, ["box"]) for question in questions])


def test_a_text_of_imports_is_searched_for_a_name_in_seconds() -> None:
    """A text that says `import` in every word is searched in linear time."""
    passage = IndexedPassage("section", "A", "import " * 57_000 + "Frobnicate", "box.md:1")
    index = build(None, [passage] * 3)
    assert quick(lambda: is_said(index, "frobnicate"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Then from box import wrap, send.", True),
        ("At first.\nThen import box; import send here", True),
        ("You can send it.", False),
        ("import box\nand send it", False),
    ],
)
def test_a_plain_word_is_said_where_it_is_imported(text: str, said: bool) -> None:
    """A plain word is a name where it stands behind `import` on a line."""
    assert is_said(build(None, [IndexedPassage("section", "A", text, "box.md:1")]), "send") is said


def test_a_line_of_brackets_is_read_in_seconds() -> None:
    """A pasted line that looks like a condition is read in linear time, however long it is."""
    assert quick(lambda: parse_question("Why?\nif " + "( " * 400_000 + "\n"))


def test_a_question_of_many_names_is_answered_in_seconds(tmp_path) -> None:
    """A pasted text may spell hundreds of names and words that no dependency has."""
    file = tmp_path / "__init__.py"
    file.write_text("alpha beta gamma delta " * 15_000)
    libraries = [
        dependency_search._Library(
            f"box{number}", (file,), None, frozenset(), ReadingAllowance(1_000_000_000)
        )
        for number in range(40)
    ]
    names = "; ".join(f"foo_bar{number}()" for number in range(2_000))
    words = " ".join(
        f"d{number:04}".translate(str.maketrans("0123456789", "abcdefghij")) for number in range(3_000)
    )
    assert quick(lambda: dependency_search._owner(names, libraries))
    assert quick(lambda: dependency_search._ranked(words, libraries))


@pytest.mark.parametrize("cut", [True, False])
def test_the_shortest_of_many_examples_is_found_in_seconds(cut: bool) -> None:
    """A passage may hold thousands of pieces of code; KR looks at the first ones."""
    blocks = [f"wrap(timeout={number})" for number in range(10_000)]
    text = "\n\n".join(f"```\n{block}\n```" for block in blocks)
    code = tuple(blocks) if cut else ("\n\n".join(blocks),)
    passage = Passage(
        url="https://box.example", kind="section", title="A", text=text, locator="a.md:1", code=code
    )
    found: list[object] = []
    assert quick(lambda: found.append(shortest_example(passage, [passage], AskedWords("timeout", []))))
    assert found[0] is not None


def test_the_passages_of_a_stored_answer_are_read_in_seconds() -> None:
    """A stored answer may name one large passage thousands of times; KR reads as many as it stores, each once."""
    evidence = {
        "shown": [{"sha256": "a"}] * 50_000 + [{"sha256": "b"}],
        "passages": {"a": {"url": "https://box.example", "text": "word " * 300_000}},
    }
    assert quick(lambda: stored_passages(evidence, "how do I word it", 2_000))


def test_what_is_said_of_a_stored_passage_is_short() -> None:
    """The limit of tokens holds for the text; where it comes from may not go beyond that by much."""
    long = "x" * 1_000_000
    names = dict.fromkeys(("symbol", "kind", "locator", "version", "deprecated"), long)
    evidence = {
        "shown": [{"sha256": "a", **names}, {"sha256": "b"}],
        "passages": {"a": {"url": "u", "text": "word"}, "b": {"url": long, "text": "word"}},
    }
    (passage,) = stored_passages(evidence, "word", 2_000)
    assert len(passage.model_dump_json()) < 10_000


def test_a_key_that_is_there_twice_is_named_in_seconds() -> None:
    """The settings of a client may have any number of keys."""
    members = "".join(f'"k{number}": 1, ' for number in range(200_000))

    def load() -> None:
        with pytest.raises(ConfigError, match="`k199999` twice"):
            json_edit.load(f'{{{members}"k199999": 1}}', where=".mcp.json", by_hand="do it by hand")

    assert quick(load)
