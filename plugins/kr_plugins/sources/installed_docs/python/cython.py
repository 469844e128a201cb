"""Cython (`.pyx`, `.pxi`) made readable for Python's own parser: heads and docstrings stay, all else becomes blanks.

Every character that stays keeps its line and column, so that positions in the result are positions in the file.
"""

from __future__ import annotations

import re

_HEAD = re.compile(r"^([ \t]*)(cdef class|class|async def|cpdef|def)\b(.*)$")
_NAME = re.compile(r"(?<!\w)([A-Za-z_]\w*+)\s*+$")
_ARGUMENT = re.compile(
    r"(?:(?<![ \t])|(?=\*))(\*{0,2})[ \t]*+(?<!\w)([A-Za-z_]\w*+)[ \t]*+(?:(?:not|or)[ \t]++None)?[ \t]*+$"
)
_DOC = re.compile(r"^[ \t]*[rRuU]?(\"\"\"|'''|\"|')")
_LONGEST_HEAD = 60
"""Lines of a head; a longer one is something else."""


def as_python(text: str) -> str:
    """The text with only what documents it: classes, functions and their docstrings."""
    lines = text.split("\n")
    kept = [""] * len(lines)
    number = 0
    inside: int | None = None  # how far the function is indented whose body is passed over
    while number < len(lines):
        line = lines[number]
        found = _HEAD.match(line)
        indent = len(line) - len(line.lstrip())
        if inside is not None and line.strip() and indent <= inside:
            inside = None
        if found is None or inside is not None:
            number += 1
            continue
        head, end = _head(lines, number)
        if not head:
            number += 1
            continue
        kept[number:end] = head
        after = _docstring(lines, end, indent, kept)
        body = _body(lines, after, indent)
        if body is not None:
            kept[body] = " " * (len(lines[body]) - len(lines[body].lstrip())) + "pass"
        elif after == end:
            kept[number:end] = [""] * (end - number)
        is_class = "class" in found[2]
        inside = None if is_class else indent
        number = after if is_class or body is None else body + 1
        if is_class and body is not None and _HEAD.match(lines[body]):
            kept[body] = ""
    return "\n".join(kept)


def _head(lines: list[str], start: int) -> tuple[list[str], int]:
    """The masked lines of a head, and the line after it; no lines where it is not one that can be read."""
    taken: list[str] = []
    for number in range(start, min(len(lines), start + _LONGEST_HEAD)):
        taken.append(lines[number].split("#")[0].rstrip())
        whole = "\n".join(taken)
        if whole.endswith(":") and whole.count("(") == whole.count(")"):
            return _masked(whole).split("\n"), number + 1
    return [], start


def _masked(head: str) -> str:
    """A head without C's types: `cpdef int put(int size=1) except -1:` as `def       put(    size=1)          :`."""
    opening = head.find("(")
    found = _HEAD.match(head.split("\n", maxsplit=1)[0])
    assert found is not None
    indent, word = found[1], found[2]
    plain = {"cdef class": "class", "cpdef": "def"}.get(word, word)
    before = head[: opening if opening >= 0 else len(head) - 1]
    name = _NAME.search(before)
    if name is None:
        return ""
    start = len(indent) + len(plain)
    masked = indent + plain + " " * (name.start(1) - start) + name[1]
    if opening < 0:
        return masked + ":"
    closing = head.rfind(")")
    masked += " " * (opening - len(masked))
    if "class" in word:
        return masked + head[opening:]
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
