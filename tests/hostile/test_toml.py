"""TOML and lists of an unknown author: keys of very many parts, names without end."""

from __future__ import annotations

import pytest
from support.clones import FLAT, kr, make_clone

from kr_core.toml_text import LongKeyError, load_toml

pytestmark = pytest.mark.req("Z8")
LONG = ".".join(["a"] * 60_000)


@pytest.fixture
def clone(tmp_path):
    """A project without a configuration."""
    make_clone(tmp_path / "clone")
    return tmp_path / "clone"


@pytest.mark.parametrize("text", [f"{LONG} = 1", f"[{LONG}]", f"x = {{{LONG} = 1}}", "'a'." * 200 + "b = 1"])
def test_a_key_of_very_many_parts_is_refused_with_its_line(text):
    """Reading it would take time and memory by the square of its parts."""
    with pytest.raises(LongKeyError) as caught:
        load_toml(f"# first\n{text}\n")
    assert caught.value.line == 2


def test_keys_as_people_write_them_are_read():
    """A table of a tool has a few parts."""
    text = f'[tool.a."b.c".d]\ne.f = "{"x." * 50}"\n'
    assert load_toml(text)["tool"]["a"]["b.c"]["d"]["e"]["f"].startswith("x.x.")


def test_a_project_file_of_such_keys_is_an_error_at_once(clone):
    """`kr versions` says which line it is, and memory stays flat."""
    (clone / "pyproject.toml").write_text(f"[tool.kr]\n[tool.other]\n{LONG} = 1\n")
    done = kr(clone, "versions")
    assert "pyproject.toml:3: a key of more than sixty parts" in done.err
    assert done.memory < FLAT


def test_very_many_names_are_refused(clone):
    """A list of sources has a few names."""
    names = ", ".join(f"s{number}" for number in range(6_000))
    (clone / "kr.yaml").write_text(f"knowledge_research: {{sources: [{names}]}}\n")
    done = kr(clone, "versions")
    assert done.code == 2
    assert "more than 100 names" in done.err
