"""What there is to read about an npm package: its texts, its `package.json` and its declaration files."""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.toolkit import IndexedPassage, read_text
from kr_plugins.sources.installed_docs.duplicates import collapse
from kr_plugins.sources.installed_docs.node.exports import MOST_BYTES, Exports
from kr_plugins.sources.installed_docs.node.node_passages import PassageMaker
from kr_plugins.sources.installed_docs.node.package import (
    LARGEST_JSON,
    TYPINGS,
    entries,
    readme_text,
    types_package,
)
from kr_plugins.sources.installed_docs.node.readmes import sections
from kr_plugins.sources.installed_docs.node.script_comments import imported_files, script_files
from kr_plugins.sources.installed_docs.node.script_messages import messages_like
from kr_plugins.sources.installed_docs.package_index import placed_key
from kr_plugins.sources.installed_docs.pasted_messages import may_be_raised
from kr_plugins.sources.installed_docs.reading_budget import BudgetSpent, bounded
from kr_plugins.sources.installed_docs.shipped_documents import Documents, read_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kr_core.toolkit import ParsedQuestion
    from kr_plugins.sources.installed_docs.node.package import NodePackage
    from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

NO_DECLARATIONS = "it has no type declarations, so only its texts and the comments in its code were read"
"""What is noted of a package without types: what these do not say, its code may have."""
FORMAT = 20
"""Raised whenever reading or naming changes, so that older indexes are not used."""
_TEXTS = (".md", ".markdown", ".mdx", ".rst", ".txt")
_MAX_FILES = 20_000
_SKIPPED_FOLDERS = frozenset(
    {"node_modules", "__tests__", "test", "tests", "benchmarks", "examples", "coverage"}
)
_KEYS = {
    "version": "installed release number",
    "engines": "supported required minimum node version runtime",
    "peerDependencies": "peer dependency required alongside besides install react",
    "bin": "command line executable program run npx",
    "exports": "import require entry point subpath esm commonjs module",
    "type": "esm commonjs module import require",
    "homepage": "documentation website",
}
"""The keys of `package.json` that say something of use, and the words by which each is asked for."""


@dataclass(slots=True)
class NodeMaterial:
    """A package to be indexed.

    Args:
        package: which.
        notes: what could not be read.
    """

    package: NodePackage
    notes: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The name in the cache; told apart from a Python distribution of the same name."""
        return f"npm-{self.package.name}"

    @property
    def version(self) -> str:
        """The version that its `package.json` names."""
        return self.package.version

    @property
    def empty(self) -> str | None:
        """Why there is nothing to read; None where there is something: a `package.json` always says its version."""
        return None

    @property
    def fingerprint(self) -> str:
        """Changes when the package does, and is another one in every place.

        What npm unpacked is told by the files' names and sizes; a member of the project itself, which is edited in
        place, by their times too. Neither says what a clone has laid there, so the index serves no other place.
        """
        folders, within = [self.package.folder], self.package.within
        types = types_package(self.package)
        folders += [types.folder] if types else []
        typed = types or any(not subpath for subpath, _path in entries(self.package))
        scripts = script_files(self.package)
        scripts += [] if typed else imported_files(self.package, scripts)
        parts = [str(FORMAT), json.dumps(self.package.data, sort_keys=True)]
        unpacked = []
        for folder in folders:
            real = os.path.realpath(folder)
            edited = f"{os.sep}node_modules{os.sep}" not in real
            unpacked += [] if edited else [Path(real)]
            parts += [f"{path}:{size}:{times if edited else ''}" for path, size, times in _files(real)]
        parts += [f"{path.name}:{path.stat().st_size}" for path in scripts if path.is_file()]
        fingerprint = hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
        return fingerprint if within is None else placed_key(fingerprint, unpacked, [*folders, *within])

    def passages(
        self, progress: Callable[[int, int], None], budget: ReadingBudget
    ) -> tuple[list[IndexedPassage], list[str]]:
        """Read the package and make its passages; with them notes about what could not be read.

        Raises:
            Cancelled: the consultation was given up.
        """
        done = 0
        progress = budget.undisturbed(progress)

        def told(count: int) -> None:
            nonlocal done
            done = count
            progress(done, done + 1)

        budget.allow(MOST_BYTES)
        exports = Exports(self.package, told, budget.check)
        try:
            documents = budget.portion(lambda: self.texts(budget.check))
        except BudgetSpent:
            documents = Documents([], [])
            budget.left_out.append("all texts")
        known = len(budget.left_out)
        made = list(bounded(budget.up_to("all declarations", _declared(exports, documents)), exports.notes))
        if len(budget.left_out) > known:
            texts = (passage for text in documents.texts for passage in sections(text))
            made = list(bounded(budget.up_to("some texts", texts), exports.notes))
        with suppress(BudgetSpent):
            made = budget.portion(lambda: collapse(made, of_owner="attribute"))
        found = [*made, *_manifest(self.package)]
        progress(done, done)
        name = self.package.name
        types = f"@types/{name.removeprefix('@').replace('/', '__')}"
        is_untyped = not exports.notes and not exports.is_typed
        untyped = [f"{name}: {NO_DECLARATIONS}; `{types}` may have them"] if is_untyped else []
        return found, [*untyped, *documents.notes, *exports.notes]

    def messages(self, parsed: ParsedQuestion, check: Callable[[], None]) -> list[IndexedPassage]:
        """The messages in the code of the package that hold words of what a question quotes."""
        return messages_like(self.package, may_be_raised(parsed), check)

    def texts(self, check: Callable[[], None]) -> Documents:
        """The README, the other texts beside it, and what lies in `docs`, `dist/docs` and the folders of skills."""
        folder, within = self.package.folder, self.package.within
        found = read_documents(folder, f"{self.package.name}/", self.package.name, within, check)
        readme = readme_text(self.package, "README")
        return found._replace(texts=[*([readme] if readme else []), *found.texts])


def _files(folder: str) -> Iterator[tuple[str, int, str]]:
    """Path, size and times of the texts and declaration files below a folder; links are not followed.

    The times are that of writing, which an archive may set, and that of the change itself.
    """
    count = 0
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _SKIPPED_FOLDERS)
        for name in sorted(names):
            if not name.endswith((*TYPINGS, *_TEXTS)) and not name.lower().startswith("readme"):
                continue
            count += 1
            try:
                status = os.stat(os.path.join(here, name))  # noqa: PTH116, PTH118  thousands of files
            except OSError:
                continue
            times = f"{status.st_mtime_ns}:{status.st_ctime_ns}"
            yield os.path.relpath(os.path.join(here, name), folder), status.st_size, times  # noqa: PTH118  as above
        if count > _MAX_FILES:
            return


def _declared(exports: Exports, documents: Documents) -> Iterator[IndexedPassage]:
    yield from PassageMaker(exports, documents.texts).all()


def _manifest(package: NodePackage) -> Iterator[IndexedPassage]:
    """What `package.json` says of use, each key with its lines."""
    try:
        file = package.folder / "package.json"
        lines = read_text(file, limit=LARGEST_JSON, within=package.within).split("\n")
    except (OSError, UnicodeDecodeError):
        return
    where = f"{package.name}/package.json"
    for key, words in _KEYS.items():
        found = _lines_of(key, lines)
        if found is None or not package.data.get(key):
            continue
        first, last = found
        text = "\n".join(lines[first:last])
        yield IndexedPassage(
            kind="symbol", title=f"package.json § {key}", text=text, locator=f"{where}:{first + 1}", symbol=key,
            name=f"package.json {key}", lead=_value(lines[first:last]), code=(text,), words=words, prior=0.6,
            data={"lines": [[0, first + 1]], "what": "property", "signature": lines[first], "public": True},
        )  # fmt: skip
    description = package.data.get("description")
    place = _lines_of("description", lines)
    if isinstance(description, str) and description and place is not None and description in lines[place[0]]:
        yield IndexedPassage(
            kind="page", title=package.name, text=lines[place[0]].strip(), locator=f"{where}:{place[0] + 1}",
            name="description", lead=description, words="what is purpose", prior=0.6,
            data={"lines": [[0, place[0] + 1]]},
        )  # fmt: skip


def _value(lines: list[str]) -> str:
    """What stands between the braces of a short value, folded into one line; of a text the text itself."""
    inner = lines[1:-1] if len(lines) > 2 else [lines[0].partition(":")[2]]
    folded = " ".join(" ".join(inner).split()).rstrip(",")
    plain = folded[1:-1] if len(lines) < 3 else folded
    return plain if len(plain) <= 160 else ""


def _lines_of(key: str, lines: list[str]) -> tuple[int, int] | None:
    """The lines of a key at the top of a `package.json` that is laid out as npm does; None in any other layout."""
    begin = re.compile(rf'^(\t|  |    )"{key}"\s*:')
    for number, line in enumerate(lines):
        found = begin.match(line)
        if found is None:
            continue
        end = number + 1
        if line.rstrip().endswith(("{", "[")):
            while end < len(lines) and not re.match(rf"^{found[1]}[}}\]]", lines[end]):
                end += 1
            end += 1
        return number, min(end, number + 40, len(lines))
    return None
