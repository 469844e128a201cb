"""Every regular expression of the code, how it is applied, and the texts that make such an expression slow.

A pattern is found as a value of a module (also inside classes, tables and other patterns' neighbours), as the first
argument of a function of `re` in the source, or as what a function makes of a text, such as a glob. The texts are made from the pattern itself: each of its characters
in a run, each pair of them, and each of its repeated parts pumped up behind what the pattern wants before it.
"""

from __future__ import annotations

import ast
import importlib
import re
import signal
import time
from collections import defaultdict
from contextlib import contextmanager
from functools import cache
from itertools import islice, permutations
from pathlib import Path
from re import _constants as codes
from re import _parser as parser
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

_FUNCTIONS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
_REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}
_COMMON = "aA0 \n\t_.-é"
_BUILT_OF = ("*a*a*a*b", "a*b?c*/**/*?/**", "**/a/**/a/**/a/b", "a-b.c d")
"""Globs and names, of which functions make patterns."""
_TAILS = ("", "\0", "\n\0", "\n\n\0", "\0\n\0")


class Pattern(NamedTuple):
    """A pattern of the code: where it is, what it is, and the methods by which the code applies it."""

    location: str
    compiled: re.Pattern[Any]
    methods: frozenset[str]


class Slow(Exception):
    """The work took more processor time than it may."""


# -- what there is ---------------------------------------------------------------------------------


def parts(*packages: str) -> list[str]:
    """The packages by which the modules are tested together."""
    return sorted({_part(name, file) for name, file in _files(*packages).items()})


def _part(name: str, file: Path) -> str:
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    return ".".join(package.split(".")[: 3 if ".sources." in package else 2])


Uses = dict[tuple[str, str], set[str]]
"""For each pattern that a module names, the methods by which any module applies it."""


def patterns_of(part: str, uses: Uses) -> list[Pattern]:
    """The patterns of a package, each once."""
    names = [name for name, file in _files("kr_core", "kr_plugins").items() if _part(name, file) == part]
    found = [pattern for name in names for pattern in _patterns(importlib.import_module(name), uses)]
    return list({(one.compiled, one.methods): one for one in reversed(found)}.values())


@cache
def _files(*packages: str) -> dict[str, Path]:
    """Every module of the packages with its file, but for programs that start when imported."""
    found = {}
    for package in packages:
        folder = Path(importlib.import_module(package).__path__[0])
        for file in sorted(folder.rglob("*.py")):
            name = ".".join([package, *file.relative_to(folder).with_suffix("").parts])
            if not name.endswith("__main__"):
                found[name.removesuffix(".__init__")] = file
    return found


def _patterns(module: ModuleType, uses: Uses) -> Iterator[Pattern]:
    """The patterns that a module holds, and those that its functions make."""
    known = set()
    homes = _homes(module.__name__)
    for name, value in vars(module).items():
        if name in homes:
            continue
        for compiled in _held(value, module.__name__, 3):
            methods = uses.get((module.__name__, name), set()) if value is compiled else {"finditer"}
            known.add(compiled)
            yield Pattern(f"{module.__name__}.{name}", compiled, frozenset(methods or {"finditer"}))
        for number, compiled in enumerate(_built(value, module.__name__)):
            methods = uses.get((module.__name__, name), set())
            yield Pattern(f"{module.__name__}.{name}[{number}]", compiled, frozenset(methods or {"finditer"}))
    for line, compiled, method, name in _made(module):
        if compiled not in known:
            methods = uses.get((module.__name__, name), set()) or {method}
            yield Pattern(f"{module.__name__}:{line}", compiled, frozenset(methods))


def _held(value: object, owner: str, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        for part in [*value, *value.values()]:
            yield from _held(part, owner, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _held(part, owner, depth - 1)
    elif depth and isinstance(value, type) and value.__module__ == owner:
        for part in list(vars(value).values()):
            yield from _held(part, owner, depth - 1)


def _built(value: object, owner: str) -> Iterator[re.Pattern[Any]]:
    """The patterns that a function makes of texts, where it takes one and gives patterns."""
    hints = getattr(value, "__annotations__", {})
    taken = [hint for name, hint in hints.items() if name != "return"]
    if (
        getattr(value, "__module__", "") == owner
        and taken == ["str"]
        and "re.Pattern" in hints.get("return", "")
    ):
        assert callable(value)
        for text in _BUILT_OF:
            yield from _held(value(text), owner, 3)


@cache
def _tree(name: str) -> ast.Module:
    return ast.parse(_files("kr_core", "kr_plugins")[name].read_text(encoding="utf-8"))


@cache
def _nodes(name: str) -> list[ast.AST]:
    """The parts of a module's source that are looked at here: to walk through all of them takes long."""
    looked_at = (ast.ImportFrom, ast.Attribute, ast.Assign, ast.Call)
    return [node for node in ast.walk(_tree(name)) if isinstance(node, looked_at)]


def applied() -> Uses:
    """How the code applies its patterns.

    A pattern that only looks at one place (`match`, `fullmatch`) may read on to the end; one that is tried at every
    position may not, nor may one that is handed on. A loop that tries `match` at many places is the scanners' test.
    """
    uses: Uses = defaultdict(set)
    for module in _files("kr_core", "kr_plugins"):
        homes = _homes(module)
        for name, method in _applications(module):
            uses[homes.get(name, (module, name))].add(method)
    return uses


@cache
def _homes(module: str) -> dict[str, tuple[str, str]]:
    """Where the names that a module imports are defined."""
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in _nodes(module)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _applications(module: str) -> Iterator[tuple[str, str]]:
    """Each loaded name with the method that is called on it."""
    for node in _nodes(module):
        if not isinstance(node, ast.Attribute):
            continue
        applied_to = node.value.func if isinstance(node.value, ast.Call) else node.value
        if isinstance(applied_to, ast.Name | ast.Attribute):
            name = applied_to.id if isinstance(applied_to, ast.Name) else applied_to.attr
            if node.attr not in {"pattern", "flags"}:
                yield name, node.attr if node.attr in {"match", "fullmatch"} else "finditer"


def _made(module: ModuleType) -> Iterator[tuple[int, re.Pattern[Any], str, str]]:
    """Patterns that stand as text in a call of `re`; what is not known before the call stands there as "name"."""
    names = {
        node.value: target.id
        for node in _nodes(module.__name__)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in _nodes(module.__name__):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _FUNCTIONS
            and node.args
        ):
            text = _text(node.args[0], module)
            if text is None:
                continue
            flags = _flags(node)
            try:
                compiled = re.compile(text, flags)
            except re.error:
                continue
            method = node.func.attr if node.func.attr in {"match", "fullmatch"} else "finditer"
            yield node.lineno, compiled, method, names.get(node, "")


def _flags(call: ast.Call) -> int:
    named = (
        name.attr
        for part in [*call.args[1:], *(keyword.value for keyword in call.keywords)]
        for name in ast.walk(part)
        if isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name) and name.value.id == "re"
    )
    flags = re.NOFLAG
    for name in named:
        flags |= getattr(re, name, re.NOFLAG)
    return flags


class _Unknown:
    """Whatever a function will know only when it runs: a name in a pattern."""

    def __getattr__(self, name: str) -> _Unknown:
        return self

    def __getitem__(self, key: object) -> _Unknown:
        return self

    def __call__(self, *args: object, **kwargs: object) -> _Unknown:
        return self

    def __format__(self, spec: str) -> str:
        return "name"


def _text(node: ast.expr, module: ModuleType) -> str | bytes | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str | bytes) else None
    if not isinstance(node, ast.JoinedStr):
        return None
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        else:
            assert isinstance(part, ast.FormattedValue)
            parts.append(_value(part.value, module))
    return "".join(parts)


def _value(node: ast.expr, module: ModuleType) -> str:
    known = vars(module)
    names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    if isinstance(node, ast.Name | ast.Attribute) and all(name in known for name in names):
        return str(eval(compile(ast.Expression(node), "pattern", "eval"), dict(known)))
    return "name"


# -- what makes it slow ----------------------------------------------------------------------------


def texts(pattern: re.Pattern[Any]) -> list[tuple[str, str, str]]:
    """Texts that may be slow, each as what stands before, what is repeated, and what stands behind."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    tree = parser.parse(source, flags)
    letters = "".join(dict.fromkeys([*_letters(tree), *_COMMON]))
    ascii_only = not isinstance(pattern.pattern, str)
    shape = _Shape(letters, flags)
    shape.walk(tree, "")
    runs = [("", letter, tail) for letter in letters[:40] for tail in ("", "\0")]
    pairs = [("", first + second, "") for first, second in islice(permutations(letters[:8], 2), 60)]
    openers = [("", word, tail) for word in islice(shape.openers, 30) for tail in ("", "\0")]
    spaced = [("", word + mark, "") for word in islice(shape.openers, 30) for mark in ("\n", " ")]
    tails = (*_TAILS, *islice(dict.fromkeys(_refused(tree)), 6))
    pumped = [(before, unit, tail) for before, unit in islice(shape.pumps, 150) for tail in tails]
    marks = list(dict.fromkeys(_letters(tree)))[:12]
    mixed = [
        (before, f"{word} {mark}", tail)
        for word in islice(dict.fromkeys(_words(tree)), 6)
        for mark in marks
        if not mark.isalnum()
        for before in dict.fromkeys(("", f"{mark}a ", f"{marks[0]}a "))
        for tail in ("", "a")
    ]
    again = [("", before + unit * 3, "") for before, unit in islice(shape.pumps, 60)]
    found = dict.fromkeys([*runs, *pairs, *openers, *spaced, *pumped, *mixed, *again])
    if ascii_only:
        return [text for text in found if "".join(text).isascii()]
    return list(found)


def _letters(tree: Any) -> Iterator[str]:
    """The characters that a pattern names, case variants too."""
    for code, value in tree:
        if code in {codes.LITERAL, codes.NOT_LITERAL}:
            letter = chr(value)
            yield from dict.fromkeys([letter, letter.lower()[0], letter.upper()[0]])
        elif code is codes.RANGE:
            yield chr(value[0])
            yield chr(value[1])
        elif code is codes.IN:
            yield from _letters(value)
        elif code in _REPEATS:
            yield from _letters(value[2])
        elif code is codes.BRANCH:
            for part in value[1]:
                yield from _letters(part)
        elif code is codes.SUBPATTERN:
            yield from _letters(value[3])
        elif code is codes.ATOMIC_GROUP:
            yield from _letters(value)
        elif code in {codes.ASSERT, codes.ASSERT_NOT}:
            yield from _letters(value[1])


def _refused(tree: Any) -> Iterator[str]:
    """A character of each that a class shuts out (`[^;#]`, `\\W`): behind a run that all of the class takes, it fails."""
    for code, value in tree:
        if code is codes.NOT_LITERAL:
            yield chr(value)
        elif code is codes.IN and value[0][0] is codes.NEGATE:
            yield from _letters(value[1:])
        elif code is codes.IN:
            yield from (
                _SHUT_OUT[kind] for _code, kind in value if _code is codes.CATEGORY and kind in _SHUT_OUT
            )
        for part in _inner(code, value):
            yield from _refused(part)


def _inner(code: Any, value: Any) -> list[Any]:
    """The parts of a part of a pattern."""
    if code in _REPEATS:
        return [value[2]]
    if code is codes.BRANCH:
        return list(value[1])
    if code is codes.SUBPATTERN:
        return [value[3]]
    if code in {codes.ASSERT, codes.ASSERT_NOT}:
        return [value[1]]
    return [value] if code is codes.ATOMIC_GROUP else []


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    codes.CATEGORY_DIGIT: str.isdigit,
    codes.CATEGORY_NOT_DIGIT: lambda letter: not letter.isdigit(),
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_NOT_SPACE: lambda letter: not letter.isspace(),
    codes.CATEGORY_WORD: lambda letter: letter.isalnum() or letter == "_",
    codes.CATEGORY_NOT_WORD: lambda letter: not letter.isalnum() and letter != "_",
}


_SHUT_OUT: dict[Any, str] = {
    codes.CATEGORY_NOT_DIGIT: "0",
    codes.CATEGORY_NOT_SPACE: " ",
    codes.CATEGORY_NOT_WORD: "a",
}


def _words(tree: Any) -> Iterator[str]:
    """The words that a pattern spells out."""
    word = ""
    for code, value in tree:
        if code is codes.LITERAL:
            word += chr(value)
            continue
        if len(word) > 1:
            yield word
        word = ""
        for part in _inner(code, value):
            yield from _words(part)
    if len(word) > 1:
        yield word


class _Shape:
    """What stands before each part of a pattern, and what may be repeated there."""

    def __init__(self, letters: str, flags: int) -> None:
        self.letters = letters
        self.flags = flags
        self.groups: dict[int, str] = {}
        self.openers: dict[str, None] = {}
        self.pumps: dict[tuple[str, str], None] = {}
        self.bound = -1
        """Where a word has to end."""

    def walk(self, tree: Any, before: str) -> str:
        """Note openers and pumps of a part; answers with a text that matches what came before and the part."""
        for code, value in tree:
            before = self._step(code, value, before)
            if before:
                self.openers.setdefault(before)
        return before

    def _step(self, code: Any, value: Any, before: str) -> str:
        if code in _REPEATS:
            least, most, body = value
            self._pump(body, before, most)
            after = self.walk(body, before)
            return before + after[len(before) :] * min(least, 50)
        if code is codes.SUBPATTERN:
            after = self.walk(value[3], before)
            self.groups[value[0]] = after[len(before) :]
            return after
        if code is codes.BRANCH:
            walked = [self.walk(part, before) for part in value[1]]
            return walked[0]
        if code is codes.ATOMIC_GROUP:
            return self.walk(value, before)
        if code is codes.ASSERT:
            after = self.walk(value[1], before)
            return after if value[0] < 0 else before
        if code is codes.GROUPREF:
            return before + self.groups.get(value, "")
        if code is codes.AT and value == codes.AT_BEGINNING and self.flags & re.MULTILINE:
            return before + "\n" if before and not before.endswith("\n") else before
        if code is codes.AT and value == codes.AT_BOUNDARY:
            self.bound = len(before)
        letter = next(iter(self._fitting(code, value)), "")
        ends = self.bound == len(before) and before[-1:].isalnum() and letter.isalnum()
        return f"{before} {letter}" if ends else before + letter

    def _pump(self, body: Any, before: str, most: Any) -> None:
        if most is not codes.MAXREPEAT and most < 30:
            return
        if len(body) == 1:
            fitting = self._fitting(*body[0])[:12]
            for letter in fitting:
                self.pumps.setdefault((before, letter))
                self.pumps.setdefault((before + fitting[0], letter))
        for code, value in body:
            if code is codes.BRANCH:
                for part in value[1]:
                    self.pumps.setdefault((before, _Shape(self.letters, self.flags).walk(part, "") or "a"))
        inner = _Shape(self.letters, self.flags)
        unit = inner.walk(body, "")
        for word in [unit, *list(inner.openers)[:6]]:
            if word:
                self.pumps.setdefault((before, word))

    def _fitting(self, code: Any, value: Any) -> list[str]:
        return [letter for letter in self.letters if self._fits(code, value, letter)]

    def _fits(self, code: Any, value: Any, letter: str) -> bool:
        if code is codes.ANY:
            return letter != "\n" or bool(self.flags & re.DOTALL)
        if code in {codes.LITERAL, codes.NOT_LITERAL}:
            return (ord(letter) == value) == (code is codes.LITERAL)
        if code is codes.IN:
            negated = value[0][0] is codes.NEGATE
            return any(self._fits(*part, letter) for part in value[negated:]) != negated
        if code is codes.RANGE:
            return bool(value[0] <= ord(letter) <= value[1])
        if code is codes.CATEGORY:
            return _CATEGORIES[value](letter)
        return False


# -- how slow it is --------------------------------------------------------------------------------


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `Slow` when the work inside uses more processor time; patterns look for signals while they match."""

    def end(_number: int, _frame: object) -> None:
        raise Slow

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def seconds_for(work: Callable[[], object], *, limit: float = 20.0, tries: int = 1) -> float:
    """Processor time of the fastest of several tries; the limit where it took longer."""
    best = limit
    for _try in range(tries):
        start = time.thread_time()
        try:
            with at_most(limit):
                work()
        except Slow:
            continue
        best = min(best, time.thread_time() - start)
    return best


def apply(compiled: re.Pattern[Any], method: str, text: Any) -> None:
    """Do with the pattern what the code does."""
    if method == "finditer":
        for _found in compiled.finditer(text):
            pass
    else:
        getattr(compiled, method)(text)
