"""Signatures that a package wrote to keep KR busy: a call form names a few of their parameters, and nothing hangs."""

from __future__ import annotations

import pytest
from support.projects import install, make_environment
from support.regexes import at_most

from kr_core.evidence.summary import compose
from kr_core.model import Finding, Outcome, Passage, ResearchQuery
from kr_plugins.sources.installed_docs.node.declarations_parser import read as read_declarations
from kr_plugins.sources.installed_docs.python.module_parser import read_module

pytestmark = pytest.mark.req("Z8")

_MANY = 20_000
_PATIENCE_SECONDS = 60
"""Of processor time: far more than any of them takes; before, they took minutes or hours."""


def test_a_call_form_of_twenty_thousand_parameters_is_composed_in_time() -> None:
    """The call form names the first parameters and leaves the rest to the signature."""
    names = [f"a{number}" for number in range(_MANY)]
    signature = f"def foo({', '.join(names)}) -> None:"
    passage = Passage(
        text=signature, url="pkg:pypi/box@1.0", locator="box.py:1", title="box.foo", kind="symbol", what="function",
        symbol="box.foo", signature=signature, required=tuple(names), parameters=tuple((name, None) for name in names),
        coverage=0.9, official=True, version="1.0",
    )  # fmt: skip
    query = ResearchQuery(
        framework="box",
        framework_version="1.0",
        topic="foo",
        tags=("foo",),
        question="How do I call foo of box?",
    )
    finding = Finding(outcome=Outcome.ok, passages=(passage,), url=passage.url, version="1.0")
    with at_most(_PATIENCE_SECONDS):
        draft = compose(query, [("installed_docs", finding)])
    assert draft.summary[0].text.startswith("`box.foo(a0, a1, ")
    assert ", ...)`" in draft.summary[0].text
    assert len(draft.summary[0].slots) < 100


def test_no_more_than_a_thousand_parameters_of_a_signature_are_read(tmp_path) -> None:
    """Further parameters of a Python or TypeScript function stand in the text of the signature alone."""
    site = make_environment(tmp_path)
    names = ", ".join(f"a{number}=0" for number in range(_MANY))
    install(site, "box", "1.0", {"box.py": f"def foo({names}): ...\n"})
    with at_most(_PATIENCE_SECONDS):
        module = read_module(next(site.rglob("box.py")), "box", "box.py")
        typed = ", ".join(f"a{number}: string" for number in range(_MANY))
        declared = read_declarations(f"export declare function foo({typed}): void;\n")
    assert len(module.definitions["foo"].parameters) == 1000
    assert len(declared.declarations["foo"][0].parameters) == 1000


def test_no_more_than_ten_thousand_definitions_of_a_file_are_read(tmp_path) -> None:
    """A generated file of short functions costs no more than the first ten thousand."""
    site = make_environment(tmp_path)
    functions = "".join(f"def f{number}(a, b): ...\n" for number in range(20_000))
    install(site, "box", "1.0", {"box.py": functions})
    with at_most(_PATIENCE_SECONDS):
        module = read_module(next(site.rglob("box.py")), "box", "box.py")
    assert len(module.definitions) == 10_000
    assert "f9999" in module.definitions
