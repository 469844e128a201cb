"""Docstrings taken apart: lead, documented parameters, sections and code, each with its line.

Four styles are read, as they are met in the wild: Google (`Args:`), NumPy (underlined headings), Sphinx
(`:param name:`) and Markdown bullets (`* **name** - text`). Line numbers count from 0 within the cleaned text,
so that a citation can name the line of the file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_plugins.sources.installed_docs.code_blocks import CodeBlock, code_blocks, fence_end

if TYPE_CHECKING:
    from collections.abc import Sequence

_GOOGLE_PARAMETERS = re.compile(
    r"^(?:Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters|Attributes):\s*$"
)
_GOOGLE_SECTION = re.compile(
    r"^(?:Returns?|Raises|Yields?|Examples?|Notes?|References|See Also|Todo|Warnings?|Warns|Usage):\s*$"
)
_NUMPY_PARAMETERS = frozenset({"parameters", "other parameters", "attributes", "keyword arguments"})
_MARKDOWN_PARAMETERS = re.compile(
    r"^(?:\*\*|#+ *)(?:Parameters|Arguments|Args|Options):?(?:\*\*)?:?\s*$", re.IGNORECASE
)
_FIELD = re.compile(
    r"^:(?:param|parameter|arg|argument|key|keyword|kwarg|kwparam|attr|ivar|cvar)\s++([^:]++):(?:\s++(.*))?$"
)
_ANY_FIELD = re.compile(r"^:[a-zA-Z][^:`]*:(?:\s|$)")
_NAME = r"\*{0,2}[A-Za-z_][\w.\-]*+"
_GOOGLE_ENTRY = re.compile(
    rf"^({_NAME}(?:\s*(?:,|/)\s*{_NAME})*)\s*+(?:\(((?:[^()]*+\([^)]*+\))*[^)]*+)\)\s*+)?:(?:\s++(.*))?$"
)
_NUMPY_ENTRY = re.compile(rf"^({_NAME}(?:\s*+,\s*+{_NAME})*+)\s*+(?::\s*+(.*))?$")
_BULLET_ENTRY = re.compile(
    rf"^[*+-]\s+(?:\*\*|``?)({_NAME}(?:(?:\*\*|``?)?\s*,\s*(?:\*\*|``?)?{_NAME})*)(?:\*\*|``?)\s*+(?:[-:–—]++\s*+)?(.*)$"
)
_MARKED_NAME = r"[*+-]?\s*(?:\*\*|\*|``?)?(\w++)(?:\*\*|\*|``?)?"
_HEADED = re.compile(rf"{_MARKED_NAME}\s*(?:(?:--?|[–—:])\s+\S.*|:?)$")
_MARKED = re.compile(r"[*`](\w++)[*`]")
_ALONE = re.compile(rf"{_MARKED_NAME}:?")
_ONLY_NAME = re.compile(r"[A-Za-z_]\w*+(?:\.\w++)*+")
_UNDERLINE = re.compile(r"^([-=~^\"'`#*+])\1{2,}\s*$")
_MAX_NAMES = 20
"""Parameters that one description may name; each of them gets the whole description."""
_MAX_PARAGRAPH = 900
"""Characters of a paragraph that says something of one parameter; a longer one is about the whole."""


class DocumentedParameter(NamedTuple):
    """A parameter as a docstring describes it."""

    name: str
    type_text: str
    line: int
    end: int
    """The line after its last one."""
    default: str = ""
    """The default beside the name: `:param pool_size=5:`."""
    is_attribute: bool = False
    """Listed under `Attributes`: where the constructor does not take it, nothing does."""


class DocstringSection(NamedTuple):
    """A headed part of a docstring; the unheaded beginning has the title ''."""

    title: str
    line: int
    end: int
    parameters: bool


class Docstring(NamedTuple):
    """A cleaned docstring and where its parts are."""

    lines: tuple[str, ...]
    lead: str
    """The first paragraph, folded into one line."""
    sections: tuple[DocstringSection, ...]
    parameters: tuple[DocumentedParameter, ...]
    code: tuple[CodeBlock, ...]

    def of_parameters(self) -> set[int]:
        """The numbers of the lines that describe parameters, their headings too: these are passages of their own."""
        parts = [(section.line, section.end) for section in self.sections if section.parameters]
        parts += [(parameter.line, parameter.end) for parameter in self.parameters]
        return {number for start, end in parts for number in range(start, end)}


def clean(value: str) -> tuple[list[str], int]:
    """The lines of a docstring without its indentation and outer blank lines, and how many lines were cut off at the top.

    The same as `inspect.cleandoc`, but that it says what it removed.
    """
    lines = value.expandtabs().split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    margin = min(indents, default=0)
    cleaned = [lines[0].strip(), *(line[margin:].rstrip() for line in lines[1:])]
    while cleaned and not cleaned[-1]:
        cleaned.pop()
    cut = 0
    while cleaned and not cleaned[0]:
        cleaned.pop(0)
        cut += 1
    return cleaned, cut


def parse(lines: list[str]) -> Docstring:
    """Take a cleaned docstring apart."""
    sections = _sections(lines)
    parameters: list[DocumentedParameter] = []
    for section in sections:
        if section.parameters:
            parameters.extend(_entries(lines, section))
    parameters.extend(_fields(lines))
    return Docstring(tuple(lines), lead(lines), tuple(sections), tuple(parameters), tuple(code_blocks(lines)))


def lead(lines: list[str]) -> str:
    """The first paragraph of prose, folded into one line; admonitions, directives, headings and code are not prose.

    One that is only a name (`Page.goto`) is a heading, where another one follows.
    """
    first, end = _first_prose(lines)
    return (_first_prose(lines[end:])[0] if _ONLY_NAME.fullmatch(first) else "") or first


def _first_prose(lines: list[str]) -> tuple[str, int]:
    """The first paragraph of prose, and the number of the line behind it."""
    paragraph: list[str] = []
    number = 0
    skipping = False
    aside: int | None = None  # how far an admonition is indented: what stands deeper belongs to it
    code_end = 0
    for number, line in enumerate(lines):
        stripped = line.strip()
        if number < code_end:
            continue
        if not stripped or _ANY_FIELD.match(line):
            if paragraph:
                break
            skipping = False
            continue
        if aside is not None and len(line) - len(line.lstrip()) > aside:
            continue
        aside = None
        code_end = fence_end(lines, number)
        if code_end:
            if paragraph:
                break
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if not paragraph and (stripped.startswith(("!!!", "???", "..", "@")) or _UNDERLINE.match(following)):
            skipping = True  # to the end of this paragraph
            indent = len(line) - len(line.lstrip())
            aside = indent if stripped.startswith(("!!!", "???", "..")) else None
        if skipping:
            continue
        if _UNDERLINE.match(line) or stripped.startswith(">>>"):
            if paragraph:
                break
            continue
        paragraph.append(stripped)
    return re.sub(r"^[-*+•]\s+", "", " ".join(paragraph)), number


def _sections(lines: list[str]) -> list[DocstringSection]:
    starts: list[tuple[int, int, str, bool]] = [(0, 0, "", False)]  # line, first body line, title, parameters
    begun: dict[int, str] = {}
    number = 0
    while number < len(lines):
        line = lines[number]
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if code_end := fence_end(lines, number):
            number = code_end
            continue
        if line.strip() and not line.startswith(" ") and _UNDERLINE.match(following):
            title = line.strip()
            starts.append((number, number + 2, title, title.lower() in _NUMPY_PARAMETERS))
            number += 2
            continue
        if _MARKDOWN_PARAMETERS.match(line):
            starts.append((number, number + 1, "Parameters", True))
        elif _GOOGLE_PARAMETERS.match(line):
            starts.append((number, number + 1, line.strip().rstrip(":"), True))
        elif _GOOGLE_SECTION.match(line):
            starts.append((number, number + 1, line.strip().rstrip(":"), False))
        elif starts[-1][3] and line and not line[0].isspace() and re.match(r"^\*\*[^*]+:?\*\*:?\s*$", line):
            starts.append((number, number + 1, line.strip("*: "), False))
        elif (
            starts[-1][3]
            and starts[-1][1] == starts[-1][0] + 1
            and _leaves(lines, starts[-1][1], number, begun)
        ):
            starts.append((number, number, "", False))
        number += 1
    ends = [start[0] for start in starts[1:]] + [len(lines)]
    return [
        DocstringSection(title, body, end, parameters)
        for (_line, body, title, parameters), end in zip(starts, ends, strict=True)
        if end > body
    ]


def _leaves(lines: list[str], start: int, number: int, begun: dict[int, str]) -> bool:
    """Whether an unindented line comes after a list of parameters: below indented ones, or in a paragraph of its own.

    `begun` keeps the first line with text of each list, which is looked for once.
    """
    line = lines[number]
    if not line.strip() or line[0].isspace() or _BULLET_ENTRY.match(line):
        return False
    if start not in begun:
        begun[start] = next(lines[place] for place in range(start, number + 1) if lines[place].strip())
    return begun[start][0].isspace() or not (lines[number - 1].strip() or _GOOGLE_ENTRY.match(line))


def _entries(lines: list[str], section: DocstringSection) -> list[DocumentedParameter]:
    found: list[tuple[str, str, int]] = []
    margin = min(
        (len(line) - len(line.lstrip()) for line in lines[section.line : section.end] if line.strip()),
        default=0,
    )
    numpy = section.line > 0 and bool(_UNDERLINE.match(lines[section.line - 1]))
    end = section.end
    for number in range(section.line, section.end):
        line = lines[number]
        if not line.strip():
            continue
        if len(line) - len(line.lstrip()) > margin:
            continue
        text = line.strip()
        bullet = _BULLET_ENTRY.match(text)
        if bullet:
            found.append((bullet[1], "", number))
            continue
        if margin == 0 and not numpy and found and section.title != "Parameters":
            end = number  # unindented text after a Google section is no longer part of it
            break
        entry = _NUMPY_ENTRY.match(text) if numpy else _GOOGLE_ENTRY.match(text)
        if entry:
            found.append((entry[1], (entry[2] or "").strip(), number))
    if not found:
        return []
    ends = [line for _names, _type, line in found[1:]] + [end]
    return [
        DocumentedParameter(
            name, type_text, line, last, is_attribute=section.title.lower().startswith("attributes")
        )
        for (names, type_text, line), last in zip(found, ends, strict=True)
        for name in _split_names(names)
    ]


def listed(lines: Sequence[str], described: DocumentedParameter) -> list[DocumentedParameter]:
    """The keywords that the description of `**kwargs` lists as bullets, each as a parameter; none where only one is listed."""
    bullets = {
        number: entry
        for number in range(described.line + 1, described.end)
        if (entry := _BULLET_ENTRY.match(lines[number].strip()))
    }
    depth = min((_depth(lines[number]) for number in bullets), default=0)
    starts = [number for number in bullets if _depth(lines[number]) == depth]
    ends = [*starts[1:], described.end][: len(starts)]
    found = [
        DocumentedParameter(name, "", start, end)
        for start, end in zip(starts, ends, strict=True)
        for name in _split_names(bullets[start][1])
    ]
    return found if len(found) > 1 else []


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def described(lines: Sequence[str], name: str) -> tuple[int, int] | None:
    """The lines (first, one past the last) in which a docstring describes a parameter outside of any section; None if it does not.

    Three ways are met: the name alone on a line with indented text below it, the name before a dash or colon, and a
    paragraph that marks the name as code.
    """
    if not any(name in line for line in lines):
        return None
    for number, line in enumerate(lines):
        stripped = line.strip()
        headed = _HEADED.match(stripped) if name in stripped else None
        if headed is None or headed[1] != name:
            continue
        end = _block_end(lines, number)
        if end > number + 1 or not _ALONE.fullmatch(stripped):
            return number, end
    marked = tuple(f"{before}{name}{after}" for before in "*`" for after in "*`")
    end = 0
    for number, line in enumerate(lines):
        if number >= end and name in line and any(mark in line for mark in marked):
            start, end = _paragraph(lines, number)
            if sum(map(len, lines[start:end])) <= _MAX_PARAGRAPH:
                return start, _end_of_paragraphs(lines, start, end, name)
    return None


def _end_of_paragraphs(lines: Sequence[str], start: int, end: int, name: str) -> int:
    """The line after the paragraphs that go on about the same: "When *interval* is 0.0 ..." after "When *interval* is > 0.0 ..."."""
    while end + 1 < len(lines):
        following = _paragraph(lines, end + 1)
        first = _MARKED.search(lines[following[0]])
        is_about = first is not None and first[1] == name
        if not is_about or sum(map(len, lines[start : following[1]])) > _MAX_PARAGRAPH:
            break
        end = following[1]
    return end


def _block_end(lines: Sequence[str], number: int) -> int:
    """The line after a block: a line, and those below it that are indented more, with the blank ones between them."""
    depth = len(lines[number]) - len(lines[number].lstrip())
    end = number + 1
    for place in range(number + 1, len(lines)):
        line = lines[place]
        if not line.strip():
            continue
        if len(line) - len(line.lstrip()) <= depth:
            break
        end = place + 1
    return end


def _paragraph(lines: Sequence[str], number: int) -> tuple[int, int]:
    start, end = number, number + 1
    while start and lines[start - 1].strip():
        start -= 1
    while end < len(lines) and lines[end].strip():
        end += 1
    return start, end


def _split_names(names: str) -> list[str]:
    parts = re.split(r"[,/]", names, maxsplit=_MAX_NAMES)[:_MAX_NAMES]
    return [name.strip(" *`") for name in parts if name.strip(" *`")]


def _fields(lines: list[str]) -> list[DocumentedParameter]:
    found: list[DocumentedParameter] = []
    types: dict[str, str] = {}
    for number, line in enumerate(lines):
        typed = re.match(r"^\s*+:type\s++(\S[^\s:]*+):\s*+(.*)$", line)
        if typed:
            types[typed[1]] = typed[2]
        field = _FIELD.match(line.strip())
        if not field:
            continue
        indent = len(line) - len(line.lstrip())
        end = number + 1
        while end < len(lines) and (
            not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent
        ):
            end += 1
        while end > number + 1 and not lines[end - 1].strip():
            end -= 1
        *kind, name = field[1].replace(",", " ").split()
        name, _equals, default = name.partition("=")
        found.append(DocumentedParameter(name.strip("*\\"), " ".join(kind), number, end, default))
    return [entry._replace(type_text=entry.type_text or types.get(entry.name, "")) for entry in found]
