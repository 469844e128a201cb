"""The questions that spec-kit leaves in its files, in all the shapes that it has had for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.spec_files import questions_in

from kr_core.speckit.lines import lines_of
from kr_core.speckit.spec_parser import answers_in, read

SPEC = """\
# Feature Specification: Sessions

**Input**: User description: "Users stay signed in."

<!-- Mark with [NEEDS CLARIFICATION: hidden?] -->

## User Scenarios & Testing *(mandatory)*

### Edge Cases

- What happens to [NEEDS CLARIFICATION: which tabs
  stay open when a session ends?] then?

```text
-> Mark with [NEEDS CLARIFICATION: fenced?]
```

## Requirements *(mandatory)*

### Functional Requirements

- **FR-006**: System MUST authenticate users via [NEEDS CLARIFICATION: not specified - email, [SSO](x) or OAuth?]
- **FR-007**: System MUST log [NEEDS CLARIFICATION]

## Checklist

- [ ] No [NEEDS CLARIFICATION] markers remain
1. Mark all ambiguities: use [NEEDS CLARIFICATION: specific question] for any assumption
"""

SPECIFY = """\
## Question 1: Authentication Method

**Context**: FR-006: System MUST authenticate users

**What we need to know**: Which method do
users sign in with?

**Suggested Answers**:

| Option | Answer | Implications |
|--------|--------|--------------|
| A      | **Email** and password | We keep hashes |
| B      | SSO \\| SAML | Needs a provider |
| Custom | Provide your own answer | As you say |

**Your choice**: _[Wait for user response]_

## Question 2: Retention

**What we need to know**: How long are sessions kept?

| Option | Answer | Implications |
|--------|--------|--------------|
| A | 30 days | none |

**Your choice**: A

## Question [N]: [Topic]

**What we need to know**: [Specific question from a marker]

| Option | Answer | Implications |
|--------|--------|--------------|
| A | [First suggested answer] | none |
"""

CLARIFY = """\
**Question:** Which sessions end when a password changes? (FR-023)

It decides how sessions are stored.

**Recommended:** Option B - the safest

| Option | Description |
|--------|-------------|
| A | None |
| B | All others |
| Short | Provide a different short answer (<=5 words) |

You can reply with the option letter.
"""

OLDER = """\
### Question 1 of 5

Who may end the sessions of another user?

| Option | Description |
|--------|-------------|
| A | Nobody |
| B | Administrators |

---

**Question 2**: How many sessions may one user have?

**Suggested:** 5 - usual

Format: Short answer (<=5 words).

Q: What is a session called?

| Option | Description |
|---|---|
| A | Session |
| B | Device |
"""

PLAN = """\
# Implementation Plan: Sessions

## Technical Context

**Language/Version**: Python 3.11
**Primary Dependencies**: [e.g., FastAPI, UIKit, LLVM or NEEDS CLARIFICATION]
**Storage**: NEEDS CLARIFICATION
**Testing**: NEEDS CLARIFICATION (pytest or unittest?)
**Target Platform**: Linux server (NEEDS CLARIFICATION)
**Project Type**: web - NEEDS CLARIFICATION
- Scale: NEEDS CLARIFICATION: how many users?
**Output**: research.md with all NEEDS CLARIFICATION resolved
- For each NEEDS CLARIFICATION -> research task
**Constraints**: under 200 ms [NEEDS CLARIFICATION: at which percentile?]
"""

TEMPLATE = """\
# Implementation Plan: [FEATURE]

## Technical Context

**Language/Version**: [e.g., Python 3.11, Swift 5.9, Rust 1.75 or NEEDS CLARIFICATION]

**Primary Dependencies**: [e.g., FastAPI, UIKit, LLVM or NEEDS CLARIFICATION]

**Storage**: [if applicable, e.g., PostgreSQL, CoreData, files or N/A]

**Testing**: [e.g., pytest, XCTest, cargo test or NEEDS CLARIFICATION]

**Target Platform**: [e.g., Linux server, iOS 15+, WASM or NEEDS CLARIFICATION]

**Project Type**: [e.g., library/cli/web-service/mobile-app/compiler/desktop-app or NEEDS CLARIFICATION]

**Performance Goals**: [domain-specific, e.g., 1000 req/s, 10k lines/sec, 60 fps or NEEDS CLARIFICATION]

**Constraints**: [domain-specific, e.g., <200ms p95, <100MB memory, offline-capable or NEEDS CLARIFICATION]

**Scale/Scope**: [domain-specific, e.g., 10k users, 1M LOC, 50 screens or NEEDS CLARIFICATION]

## Constitution Check
"""
"""What specify-cli 1.2.3 writes into a new plan."""

NEXT_YEAR = """\
# Blueprint: Sessions

## Engineering Context

**Data Store**: {NEEDS DECISION}
- **Runtime**: ⟨e.g. a server⟩
**Budget**: TBD
| Concern | Choice |
|---------|--------|
| Storage | NEEDS CLARIFICATION |
| Cache | <fill in> |
| Queue | Redis |

Users sign in by {{NEEDS CLARIFICATION: which method?}} and stay for [NEEDS DECISION: how long?].
Retention is NEEDS CLARIFICATION.
**Link**: <https://example.org/a>
**See**: [the page](https://example.org)
- [ ] Nothing is TBD
Resolve all NEEDS CLARIFICATION and any TBD. `[NEEDS DECISION]` is a mark.
[NEEDS CLARIFICATION: ]
"""


@pytest.mark.req("Q15")
def test_all_eight_open_fields_of_the_plan_template_are_asked():
    """Each field of spec-kit's plan template that says NEEDS CLARIFICATION is a question, whatever its example begins with."""
    asked = [one.text for one in questions_in(TEMPLATE)]
    names = [text.partition(":")[0] for text in asked]
    assert names == [
        "Language/Version", "Primary Dependencies", "Testing", "Target Platform", "Project Type",
        "Performance Goals", "Constraints", "Scale/Scope",
    ]  # fmt: skip
    assert asked[6] == (
        "Constraints: what should it be? (domain-specific, e.g., <200ms p95, <100MB memory, offline-capable)"
    )
    assert [(one.line, one.text) for one in read(TEMPLATE).open_fields] == [
        (9, "Storage: [if applicable, e.g., PostgreSQL, CoreData, files or N/A]")
    ]


@pytest.mark.parametrize(
    ("line", "questions"),
    [
        (
            "**Storage**: NEEDS CLARIFICATION, **Testing**: [NEEDS CLARIFICATION]",
            ["Storage: what should it be?", "Testing: what should it be?"],
        ),
        (
            "- Sessions last [NEEDS CLARIFICATION] and are kept [NEEDS CLARIFICATION]",
            [
                "What should replace the dots in: Sessions last ... and are kept (open)",
                "What should replace the dots in: Sessions last (open) and are kept ...",
            ],
        ),
        (
            "- **FR-1**: via [NEEDS CLARIFICATION: which?] until [NEEDS CLARIFICATION]",
            [
                "which?",
                "What should replace the dots in: FR-1: via (open: which?) until ...",
            ],
        ),
        (
            "**Files**: NEEDS CLARIFICATION for text, NEEDS CLARIFICATION for images",
            [
                "What should replace the dots in: Files: ... for text, (open) for images",
                "What should replace the dots in: Files: (open) for text, ... for images",
            ],
        ),
    ],
)
@pytest.mark.req("Q15")
def test_a_second_bare_marker_of_a_line_is_asked_too(line, questions):
    """A line asks as many questions as it has markers, each with a text of its own."""
    assert [one.text for one in questions_in(f"# Plan\n\n{line}\n")] == questions
    assert read(line).open_fields == []


@pytest.mark.req("Q15")
def test_what_looks_open_in_a_template_of_next_year_is_named():
    """Other brackets, marks and forms than those of today are named with their lines; what only speaks of them is not."""
    found = read(NEXT_YEAR)
    assert found.asked == []
    assert [one.line for one in found.open_fields] == [5, 6, 7, 10, 11, 14, 15, 20]
    assert found.open_fields[0].text == "Data Store: {NEEDS DECISION}"
    renamed = TEMPLATE.replace("Testing", "How it is tested").replace("[", "{").replace("]", "}")
    assert len(questions_in(renamed)) == 8


@pytest.mark.req("Q15")
def test_markers():
    """Markers are questions, with headings as topic; not those in fences, comments, checklists and explanations."""
    tabs, method, log = questions_in(SPEC)
    assert (tabs.line, tabs.text) == (11, "which tabs stay open when a session ends?")
    assert tabs.topic == "User Scenarios & Testing/Edge Cases"
    assert (method.text, method.topic) == (
        "not specified - email, [SSO](x) or OAuth?",
        "Requirements/Functional Requirements",
    )
    assert "Feature Specification: Sessions" in method.context
    assert "Users stay signed in." in method.context
    assert "- **FR-006**: System MUST authenticate users via" in method.context
    assert log.text == "What should replace the dots in: FR-007: System MUST log ..."
    assert all(one.number is None and not one.options for one in (tabs, method, log))


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("Write `[NEEDS CLARIFICATION: what?]` there.", []),
        ("Write ``[NEEDS CLARIFICATION: `what`?]`` there.", []),
        ("Use [NEEDS CLARIFICATION: `a` or `b`?] `now`.", ["a or b?"]),
        ("FR-1 has `[NEEDS CLARIFICATION]` in it.", []),
        ("Text.\n\n    [NEEDS CLARIFICATION: what?]\n\n    ## More\n\n\tx [NEEDS CLARIFICATION: who?]\n", []),
        ("Text\n    [NEEDS CLARIFICATION: what?]\n", ["what?"]),
        (
            "- one\n\n    - two [NEEDS CLARIFICATION: what?]\n\n      [NEEDS CLARIFICATION: who?]\n",
            ["what?", "who?"],
        ),
        ("- one\n\nText.\n\n    [NEEDS CLARIFICATION: what?]\n", []),
        ("1. one\n## More\n\n    [NEEDS CLARIFICATION: what?]\n", []),
    ],
)
@pytest.mark.req("Q15")
def test_markers_in_code_are_none(text, questions):
    """In code, within a line or indented, a marker is talked about; below an item of a list a text is indented, too."""
    assert [one.text for one in questions_in(text)] == questions


@pytest.mark.req("Q15")
def test_the_blocks_of_specify():
    """A block has number, topic, context and options; one with its choice made, and the template's own, ask nothing."""
    (one,) = questions_in(SPECIFY)
    assert (one.line, one.number, one.topic) == (1, 1, "Authentication Method")
    assert one.text == "Which method do users sign in with?"
    assert one.options == (("A", "Email and password"), ("B", "SSO | SAML"))
    assert one.custom == "Custom"
    assert "FR-006" in one.context


@pytest.mark.req("Q15")
def test_the_question_of_clarify():
    """Its question, its options, and what spec-kit recommends are read; the short answer is no option."""
    (one,) = questions_in(CLARIFY)
    assert (one.number, one.text) == (1, "Which sessions end when a password changes? (FR-023)")
    assert one.options == (("A", "None"), ("B", "All others"))
    assert (one.custom, one.context) == ("", "Recommended: Option B - the safest")


@pytest.mark.req("Q15")
def test_older_forms():
    """A heading with a number and a table, a question with a short answer, and `Q:` before a table."""
    first, second, third = questions_in(OLDER)
    assert (first.number, first.text, first.topic) == (1, "Who may end the sessions of another user?", "")
    assert (second.number, second.text, second.options) == (2, "How many sessions may one user have?", ())
    assert (third.text, third.options) == ("What is a session called?", (("A", "Session"), ("B", "Device")))
    (alone,) = questions_in(
        "One thing first.\n\nWhich store?\n\n| Option | Description |\n|---|---|\n| A | Redis |\n"
    )
    assert (alone.line, alone.text, alone.options) == (3, "Which store?", (("A", "Redis"),))


@pytest.mark.req("Q15")
def test_what_a_plan_leaves_open():
    """Fields that stand as NEEDS CLARIFICATION are technical questions; those that are filled in are none."""
    found = questions_in(PLAN)
    assert [(one.text, one.topic) for one in found] == [
        (
            "Primary Dependencies: what should it be? (e.g., FastAPI, UIKit, LLVM)",
            "technical/Primary Dependencies",
        ),
        ("Storage: what should it be?", "technical/Storage"),
        ("Testing: what should it be? (pytest or unittest?)", "technical/Testing"),
        ("Target Platform: what should it be? (Linux server)", "technical/Target Platform"),
        ("Project Type: what should it be? (web)", "technical/Project Type"),
        ("Scale: what should it be? (how many users?)", "technical/Scale"),
        ("at which percentile?", "Technical Context"),
    ]


@pytest.mark.req("Q15")
def test_what_is_answered_in_the_file_is_not_asked():
    """Answers under Clarifications are recognised however the question is marked up there, with either arrow."""
    answered = """
## Clarifications

### Session 2026-01-03

- Q: **Which tabs** stay open when a session ends → A: none [NEEDS CLARIFICATION: not even one?]
* Q: not specified - email, [SSO](x) or OAuth? -> A: OAuth

"""
    text = SPEC.replace("\n## User Scenarios", answered + "## User Scenarios")
    assert list(answers_in(text).values()) == ["none [NEEDS CLARIFICATION: not even one?]", "OAuth"]
    assert [one.text[:20] for one in questions_in(text)] == ["What should replace "]


@pytest.mark.parametrize("shape", [SPEC, SPECIFY, CLARIFY, OLDER, PLAN, TEMPLATE])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text * 2,
        str.rstrip,
    ],
)
@pytest.mark.req("Q15")
def test_line_ends_marks_and_repetition_change_nothing(shape, change):
    """CRLF, a byte order mark, no line end at the end, and the same question twice: the same questions, each once."""
    assert [one.text for one in questions_in(change(shape))] == [one.text for one in questions_in(shape)]


@given(st.text(alphabet="#*|-[]Q1:?→ A\n\r`~<!->\ufeffNED CLARIFT", max_size=300))
def test_any_text_is_read(text):
    """No text makes reading fail, and the lines are all of it."""
    read(text)
    assert "".join(line.raw for line in lines_of(text)) == text


def test_a_long_file_is_read_in_time_that_grows_with_it():
    """Five megabytes of markers that never close, and of open tables, are read."""
    assert questions_in("[NEEDS CLARIFICATION: [" * 20_000) == []
    assert questions_in("".join("`" * length + "x" for length in range(1, 1500))) == []
    assert len(questions_in("Which?\n\n| Option | A |\n|---|---|\n| A | x |\n\n" * 2_000)) == 1


def test_a_number_of_thousands_of_digits_is_none():
    """A heading with such a number is not a question, and the file is read."""
    assert [one.text for one in questions_in(f"## Question {'1' * 5000}: A\n\n**Question:** Which?\n")] == [
        "Which?"
    ]


def test_of_a_very_long_line_the_beginning_is_context():
    """Markers in one long line have its first 5,000 characters each, and not all of it."""
    found = questions_in("# A\n\n## B\n" + "x" * 10_000 + "[NEEDS CLARIFICATION: Which?]\n")
    assert [one.text for one in found] == ["Which?"]
    assert 5_000 < len(found[0].context) < 5_100
