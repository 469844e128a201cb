"""A spec-kit file from a clone that is made to be slow is read in time proportional to its length."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from support.clones import kr, make_clone
from support.regexes import seconds_for

from kr_core.config.loader import load
from kr_core.dispatch.plan import Plan, PlannedTask, read_plan
from kr_core.dispatch.roles import Assignment
from kr_core.dispatch.scopes import Scope
from kr_core.errors import ConfigError
from kr_core.speckit.spec_parser import read
from kr_core.speckit.task_file import read_tasks
from kr_core.speckit.writer import with_answers

pytestmark = pytest.mark.req("Z8")
_SECONDS = 30.0
"""Of processor time; what was mended took hours."""


@pytest.mark.parametrize(
    "text",
    [
        "A [NEEDS CLARIFICATION] b. " * 40_000,
        "[NEEDS CLARIFICATION] " * 40_000,
        "**A**: " + "NEEDS CLARIFICATION " * 40_000,
        "x".join(["`"] * 1_000_000),
        " ".join("`" * (number % 60 + 1) for number in range(60_000)),
        "[NEEDS CLARIFICATION: " * 40_000,
        "**A**: [a " + "NEEDS CLARIFICATION " * 40_000 + "]" * 400_000 + "a",
        "**A**: [a " + "NEEDS CLARIFICATION " * 480 + "]" * 9_000 + "a",
        "**A**: [a NEEDS CLARIFICATION" + "]" * 400_000 + "x",
        "**A**: [a NEEDS CLARIFICATION" + "]" * 19_000 + "x",
    ],
    ids=[
        "marks",
        "brackets",
        "a field",
        "backticks",
        "runs of backticks",
        "marks without an end",
        "a long field of marks",
        "a field of marks",
        "a long field of brackets",
        "a field of brackets",
    ],
)
def test_marks_and_backticks_are_read_in_linear_time(text):
    """A line of 40,000 marks, and a million backticks, are read in seconds."""
    assert seconds_for(lambda: read(text), limit=_SECONDS) < _SECONDS


def test_the_first_marks_of_a_line_are_asked_and_the_others_named():
    """A line with many marks gives a question for each of the first 20, and is named as open for the rest."""
    file = read("# A\n\n" + "Use [NEEDS CLARIFICATION] b. " * 30)
    assert (len(file.asked), len(file.open_fields)) == (20, 1)


@pytest.mark.parametrize(
    "text",
    ["[NEEDS CLARIFICATION: x] ", "**A**: NEEDS CLARIFICATION ", "[NEEDS CLARIFICATION: x]\n\n"],
    ids=["marks with a question", "fields", "lines"],
)
def test_very_many_questions_of_a_file_are_read_in_linear_time(text):
    """A file of 4 MB that is all questions gives the first ones in seconds, each with what the file is about, and names where others are."""
    given = "**Input**: " + "word " * 400
    made = []
    whole = f"# A\n\n{given}\n\n" + text * (4_000_000 // len(text))
    assert seconds_for(lambda: made.append(read(whole)), limit=_SECONDS) < _SECONDS
    assert len(made[0].asked) == 1_000
    assert made[0].open_fields


@pytest.mark.parametrize("mark", ["[NEEDS CLARIFICATION: which %d?] ", "**A%d**: NEEDS CLARIFICATION "])
@pytest.mark.parametrize("after", ["", "\n\n"], ids=["one line", "lines"])
def test_the_first_questions_of_a_file_are_asked_and_the_others_named(mark, after):
    """A file asks 1,000 questions, and the line of one more is named as open."""
    asked = read("# A\n\n" + "".join(f"{mark % number}{after}" for number in range(1_000)))
    more = read("# A\n\n" + "".join(f"{mark % number}{after}" for number in range(1_001)))
    assert (len(asked.asked), len(asked.open_fields)) == (1_000, 0)
    assert (len(more.asked), [one.line for one in more.open_fields]) == (1_000, [2_003 if after else 3])


def test_a_file_with_more_than_the_first_questions_says_so(tmp_path):
    """Where not all of a file is counted, the refusal does not call the number of the first ones that of all."""
    make_clone(tmp_path / "clone")
    marks = [f"[NEEDS CLARIFICATION: Which store keeps part {number}?]\n" for number in range(1_100)]
    (tmp_path / "clone/spec.md").write_text("\n".join(marks))
    done = kr(tmp_path / "clone", "ask", "--from", "spec.md")
    assert (done.code, "spec.md: has at least 1,000 questions" in done.err) == (2, True), done.message


def test_an_answer_to_very_many_markers_is_written_in_linear_time():
    """One answer goes into the first 1,000 places of a line of 4 MB in seconds."""
    text = "# A\n\n" + "[NEEDS CLARIFICATION: x] " * 160_000
    made = []
    day = dt.date(2026, 1, 5)
    assert (
        seconds_for(lambda: made.append(with_answers(text, [("x", "Redis")], day)), limit=_SECONDS) < _SECONDS
    )
    assert made[0].count("Redis") == 1_001


def test_code_ends_in_its_paragraph():
    """Backticks hide a marker within a paragraph, and not where a blank line parts them or their number differs."""
    hidden = "# A\n\nWrite ``[NEEDS CLARIFICATION: what]`` there.\n"
    parted = "# A\n\nWrite ` there.\n\n[NEEDS CLARIFICATION: what] and ` there.\n"
    other = "# A\n\nWrite `` [NEEDS CLARIFICATION: what] ` there.\n"
    assert [len(read(text).asked) for text in (hidden, parted, other)] == [0, 1, 1]


def test_a_long_heading_is_quoted_in_part():
    """Each of a thousand questions under a heading of 100 kB quotes the start of it."""
    marks = "\n".join(f"- [NEEDS CLARIFICATION: {number}?]" for number in range(1_000))
    asked = read(f"## {'a' * 100_000}\n{marks}\n").asked
    assert len(asked) == 1_000
    assert sum(len(one.topic) + len(one.context) for one in asked) < 2_000_000
    assert asked[0].topic.startswith("aaa")


@pytest.mark.parametrize("name", ["spec.md", "questions.json"])
def test_a_file_of_thousands_of_questions_asks_none(tmp_path, name):
    """Each question may cost a call of a model, and puts a case before a person; a file that came with a clone has no say in how many."""
    make_clone(tmp_path / "clone")
    asked = [f"Which store keeps part {number}?" for number in range(501)]
    lines = [f"[NEEDS CLARIFICATION: {one}]\n" for one in asked]
    text = "\n".join(lines) if name == "spec.md" else json.dumps([{"text": one} for one in asked])
    (tmp_path / "clone" / name).write_text(text)
    done = kr(tmp_path / "clone", "ask", "--from", name)
    assert (done.code, f"{name}: has 501 questions" in done.err) == (2, True), done.message
    assert "at most 500" in done.err
    assert "E1" not in kr(tmp_path / "clone", "inbox", "list").out


@pytest.mark.parametrize(
    "lines",
    [
        ["T001 do src/a.py after T1" + " " * 120_000 + "x"],
        ["T001 do src/a.py after T1" + " " * 9_000 + "x"] * 50,
        ["T001 ~~a" + "~" * 100_000 + "a"],
        ["T001 ~~a" + "~" * 9_000 + "a"] * 50,
        [
            "T001 Implement " + " ".join(f"src/a{number}.py" for number in range(10_000)),
            "T002 Test " + " ".join(f"tests/test_a{number}.py" for number in range(10_000)),
        ],
    ],
    ids=["long dependencies", "dependencies", "a long title struck out", "titles struck out", "paths"],
)
def test_lines_of_tasks_are_read_in_linear_time(tmp_path, lines):
    """What a task depends on, whether it is struck out and which paths it shares is found in seconds; a line of 10,000 characters is none."""
    folder = tmp_path / "specs/001-slow"
    folder.mkdir(parents=True)
    tasks = ["T009 Do src/z.py", *lines]
    (folder / "tasks.md").write_text(
        "# Tasks: Slow\n\n## Phase 1: Setup\n\n" + "".join(f"- [ ] {one}\n" for one in tasks)
    )
    (tmp_path / "kr.yaml").write_text("{}\n")
    made = []
    config = load(tmp_path)
    assert seconds_for(lambda: made.append(read_plan(folder / "tasks.md", config)), limit=_SECONDS) < _SECONDS
    assert len(made[0].tasks) == sum(len(one) < 9_990 for one in tasks)
    too_long = [one.line for one in made[0].diagnostics if one.code == "too-long"]
    assert len(too_long) == len(tasks) - len(made[0].tasks)


def planned(folder, text):
    """The plan of a file of tasks."""
    (folder / "tasks.md").write_text(f"# Tasks: Slow\n\n## Phase 1: Setup\n\n{text}\n")
    (folder / "kr.yaml").write_text("{}\n")
    return read_plan(folder / "tasks.md", load(folder))


def test_a_plan_of_very_many_tasks_is_made_in_linear_time(tmp_path):
    """Two thousand tasks of one story are not each held against all others; an agent gets to know the first ones' paths."""
    tasks = "\n".join(f"- [ ] T{number:05} [US1] Add tests in tests/t{number}.py" for number in range(2_000))
    made = []
    assert seconds_for(lambda: made.append(planned(tmp_path, tasks)), limit=_SECONDS) < _SECONDS / 3
    assert len(made[0].tasks) == 2_000
    assert max(len(one.related) for one in made[0].tasks) < 300


def test_a_file_of_more_tasks_than_anyone_writes_is_refused(tmp_path):
    """What is done with each task is bounded by their number; a file that is too long by itself is not read."""
    lines = [f"- [ ] T{number:05} Add src/{number}.py" for number in range(2_001)]
    assert len(planned(tmp_path, "\n".join(lines[:-1])).tasks) == 2_000
    with pytest.raises(ConfigError, match="has more than 2,000 tasks"):
        planned(tmp_path, "\n".join(lines))
    with pytest.raises(ConfigError, match="larger than 524,288 bytes"):
        planned(tmp_path, "\n" * 2**19)


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] T001 Write src/a.py\n" + "  a\n" * 250_000,
        "".join(f"- [ ] T{number:04} x\n" for number in range(1_500))
        + f"- [ ] T9999 y {'after T1498-T1499 ' * 500}\n" * 500,
        "".join(f"- [ ] T{number:04} x\n" for number in range(2_000))
        + "## Dependencies\n"
        + "T0001 is one of many\n" * 100_000,
        f"- [ ] T0001 x\n# {'a' * 2_000_000}\n" + "text\n" * 50_000,
        f"## Phase {'a' * 2_000_000}\n" + "- [ ] T0001 x\n" * 2_000,
    ],
    ids=["notes", "ranges", "dependencies", "a long heading", "a long phase"],
)
def test_tasks_and_the_lines_between_them_are_read_in_linear_time(text):
    """No line of a file is gone through once for each other line, and what belongs to a task is bounded."""
    made = []
    assert seconds_for(lambda: made.append(read_tasks(text)), limit=_SECONDS) < _SECONDS
    most = max(max(len(one.notes), len(one.depends_on)) for one in made[0].tasks)
    headings = sum(len(one.phase) + len(one.section) for one in made[0].tasks)
    assert (most <= 200, headings < 5_000_000) == (True, True)


def test_the_first_paths_of_a_task_count():
    """A line that names more than 50 paths is reported."""
    read = read_tasks("- [ ] T001 Write " + " ".join(f"src/{number}.py" for number in range(51)))
    assert (len(read.tasks[0].paths), [one.code for one in read.diagnostics]) == (50, ["many-paths"])


@pytest.mark.parametrize("paths", [("src/a.py",), ("src/a.py", "src/{}.py"), ("src/{}.py",)])
def test_the_order_of_many_tasks_is_found_without_comparing_each_with_each(paths):
    """Tasks that run at once are held against the paths of all others at once."""
    task = read_tasks("- [ ] T001 [P] Write src/a.py\n").tasks[0]
    number = 20_000 if paths == ("src/{}.py",) else 2_000
    tasks = [
        PlannedTask(
            task._replace(id=f"T{one}", line=one, paths=tuple(path.format(one) for path in paths)),
            Assignment("dede", ""),
            (),
            (),
        )
        for one in range(number)
    ]
    plan = Plan(None, "slow", "", tuple(tasks), (), {}, {})
    made = []
    assert seconds_for(lambda: made.append(plan.waves(tasks)), limit=_SECONDS) < _SECONDS
    assert len(made[0]) == (1 if number == 20_000 else 2_000)


@pytest.mark.parametrize(
    "pattern",
    ["src/" + "*a" * 30 + "*b", "**/a/" * 60 + "b", "src/" + "a?*" * 100 + "b", "**/" * 160 + "b"],
    ids=["stars", "folders", "letters", "stars alone"],
)
@pytest.mark.parametrize("deny", [False, True], ids=["allow", "deny"])
def test_a_pattern_of_a_scope_is_held_against_a_path_in_linear_time(pattern, deny):
    """A pattern with many `*` does not try each place for each of them; it took hours for one path."""
    scope = Scope("dede", ("src/",), (pattern,)) if deny else Scope("dede", (pattern,))
    paths = [b"src/" + b"a" * 120 + b".py", b"src/" + b"a/" * 120 + b"a.py"]
    made = []
    seconds = seconds_for(lambda: made.extend(map(scope.fault, paths)), limit=_SECONDS)
    assert seconds < _SECONDS
    assert all("outside of" in fault or deny for fault in made)


def test_a_scope_with_very_many_patterns_is_refused(tmp_path):
    """Each path that a task names is held against all of them."""
    for kind in ("allow", "deny"):
        patterns = [f"src/{number}" for number in range(51)]
        (tmp_path / "kr.yaml").write_text(json.dumps({"dispatch": {"scopes": {"dede": {kind: patterns}}}}))
        with pytest.raises(
            ConfigError, match=rf"`dispatch.scopes.dede.{kind}` is a list; it has more than 50 patterns"
        ):
            load(tmp_path)
