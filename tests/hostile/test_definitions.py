"""Definitions that refer to each other over and over: what is made of them grows with the files alone."""

from __future__ import annotations

import sys
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from support.projects import install
from support.regexes import seconds_for

from kr_core.search.name_resolution import resolve
from kr_core.toolkit import IndexedPassage, build_index, parse_question
from kr_plugins.sources.installed_docs.package_index import Material
from kr_plugins.sources.installed_docs.python.module_parser import Unreadable, read_module
from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.req("Z8")

_SECONDS = 6.0
"""Of processor time; what was mended took many minutes, and takes a second at most."""
_MOST_MEMORY = 60_000_000
_RUN = "def run(a):\n    'Run it as fast as it goes.'\n"
_MANY = ",".join(f"a{number}=0" for number in range(1_000))
_STARS = "".join(f"from box.m{number} import *\n" for number in range(40))
_LAYERS = "".join(
    f"def l{layer}x{number}(**kw):\n    'Do it.'\n"
    + "".join(f"    l{layer + 1}x{other}(**kw)\n" for other in range(18))
    for layer in range(5)
    for number in range(18)
)

SOURCES = {
    "a large f-string that is raised often": {
        "__init__.py": f'{_RUN}A = f"{"{a}" * 15_000}"\ndef g():\n' + "    raise E(A)\n" * 9_000
    },
    "attributes set on one line below a comment of thousands": {
        "__init__.py": f"{_RUN}class A:\n    'A class.'\n    def __init__(self):\n"
        + "        #: says it\n" * 20_000
        + "        "
        + "; ".join(f"self.a{number} = 1" for number in range(20_000))
        + "\n"
    },
    "settings that are read on one line": {
        "__init__.py": f"{_RUN}import os\n"
        + "; ".join(f'os.environ.get("A_B{n}", {n})' for n in range(12_000))
        + "\n"
    },
    "settings that are read inside each other": {
        "__init__.py": _RUN + ("x = " + 'getattr(a, "x_y", ' * 60 + "1" + ")" * 60 + "\n") * 300
    },
    "constants below comments": {
        "__init__.py": _RUN
        + "".join("# This comment has some words in it\n" * 11 + f"CONST_{n} = {n}\n" for n in range(2_000))
    },
    "packages that import all names of each other": {
        "__init__.py": _STARS + _RUN,
        **{f"m{number}/__init__.py": f"{_STARS}from nowhere import z{number}\n" for number in range(40)},
    },
    "functions that pass their arguments to all of the next layer": {
        "__init__.py": _RUN + _LAYERS + "".join(f"def l5x{number}(a): 'Do it.'\n" for number in range(18))
    },
    "a class of many members with many subclasses": {
        "__init__.py": f"{_RUN}class B:\n    'A base.'\n"
        + "".join(f"    def m{number}(self): 'Do it.'\n" for number in range(2_000))
        + "".join(f"class C{number}(B): pass\n" for number in range(2_000))
    },
    "overloads of ever other arguments": {
        "__init__.py": f"{_RUN}from typing import overload\n"
        + "".join(
            f"@overload\ndef f(a{number}, b{number}, c{number}, d{number}, e{number}, g{number}): ...\n"
            for number in range(4_000)
        )
    },
    "a private class of many members with many objects": {
        "__init__.py": f"{_RUN}class _A:\n    'A base.'\n"
        + "".join(f"    def m{number}(self): 'Do it.'\n" for number in range(2_000))
        + "".join(f"i{number} = _A()\n" for number in range(2_000))
    },
    "packages that look for many names in each other": {
        "__init__.py": f"{_RUN}{_STARS}from box.z import *\nfrom box.y import *\n",
        "z.py": f"__all__ = {[f'n{number}' for number in range(4_000)]}\n",
        "y.py": "".join(f"n{number} = 1\n" for number in range(4_000)),
        **{f"m{number}/__init__.py": f"{_STARS}from box.z import *\n" for number in range(40)},
    },
    "files of Cython that many modules include": {
        "__init__.py": _RUN,
        **{f"m{n}.pyx": "".join(f'include "x{k}.pxi"\n' for k in range(20)) for n in range(100)},
        **{f"x{k}.pxi": "".join(f"def f{k}x{n}(a): 'Do it.'\n" for n in range(300)) for k in range(20)},
    },
    "parameters of ever other names": {
        "__init__.py": _RUN
        + "".join(
            f"def f{number}({','.join(f'a{number}x{other}' for other in range(450))}): 'Do it.'\n"
            for number in range(100)
        )
    },
    "a parameter that a long paragraph marks on each line": {
        "__init__.py": f'{_RUN}def f(a):\n    """Do it.\n\n' + "    `a`\n" * 40_000 + '    """\n'
    },
    "replacements that are looked for among many of one name": {
        "__init__.py": _RUN
        + "".join(f"@deprecated('Use `z{n}.x` instead.')\ndef d{n}(): 'Do.'\n" for n in range(2_000)),
        "k.py": "".join(f"class C{number}:\n def x(self): 'Do it.'\n" for number in range(2_000)),
    },
    "a docstring that points to the same place over and over": {
        "__init__.py": _RUN
        + 'def t(**k):\n    """Do.\n\n    Args:\n'
        + "".join(f"        b{number}: it.\n" for number in range(300))
        + f'    """\ndef f({_MANY}):\n    "{"See `t` " * 3_000}"\n'
    },
}


def read(site: Path, files: dict[str, str]) -> list[IndexedPassage]:
    """The passages of a distribution with these files."""
    install(site, "box", "1.0", {f"box/{name}": text for name, text in files.items()})
    material = Material("box", "1.0", site, [(site / "box", "box")], [], "made for the test")
    return material.passages(lambda _done, _total: None, ReadingBudget())[0]


@pytest.mark.parametrize("kind", sorted(SOURCES))
def test_definitions_that_refer_to_each_other_are_read_in_seconds(kind: str, tmp_path: Path) -> None:
    """KR follows each reference once, or a few of them, and still finds what else the package defines."""
    found: list[IndexedPassage] = []
    assert seconds_for(lambda: found.extend(read(tmp_path, SOURCES[kind])), limit=_SECONDS) < _SECONDS
    assert "box.run" in {one.symbol for one in found}


_LONG = "word " * 40_000
REPEATED = {
    "what a class says first, with each of its members": {
        "__init__.py": f'{_RUN}class A:\n    "{_LONG}"\n'
        + "".join(f"    def f{number}(self): 'Do it.'\n" for number in range(300))
    },
    "what a function says first, with each of its parameters": {
        "__init__.py": f'{_RUN}def f({_MANY[:3_000]}=0):\n    "{_LONG}"\n'
    },
    "a heading, with each section below it": {
        "__init__.py": _RUN,
        "docs/a.md": f"# {_LONG}\n" + "".join(f"## A{n}\nSome words that say it.\n" for n in range(300)),
    },
    "a place, with each parameter of what passes its arguments there": {
        "__init__.py": f"{_RUN}def t({_MANY[:3_000]}=0): 'Do it.'\n"
        + "".join(f"def f{number}(**k):\n 'Do it.'\n return t(**k)\n" for number in range(400))
    },
}


@pytest.mark.parametrize("kind", sorted(REPEATED))
def test_what_is_repeated_is_short(kind: str, tmp_path: Path) -> None:
    """KR keeps a long text once, however many passages it belongs to."""
    tracemalloc.start()
    try:
        found = read(tmp_path, REPEATED[kind])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "box.run" in {one.symbol for one in found}
    assert peak < _MOST_MEMORY


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python 3.12 finds the fields at once")
@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''"])
def test_an_f_string_of_very_many_fields_is_not_parsed(tmp_path: Path, quote: str) -> None:
    """Python would look for each field from the beginning; a comment or an escaped quote hides none from KR."""
    fields = "".join(f"{{a{number}}}" for number in range(40_000))
    (tmp_path / "box.py").write_text(f'# f"""\nA = "\\""\nB = rf{quote}{fields}{quote}\n')
    with pytest.raises(Unreadable, match="too many fields"):
        read_module(tmp_path / "box.py", "box", "box.py")


def test_many_fields_that_are_short_are_parsed(tmp_path: Path) -> None:
    """Generated code may hold many f-strings and large tables."""
    table = "{" + "".join(f"'a{number}': {{}}, " for number in range(40_000)) + "}"
    texts = "".join(f'x{number} = f"{{a}} {{b}}"\n' for number in range(2_000))
    (tmp_path / "box.py").write_text(f"A = {table}\n{texts}{_RUN}")
    assert "run" in read_module(tmp_path / "box.py", "box", "box.py").definitions


def test_a_question_of_many_names_looks_at_each_passage_once() -> None:
    """Each name of a question may mean thousands of parameters, and each name beside it may be what takes them."""
    large = [f"q{number}" for number in range(5_000)]
    data = {"what": "function", "parameters": [(name, "d") for name in large]}
    takers = [
        IndexedPassage("symbol", f"box.f{n}", "f", "box.py:1", symbol=f"box.f{n}", lead="Says it.", data=data)
        for n in range(10)
    ]
    parameters = [
        IndexedPassage(
            "parameter",
            "p",
            "p",
            "box.py:1",
            symbol=f"box.g{n}",
            parameter=f"p{n % 10}",
            data={"what": "function"},
        )
        for n in range(5_000)
    ]
    index = build_index(None, [*takers, *parameters])
    names = " ".join(f"`f{n}` `p{n}`" for n in range(10))
    question = parse_question(f"What do {names} do in box?")
    assert seconds_for(lambda: resolve(index, question, ["box"]), limit=_SECONDS) < _SECONDS
