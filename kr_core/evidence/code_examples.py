"""The shortest real code that shows what was asked."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

from kr_core.text import stem, stems, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_MAX_LINES = 12
_MAX_LINES_WHOLE = 30
"""Of a block in another language than Python: a paragraph of it may be a part of a function."""
_LONG_RESULT = 3
"""Lines of what a piece of code prints that are shown below it."""
_WIDE_RESULT = 80
_LONGEST_PIECE = 4_000
_MOST_PIECES = 100
"""Of the code of a passage."""
_TEXT_LOOKED_AT = 20_000
"""Characters of a passage in which the fence around a piece of code is looked for."""
_WARNING = re.compile(
    r"\b(?:careful|beware|avoid|do not|don't|never|wrong|incorrect|will not work|anti-?pattern)\b",
    re.IGNORECASE,
)
_MOST_SPOKEN = 3
"""Words of the question in a piece of code that count; more make no difference."""
_LONGER, _MAX_LINES_SEEN = 0.5, 20
"""Words that a block of more lines must say more than a short piece of it, to be shown whole."""
_STRING = re.compile(r"\"[^\"\n]*+\"|'[^'\n]*+'")
_IMPORTS = re.compile(r"\s*+(?:import |from |#|//|/?\*|(?:const|let|var) [^=\n]{1,200}= require\(|$)")
"""A line that imports, is a comment or blank."""
_FENCE = re.compile(r"\s*+(?:`{3,}+|~{3,}+)(.*)$")
_ALSO_PYTHON = frozenset({"py", "python3", "pycon"})
_NOISE = re.compile(r"#\s*(?:doctest:.*|\(\d{1,2}\)!?)$")


@lru_cache(maxsize=256)
def language_of(text: str, code: str) -> str:
    """The language of a piece of code, as the fence around it says; else Python where it is Python.

    A fence that names no language, and code that is not Python, give an empty one.
    """
    first = next(line.strip() for line in code.split("\n") if line.strip())
    fence: str | None = None
    for line in text[:_TEXT_LOOKED_AT].split("\n"):
        mark = _FENCE.match(line)
        if mark:
            fence = mark[1].strip() if fence is None else None
        elif fence is not None and first in line:
            named = re.match(r"\w[\w+#-]*", fence)
            language = named[0].lower() if named else ""
            return "python" if language in _ALSO_PYTHON or (fence and not named) else language
    return "python" if _is_python(code) else ""


def _is_python(code: str) -> bool:
    return ">>>" in code or _parsed(code) is not None


def shortest_example(
    passage: Passage,
    candidates: Sequence[Passage],
    asked: AskedWords,
    parameters: frozenset[str] = frozenset(),
    known: Sequence[Passage] = (),
    without: AbstractSet[str] = frozenset(),
) -> tuple[Passage, str] | None:
    """The shortest piece of documented code that uses the passage's parameter or symbol, and where it stands.

    Code that passes the parameter to the symbol beats code that passes it elsewhere, that beats code that makes its
    type, and that beats code that only calls the symbol; among equals, code of the symbol's own documentation or with
    another name that the asker expects, then code with more of the question's words, then the shorter; of a section the first. Python that does not parse or does not fit the signatures is not shown.

    Args:
        passage: what the code is to show.
        candidates: passages with code.
        asked: what the question asks for; code without the value that it gives a parameter is not shown.
        parameters: those of the passage's symbol that the question names; code must hold one of them.
        known: passages with signatures that code has to fit.
        without: stems of the question that say nothing: most of its code has the library's name.
    """
    best: tuple[tuple[int, bool, float, bool, int], Passage, str] | None = None
    spoken = _types_spoken_of(passage, candidates)
    signatures = Signatures(known)
    elsewhere = _homes_of_namesakes(passage, known)
    for candidate in candidates:
        if (candidate.symbol or candidate.title).startswith(elsewhere):
            continue
        pieces = itertools.chain.from_iterable(_pieces(candidate, block) for block in candidate.code)
        for number, piece in enumerate(itertools.islice(pieces, _MOST_PIECES)):
            use = _use(passage, candidate, piece, spoken)
            if use == 0 or _only_imports(piece) or _warned_of(candidate.text, piece):
                continue
            if not asked.asks("error") and _fails(candidate.text, piece):
                continue
            if parameters and not any(re.search(rf"\b{re.escape(one)}\b", piece) for one in parameters):
                continue
            if passage.parameter and asked.is_for_other(piece):
                continue
            if not _resolves(passage, candidate, piece, signatures):
                continue
            of_its_own = bool(passage.symbol) and candidate.symbol == passage.symbol
            last = len(piece) if passage.symbol else number  # a section shows first what most look for
            is_meant = of_its_own or asked.expects(piece, (passage.symbol or "").rpartition(".")[2])
            rank = (use, is_meant, _spoken(candidate, piece, asked.stems - without), of_its_own, -last)
            if best is None or rank > best[0]:
                best = (rank, candidate, piece)
    return None if best is None else (best[1], best[2])


def _homes_of_namesakes(passage: Passage, known: Sequence[Passage]) -> tuple[str, ...]:
    """The modules of other things of the passage's name: the documentation of `dialects.sqlite` shows its own `insert`."""
    names = {name for name in (passage.symbol, *passage.also, *passage.aliases) if name and passage.what}
    own, _dot, last = (passage.symbol or "").rpartition(".")
    homes = {
        one.symbol.rpartition(".")[0]
        for one in known
        if one.symbol and one.symbol.rpartition(".")[2] == last and one.symbol not in names
    }
    return tuple(
        f"{home}."
        for home in homes
        if home and not home.rpartition(".")[2][:1].isupper() and not f"{own}.".startswith(f"{home}.")
    )


def _spoken(candidate: Passage, code: str, asked: AbstractSet[str]) -> float:
    """How many words of the question code says; those in the strings of JavaScript are data, and count half."""
    said = stems(code) & asked
    plain = said if _is_from_python(candidate, code) else stems(_STRING.sub(" ", code)) & said
    spoken = min(_MOST_SPOKEN, (len(plain) + len(said)) / 2)
    return spoken if _is_short(code, _MAX_LINES_SEEN) else spoken - _LONGER


def introduction(passage: Passage, code: str) -> str:
    """The paragraph right before the block that holds some code; empty where there is none."""
    wanted = [line.strip() for line in code.split("\n") if line.strip()]
    before: list[str] = []
    block: list[str] = []
    fenced = False
    for line in passage.text[:_TEXT_LOOKED_AT].split("\n"):
        if not _FENCE.match(line):
            (block if fenced else before).append(line)
            continue
        source = iter(map(str.strip, block))
        if fenced and all(line in source for line in wanted):  # in this order
            return "\n".join(before).strip().split("\n\n")[-1].strip()
        if fenced:
            before.clear()
        block.clear()
        fenced = not fenced
    return ""


def with_results(text: str, code: str) -> str:
    """Code with what an interpreter's session in a text shows below its lines, as comments; a long result is left out."""
    source = text.split("\n")
    lines: list[str] = []
    place = 0
    for line in code.split("\n"):
        lines.append(line)
        found = next(
            (
                number
                for number in range(place, len(source))
                if line.strip() and _is_entered(source[number], line)
            ),
            None,
        )
        if found is None:
            continue
        place = found + 1
        printed = list(itertools.takewhile(_is_printed, source[place : place + _LONG_RESULT + 1]))
        if len(printed) <= _LONG_RESULT and all(len(one) <= _WIDE_RESULT for one in printed):
            depth = len(source[found]) - len(source[found].lstrip())
            lines += [f"# {one[depth:].rstrip()}" for one in printed]
    return "\n".join(lines)


def _fails(text: str, code: str) -> bool:
    """Whether an interpreter's session in a text ends with a traceback behind some code: it shows what not to do."""
    last = code.strip().rpartition("\n")[2].strip()
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if _is_entered(line, last) or _is_entered(line, f"    {last}"):
            behind = (one.strip() for one in lines[number + 1 :])
            printed = next((one for one in behind if one not in {"", "..."}), "")
            if printed.startswith("Traceback (most recent call last)"):
                return True
    return False


def _is_entered(source: str, line: str) -> bool:
    """Whether a line of a session is a line of code behind its prompt, perhaps with a comment at its end."""
    entered = re.match(r"\s*(?:>>>|\.\.\.) (.*)$", source)
    return entered is not None and (entered[1].rstrip() == line or entered[1].startswith(f"{line}  #"))


def _is_printed(source: str) -> bool:
    """Whether a line of a session is what it printed."""
    stripped = source.strip()
    return bool(stripped) and not stripped.startswith((">>>", "...", "Traceback", "```", '"""'))


def _resolves(passage: Passage, candidate: Passage, code: str, signatures: Signatures) -> bool:
    """Whether code fits the signatures and uses the symbol; code in another language than Python always does."""
    if not fits(candidate, code, signatures):
        return False
    tree = _parsed(code) if _is_from_python(candidate, code) else None
    if tree is None:
        return True
    names = [name for name in (passage.symbol, *passage.also, *passage.aliases) if name and passage.what]
    last = {name.rpartition(".")[2] for name in names}
    if any(_is_namesake(name, names) for local, name in _imports(tree) if local in last):
        return False
    return not last or bool(passage.parameter) or bool(last & _used(tree))


def _is_namesake(imported: str, names: Sequence[str]) -> bool:
    """Whether code imports what only has the name: the `insert` of another dialect."""
    top = imported.partition(".")[0]
    return imported not in names and any(name.partition(".")[0] == top for name in names)


def fits(candidate: Passage, code: str, signatures: Signatures) -> bool:
    """Whether code of a passage is Python that fits the signatures, or code in another language."""
    if not _is_from_python(candidate, code):
        return True
    tree = _parsed(code)
    return tree is not None and signatures.admit(tree)


def _is_from_python(candidate: Passage, code: str) -> bool:
    language = language_of(candidate.text, code)
    return language == "python" or bool(not language and re.search(r"\.py[xi]?:\d+$", candidate.locator))


def _used(tree: ast.AST) -> set[str]:
    """The names that code uses, also as keyword arguments: words in strings and comments are none."""
    plain = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    passed = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg}
    return passed | plain | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _parsed(code: str) -> ast.AST | None:
    """Code as a tree, nothing run; None where it is not Python. `await` may stand outside of functions, as in a shell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about other people's code
        try:
            flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            tree: ast.AST = compile(textwrap.dedent(code), "example", "exec", flags)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return tree


class Signatures:
    """The parameters of callables by their public names, to tell code that the installed version refuses.

    A name that is not among them is not judged: only what the passages bring is known.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._by_name: dict[str, frozenset[str]] = {}
        self._deprecated: dict[str, set[str]] = {}
        for passage in passages:
            names = [name for name in (passage.symbol, *passage.aliases, *passage.also) if name]
            if passage.parameter and passage.deprecated:
                for name in names:
                    self._deprecated.setdefault(name, set()).add(passage.parameter)
            if passage.what in {"function", "class"} and passage.parameters and not passage.parameter:
                taken = frozenset(name for name, _default in passage.parameters)
                self._by_name.update(dict.fromkeys(names, taken))

    def admit(self, tree: ast.AST) -> bool:
        """Whether each call of a known callable passes only parameters that it takes and that are not deprecated."""
        imported = dict(_imports(tree))
        return not any(
            self._refuses(name, node)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and (name := _dotted(node.func, imported))
        )

    def _refuses(self, name: str, call: ast.Call) -> bool:
        passed = {one.arg for one in call.keywords if one.arg}
        if passed & self._deprecated.get(name, set()):
            return True
        taken = self._by_name.get(name)
        if taken is None or any(one.startswith("**") for one in taken):
            return False
        return not passed <= taken


def _imports(tree: ast.AST) -> Iterable[tuple[str, str]]:
    """The names that code imports, and what each means."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                yield (
                    (one.asname, one.name) if one.asname else (one.name.split(".")[0], one.name.split(".")[0])
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                yield one.asname or one.name, f"{node.module}.{one.name}"


def _dotted(node: ast.expr, imported: dict[str, str]) -> str:
    """The dotted name of a callable, as the code imports it; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([imported.get(node.id, node.id), *reversed(parts)])


def _use(passage: Passage, candidate: Passage, code: str, spoken: str) -> int:
    """How well code shows the passage: 4 passes the parameter to the symbol, 3 passes it, 2 makes its type, 1 calls the symbol."""
    names = [name for name in (passage.symbol, *passage.also, *passage.aliases) if name]
    at_home = candidate is passage or (candidate.symbol is not None and candidate.symbol == passage.symbol)
    if not passage.parameter:
        if passage.symbol and passage.what:
            return int(any(_calls(name, code, loosely=at_home) for name in names))
        return int(candidate is passage)
    if re.search(rf"\b{re.escape(passage.parameter)}\s*=", code):
        if any(_calls(name, code) for name in names):
            return 4
        return 3 if at_home else 0
    return 2 if _is_named_like(candidate, passage.parameter) and _makes_type(candidate, code, spoken) else 0


def _is_named_like(candidate: Passage, parameter: str) -> bool:
    """Whether a type has the name of the parameter that takes it (`Timeout`): any other may be one of many that it takes."""
    maker = {stem(word) for word in words((candidate.symbol or "").rpartition(".")[2])}
    return bool(maker & {stem(word) for word in words(parameter.replace("_", " "))})


def _makes_type(candidate: Passage, code: str, spoken: str) -> bool:
    """Whether code makes an object of the candidate's type, which is one of those spoken of."""
    maker = (candidate.symbol or "").rpartition(".")[2]
    if not maker or not re.search(rf"\b{re.escape(maker)}\b", spoken):
        return False
    return candidate.kind == "type" and _calls(candidate.symbol or "", code)


def _types_spoken_of(passage: Passage, candidates: Sequence[Passage]) -> str:
    """A parameter's annotation and what its alias stands for: the types whose examples show what to pass."""
    annotation = passage.annotation or ""
    aliases = [
        one.text
        for one in candidates
        if one.what == "constant"
        and one.symbol
        and re.search(rf"\b{re.escape(one.symbol.rpartition('.')[2])}\b", annotation)
    ]
    return " ".join([annotation, *aliases])


def _calls(name: str, code: str, *, loosely: bool = False) -> bool:
    """Whether code uses a dotted name: its last part, and for a method its class too, in some spelling.

    `get` alone may be anybody's; `client.get` is likely `Client.get`. In the symbol's own documentation the last
    part will do.
    """
    *_rest, owner, last = ["", *name.split(".")]
    if not re.search(rf"(?:(?<=\.)|(?<![\w.])|@){re.escape(last)}\b", code):
        return False
    if loosely or last[:1].isupper() or not owner[:1].isupper():
        if loosely or last[:1].isupper():
            return True
        name = re.escape(last)
        if re.search(rf"\b{re.escape(owner)}\.{name}\(", code):
            return True
        is_made_here = re.search(
            rf"^[ \t]*+(?:(?:const|let|var)[ \t]++)?+{name}[ \t]*+=(?!=)", code, re.MULTILINE
        )
        return not is_made_here and bool(re.search(rf"(?:(?<![\w.])|@){name}\(", code))
    return owner.lower() in code.lower()


def _warned_of(text: str, code: str) -> bool:
    """Whether the words before an example say that it is how not to do it."""
    first = next((line.strip() for line in code.split("\n") if line.strip()), "")
    place = text.find(first)
    comments = " ".join(line.partition("#")[2] for line in code.split("\n"))
    before = text[max(0, place - 300) : max(0, place)]
    return bool(_WARNING.search(comments) or _WARNING.search(before))


def _only_imports(code: str) -> bool:
    return all(map(_IMPORTS.match, code.split("\n")))


def _pieces(candidate: Passage, block: str) -> Iterable[str]:
    """A short block whole; of a longer one its short paragraphs, in another language than Python only whole statements."""
    cleaned = "\n".join(_NOISE.sub("", line).rstrip() for line in block.split("\n"))
    if cleaned.strip() and _is_short(cleaned):
        yield cleaned
    paragraphs = [one for one in re.split(r"\n\s*\n", cleaned) if one.strip() and one != cleaned]
    if paragraphs and not _is_from_python(candidate, block):
        if _is_short(cleaned, _MAX_LINES_WHOLE):
            yield cleaned
        paragraphs = list(_statements(paragraphs))
    for paragraph in paragraphs:
        if _is_short(paragraph):
            yield textwrap.dedent(paragraph.strip("\n"))


def _statements(paragraphs: Iterable[str]) -> Iterable[str]:
    """Paragraphs of code, put together where one opens a bracket that another closes."""
    held: list[str] = []
    depth = 0
    for paragraph in paragraphs:
        bare = _STRING.sub("", paragraph)
        depth += sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))
        held.append(paragraph)
        if depth <= 0:
            if depth == 0:
                yield "\n\n".join(held)
            held, depth = [], 0


def _is_short(code: str, most: int = _MAX_LINES) -> bool:
    return code.count("\n") < most and len(code) <= _LONGEST_PIECE
