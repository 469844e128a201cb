"""What the prompt tells Claude of a task."""

import pytest

from kr_plugins.agents.claude_task import prompt

ORDER = {
    "id": "T001", "feature": "001-x", "role": "dede", "title": "Implement src/a.py", "criteria": [], "paths": [], "related": [],
}  # fmt: skip


@pytest.mark.req("X2")
def test_claude_is_told_when_to_reach_outside_of_its_scope():
    """Only where the task cannot be done else; who may write nothing is not."""
    said = prompt({**ORDER, "scope": {"allow": ["src/"], "deny": []}, "granted": ["pyproject.toml"]})
    assert "You may change only what lies here:\n- src/\n- pyproject.toml" in said
    assert "If the task cannot be done without one, make that change too, and no other outside;" in said
    assert "cannot be done" not in prompt({**ORDER, "role": "degaulle", "scope": {"allow": [], "deny": []}})
