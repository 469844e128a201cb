"""The learned order of the first passages of a how-to that names nothing."""

import json
from importlib.resources import files

import pytest

from kr_core.search import learned_order
from kr_core.search.learned_order import WEIGHTS_FILE, traits_of
from kr_core.search.passage_index import IndexedPassage, build
from kr_core.search.passage_score import Focus
from kr_core.search.ranking import rank
from kr_core.search.terms import question_terms

QUESTION = "How do I paint every crate in the yard?"
pytestmark = pytest.mark.req("A1")


def symbol(name, lead="Paint every crate in the yard, and let it dry.", **data):
    """A symbol with its documentation."""
    return IndexedPassage(
        "symbol",
        name,
        f"def {name}()\n{lead}",
        "box.py:1",
        name,
        name=name.rpartition(".")[2],
        lead=lead,
        data=data,
    )


def titles(passages, focus, most=60, question=QUESTION):
    """The titles that come first."""
    index = build(None, passages)
    return [one.passage.title for one in rank(index, question_terms(index, question), most, focus=focus)]


def test_a_function_at_the_top_comes_before_the_same_deep_in_the_package():
    """Where both say as much of the question."""
    deep = symbol("box.internal.backends.a_painter.paint_crates_now", "Paint every crate in the yard.")
    found = titles([deep, symbol("box.paint_crates")], Focus(learned=True))
    assert found == ["box.paint_crates", deep.title]


def test_nothing_is_lost_and_those_behind_keep_their_places():
    """The model sees the first passages only."""
    many = [symbol(f"box.paint_{n}", f"Paint crate {n} in the yard. " + "Again. " * n) for n in range(40)]
    plain, learned = titles(many, Focus()), titles(many, Focus(learned=True))
    assert sorted(plain) == sorted(learned)


def test_what_the_question_names_stays_first():
    """A pin comes before any order."""
    from kr_core.search.passage_score import Pin

    passages = [symbol("box.a.b.c.d.dry", "Dry."), symbol("box.paint_crates")]
    focus = Focus(pins=[Pin(1, "box.a.b.c.d.dry")], learned=True)
    assert titles(passages, focus)[0] == "box.a.b.c.d.dry"


def test_the_model_knows_each_trait_and_no_other():
    """A trait that is renamed must be fitted again."""
    index = build(None, [symbol("box.paint_crates")])
    terms = question_terms(index, QUESTION)
    traits = traits_of(index, terms, rank(index, terms))
    weights = json.loads((files("kr_core.search") / WEIGHTS_FILE).read_text("utf-8"))
    assert set(traits[0]) == set(weights)


@pytest.mark.parametrize("question", ["?", "", "\ud800 \0", "x" * 50_000])
def test_a_question_without_words_is_put_in_some_order(question):
    """Passages without a symbol, lead or text too."""
    bare = IndexedPassage("section", "README", "", "README.md:1")
    assert titles([bare, symbol("box.paint_crates", "")], Focus(learned=True), question=question) is not None
    assert learned_order.reordered(build(None, [bare]), [], []) == []
