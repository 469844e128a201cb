"""The READMEs of a package's dependencies, for what the package hands on: `express` reads bodies with `body-parser`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kr_plugins.sources.installed_docs.node.package import find_package, readme_text
from kr_plugins.sources.installed_docs.node.readme_sections import sections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kr_core.toolkit import IndexedPassage
    from kr_plugins.sources.installed_docs.node.package import NodePackage
    from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

_DEEPEST = 2
_MAX_PACKAGES = 60


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
        return None if any(True for _one in self.packages()) else "no dependencies"

    @property
    def fingerprint(self) -> str:
        """Changes when the package or the version of a dependency does."""
        parts = [self.own_fingerprint, *(f"{one.folder}:{one.version}" for one in self.packages())]
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def packages(self) -> Iterator[NodePackage]:
        """The dependencies as Node finds them, nearest first, each once."""
        seen = {self.package.folder}
        waiting = [(self.package, 0)]
        while waiting and len(seen) <= _MAX_PACKAGES:
            here, depth = waiting.pop(0)
            named = here.data.get("dependencies")
            for name in sorted(named) if isinstance(named, dict) and depth < _DEEPEST else ():
                one = find_package(name, here.folder, here.within)
                if one is not None and one.folder not in seen:
                    seen.add(one.folder)
                    waiting.append((one, depth + 1))
                    yield one

    def passages(
        self, progress: Callable[[int, int], None], budget: ReadingBudget
    ) -> tuple[list[IndexedPassage], list[str]]:
        """The sections of all READMEs, each under its package's name, and no notes.

        Raises:
            Cancelled: the consultation was given up.
        """
        found: list[IndexedPassage] = []
        packages = list(self.packages())
        for number, one in enumerate(packages):
            progress(number, len(packages))
            text = readme_text(one, one.name)
            data = {"url": one.url, "version": one.version}
            found += [
                passage._replace(data={**passage.data, **data})
                for passage in budget.up_to(one.name, sections(text) if text is not None else ())
            ]
        progress(len(packages), len(packages))
        return found, []
