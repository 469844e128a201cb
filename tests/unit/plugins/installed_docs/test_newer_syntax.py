"""Python of a newer version than KR runs on is read all the same, each name in its own line and column."""

import ast
import sys

import pytest

from kr_plugins.sources.installed_docs.python.newer_syntax import as_older

NEWER = [
    "def first[T: (int, str), *Ts, **P = [int]](crates: list[T]) -> T: ...",
    "def first[\n    T,  # a [comment\n    U: 'a]b',\n](crates: T) -> U:\n    return crates",
    "class Store[T]:\n    def put[U](self, ä: U) -> T: ...",
    "class Store[K, V = int](dict[K, V]): ...",
    "async def first[T](crate: T): ...",
    "type Crates = list[int]",
    "if True:\n    type  Crates[T, *Ts]  = dict[T, int]\n    x = 1",
    "type = 3\ntype[0] if 0 else 1\nprint(type == 3)",
    'f"{crates["ä"]} and {", ".join(crates)}"',
    "f'{x!r:>{width}} {{no field}} {'a' if x else 'b'}'",
    'f"a {\n    crate  # which one: "this"\n} b"\nx = 1',
    'f"""{\n  crates["a"]\n}\n{f"{f"{1}"}"}"""',
    'f"{x:\'>10}" f"{chr(92)}\\N{BULLET}" rf"\\{x}\\d{{2}}"',
    'f"{"\\n".join(crates)}"',
    't"Dear {name["first"]}"',
    "try:\n    pack()\nexcept ValueError, errors.Lost:\n    pass\nexcept (A, B):\n    pass",
    "try:\n    pack()\nexcept* ValueError, TypeError:\n    pass",
]


@pytest.mark.req("Z3", "A7")
@pytest.mark.parametrize("text", NEWER)
def test_what_a_newer_grammar_added_is_read(text):
    older = as_older(text)
    ast.parse(older, feature_version=(3, 11))
    assert older.count("\n") == text.count("\n")


@pytest.mark.req("Z3", "A7")
@pytest.mark.parametrize("text", [one for one in NEWER if "except" not in one])
def test_each_name_stays_in_its_place(text):
    older = as_older(text)
    for node in ast.walk(ast.parse(older)):
        if isinstance(node, ast.arg):
            line = text.split("\n")[node.lineno - 1].encode()
            assert line[node.col_offset :].startswith(node.arg.encode())


@pytest.mark.req("Z3")
@pytest.mark.parametrize(
    "text",
    [
        "x = 'def f[T](): ...'  # type X = 3\n",
        'r"\\d" + b"{" + f"{x}" + "type"\n',
        '"""\ntype X = 3\nexcept A, B:\n"""\n',
        "except_kinds, other = 1, 2\n",
        "classes[0], define[1] = 1, 2\n",
    ],
)
def test_what_is_not_newer_stays(text):
    assert as_older(text) == text


@pytest.mark.req("Z3")
@pytest.mark.parametrize("text", ['f"{x', "def f[T(", "'abc\n'", 'f"{x:>', 'f"{' * 5000])
def test_what_is_not_closed_is_refused(text):
    with pytest.raises((ValueError, RecursionError)):
        as_older(text)


SOURCE = '''\
"""Packs crates."""


def pack[T](crate: T, *, tight: bool = False) -> T:
    """Pack a crate, whatever is in it.

    Args:
        tight: Whether to leave no room.
    """
    if crate is None:
        raise ValueError(f"nothing in {crate["name"]}, give another")
    return crate
'''


@pytest.mark.req("A1", "A7")
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_a_function_with_type_parameters_is_answered(install, ask_about):
    install("crates", {"crates/__init__.py": SOURCE})
    told, level = ask_about("crates", "What does crates.pack do?", "crates.pack")
    assert (level, "Pack a crate, whatever is in it." in told) == ("high", True)
    told, _level = ask_about("crates", "ValueError: nothing in box, give another")
    assert "crates.pack" in told
