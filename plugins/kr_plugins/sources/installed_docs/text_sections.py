"""Sections of a README, documentation file or module docstring turned into passages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import IndexedPassage
from kr_plugins.sources.installed_docs import markup
from kr_plugins.sources.installed_docs.python import docstrings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kr_plugins.sources.installed_docs.python.docstrings import CodeBlock

_HOUSEKEEPING = re.compile(
    r"^v?\d+\.\d+|\bv\d+\.\d|\b(?:change(?:s|log)?|release|history|contribut|licen[cs]e|credit|sponsor|author|community|support(?:ing)? |badge|donate"
    r"|acknowledg|security|code of conduct|what's new|backers|documentation$|links?$)",
    re.IGNORECASE,
)


class TextFile(NamedTuple):
    """A README or documentation file: its text, and the line of the file on which the text begins (from 1)."""

    title: str
    path: str
    text: str
    first_line: int = 1


def text_passages(
    text: TextFile,
    *,
    docstring: bool = False,
    code: Callable[[list[str]], list[CodeBlock]] = docstrings.code_blocks,
) -> Iterator[IndexedPassage]:
    """The sections of a README or documentation file; `code` finds the examples in their lines."""
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
            prior=0.4 if _HOUSEKEEPING.search(heading) else 0.75 if _is_feature_list(section.text) else 0.9,
            data={"lines": [[0, text.first_line + section.line]]},
        )


def _is_feature_list(text: str) -> bool:
    """Bulleted praise mentions everything and explains nothing."""
    lines = [line for line in text.split("\n") if line.strip()]
    bullets = sum(line.lstrip().startswith(("* ", "- ", "+ ")) for line in lines)
    return bullets >= 4 and bullets >= 0.6 * len(lines)


def _prose(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.lstrip().startswith(("<", "![", "[!["))]
