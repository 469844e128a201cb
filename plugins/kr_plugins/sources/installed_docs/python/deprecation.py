"""What a source says of its own deprecation, found in the syntax tree and the docstring; nothing is imported.

Of a symbol: decorators (`warnings.deprecated` and a library's own), a warning that nothing precedes, the docstring. Of a
parameter: decorators that name it, `Annotated[..., deprecated("...")]`, `Field(deprecated=...)`, a warning below
`if parameter is not None`, its documentation. Notes about one parameter, an overload or an old way to call do not deprecate the
function.
"""

from __future__ import annotations

import ast
import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kr_plugins.sources.installed_docs.python import docstrings
    from kr_plugins.sources.installed_docs.python.source_text import SourceText

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LONGEST = 400
"""Characters of a note; a longer one is cut at the end of a sentence."""
_WARNING = re.compile(r"Deprecat|^(?:RemovedIn|MovedIn)\w*Warning$")
_WARNS = re.compile(r"(?i)^_*+warn\w*deprecat|^(?>.*?deprecat)\w*warn")
_OF_PARAMETERS = frozenset(
    "param params parameter parameters arg args argument arguments kwarg kwargs".split()
)
_OF_USE = frozenset("positional nonkeyword keyword signature docstring option options deprecators".split())
"""Parts of the names of decorators that speak of a way to call, or of something else altogether."""
_MESSAGES = ("message", "reason", "msg", "details", "hint", "alternative", "instructions", "extra")
_DIRECTIVE = re.compile(r"^(\s*+)\.\.\s++(?:deprecated|legacy)::[ \t]*+(.*)$")
_SINCE = re.compile(r"^(?:(?:since |in )?(?:version )?v?\d[\w.]*\w?[.:]?(?:\s+|$))")
_HINT = re.compile(r"(?i)deprecated|legacy")
_OPENS = re.compile(r"(?i)^\W*deprecated\b")
_USE = re.compile(
    r"(?i)\b(?:arguments?|parameters?|keywords?|kwargs?|passing|calling|without|positional\w*|behaviou?r|support for|__\w+)\b"
    r"|__\w+__"
)
"""Words of a directive that speaks of a parameter, a dunder or an old usage."""
_GOES = re.compile(r"(?i)(?:use\b|will be removed|replaced by|renamed)")
_SUBJECT_GOES = r"(?i)(?:the )?(?:this (?:parameter|argument|keyword|option)|[`*'\"]*{}[`*'\"]*(?: (?:parameter|argument|keyword|option))?) (?:(?:is|was|has been|will be)\b.{{0,12}}(?:deprecated|removed|ignored)|has no effect)"
"""How a directive begins that deprecates the parameter above it, and not one of its values."""
_BREAKS = re.compile(r"^(?:\\n)++|(?<!\\n)(?:\\n)++\s*+$")
"""Escaped line breaks at the ends of a line of a message."""
_EMPHASISED = re.compile(r"(?<![*\w])\*(\w+)\*(?!\w)")


class Deprecation(NamedTuple):
    """A note of deprecation, as the source writes it, and its place."""

    said: str
    """In one line."""
    lines: tuple[str, ...] = ()
    """The lines of the source that say it, where the docstring does not."""
    line: int = 0
    """The file's line of the first of them."""
    instead: str = ""
    """The new name of a parameter, where a decorator gives it."""


def folded(lines: Iterable[str]) -> str:
    """What lines say, in one line that ends with a sentence where it would be too long."""
    text = " ".join(" ".join(lines).split())
    if len(text) <= _LONGEST:
        return text
    end = max(text.rfind(mark, 0, _LONGEST) for mark in (". ", "; "))
    return text[: end + 1] if end > 0 else text[:_LONGEST].rpartition(" ")[0]


# -- symbols --


def of_function(
    node: _Function, doc: docstrings.Docstring | None, parameters: Sequence[str], text: SourceText
) -> Deprecation | None:
    """What a function says of its own deprecation, or None."""
    return (
        _decorated(node.decorator_list, text)
        or _warned(node.body, text)
        or in_docstring(doc, node.name, parameters)
    )


def of_class(
    node: ast.ClassDef, doc: docstrings.Docstring | None, parameters: Sequence[str], text: SourceText
) -> Deprecation | None:
    """What a class says of its own deprecation, or its constructor by a warning that nothing precedes."""
    found = _decorated(node.decorator_list, text)
    for statement in node.body:
        if (
            found is None
            and isinstance(statement, ast.FunctionDef)
            and statement.name in {"__init__", "__new__"}
        ):
            found = _warned(statement.body, text)
    return found or in_docstring(doc, node.name, parameters)


def _decorated(decorators: Sequence[ast.expr], text: SourceText) -> Deprecation | None:
    for decorator in decorators:
        parts = _parts(decorator)
        if parts & (_OF_PARAMETERS | _OF_USE):
            continue
        message = _message(decorator, text)
        if parts & {"deprecated", "deprecate"}:
            return message or _source(decorator, text)
        if parts & {"legacy", "moved"} and message is not None:
            return message
    return None


def _warned(body: Sequence[ast.stmt], text: SourceText) -> Deprecation | None:
    """A warning among the first statements; one below a condition is about a way to call."""
    before_end = itertools.takewhile(lambda one: not isinstance(one, (ast.Return, ast.Raise)), body)
    return next(_warnings(before_end, text), None)


def _warnings(body: Iterable[ast.stmt], text: SourceText) -> Iterator[Deprecation]:
    """What the statements of a body warn of, in order; each may name a text that is assigned above it."""
    assigned: dict[str, ast.expr] = {}
    for statement in body:
        if isinstance(statement, ast.Assign):
            names = (one.id for one in statement.targets if isinstance(one, ast.Name))
            assigned.update(dict.fromkeys(names, statement.value))
        elif (found := _warning(statement, assigned, text)) is not None:
            yield found


def _warning(statement: ast.stmt, assigned: dict[str, ast.expr], text: SourceText) -> Deprecation | None:
    """What a statement warns of, if that is a deprecation and is written there."""
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return None
    call = statement.value
    name = _last(call.func)
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    kinds = [_last(one.func if isinstance(one, ast.Call) else one) for one in given]
    if not _WARNS.search(name) and not (name.endswith("warn") and any(map(_WARNING.search, kinds))):
        return None
    inner = next(
        (one for one in given if isinstance(one, ast.Call) and _WARNING.search(_last(one.func))), None
    )
    return _message(inner or call, text, assigned)


def in_docstring(
    doc: docstrings.Docstring | None, name: str, parameters: Sequence[str]
) -> Deprecation | None:
    """What a docstring says of the whole symbol: a directive that names no parameter, or its first paragraph."""
    if doc is None:
        return None
    inside = {number for one in doc.parameters for number in range(one.line, one.end)} | {
        number for one in doc.sections if one.parameters for number in range(one.line, one.end)
    }
    for number, line in enumerate(doc.lines):
        found = _DIRECTIVE.match(line) if "::" in line and number not in inside else None
        if found is None or found[1]:
            continue
        said = _directive(doc.lines, number)
        if not _USE.search(said) and not _names_any(said, parameters):
            return Deprecation(said or folded([line]))
    opening = doc.lead if len(doc.lead) < 4 * _LONGEST else ""
    if not _HINT.search(opening):  # before a pattern is made for the name, which takes time
        return None
    own = rf"(?i)(?:\bthis (?:\w+ )?\w+|(?<!\w){re.escape(name)}\W{{0,4}}) (?:is|was|has been) (?:now )?(?:deprecated|legacy)\b"
    if _OPENS.match(opening) or re.search(own, opening):
        return Deprecation(folded([opening]))
    return None


def _directive(lines: Sequence[str], number: int) -> str:
    """The text of a directive, without the version that it begins with."""
    first, *rest = _block(lines, number)
    found = _DIRECTIVE.match(first)
    return folded([_SINCE.sub("", found[2].strip() if found else ""), *rest])


def _block(lines: Sequence[str], number: int) -> list[str]:
    """A directive with the first paragraph below it that is indented deeper; a blank line may separate them."""
    indent = len(lines[number]) - len(lines[number].lstrip())
    taken = [lines[number]]
    for line in lines[number + 1 :]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        if not line.strip() and any(one.strip() for one in taken[1:]):
            break
        taken.append(line)
    while not taken[-1].strip():
        taken.pop()
    return taken


def _names_any(said: str, parameters: Sequence[str]) -> bool:
    """Whether a text sets off a parameter: `*hash*`, or one of the callable's own in back-ticks."""
    marked = set(re.findall(r"(?<!`)`++(\w++)`", said))
    return bool(_EMPHASISED.search(said)) or bool(marked & set(parameters))


# -- parameters --


def of_parameters(node: _Function, parameters: Sequence[str], text: SourceText) -> dict[str, Deprecation]:
    """What a function says of the deprecation of its parameters; old names that a decorator still takes are among them."""
    found: dict[str, Deprecation] = {}
    for decorator in node.decorator_list:
        parts = _parts(decorator)
        if parts & _OF_PARAMETERS and not parts & _OF_USE and isinstance(decorator, ast.Call):
            for name, said in _of_decorator(decorator, parts, parameters, text):
                found.setdefault(name, said)
    for name, said in _conditional(node.body, parameters, text):
        found.setdefault(name, said)
    return found


def _of_decorator(
    call: ast.Call, parts: set[str], parameters: Sequence[str], text: SourceText
) -> Iterator[tuple[str, Deprecation]]:
    if parts & {"rename", "renamed"}:
        old, new = _old_and_new(call)
        if old and new:
            yield old, _source(call, text)._replace(instead=new)
    elif any("deprecat" in part for part in parts):
        yield from _by_keyword(call, parameters, text)
        for name in _strings_in(call):
            if name in parameters:
                yield name, _message(call, text) or _source(call, text)


def _old_and_new(call: ast.Call) -> tuple[str, str]:
    """The names in `rename_parameter("3.11", "old", "new")`; empty where they are not written."""
    names = [one for one in map(_string, call.args) if one.isidentifier()] + ["", ""]
    keywords = {keyword.arg or "": _string(keyword.value) for keyword in call.keywords}
    old = keywords.get("old") or keywords.get("old_name") or names[0]
    return old, keywords.get("new") or keywords.get("new_name") or names[1]


def _by_keyword(
    call: ast.Call, parameters: Sequence[str], text: SourceText
) -> Iterator[tuple[str, Deprecation]]:
    """`deprecated_params(order=("2.1", "use ``oracle_order`` instead"))`."""
    for keyword in call.keywords:
        if keyword.arg in parameters and isinstance(keyword.value, ast.Tuple):
            texts = [one for one in keyword.value.elts if " " in _string(one)]
            yield str(keyword.arg), (_written(texts[0], text) if texts else None) or _source(call, text)


def _strings_in(call: ast.Call) -> Iterator[str]:
    """The strings that a call is given, those in lists among them."""
    for value in [*call.args, *(keyword.value for keyword in call.keywords)]:
        yield from map(_string, value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value])


def _conditional(
    body: Sequence[ast.stmt], parameters: Sequence[str], text: SourceText
) -> Iterator[tuple[str, Deprecation]]:
    for statement in body:
        if not isinstance(statement, ast.If):
            continue
        name = _given(statement.test)
        if name not in parameters:
            continue
        said = next((one for one in _warnings(statement.body, text) if _speaks_of(one.said, name)), None)
        if said is not None:
            yield name, said


def _speaks_of(said: str, name: str) -> bool:
    """Whether a warning names the parameter and says that it goes; others announce another default."""
    return bool(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said)
        and re.search(r"(?i)deprecat|\bremoved\b|no longer", said)
    )


def _given(test: ast.expr) -> str:
    """The name that a condition finds given: `name`, `name is not None`, `"name" in kwargs`; not one of its values."""
    if isinstance(test, ast.Name):
        return test.id
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        if isinstance(test.ops[0], ast.IsNot) and isinstance(test.left, ast.Name):
            return test.left.id
        if isinstance(test.ops[0], ast.In):
            return _string(test.left)
    return ""


def annotated(annotation: ast.expr | None, default: ast.expr | None, text: SourceText) -> Deprecation | None:
    """`Annotated[type, deprecated("...")]`, `Field(deprecated=...)` as default or in the annotation."""
    parts: list[ast.expr] = [default] if default is not None else []
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
        parts += annotation.slice.elts[1:]
    for part in parts:
        if not isinstance(part, ast.Call):
            continue
        if _last(part.func) == "deprecated":
            return _message(part, text) or _source(part, text)
        given = next((one.value for one in part.keywords if one.arg == "deprecated"), None)
        if isinstance(given, ast.Constant) and given.value:
            return (_written(given, text) if isinstance(given.value, str) else None) or _source(part, text)
    return None


def in_description(lines: Sequence[str], name: str, described: str) -> Deprecation | None:
    """What the documentation of a parameter says of it; of one of its values it may say the same.

    Args:
        lines: as they are written.
        name: of the parameter.
        described: the first paragraph without the name and type that introduce it.
    """
    for number, line in enumerate(lines):
        if "::" not in line or not _DIRECTIVE.match(line):
            continue
        said = _directive(lines, number)
        if not said or _GOES.match(said) or re.match(_SUBJECT_GOES.format(re.escape(name)), said):
            return Deprecation(said or folded([line]))
    return Deprecation(folded([described])) if _OPENS.match(described) else None


def of_directive(
    doc: docstrings.Docstring, doc_line: int, parameters: Sequence[str]
) -> Iterator[tuple[str, Deprecation]]:
    """`.. deprecated:: 24.1.0 *hash* is deprecated in favor of *unsafe_hash*.` at the end of a docstring."""
    for number, line in enumerate(doc.lines):
        if "::" in line and _DIRECTIVE.match(line):
            said = _directive(doc.lines, number)
            named = re.match(r"\W{0,3}(\w+)\W{1,3}(?:is deprecated|$|Removal|has been|was deprecated)", said)
            if named and named[1] in parameters:
                new = re.search(r"in favou?r of \W{0,3}(\w+)", said)
                written = _block(doc.lines, number)
                yield (
                    named[1],
                    Deprecation(
                        said,
                        tuple(written),
                        doc_line + number,
                        new[1] if new and new[1] in parameters else "",
                    ),
                )


# -- what is written --


def _parts(decorator: ast.expr) -> set[str]:
    return set(_last(decorator.func if isinstance(decorator, ast.Call) else decorator).lower().split("_"))


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _string(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _message(
    call: ast.expr, text: SourceText, assigned: dict[str, ast.expr] | None = None
) -> Deprecation | None:
    """The sentence that a call is given: by a keyword for it, or the first text of several words."""
    if not isinstance(call, ast.Call):
        return None
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    given = [*(keywords[name] for name in _MESSAGES if name in keywords), *call.args]
    values = [(assigned or {}).get(one.id, one) if isinstance(one, ast.Name) else one for one in given]
    return next((said for one in values if (said := _written(one, text)) is not None), None)


def _written(node: ast.expr, text: SourceText) -> Deprecation | None:
    """A text of several words as it is written, without its quotes; a formatted one only if it has one line."""
    if isinstance(node, ast.JoinedStr) and node.lineno == node.end_lineno:
        body = re.fullmatch(r"[rRfF]{1,2}(?P<mark>\"|')(.*)(?P=mark)", text.segment(node))
        said = body[2] if body and '"' not in body[2] else ""
        return Deprecation(folded([said]), (said,), node.lineno) if len(said.split()) > 2 else None
    if len(_string(node).split()) < 2:
        return None
    assert isinstance(node, ast.Constant)
    doc, line = text.parsed(node)
    if doc is None:
        return None
    lines = tuple(_BREAKS.sub("", one) for one in doc.lines)
    return Deprecation(folded(lines), lines, line)


def _source(node: ast.expr, text: SourceText) -> Deprecation:
    lines = text.segment(node).split("\n")
    return Deprecation(folded(lines), tuple(lines), node.lineno)
