"""What models and people have written, as HTML that is safe to show: no forms, scripts, images or styles.

Markdown is rendered with HTML switched off, and the result is cleaned all the same.
"""

from __future__ import annotations

from functools import cache
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.rules_core import StateCore

__all__ = ["links", "to_html"]

_LONGEST = 60_000
"""Characters; what is longer is shown as it is written, since the time that Markdown takes grows with it."""
_SCHEMES = {"http", "https", "mailto"}
_TAGS = set(
    "a blockquote br code del em h3 h4 h5 h6 hr li ol p pre s span strong table tbody td th thead tr ul".split()
)
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_LOWEST_HEADING = 6
_HEADING_BELOW = 3
"""The page's own headings go down to this level."""


def to_html(text: str, below: int = _HEADING_BELOW) -> Markup:
    """A text as HTML; a link says where it leads, and an image is a link.

    Args:
        text: Markdown.
        below: the level of the page's headings above it.
    """
    text = printable(text)
    if len(text) > _LONGEST:
        return Markup("<pre>{}</pre>").format(text)
    rendered = _parser().render(text, {"below": below})
    cleaned = nh3.clean(
        rendered,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes={"span": {"host"}},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow external",
    )
    return Markup(cleaned)  # noqa: S704  it was cleaned right above


def links(text: str) -> list[str]:
    """The addresses that a text links to or names, in order, each once."""
    if len(text) > _LONGEST:
        return []
    found = [
        str(child.attrGet("href"))
        for token in _parser().parse(printable(text))
        for child in token.children or ()
        if child.type == "link_open"
    ]
    return [url for url in dict.fromkeys(found) if url.startswith(("http://", "https://"))]


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable("image")  # `!` and a link are left of it: nothing is loaded from anywhere
    parser.core.ruler.push("below_the_page", _below)
    return parser


def _below(state: StateCore) -> None:
    """Headings below those of the page; links that lead out of it, each with its host."""
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            level = min(_LOWEST_HEADING, int(token.tag[1:]) + state.env.get("below", _HEADING_BELOW))
            token.tag = f"h{level}"
        elif token.children:
            token.children = _with_hosts(token.children)


def _with_hosts(children: Sequence[Token]) -> list[Token]:
    made: list[Token] = []
    target = ""
    shown = ""
    for child in children:
        if child.type == "link_open":
            target, shown = str(child.attrGet("href") or ""), ""
            if not _leads_out(target):
                child.attrs = {}
        elif child.type == "link_close":
            made.append(child)
            host = _host(target)
            if host and shown != target:
                made.append(_html(f'<span class="host"> ({escape(host)})</span>'))
            continue
        else:
            shown += child.content
        made.append(child)
    return made


def _html(html: str) -> Token:
    token = Token("html_inline", "", 0)
    token.content = html
    return token


def _leads_out(url: str) -> bool:
    return url.partition(":")[0].casefold() in _SCHEMES


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "") if _leads_out(url) else ""
    except ValueError:
        return ""
