"""What Context7 gives for a question, as pieces of text with the place they come from.

All of it is text from outside: nothing is followed or run, `rules` (what a library's owners want to say to models) is not
read, and an address that is none of the web is not shown.
"""

from __future__ import annotations

import re
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 100
"""So many snippets of a kind are read; the service sends the best first, and some ten."""
_LONGEST = 20_000
"""Characters; a longer snippet is a file, and no passage."""
_MAX_TITLE_LENGTH = 200
_MAX_URL_LENGTH = 1000
_NUMBER = re.compile(r"#_snippet_\d+$")
_LANGUAGE = re.compile(r"\w[\w+#-]{0,29}")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_NO_PROSE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|[|<>]|!\[|[-=*_]{3,}[ \t]*$)")
"""What begins a paragraph that explains nothing: a heading, a table, a quote, HTML, a picture, a rule."""


_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f]")


class Snippet(NamedTuple):
    """A piece of documentation."""

    text: str
    """Verbatim, as Markdown; code between fences."""
    title: str
    lead: str
    """Its first paragraph of prose, folded into one line; empty where there is none."""
    code: tuple[str, ...]
    """What stands between its fences."""
    url: str
    """Where it comes from; empty where the service names no page of the web."""
    locator: str
    """The heading or page that it stands under."""


def snippets_in(body: dict[str, Any]) -> list[Snippet]:
    """The snippets of an answer, each text once; what is not of the known form is left out."""
    found = [*map(_of_code, _list(body, "codeSnippets")), *map(_of_prose, _list(body, "infoSnippets"))]
    return list({one.text: one for one in found if one is not None and one.text}.values())


def _of_code(value: Any) -> Snippet | None:
    if not isinstance(value, dict):
        return None
    title, description = _line(value.get("codeTitle")), _text(value.get("codeDescription"))
    language = value.get("codeLanguage")
    blocks = [
        (_text(block.get("code"), strip="\n"), block.get("language") or language)
        for block in _list(value, "codeList")
        if isinstance(block, dict)
    ]
    blocks = [(code, told) for code, told in blocks if code.strip()]
    if not blocks:
        return None
    said = description or title  # what has no description is explained by its title alone
    text = "\n\n".join([*([said] if said else []), *(_fenced(code, told) for code, told in blocks)])
    if len(text) > _LONGEST:
        return None
    page = _line(value.get("pageTitle"))
    return Snippet(
        text=text,
        title=title or page,
        lead=_lead(said),
        code=tuple(textwrap.dedent(code) for code, _told in blocks),
        url=_address(value.get("codeId")),
        locator=page or title,
    )


def _of_prose(value: Any) -> Snippet | None:
    if not isinstance(value, dict):
        return None
    text, trail = _text(value.get("content")), _line(value.get("breadcrumb"))
    if len(text) > _LONGEST:
        return None
    return Snippet(
        text=text,
        title=trail,
        lead=_lead(text),
        code=tuple(_code_in(text)),
        url=_address(value.get("pageId")),
        locator=trail or _line(value.get("pageTitle")),
    )


def _fenced(code: str, language: Any) -> str:
    """Code between fences that are longer than any in it."""
    longest = max((len(found) for found in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    named = _LANGUAGE.fullmatch(language) if isinstance(language, str) else None
    return f"{fence}{named[0] if named else ''}\n{code}\n{fence}"


def _lead(text: str) -> str:
    for paragraph, fenced in _blocks(text):
        folded = " ".join(paragraph.split())
        if folded and not fenced and not _NO_PROSE.match(paragraph):
            return folded
    return ""


def _code_in(text: str) -> Iterator[str]:
    for block, fenced in _blocks(text):
        if fenced and block.strip():
            yield textwrap.dedent(block).strip("\n")


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """The paragraphs of a text and what stands between its fences, in order, and whether it is the latter."""
    lines: list[tuple[str, int]] = []
    fence, number = "", 0
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not line.strip(" \t`~"))):
            fence = "" if fence else mark[1]
            number += 1
            continue
        if not fence and not line.strip():
            number += 1
            continue
        lines.append((line, 2 * number + bool(fence)))
    for key, group in groupby(lines, lambda one: one[1]):
        yield "\n".join(line for line, _key in group), bool(key % 2)


def _address(value: Any) -> str:
    """The page of a snippet's id; empty where that is no address of the web, or bears a password."""
    url = _NUMBER.sub("", value) if isinstance(value, str) else ""
    if (
        len(url) > _MAX_URL_LENGTH
        or not re.fullmatch(r"https?://[!-~]+", url)
        or re.search(r"[\"<>\\^`{|}]", url)
    ):
        return ""
    try:
        parts = urlsplit(url)
        return url if parts.hostname and "@" not in parts.netloc else ""
    except ValueError:
        return ""


def _list(value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return found[:_MOST] if isinstance(found, list) else []


def _line(value: Any) -> str:
    return " ".join(_text(value).split())[:_MAX_TITLE_LENGTH]


def _text(value: Any, *, strip: str | None = None) -> str:
    """A text with plain line ends, without control characters and lone surrogates; empty for what is none."""
    if not isinstance(value, str):
        return ""
    lines = value.replace("\r\n", "\n").replace("\r", "\n")
    shown = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", lines)  # else a blank to some, and none to others
    return shown.encode("utf-8", "replace").decode().strip(strip)
