"""Whether what an expedition has found answers its question, and what is said where it does not."""

import pytest
from support.expeditions import Library, research


@pytest.mark.req("E2", "E5")
def test_a_question_with_no_word_in_the_index(bench):
    """Fewer words are tried, then it ends since nothing is found, and says so plainly."""
    library = Library()
    updates = research(bench.pipeline({"web": library}), "Zyzzyva quokka marmalade?")
    finished = updates[-1]
    assert (finished.reason, finished.cycles) == ("zero_findings", 2)
    assert finished.answer.endswith("Nothing was found: no source has a passage about this question.\n")
    assert "zyzzyva quokka" in library.asked


@pytest.mark.req("E5", "E9")
def test_words_of_a_question_in_many_places_are_no_answer(bench):
    """Where no passage says most of it the nearest few are shown, and that they do not answer it."""
    pages = {
        f"https://{word}.example/{what}": (what, f"Some owls have a {what} for all {word} of theirs.")
        for word in ("carriers", "hangars", "lanterns")
        for what in ("cupboard", "meadow")
    }
    finished = research(
        bench.pipeline({"web": Library(pages, most=6)}), "Which owls repair carriers, hangars and lanterns?"
    )[-1]
    assert "Nothing that was found says it: no passage" in finished.answer
    assert "## The nearest that was found" in finished.answer
    assert "## Answer" not in finished.answer
    listed = finished.answer.partition("## Sources")[0].count("\n- ")
    assert listed == 5 < len(finished.axioms)


@pytest.mark.req("E5", "E9")
def test_the_words_of_a_term_one_by_one_are_no_answer(bench):
    """What says most of the words, and nothing of the term that two of them make, is only the nearest."""
    pages = {
        f"https://{word}.example/": (word, f"The depot of the {word} sends events to heavy lorries.")
        for word in ("carrier", "hangar", "harbour")
    }
    finished = research(
        bench.pipeline({"web": Library(pages, most=6)}), "Which heavy lorries support depot-sent events?"
    )[-1]
    assert "Nothing that was found says it: no passage says anything about depot-sent." in finished.answer
    assert "## The nearest that was found" in finished.answer


@pytest.mark.req("E9")
def test_what_no_answer_speaks_of(bench):
    """A word that stands in no passage is told apart from one that some passage names, in a heading for one, and no answer has."""
    pages = {
        "https://one.example/a": (
            "Carriers of parcels",
            "The night carrier takes parcels and letters to every harbour.",
        ),
        "https://two.example/b": (
            "Insurance / Claims / Night / Forms",
            "Owls file their forms by hand, each day.",
        ),
    }
    finished = research(
        bench.pipeline({"web": Library(pages, most=4)}),
        "Which night carrier takes parcels and letters to the harbour with insurance and lanterns?",
    )[-1]
    assert "No passage that was found says anything about lanterns." in finished.answer
    assert "Nothing found below says anything about insurance." in finished.answer
    assert not finished.answered


@pytest.mark.req("E9")
@pytest.mark.parametrize(
    ("question", "heading", "lead"),
    [
        ("What should I do when the scanner shows E47?", "Answer", ""),
        ("What happens to a warehouse scanner that gets E47?", "Answer", ""),
        ("What should I do when the warehouse scanner with a label printer shows E48?", "nearest", "no passage says anything about"),
        ("How long is the battery life of the warehouse scanner E47 in the cold store?", "Answer", "Nothing found below says anything about life."),
    ],
)  # fmt: skip
def test_which_words_an_answer_must_speak_of(bench, question, heading, lead):
    """Everyday verbs are none of them; a number must be that very one; of the rest most will do, and what is left is told."""
    pages = {
        "https://scanners.example/codes": (
            "Warehouse scanners / E47",
            "Restart the base station of each warehouse scanner. In the cold store its battery lasts nine hours.",
        ),
        "https://owls.example/life": ("Life", "Owls have a long life in the forest, which is cold at night."),
    }
    answer = research(bench.pipeline({"web": Library(pages)}), question)[-1].answer
    assert f"## {heading}" in answer or f"## The {heading}" in answer
    assert lead in answer
    assert ("anything about" in answer) == bool(lead)


@pytest.mark.req("E5", "E9")
@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which difference do WHERE and HAVING make to parcels?", False),
        ("WHICH DIFFERENCE DO WHERE AND HAVING MAKE TO PARCELS?", True),
        ("Which difference does WHERE make to parcels?", True),
        ("Which difference do carriers NOT make to parcels?", True),
    ],
)
def test_keywords_that_no_search_looks_for(bench, question, answers):
    """What is found without them answers only if it has them; what is written in capitals to stress it is none."""
    pages = {
        "https://one.example/": (
            "Parcels",
            "The difference that carriers make to parcels is not small. The clause WHERE makes a difference to parcels.",
        )
    }
    finished = research(bench.pipeline({"web": Library(pages)}), question)[-1]
    assert finished.answered is answers
    assert ("Nothing found below says anything about HAVING," in finished.answer) is not answers
