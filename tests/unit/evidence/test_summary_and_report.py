"""The first sentence in the question's kind, the window on the documentation, and examples that fit the signatures."""

import json
import re
from datetime import date

import pytest

from kr_core.evidence.citations import plain
from kr_core.evidence.summary import compose
from kr_core.evidence.verification import verify
from kr_core.model import (
    Attribution,
    Claim,
    Finding,
    Outcome,
    Passage,
    Report,
    ResearchQuery,
    Score,
    UnresolvedName,
)
from kr_core.research.report import draft_of, evidence_of, told_with_doubt
from kr_plugins.renderers.markdown import Markdown
from kr_plugins.scorers.evidence import Evidence

URL = "pkg:pypi/box@1.2.0"


def query(question):
    return ResearchQuery(
        framework="box", framework_version="1.2.0", topic="box", tags=("box",), question=question
    )


def found(*passages, support=(), unresolved=()):
    return [
        ("installed_docs", Finding(outcome=Outcome.ok, passages=passages, support=support, url=URL, version="1.2.0", unresolved=unresolved))
    ]  # fmt: skip


def symbol(name, signature, doc, *, what="function", parameters=(), code=(), **more):
    """A documented symbol, as the source `installed_docs` finds it."""
    text = "\n".join([signature, doc, *(f"\n```python\n{one}\n```" for one in code)])
    return Passage(
        text=text, url=URL, locator=f"box/{name.rpartition('.')[2]}.py:3", lines=((0, 3), (1, 4)), title=name, kind="symbol", what=what,
        lead=" ".join(doc.split("\n\n")[0].split()), symbol=name, signature=signature, parameters=parameters, code=tuple(code), official=True,
        version="1.2.0", coverage=more.pop("coverage", 0.9), **more,
    )  # fmt: skip


def parameter(owner, name, declared, doc, **more):
    """A documented parameter."""
    return Passage(
        text=f"{doc}\ndef {owner.rpartition('.')[2]}\n{declared}", url=URL, locator="box/put.py:9", lines=((0, 9), (1, 3), (2, 4)),
        title=f"{owner}({name})", kind="parameter", what="function", lead=" ".join(doc.split("\n\n")[0].split()), symbol=owner, parameter=name,
        signature=declared, official=True, version="1.2.0", coverage=more.pop("coverage", 0.9), **more,
    )  # fmt: skip


def said(question, *passages, **more):
    draft = compose(query(question), found(*passages, **more))
    assert problems(draft, question) == []
    return [claim.text for claim in draft.summary]


def problems(draft, question):
    """What `kr verify` finds in the report of a draft."""
    report = Report(
        query=query(question), research_date=date(2026, 1, 2), score=Score(score=60, level="medium"), draft=draft,
        sources=(Attribution(url=URL, via="installed_docs", finding="verified via official docs"),),
    )  # fmt: skip
    text = Markdown(()).render(report)
    return verify(text, json.loads(json.dumps(evidence_of(report, query(question), "r.md"))))


PUT = symbol(
    "box.put", "def put(thing, *, wait=WAIT, lid=False, mode='soft'):", "Put a thing into the box.",
    parameters=(("thing", None), ("wait", "WAIT"), ("lid", "False"), ("mode", "'soft'")), required=("thing",),
)  # fmt: skip
TAKE = symbol("box.take", "def take():", "Take a thing out of the box.\n\nUnlike `put`, it never waits.")
WAIT = Passage(text="WAIT = Wait(seconds=5.0)", url=URL, locator="box/put.py:1", title="box.WAIT", kind="constant", what="constant",
               symbol="box.WAIT", official=True)  # fmt: skip


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the default of lid in box.put?", "The default of `lid` in `box.put` is `False`. [1]"),
        ("What is the default of wait in box.put?", "The default of `wait` in `box.put` is `WAIT`, which is `Wait(seconds=5.0)`. [1][2]"),
    ],
)  # fmt: skip
def test_a_question_for_a_default_begins_with_the_value(question, answer):
    """A constant is followed to what it stands for."""
    assert said(question, PUT, support=(WAIT,))[0] == answer


@pytest.mark.req("A2")
def test_a_default_that_only_marks_that_nothing_was_given_is_not_told_as_one():
    marked = symbol(
        "box.seal", "def seal(*, glue=_Unset):", "Seal the box.", parameters=(("glue", "_Unset"),)
    )
    texts = said("What is the default of glue in box.seal?", marked)
    assert not any("_Unset" in text for text in texts)
    assert texts[0] == "`box.seal(glue=...)`: Seal the box. [1]"


@pytest.mark.req("A2")
def test_a_default_that_a_router_may_replace_is_told_as_its_value():
    wrapped = symbol("box.route", "def route(path, strict=Default(False)):", "Add a route.", parameters=(("path", None), ("strict", "Default(False)")))  # fmt: skip
    texts = said("What is the default of strict in box.route?", wrapped)
    assert texts[0] == "The default of `strict` in `box.route` is `False`. [1]"
    assert "Default(" not in texts[1]


@pytest.mark.req("A2")
def test_a_question_for_a_difference_shows_both_and_the_sentence_that_says_it():
    """In the order of the question, whatever came first."""
    texts = said("What is the difference between take and put?", PUT, TAKE)
    assert texts == [
        "`box.take`: Unlike `put`, it never waits. [1]",
        "`box.take()`: Take a thing out of the box. [2]",
        "`box.put(thing, wait=WAIT, lid=False, mode='soft')`: Put a thing into the box. [3]",
    ]


@pytest.mark.req("A2")
def test_a_question_for_options_begins_with_the_list():
    mode = parameter(
        "box.put", "mode", "mode: Mode = 'soft'", "How to put it.", annotation="Mode", default="'soft'"
    )
    alias = Passage(text="Mode = Literal['soft', 'hard']", url=URL, locator="box/put.py:2", title="box.Mode", kind="constant",
                    what="constant", symbol="box.Mode", official=True)  # fmt: skip
    assert said("Which options does mode of box.put take?", mode, support=(alias,))[0] == (
        "The options of `mode` in `box.put`: `Literal['soft', 'hard']`. [1][2]"
    )


@pytest.mark.req("A2", "A3")
def test_a_yes_or_no_is_the_sentence_that_decides():
    box = symbol("box.Box", "class Box:", "A box for things.\n\nIt is painted.\n\nA box is not safe to share between threads.", what="class", pinned=True)  # fmt: skip
    texts = said("Is box.Box safe to share between threads?", box)
    assert texts[0] == "No: `box.Box`: A box is not safe to share between threads. [1]"
    assert texts[1].startswith("`box.Box`: A box for things.")


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    ("nearest", "end"), [(("box.put", "box.take"), "; the nearest: `box.put`, `box.take`."), ((), ".")]
)
def test_a_name_that_does_not_exist_is_said_first(nearest, end):
    question = "What does box.putt do?"
    draft = draft_of(query(question), found(PUT, unresolved=(UnresolvedName(name="putt", nearest=nearest),)))
    assert draft.summary[0].text == f"KR found nothing named `putt` in box 1.2.0{end}"
    assert problems(draft, question) == []


OLD = "Deprecated since 1.1: use stow instead."


@pytest.mark.req("A5")
@pytest.mark.parametrize("first", [True, False])
def test_what_is_deprecated_is_called_so_and_its_replacement_stands_next_to_it(first):
    """Also where it is not what answers first."""
    old = symbol("box.cram", "def cram(thing):", f"{OLD}\n\nCram a thing in.", parameters=(("thing", None),),
                 code=("box.cram(1)",), deprecated=OLD, replacement="box.stow")  # fmt: skip
    new = symbol("box.stow", "def stow(thing):", "Stow a thing.", coverage=0.5)
    passages = (old, PUT, new) if first else (PUT, old, new)
    draft = compose(query("How do I cram a thing in?"), found(*passages))
    texts = [claim.text for claim in draft.summary]
    place = texts.index(next(text for text in texts if "is deprecated" in text))
    assert texts[place].removeprefix("See also ") == f"`box.cram` is deprecated: {OLD} [{place + 1}]"
    if first:
        assert place == 0
        assert any("`box.stow" in text for text in texts[: place + 4])
        assert draft.summary_code == ()


@pytest.mark.req("A3")
@pytest.mark.parametrize(
    "turn", ["Use `stow` instead.", "It is unsafe on hot things.", "Allowed only if the lid is off."]
)
def test_a_sentence_that_turns_the_advice_round_is_never_left_out(turn):
    """However long what stands before it is."""
    filler = "\n\n".join(
        f"Paragraph {number} tells at length how boxes are painted in our town." for number in range(30)
    )
    texts = said("How do I put a thing into the box?", symbol("box.put", "def put(thing):", f"Put a thing into the box.\n\n{filler}\n\nAbout things in a box: {turn}"))  # fmt: skip
    assert any(turn in text for text in texts)


@pytest.mark.req("A3")
def test_no_sentence_is_cut_or_rewritten():
    """Each run of the window stands in the passage, and ends where a sentence ends."""
    doc = "Put a thing into the box. " + " ".join(f"Sentence {number} is about things of size {number}, e.g. balls." for number in range(60))  # fmt: skip
    passage = symbol("box.put", "def put(thing):", doc)
    draft = compose(query("How do I put a thing of size 41 into the box?"), found(passage))
    for claim in draft.summary:
        assert plain(claim.slots[-1]) in plain(passage.text)
        assert claim.slots[-1].endswith(".")
    assert any("size 41" in claim.text for claim in draft.summary)


@pytest.mark.req("A3")
def test_marked_up_prose_reads_as_plain_markdown():
    doc = "Put a thing into :class:`~box.Box` with :meth:`.Box.put`, {py:func}`box.put`, {@link Box} or [`Lid`][box.Lid] of :class:`_private.Case`."  # fmt: skip
    (text,) = said("What does box.put do?", symbol("box.put", "def put():", doc))
    assert text == (
        "`box.put()`: Put a thing into `box.Box` with `Box.put`, `box.put`, `Box` or `Lid` of `Case`. [1]"
    )


@pytest.mark.req("A3")
def test_lists_of_names_and_notes_marks_are_not_shown_as_prose():
    doc = 'Put a thing.\n\n!!! abstract "Usage"\n    [`put`](../put.md)\n\nReturns:\n    The thing that was put into the box.\n\nPut it in softly.'  # fmt: skip
    texts = " ".join(
        said("How do I put a thing into the box softly?", symbol("box.put", "def put(thing):", doc))
    )
    assert "softly" in texts
    assert "!!!" not in texts
    assert "that was put" not in texts


@pytest.mark.req("A4")
@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("box.put('ball', lid=True)", True),
        ("from box import put\nput('ball', lid=True)", True),
        ("import box as b\nb.put('ball', lid=True)", True),
        ("await box.put('ball', lid=True)", True),
        ("box.put('ball', cover=True, lid=True)", False),
        ("from box import put\nput('ball', cover=True, lid=True)", False),
        ("box.put('ball', lid=True", False),
        ("box.put('ball')", False),
        ("print('box.put(lid=True)')", False),
        ("box.put('ball', lid=True)  # wrong", False),
    ],
)
def test_an_example_fits_the_signature_and_shows_what_is_asked(code, shown):
    """A keyword that the installed version refuses, broken code, a name in a string, or another use is not shown."""
    put = PUT.model_copy(update={"text": f"{PUT.text}\n\n```python\n{code}\n```", "code": (code,)})
    draft = compose(query("How do I put the lid on with box.put?"), found(put))
    assert [example.code for example in draft.summary_code] == ([code] if shown else [])


@pytest.mark.req("A4", "A5")
def test_an_example_passes_no_deprecated_parameter():
    code = "box.put('ball', lid=True)"
    put = PUT.model_copy(update={"text": f"{PUT.text}\n\n```python\n{code}\n```", "code": (code,)})
    lid = parameter("box.put", "lid", "lid=False", "Deprecated: use `cover` instead.", default="False",
                    deprecated="Deprecated: use `cover` instead.")  # fmt: skip
    assert compose(query("How do I put a ball?"), found(put)).summary_code
    assert compose(query("How do I put a ball?"), found(put, support=(lid,))).summary_code == ()


@pytest.mark.req("A4")
def test_no_value_is_advised_that_the_documentation_does_not_advise():
    """A switch that is off by default is not turned on by rule."""
    lid = parameter(
        "box.put",
        "lid",
        "lid: bool = False",
        "If True, disables the check of the lid.",
        annotation="bool",
        default="False",
    )
    texts = said("How do I close the lid?", lid)
    assert texts == [
        "`box.put(lid=...)` (type `bool`, default `False`): If True, disables the check of the lid. [1]"
    ]


@pytest.mark.req("A9")
def test_what_is_not_found_is_said_with_two_places_to_look_and_no_example():
    code = "box.put('ball')"
    put = PUT.model_copy(
        update={"text": f"{PUT.text}\n\n```python\n{code}\n```", "code": (code,), "coverage": 0.1}
    )
    others = [
        symbol(f"box.f{number}", f"def f{number}():", f"Do the number {number}.", coverage=0.1)
        for number in range(5)
    ]
    draft = draft_of(query("How do I melt gold?"), found(put, *others))
    assert (
        draft.summary[0].text
        == "The documentation of box 1.2.0 does not seem to answer this; the nearest passages follow."
    )
    assert len(draft.summary) == 3
    assert draft.summary_code == ()
    assert problems(draft, "How do I melt gold?") == []


@pytest.mark.req("A3")
def test_a_symbol_without_documentation_is_shown_by_its_signature_alone():
    bare = symbol("box.shut", "def shut(hard=False):", "", parameters=(("hard", "False"),))
    assert said("How do I shut the box?", bare) == ["`box.shut(hard=False)` [1]"]


LOW = Score(score=30, level="low")
UNSURE = "KR is not sure of this; closest:"
UNSURE_OF_GOLD = 'KR is not sure of this: the documentation of box 1.2.0 says nothing of "gold"; closest:'


def doubted(question, findings, score=LOW):
    """The answer as a reader sees it after a low score."""
    draft = told_with_doubt(query(question), findings, draft_of(query(question), findings), score)
    assert problems(draft, question) == []
    return draft


@pytest.mark.req("A9", "A14")
def test_an_answer_of_what_the_asker_named_says_that_only_the_answer_is_in_doubt():
    """Unless something else that was named is not there."""
    asked = query("How do I seal a thing?").model_copy(update={"names": ("put",)})
    opening = "KR found what you named, and is not sure that it answers this; closest:"
    for absent, said in ((), opening), (("seal",), UNSURE):
        findings = found(PUT, unresolved=tuple(UnresolvedName(name=name) for name in absent))
        draft = told_with_doubt(asked, findings, draft_of(asked, findings), LOW)
        assert problems(draft, asked.question) == []
        assert said in [claim.text for claim in draft.summary]


@pytest.mark.req("A8", "A9")
def test_an_answer_that_is_not_sure_says_so_and_shows_the_passages_as_they_are():
    """No sentence answers, nothing is called "See also", and two neighbours of what the question names are shown."""
    others = [symbol(f"box.f{number}", f"def f{number}(lid):", f"Do the number {number} with the lid.") for number in range(9)]  # fmt: skip
    draft = doubted("What is the default of lid in box.put?", found(PUT, *others))
    texts = [claim.text for claim in draft.summary]
    assert texts == [
        UNSURE,
        "`box.put(thing, wait=WAIT, lid=False, mode='soft')`: Put a thing into the box. [1]",
        "`box.f0()`: Do the number 0 with the lid. [2]",
        "`box.f1()`: Do the number 1 with the lid. [3]",
    ]
    assert not draft.direct


@pytest.mark.req("A9")
def test_an_answer_of_nothing_but_signatures_says_so():
    """Two names without a word about them tell no difference."""
    bare = [symbol(f"box.{name}", f"def {name}(lid):", "") for name in ("shut", "close")]
    draft = doubted("How does close differ from shut?", found(*bare))
    told = [claim.text for claim in draft.summary]
    assert told[0] == "KR found only signatures in box 1.2.0, without a word about them:"
    assert told[1].startswith("`box.")


@pytest.mark.req("A8")
@pytest.mark.parametrize(("score", "level"), [(60, "medium"), (85, "high")])
def test_an_answer_that_is_sure_enough_stays_as_it_is(score, level):
    findings = found(PUT)
    draft = draft_of(query("How do I put a thing?"), findings)
    sure = Score(score=score, level=level)
    assert told_with_doubt(query("How do I put a thing?"), findings, draft, sure) is draft


@pytest.mark.req("A4", "A8")
def test_an_answer_that_is_not_sure_shows_only_code_of_its_first_passage():
    """Code that another passage has for the first one may be about something else."""
    code = "box.put('ball')"
    other = symbol("box.shelf", "def shelf():", "A shelf of boxes.", code=(code,))
    assert draft_of(query("How do I put a ball?"), found(PUT, other)).summary_code
    assert doubted("How do I put a ball?", found(PUT, other)).summary_code == ()
    own = PUT.model_copy(update={"text": f"{PUT.text}\n\n```python\n{code}\n```", "code": (code,)})
    assert [one.code for one in doubted("How do I put a ball?", found(own, other)).summary_code] == [code]


@pytest.mark.req("A4")
def test_code_of_a_namesake_in_another_module_is_not_shown():
    """What the manual of `crate` does with its own `put` may fail with that of `box`."""
    code = "put(1).twice()"
    put, other = PUT, symbol("box.crate.put", "def put(thing):", "Put a thing into a crate.")
    manual = symbol("box.crate.base", "", "How to fill a crate.", what="module", code=(code,))
    shown = draft_of(query("How do I put a thing away?"), found(put, other, support=(manual,)))
    assert shown.summary_code == ()
    shown = draft_of(query("How do I put a thing away?"), found(put, support=(manual,)))
    assert [one.code for one in shown.summary_code] == [code]


@pytest.mark.req("A4")
def test_code_need_not_name_what_is_passed_by_its_place():
    """A required parameter that is a word of the question is in no code: `put('ball')` shows how a thing is put."""
    code = "box.put('ball')"
    own = PUT.model_copy(update={"text": f"{PUT.text}\n\n```python\n{code}\n```", "code": (code,)})
    assert [one.code for one in draft_of(query("How do I put a thing?"), found(own)).summary_code] == [code]
    assert draft_of(query("How do I put it with a lid?"), found(own)).summary_code == ()


@pytest.mark.req("A4")
def test_code_that_says_nothing_of_the_question_but_a_name_is_not_shown_in_doubt():
    """`put(ball)` is a call like any other; it shows how a soft thing is put only if it says so."""
    codes = ("box.put(ball)", "box.put(ball, mode='soft')")
    for code, shown in zip(codes, (0, 1), strict=True):
        own = PUT.model_copy(update={"text": f"{PUT.text}\n\n```python\n{code}\n```", "code": (code,)})
        assert len(doubted("How is a soft thing stored?", found(own)).summary_code) == shown


@pytest.mark.req("A3", "A8")
def test_what_a_callable_takes_is_listed_where_the_question_names_it():
    """What is not sure lists neighbours; where the question names a callable, its parameters come in their place, as `help` has them."""
    others = [symbol(f"box.put{n}", f"def put{n}():", f"Put a soft thing {n}.") for n in range(5)]
    lid = parameter(
        "box.put", "lid", "lid=False", "Whether a soft thing gets a lid. See the manual for more."
    )
    put = PUT.model_copy(update={"pinned": True})
    for first, listed, neighbours in ((put, True, 0), (PUT, False, 4)):
        texts = doubted("How do I put a soft thing?", found(first, others[0], lid, *others[1:])).summary
        shown = " ".join(claim.text for claim in texts)
        assert ("- `lid`: Whether a soft thing gets a lid. [" in shown) is listed
        assert ("`box.put(lid=...)`" in shown) is not listed
        assert sum(f"box.put{n}" in shown for n in range(5)) == neighbours


@pytest.mark.req("A3")
def test_sentences_on_both_sides_of_a_pointer_are_quoted_apart():
    """The one between them only says where to look, and is left out: together they would be no quote."""
    lid = parameter(
        "box.put",
        "lid",
        "lid=False",
        "Whether it gets a lid. For more about lids see the manual. A lid is soft.",
    )
    shown = said("What does the lid of box.put do?", lid.model_copy(update={"pinned": True}))
    assert "Whether it gets a lid. [1]" in shown[0]
    assert shown[1] == "A lid is soft. [2]"


@pytest.mark.req("A2", "A9")
@pytest.mark.parametrize(
    ("question", "untold"),
    [
        (
            "How do I put a soft thing into the box, and melt a golden statue?",
            ['Not answered here: "melt a golden statue".'],
        ),
        ("How do I put a thing into the box with a lid that is soft?", []),
        ("How do I melt a golden statue, and sell a silver spoon?", []),
        (
            "How do I put a soft thing into the box, and melt a \u202e`golden` [statue]?",
            ['Not answered here: "melt a \ufffdgolden statue".'],
        ),
        (
            "How do I put a soft thing into the box, and melt <img src=https://x.example/y> golden statues?",
            [],
        ),
    ],
)
def test_a_part_of_a_question_that_is_not_answered_is_named(question, untold):
    """Half an answer does not pass for a whole one; where no part is answered, the opening says so."""
    sure = Score(score=70, level="medium")
    shown = doubted(question, found(PUT.model_copy(update={"pinned": True})), sure).summary
    assert [claim.text for claim in shown if not claim.citations] == untold


@pytest.mark.req("A2", "A14")
def test_a_part_for_which_an_expected_name_is_cited_is_not_said_to_be_unanswered():
    """The asker expects one name for each part, and all of them are there."""
    melt = symbol("box.melt", "def melt(thing):", "Make it liquid with heat.")
    question = "How do I put a soft thing into the box, and melt a golden statue?"
    asked = query(question).model_copy(update={"names": ("put", "box.melt")})
    findings = found(PUT.model_copy(update={"pinned": True}), melt)
    draft = draft_of(asked, findings)
    assert "box.melt" in {one.symbol for one in draft.passages.values()}
    shown = told_with_doubt(asked, findings, draft, Score(score=70, level="medium"))
    assert not [claim.text for claim in shown.summary if not claim.citations]


@pytest.mark.req("A2")
def test_a_name_inside_of_a_word_is_no_name():
    """`z` is a library's own name, and a letter of "frozen sizes"."""
    thing = symbol("z", "def z():", "It counts the frozen sizes of zones. It packs a soft thing into a box.")
    question = "How do I pack a soft thing into the box, and count frozen sizes of zones?"
    shown = doubted(
        question, found(thing.model_copy(update={"pinned": True})), Score(score=70, level="medium")
    )
    assert all(claim.citations for claim in shown.summary)


@pytest.mark.req("A9")
@pytest.mark.parametrize(
    ("missing", "coverage", "score", "said"),
    [
        (("gold",), 0.45, 30, UNSURE_OF_GOLD),
        (("gold",), 0.1, 30, 'KR found no answer in box 1.2.0, which says nothing of "gold"; this comes closest:'),
        ((), 0.1, 30, "KR found no answer in box 1.2.0; this comes closest:"),
        ((), 0.9, 3, "KR found no answer in box 1.2.0; this comes closest:"),
    ],
)  # fmt: skip
def test_a_weak_answer_begins_with_how_sure_kr_is_and_why(missing, coverage, score, said):
    """Where nothing fits, two places to look follow at most."""
    shelves = [symbol(f"box.f{number}", f"def f{number}():", f"Do the number {number}.", coverage=coverage) for number in range(5)]  # fmt: skip
    findings = found(*shelves)
    findings = [(name, one.model_copy(update={"missing": missing})) for name, one in findings]
    draft = doubted("How do I melt gold?", findings, Score(score=score, level="low"))
    assert draft.summary[0].text == said
    assert len(draft.summary) == (6 if said == UNSURE_OF_GOLD else 3)


@pytest.mark.req("A1", "A8")
def test_a_name_that_does_not_exist_comes_before_the_doubt():
    texts = [one.text for one in doubted("What does box.putt do?", found(PUT, unresolved=(UnresolvedName(name="putt"),))).summary]  # fmt: skip
    assert texts[:2] == ["KR found nothing named `putt` in box 1.2.0.", UNSURE]


@pytest.mark.req("A1", "A9")
def test_what_a_shown_passage_holds_is_not_denied():
    """A name among the members of a type, or above a section, and a word among the values of a type."""
    options = symbol(
        "box.Options", "interface Options", "Options of the box.", parameters=(("maxLids", None),)
    )
    absent = (UnresolvedName(name="maxLids", mentioned=True), UnresolvedName(name="maxPads"))
    texts = [one.text for one in doubted("How many maxLids has the box?", found(options, unresolved=absent)).summary]  # fmt: skip
    assert texts[:2] == ["KR found nothing named `maxPads` in box 1.2.0.", UNSURE]
    case = symbol(
        "box.Case", 'Case = "lowerCase" | "camelCase"', "The case of the names of a box.", coverage=0.45
    )
    findings = [(name, one.model_copy(update={"missing": ("camel", "doesn")})) for name, one in found(case)]
    told = doubted("How do I write names of the box in camel case?", findings).summary[0].text
    assert told == 'KR is not sure of this: the documentation of box 1.2.0 says nothing of "doesn"; closest:'


@pytest.mark.req("A8", "R17")
def test_what_a_model_wrote_of_weak_passages_begins_with_the_doubt_too():
    findings = found(PUT)
    draft = draft_of(query("How do I put a thing?"), findings)
    written = draft.model_copy(
        update={"summary": (Claim(text="It puts a thing in. [1]", citations=(1,), written=True),)}
    )
    told = told_with_doubt(query("How do I put a thing?"), findings, written, LOW)
    assert [claim.text for claim in told.summary] == [UNSURE, "It puts a thing in. [1]"]


BALLS = symbol(
    "box.put", "def put(ball):", "Put a ball into the box.", parameters=(("ball", None),), pinned=True
)


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    ("doc", "shown"),
    [
        ("Paint the box with a brush.", True),
        ("Throw a ball.", False),
        ("Whatever else there is about shops.", False),
    ],
)
def test_another_passage_is_shown_only_for_what_the_answer_has_not_said(doc, shown):
    """Of what is asked for; the library's own name does not count."""
    other = symbol("box.other", "def other():", doc)
    texts = said("How do I put a ball into a painted box with box?", BALLS, other)
    assert any(text.startswith("See also `box.other") for text in texts) is shown


@pytest.mark.req("A2")
@pytest.mark.parametrize(("name", "shown"), [("box.kick", True), ("box.put", False)])
def test_another_passage_that_the_question_names_is_shown_unless_it_is_the_same_again(name, shown):
    """A function after its own parameter says nothing new."""
    first = parameter("box.put", "ball", "ball", "The ball that goes in.", pinned=True)
    other = symbol(name, f"def {name[4:]}(ball):", "About a ball.", pinned=True)
    texts = said("What is the ball of box.put, and of box.kick?", first, other)
    assert any(text.startswith("See also") for text in texts) is shown


@pytest.mark.req("A2")
def test_a_default_that_a_stub_leaves_out_is_not_told_and_another_place_that_has_it_is_shown():
    open_it = parameter("box.open", "depth", "depth: int = ...", "How deep it opens.", annotation="int", default="...", pinned=True)  # fmt: skip
    lid = parameter("box.Lid", "depth", "depth: int = 5", "How deep the lid is.", annotation="int", default="5")  # fmt: skip
    texts = said("What is the default depth of box.open?", open_it, lid)
    assert texts == [
        "`box.open(depth=...)` (type `int`): How deep it opens. [1]",
        "See also `box.Lid(depth=...)` (type `int`, default `5`): How deep the lid is. [2]",
    ]


@pytest.mark.req("A3")
def test_a_decorator_of_an_example_is_not_shown_as_a_sentence():
    doc = (
        "Put a thing again and again.\n\n    @put(wait=1,\n         lid=True)\n    def thing():\n        pass"
    )
    texts = said("How do I put again with a wait?", symbol("box.put", "def put():", doc))
    assert texts == ["`box.put()`: Put a thing again and again. [1]"]


@pytest.mark.req("A2")
def test_two_parameters_are_compared_side_by_side():
    """Both get a block, and nothing else is shown."""
    lid = parameter("box.put", "lid", "lid=False", "Whether it has a lid.", default="False", pinned=True)
    mode = parameter("box.put", "mode", "mode='soft'", "Like `lid`, but for the mood.", default="'soft'", pinned=True)  # fmt: skip
    texts = said("What is the difference between lid and mode in box.put?", mode, lid, PUT, TAKE)
    assert texts == [
        "`mode` in `box.put`: Like `lid`, but for the mood. [1]",
        "`box.put(lid=...)` (default `False`): Whether it has a lid. [2]",
        "`box.put(mode=...)` (default `'soft'`) [3]",
    ]


@pytest.mark.req("A2")
def test_two_functions_that_begin_alike_are_told_apart_by_what_only_one_says():
    """The shared sentence stands on both sides, and the paragraph that only the one has follows it."""
    fast = symbol(
        "box.fast_put", "def fast_put():", "Put a thing in.\n\nNothing is checked on the way.", pinned=True
    )
    safe = symbol(
        "box.safe_put", "def safe_put():", "Put a thing in.\n\nThe room is measured before.", pinned=True
    )
    texts = said("What is the difference between fast_put and safe_put?", fast, safe)
    assert texts == [
        "`box.fast_put()`: Put a thing in. [1]",
        "Nothing is checked on the way. [2]",
        "`box.safe_put()`: Put a thing in. [3]",
        "The room is measured before. [4]",
    ]


@pytest.mark.req("A3")
def test_a_parameter_beside_the_first_passage_keeps_the_sentence_that_turns_it_round():
    """However little that sentence shares with the question."""
    filler = "Some people paint it in bright colours and keep it in the yard for years. " * 5
    doc = f"How often a lid is tried again. {filler}This applies only to what is wet. {filler}"
    lid = parameter("box.put", "lid", "lid=0", doc, default="0", pinned=True)
    wait = parameter("box.put", "wait", "wait=WAIT", "Seconds to wait.", pinned=True)
    texts = said("What is the difference between lid and wait in box.put?", wait, lid)
    assert "This applies only to what is wet." in " ".join(texts)


@pytest.mark.req("A2")
def test_two_methods_of_one_name_are_compared_and_not_the_class_of_one():
    first, second = (symbol(name, "def put():", doc, pinned=True) for name, doc in (("box.put", "Put once."), ("box.Box.put", "Put often.")))  # fmt: skip
    owner = symbol("box.Box", "class Box:", "A box.", what="class")
    texts = said("What is the difference between box.put and box.Box.put?", second, first, owner)
    assert texts == ["`box.put()`: Put once. [1]", "`box.Box.put()`: Put often. [2]"]


@pytest.mark.req("A2")
def test_of_a_difference_of_which_one_side_is_missing_the_answer_says_which():
    question = "What is the difference between box.put and stowing?"
    findings = found(PUT.model_copy(update={"pinned": True}))
    draft = draft_of(query(question), findings)
    assert draft.not_found == ("stowing",)
    assert draft.summary[0].text == "KR found nothing named `stowing` in box 1.2.0."
    score = Evidence().score(query(question), findings, draft)
    assert score.level == "low"
    assert "nothing was found named stowing" in score.reasons
    told = doubted(question, findings, score)
    assert [claim.text for claim in told.summary[:2]] == [draft.summary[0].text, UNSURE]


@pytest.mark.req("A3")
def test_what_a_session_prints_is_not_shown_as_prose():
    doc = "Put a ball.\n\n>>> box.put('ball')\nThe ball is in the box now.\n\nA ball may be big.\n\n0 1 0 1.0 4.4 of ball"
    texts = said("How do I put a ball?", symbol("box.put", "def put():", doc))
    assert texts == ["`box.put()`: Put a ball. [1]", "A ball may be big. [2]"]


@pytest.mark.req("A2", "R18")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "What is the default of depth in box.put?",
            "The default of `depth` in `box.put` is `None`, which means `min(3, room())`. [1][2]",
        ),
        ("What does depth do in box.put?", "The default `None` means `min(3, room())`. [2]"),
    ],
)
def test_what_a_default_of_none_means_is_told_with_the_line_that_says_it(question, answer):
    """The statement lies in the body of the function, beside what is documented."""
    text = "How deep.\ndef put\ndepth=None\ndepth = min(3, room())"
    depth = parameter("box.put", "depth", "depth=None", "How deep.", default="None", pinned=True).model_copy(
        update={"text": text, "lines": ((0, 9), (1, 3), (2, 4), (3, 30)), "default_means": "min(3, room())"}
    )
    texts = said(question, depth)
    assert answer in texts
    assert sum("min(3" in text for text in texts) == 1
    draft = compose(query(question), found(depth))
    assert draft.citations[1].locator == "box/put.py:30"


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    ("question", "doc", "verdict"),
    [
        ("Is box.Box painted?", "A box is painted.", "Yes: "),
        ("Can a box.Box be painted?", "It can be painted.", "Yes: "),
        ("Does box.Box support painting?", "A box supports painting by hand.", "Yes: "),
        ("Does box.Box support painting?", "It does not support painting.", "No: "),
        ("Can a box.Box be painted?", "A box cannot be painted.", "No: "),
        ("Can a box.Box be painted?", "A box is painted.", ""),
        ("Is box.Box painted?", "A box is painted if it is old.", ""),
        ("Is box.Box not painted?", "A box is painted.", ""),
        ("Is box.Box painted or bare?", "A box is painted and bare.", ""),
        ("Is box.Box painted blue?", "A box is painted.", ""),
        ("Is box.Box painted?", "A box that is not wet is painted.", ""),
        ("Can a box.Box be painted from blue to red?", "It can be painted from red to blue.", ""),
        ("Is box.Box painted?", "A box is no longer painted.", ""),
        ("Why is box.Box painted?", "A box is painted.", ""),
    ],
)  # fmt: skip
def test_yes_or_no_is_said_only_where_the_sentence_says_it_plainly(question, doc, verdict):
    """A condition, another verb, another direction or a word that the sentence does not say leaves it open."""
    box = symbol("box.Box", "class Box:", f"What holds things.\n\n{doc}", what="class", pinned=True)
    text = " ".join(said(question, box))
    assert re.findall(r"\b(?:Yes|No): ", text) == ([verdict] if verdict else [])


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    ("question", "name", "value", "verdict"),
    [
        ("Does box.put follow strings by default?", "follow_strings", "False", "No: the"),
        ("Is box.put strict by default?", "strict", "True", "Yes: the"),
        ("Does box.put fail where strings are missing by default?", "strings", "False", "The"),
        ("Is box.put strict by default?", "strict", "None", "The"),
        ("Is strict off by default in box.put?", "strict", "True", "The"),
        ("Is box.put unsafe by default?", "unsafe", "False", "The"),
        ("What is the default of strict in box.put?", "strict", "True", "The"),
    ],
)  # fmt: skip
def test_a_switch_that_is_asked_for_whole_is_yes_or_no(question, name, value, verdict):
    put = symbol("box.put", f"def put({name}={value}):", "Put.", parameters=((name, value),), pinned=True)
    assert said(question, put)[0] == f"{verdict} default of `{name}` in `box.put` is `{value}`. [1]"


@pytest.mark.req("A3")
def test_what_stands_between_double_backticks_keeps_its_tags():
    """A docstring that explains HTML shows its tags."""
    assert (
        plain("Set ``<b>``, not <b>bold</b>, in ``<a href='x'>``.")
        == "Set `<b>`, not bold, in `<a href='x'>`."
    )


@pytest.mark.req("A2", "A9")
def test_the_options_of_another_function_are_not_those_of_the_one_asked_about():
    """`put` is named and its values cannot be read; `put_in_order` takes others."""
    asked = PUT.model_copy(update={"parameters": (("thing", None), ("how", "'soft'")), "pinned": True})
    other = PUT.model_copy(
        update={
            "text": "how : {'soft', 'hard'}\nHow it is put.", "kind": "parameter", "parameter": "how", "title": "box.put_in_order(how)",
            "symbol": "box.put_in_order", "lead": "How it is put.", "parameters": (), "signature": "how : {'soft', 'hard'}",
        }
    )  # fmt: skip
    findings = found(asked, other)
    draft = draft_of(query("Which values does how of put take?"), findings)
    assert not any(claim.text.startswith("The options of") for claim in draft.summary)


@pytest.mark.req("A2")
def test_a_module_in_a_dotted_name_is_not_a_parameter_that_is_asked_for():
    """`box.wait.put` has a module `wait`; its function has a parameter of that name."""
    asked = PUT.model_copy(update={"pinned": True})
    draft = draft_of(query("Does box.wait.put hold lids by default?"), found(asked))
    assert not any(claim.text.startswith("The default of `wait`") for claim in draft.summary)


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    "doc",
    ["The thing.", "The thing. By default, lids are closed.", "The thing. Defaults to a ball."],
    ids=str,
)
def test_a_required_parameter_has_no_default(doc):
    """Whatever its documentation says of defaults, a parameter that each call must give is said to be required."""
    thing = parameter("box.put", "thing", "thing: str", doc, required=("thing",), pinned=True)
    texts = said("What is the default of thing in box.put?", thing)
    assert texts[0] == "`thing` in `box.put` has no default: it is required. [1]"


@pytest.mark.req("A2")
def test_what_is_said_of_a_call_by_default_is_not_said_of_a_parameter():
    """`By default` counts only where it begins what the documentation says of the parameter itself."""
    doc = "The lid. Boxes are closed with it by default."
    lid = parameter("box.put", "lid", "**kwargs", doc, pinned=True)
    texts = said("What is the default of lid in box.put?", lid)
    assert "closed with it by default" not in texts[0].partition(":")[0]
    assert not draft_of(query("What is the default of lid in box.put?"), found(lid)).direct


@pytest.mark.req("A8")
@pytest.mark.parametrize(
    ("doc", "most"), [("The lid.", "low"), ("The lid. Defaults to a flat one.", "high")], ids=str
)
def test_an_answer_about_a_default_that_tells_no_value_is_low(doc, most):
    """What names the parameter and tells no value does not answer what its default is."""
    question = "What is the default of lid in box.put?"
    findings = found(parameter("box.put", "lid", "lid: Lid", doc, pinned=True, coverage=1.0))
    score = Evidence().score(query(question), findings, draft_of(query(question), findings))
    assert (score.level == "low") == (most == "low")
    assert ("no sentence tells a value" in score.reasons) == (most == "low")


@pytest.mark.req("A2")
def test_a_default_beside_shared_documentation_is_that_of_the_callable_asked_about():
    """Documentation that several callables share may lie beside the signature of another one."""
    shared = parameter("box.put", "lid", "lid", "The lid.", pinned=True)
    shared = shared.model_copy(update={"text": "The lid.\ndef stow\nlid"})
    put = symbol(
        "box.put", "def put(thing, lid=None):", "Put.", parameters=(("thing", None), ("lid", "None"))
    )
    texts = said("What is the default of lid in box.put?", shared, put)
    assert texts[:2] == [
        "The default of `lid` in `box.put` is `None`. [1]",
        "`box.put(lid=...)`: The lid. [2][3]",
    ]


@pytest.mark.req("A5")
@pytest.mark.parametrize(
    "question", ["How do I put a soft thing away?", "Where are soft things put?"], ids=str
)
def test_a_deprecated_parameter_is_not_offered(question):
    """Neither the head of a callable nor the names that it also takes hold a parameter that no call should give."""
    names = ("thing", "cover", "lid", *(f"way_of_putting_{n}" for n in range(6)))
    put = symbol(
        "box.put", f"def put({', '.join(f'{name}=None' for name in names)}):", "Put a soft thing away.",
        parameters=tuple((name, "None") for name in names),
    )  # fmt: skip
    lid = parameter("box.put", "lid", "lid=None", "Deprecated: use `cover` instead.", default="None")
    old = lid.model_copy(update={"deprecated": "Deprecated: use `cover` instead.", "replacement": "cover"})
    findings = found(put, support=(old,))
    for draft in (compose(query(question), findings), compose(query(question), findings, in_doubt=True)):
        texts = " ".join(claim.text for claim in draft.summary)
        assert "cover" in texts
        assert "lid" not in texts


@pytest.mark.req("A2")
def test_two_methods_of_one_name_that_nothing_pins_are_both_shown():
    """`Box.put` and `Crate.put` are two things though their last parts are one."""
    first, second = (symbol(f"box.{name}.put", "def put():", doc) for name, doc in (("Box", "Put once."), ("Crate", "Put often.")))  # fmt: skip
    texts = said("What is the difference between Box.put and Crate.put?", second, first)
    assert texts == ["`box.Box.put()`: Put once. [1]", "`box.Crate.put()`: Put often. [2]"]


@pytest.mark.req("A3")
@pytest.mark.parametrize(
    "start", ["This", "It", "In this case it", "If so, it", "Otherwise it", "Here it", "For this it"], ids=str
)
def test_a_sentence_that_leans_on_the_one_before_comes_with_it(start):
    """What decides is never quoted without what it speaks of."""
    doc = f"Put a thing into the box.\n\nWith a lid the box is dry. {start} can hold water."
    put = symbol("box.put", "def put():", doc, pinned=True)
    texts = said("Can box.put hold water?", put)
    assert any(f"With a lid the box is dry. {start} can hold water." in text for text in texts)


@pytest.mark.req("A3")
def test_what_a_callable_says_of_its_parameter_comes_with_what_it_leans_on():
    lid = parameter("box.put", "lid", "lid=None", "", default="None", pinned=True)
    doc = "Put a thing.\n\nA box may be dry. In this case, the lid must be closed."
    put = symbol("box.put", "def put(lid=None):", doc, parameters=(("lid", "None"),))
    texts = said("What is the default of lid in box.put?", lid, put)
    assert texts[-1] == "A box may be dry. In this case, the lid must be closed. [2]"


@pytest.mark.req("A3")
def test_the_borders_of_a_table_are_not_shown_as_prose():
    doc = "Put a thing softly.\n\n====  =======\nmode  softly\n====  =======\n'a'   very\n====  =======\n"
    texts = " ".join(said("How do I put a thing softly?", symbol("box.put", "def put():", doc)))
    assert "==" not in texts


@pytest.mark.req("A8")
@pytest.mark.parametrize(
    ("question", "doc", "reason"),
    [
        ("How do I see the wait limit?", "The wait limit.", "the answer says no more than the name wait_limit"),
        ("How do I paint a crate with varnish?", "How long a thing waits for room.", "what is quoted does not speak of most of what was asked"),
        ("Can you show an example of wait_limit?", "How long a thing waits for room.", "the question asks for code, and there is none"),
    ],
)  # fmt: skip
def test_an_answer_that_lacks_what_was_asked_for_says_so(question, doc, reason):
    """A name in other words, another topic, and a missing example each limit the level."""
    limit = symbol("box.wait_limit", "def wait_limit():", doc, coverage=1.0)
    findings = found(limit)
    score = Evidence().score(query(question), findings, draft_of(query(question), findings))
    assert reason in score.reasons
    assert score.level != "high"


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    ("question", "raises", "answer"),
    [
        (
            "What happens if there is no lid in box.put?",
            "Raises\n------\nLidError\n    If the lid is\n    absent.\nRoomError\n    If the box is full.\n\nNotes\n-----\nNone.",
            "`box.put` raises `LidError`: If the lid is absent. [1][2]",
        ),
        (
            "Which exceptions does box.put raise?",
            "Raises:\n    LidError: If the lid is absent.\n    RoomError: If the box is full.\n",
            "`box.put` raises `LidError`: If the lid is absent. `RoomError`: If the box is full. [1][2][3][4]",
        ),
        (
            "What happens when the box is full in box.put?",
            ":raises LidError: If the lid is absent.\n:raises RoomError: If the box is full.",
            "`box.put` raises `RoomError`: If the box is full. [1][2]",
        ),
    ],
)
def test_what_happens_in_a_case_is_what_is_raised_then(question, raises, answer):
    """The part of a docstring about errors is read as NumPy, Google and Sphinx write it."""
    put = symbol("box.put", "def put():", f"Put a thing away.\n\n{raises}", pinned=True)
    assert said(question, put)[0] == answer


@pytest.mark.req("A8")
def test_what_happens_in_a_case_that_no_sentence_tells_is_low():
    question = "What happens if the thing does not exist in box.put?"
    findings = found(PUT.model_copy(update={"pinned": True, "coverage": 1.0}))
    score = Evidence().score(query(question), findings, draft_of(query(question), findings))
    assert score.level == "low"
    assert "no sentence tells what happens in that case" in score.reasons


@pytest.mark.req("A2")
def test_a_default_that_a_callable_tells_of_what_it_hands_on_comes_first():
    doc = "Put a thing.\n\nThe name defaults to its label. The `ways` parameter defaults to `soft`."
    put = symbol("box.put", "def put(thing, **kwargs):", doc, pinned=True)
    texts = said("What is the default of ways in box.put?", put)
    assert texts[0] == "`box.put`: The `ways` parameter defaults to `soft`. [1]"


@pytest.mark.req("A2")
def test_a_sentence_that_only_says_the_name_does_not_decide():
    doc = "Put a thing.\n\nWhat is put will be heavy."
    put = symbol("box.put", "def put():", doc, pinned=True)
    assert not draft_of(query("Is box.put in place?"), found(put)).direct


@pytest.mark.req("A8")
def test_a_default_of_a_method_is_not_that_of_its_class():
    """A question about a class is not answered by what one of its methods takes."""
    question = "What is the default rate of box.Box?"
    rate = parameter("box.Box.stir", "rate", "rate=1", "How fast.", default="1", pinned=True, coverage=1.0)
    findings = found(rate)
    score = Evidence().score(query(question), findings, draft_of(query(question), findings))
    assert score.level == "low"
    assert "the question asks about Box, and this is a parameter of box.Box.stir" in score.reasons


@pytest.mark.req("A8")
@pytest.mark.parametrize(("asked", "is_low"), [("box.put", False), ("put", False), ("range", True)], ids=str)
def test_a_default_of_something_else_than_what_takes_it_is_low(asked, is_low):
    """A parameter of another callable than the one that the question names is not what was asked for."""
    question = f"What is the default of lid in {asked}?"
    lid = parameter("box.put", "lid", "lid=1", "The lid.", default="1", pinned=True, coverage=1.0)
    findings = found(lid, symbol("box.range", "def range(stop):", "A range.", coverage=0.5))
    score = Evidence().score(query(question), findings, draft_of(query(question), findings))
    assert (score.level == "low") == is_low


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    ("constructor", "answer"),
    [
        ("def __init__(self, rate):\n", "`rate` in `box.Box` has no default: it is required. [1]"),
        ("", "`rate` in `box.Box`: Defaults to 3. [1]"),
    ],
    ids=["constructor", "keys"],
)
def test_the_keys_of_a_class_without_a_constructor_may_be_left_out(constructor, answer):
    """Each key of a `TypedDict` stands there without a value; its documentation says what holds then."""
    rate = parameter(
        "box.Box", "rate", "rate: int", "How fast. Defaults to 3.", required=("rate",), pinned=True
    )
    rate = rate.model_copy(update={"text": rate.text.replace("def Box", "class Box"), "what": "class"})
    owner = symbol("box.Box", f"class Box:\n{constructor}", "A box.", what="class")
    assert said("What is the default of rate in box.Box?", rate, owner)[0] == answer


@pytest.mark.req("A8")
def test_a_default_of_the_same_method_of_another_class_is_low():
    question = "What is the default of rate in Session.stir?"
    rate = parameter("box.Box.stir", "rate", "rate=1", "How fast.", default="1", pinned=True, coverage=1.0)
    findings = found(rate)
    score = Evidence().score(query(question), findings, draft_of(query(question), findings))
    assert score.level == "low"


@pytest.mark.req("A2")
def test_what_a_type_holds_is_no_list_of_methods():
    """Only a question for options or parameters is answered by what a type that a function takes holds."""
    put = symbol("box.put", "def put(way: Way):", "Put it.", pinned=True)
    way = symbol("Way", "class Way:", "A way.", what="class", parameters=(("fast", None), ("slow", None)))
    way = way.model_copy(update={"kind": "type", "text": "class Way:\nfast\nslow"})
    assert not draft_of(query("Which methods does box.put support?"), found(put, support=(way,))).direct
    assert draft_of(query("Which parameters does box.put take?"), found(put, support=(way,))).direct


@pytest.mark.req("A2")
def test_an_everyday_word_is_no_parameter_of_a_question_for_a_default():
    """`by` of "by default" is no name; two words may be one: "in place"."""
    parameters = (("by", None), ("inplace", "False"))
    signature = "def sort(by, inplace=False):"
    put = symbol("box.sort", signature, "Sort it.", parameters=parameters, required=("by",), pinned=True)
    texts = said("Is box.sort in place by default?", put)
    assert texts[0] == "The default of `inplace` in `box.sort` is `False`. [1]"
    texts = said("What is the default of by in box.sort?", put)
    assert texts[0] == "`by` in `box.sort` has no default: it is required. [1]"


@pytest.mark.req("A2")
def test_a_question_for_what_is_returned_begins_with_its_type():
    put = symbol("box.weigh", "def weigh() -> float:", "Weigh it.", returns="float", pinned=True)
    assert said("What does box.weigh return?", put)[0] == "`box.weigh` returns `float`. [1]"
    assert not draft_of(query("What does box.weigh return if it is empty?"), found(put)).direct


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    "said_of", ["`raise` - the lid can not be closed.", "If the lid can be closed"], ids=str
)
def test_a_value_or_half_a_sentence_does_not_decide(said_of):
    """What one value of a list does, and a condition alone, say nothing of the whole."""
    put = symbol("box.put", "def put():", f"Put it.\n\n- {said_of}", pinned=True)
    assert not draft_of(query("Can the lid of box.put be closed?"), found(put)).direct


@pytest.mark.req("A8")
@pytest.mark.parametrize(("doc", "is_low"), [("Put it in wet.", False), ("Put it in.", True)], ids=str)
def test_yes_or_no_about_what_no_sentence_speaks_of_is_low(doc, is_low):
    question = "Can box.put be wet?"
    findings = found(symbol("box.put", "def put():", doc, pinned=True, coverage=1.0, code=("put()",)))
    score = Evidence().score(query(question), findings, draft_of(query(question), findings))
    assert ("no sentence speaks of all that was asked" in score.reasons) == is_low
    assert score.level == "low" if is_low else score.level != "low"


@pytest.mark.req("A8")
def test_a_default_of_something_else_is_no_value():
    """That another thing has a default tells nothing of the one asked about."""
    question = "What is the default separator of box.read?"
    doc = "Read a file. By default, dates are read as text."
    findings = found(symbol("box.read", "def read():", doc, pinned=True, coverage=1.0))
    score = Evidence().score(query(question), findings, draft_of(query(question), findings))
    assert "no sentence tells a value" in score.reasons
