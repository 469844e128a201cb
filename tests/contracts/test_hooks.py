"""Derived from the list of hooks: a hook that lacks one of its parts fails here."""

import ast
import importlib
import re
import tomllib
from pathlib import Path

import pytest

import kr_core
from kr_core import testing
from kr_core.hookspecs import NOUNS, STAGE_HOOKS

ROOT = Path(__file__).parents[2]
ENTRY_POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["kr"]

pytestmark = pytest.mark.req("P1", "P4")


@pytest.mark.parametrize("noun", NOUNS)
def test_it_has_a_heading_in_the_reference(noun):
    """The page about plugins describes the hook under its noun."""
    page = (ROOT / "docs/reference/plugins.md").read_text("utf-8")
    assert re.search(rf"^## {noun}$", page, re.MULTILINE), (
        f"docs/reference/plugins.md: write a section `## {noun}`"
    )


@pytest.mark.parametrize("noun", NOUNS)
def test_it_has_a_protocol(noun):
    """What the hook provides is a protocol among the public names."""
    assert getattr(getattr(kr_core.plugin, noun.capitalize(), None), "_is_protocol", False), (
        f"kr_core.plugin exports no protocol {noun.capitalize()}"
    )


@pytest.mark.parametrize("noun", NOUNS)
def test_it_has_a_contract(noun):
    """Plugins of the kind can be tested with a contract class of their own."""
    name = f"{noun.capitalize()}Contract"
    contract = getattr(testing, name, None)
    assert contract is not None, f"kr_core.testing has no {name}"
    assert contract.noun == noun
    own = [test for test in vars(contract) if test.startswith("test_")]
    assert own, f"{name} tests nothing but what every plugin keeps to"


@pytest.mark.parametrize("noun", NOUNS)
def test_it_has_a_first_party_user_that_keeps_to_the_contract(noun):
    """A plugin that comes with KR implements the hook, and stands in test_first_party.py."""
    users = {
        module for module in ENTRY_POINTS.values() if hasattr(importlib.import_module(module), NOUNS[noun])
    }
    assert users, f"no entry point of KR's own implements {NOUNS[noun]}"
    lacking = users - modules_with(f"{noun.capitalize()}Contract")
    assert not lacking, (
        f"test_first_party.py: write a {noun.capitalize()}Contract for {', '.join(sorted(lacking))}"
    )


def modules_with(contract):
    """The modules that have this contract in test_first_party.py."""
    tree = ast.parse((Path(__file__).parent / "test_first_party.py").read_text("utf-8"))
    return {
        line.value.value
        for klass in tree.body
        if isinstance(klass, ast.ClassDef) and [ast.unparse(base) for base in klass.bases] == [contract]
        for line in klass.body
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "module"
    }


def test_every_entry_point_is_tried():
    """No plugin that comes with KR goes without a contract."""
    untried = set(ENTRY_POINTS.values()) - set().union(
        modules_with("HookContract"), *(modules_with(f"{noun.capitalize()}Contract") for noun in NOUNS)
    )
    assert not untried


@pytest.mark.parametrize("hook", STAGE_HOOKS)
def test_a_hook_around_a_stage_is_described_and_shown(hook):
    """Each has its place in the reference, and the how-to shows when it is called."""
    page = (ROOT / "docs/reference/plugins.md").read_text("utf-8")
    assert f"<!-- made:{hook} -->" in page, f"docs/reference/plugins.md: write <!-- made:{hook} -->"
    assert f"`{hook}" in (ROOT / "docs/how-to/add-to-a-stage.md").read_text("utf-8")


def test_a_first_party_plugin_adds_to_a_stage():
    """KR's own plugin uses the same door."""
    modules = [importlib.import_module(module) for module in ENTRY_POINTS.values()]
    assert any(hasattr(module, hook) for module in modules for hook in STAGE_HOOKS)
