"""What an installed package of a stranger holds is read in bounded time and memory, whatever it is."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from support.projects import install
from support.regexes import seconds_for

from kr_plugins.sources.installed_docs import package_index, reading_budget
from kr_plugins.sources.installed_docs.node.node_material import NodeMaterial
from kr_plugins.sources.installed_docs.node.package import read_package
from kr_plugins.sources.installed_docs.package_index import Material
from kr_plugins.sources.installed_docs.python.module_parser import MAX_BYTES
from kr_plugins.sources.installed_docs.python.source_text import is_slow_to_parse
from kr_plugins.sources.installed_docs.reading_budget import Cancelled, ReadingBudget

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.req("Z8")

_SECONDS = 10.0
"""Of processor time; what was mended took minutes, and some of it for ever."""
_MOST_MEMORY = 60_000_000
_RUN = "export declare function run(a: string): void;\n"
_DEF = "def run(a):\n    'Run it as fast as it goes.'\n"


def npm(folder: Path, files: dict[str, str], name: str = "crate", **data: object) -> NodeMaterial:
    """A package of npm with these files."""
    place = folder / "node_modules" / name
    place.mkdir(parents=True)
    (place / "package.json").write_text(json.dumps({"name": name, "version": "1.0.0", **data}))
    for path, text in files.items():
        (place / path).write_text(text)
    package = read_package(name, place)
    assert package is not None
    return NodeMaterial(package)


def python(site: Path, files: dict[str, str]) -> Material:
    """A distribution of Python with these files."""
    install(site, "box", "1.0", {f"box/{name}": text for name, text in files.items()})
    return Material("box", "1.0", site, [(site / "box", "box")], [], "made for the test")


def read(material: Material | NodeMaterial, seconds: float = _SECONDS) -> tuple[list[str], list[str]]:
    """The symbols of the passages, and the notes."""
    found: list[tuple[list[str], list[str]]] = []

    def work() -> None:
        passages, notes = material.passages(lambda _done, _total: None, ReadingBudget())
        found.append(([one.symbol or "" for one in passages], notes))

    assert seconds_for(work, limit=seconds) < seconds
    return found[0]


_STARS = "".join(f"export * from './f{number}';\n" for number in range(8))
_IMPORTED = "".join(f"import {{ a{number} }} from 'large';\n" for number in range(5_000))
_NAMES = ", ".join(f"a{number}" for number in range(5_000))
_BASES = ", ".join(f"B{number}" for number in range(40))
DECLARATIONS = {
    "many types in one line": {"index.d.ts": _RUN + "interface A {} " * 60_000},
    "files that export each other": {
        "index.d.ts": f"export {{ missing }} from './f0';\n{_RUN}",
        **{f"f{number}.d.ts": _STARS for number in range(8)},
    },
    "a file that is its own namespace": {
        "index.d.ts": "".join(f"import * as n{number} from './index';\n" for number in range(10))
        + "export { "
        + ", ".join(f"n{number}" for number in range(10))
        + " };\n"
        + _RUN
    },
    "many names of one package": {"index.d.ts": f"{_IMPORTED}export {{ {_NAMES} }};\n{_RUN}"},
    "files that add to each other": {
        "index.d.ts": '/// <reference path="./index.d.ts" />\n/// <reference path="./more.d.ts" />\n' * 50
        + f"export = _;\ndeclare const _: _.Box;\ndeclare namespace _ {{ interface Box {{ run(): void }} }}\n{_RUN}",
        "more.d.ts": 'declare module "./index" {\n' + "interface Box { run(): void }\n" * 5_000 + "}\n",
    },
    "one type that everything takes": {
        "index.d.ts": "interface Options { a: string }\n" * 5_000
        + "".join(
            f"export declare function f{number}(a: Options, b: Options): void;\n" for number in range(5_000)
        )
        + _RUN
    },
    "defaults without an end": {
        "index.d.ts": "export interface Box {\n/**\n"
        + " * default is `\n * defaults to '\n *\n * @default\n" * 20_000
        + f" */\n a: string\n b: {'(' * 50_000}\n}}\n{_RUN}"
    },
    "types that extend each other": {
        "index.d.ts": "".join(f"interface B{number} extends {_BASES} {{}}\n" for number in range(40))
        + f"export declare const box: B0;\n{_RUN}"
    },
    "a type of many members with many subtypes": {
        "index.d.ts": f"{_RUN}interface B {{\n"
        + "".join(f" m{number}(): void;\n" for number in range(3_000))
        + "}\n"
        + "".join(f"export interface C{number} extends B {{}}\n" for number in range(3_000))
    },
    "a type that many extend is declared many times": {
        "index.d.ts": _RUN
        + "".join(f"interface B {{ /** It. */ m{number}: 1 }}\n" for number in range(3_000))
        + "".join(f"export interface A extends B {{ x{number}: 1 }}\n" for number in range(3_000))
    },
    "a type of many types with many subtypes": {
        "index.d.ts": _RUN
        + "".join(f"type B{number} = {{ m{number}(): void; }};\n" for number in range(2_000))
        + f"type W = {' & '.join(f'B{number}' for number in range(2_000))};\n"
        + "".join(f"export type C{number} = {{}} & W;\n" for number in range(2_000))
    },
}


@pytest.mark.parametrize("kind", sorted(DECLARATIONS))
def test_declarations_are_read_in_seconds(kind: str, tmp_path: Path) -> None:
    """Declaration files that were made to take minutes or for ever are read, and what else they export is found."""
    npm(tmp_path, {"index.d.ts": "export declare const z: 1;\n"}, "large", more=["x" * 90] * 20_000)
    symbols, _notes = read(npm(tmp_path, DECLARATIONS[kind]))
    assert "run" in symbols


_LONG = "word " * 40_000
_MEMBERS = "".join(f" m{number}(): void;\n" for number in range(600))
_SUBTYPES = "".join(f"export interface B{number} extends A {{}}\n" for number in range(600))
REPEATED = {
    "what a type says, with each of its members": f"/** {_LONG} */\nexport interface A {{\n{_MEMBERS}}}\n",
    "what a member says, with each subtype": f"interface A {{ /** {_LONG} */ m(): void }}\n{_SUBTYPES}",
    "what a member takes, with each subtype": f"interface A {{ m(a: '{_LONG}'): void }}\n{_SUBTYPES}",
    "a name, with each of its members": f"export interface {'A' * 200_000} {{\n{_MEMBERS}}}\n",
}


@pytest.mark.parametrize("kind", sorted(REPEATED))
def test_what_declarations_repeat_is_short(kind: str, tmp_path: Path) -> None:
    """KR keeps a long text once, however many passages it belongs to."""
    material = npm(tmp_path, {"index.d.ts": _RUN + REPEATED[kind]})
    tracemalloc.start()
    try:
        symbols, _notes = read(material)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "run" in symbols
    assert peak < _MOST_MEMORY


_STARRED = "".join(f"from .m{number} import *\n" for number in range(12))
MODULES = {
    "many statements in a line that is not ASCII": {"__init__.py": f"{_DEF}x = 'é';" + "a=1;" * 40_000},
    "many classes of one name with many fields": {
        "__init__.py": f"{_DEF}@dataclass\nclass A:\n"
        + "".join(f"    f{number}: int\n" for number in range(9_000))
        + "@dataclass\nclass A: 0\n" * 10_000
    },
    "code that does not parse": {
        "__init__.py": "def run(a):\n    '''Run it as fast as it goes.\n\n"
        + "    # c\n    x = 1\n" * 20_000
        + "    ((\n    '''\n"
    },
    "modules that import each other": {
        "__init__.py": _STARRED + _DEF,
        **{f"m{number}.py": f"{_STARRED}from nowhere import zip{number}\n" for number in range(12)},
    },
    "a name without end": {"__init__.py": f"{_DEF}def {'a' * 60_000}():\n    'Run it as fast as it goes.'\n"},
    "many parameters with one description": {
        "__init__.py": "def run(a):\n    '''Run it as fast as it goes.\n\n    Args:\n        "
        + ",".join(f"a{number}" for number in range(10_000))
        + ": what it is\n"
        + "            and more of it\n" * 10_000
        + "    '''\n"
    },
    "a function of many statements": {"__init__.py": _DEF + "    a\n" * 100_000},
    "many warnings that name no text": {
        "__init__.py": _DEF + "    a = 1\n    warn(m, DeprecationWarning)\n" * 15_000
    },
    "a condition that assigns one name again and again": {
        "__init__.py": f"{_DEF}def f(a=None):\n if a is None: {'a=1;' * 40_000}\n"
    },
    "many statements below one comment": {
        "__init__.py": _DEF
        + "#: Words of it and more words.\n" * 10_000
        + ";".join(f"a{number}=1" for number in range(20_000))
        + "\n"
    },
    "many names with one comment": {
        "__init__.py": _DEF
        + "#: Words of it and more words.\n" * 10_000
        + "=".join(f"a{number}" for number in range(20_000))
        + "=1\n"
    },
    "a condition with many statements": {"__init__.py": f"{_DEF}    if a:\n" + "     a\n" * 100_000},
    "a list of parameters that goes on without indentation": {
        "__init__.py": "def run(a):\n    '''Run it.\n\n    Args:\n" + "    b\n" * 100_000 + "    '''\n"
    },
    "a list of parameters that begins late": {
        "__init__.py": "def run(a):\n    '''Run it.\n\n    Args:\n"
        + "\n" * 200_000
        + "    b\n" * 75_000
        + "    '''\n"
    },
    "a name without end in Cython": {
        "__init__.py": _DEF,
        "fast.pyx": f"def {'a' * 300_000}!(x):\n    'Run it.'\n    pass\n",
    },
    "an argument without end in Cython": {
        "__init__.py": _DEF,
        "fast.pyx": f"def f({'a' * 300_000}! x!):\n    'Run it.'\n    pass\n",
    },
    "an argument of blanks in Cython": {
        "__init__.py": _DEF,
        "fast.pyx": f"def f(a{' ' * 300_000}!):\n    'Run it.'\n    pass\n",
    },
}


@pytest.mark.parametrize("kind", sorted(MODULES))
def test_modules_are_read_in_seconds(kind: str, tmp_path: Path) -> None:
    """Modules and docstrings that were made to take minutes or for ever are read, and what else they define is found."""
    symbols, _notes = read(python(tmp_path, MODULES[kind]))
    assert "box.run" in symbols


_ATTRIBUTES = "".join(f"  self.a{number}=1 #: Words.\n" for number in range(300))
_NAMES_IN_CAPITALS = "".join(f'  "AA_B{number}": 1,\n' for number in range(300))
LONG_NAMES = {
    "a class, with each of its attributes": f"class {'K' * 400_000}:\n def __init__(self):\n{_ATTRIBUTES}",
    "a class, with each of its settings": f"class {'K' * 400_000}:\n X = {{\n{_NAMES_IN_CAPITALS} }}\n",
    "a constant, with each of its settings": f"{'K' * 400_000} = {{\n{_NAMES_IN_CAPITALS} }}\n",
    "classes in classes": "".join(f"{' ' * depth}class {'K' * 5_000}:\n" for depth in range(80))
    + "".join(f"{' ' * 80}a{number} = 1\n" for number in range(300)),
    "a function, with each of its parameters": f"def {'k' * 400_000}({', '.join(f'a{n}=None' for n in range(300))}):\n 'Say it.'\n",
    "a class, with each of its messages": f"class {'K' * 400_000}:\n def f(self):\n"
    + "".join(f"  raise ValueError('The box {number} is too small for it.')\n" for number in range(300)),
}


@pytest.mark.parametrize("kind", sorted(LONG_NAMES))
def test_a_long_name_is_not_repeated(kind: str, tmp_path: Path) -> None:
    """A name that nobody would write is left out, and not kept with everything that belongs to it."""
    material = python(tmp_path, {"__init__.py": _DEF + LONG_NAMES[kind]})
    tracemalloc.start()
    try:
        symbols, _notes = read(material)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "box.run" in symbols
    assert peak < _MOST_MEMORY


def test_texts_of_linked_packages_are_read_up_to_a_limit(tmp_path: Path) -> None:
    """A package may be linked under many names: KR reads the texts of one distribution up to one sum."""
    page = ("# A page\n\n" + "Words of it. " * 7_000 + "\n\n") * 10
    pages = {f"box/docs/page{number}.md": page for number in range(14)}
    install(tmp_path, "box", "1.0", {"box/__init__.py": _DEF, **pages})
    names = [f"box{number}" for number in range(60)]
    for name in names:
        (tmp_path / name).symlink_to("box")
    roots = [(tmp_path / name, name) for name in ["box", *names]]
    _symbols, notes = read(Material("box", "1.0", tmp_path, roots, [], "made for the test"))
    assert len(notes) == len(names)
    assert notes[-1] == "box59: 14 of 14 documentation files left out"


def test_a_module_is_no_larger_than_its_tree_may_be(tmp_path: Path) -> None:
    """The tree of a module takes a thousand times its bytes, so that one of more than 2 MB is noted and not read."""
    symbols, notes = read(python(tmp_path, {"__init__.py": _DEF, "data.py": "a\n" * MAX_BYTES}))
    assert "box.run" in symbols
    assert notes == ["box/data.py: 4 MB in one file, not read"]


@pytest.mark.parametrize(
    "text",
    [
        "x = [" + "[],0," * 90_000 + "]\n",
        "x = f'" + "{a}{b}" * 205_000 + "'\n",
        "if a:\n" + " a;b\n" * 140_000,
    ],
    ids=["values", "fields", "statements"],
)
def test_a_module_has_no_more_parts_than_its_tree_may(tmp_path: Path, text: str) -> None:
    """A tree takes up to a kilobyte for each statement, value and field: of 2 MB it took 1.8 GB."""
    symbols, notes = read(python(tmp_path, {"__init__.py": _DEF, "data.py": text}))
    assert "box.run" in symbols
    assert len(notes) == 1
    assert "box/data.py: too many" in notes[0]


def test_an_f_string_behind_a_docstring_is_measured() -> None:
    """The end of a string with three quotes begins no other one."""
    fields = 'f"""' + "{a}" * 60_000 + '"""\n'
    assert is_slow_to_parse(f'"""Doc."""\nx = {fields}') is is_slow_to_parse(f"x = {fields}")
    assert is_slow_to_parse(f"'''Doc.'''\nx = {fields}") is is_slow_to_parse(f"x = {fields}")


def test_a_package_of_many_files_is_read_up_to_a_limit(tmp_path: Path, monkeypatch) -> None:
    """The sources of one package are read up to a sum of bytes; how many files are left out is noted."""
    monkeypatch.setattr(package_index, "MOST_BYTES", 3_500_000)
    files = {f"m{number}.py": f"# {'x' * 999_980}\n" for number in range(5)}
    symbols, notes = read(python(tmp_path, {"__init__.py": _DEF, **files}))
    assert "box.run" in symbols
    assert notes == ["box: more than 3 MB of sources, 2 files not read"]


@pytest.mark.parametrize("made", ["npm", "python"])
def test_passages_are_made_up_to_a_limit(tmp_path: Path, monkeypatch, made: str) -> None:
    """What is made of a package is bounded too: a type may hand its members on to many others."""
    monkeypatch.setattr(reading_budget, "_MOST_TEXT", 2_000_000)
    members = "".join(f"/** Says m{number}. */ m{number}: 1;\n" for number in range(500))
    types = "".join(f"export interface T{number} extends Hidden {{}}\n" for number in range(500))
    declared = {"index.d.ts": f"{_RUN}interface Hidden {{\n{members}}}\n{types}"}
    defined = "".join(f"def f{number}():\n    'Says f{number} and no more.'\n" for number in range(5_000))
    material = npm(tmp_path, declared) if made == "npm" else python(tmp_path, {"__init__.py": _DEF + defined})
    symbols, notes = read(material)
    assert "run" in symbols or "box.run" in symbols
    assert len(symbols) < 5_000
    assert any("of passages, the rest left out" in note for note in notes)


@pytest.mark.parametrize("made", ["npm", "python"])
def test_of_a_long_passage_the_beginning_is_kept(tmp_path: Path, made: str) -> None:
    """A README that is one section, or a docstring that is one line, is kept up to a limit; a note says so."""
    said = "".join(f"Then it waits for {n} s.\n" for n in range(15_000))
    material: Material | NodeMaterial
    if made == "npm":
        material = npm(tmp_path, {"index.d.ts": _RUN, "README.md": f"# Waiting\n\n{said}"})
    else:
        material = python(tmp_path, {"__init__.py": f'def run():\n    """{" ".join(said.split())}"""\n'})
    passages, notes = material.passages(lambda _done, _total: None, ReadingBudget())
    texts = [one.text if made == "npm" else one.lead for one in passages]
    [long] = [text for text in texts if "waits for 7 s" in text]
    assert 90_000 < len(long) <= 100_000
    assert any("only their beginning was read: 1 passages" in note for note in notes)


@pytest.mark.parametrize("made", ["npm", "python"])
def test_reading_ends_soon_after_it_was_given_up(tmp_path: Path, made: str) -> None:
    """Once the research has given up, nothing goes on reading in the background, also while passages are made."""
    many = "".join(f"export * as n{number} from './index';\n" for number in range(2_000))
    files = {"index.d.ts": many + _RUN}
    material = npm(tmp_path, files) if made == "npm" else python(tmp_path, {"__init__.py": _DEF * 9_000})
    asked = 0

    def given_up() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    def work() -> None:
        with pytest.raises(Cancelled):
            material.passages(lambda _done, _total: None, ReadingBudget(given_up))

    assert seconds_for(work, limit=_SECONDS) < _SECONDS
