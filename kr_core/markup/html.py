"""HTML of strangers, read in one pass: in a time that grows with its length, whatever it is made for.

It is no parser of documents: it tells tags from text, keeps `<pre>` blocks as they are, and writes either simpler HTML for a
parser that would need hours for some pages, or plain Markdown.
"""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "HTMLPart",
    "PreBlock",
    "beginning",
    "fenced",
    "markdown",
    "parts",
    "simplified",
    "tidy",
    "unescaped",
    "with_blocks",
]

_OPENING = re.compile(r"<(?=[a-zA-Z/!?])")
_TAG = re.compile(
    r"""<(/?)([a-zA-Z][^\s/>]*+)((?:[^>="']|=\s*+"[^"]*+"|=\s*+'[^']*+'|[="'])*+)>""",
)
"""A tag to its end; a quote matters only after `=` (HTML Standard, 13.2.5)."""
_ATTRIBUTE = re.compile(
    r"""([^\s"'>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]*+)))?|["'=/]""",
)
_KEPT_ATTRIBUTES = frozenset({"class", "id", "role", "itemprop", "href"})
"""By these the main text is told from what surrounds it."""
_OUTLINE = frozenset("article aside body div footer header main nav".split())
"""Tags whose class and id say so; those of a section are named after what it is about, such as cookies, comments or footers."""
_MAX_VALUE_LENGTH = 200
_UNREAD = (
    "script",
    "style",
    "noscript",
    "template",
    "iframe",
    "object",
    "textarea",
    "xmp",
    "noembed",
    "svg",
    "math",
)
"""What stands in them is nothing to read."""
_ASIDE = frozenset("nav footer aside form dialog select button menu".split())
_BLOCKS = frozenset(
    """address article blockquote body br dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
    header hr html li main nav ol p section summary table tbody tfoot thead title tr ul""".split()
)
_LANGUAGE = re.compile(
    r"(?:^|[\s_-])(?:language|lang|source|highlight|brush:?|sourcecode)[\s:_-]+([a-z][a-z0-9+#]{0,19})(?![\w-])",
    re.IGNORECASE,
)
_A_LANGUAGE = re.compile(r"[a-z][a-z0-9+#]{0,19}")
_NO_LANGUAGE = frozenset(
    "code default highlight html5 nohighlight none notranslate plain plaintext source text txt".split()
)
_LINE_NUMBERS = re.compile(r"\s*+\d[\s\d]*+")
_NUMBER_CLASS = re.compile(r"\b(?:linenos?|line-?numbers?|lineno|gutter)\b", re.IGNORECASE)
_NOT_A_CHARACTER = re.compile("&#[0-9]{1000,}+;?")
_MAX_PARTS = 100_000
_MAX_CHARACTERS = 1_000_000
"""The longest references in one page have as much; it takes three seconds."""
_MAX_TAG_LENGTH = 2000
_NEAREST = 4
"""So many tags right before a `<pre>` may name its language."""


class HTMLPart(NamedTuple):
    """A tag or a run of text."""

    kind: Literal["open", "close", "text"]
    name: str
    """The tag's, in small letters."""
    data: str
    """The text, or the attributes, as they are written."""


class PreBlock(NamedTuple):
    """A `<pre>` block."""

    text: str
    """As a browser shows it, without the blank lines around it."""
    language: str
    """The one that its class names; empty where it names none."""


def parts(html: str) -> Iterator[HTMLPart]:
    """The tags and texts of a page, without comments, programs, styles and drawings.

    What is opened and never closed (a comment, a tag, a script) takes the rest of the page with it, as in a browser.
    """
    start = 0
    while (opening := _OPENING.search(html, start)) is not None:
        place = opening.start()
        if start < place:
            yield HTMLPart("text", "", html[start:place])
        tag = _TAG.match(html, place)
        if tag is not None:
            closing, name = bool(tag[1]), tag[2].lower()
            place = tag.end()
            if not closing and name in _UNREAD:
                end = _ENDS[name].search(html, place)
                if end is None:
                    return
                place = end.end()
            else:
                yield HTMLPart("close" if closing else "open", name, "" if closing else tag[3])
        elif html[place + 1 : place + 3].lstrip("/")[:1].isalpha():
            return
        else:
            mark = "-->" if html.startswith("<!--", place) else ">"
            place = html.find(mark, place) + len(mark)
            if place < len(mark):
                return
        start = place
    if start < len(html):
        yield HTMLPart("text", "", html[start:])


_ENDS = {name: re.compile(rf"</{name}[^>]{{0,1000}}+>", re.IGNORECASE) for name in _UNREAD}


def unescaped(text: str) -> str:
    """A text with its character references replaced, whatever number they have; Python reads no number of thousands of digits."""
    return unescape(_NOT_A_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text))


def beginning(page: Iterable[HTMLPart]) -> Iterator[HTMLPart]:
    """The same, up to what anybody would read of a page."""
    left = _MAX_CHARACTERS
    for part in islice(page, _MAX_PARTS):
        if part.kind != "text":
            yield part._replace(data=part.data[:_MAX_TAG_LENGTH])
            continue
        yield part._replace(data=part.data[:left])
        left -= len(part.data)
        if left <= 0:
            return


def attributes(data: str) -> dict[str, str]:
    """The attributes of a tag by name, in small letters; the first of each counts."""
    found: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(data):
        if name:
            found.setdefault(name.lower(), "".join(values))
    return found


def with_blocks(page: Iterable[HTMLPart]) -> Iterator[HTMLPart | PreBlock]:
    """The same, with each `<pre>` and what stands in it as one block."""
    nearest: list[str] = []
    inner: list[HTMLPart] | None = None
    for part in page:
        if inner is not None:
            if part.name == "pre" and part.kind == "close":
                yield from _block(inner, nearest)
                inner, nearest = None, []
            else:
                inner.append(part)
        elif part.name == "pre" and part.kind == "open":
            inner, nearest = [], [*nearest[1 - _NEAREST :], part.data]
        else:
            if part.kind == "open":
                nearest = [*nearest[1 - _NEAREST :], part.data]
            elif part.kind == "text" and part.data.strip():
                nearest = []
            yield part
    if inner is not None:
        yield from _block(inner, nearest)


def _block(inner: list[HTMLPart], nearest: list[str]) -> Iterator[PreBlock]:
    said, skipped = [], ""
    for part in inner:
        if skipped:
            skipped = "" if part.kind == "close" and part.name == skipped else skipped
        elif part.kind == "text":
            said.append(unescaped(part.data))
        elif part.name == "br" and part.kind == "open":
            said.append("\n")
        elif part.kind == "open" and (
            part.name == "button" or _NUMBER_CLASS.search(part.data[:_MAX_VALUE_LENGTH])
        ):
            skipped = part.name
    text = "".join(said).replace("\r\n", "\n").replace("\r", "\n").replace("\N{NO-BREAK SPACE}", " ")
    text = text.strip("\n").rstrip()
    if text.strip() and not _LINE_NUMBERS.fullmatch(text):
        codes = [part.data for part in inner[:2] if part.name == "code" and part.kind == "open"]
        yield PreBlock(text, _language([*codes, *reversed(nearest)]))


def _language(tags: list[str]) -> str:
    """The language that the innermost of some tags names."""
    for data in tags:
        said = attributes(data)
        named: list[str] = [said.get("data-lang", ""), said.get("data-language", "")]
        named += _LANGUAGE.findall(said.get("class", "")[:_MAX_VALUE_LENGTH])
        for one in map(str.lower, named):
            if _A_LANGUAGE.fullmatch(one) and one not in _NO_LANGUAGE:
                return "python" if one == "python3" else one
    return ""


def simplified(page: Iterable[HTMLPart | PreBlock], placeholder: str) -> tuple[str, list[PreBlock]]:
    """The page as HTML with few attributes, its blocks replaced by numbered placeholders; and the blocks."""
    html: list[str] = []
    blocks: list[PreBlock] = []
    for part in page:
        if isinstance(part, PreBlock):
            html.append(f"<pre>{placeholder}{len(blocks)}x</pre>")
            blocks.append(part)
        elif part.kind == "text":
            html.append(part.data)
        elif part.kind == "close":
            html.append(f"</{part.name}>")
        else:
            html.append(f"<{part.name}{_attributes_kept(part)}>")
    return "".join(html), blocks


def _attributes_kept(part: HTMLPart) -> str:
    said = attributes(part.data)
    is_outline = part.name in _OUTLINE and "section" not in said.get("class", "").split()
    names = _KEPT_ATTRIBUTES if is_outline else _KEPT_ATTRIBUTES - {"class", "id"}
    return "".join(
        f' {name}="{value}"'
        for name, value in said.items()
        if name in names and '"' not in value and len(value) <= _MAX_VALUE_LENGTH
    )


def markdown(page: Iterable[HTMLPart | PreBlock]) -> str:
    """All that can be read on the page as plain Markdown: headings, lists, tables and blocks; menus and forms are left out."""
    text: list[str] = []
    aside: dict[str, int] = {}
    for part in page:
        if isinstance(part, PreBlock):
            if not aside:
                text.append(f"\n\n{fenced(part)}\n\n")
            continue
        if part.kind != "text" and part.name in _ASIDE:
            aside[part.name] = aside.get(part.name, 0) + (1 if part.kind == "open" else -1)
            aside = {name: depth for name, depth in aside.items() if depth > 0}
        elif not aside:
            text.append(_written(part))
    return tidy("".join(text))


def _written(part: HTMLPart) -> str:
    name, opens = part.name, part.kind == "open"
    if part.kind == "text":
        return re.sub(r"\s+", " ", unescaped(part.data))
    if re.fullmatch("h[1-6]", name):
        return f"\n\n{'#' * int(name[1])} " if opens else "\n\n"
    if name == "li":
        return "\n- " if opens else ""
    if name in {"td", "th"}:
        return "" if opens else " | "
    if name in {"code", "tt", "kbd", "samp"}:
        return "`"
    if name in {"br", "tr"}:
        return "\n" if opens else ""
    return "\n\n" if name in _BLOCKS else ""


def fenced(block: PreBlock) -> str:
    """A block between fences that nothing in it can close."""
    longest = max((len(run) for run in re.findall(r"`{3,}", block.text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{block.language}\n{block.text}\n{fence}"


def tidy(text: str) -> str:
    """Markdown without blanks around its lines, signs of links to headings, and runs of blank lines; blocks stay as they are."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = re.match(r"`{3,}", line)
        if fence:
            lines.append(line)
            fence = "" if line == fence else fence
            continue
        if mark:
            fence = mark[0]
        said = line if mark else _without_sign(line.rstrip())
        said = said.strip() if not line.startswith("  ") else said.rstrip()
        if said or (lines and lines[-1]):
            lines.append(said)
    return "\n".join(lines).strip("\n")


_SIGNS = ("¶", "\N{LINK SYMBOL}", " #", " \\#")


def _without_sign(line: str) -> str:
    """A line without the sign of a link to this very place, as headings and definitions end in."""
    sign = next((sign for sign in _SIGNS if line.endswith(sign)), "")
    return line.removesuffix(sign).rstrip()
