"""The names of the roster: each means one thing, however it is written."""

import pytest

from kr_core.config import load
from kr_core.errors import ConfigError


@pytest.mark.parametrize(
    ("agents", "line", "told"),
    [
        ("  HUMAN: {role: x}\n", 2, "cannot be called `HUMAN`, which is a person"),
        ("  Duc: {role: x}\n", 2, "cannot be called `Duc`, which is the agent `duc`"),
        ("  ada: {role: x}\n  Ada: {role: y}\n", 3, "cannot be called `Ada`, which is the agent `ada`"),
        ("  Architect: {role: x}\n", 2, "cannot be called `Architect`, which is a role"),
        ("  ada:\n    role: human\n", 3, "cannot be `human`, which is a person"),
        ("  ada:\n    role: Marie\n", 3, "cannot be `Marie`, which is an agent"),
        ("  ada: {role: ada}\n", 2, "cannot be called `ada`, which is a role"),
    ],
)
@pytest.mark.req("Q4", "Q11")
def test_a_name_that_means_two_things_is_refused(tmp_path, agents, line, told):
    """Askers write names in any case of letters, so these are compared without."""
    (tmp_path / "kr.yaml").write_text(f"agents:\n{agents}")
    with pytest.raises(ConfigError, match=rf"kr\.yaml:{line}: ") as caught:
        load(tmp_path, environ={})
    assert told in str(caught.value)


@pytest.mark.req("Q4")
def test_an_agent_may_share_a_role(tmp_path):
    """Two agents of one role are two agents; the first is who the role means."""
    (tmp_path / "kr.yaml").write_text("agents:\n  ada: {role: architect}\n  duc: {role: architect}\n")
    config = load(tmp_path, environ={})
    assert config.routing.agent_of("architect") == "duc"
