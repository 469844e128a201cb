"""Answers composed by rule, and the check that finds whatever was changed in them afterwards."""

import copy
import hashlib
import json
from datetime import date

import pytest

from kr_core.evidence.citations import holds
from kr_core.evidence.sentences import documentation
from kr_core.evidence.summary import compose
from kr_core.evidence.verification import verify
from kr_core.model import Attribution, Finding, Outcome, Passage, Report, ResearchQuery, Score
from kr_core.research.report import evidence_of
from kr_plugins.renderers.markdown import Markdown

URL = "pkg:pypi/box@1.2.0"
QUERY = ResearchQuery(
    framework="box", framework_version="1.2.0", topic="timeout", tags=("timeout",), question="How do I set the timeout of put?"
)  # fmt: skip
PARAMETER = Passage(
    text="timeout: Seconds to wait for room. Waits for ever if it is None.\ndef put\ntimeout: WaitTypes = WAIT",
    lines=((0, 20), (1, 10), (2, 12)), url=URL, locator="box/_put.py:20", title="box.put(timeout)", kind="parameter", what="function",
    lead="Seconds to wait for room. Waits for ever if it is None.", symbol="box.put", parameter="timeout",
    signature="timeout: WaitTypes = WAIT", annotation="WaitTypes", default="WAIT", official=True, version="1.2.0", coverage=0.9,
)  # fmt: skip
ALIAS = Passage(text="WaitTypes = Union[float, None]", url=URL, locator="box/_types.py:3", title="box.WaitTypes", kind="constant", what="constant",
                symbol="box.WaitTypes", lines=((0, 3),), official=True)  # fmt: skip
CONSTANT = Passage(text="WAIT = Wait(seconds=5.0)", url=URL, locator="box/_put.py:5", title="box.WAIT", kind="constant", what="constant",
                   symbol="box.WAIT", lines=((0, 5),), official=True)  # fmt: skip
EXAMPLE = 'box.put("ball", timeout=2.0)'
SYMBOL = Passage(
    text=f'def put(thing: str, *, timeout: WaitTypes = WAIT) -> None:\nPut a thing into the box. Deprecated names are refused here.\n\n>>> {EXAMPLE}\n>>> box.put("ball", timeout=box.Wait(2.0, 3.0))\n',
    lines=((0, 10), (1, 14)), url=URL, locator="box/_put.py:10", title="box.put", kind="symbol", what="function",
    lead="Put a thing into the box. Deprecated names are refused here.", symbol="box.put", required=("thing",),
    signature="def put(thing: str, *, timeout: WaitTypes = WAIT) -> None:", parameters=(("thing", None), ("timeout", "WAIT")),
    code=(EXAMPLE,), returns="None", official=True, version="1.2.0", coverage=0.8,
)  # fmt: skip
PROPERTY = Passage(
    text="def size(self) -> int:\nHow many things are in the box.", lines=((0, 30), (1, 31)), url=URL, locator="box/_put.py:30",
    title="box.Box.size", kind="symbol", what="property", lead="How many things are in the box.", symbol="box.Box.size",
    signature="def size(self) -> int:", coverage=0.9, official=True,
)  # fmt: skip
SECTION = Passage(
    text=f"The timeout of put is set for each call. Other words stand here too.\n\n```python\n{EXAMPLE}\n```", lines=((0, 40),), url=URL,
    locator="README.md:40", title="README § Timeouts", kind="section", coverage=0.9, official=True, code=(EXAMPLE,),
    lead="The timeout of put is set for each call. Other words stand here too.",
)  # fmt: skip


def finding(*passages, support=()):
    return [
        (
            "installed_docs",
            Finding(outcome=Outcome.ok, passages=passages, support=support, url=URL, version="1.2.0"),
        )
    ]


def draft_of(*passages, support=(), notices=(), question=QUERY.question, found=True):
    query = QUERY.model_copy(update={"question": question})
    return compose(query, finding(*passages, support=support), notices=notices, found=found)


def cited(draft, claim):
    return [draft.citations[number - 1].locator for number in claim.citations]


def table_of(*lines):
    text = "\n".join(["Limits of the box.", "", *lines])
    return Passage(
        text=text,
        lines=((0, 3),),
        url=URL,
        locator="settings.md:3",
        title="Settings",
        kind="section",
        coverage=0.9,
    )


@pytest.mark.req("R12", "R18")
def test_a_row_of_a_table_is_told_with_the_heads_of_its_columns():
    """Where it says more of the question than any sentence does; its cells stand in the passage, and the row is the quote."""
    row = "| `PUT_TIMEOUT` | 5 | the timeout of put, in seconds |"
    draft = draft_of(table_of("| Setting | Default | Meaning |", "|---|:-:|---|", "| `DEPTH` | 3 |  |", row))
    assert [claim.text for claim in draft.summary] == [
        "Settings: Setting: `PUT_TIMEOUT`; Default: 5; Meaning: the timeout of put, in seconds [1]"
    ]
    assert (draft.citations[0].quote, draft.citations[0].locator) == (row, "settings.md:8")
    assert draft.summary[0].slots == (
        "Setting",
        "Default",
        "Meaning",
        "`PUT_TIMEOUT`",
        "5",
        "the timeout of put, in seconds",
    )


@pytest.mark.req("R12")
@pytest.mark.parametrize(
    "lines",
    [
        ("| Setting | Default |", "| timeout of put | 5 |"),
        ("| Setting | Default |", "|---|---|", "| timeout of put | 5 | and more |"),
        ("```", "| Setting | Default |", "|---|---|", "| timeout of put | 5 |", "```"),
        ("a | b", "---|---"),
    ],
)
def test_what_is_no_row_of_a_table_is_not_told_as_one(lines):
    """No rule below the heads, other cells than heads, code, no rows."""
    assert not any("5" in claim.text for claim in draft_of(table_of(*lines)).summary)


@pytest.mark.req("R12", "R18")
def test_a_parameter_is_told_with_type_default_and_code():
    """How to pass it, its type and default, what both stand for, and the shortest code."""
    draft = draft_of(PARAMETER, support=(ALIAS, CONSTANT, SYMBOL))
    assert [claim.text for claim in draft.summary] == [
        "`box.put(timeout=...)` (type `WaitTypes`, default `WAIT`): Seconds to wait for room. Waits for ever if it is None. [1]",
        "The type `WaitTypes` is `Union[float, None]`. [2][3]",
        "The default `WAIT` is `Wait(seconds=5.0)`. [2][4]",
    ]
    assert cited(draft, draft.summary[0]) == ["box/_put.py:20"]
    assert cited(draft, draft.summary[1]) == ["box/_put.py:12", "box/_types.py:3"]
    assert cited(draft, draft.summary[2]) == ["box/_put.py:12", "box/_put.py:5"]
    assert [example.code for example in draft.summary_code] == [EXAMPLE]


PUT_TIMEOUT = "`box.put(timeout=...)` (type `WaitTypes`, default `WAIT`): Seconds to wait for room. Waits for ever if it is None. [1]"


@pytest.mark.req("R12", "A3")
@pytest.mark.parametrize(
    ("passage", "opening"),
    [
        (SYMBOL, "`box.put(thing, timeout=WAIT)`: Put a thing into the box. Deprecated names are refused here. [1]"),
        (SYMBOL.model_copy(update={"signature": "async def put(thing):", "text": SYMBOL.text.replace("def put(thing: str, *, timeout: WaitTypes = WAIT) -> None:", "async def put(thing):"),
                                   "parameters": (("thing", None),)}), "`box.put(thing)` (async): Put a thing into the box. Deprecated names are refused here. [1]"),
        (PROPERTY, "`box.Box.size`: How many things are in the box. [1]"),
        (PARAMETER.model_copy(update={"what": "field"}), PUT_TIMEOUT),
        (PARAMETER.model_copy(update={"star": "**"}), PUT_TIMEOUT.replace("timeout=...", "**timeout")),
        (PARAMETER.model_copy(update={"lead": ""}), "`box.put(timeout=...)` (type `WaitTypes`, default `WAIT`) [1]"),
        (SECTION, "README § Timeouts: The timeout of put is set for each call. Other words stand here too. [1]"),
    ],
    ids=["function", "async", "property", "field", "stars", "undocumented", "section"],
)  # fmt: skip
def test_a_block_begins_with_what_a_user_writes(passage, opening):
    """The name with its parameters, a parameter with its type and default, a section's title; then the first paragraph."""
    assert draft_of(passage).summary[0].text == opening


@pytest.mark.req("R12")
@pytest.mark.parametrize(
    ("text", "lead", "said"),
    [
        (
            "lead time: days until delivery",
            "days until delivery",
            "Guide: lead time: days until delivery [1]",
        ),
        (
            "# 部署\n\n先合并到主分支，再运行脚本。\n",
            "先合并到主分支，再运行脚本。",
            "Guide: 先合并到主分支，再运行脚本。 [1]",
        ),
        ("Run it with:\n\n```\nmake\n```\n", "Run it with:", None),
    ],
    ids=["definition", "script without blanks", "pointer"],
)
def test_a_section_is_quoted_whatever_its_form(text, lead, said):
    """Where no sentence stands out, the source's own lead is quoted; an item of a list is a sentence."""
    one = Passage(text=text, url="file:guide.md", title="Guide", lead=lead, kind="section", coverage=0.9)
    assert [claim.text for claim in draft_of(one).summary] == ([said] if said else [])


@pytest.mark.req("R12")
@pytest.mark.parametrize("lead", ["", "It takes a minute."])
def test_steps_are_told_in_order_and_all_of_them(lead):
    """One step of a list alone would mislead who follows it; code between them is no step."""
    text = f"{lead}\n\n1. Merge the branch\n   at last.\n   ```sh\n   git merge x\n   ```\n2. Tag it and wait.\n\nThen rest.\n"
    one = Passage(text=text, url="file:guide.md", title="Guide", lead=lead, kind="section", coverage=0.9)
    said = [claim.text for claim in draft_of(one).summary]
    first = ["Guide: It takes a minute. [1]"] if lead else []
    steps = ["1. Merge the branch at last.", "2. Tag it and wait."]
    steps[0] = steps[0] if lead else f"Guide: {steps[0]}"
    assert said == first + [f"{step} [{number}]" for number, step in enumerate(steps, len(first) + 1)]


@pytest.mark.req("R18")
def test_of_a_list_of_steps_no_single_one_is_a_related_answer():
    """A step alone would mislead; the report that passes it by holds."""
    text = "1. **Update the timeout of put**\n   ```bash\n   pip install box\n   ```\n\n2. **Set the timeout of put anew**\n"
    steps = Passage(
        text=text, lines=((0, 60),), url=URL, locator="GUIDE.md:60", title="GUIDE § Timeout of put", kind="section", coverage=0.8,
        official=True, lead="1. **Update the timeout of put**", code=("pip install box",),
    )  # fmt: skip
    draft = draft_of(SECTION, steps)
    assert not any("1. " in claim.text for claim in draft.summary if claim.text.startswith("Related: "))
    report, evidence = kept_of(draft)
    assert verify(report, evidence) == []


def test_a_page_is_quoted_once():
    """What the opening quotes is not said again."""
    one = Passage(
        text="The box holds a thing in a drawer.",
        url="file:note.md",
        lead="The box holds a thing in a drawer.",
        coverage=0.9,
    )
    assert [claim.text for claim in draft_of(one).summary] == ["The box holds a thing in a drawer. [1]"]


STEPS = "1. Find the last good tag. 2. Deploy it."


REFUSES = "If allow_nan is false, numbers that no box can hold are refused with a ValueError, be they one of the infinities or the one that is none at all, where otherwise each of them is put in under the name that it has in other languages, which no other shop can read: Infinity and NaN."
LINKS = "If the optional links flag is true, what lies elsewhere is linked from there."


@pytest.mark.req("R13")
@pytest.mark.parametrize(
    ("question", "coverage", "said"),
    [
        ("What does box.put do with a thing that is NaN?", 0.9, REFUSES),
        ("Does box.put follow links?", 0.9, LINKS),
        ("What does box.put do with a thing that is NaN?", 0.4, REFUSES),
    ],
)
def test_the_paragraph_that_says_most_of_the_question_is_shown(question, coverage, said):
    """A long sentence too, and whole; after the first paragraph."""
    lead = "Put a thing into the box."
    passage = SYMBOL.model_copy(
        update={
            "text": f"def put(thing, *, links=False, allow_nan=True):\n{lead}\n\n{REFUSES}\n\n{LINKS}",
            "parameters": (("thing", None), ("links", "False"), ("allow_nan", "True")),
            "signature": "def put(thing, *, links=False, allow_nan=True):",
            "lead": lead, "code": (), "coverage": coverage,
        }
    )  # fmt: skip
    draft = compose(QUERY.model_copy(update={"question": question}), finding(passage))
    assert draft.summary[0].text.endswith("Put a thing into the box. [1]")
    assert any(claim.slots == (said,) for claim in draft.summary[1:])


@pytest.mark.parametrize(
    ("title", "said"),
    [
        (
            "Set a timeout",
            [
                "Set a timeout: 1. Find the last good tag. [1]",
                "2. Deploy it. [2]",
                "Never set a timeout by hand. [3]",
            ],
        ),
        ("Notes", ["Notes: Never set a timeout by hand. [1]"]),
    ],
)
def test_a_section_whose_heading_is_the_question_is_quoted_from_its_beginning(title, said):
    """Of a list of steps the first is not left out for a warning below it that repeats the question."""
    text = f"## {title}\n\n1. Find the last good tag.\n2. Deploy it.\n\nNever set a timeout by hand.\n"
    one = Passage(text=text, url="file:note.md", title=title, lead=STEPS, kind="section", coverage=0.9)
    assert [claim.text for claim in draft_of(one).summary] == said


@pytest.mark.req("A5")
@pytest.mark.parametrize("said", ["", "A box with room."])
def test_the_signature_of_a_constructor_is_not_prose(said):
    """A class is told with its documentation, and without it with nothing."""
    head = "class Box(Base):\ndef __init__(\n    self,\n    sleep: Callable[[int], None] = sleep,\n) -> None:"
    passage = SYMBOL.model_copy(update={
        "text": f"{head}\n{said}".rstrip(), "signature": "class Box(Base):", "what": "class", "parameters": (("sleep", "sleep"),),
        "lines": ((0, 30), (1, 31), *([(5, 40)] if said else [])),
    })  # fmt: skip
    assert documentation(passage) == said


def test_text_without_sentences_that_is_cut_says_so():
    """It ends at a word; a sentence is never cut."""
    lead = "word " * 300
    one = Passage(
        text=lead, url="file:note.md", title="Timeout", lead=lead.strip(), kind="section", coverage=0.9
    )
    (claim,) = draft_of(one).summary
    assert claim.text.endswith("word ... [1]")


@pytest.mark.parametrize(
    ("fence", "language"),
    [
        ("```sh", "sh"),
        ("```", ""),
        ("~~~ YAML title=x", "yaml"),
        ("```pycon", "python"),
        ("```{code-block} python", "python"),
    ],
)
def test_code_is_of_the_language_that_its_fence_names(fence, language):
    """A command of a shell is not shown as Python."""
    text = f"Before.\n\n{fence}\nmake\n{fence[:3]}\n"
    one = Passage(text=text, url="file:note.md", title="Note", kind="section", coverage=0.9, code=("make",))
    assert [code.language for code in draft_of(one).summary_code] == [language]


def test_without_passages_there_is_nothing_but_the_notice():
    assert draft_of().summary == ()
    assert compose(QUERY, []).citations == ()
    assert [claim.text for claim in draft_of(notices=["Nothing was found."]).summary] == [
        "Nothing was found."
    ]


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    "passage",
    [
        PARAMETER.model_copy(update={"lead": "A lead that is not in the text."}),
        PARAMETER.model_copy(update={"default": "INVENTED", "annotation": "Invented"}),
        PARAMETER.model_copy(update={"symbol": "box.invented"}),
        SYMBOL.model_copy(update={"code": ("box.invented(timeout=1)",)}),
        SYMBOL.model_copy(update={"parameters": (("invented", "1"),), "required": ("invented",)}),
    ],
)
def test_what_a_passage_does_not_hold_is_not_said(passage):
    """Fields that a source made up reach no sentence: each slot stands in a cited passage."""
    draft = draft_of(passage, support=(ALIAS, CONSTANT))
    assert "nvented" not in " ".join(
        [claim.text for claim in draft.summary] + [one.code for one in draft.summary_code]
    )
    assert "A lead that" not in " ".join(claim.text for claim in draft.summary)


@pytest.mark.req("R18")
def test_every_slot_and_quote_stands_in_its_passage():
    draft = draft_of(PARAMETER, SYMBOL, PROPERTY, SECTION, support=(ALIAS, CONSTANT, SYMBOL))
    for citation in draft.citations:
        assert holds(draft.passages[citation.n].text, citation.quote)
    assert all(claim.citations for claim in [*draft.summary, *draft.details, *draft.caveats])


# -- verify --


@pytest.fixture
def kept():
    """A report with everything in it, and its evidence, as they lie in the knowledge base."""
    draft = draft_of(PARAMETER, SYMBOL, SECTION, support=(ALIAS, CONSTANT, SYMBOL))
    assert draft.summary
    assert draft.summary_code
    assert draft.details
    return kept_of(draft)


def kept_of(draft):
    """The report of a draft, and its evidence."""
    report = Report(
        query=QUERY, research_date=date(2026, 1, 2), score=Score(score=88, level="high", reasons=("official documentation",)), draft=draft,
        sources=(Attribution(url=URL, via="installed_docs", finding="verified via official docs"),), notes=("context7: timeout after 20 s",),
    )  # fmt: skip
    return Markdown(()).render(report), json.loads(json.dumps(evidence_of(report, QUERY, "r.md")))


@pytest.mark.req("R18")
def test_a_true_report_passes(kept):
    report, evidence = kept
    assert verify(report, evidence) == []
    assert verify(report.replace("\n", "\r\n"), evidence) == []


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Seconds to wait for room. Waits", "Minutes to wait for room. Waits"),
        ("Wait(seconds=5.0)", "Wait(seconds=6.0)"),
        ("box.put(timeout=...)` (type `WaitTypes`, default `WAIT`): Seconds to wait for room. Waits for ever if it is None. [1]", "Pass `timeout=` to `box.put`: Seconds to wait for room. [2]"),
        ("box.put(timeout=...)` (type `WaitTypes`, default `WAIT`): Seconds to wait for room. Waits for ever if it is None. [1]", "Pass `timeout=` to `box.put`: Seconds to wait for room."),
        ("box.put(timeout=...)` (type `WaitTypes`, default `WAIT`): Seconds to wait for room. Waits for ever if it is None. [1]\n", ""),
        ("## Details\n", "## Details\n\nCall `evil()` instead.\n"),
        ("## Details\n", "## Details\n\nCall `evil()` instead. [1]\n"),
        ("## Summary\n", "## Summary\n\n- Set `timeout=0`.\n"),
        ("## Caveats & Version-Specific Notes\n", "## Caveats & Version-Specific Notes\n\nNever use it. [1]\n"),
        ("timeout=2.0)\n", "timeout=9.0)\n"),
        ("timeout=2.0)\n", "timeout=2.0)\nevil()\n"),
        ("## Code Examples\n", "## Code Examples\n\n```python\nevil()\n```\n[1]\n"),
        ("## Code Examples\n", "## Code Examples\n\n~~~~\nevil()\n"),
    ],
)  # fmt: skip
def test_whatever_is_changed_in_a_report_is_found(kept, old, new):
    """A sentence, number, mark or line of code that was changed, added or removed is a problem."""
    report, evidence = kept
    assert old in report
    assert verify(report.replace(old, new, 1), evidence) != []


def change_quote(evidence):
    evidence["citations"][0]["quote"] = "Minutes to wait for room."


def change_passage(evidence):
    next(iter(evidence["passages"].values()))["text"] += " "


def change_passage_and_hash(evidence):
    sha256, passage = next(iter(evidence["passages"].items()))
    passage["text"] = passage["text"].replace("Seconds", "Minutes")
    new = hashlib.sha256(passage["text"].encode()).hexdigest()
    evidence["passages"] = {
        new if key == sha256 else key: value for key, value in evidence["passages"].items()
    }
    for citation in evidence["citations"]:
        citation["sha256"] = new if citation["sha256"] == sha256 else citation["sha256"]


def change_hash(evidence):
    evidence["citations"][0]["sha256"] = "0" * 64


def change_slot(evidence):
    evidence["summary"][0]["slots"][0] = "box.evil"


def change_citation(evidence):
    evidence["summary"][0]["citations"] = [99]


def change_code(evidence):
    evidence["summary_code"][0]["code"] = "evil()"


def change_claim(evidence):
    evidence["summary"][0]["text"] = "Pass `evil=`. [1]"


def remove_claim(evidence):
    del evidence["summary"][0]


def remove_code(evidence):
    evidence["summary_code"] = []


def remove_passages(evidence):
    evidence["passages"] = {}


def remove_key(evidence):
    del evidence["details"]


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    "change",
    [change_quote, change_passage, change_passage_and_hash, change_hash, change_slot, change_citation, change_code, change_claim,
     remove_claim, remove_code, remove_passages, remove_key],
    ids=lambda change: change.__name__,
)  # fmt: skip
def test_whatever_is_changed_in_the_evidence_is_found(kept, change):
    """Quotes, passages, fingerprints, slots, code and sentences hang together: a change of one shows."""
    report, evidence = kept
    changed = copy.deepcopy(evidence)
    change(changed)
    assert verify(report, changed) != []


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    "evidence", [{}, {"passages": []}, {"passages": {"x": 1}}, {"passages": {}, "citations": 3}]
)
def test_evidence_in_another_form_is_a_problem_and_no_error(kept, evidence):
    assert [problem.where for problem in verify(kept[0], evidence)] == ["evidence"]


@pytest.mark.req("R18")
def test_an_empty_report_is_false(kept):
    assert verify("", kept[1]) != []


@pytest.mark.req("A5", "A14")
def test_a_replacement_that_only_explains_what_is_deprecated_can_be_shown():
    """It is none of the passages of the answer, and so beside none of them."""
    said = "Use `box.Box.size` instead."
    values = {"deprecated": said, "replacement": "box.Box.size", "text": f"{SYMBOL.text}\n{said}"}
    old = SYMBOL.model_copy(update=values)
    query = QUERY.model_copy(update={"question": "What replaces put in box?", "names": ("box.put",)})
    draft = compose(query, finding(old, support=(PROPERTY,)))
    assert "How many things are in the box." in " ".join(claim.text for claim in draft.summary)
