"""Text as it reads: words, and what is left without mark-up; what values may be derived from."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["folded", "normalised", "plain", "split_identifier", "unquoted", "words"]

_SIMPLE = re.compile(r"[a-z0-9 \-,:;?!()\"`]*")
"""Texts without capitals, underscores, apostrophes and the like, as most topics are; their words need no closer look."""
_LOWER = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"[A-Za-z]+/[0-9]+(?:\.[0-9]+)?|[^\W_]+(?:['’][a-z]+)?|(?<!_)_+[^\W_]+", re.UNICODE)
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")

_SPACES = re.compile(r"\s+")
_ROLE = re.compile(
    r"(?::[\w:+.-]{1,100}:|\{[a-z][\w:+.-]{0,60}\})`[~!.]?(?:_\w{1,60}\.)?([^`<\s]*+(?:\s++[^`<\s]++)*+(?:\s*+(?=`))?)(?:\s*+<[^`>]*+>)?`"
)
_PEP = re.compile(r":pep:`(\d{1,5})`", re.IGNORECASE)
_INLINE_TAG = re.compile(
    r"(?:\[([^\[\]{}]{1,200})\])?\{@(?:link|linkcode|linkplain|code|inheritDoc)\s++([^{}|\s]++)(?:\s*+\|?\s*+([^{}]*+))?\}"
)
_REFERENCE = re.compile(r"(?<![\w\])])\[(`?[^\[\]`]{1,200}`?)\]\[[\w.:() -]{0,200}\]")
_LINK = re.compile(r"`(\s*+[^`<\s]++(?:\s++[^`<\s]++)*+)\s*+<[^`>]++>`_{1,2}")
_ADDRESSED = re.compile(r"`([^`]{1,300}?)\s*+<(?:https?:|mailto:)[^`>\s]{1,500}+>`_{1,2}")
_TILDE = re.compile(r"(?<![\w~`/.])~(?=[A-Za-z_]\w{0,60}\.\w)")
_SUFFIX = re.compile(r"(?<=`)\\(?=\w)")
_SUBSTITUTION = re.compile(r"(?<![^\s(,])\|([A-Za-z](?:[\w. -]{0,60}\w)?)\|_{0,2}(?![\w|])")
"""reST's `|str|` and `|callable|_`, which its author replaces elsewhere; the cell of a table has blanks around it."""
_ESCAPED = re.compile(r"(?<=\w)\\_")
_PARAMETER_TAG = re.compile(
    r"(?<!\S)@param\s++(?:\{[^{}\n]{0,200}\}\s*+)?\[?([\w$.]{1,80}(?:=[^\[\]\s]{1,40})?)\]?(?:\s++-)?(?=\s)"
)
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*\)")
_TAG = re.compile(r"</?(?:abbr|a|b|i|em|strong|code|span|p|br|sup|sub)(?: [^<>]*)?/?>")
_QUOTED_LINE = re.compile(r"^[ \t]*+>(?!>>)(?:[ \t]?>)*+[ \t]*+(?:\[![A-Z]+\])?", re.MULTILINE)
"""The mark of a quotation in Markdown, which some use for notes; three of them are the prompt of Python."""
_LITERAL_OR_TAG = re.compile(rf"(``[^`]{{1,200}}``)|{_TAG.pattern}")
"""What stands between double backticks is shown as it is; a tag elsewhere is mark-up."""
_RAISED = {"<sup": "^", "<sub": "_"}
"""What is written in place of these tags: `2<sup>10</sup>` is not 210."""
_DOUBLE = re.compile(r"(?<!`)``(?!`)")

_MARK_UP: tuple[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    ("`", _PEP, r"PEP \1"),
    ("`", _ROLE, r"`\1`"),
    ("{@", _INLINE_TAG, lambda found: found[1] or f"`{found[3].strip() or found[2]}`"),
    ("][", _REFERENCE, r"\1"),
    ("@param", _PARAMETER_TAG, r"`\1`:"),
    ("|", _SUBSTITUTION, r"\1"),
    ("\\_", _ESCAPED, "_"),
    ("](", _MARKDOWN_LINK, r"\1"),
    ("<", _LITERAL_OR_TAG, lambda found: found[1] or _RAISED.get(found[0][:4], "")),
    ("<", _LINK, r"\1"),
    ("<", _ADDRESSED, r"\1"),
    ("~", _TILDE, ""),
    ("`\\", _SUFFIX, ""),
    ("``", _DOUBLE, "`"),
)
"""Each mark-up with a sign that it cannot do without, by which most texts are done: few have any mark-up."""


def split_identifier(word: str) -> list[str]:
    """The parts of a camelCase, PascalCase or mixed identifier, lower-case; one part for a plain word."""
    return [part.lower() for part in _CAMEL.findall(word)]


def words(text: str) -> list[str]:
    """The words of prose or code, in order, lower-case.

    snake_case and dotted names fall into their parts, camelCase stays whole and its parts are added,
    `HTTP/2` is one word (`http2`; `HTTP/1.1` is `http11` and `http1`), an apostrophe ends a word, and CJK runs become bigrams.
    """
    if _SIMPLE.fullmatch(text):
        return _LOWER.findall(text)
    found: list[str] = []
    for word in _WORD.findall(text):
        plain = word.replace("/", "").lstrip("_").split("'")[0].split("’")[0]
        if not plain:
            continue
        if "." in plain:  # a protocol and its version
            found += [plain.replace(".", "").lower(), plain.partition(".")[0].lower()]
            continue
        if _CJK.search(plain):
            found.extend(_bigrams(plain))
            continue
        found.append(plain.lower())
        if not plain.islower() and not plain.isupper():
            parts = split_identifier(plain)
            if len(parts) > 1:
                found.extend(parts)
    return found


def _bigrams(run: str) -> list[str]:
    pieces: list[str] = []
    for piece in re.findall(
        rf"{_CJK.pattern}++|(?:(?<![^\W_])|(?<={_CJK.pattern}))(?:(?!{_CJK.pattern})[^\W_])++(?={_CJK.pattern}|$)",
        run,
    ):
        if _CJK.search(piece) and len(piece) > 1:
            pieces.extend(piece[i : i + 2] for i in range(len(piece) - 1))
        else:
            pieces.append(piece.lower())
    return pieces


def folded(text: str) -> str:
    """A text with every run of white space as one blank: line breaks and indentation do not change what it says."""
    return _SPACES.sub(" ", text).strip()


def unquoted(text: str) -> str:
    """A text in Markdown without the marks of what it quotes."""
    return _QUOTED_LINE.sub("", text) if ">" in text else text


def plain(text: str) -> str:
    """A text as it reads: without roles, link targets, inline tags and double backticks, white space folded."""
    text = unquoted(text)
    for sign, pattern, written in _MARK_UP:
        if sign in text:
            text = pattern.sub(written, text)
    return folded(text)


@lru_cache(maxsize=16_384)
def normalised(statement: str) -> str:
    """A statement as it is compared letter by letter: without mark-up, case, punctuation and double blanks."""
    return " ".join(words(plain(statement)))
