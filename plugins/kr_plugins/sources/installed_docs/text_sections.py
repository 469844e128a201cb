"""Sections of a README, documentation file or module docstring turned into passages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import IndexedPassage
from kr_plugins.sources.installed_docs import markup
from kr_plugins.sources.installed_docs.code_blocks import code_blocks
from kr_plugins.sources.installed_docs.python import docstrings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kr_plugins.sources.installed_docs.code_blocks import CodeBlock

_HOUSEKEEPING = re.compile(
    r"^v?\d+\.\d+|\bv\d+\.\d|\b(?:change(?:s|log)?|release|history|contribut|licen[cs]e|credit|sponsor|author|community|support(?:ing)? |badge|donate"
    r"|acknowledg|security|code of conduct|what's new|backers|documentation$|links?$)",
    re.IGNORECASE,
)


CHANGES = re.compile(r"(?:change(?:s|log)?|history|news|releases?(?:[-_ ]notes)?)\b", re.IGNORECASE)
"""The beginning of a changelog's name."""
_TITLE = re.compile(r"^(?:title|name):[ \t]*+([^\n]{1,200})$", re.MULTILINE)
_LONGEST_FRONT_MATTER = 10_000


class TextFile(NamedTuple):
    """A README or documentation file: its text, and the line of the file on which the text begins (from 1)."""

    title: str
    path: str
    text: str
    first_line: int = 1


def without_front_matter(text: str) -> tuple[str, str, int]:
    """The title in a page's front matter (YAML between lines of `---`), the text below it, and the line that it begins on."""
    if not text.startswith("---\n"):
        return "", text, 1
    head, found, body = text[4:].partition("\n---\n")
    if not found or len(head) > _LONGEST_FRONT_MATTER:
        return "", text, 1
    title = _TITLE.search(head)
    return title[1].strip("\"' ") if title else "", body, head.count("\n") + 4


def text_passages(
    text: TextFile,
    *,
    docstring: bool = False,
    code: Callable[[list[str]], list[CodeBlock]] = code_blocks,
) -> Iterator[IndexedPassage]:
    """The sections of a README or documentation file; `code` finds the examples in their lines."""
    is_changes = CHANGES.match(text.path.rpartition("/")[2]) is not None
    for section in markup.sections(text.text, docstring=docstring, code_of=code):
        title = " § ".join([text.title, *section.headings[-2:]])
        heading = " ".join(section.headings[-2:])
        prose = _prose(section.text.split("\n"))
        yield IndexedPassage(
            kind="section",
            title=title,
            text=section.text,
            locator=f"{text.path}:{text.first_line + section.line}",
            name=heading,
            lead=docstrings.lead(prose),
            code=section.code,
            prior=0.3 if is_changes else _prior(heading, section.text),
            data={"lines": [[0, text.first_line + section.line]]},
        )


def _prior(heading: str, text: str) -> float:
    return 0.4 if _HOUSEKEEPING.search(heading) else 0.75 if _is_feature_list(text) else 0.9


def _is_feature_list(text: str) -> bool:
    """Bulleted praise mentions everything and explains nothing."""
    lines = [line for line in text.split("\n") if line.strip()]
    bullets = sum(line.lstrip().startswith(("* ", "- ", "+ ")) for line in lines)
    return bullets >= 4 and bullets >= 0.6 * len(lines)


def _prose(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.lstrip().startswith(("<", "![", "[![", "{/*"))]
