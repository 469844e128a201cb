"""What plugins and programs may build on: the names of three doors, and nothing below them."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from kr_core._door import names_of

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "plugins"
DOORS = ("kr_core", "kr_core.plugin", "kr_core.toolkit")
SHARED = {"Finding", "Outcome", "Passage", "Provider", "Settings", "Source", "hookimpl"}
"""What a source of one module needs; an embedder and an author each find it at their own door."""
LIMIT = 50
"""How many names a program that embeds KR has to choose from."""
NAMES = [(door, name) for door in DOORS for name in sorted(names_of(import_module(door).__name__))]


@pytest.mark.req("P1")
def test_a_name_is_at_one_door():
    """Only what a source of one module needs is at two doors, and the first door stays small."""
    core, plugin, toolkit = (set(names_of(door)) for door in DOORS)
    assert core & plugin == SHARED
    assert not (core | plugin) & toolkit
    assert "Pipeline" in core
    assert len(core) <= LIMIT


@pytest.mark.req("P1")
def test_every_protocol_is_for_authors():
    """Each Protocol of the contract, the optional ones too, is at the door for authors."""
    protocols = import_module("kr_core.protocols")
    wanted = {name for name in protocols.__all__ if getattr(getattr(protocols, name), "_is_protocol", False)}
    assert wanted <= set(names_of("kr_core.plugin"))


@pytest.mark.parametrize("door", DOORS)
def test_the_list_for_type_checkers_is_the_list(door):
    """What the door has at run time is what type checkers read in it, each once, and sorted by home."""
    tree = ast.parse(Path(import_module(door).__file__).read_text("utf-8"))
    (block,) = [
        node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    seen = {}
    for node in block.body:
        if isinstance(node, ast.ImportFrom):
            (alias,) = node.names
            assert alias.asname not in seen
            seen[alias.asname] = (node.module, alias.name)
        else:
            (name,) = node.targets
            seen[name.id] = seen.pop(node.value.id)
    assert seen == names_of(door)


@pytest.mark.parametrize(("door", "name"), NAMES)
def test_each_name_is_what_lives_at_its_home(door, name):
    """A name is the same thing at the door as at home, and `dir` and `__all__` have it."""
    home, real = names_of(door)[name]
    at_home = import_module(f"kr_core.{real}") if home == "kr_core" else getattr(import_module(home), real)
    module = import_module(door)
    assert getattr(module, name) is at_home
    assert name in dir(module)
    assert name in module.__all__


@pytest.mark.parametrize("door", DOORS)
def test_a_name_that_is_not_there(door):
    """Any other name is an AttributeError as in every module."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = import_module(door).nothing


def test_all_names_of_a_door_at_once():
    """`from kr_core.toolkit import *` brings all of its names."""
    names = {}
    exec("from kr_core.toolkit import *", names)
    assert set(names_of("kr_core.toolkit")) <= set(names)


@pytest.mark.parametrize("door", DOORS)
def test_importing_a_door_imports_nothing_else(door):
    """`import kr_core` loads no other module of KR and none of its dependencies; the other doors only `kr_core` before."""
    code = f"import sys; before = set(sys.modules); import {door}; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == f"{sorted({'kr_core', door})}\n"


@pytest.mark.req("P1")
def test_type_checkers_know_every_name_and_no_other(tmp_path):
    """mypy in its strict mode finds each name of each door, and reports one that is not there."""
    file = tmp_path / "embedder.py"
    lines = [f"from {door} import {name} as _{number}" for number, (door, name) in enumerate(NAMES)]
    file.write_text(
        "\n".join([*lines, "import kr_core", "kr_core.plugin.Job", "from kr_core import Nothing", ""])
    )
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        "",
        "--follow-imports",
        "silent",
        "--cache-dir",  # in the cache of `make check` these options and those of the project void each other's results
        str(ROOT / ".mypy_cache" / "doors"),
        str(file),
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    (fault, total) = done.stdout.splitlines()
    assert 'has no attribute "Nothing"' in fault, done.stdout
    assert total.startswith("Found 1 error")


@pytest.mark.req("P1")
@pytest.mark.parametrize(
    "file", sorted(PLUGINS.rglob("*.py")), ids=lambda file: str(file.relative_to(PLUGINS))
)
def test_plugins_use_the_public_doors_only(file):
    """No plugin of ours imports a module of the core: what it needs, a stranger's plugin may need too."""
    inner = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            inner += [alias.name for alias in node.names if alias.name.startswith("kr_core.")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kr_core":
            known = names_of(node.module) if node.module in DOORS else {}
            inner += [f"{node.module}.{alias.name}" for alias in node.names if alias.name not in known]
    assert inner == []
