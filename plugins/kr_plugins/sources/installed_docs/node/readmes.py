"""The READMEs of npm packages as passages, and those of a package's dependencies, for what it hands on: `express` reads bodies with `body-parser`."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kr_plugins.sources.installed_docs.code_blocks import fenced_code
from kr_plugins.sources.installed_docs.node import options
from kr_plugins.sources.installed_docs.node.package import find_package, readme_text
from kr_plugins.sources.installed_docs.text_sections import TextFile, text_passages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kr_core.toolkit import IndexedPassage
    from kr_plugins.sources.installed_docs.node.package import NodePackage
    from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

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
_DEEPEST = 2
_MAX_PACKAGES = 60


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


def _named_sections(text: TextFile) -> Iterator[IndexedPassage]:
    """The sections of a README whose types are not read; the options of a function go by its name."""
    yield from options.named(list(sections(text)), {})


def _without_targets(title: str) -> str:
    """A heading without pictures, the targets of its links and backticks."""
    title = " § ".join(part.strip() for part in _PICTURE.sub("", title).split(" § "))
    return re.sub(r"\[([^\]]{0,500}+)\]\([^)]{0,2000}+\)", r"\1", title).replace("`", "")


def _is_contents(text: str) -> bool:
    """Whether a section is a list of links: a table of contents says every word and explains none."""
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) > 3 and sum(bool(_LINK_LINE.match(line)) for line in lines) > 0.6 * len(lines)


def dependencies_of(package: NodePackage) -> Iterator[NodePackage]:
    """The dependencies of a package to depth 2, as Node finds them, nearest first, each once."""
    seen = {package.folder}
    waiting = [(package, 0)]
    while waiting and len(seen) <= _MAX_PACKAGES:
        here, depth = waiting.pop(0)
        named = here.data.get("dependencies")
        for name in sorted(named) if isinstance(named, dict) and depth < _DEEPEST else ():
            one = find_package(name, here.folder, here.within)
            if one is not None and one.folder not in seen:
                seen.add(one.folder)
                waiting.append((one, depth + 1))
                yield one


@dataclass(slots=True)
class DependencyReadmes:
    """The READMEs of what a package depends on, to depth 2, as one material.

    Args:
        package: whose dependencies.
        own_fingerprint: of the package; it changes when something else is installed.
    """

    package: NodePackage
    own_fingerprint: str
    notes: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The name in the cache."""
        return f"npm-{self.package.name}-dependencies"

    @property
    def version(self) -> str:
        """The version of the package whose dependencies they are."""
        return self.package.version

    @property
    def empty(self) -> str | None:
        """Why there is nothing to read; None where there is something."""
        return None if any(True for _one in dependencies_of(self.package)) else "no dependencies"

    @property
    def fingerprint(self) -> str:
        """Changes when the package or the version of a dependency does."""
        parts = [
            self.own_fingerprint,
            *(f"{one.folder}:{one.version}" for one in dependencies_of(self.package)),
        ]
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def passages(
        self, progress: Callable[[int, int], None], budget: ReadingBudget
    ) -> tuple[list[IndexedPassage], list[str]]:
        """The sections of all READMEs, each under its package's name, and no notes.

        Raises:
            Cancelled: the consultation was given up.
        """
        found: list[IndexedPassage] = []
        packages = list(dependencies_of(self.package))
        for number, one in enumerate(packages):
            progress(number, len(packages))
            text = readme_text(one, one.name)
            data = {"url": one.url, "version": one.version}
            found += [
                passage._replace(data={**passage.data, **data})
                for passage in budget.up_to(one.name, _named_sections(text) if text is not None else ())
            ]
        progress(len(packages), len(packages))
        return found, []
