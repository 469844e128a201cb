"""What `kr doctor` finds out about the installation."""

import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from kr_core.cli.doctor import missing_extras

REQUIRED = [Requirement(text) for text in distribution("kr-core").requires]


@pytest.mark.req("P7")
def test_extras_of_which_a_package_is_missing_are_named():
    """What KR's own metadata asks for with an extra decides; where all of it is there, nothing is offered."""
    assert missing_extras(REQUIRED, lambda _name: True) == []
    assert missing_extras(REQUIRED, lambda name: name not in {"mcp", "uvicorn"}) == ["mcp", "serve"]


@pytest.mark.req("P7")
def test_every_extra_that_users_need_is_offered():
    """A new extra is told of, too; `all` is those, and `testing` is for authors of plugins."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    offered = missing_extras(REQUIRED, lambda _name: False)
    assert set(offered) == set(project["optional-dependencies"]) - {"all", "testing"}
