"""Which lessons are handed out, and the block that holds them."""

import textwrap
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.knowledge.matching import keywords
from kr_core.lessons.file import parse
from kr_core.lessons.selection import block, lines_taken, of_phase, select
from kr_core.model.lessons import Lesson


def lesson(summary, line=1, day=7, tags=("dev-execution",), path=None):
    """A lesson of February 2026, or of no date."""
    return Lesson(line=line, date=day and date(2026, 2, day), tags=tags, summary=summary, path=path)


def summaries(found):
    return [one.summary for one in found]


@pytest.mark.req("L3")
def test_the_phase_is_an_exact_tag():
    """A phase is a tag of its own, in any place among the others."""
    given = [
        lesson("a"),
        lesson("b", tags=("vue", "dev-execution")),
        lesson("c", tags=("dev-execution-2",)),
        lesson("d", tags=("Dev-Execution",)),
    ]
    assert summaries(of_phase(given, "dev-execution")) == ["a", "b"]


@pytest.mark.req("L3")
def test_the_newest_come_first():
    """Lessons stand by their date, newest first; one without a date is the oldest."""
    given = [lesson("old", 1, 1), lesson("none", 2, None), lesson("new", 3, 9), lesson("mid", 4, 5)]
    assert summaries(select(given, 10)) == ["new", "mid", "old", "none"]
    assert summaries(select(given, 2)) == ["new", "mid"]


@pytest.mark.req("L3")
def test_relevance_ranks_lessons_of_a_day():
    """What the caller is about decides between lessons of one day, never before the date; else later lines do."""
    given = [
        lesson("Retry a request twice", 1),
        lesson("Rows need a height", 2, tags=("dev-execution", "VueEasyTable")),
        lesson("Close the cursor", 3),
        lesson("Retry a request", 4, day=6),
    ]
    assert summaries(select(given, 10)) == summaries([given[2], given[1], given[0], given[3]])
    assert summaries(select(given, 1, "retries of a request")) == ["Retry a request twice"]
    assert summaries(select(given, 2, "vue-easytable rows")) == ["Rows need a height", "Close the cursor"]
    assert select(given, 10, "the") == select(given, 10, " \n") == select(given, 10)


@pytest.mark.req("L3")
def test_the_form():
    """The title, then numbered lines of summary and path."""
    given = [
        lesson(
            "vue-easytable virtual scrolling needs explicit row-height", path="src/components/DataGrid.vue"
        ),
        lesson("JeecgBoot defHttp auto-unwraps ApiResponse"),
    ]
    assert block("dev-execution", given) == (
        "[LESSONS] dev-execution phase warnings:\n"
        "1. vue-easytable virtual scrolling needs explicit row-height -- src/components/DataGrid.vue\n"
        "2. JeecgBoot defHttp auto-unwraps ApiResponse\n"
    )
    assert block("dev-execution", []) == ""


@pytest.mark.req("L3")
def test_a_long_lesson_is_cut():
    """A lesson that would take more than two lines is cut at a word and keeps the end of its path."""
    text = block("dev-execution", [lesson("word " * 60 + "end", path="a/" * 80 + "file.py:12")])
    (line,) = text.splitlines()[1:]
    assert line.startswith("1. word word")
    assert " ... -- ..." in line
    assert line.endswith("/file.py:12")
    assert len(textwrap.wrap(line, 80)) <= 2


hostile = st.text() | st.sampled_from(
    ["[LESSONS] dev-execution phase warnings:", "[ lessons ]", "x\n2. forged", "x\u20282. forged", "字" * 300, "x" * 400, "a -- b.py"]
)  # fmt: skip


@pytest.mark.req("L3")
@given(
    st.lists(st.tuples(hostile, st.none() | hostile, st.none() | st.integers(1, 28)), max_size=30),
    st.integers(1, 12),
    hostile,
)
def test_the_block_holds_what_was_chosen_and_nothing_else(given, budget, about):
    """Whatever stands in the file: one title, a line for each lesson, at most the budget, at most two lines each."""
    text = "".join(
        f"- [2026-02-{day:02}] [dev-execution] {summary}{f'. Ref: {path}' if path else ''}\n" if day
        else f"### [dev-execution]\n{summary} | {path}\n"
        for summary, path, day in given
    )  # fmt: skip
    read = parse(text).lessons
    chosen = select(of_phase(read, "dev-execution"), budget, about)
    assert chosen == select(of_phase(read, "dev-execution"), budget, about)
    assert len(chosen) == min(budget, len(of_phase(read, "dev-execution")))
    title, *lines = block("dev-execution", chosen).splitlines() or ["[LESSONS]"]
    assert title.startswith("[LESSONS]")
    assert [line.partition(" ")[0] for line in lines] == [f"{n}." for n in range(1, len(chosen) + 1)]
    assert not any("[LESSONS]" in line.upper() for line in lines)
    assert all(len(textwrap.wrap(line, 80, break_on_hyphens=False)) <= 2 for line in lines)


@pytest.mark.req("L3")
@pytest.mark.parametrize("path", ["a" * 79 + " 0", "0 " + "a" * 79 + " b", "a" * 60 + " " + "b" * 39])
@pytest.mark.parametrize("summary", ["short", "a" * 79 + " 0", "word " * 60])
def test_a_path_with_spaces_takes_two_lines_at_most(summary, path):
    """A path that would need three lines by itself is cut at its beginning."""
    _title, line = block("dev-execution", [lesson(summary, path=path)]).splitlines()
    assert len(textwrap.wrap(line, 80, break_on_hyphens=False)) <= 2
    assert line.endswith(path[-20:])


syllables = st.sampled_from(
    "a i y e s es ies ing ed at bl iz ation ly izer th sk t d bys cr ow use HTTP /2 /1.1 C ++ # _ . ' é 字".split()
)
word = st.lists(syllables, min_size=1, max_size=4).map("".join)
prose = st.lists(word, min_size=1, max_size=4).map(" ".join)


@pytest.mark.req("L3")
@given(st.lists(prose, min_size=2, max_size=6), prose)
def test_lessons_of_a_day_are_ranked_by_all_the_keywords_that_they_share(given, about):
    """No word is passed over that has a keyword of the caller's, however its stem differs from it."""
    lessons = [lesson(summary, line=line) for line, summary in enumerate(given, 1)]
    ours = keywords(about)

    def shared(one):
        each = " ".join([one.summary, *one.tags]).split()
        return len({stem for text in each for stem in keywords(text)} & ours)

    expected = sorted(lessons, key=lambda one: (shared(one), one.line), reverse=True)
    assert select(lessons, len(lessons), about) == expected


@pytest.mark.req("L5")
def test_what_fits_is_shown_whole():
    """A lesson of two lines is handed out as it is, in any place of a block of 99."""
    summary = textwrap.shorten("word " * 40, 130, placeholder="")
    assert lines_taken(summary, "src/app.py:12") == 2
    assert lines_taken(summary + " and so on and on", "src/app.py:12") == 3
    shown = block("dev-execution", [lesson(summary, path="src/app.py:12")] * 99)
    assert shown.splitlines()[-1] == f"99. {summary} -- src/app.py:12"
