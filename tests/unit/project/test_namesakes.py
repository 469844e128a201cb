"""Whose package a name means where several packages have it, or say so."""

from __future__ import annotations

import json

import pytest


def lay_modules(folder, **versions):
    """Packages in a `node_modules`, with their versions."""
    for name, version in versions.items():
        package = folder / "node_modules" / name / "package.json"
        package.parent.mkdir(parents=True)
        package.write_text(json.dumps({"name": name, "version": version}))


ASKED = '[project]\nname = "p"\ndependencies = ["redis==5.0.1", "PyYAML", "sqlalchemy"]\n'


@pytest.mark.req("K9", "Z8")
@pytest.mark.parametrize("environment", ["none", "empty", "below"])
def test_a_dependency_in_node_modules_is_not_what_the_part_of_python_asks_for(
    tmp_path, make_environment, project, environment
):
    """Anybody may give a package of npm the name of one of Python, and make it a dependency of a dependency."""
    (tmp_path / "pyproject.toml").write_text(ASKED)
    (tmp_path / "requirements.txt").write_text("requests==2.31.0\n")
    (tmp_path / "package.json").write_text('{"dependencies": {"app": "^1"}}')
    folder = tmp_path / "web"
    folder.mkdir()
    hostile = {"redis": "99.0.0", "requests": "66.6.6", "yaml": "2.4.0", "sqlalchemy.orm": "9.9.9"}
    lay_modules(folder if environment == "below" else tmp_path, app="1.0.0", other="1.0.0", **hostile)
    if environment != "none":
        make_environment(tmp_path / ".venv", {"redis": "5.0.1"} if environment == "below" else {})
    opened = project("web" if environment == "below" else ".")
    assert opened.version_of("redis")[0] in {"5.0.1", "==5.0.1"}
    assert opened.version_of("Requests") == ("2.31.0", "requirements.txt")
    assert [opened.version_of(name) for name in ("yaml", "sqlalchemy.orm")] == [None, None]
    assert [opened.module(name) for name in hostile] == [None] * 4
    assert {opened.module(name).version for name in ("app", "other")} == {"1.0.0"}


@pytest.mark.req("K9")
@pytest.mark.parametrize("asked", ["^4", "npm:redis-fork@^4"])
def test_a_package_of_node_that_the_project_asks_for_stays_beside_one_of_python(tmp_path, project, asked):
    """Also by an alias, and in a folder below; a note says that the part of Python asks for one too."""
    (tmp_path / "pyproject.toml").write_text(ASKED)
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "package.json").write_text(
        json.dumps({"dependencies": {"redis": asked, "vue": "^3"}})
    )
    lay_modules(tmp_path / "web", redis="4.6.0", vue="3.5.0")
    opened = project("web")
    assert opened.version_of("redis") == ("4.6.0", "web/node_modules")
    assert opened.disagreement("redis") == (
        "redis is taken for the package of Node in web/node_modules; "
        "pyproject.toml asks for a package of Python by this name"
    )
    assert opened.disagreement("vue") is None
