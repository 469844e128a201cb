"""`kr dispatch plan`: who would do what, why, and what is odd about the file."""

import json

import pytest

from kr_core.dispatch.roles import suggested

TASKS = """\
# Tasks: Sessions

## Phase 1: Setup

- [ ] T001 Decide what to do
- [x] T002 Add k8s/deployment.yaml

## Phase 2: User Story 1 - Sign in

### Tests for User Story 1

- [ ] T003 [P] [US1] Contract test in tests/test_login.py

### Implementation for User Story 1

- [ ] T004 [P] [US1] Implement login in src/login.py
- [ ] T005 [US1] Change src/login.py and tests/test_login.py
- [ ] T006 [US1] Review the changes
- [ ] T007 Deploy Grafana Alloy
- [ ] T008 Write pyproject.toml and src/b.py
- [ ] something
"""


@pytest.fixture
def feature(project_folder):
    folder = project_folder / "specs/001-sessions"
    folder.mkdir(parents=True)
    (folder / "tasks.md").write_text(TASKS)
    return folder


@pytest.mark.req("X1")
def test_a_plan_says_who_would_do_what(kr_here, feature):
    """In the published form: tests for marie, code for dede, infrastructure for gustave, review for degaulle, the rest for a human."""
    done = kr_here("dispatch", "plan", "specs/001-sessions/tasks.md", "--json")
    plan = json.loads(done.out)
    assert done.code == 0
    assert {one["id"]: one["role"] for one in plan["tasks"]} == {
        "T001": "human", "T002": "gustave", "T003": "marie", "T004": "dede", "T005": "human", "T006": "degaulle",
        "T007": "gustave", "T008": "dede",
    }  # fmt: skip
    assert plan["tasks"][2] == {
        "id": "T003",
        "title": "Contract test in tests/test_login.py",
        "role": "marie",
        "phase": "Phase 2: User Story 1 - Sign in",
        "story": "US1",
        "parallel": True,
        "paths": ["tests/test_login.py"],
        "done": False,
        "reason": "`tests/test_login.py` lies in marie's scope",
    }
    assert {"line": 21, "code": "no-id", "message": "has no id, so it is not a task"} in plan["diagnostics"]
    assert [one["code"] for one in plan["diagnostics"] if one["line"] == 20] == ["outside-scope"]


@pytest.mark.req("X5")
@pytest.mark.parametrize(
    ("kind", "role"), [("Infra/DevOps", "human"), ("Full Stack", "dede"), ("Config Update", "human")]
)
def test_the_type_of_a_feature_says_who_takes_part(kr_here, feature, kind, role):
    """A feature of infrastructure has no developer."""
    (feature / "tasks.md").write_text(f"**Feature Type**: {kind}\n{TASKS}")
    plan = json.loads(kr_here("dispatch", "plan", "specs/001-sessions/tasks.md", "--json").out)
    assert plan["tasks"][3]["role"] == role


@pytest.mark.req("X2")
def test_the_configured_scopes_decide(kr_here, feature, project_folder):
    """A path that one role alone may write is that role's."""
    (project_folder / "kr.yaml").write_text(
        "dispatch:\n  scopes:\n    gustave:\n      allow: [src/]\n    dede:\n      deny: [src/login.py]\n"
    )
    plan = json.loads(kr_here("dispatch", "plan", "specs/001-sessions/tasks.md", "--json").out)
    assert plan["tasks"][3]["role"] == "gustave"


@pytest.mark.req("X2")
def test_scopes_are_suggested_from_the_plans_tree(kr_here, feature):
    """They are shown, and not in force."""
    (feature / "plan.md").write_text("## Source Code\n\n```text\nbackend/\n├── app/\n└── tests/\n```\n")
    said = kr_here("dispatch", "plan", "specs/001-sessions/tasks.md").out
    assert "allow: [backend/app/]" in said
    assert "allow: [backend/tests/]" in said
    assert suggested(("backend/", "backend/app/", "backend/tests/", "helm/")) == {
        "marie": ("backend/tests/",), "dede": ("backend/app/",), "gustave": ("helm/",),
    }  # fmt: skip


@pytest.mark.req("X1")
@pytest.mark.parametrize("text", ["- [ ] 1. Set up\n", "{}", "", "\ufffd".encode("utf-16").decode("latin-1")])
def test_a_file_of_another_tool_is_refused_politely(kr_here, feature, text):
    """With what KR reads, and exit code 2."""
    (feature / "tasks.md").write_bytes(text.encode("latin-1", "replace"))
    done = kr_here("dispatch", "plan", "specs/001-sessions/tasks.md")
    assert done.code == 2
    assert "tasks.md: is " in done.err
    assert "Traceback" not in done.err


def test_a_missing_file_is_named(kr_here):
    """And what to do."""
    done = kr_here("dispatch", "plan", "none.md")
    assert (done.code, "none.md: No such file" in done.err) == (2, True)


def test_an_unknown_role_in_the_configuration_is_refused(kr_here, feature, project_folder):
    """With its line."""
    (project_folder / "kr.yaml").write_text("dispatch:\n  scopes:\n    deda:\n      allow: [src/]\n")
    done = kr_here("dispatch", "plan", "specs/001-sessions/tasks.md")
    assert done.code == 2
    assert "kr.yaml:3" in done.err
