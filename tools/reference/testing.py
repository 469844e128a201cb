"""The page about `kr_core.testing`, made from the contracts themselves."""

from __future__ import annotations

import enum
import inspect
from typing import TYPE_CHECKING, Any

import kr_core.testing
from kr_core._door import names_of

from .reading import Class, Method, markdown, read_class

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["testing_page"]


def testing_page() -> str:
    """A section for each public name; of a contract, all that it tests."""
    found = {name: getattr(kr_core.testing, name) for name in names_of("kr_core.testing")}
    contracts = sorted(name for name in found if name.endswith("Contract"))
    contracts.sort(key=lambda name: name != "PluginContract")  # what all have in common first
    others = sorted(set(found) - set(contracts))
    sections = [_contract(name, found[name]) for name in contracts]
    sections += ["## Faults on purpose", *(_other(name, found[name]) for name in others)]
    return "\n\n".join([_HEAD.rstrip(), *sections]) + "\n"


def _contract(name: str, contract: Any) -> str:
    """A contract, and after it what the parts that it is made of test."""
    found = read_class(contract)
    public = [getattr(kr_core.testing, name) for name in names_of("kr_core.testing")]
    parts = [base for base in contract.__mro__[1:-1] if base not in public]
    given = [method for cls in (contract, *parts) for method in _methods(cls)]
    said = [f"## {name}", markdown(found.text)]
    said += [f"```pyi\n{method.signature}\n```\n\n{markdown(method.text)}" for method in given]
    said += [*_tests(contract)]
    for part in parts:
        said += [text for table in _tests(part) for text in (markdown(read_class(part).text), table)]
    return "\n\n".join(said)


def _methods(contract: Any) -> list[Method]:
    """What a contract's user may call or override."""
    return [
        method
        for method in read_class(contract).methods
        if not method.name.startswith("test_") and inspect.isfunction(vars(contract)[method.name])
    ]


def _tests(contract: Any) -> Iterator[str]:
    """The table of a class's tests, if it has any."""
    tests = [method for method in read_class(contract).methods if method.name.startswith("test_")]
    if tests:
        rows = [_row(test.name, test.text) for test in tests]
        yield "\n".join(["| test | what holds |", "|---|---|", *rows])


def _row(name: str, text: str) -> str:
    said = " ".join(text.split()).replace("|", "\\|")
    return f"| `{name}` | {said} |"


def _other(name: str, cls: Any) -> str:
    found = read_class(cls)
    made = f"```pyi\n{found.made_by}\n```" if found.made_by else ""
    rows = _faults(found) if issubclass(cls, enum.Enum) else ""
    return "\n\n".join(part for part in (f"### {name}", made, markdown(found.text), rows) if part)


def _faults(found: Class) -> str:
    rows = [_row(one.name, one.text) for one in found.attributes]
    return "\n".join(["| fault | |", "|---|---|", *rows])


_HEAD = """\
# Testing a plugin

<!-- made by `make reference` from kr_core/testing; change the text there, or in tools/reference -->

`kr_core.testing` has a test class with the rules for each kind of plugin: your test class inherits it and names its
module. pytest collects the inherited tests; a failing test says what is wrong and how to fix it.

```sh
pip install "kr-core[testing]"
```

```python
from kr_core.testing import LogContract


class TestJSONLines(LogContract):
    module = "kr_plugins.logs.jsonl"
```

The how-to of each kind has such a test for the plugin it builds: [write a source](../how-to/write-a-source.md), for one.
"""
