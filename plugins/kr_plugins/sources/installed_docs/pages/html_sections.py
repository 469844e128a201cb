"""HTML pages of built documentation as text: each section and each described object, code between fences.

Pages that Sphinx built are regular, so tags are found by one pattern; nothing more is asked of others than not to fail. The
parser of the standard library takes twice as long for them, and for a page of unclosed tags it takes minutes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_SKIPPED = frozenset(
    {"script", "style", "nav", "header", "footer", "form", "button", "svg", "template", "noscript"}
)
_CLOSED_BY = {"p": {"p", "ul", "ol", "dl", "div", "section", "pre", "table"}, "li": {"li"}, "dt": {"dt", "dd"}, "dd": {"dt", "dd"},
              "tr": {"tr"}, "td": {"td", "th", "tr"}, "th": {"td", "th", "tr"}}  # fmt: skip
"""Elements whose end tag may be left out, and what ends them."""
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE_CODE = frozenset({"code", "tt"})
_DEEPEST = 200
_MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|<(/?)([a-zA-Z][\w-]*+)([^<>]*+)>|<[!?][^<>]*>", re.DOTALL)
_RAW = frozenset({"script", "style"})
_CLASS = re.compile(r"""\bclass=["']([^"'<>]*)["']""")
_LINE_NUMBER = re.compile(r'<span class="linenos">[^<]*</span>')
_NOT_A_CHARACTER = re.compile("&#[0-9]{1000,}+;?")
"""Python reads no number of thousands of digits."""
_ID = re.compile(r"""\bid=["']([^"'<>]+)["']""")
_PYTHON = frozenset({"default", "python", "python3", "pycon", "pycon3", "ipython", "ipython3", "py"})


@dataclass(slots=True)
class Node:
    """An element, with what it holds in order."""

    tag: str
    id: str = ""
    classes: frozenset[str] = frozenset()
    children: list[Node | str] = field(default_factory=list)

    def nodes(self) -> Iterator[Node]:
        """The elements right below."""
        return (child for child in self.children if isinstance(child, Node))


class PageSection(NamedTuple):
    """What stands at one anchor of a page."""

    anchors: tuple[str, ...]
    heading: str
    """The heading of a section, the signature of an object."""
    text: str
    code: tuple[str, ...]
    described: bool
    """Whether it is an object's description (`dt` and `dd`), not a section."""


def parse(html: str) -> Node:
    """The elements of a page; what is not well-formed is taken as it comes."""
    root = Node("html")
    opened = [root]
    place = 0
    for found in _MARKUP.finditer(
        _LINE_NUMBER.sub("", _NOT_A_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", html))
    ):
        if found.start() < place:
            continue  # inside a script
        if found.start() > place:
            opened[-1].children.append(unescape(found.string[place : found.start()]))
        place = found.end()
        tag = (found[2] or "").lower()
        if found[1]:
            _end(opened, tag)
        elif tag in _RAW:
            end = found.string.find(f"</{tag}", place)
            place = end if end >= 0 else len(found.string)
        elif tag:
            _start(opened, tag, found[3])
    return root


def _start(opened: list[Node], tag: str, attributes: str) -> None:
    while len(opened) > 1 and tag in _CLOSED_BY.get(opened[-1].tag, ()):
        opened.pop()
    anchor, classes = _ID.search(attributes), _CLASS.search(attributes)
    if tag == "span" and anchor is None:
        return  # highlighting makes most tags of a page
    node = Node(tag, unescape(anchor[1]) if anchor else "", frozenset(classes[1].split() if classes else ()))
    opened[-1].children.append(node)
    if tag not in _VOID and tag != "span" and not attributes.endswith("/") and len(opened) < _DEEPEST:
        opened.append(node)


def _end(opened: list[Node], tag: str) -> None:
    if tag == "span":
        return
    for place in range(len(opened) - 1, 0, -1):
        if opened[place].tag == tag:
            del opened[place:]
            return


def pieces(root: Node) -> list[PageSection]:
    """The sections and described objects of a page, each without those inside it, in order."""
    found: list[PageSection] = []
    _walk(root, found, 0)
    return found


def _walk(node: Node, found: list[PageSection], depth: int) -> None:
    if node.tag in _SKIPPED or depth > _DEEPEST:
        return
    if _is_section(node):
        found.append(_section(node))
    elif node.tag == "dl":
        _descriptions(node, found)
    for child in node.nodes():
        _walk(child, found, depth + 1)


def _is_section(node: Node) -> bool:
    return bool(node.id) and (node.tag == "section" or (node.tag == "div" and "section" in node.classes))


def _section(node: Node) -> PageSection:
    heading = next((child for child in node.nodes() if child.tag in _HEADINGS), None)
    anchors = [node.id, *(child.id for child in node.nodes() if child.tag == "span" and child.id)]
    writer = _MarkdownWriter()
    for child in node.children:
        if child is not heading:
            writer.write(child)
    title = _inline(heading) if heading is not None else ""
    return PageSection(tuple(anchors), title, writer.text(), tuple(writer.code), described=False)


def _descriptions(node: Node, found: list[PageSection]) -> None:
    """The objects of a definition list: one or more `dt` with an anchor, and the `dd` that describes them."""
    terms: list[Node] = []
    for child in node.nodes():
        if child.tag == "dt":
            terms.append(child)
        elif child.tag == "dd":
            named = [term for term in terms if term.id]
            if named:
                writer = _MarkdownWriter()
                for each in child.children:
                    writer.write(each)
                anchors = tuple(term.id for term in named)
                signatures = [_inline(term) for term in named]
                found.append(
                    PageSection(
                        anchors,
                        signatures[0],
                        "\n\n".join([*signatures, writer.text()]).strip(),
                        tuple(writer.code),
                        described=True,
                    )
                )
            terms = []


_CONTAINERS = frozenset("div dl dd blockquote table".split())
_BLOCKS = frozenset("p ul ol dl div pre table tbody thead tr section blockquote".split())


class _MarkdownWriter:
    """Writes elements as Markdown: paragraphs, lists, fenced code; sections and described objects inside are left out."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.code: list[str] = []

    def text(self) -> str:
        return "\n\n".join(part for part in self.parts if part)

    def write(self, child: Node | str, depth: int = 0, language: str = "") -> None:
        if isinstance(child, str):
            self.parts.append(" ".join(child.split()))
        elif _is_left_out(child) or depth > _DEEPEST:
            pass
        elif child.tag == "pre":
            self.fence(_verbatim(child).strip("\n"), language)
        elif child.tag in {"ul", "ol"}:
            self.items(child, depth, language)
        elif child.tag == "tr":
            self.parts.append(" | ".join(_inline(cell) for cell in child.nodes()))
        elif _holds_blocks(child):
            named = next((name[10:] for name in child.classes if name.startswith("highlight-")), language)
            for each in child.children:
                self.write(each, depth + 1, named)
        else:
            self.parts.append(_inline(child))

    def items(self, node: Node, depth: int, language: str) -> None:
        for number, item in enumerate((child for child in node.nodes() if child.tag == "li"), 1):
            inner = _MarkdownWriter()
            for each in item.children:
                inner.write(each, depth + 1, language)
            text = inner.text()
            self.parts.append(f"{f'{number}.' if node.tag == 'ol' else '-'} {text}" if text else "")
            self.code += inner.code

    def fence(self, code: str, language: str) -> None:
        if not code.strip():
            return
        name = "python" if language in _PYTHON else "" if language in {"none", "text"} else language
        mark = "````" if "```" in code else "```"
        self.parts.append(f"{mark}{name}\n{code}\n{mark}")
        self.code.append(code)


def _is_left_out(node: Node) -> bool:
    """Whether an element says nothing here; sections and described objects are pieces of their own."""
    if node.tag in _SKIPPED or node.tag == "colgroup" or _is_section(node):
        return True
    return node.tag == "dl" and any(term.id for term in node.nodes() if term.tag == "dt")


def _holds_blocks(node: Node) -> bool:
    if node.tag in _HEADINGS or node.tag in {"p", "dt"}:
        return False
    return node.tag in _CONTAINERS or any(_is_block(each) for each in node.nodes())


def _is_block(node: Node) -> bool:
    return node.tag in _BLOCKS


def _inline(node: Node) -> str:
    """The text of an element on one line; code in backticks, links to the heading itself left out."""
    return re.sub(r"(?<!\s)\s++([,.;:)])(?=\s|$)", r"\1", " ".join("".join(_inline_parts(node, 0)).split()))


def _inline_parts(node: Node, depth: int) -> Iterator[str]:
    for child in node.children:
        if isinstance(child, str):
            yield child
        elif (
            child.tag in _SKIPPED
            or "headerlink" in child.classes
            or "viewcode-link" in child.classes
            or depth > _DEEPEST
        ):
            continue
        elif (
            child.tag in _INLINE_CODE
            and node.tag != "dt"
            and not child.classes & {"descname", "descclassname"}
        ):
            yield f"`{_verbatim(child)}`"
        else:
            yield from _inline_parts(child, depth + 1)
            if child.tag in {"br", "p", "li", "td", "div"}:
                yield " "


def _verbatim(node: Node, depth: int = 0) -> str:
    if depth > _DEEPEST:
        return ""
    return "".join(
        child if isinstance(child, str) else _verbatim(child, depth + 1) for child in node.children
    )
