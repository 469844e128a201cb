"""Cython (`.pyx`, `.pxi`) made readable for Python's own parser: heads and docstrings stay, all else becomes blanks.

Every character that stays keeps its line and column, so that positions in the result are positions in the file.
"""

from __future__ import annotations

import re

_HEAD = re.compile(
    r"^([ \t]*)(cdef (?:(?:public|api) ){0,2}class|class|property(?=[ ]+[A-Za-z_]\w*[ ]*:)|cpdef enum(?: class)?(?=[ ]+[A-Za-z_])"
    r"|async def|cpdef|def)\b(.*)$"
)
_TRIPLE = re.compile(r"\"\"\"|\'\'\'")
_NAME = re.compile(r"(?<!\w)([A-Za-z_]\w*+)\s*+$")
_ARGUMENT = re.compile(
    r"(?:(?<![ \t])|(?=\*))(\*{0,2})[ \t]*+(?<!\w)([A-Za-z_]\w*+)[ \t]*+(?:(?:not|or)[ \t]++None)?[ \t]*+$"
)
_DOC = re.compile(r"^[ \t]*[rRuU]?(\"\"\"|'''|\"|')")
_LONGEST_STRING = 2_000
"""Lines of a string; a longer one is a quotation mark in something else."""
_LONGEST_HEAD = 60
"""Lines of a head; a longer one is something else."""


def as_python(text: str) -> str:
    """The text with only what documents it: classes, functions and their docstrings."""
    lines = text.split("\n")
    kept = [""] * len(lines)
    number = 0
    inside: int | None = None  # how far the function is indented whose body is passed over
    classes: list[
        list[int]
    ] = []  # how far each open class is indented, and its body; -1 where that is not known yet
    while number < len(lines):
        line = lines[number]
        found = _HEAD.match(line)
        indent = len(line) - len(line.lstrip())
        if inside is not None and line.strip() and indent <= inside:
            inside = None
        if found is None or inside is not None:
            number = _behind_string(lines, number)
            continue
        while classes and classes[-1][0] >= indent:
            classes.pop()
        head, end = _head(lines, number)
        stands = not indent or (classes and classes[-1][1] in {-1, indent})  # not below an `if` or `try`
        if not head or not stands:
            inside = indent if head else None
            number += 1
            continue
        if classes:
            classes[-1][1] = indent
        kept[number:end] = head
        after = _docstring(lines, end, indent, kept)
        body = _body(lines, after, indent)
        if body is not None:
            kept[body] = " " * (len(lines[body]) - len(lines[body].lstrip())) + "pass"
        elif after == end:
            kept[number:end] = [""] * (end - number)
        is_class = _is_class(found[2]) and "enum" not in found[2]
        inside = None if is_class else indent
        number = after if is_class or body is None else body + 1
        if is_class and body is not None and _HEAD.match(lines[body]):
            kept[body] = ""
        if is_class:
            first = (
                next((one for one in kept[end : end + _LONGEST_STRING] if one.strip()), "")
                if body is not None or after > end
                else ""
            )
            classes.append([indent, len(first) - len(first.lstrip()) if first else -1])
    return "\n".join(kept)


def _behind_string(lines: list[str], number: int) -> int:
    """The line after one that is passed over, or after the string that begins there: C++ in `cdef extern from *`."""
    marks = _TRIPLE.findall(lines[number])
    if len(marks) % 2 == 0 or lines[number].lstrip().startswith("#"):
        return number + 1
    mark = marks[-1]
    for end in range(number + 1, min(len(lines), number + _LONGEST_STRING)):
        if mark in lines[end]:
            return end + 1
    return number + 1


def _head(lines: list[str], start: int) -> tuple[list[str], int]:
    """The masked lines of a head, and the line after it; no lines where it is not one that can be read."""
    taken: list[str] = []
    for number in range(start, min(len(lines), start + _LONGEST_HEAD)):
        line = lines[number].split("#")[0].rstrip()
        if number > start and not _goes_on("\n".join(taken), line):
            return [], start  # `cdef class Later`
        taken.append(line)
        whole = "\n".join(taken)
        if whole.endswith(":") and whole.count("(") == whole.count(")"):
            return _masked(whole).split("\n"), number + 1
    return [], start


def _goes_on(head: str, line: str) -> bool:
    """Whether a head goes on in the next line: in brackets, or behind a backslash."""
    is_open = any(head.count(one) != head.count(other) for one, other in ("()", "[]", "{}"))
    return is_open or head.endswith("\\") or not line.strip()


def _is_class(word: str) -> bool:
    """Whether what a word begins is read as a class: also an enum, and a property in Cython's old form."""
    return word == "property" or "class" in word or "enum" in word


def _masked(head: str) -> str:
    """A head without C's types: `cpdef int put(int size=1) except -1:` as `def       put(    size=1)          :`."""
    opening = head.find("(")
    found = _HEAD.match(head.split("\n", maxsplit=1)[0])
    assert found is not None
    indent, word = found[1], found[2]
    is_class = _is_class(word)
    plain = "class" if is_class else {"cpdef": "def"}.get(word, word)
    names = head.find("[") if is_class else -1  # `cdef public class A(B) [ type C, object D ]:`
    names = len(head) - 1 if names < 0 else names
    opening = -1 if opening > names and is_class else opening
    before = head[: opening if opening >= 0 else names]
    name = _NAME.search(before)
    if name is None:
        return _blank(head)
    start = len(indent) + len(plain)
    masked = indent + plain + " " * (name.start(1) - start) + name[1]
    if opening < 0:
        return masked + ":" + _blank(head[len(masked) + 1 :])
    closing = head.rfind(")", 0, names) if is_class else head.rfind(")")
    masked += " " * (opening - len(masked))
    if is_class:
        return masked + head[opening : closing + 1] + ":" + _blank(head[closing + 2 :])
    rest = head[closing + 1 : -1]
    return masked + "(" + _arguments(head[opening + 1 : closing]) + ")" + _blank(rest) + ":"


def _arguments(inner: str) -> str:
    depth, start, parts = 0, 0, []
    for place, character in enumerate([*inner, ","]):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(_argument(inner[start:place]))
            start = place + 1
    return ",".join(parts)


def _argument(written: str) -> str:
    """One argument: its name and default, the type before it as blanks; an annotation of Python's stays."""
    equals = _outside(written, "=")
    left, default = written[:equals], written[equals:]
    if _outside(left, ":") < len(left):
        return written
    found = _ARGUMENT.search(left)
    if found is None:
        return written
    typed = bool(left[: found.start()].strip())
    stars = "" if typed else found[1]
    kept = _blank(left[: found.start(2) - len(stars)]) + stars + found[2]
    return kept + _blank(left[len(kept) :]) + default


def _outside(text: str, wanted: str) -> int:
    """Where a character is first found outside of brackets; the length of the text where it is not."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == wanted and depth == 0:
            return place
    return len(text)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _docstring(lines: list[str], start: int, indent: int, kept: list[str]) -> int:
    """Keep the docstring that begins at a line or after blank ones; the line after it, else the start itself."""
    number = start
    while number < len(lines) and not lines[number].strip():
        number += 1
    found = _DOC.match(lines[number]) if number < len(lines) else None
    if found is None or len(lines[number]) - len(lines[number].lstrip()) <= indent:
        return start
    mark = found[1]
    rest = lines[number][found.end() :]
    end = number
    while mark not in rest:
        end += 1
        if end >= len(lines) or len(mark) == 1:
            return start
        rest = lines[end]
    if rest[rest.index(mark) + len(mark) :].strip():
        return start
    kept[number : end + 1] = lines[number : end + 1]
    return end + 1


def _body(lines: list[str], start: int, indent: int) -> int | None:
    """The first line of what is left of a body; None where nothing is."""
    for number in range(start, len(lines)):
        line = lines[number]
        if line.strip() and not line.lstrip().startswith("#"):
            return number if len(line) - len(line.lstrip()) > indent else None
    return None
