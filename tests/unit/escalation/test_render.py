"""A case as people read it: whole, and whatever models have written in it, harmless."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.escalation.case import letter
from kr_core.escalation.commands import read_replies
from kr_core.escalation.render import for_terminal, shown
from kr_core.escalation.sanitize import as_written
from kr_core.model.questions import Answer, EscalationRequest, Question

NASTY = st.sampled_from(
    ["/kr confirm E7@2", "\n/kr confirm", "\r/kr correct E7 x", "\u2028/kr chat", "\x0b/kr chat", "\x85/kr chat", "```", "\n```\n", "~~~",
     "<!--", "-->", "</blockquote>", "<pre>", "@ada", "@org/team", "\x1b[2J", "\n# E9@1: done\n", "\n\n    ", "> ", "\n- ", "`", "\\", " ", "&#64;ada", "&commat;ada", "@&#97;da"]
)  # fmt: skip
TEXT = st.lists(st.one_of(NASTY, st.text(max_size=8)), max_size=8).map("".join)
SEEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def case(**values):
    known = {"revision": 2, "exchange_id": "x", "question": Question(text="Which?"), "reason": "confidence 65 is below 80",
             "threshold": 80, "agent": "duc"}  # fmt: skip
    return shown(EscalationRequest(id="E7", **{**known, **values}), ()).message


def tentative(text="Use Redis.", **values):
    return Answer(question_id="q", agent="duc", confidence=65, content=text, **values)


@pytest.mark.req("H1")
def test_all_that_is_needed_to_decide():
    """Question, context, choices, answer, rationale, confidence, threshold, reasons, notes, and how to answer."""
    said = case(
        question=Question(text="Which store?", topic="auth", context="A web shop.", choices=("Redis", "Postgres"), feature_id="F-1"),
        answer=tentative(rationale="It is quick.", uncertainty_reasons=("How many",), model="m-1"),
        notes=("marie: timeout after 120 s",),
    )  # fmt: skip
    for part in ("E7@2", "Which store?", "auth", "F-1", "A web shop.", "A: Redis", "B: Postgres", "Use Redis.", "It is quick.", "65", "80",
                 "How many", "m-1", "marie: timeout after 120 s", "/kr confirm E7@2", "/kr choose E7@2 A", "/kr chat E7@2"):  # fmt: skip
        assert part in said, part


@pytest.mark.req("H1")
def test_only_what_can_be_done_is_offered():
    """Without an answer nothing can be confirmed; without an agent none can be asked again."""
    said = case(agent=None)
    assert "No agent has given an answer" in said
    assert re.findall(r"/kr (\w+)", said) == ["correct"]
    said = case(alternatives=(tentative(), tentative("Use Postgres.")))
    assert re.findall(r"/kr (\w+)", said) == ["correct", "choose", "context", "chat"]
    assert "Answer B" in said


@pytest.mark.req("H8")
@given(TEXT, TEXT, TEXT)
def test_what_models_write_runs_nothing_and_mentions_nobody(one, two, three):
    """Wherever it stands in a case: no command, no mention, no element of HTML, and nothing that steers a terminal."""
    question = Question(
        text=one or "x", topic=two, context=three, choices=(one, two), feature_id=three or "x"
    )
    answer = tentative(one, rationale=two, uncertainty_reasons=(three, one), model=two)
    for said in (
        case(question=question, answer=answer, reason=three, notes=(one, two)),
        case(question=question, alternatives=(answer, tentative(three)), reason=one),
        case(question=question, outside=(answer, tentative(three))),
    ):
        assert read_replies(said, ("E7",)) == ((), ())
        assert not re.search(r"@(?=\w)(?!2[: \n])", said)
        assert not re.search(r"<[\w/!?]", said)
        assert not re.search(r"&(#|\w+;)", said)
        assert not SEEN.search(said)
        assert said.count("**How to answer**") == 1 or "**How to answer**" in one + two + three
        assert [line for line in said.split("\n") if line.startswith("# ")] == [said.split("\n")[0]]


@pytest.mark.req("H8")
@pytest.mark.parametrize("text", ["x", "x\n", "@a", "<a "])
def test_a_megabyte_is_cut_off(text):
    """Services take 65,536 characters in all; what is cut off says so."""
    long = text * 1_000_000
    answer = tentative(long, rationale=long, uncertainty_reasons=(long,) * 100, model=long)
    said = case(
        question=Question(text=long, context=long, choices=(long,) * 100), answer=answer, notes=(long,) * 100
    )
    assert len(said) < 65_536
    assert "There is more, which is not shown here" in said
    assert "and 80 more" in said
    many = tuple(tentative(long, rationale=long, uncertainty_reasons=(long,) * 100) for _ in range(5))
    assert len(case(question=Question(text=long, context=long), alternatives=many, outside=many)) < 65_536


def test_letters():
    """Behind Z the letters double."""
    assert [letter(number) for number in (0, 25, 26, 27, 701, 702)] == ["A", "Z", "AA", "AB", "ZZ", "AAA"]


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("changed", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_plain_where_there_are_no_colours(monkeypatch, changed):
    """A case stays as it is where colours are not wanted, or nobody looks at a terminal."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    said = case(answer=tentative())
    assert for_terminal(said, io.StringIO()) == said
    assert for_terminal(said, Screen()) != said
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    assert for_terminal(said, Screen()) == said


@given(TEXT)
def test_on_a_terminal_what_was_written_stays_as_it_is(text):
    """Colours and line breaks are added; no word of an answer is lost or changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("NO_COLOR", raising=False)
        patch.setenv("TERM", "xterm")
        said = case(answer=tentative(f"__init__ *args {text}"))
        screen = for_terminal(said, Screen())
    plain = (
        re.sub(r"\x1b\[[0-9;]*m", "", screen).replace("\N{BOX DRAWINGS LIGHT VERTICAL}", "").replace(">", "")
    )
    assert "".join(plain.replace("#", "").replace("*", "").split()) == "".join(
        as_written(said).replace(">", "").replace("#", "").replace("*", "").split()
    )
    assert not re.search(r"\x1b(?!\[[0-9;]*m)", screen)


@pytest.mark.req("H1")
def test_on_a_terminal_a_command_can_be_copied():
    """What `inbox show` prints of `npm install -g @scope/name` is what the agent wrote, with nothing unseen in it."""
    command = "npm install -g @anthropic-ai/claude-code <b> &amp;"
    text = case(answer=tentative(command))
    assert command not in text
    assert command in for_terminal(text, io.StringIO())
