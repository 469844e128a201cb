"""Answers go into spec-kit's files in its own form, and nothing else of the file changes."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.spec_files import questions_in

from kr_core.speckit.spec_parser import SpecQuestion, answers_in
from kr_core.speckit.writer import LONGEST, replied, with_answers

DAY = dt.date(2026, 1, 5)
BULLET = "- Q: Which store? → A: Redis\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# Spec\n\nText.\n\n## Stories\n", "# Spec\n\nText.\n\n## Clarifications\n\n### Session 2026-01-05\n\n{}\n## Stories\n"),
        ("# Plan\n\n## Summary\n\nText.\n\n## Rest\n", "# Plan\n\n## Summary\n\nText.\n\n## Clarifications\n\n### Session 2026-01-05\n\n{}\n## Rest\n"),
        ("Text", "Text\n\n## Clarifications\n\n### Session 2026-01-05\n\n{}"),
        ("", "## Clarifications\n\n### Session 2026-01-05\n\n{}"),
        (
            "## Clarifications\n\n### Session 2026-01-04\n\n- Q: x → A: y\n\n## Stories\n",
            "## Clarifications\n\n### Session 2026-01-04\n\n- Q: x → A: y\n\n### Session 2026-01-05\n\n{}\n## Stories\n",
        ),
        (
            "## Clarifications\n\n### Session 2026-01-05\n\n- Q: x → A: y\n\n---\n\n## Stories\n",
            "## Clarifications\n\n### Session 2026-01-05\n\n- Q: x → A: y\n{}\n---\n\n## Stories\n",
        ),
        ("## Clarifications\n## Stories\n", "## Clarifications\n\n### Session 2026-01-05\n\n{}\n## Stories\n"),
        (
            "## Clarifications\n### Session 2026-01-05\n## Stories\n",
            "## Clarifications\n### Session 2026-01-05\n\n{}\n## Stories\n",
        ),
        ("# Spec\n\n```\ncode\n", "# Spec\n\n## Clarifications\n\n### Session 2026-01-05\n\n{}\n```\ncode\n"),
        ("# Spec\n\n<!-- a\n\nb", "# Spec\n\n## Clarifications\n\n### Session 2026-01-05\n\n{}\n<!-- a\n\nb"),
        (
            "## Clarifications\n\n### Session 2026-01-05\n\n- Q: x → A: y\n\n~~~\ncode\n",
            "## Clarifications\n\n### Session 2026-01-05\n\n- Q: x → A: y\n{}\n~~~\ncode\n",
        ),
        ("```\n## Clarifications\n```\n", "```\n## Clarifications\n```\n\n## Clarifications\n\n### Session 2026-01-05\n\n{}"),
    ],
)  # fmt: skip
@pytest.mark.req("Q15")
def test_where_an_answer_goes(before, after):
    """Into the day's session, which is made where spec-kit makes it."""
    new = with_answers(before, [("Which store?", "Redis")], DAY)
    assert new == after.format(BULLET)
    assert with_answers(new, [("Which store?", "Redis")], DAY) == new


@pytest.mark.req("Q15")
def test_line_ends_and_the_byte_order_mark_stay():
    """A file with CRLF gets lines with CRLF; its mark, its trailing blanks and its other bytes are as they were."""
    text = "\ufeff# Spec  \r\n\r\n## Stories\t\r\n\x0c\r\n"
    new = with_answers(text, [("Which store?", "Redis")], DAY)
    assert (
        new.replace(
            "## Clarifications\r\n\r\n### Session 2026-01-05\r\n\r\n" + BULLET.replace("\n", "\r\n") + "\r\n",
            "",
        )
        == text
    )


@pytest.mark.parametrize(
    ("line", "question", "answer", "filled"),
    [
        ("**Storage**: NEEDS CLARIFICATION", "Storage: what should it be?", "Redis", "**Storage**: Redis"),
        (
            "- **Scale**: [domain-specific, e.g., 10k users or NEEDS CLARIFICATION]  <!-- x -->",
            "Scale: what should it be? (domain-specific, e.g., 10k users)",
            "50 users",
            "- **Scale**: 50 users  <!-- x -->",
        ),
        (
            "**Target**: Linux (NEEDS CLARIFICATION)",
            "Target: what should it be? (Linux)",
            "Debian",
            "**Target**: Linux (Debian)",
        ),
        (
            "**Type**: web - NEEDS CLARIFICATION",
            "Type: what should it be? (web)",
            "SPA",
            "**Type**: web - SPA",
        ),
        (
            "**Target**: Linux (NEEDS CLARIFICATION: version?)",
            "Target: what should it be? (Linux (version?))",
            "Debian 12",
            "**Target**: Linux (Debian 12)",
        ),
        ("**Target**: (NEEDS CLARIFICATION: y?)", "Target: what should it be? (y?)", "z", "**Target**: z"),
        ("**Target**: <NEEDS CLARIFICATION: y?>", "Target: what should it be? (y?)", "z", "**Target**: z"),
        ("**Target**: {NEEDS CLARIFICATION - y?}", "Target: what should it be? (y?)", "z", "**Target**: z"),
        ("**Target**: {{NEEDS CLARIFICATION: y?}}", "Target: what should it be? (y?)", "z", "**Target**: z"),
        (
            "**Target**: Linux, <NEEDS CLARIFICATION: y?>",
            "Target: what should it be? (Linux, <y?>)",
            "z",
            "**Target**: Linux, z",
        ),
        ("- Keep [NEEDS CLARIFICATION: how\n  long?] then.", "how long?", "30 days", "- Keep 30 days then."),
        ("| a | [NEEDS CLARIFICATION: b?] |", "b?", "x|y", "| a | x\\|y |"),
        ("[NEEDS CLARIFICATION: b?]", "b?", "# x", "\\# x"),
        ("1. [NEEDS CLARIFICATION: b?]", "b?", "2. x", "1. 2\\. x"),
        ("> [NEEDS CLARIFICATION: b?]", "b?", "3.11", "> 3.11"),
        ("[NEEDS CLARIFICATION: b?]", "b?", "---", "\\---"),
        ("x [NEEDS CLARIFICATION: b?] y", "b?", "a ` b", "x a ' b y"),
        ("x [NEEDS CLARIFICATION: b?]", "b?", "NEEDS CLARIFICATION", "x [NEEDS CLARIFICATION: b?]"),
        ("`[NEEDS CLARIFICATION: b?]` x", "b?", "y", "`[NEEDS CLARIFICATION: b?]` x"),
    ],
)
@pytest.mark.req("Q15")
def test_an_answered_marker_leaves_the_plan(line, question, answer, filled):
    """Its answer takes its place, since `/plan` stops on markers; what the answer cannot fill stays."""
    for mark, ends in (("", "\n"), ("\ufeff", "\r\n")):
        text = f"{mark}{line}\n\n## Rest\n".replace("\n", ends)
        new = with_answers(text, [(question, answer)], DAY)
        assert new.startswith(f"{mark}{filled}\n\n## Clarif".replace("\n", ends)), new
        assert questions_in(new) == []
        assert with_answers(new, [(question, answer)], DAY) == new


@pytest.mark.req("Q15")
def test_what_the_file_answers_already_is_filled():
    """A marker whose answer stands under Clarifications is filled from there, each time that it occurs."""
    text = "[NEEDS CLARIFICATION: b?]\n\nand [NEEDS CLARIFICATION: **b**]\n\n## Clarifications\n\n- Q: b? → A: yes\n"
    assert with_answers(text, [], DAY) == "yes\n\nand yes\n\n## Clarifications\n\n- Q: b? → A: yes\n"


@pytest.mark.req("Q15")
def test_a_line_of_which_a_marker_waits_is_left_until_it_has_its_answer():
    """A question that quotes the line stays the same question in the next run."""
    text = "- last [NEEDS CLARIFICATION] and kept [NEEDS CLARIFICATION]\n"
    first, second = (one.text for one in questions_in(text))
    new = with_answers(text, [(first, "a day")], DAY)
    assert new.startswith(text)
    assert [one.text for one in questions_in(new)] == [second]
    assert with_answers(new, [(second, "a year")], DAY).startswith("- last a day and kept a year\n")


@pytest.mark.req("Q15")
def test_a_question_that_quotes_another_marker_of_its_line_is_asked_once():
    """Its bullet reads as the question does, with no bracket left open, and answers it in the next run."""
    text = "- kept [NEEDS CLARIFICATION] for [NEEDS CLARIFICATION: how long?] days\n"
    first, second = (one.text for one in questions_in(text))
    assert first == "What should replace the dots in: kept ... for (open: how long?) days"
    new = with_answers(text, [(first, "in Redis")], DAY)
    assert f"- Q: {first} → A: in Redis\n" in new
    assert [one.text for one in questions_in(new)] == [second]


@pytest.mark.req("Q15")
def test_a_quoted_marker_is_in_round_brackets():
    """An answer may talk about a marker: it marks nothing, and its brackets fit."""
    new = with_answers("[NEEDS CLARIFICATION: b?]\n", [("b?", "as in [NEEDS CLARIFICATION: c?] above")], DAY)
    assert "→ A: as in (NEEDS CLARIFICATION: c?) above\n" in new


@pytest.mark.req("Q15", "H8")
@pytest.mark.parametrize(
    "answer",
    [
        "a\n\n## Stories\n",
        "x <!-- y",
        "\x1b[31mred",
        "[NEEDS CLARIFICATION: why?]",
        "→ A: b",
        "x" * 5000,
        "- Q: c → A: d\n- Q: e → A: f",
    ],
)
def test_an_answer_is_one_bullet(answer):
    """Whatever an answer holds, it makes no heading, hides nothing, steers no terminal and asks nothing new."""
    text = "# Spec\n\n## Stories\n\n[NEEDS CLARIFICATION: which store?]\n"
    new = with_answers(text, [("which store?", answer)], DAY)
    (bullet,) = (line for line in new.splitlines() if line.startswith("- "))
    assert len(bullet) < LONGEST + 60
    assert "\x1b" not in new
    headings = [line for line in new.splitlines() if line.startswith("#")]
    assert headings == ["# Spec", "## Clarifications", "### Session 2026-01-05", "## Stories"]
    assert len(answers_in(new)) == 1
    assert questions_in(new) == []


@given(
    st.text(alphabet="#ab \n\r-*`<!>", max_size=120),
    st.lists(
        st.tuples(st.text(min_size=1, alphabet="ab?→-> [Q:A"), st.text(alphabet="ab\n→<!-", min_size=1)),
        max_size=3,
    ),
)
def test_what_was_there_stays_and_nothing_is_written_twice(text, answers):
    """All that a file had is there in order, and a second run writes nothing."""
    new = with_answers(text, answers, DAY)
    rest = iter(new)
    assert all(sign in rest for sign in text)
    if "<!--" not in text and "`" not in text:
        assert with_answers(new, answers, DAY) == new


@pytest.mark.req("Q15")
def test_the_reply_to_blocks():
    """Letters for options, `Custom - text` where specify has it, else the text; markers have no number."""
    options = (("A", "Redis"), ("B", "Postgres"))
    asked = [
        (SpecQuestion(1, "Which?", "", "", 1, options, "Custom"), "postgres"),
        (SpecQuestion(2, "Which?", "", "", 2, options, "Custom"), "a\nfile"),
        (SpecQuestion(3, "How many?", "", "", 3), "5"),
        (SpecQuestion(4, "Why?", "", ""), "because"),
    ]
    assert replied(asked) == "Q1: B, Q2: Custom - a file, Q3: 5"
    assert replied([]) == ""
