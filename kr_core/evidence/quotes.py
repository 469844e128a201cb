"""Quotes and whether a passage really holds them."""

from __future__ import annotations

import re

_SPACES = re.compile(r"\s+")
_PROMPT = re.compile(r"^(?:>>>|\.\.\.|\$)(?: |$)")


def folded(text: str) -> str:
    """A text with every run of white space as one blank: line breaks and indentation do not change what it says."""
    return _SPACES.sub(" ", text).strip()


_ROLE = re.compile(r":[\w:+.-]{1,100}:`[~!]?([^`<\s]*+(?:\s++[^`<\s]++)*+(?:\s*+(?=`))?)(?:\s*+<[^`>]*+>)?`")
_LINK = re.compile(r"`(\s*+[^`<\s]++(?:\s++[^`<\s]++)*+)\s*+<[^`>]++>`_{1,2}")


_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*\)")
_TAG = re.compile(r"</?(?:abbr|a|b|i|em|strong|code|span|p|br|sup|sub)(?: [^<>]*)?/?>")


def plain(text: str) -> str:
    """A text as it reads: without roles, link targets, inline tags and double backticks, white space folded."""
    text = _ROLE.sub(r"`\1`", text)
    text = _MARKDOWN_LINK.sub(r"\1", text)
    text = _TAG.sub("", text)
    text = _LINK.sub(r"\1", text)
    return folded(re.sub(r"(?<!`)``(?!`)", "`", text))


def holds(passage: str, quote: str) -> bool:
    """Whether a quote stands in a passage, white space and mark-up aside; an empty quote does not."""
    wanted = plain(quote)
    return bool(wanted) and wanted in plain(passage)


def holds_code(passage: str, code: str) -> bool:
    """Whether each line of a code example stands in a passage, in order.

    Prompts (`>>> `), indentation and what a doctest printed between the lines may have been removed.
    """
    source = [_bare(line) for line in passage.split("\n")]
    wanted = [line for line in map(_bare, code.split("\n")) if line]
    position = 0
    for line in wanted:
        while position < len(source) and not _same_code(line, source[position]):
            position += 1
        if position == len(source):
            return False
        position += 1
    return bool(wanted)


def _bare(line: str) -> str:
    """A line of code without what may stand before it: a comment's mark, a prompt."""
    return _PROMPT.sub("", folded(line.lstrip("#: "))).lstrip("#: ")


def _same_code(line: str, source: str) -> bool:
    """Whether a line is the whole of a source line, but for a comment at its end."""
    return source.startswith(line) and (source == line or source[len(line) :].lstrip().startswith("#"))
