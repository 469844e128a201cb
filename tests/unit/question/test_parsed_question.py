"""What a question is understood as: its kinds, its names with their roles, its versions, the sentences that ask."""

import time
from importlib import util
from pathlib import Path

import pytest

from kr_core.question.parsed_question import parse_question

_SPEC = util.spec_from_file_location("parsed_questions", Path(__file__).with_name("parsed_questions.py"))
_UNDERSTOOD = util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_UNDERSTOOD)
ROLES = {"+": "subject", ".": "context", "-": "ignored"}
ROWS = [[cell.strip() for cell in line.split("|", 3)] for line in _UNDERSTOOD.QUESTIONS.strip().splitlines()]


def _roles(cell):
    return {name[:-1].strip("`"): ROLES[name[-1]] for name in cell.split()}


def _told(parsed, wanted):
    """The roles of the names that were wanted, and of what else is asked about."""
    return {one.name: one.role for one in parsed.identifiers if one.name in wanted or one.role == "subject"}


@pytest.mark.req("A1", "A2", "A6")
@pytest.mark.parametrize(("kind", "names", "versions", "question"), ROWS, ids=[row[3][:60] for row in ROWS])
def test_a_question_is_understood(kind, names, versions, question):
    """Each question has its kind, its names in their roles, and its versions."""
    parsed = parse_question(question)
    assert parsed.kind == kind, parsed
    assert _told(parsed, _roles(names)) == _roles(names), parsed
    assert list(parsed.versions) == versions.split()


@pytest.mark.req("A13")
@pytest.mark.parametrize(("text", "kind", "names", "asking"), _UNDERSTOOD.PASTED)
def test_what_was_pasted_is_told_apart(text, kind, names, asking):
    """Code, tracebacks and data are cut out, and their names are mentioned, not asked about."""
    parsed = parse_question(text)
    assert parsed.kind == kind
    assert _told(parsed, _roles(names)) == _roles(names), parsed
    if asking is not None:
        assert parsed.asking == asking
    assert "{" not in parsed.asking


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    ("spelled", "form"),
    [
        ("`get`", "code"), ("`get()`", "code"), ("`get=`", "keyword"), ("get=5", "keyword"), ("get()", "call"), ("a.get()", "call"), ("a.get", "dotted"),
        ("get_it", "snake"), ("getIt", "camel"), ("HTTPTransport", "camel"), ("'get'", "weak"), ("GETTING", "weak"),
    ],
)  # fmt: skip
def test_the_form_of_a_name_is_how_it_is_spelled(spelled, form):
    """Back-ticks, `=`, brackets, dots, underscores and inner capitals are told apart."""
    (found,) = parse_question(f"Tell me about {spelled} please").identifiers
    assert (found.form, found.place) == (form, "prose")
    assert found.name == spelled.strip("`'").partition("(")[0].partition("=")[0]


@pytest.mark.req("A1")
def test_the_place_of_a_name_is_where_it_stands():
    """Names in prose, in code and in a traceback are told apart; prose counts before code."""
    parsed = parse_question(
        "What does `one` do?\n\n```\none()\ntwo()\n```\n\nTraceback (most recent call last):\n  File 'x.py', line 3\n    three()\nKeyError: 'x'\n"
    )
    assert {one.name: one.place for one in parsed.identifiers if one.name in {"one", "two", "three"}} == {
        "one": "prose", "two": "code", "three": "traceback",
    }  # fmt: skip


@pytest.mark.req("A13")
@pytest.mark.parametrize(
    "piece",
    [
        *"a `.'\"(=?\n\té中)[:,_-$@/\\<E0#|", "a.", "a ", "`a", "a_", "a(", "is a ", "Error: \n", "a\n", "'a'", "if (:\n", "import x\n", "    \n", "@a", "://", "://a/../",
        "what is a b vs ", "between a and ", "how do i ", "default of a in ", 'Traceback (most recent call last):\n  File "x", line 1\n',
    ],
)  # fmt: skip
def test_any_text_is_parsed_in_time_in_proportion_to_its_length(piece):
    """100 kB of any character, and as much more of any piece of a question, take a moment."""
    seconds = []
    for size in (20_000, 160_000):
        started = time.process_time()
        parsed = parse_question(piece * (size // len(piece)))
        seconds.append(time.process_time() - started)
        assert parsed.kinds
        assert len(parsed.asking) < 2_500
    assert seconds[1] < 8 * 4 * seconds[0] + 1.0


@pytest.mark.req("A13")
def test_a_traceback_of_200_kb_leaves_the_error():
    """Of a long traceback the last line is asked about."""
    frames = '  File "/srv/lib/module.py", line 10, in call\n    return self.call(value)\n' * 3_000
    text = f"Why?\n\nTraceback (most recent call last):\n{frames}httpx.ReadTimeout: timed out\n"
    parsed = parse_question(text)
    assert parsed.asking == "Why? httpx.ReadTimeout: timed out"
    assert parsed.kind == "error"


@pytest.mark.req("A1")
def test_homoglyphs_are_letters():
    """A name with Cyrillic letters is a name of its own."""
    assert [one.name for one in parse_question("What does httpх.Сlient do?").identifiers] == ["httpх.Сlient"]
