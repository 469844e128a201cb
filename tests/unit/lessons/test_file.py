"""The file of lessons: both forms, whatever else stands in it, and what is written read again."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.lessons.file import (
    canonical_path,
    canonical_summary,
    holds_reference,
    line_of,
    parse,
    same_words,
)
from kr_core.model.lessons import PHASES, Lesson

DAY = date(2026, 2, 7)


def only(text):
    """The one lesson of a text, without its line."""
    found = parse(text)
    (lesson,) = found.lessons
    return lesson.date, lesson.tags, lesson.summary, lesson.path


@pytest.mark.req("L2")
@pytest.mark.parametrize(
    ("text", "summary", "path"),
    [
        ("- [2026-02-07] [dev-execution, vue] Rows need a height. Ref: src/Grid.vue:12", "Rows need a height", "src/Grid.vue:12"),
        ("* [2026-2-7][dev-execution,vue]Rows need a height (Ref: `src/Grid.vue:12`).", "Rows need a height", "src/Grid.vue:12"),
        ("\t+\t[2026/02/07]\t[dev-execution，vue]\tRows\u00a0need a height.\tref:src/Grid.vue", "Rows need a height", "src/Grid.vue"),
        ("- [2026-02-07] [dev-execution, vue] Rows need\n  a height. Ref: a b/Grid.vue\n\tand:3", "Rows need a height", "a b/Grid.vue and:3"),
        ("- [dev-execution, vue] [2026-02-07] Rows", "Rows", None),
        ("- [2026-02-07] [dev-execution, vue] See Ref: a, then b? Ref: c.py", "See Ref: a, then b?", "c.py"),
        ("- [2026-02-07] [dev-execution, vue] [x] is kept ...", "[x] is kept", None),
        ("### [2026-02-07] [dev-execution] [vue]\nRows need a height | src/Grid.vue", "Rows need a height", "src/Grid.vue"),
        ("## [2026-02-07] [dev-execution] [vue] Rows need a height | src/Grid.vue:3", "Rows need a height", "src/Grid.vue:3"),
        ("### [2026-02-07] [dev-execution] [vue]\n\nRows need\na height ||\nnone | src/Grid.vue\n\nMore | of.it", "Rows need a height || none", "src/Grid.vue"),
        ("### [2026-02-07] [dev-execution] [vue]\nRows need a height |\n\nsrc/Grid.vue", "Rows need a height", "src/Grid.vue"),
        ("### [2026-02-07] [dev-execution] [vue]\n- Rows\n- need. Ref: a.py\n\nnot this", "Rows need", "a.py"),
        ("### [2026-02-07] [dev-execution] [vue]\nRows\n```sh\n# [2026-01-01] [code-review] no\n```", "Rows ```sh # [2026-01-01] [code-review] no ```", None),
    ],
)  # fmt: skip
def test_forms(text, summary, path):
    """Both forms are read with their date, tags, summary and path, in many spellings and with any line ends."""
    for form in (text, f"\ufeff{text}\n", text.replace("\n", "\r\n") + "\r\n", text.replace("\n", "\r")):
        assert only(form) == (DAY, ("dev-execution", "vue"), summary, path)


@pytest.mark.req("L2")
@pytest.mark.parametrize(
    ("text", "lessons"),
    [("- [dev-execution] Rows", 1), ("### [code-review] [3-1]\nRows", 1), ("- [2026-02-30] [dev-execution] Rows", 1),
     ("- [3-1] Rows", 0)],
)  # fmt: skip
def test_a_lesson_without_a_date(text, lessons):
    """Without a date, or with one that no calendar has, the tag of a phase makes a lesson."""
    found = parse(text)
    assert [lesson.date for lesson in found.lessons] == [None] * lessons
    assert found.others == 1 - lessons


@pytest.mark.req("L2")
def test_lines_that_are_neither():
    """What is no lesson is left alone and counted, with the first line's number; headings and rules are layout."""
    text = (
        "# Lessons\n\n---\n- - -\nprose\n- plain\n- [ ] todo\n- [x] done\n- [link](https://e.example) text\n"
        "- [2026-02-07] no tags\n- [2026-02-07] [dev-execution]\n- [2026-02-07] [dev-execution] . Ref: a.py\n"
        "### [2026-02-07] [dev-execution]\n\n## 2026-02-07 - other layout\n- **Context**: words\n  more\n1. [dev-execution] x\n"
    )
    found = parse(text)
    assert found.lessons == ()
    assert (found.others, found.first_other) == (12, 5)
    assert parse("").others == parse("\n \t\n").others == 0


@pytest.mark.req("L2")
def test_code_blocks():
    """A format that is shown in a closed code block is no lesson; a block that is never closed hides nothing."""
    entry = "- [2026-02-07] [dev-execution] Rows\n"
    assert parse(f"```markdown\n{entry}```\n~~~\n{entry}```\n~~~~\n").lessons == ()
    assert [lesson.line for lesson in parse(f"~~~\n{entry}```\n{entry}").lessons] == [2, 4]


@pytest.mark.req("L2")
def test_comments():
    """A lesson that was commented out is none; a comment that is never closed hides nothing, nor opens what follows."""
    entry = "- [2026-02-07] [dev-execution] Rows\n"
    assert parse(f"<!--\n{entry}-->\n<!-- a\n### [2026-02-07] [dev-execution]\nb\n c -->\n").lessons == ()
    assert [lesson.line for lesson in parse(f"<!-- one -->\n{entry}<!--\n{entry}").lessons] == [2, 4]
    assert [lesson.line for lesson in parse(f"<!-- open\n{entry}<!-- one -->\n{entry}").lessons] == [2, 4]
    assert [lesson.line for lesson in parse(f"<!-- open\n{entry}```\n{entry}```\n").lessons] == [2]
    assert [lesson.line for lesson in parse(f"```\n<!--\n```\n{entry}-->\n").lessons] == [4]


@pytest.mark.req("L2")
def test_merge_conflicts():
    """Conflict markers end a lesson and are told with the line; the lessons of both sides count."""
    text = (
        "### [2026-02-07] [dev-execution]\nours | a.py\n<<<<<<< HEAD\n- [2026-02-07] [dev-execution] one\n"
        "||||||| base\n=======\n- [2026-02-07] [dev-execution] two\n>>>>>>> other\n"
    )
    found = parse(text)
    assert [lesson.summary for lesson in found.lessons] == ["ours", "one", "two"]
    assert (found.conflicts, found.others) == ((3,), 0)
    assert parse("=======\n").others == 1


@pytest.mark.req("L2")
def test_nothing_is_evaluated():
    """Control characters cannot be shown, and what looks like a template or a tag stays text."""
    text = "- [2026-02-07] [dev-execution, \x1b] {{ 7 * 7 }} !!python/object \x1b[2J\u202e. Ref: a\x00.py"
    assert only(text)[1:] == (
        ("dev-execution", "�"),
        "{{ 7 * 7 }} !!python/object �[2J�",
        "a�.py",
    )


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [("Rows need  a height.", "rows need a HEIGHT", True), ("pass -1", "pass 1", False), ("use C++", "use C#", False)],
)  # fmt: skip
def test_same_words(a, b, same):
    """Case, spaces and the mark at the end do not make another lesson; any other sign does."""
    assert same_words(a, b) is same


# -- what is written is read again -----------------------------------------------------------------------

texts = st.text(max_size=80)
marks = st.sampled_from(
    ["```\n", "~~~\n", "<<<<<<< a\n", "=======\n", ">>>>>>> b\n", "# t\n", "---\n", "- [", "] ", "|", "Ref: ", "\n", "\r\n", "\r",
     "### [2026-02-07] [dev-execution] [3-1]\n", "- [2026-02-07] [code-review] x\n", "  y", "\ufeff", "<!-- "]
)  # fmt: skip
files = st.lists(texts | marks, max_size=12).map("".join)


@st.composite
def lessons(draw):
    """A lesson as it is kept."""
    path = canonical_path(draw(texts))
    summary = canonical_summary(draw(texts))
    if not summary or (path is None and holds_reference(summary)) or (path and holds_reference(path)):
        summary, path = "Rows need a height", "src/Grid.vue:12"
    return Lesson(
        line=1,
        date=draw(st.dates()),
        tags=(draw(st.sampled_from(PHASES)), "vue"),
        summary=summary,
        path=path,
    )


@pytest.mark.req("L5")
@given(lessons())
def test_a_line_is_read_as_the_same_lesson(lesson):
    """What was written is what is read."""
    assert parse(line_of(lesson) + "\n").lessons == (lesson,)


@pytest.mark.req("L5")
@given(files, st.lists(lessons(), min_size=1, max_size=3))
def test_lessons_at_the_end_of_any_file(text, added):
    """Whatever stands in the file, lessons at its end are read, and add no lesson but themselves."""
    if text and not text.endswith(("\n", "\r")):
        text += "\n"
    before = parse(text)
    after = parse(text + "".join(f"{line_of(lesson)}\n" for lesson in added))
    assert [lesson.model_copy(update={"line": 1}) for lesson in after.lessons[len(before.lessons) :]] == added
    assert after.lessons[: len(before.lessons)] == before.lessons


@given(files)
def test_any_file_is_read(text):
    """No text makes reading fail; every summary is one line, and lines rise."""
    found = parse(text)
    lines = [lesson.line for lesson in found.lessons]
    assert lines == sorted(set(lines))
    assert all(
        lesson.summary and lesson.summary == " ".join(lesson.summary.split()) for lesson in found.lessons
    )
