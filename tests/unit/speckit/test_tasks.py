"""The tasks of spec-kit's tasks.md: the grammar, what real files make of it, and the one character that KR changes."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.speckit.task_file import look_alike, read_tasks, with_mark
from kr_core.speckit.task_paths import paths_in

pytestmark = pytest.mark.req("X1")

REAL = Path(__file__).resolve().parents[4] / "shared/data/speckit"
STRICT = re.compile(r"- \[([ xX])\] (T\d{3,})( \[P\])?(?: \[(US\d+)\])? (?!\[(?:P|US\d+)\])(.+)$")
BOX = re.compile(r"[ \t]*[-*+][ \t]+\[.\]")
FILE = """\
---
description: "x"
---

# Tasks: Sessions

## Phase 1: Setup (Shared Infrastructure)

- [ ] T001 Create project structure per implementation plan
- [x] T002 [P] Configure linting in pyproject.toml

## Phase 3: User Story 1 - Sign in (Priority: P1) 🎯 MVP

**Independent Test**: Sign in and out.

### Tests for User Story 1

- [ ] T010 [P] [US1] Contract test for POST /login in tests/contract/test_login.py

### Implementation for User Story 1

- [ ] T011 [US1] Implement `login` in src/auth/login.py (depends on T010)
  - keep the session for an hour

## Dependencies & Execution Order

- T011 depends on T001

```text
- [ ] T099 [P] quoted
```
"""


def codes(text):
    return [(one.line, one.code) for one in read_tasks(text).diagnostics]


def test_the_tasks_of_a_file_have_all_that_it_says_of_them():
    """Phase, heading, story, paths, lines below, and whom each waits for."""
    first, second, third, fourth = read_tasks(FILE).tasks
    assert (first.id, first.done, first.phase, first.paths) == (
        "T001",
        False,
        "Phase 1: Setup (Shared Infrastructure)",
        (),
    )
    assert (second.done, second.parallel, second.paths) == (True, True, ("pyproject.toml",))
    assert (third.story, third.section, third.paths) == (
        "US1",
        "Tests for User Story 1",
        ("tests/contract/test_login.py",),
    )
    assert fourth.notes == ("- keep the session for an hour",)
    assert fourth.depends_on == ("T010", "T001")
    assert read_tasks(FILE).independent_tests == {third.phase: "Sign in and out."}
    assert codes(FILE) == [(9, "no-path"), (30, "quoted")]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("- [ ] a checkbox", "no-id"),
        ("- [ ] [TASK] Do a.py", "no-id"),
        ("- [P] tasks run at once", "bad-mark"),
        ("- [-] T001 Do src/a.py", "bad-mark"),
        ("- [ ] ~~T001 Do src/a.py~~", "struck"),
        ("- [ ] T030.2~T030.6: Do src/a.py", "odd-id"),
        ("### T001: Do src/a.py", "heading-task"),
        ("<!-- - [ ] T001 Do src/a.py -->", None),
        ("    - [ ] T001 indented code", "quoted"),
        ("| T003 | a row |", None),
        ("1. [ ] T001 Do src/a.py", None),
        ("T001 Do src/a.py", None),
    ],
)
def test_what_is_no_task_becomes_none(line, code):
    """A near miss is a diagnostic with its line."""
    file = read_tasks(f"# Tasks\n\n{line}\n")
    assert file.tasks == ()
    assert [one.code for one in file.diagnostics] == ([] if code is None else [code])


@pytest.mark.parametrize(
    ("line", "id_", "code"),
    [
        ("- [ ] T010a Do src/a.py", "T010a", "odd-id"),
        ("- [ ] T007.1 Do src/a.py", "T007.1", "odd-id"),
        ("- [ ] T00 Do src/a.py", "T00", "odd-id"),
        ("- [ ] **T001** Do src/a.py", "T001", "odd-form"),
        ("- [ ] **T001**: Do src/a.py", "T001", "odd-form"),
        ("* [ ] T001 Do src/a.py", "T001", "odd-form"),
        (" - [ ] T001 Do src/a.py", "T001", "odd-form"),
        ("- [ ] T001: Do src/a.py", "T001", "odd-form"),
        ("- [ ] T001 [US1.5] Do src/a.py", "T001", None),
        ("- [ ] T001 [SEQUENTIAL] Do src/a.py", "T001", "unknown-label"),
        ("- [ ] T001 [EXECUTOR: architect] Do src/a.py", "T001", "unknown-label"),
        ("- [ ] T001 [link](src/b.md) in src/a.py", "T001", None),
        ("- [ ] T001 ~~Do src/a.py~~", "T001", "struck"),
    ],
)
def test_an_odd_task_is_read_and_reported(line, id_, code):
    """With its id as the file has it."""
    (task,) = read_tasks(line).tasks
    assert (task.id, task.paths) == (id_, ("src/a.py",))
    assert [one.code for one in read_tasks(line).diagnostics] == ([] if code is None else [code])


def test_labels_are_read_in_any_order():
    """Two stories are both named."""
    text = "- [ ] T001 [US2] [P] a\n- [ ] T002 [US1+US2] b\n- [ ] T003 [US1] [US3] c\n- [ ] T004 [US1/2] d\n"
    assert [(one.parallel, one.story) for one in read_tasks(text).tasks] == [
        (True, "US2"), (False, "US1+US2"), (False, "US1+US3"), (False, "US1+US2"),
    ]  # fmt: skip


def test_the_older_template_is_read():
    """Its phases are `Phase 3.1`, and no task has a story."""
    text = "# Tasks\n## Phase 3.1: Setup\n- [ ] T001 Make src/a.py\n## Phase 3.2: Tests First (TDD)\n- [ ] T002 [P] Test in tests/b.py\n"
    assert [one.phase for one in read_tasks(text).tasks] == [
        "Phase 3.1: Setup",
        "Phase 3.2: Tests First (TDD)",
    ]


def test_ids_that_stand_twice_and_needs_that_are_not_there_are_reported():
    """The second of two, and the one that waits for nobody."""
    text = "- [ ] T001 src/a.py\n- [ ] T001 src/b.py\n- [ ] T002 src/c.py (depends on T009)\n"
    assert codes(text) == [(2, "dup-id"), (3, "unknown-dependency")]


def test_a_range_of_tasks_is_waited_for_whole():
    """`T001-T003` names all of them."""
    text = (
        "".join(f"- [ ] T00{n} src/{n}.py\n" for n in (1, 2, 3))
        + "- [ ] T004 src/d.py, depends on T001-T003\n"
    )
    assert read_tasks(text).tasks[-1].depends_on == ("T001", "T002", "T003")


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Create `src/a.py` and src/b/c.ts.", ["src/a.py", "src/b/c.ts"]),
        (
            "初始化 `frontend/Dockerfile`、`backend/.env.example`",
            ["frontend/Dockerfile", "backend/.env.example"],
        ),
        ("POST /api/v1/login returns application/json with Node.js and and/or CI/CD", []),
        ("See https://example.org/src/a.py", []),
        ("Add httpx>=0.28 to pyproject.toml", ["pyproject.toml"]),
        ("Fix src/a.py:42", ["src/a.py"]),
        ("Never ../secret.py", []),
        ("In `k8s/` and `./src/x.py`", ["k8s/", "src/x.py"]),
        ("Page in app/(dashboard)/templates/page.tsx", []),
        ("with .onHover modifier", []),
    ],
)
def test_paths_are_those_that_a_description_names(text, paths):
    """Not URLs, routes, types of media, or products."""
    if paths:
        assert list(paths_in(text)) == paths
    else:
        assert not any(path.startswith(("src", "app/(", "/", "..", ".on")) for path in paths_in(text))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"tasks": []}', "JSON"),
        ("# Plan\n\n- [ ] 1. Set up\n  - [ ] 1.1 Make it\n", "numbers"),
        ("# TODO\n- [ ] buy milk\n", "without ids"),
        ("### T001: Do it\n", "headings"),
        ("# Tasks\n", "without tasks"),
        ("", "without tasks"),
        (FILE, ""),
    ],
)
def test_files_of_other_tools_are_told_apart(text, what):
    """A file with one task of spec-kit is spec-kit's."""
    said = look_alike(text, read_tasks(text))
    assert what in said if what else said == ""


def test_one_character_changes():
    """With the ends of lines, the mark of the byte order and all that is odd as they were."""
    text = "\ufeff- [ ] T001 a\r\n\t- [ ] T002 b \x00\r- [ ] \n\n- [ ] T001 c"
    first, *_others, last = read_tasks(text).tasks
    assert with_mark(text, first) == text.replace("[ ] T001 a", "[X] T001 a")
    assert with_mark(text, last) == text.replace("[ ] T001 c", "[X] T001 c")
    with pytest.raises(ValueError, match="not the task T001"):
        with_mark("- [ ] T002 a\n", first._replace(column=3))
    with pytest.raises(ValueError, match="fewer lines"):
        with_mark("\n", last)


@given(st.lists(st.text(alphabet="- []xXTP0123\t\n\r*~`#:.a/|<!>", max_size=40)))
def test_no_file_raises_and_all_else_stays(lines):
    """Whatever the lines are, a changed mark changes that character."""
    text = "\n".join(lines)
    for task in read_tasks(text).tasks:
        changed = with_mark(text, task, "#")
        assert len(changed) == len(text)
        assert [n for n, (a, b) in enumerate(zip(text, changed, strict=True)) if a != b] != []
        assert sum(a != b for a, b in zip(text, changed, strict=True)) == 1


@pytest.mark.skipif(not REAL.is_dir(), reason="the real files lie beside the project")
def test_real_files_are_read_whole():
    """Each task of the strict grammar is one, each other checkbox is reported, and the rest of the file stays."""
    seen = right = 0
    for file in sorted(REAL.glob("*/*.tasks.md")):
        text = file.read_bytes().decode()
        read = read_tasks(text)
        tasks = {task.line: task for task in read.tasks}
        odd = {one.line for one in read.diagnostics}
        for number, line in enumerate(text.split("\n"), 1):
            if strict := STRICT.match(line.rstrip("\r")):
                task = tasks.get(number)
                seen += 1
                right += task is not None and (task.id, task.parallel, task.done) == (
                    strict[2],
                    bool(strict[3]),
                    strict[1] != " ",
                )
            elif BOX.match(line):
                assert number in odd or number in tasks, (file.name, number, line)
        lines = text.split("\n")
        for task in read.tasks:
            place = task.line - 1
            assert BOX.match(lines[place]), (file.name, task)
            changed = with_mark(text, task, "#").split("\n")
            assert (changed[:place], changed[place + 1 :]) == (lines[:place], lines[place + 1 :])
            assert sum(a != b for a, b in zip(lines[place], changed[place], strict=True)) == 1
    assert seen > 3000
    assert right >= 0.99 * seen
