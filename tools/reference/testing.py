"""The page about `kr_core.testing`, made from the contracts themselves."""

from __future__ import annotations

import enum
import inspect
from typing import Any

import kr_core.testing

from .reading import Class, markdown, read_class

__all__ = ["testing_page"]


def testing_page() -> str:
    """A section for each public name; of a contract, all that it tests."""
    found = {name: getattr(kr_core.testing, name) for name in kr_core.testing.__all__}
    contracts = sorted(name for name in found if name.endswith("Contract"))
    contracts.sort(key=lambda name: name != "PluginContract")  # what all have in common first
    others = sorted(set(found) - set(contracts))
    sections = [_contract(name, found[name]) for name in contracts]
    sections += ["## Faults on purpose", *(_other(name, found[name]) for name in others)]
    return "\n\n".join([_HEAD.rstrip(), *sections]) + "\n"


def _contract(name: str, contract: Any) -> str:
    found = read_class(contract)
    tests = [method for method in found.methods if method.name.startswith("test_")]
    given = [
        method
        for method in found.methods
        if not method.name.startswith("test_") and inspect.isfunction(vars(contract)[method.name])
    ]
    parts = [f"## {name}", markdown(found.text)]
    parts += [f"```pyi\n{method.signature}\n```\n\n{markdown(method.text)}" for method in given]
    if tests:
        rows = [_row(test.name, test.text) for test in tests]
        parts.append("\n".join(["| test | what holds |", "|---|---|", *rows]))
    return "\n\n".join(parts)


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

`kr_core.testing` says what a plugin of each kind keeps to, as test classes: yours inherits one and names its module. The
classes are plain, so pytest collects what they have; a test that fails says what is wrong and how to mend it.

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
