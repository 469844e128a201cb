"""The sections of the READMEs of npm packages, as passages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_plugins.sources.installed_docs.code_blocks import fenced_code
from kr_plugins.sources.installed_docs.node import options
from kr_plugins.sources.installed_docs.text_sections import TextFile, text_passages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.toolkit import IndexedPassage

_LINK_LINE = re.compile(r"\s*(?:[-*+]|\d+\.)\s+\[[^\]]*\]\(")
_ABOUT_OTHERS = re.compile(
    r"\b(?:comparisons?|alternatives?|versus|vs|benchmarks?|ecosystem|sponsors?|powered by|breaking changes|migrating)\b",
    re.IGNORECASE,
)
"""Headings below which other packages, or other versions, are spoken of."""
_FORMER = re.compile(r"\b(?:deprecated|legacy)\b|~~", re.IGNORECASE)
"""What the heading says of what users should no longer write."""
_TARGET = r"(?:\[[^\]]{0,300}+\]|\([^)]{0,2000}+\))"
_PICTURE = re.compile(rf"\[!\[[^\]]{{0,300}}+\]{_TARGET}\]{_TARGET}|!\[[^\]]{{0,300}}+\]{_TARGET}")
_HEADING_NAME = re.compile(r"(?<![\w$])[^\WA-Za-z_]*+([A-Za-z_$][\w$]*+)\s*+(?:\(|$)")


def sections(text: TextFile) -> Iterator[IndexedPassage]:
    """The sections of a README: in npm packages often the only documentation, so they count as much as a symbol.

    A heading that is the name of a function (`.safeParse`, `axios.get(url[, config])`) is found by its parts too.
    """
    lines = [*[""] * (text.first_line - 1), *text.text.split("\n")]
    for passage in text_passages(text, code=fenced_code):
        named = _HEADING_NAME.search(passage.title.rpartition(" § ")[2])
        words = f"{passage.words} {named[1]}" if named else passage.words
        about = passage.name if text.title == "README" else text.title
        last = passage.title.rpartition(" § ")[2]
        aside = _is_contents(passage.text) or _ABOUT_OTHERS.search(about) or _FORMER.search(last)
        section = passage._replace(
            kind="page",
            title=_without_targets(passage.title),
            name=_without_targets(passage.name),
            words=words,
            prior=0.2 if aside else passage.prior,
            data={**passage.data, "kind": "section"},
        )
        yield from options.split(options.marked(section, lines))


def _without_targets(title: str) -> str:
    """A heading without pictures, the targets of its links and backticks."""
    title = " § ".join(part.strip() for part in _PICTURE.sub("", title).split(" § "))
    return re.sub(r"\[([^\]]{0,500}+)\]\([^)]{0,2000}+\)", r"\1", title).replace("`", "")


def _is_contents(text: str) -> bool:
    """Whether a section is a list of links: a table of contents says every word and explains none."""
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) > 3 and sum(bool(_LINK_LINE.match(line)) for line in lines) > 0.6 * len(lines)
