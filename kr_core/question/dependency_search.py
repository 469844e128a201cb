"""Which of the project's direct dependencies a question is about, where it names none.

A name that only one of them defines tells it (`AsyncClient`); else the words of the question do, held against the names
that each dependency offers and how it describes itself. Nothing is imported.
"""

from __future__ import annotations

import builtins
import re
from collections import Counter
from contextlib import suppress
from itertools import islice
from math import log
from typing import TYPE_CHECKING, NamedTuple

from kr_core.files import read_bytes, read_text
from kr_core.question.framework import named_framework
from kr_core.question.packages import roots_described, sources_of
from kr_core.text import STOP_WORDS, content_words, is_weak, root_of, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kr_core.project.project import LocalProject

__all__ = ["FrameworkChoice", "choose_framework", "direct_dependencies"]


class FrameworkChoice(NamedTuple):
    """What a question is about; None where nothing says so."""

    framework: str | None
    searched: tuple[str, ...] = ()
    """The dependencies that were searched, since the question names none of them."""


_MAX_PACKAGES = 120
_MAX_BYTES = 1_500_000
"""Of a package's sources; those nearest to its top are read first."""
_MAX_FILE_BYTES = 400_000
_IDENTIFIER = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`|(?<![\w.])((?:[a-z]\w*\.)*(?:[A-Za-z]*[a-z][A-Z]\w*|[A-Za-z]\w*_\w+))|(?<!\w)(?<!\w\.)([A-Za-z_]\w*+(?:\.\w++)*+)(?=\()")  # fmt: skip
_DEFINITION = rb"^[ \t]*(?:export\s+)?(?:declare\s+)?(?:async\s+def|def|class|interface|function|const|type)\s+%s\b|^[ \t]*%s\s*[:=]"
_MAX_FILES = 200
_MAX_CLASSES = 3
"""Classes of a question that are looked for in all sources of each library."""
_MAX_NAMES = 40
"""Identifiers of a question that are looked for; a pasted traceback has hundreds."""
_MAX_WORDS = 100
"""Words of a question that are looked for."""
_MAX_DESCRIPTION_LENGTH = 8_000
_WEAK = 0.3
"""What ordinary English counts among the words of a question."""
_WINDOW = 1_500
"""Bytes of a source that count as one place: a function with its documentation."""
_PER_HIT = 100_000
_TOLD = 0.8
"""What a word counts that the description has."""
_HELD_BACK, _LARGE = 0.15, 200_000
"""How much a larger library must have more, by the bytes of its sources."""
_RAISED = re.compile(r"(?:Error|Exception|Warning|Found|Unfeasible):[ \t]([^\n]{20,400})")
_RUNS, _STEP, _MOST_RUNS, _LEAST_RUN = (4, 3), 2, 8, 12
"""A raised message is looked for in runs of so many words, one from every second word; characters at least."""
_MAX_QUOTED_BYTES = 30_000_000
"""Of a package's sources in which a raised message or the definition of a class is looked for."""
_SURE = 0.8
"""From this share of the question's words on, a dependency comes before a plain word that is a package's name."""


def choose_framework(question: str, project: LocalProject) -> FrameworkChoice:
    """Say which library a question is about: the one that it names, else the direct dependency that fits it best.

    Reads sources of the project's dependencies only if the question names no library.
    """
    name, sure = named_framework(question, project)
    if sure:
        return FrameworkChoice(name)
    wanted = direct_dependencies(project)[:_MAX_PACKAGES]
    known = [one for one in (_library(name, project) for name in wanted) if one is not None]
    searched = tuple(one.name for one in known)
    owner = _quoted(question, known) or _owner(question, known)
    if owner:
        return FrameworkChoice(owner, searched)
    ranked = _ranked(question, known)
    if ranked and (ranked[0][0] >= _SURE or name is None):
        return FrameworkChoice(ranked[0][1], searched)
    return FrameworkChoice(name)


def direct_dependencies(project: LocalProject) -> list[str]:
    """The project's direct dependencies, those that it runs with before those that it is developed with."""
    running = project.direct_dependencies(development=False)
    return [*sorted(running), *sorted(project.direct_dependencies() - running)]


class _Library(NamedTuple):
    name: str
    files: tuple[Path, ...]
    """Its sources, the nearest to its top first."""
    bounds: tuple[Path, ...] | None
    description: frozenset[str]

    def texts(
        self, *, exported: bool = False, most: int = _MAX_BYTES, largest: int = _MAX_FILE_BYTES
    ) -> Iterator[bytes]:
        """What its sources hold, within the limits; of what it exports only the files at its top."""
        left = most
        top = min((len(file.parts) for file in self.files), default=0)
        for file in self.files:
            if exported and (
                len(file.parts) > top or file.stem.partition(".")[0] not in {"__init__", "index"}
            ):
                continue
            try:
                size = file.stat().st_size
                if size > largest:
                    continue
                left -= size
                if left < 0:
                    return
                yield read_bytes(file, limit=largest, within=self.bounds)
            except OSError:  # taken away meanwhile
                continue


def _library(name: str, project: LocalProject) -> _Library | None:
    """What is installed under the name of a direct dependency."""
    one = project.distribution(name, own=False)
    if one is not None:
        files = sorted(
            sources_of(one), key=lambda file: (len(file.parts), file.name != "__init__.py", str(file))
        )
        return _Library(one.name, tuple(files), one.environment.bounds, roots_described(one))
    module = project.module(name)
    if module is None:
        return None
    folder = module.folder / module.name
    return _Library(
        module.name, tuple(_declarations(folder)), module.bounds, _described(folder, module.bounds)
    )


def _declarations(folder: Path) -> list[Path]:
    """The TypeScript declarations of a package, the nearest to its top first."""
    found: list[Path] = []
    for pattern in ("*.d.ts", "*/*.d.ts", "*/*/*.d.ts"):
        found += sorted(islice(folder.glob(pattern), _MAX_FILES - len(found)))
    return found


def _described(folder: Path, bounds: tuple[Path, ...]) -> frozenset[str]:
    """The stems of the words that a package of npm describes itself with."""
    told = []
    for name in ("package.json", "README.md", "readme.md"):
        with suppress(OSError):
            told.append(
                read_text(folder / name, limit=_MAX_FILE_BYTES, within=bounds, errors="replace")[
                    :_MAX_DESCRIPTION_LENGTH
                ]
            )
    return frozenset(map(root_of, words(" ".join(told))))


def _quoted(question: str, libraries: Sequence[_Library]) -> str | None:
    """The library whose sources hold most of the message that a question pastes, if one holds more than the others."""
    raised = _RAISED.findall(question)
    said = raised[-1].split() if raised else []
    runs = [run for length in _RUNS for run in _runs(said, length)]
    if not runs:
        return None
    found = []
    for library in libraries:
        missing = set(runs)
        for text in library.texts(most=_MAX_QUOTED_BYTES, largest=_MAX_QUOTED_BYTES):
            missing -= {run for run in missing if run in text}
            if not missing:
                break
        found.append((len(runs) - len(missing), library.name))
    best = max(count for count, _name in found) if found else 0
    having = [name for count, name in found if count == best]
    return having[0] if best and len(having) == 1 else None


def _runs(said: Sequence[str], length: int) -> list[bytes]:
    """The first runs of so many words; shorter ones hold where the source breaks a message over lines."""
    runs = (" ".join(said[at : at + length]).encode() for at in range(0, len(said) - length + 1, _STEP))
    return [run for run in runs if len(run) >= _LEAST_RUN][:_MOST_RUNS]


def _owner(question: str, libraries: Sequence[_Library]) -> str | None:
    """The only one of the libraries that has an identifier of the question; what it exports counts before what it holds."""
    spelled = (name for found in _IDENTIFIER.findall(question) for name in found if name)
    names = [name for name in dict.fromkeys(spelled) if not hasattr(builtins, name) and name[1:2] != "."]
    names = names[:_MAX_NAMES]
    for name in names:
        last = name.rpartition(".")[2].encode()
        escaped = re.escape(last)
        for pattern, exported in ((rb"\b%s\b" % escaped, True), (_DEFINITION % (escaped, escaped), False)):
            wanted = re.compile(pattern, re.MULTILINE)
            having = [one.name for one in libraries if _has(one.texts(exported=exported), last, wanted)]
            if len(having) == 1:
                return having[0]
            if having:
                break
    return _definer([name for name in names if _is_class(name.rpartition(".")[2])], libraries)


def _definer(classes: Sequence[str], libraries: Sequence[_Library]) -> str | None:
    """The only one of the libraries that defines a class of the question anywhere: a large one has most below its top."""
    for name in classes[:_MAX_CLASSES]:
        last = name.rpartition(".")[2].encode()
        wanted = re.compile(
            rb"^(?:export\s+)?(?:declare\s+)?(?:abstract\s+)?class\s+%s\b" % re.escape(last), re.MULTILINE
        )
        having = [one.name for one in libraries if _has(one.texts(most=_MAX_QUOTED_BYTES), last, wanted)]
        if len(having) == 1:
            return having[0]
    return None


def _is_class(name: str) -> bool:
    return name[:1].isupper() and not name.isupper()


def _has(texts: Iterable[bytes], name: bytes, wanted: re.Pattern[bytes]) -> bool:
    return any(name in text and wanted.search(text) for text in texts)


def _ranked(question: str, libraries: Sequence[_Library]) -> list[tuple[float, str]]:
    """The libraries that have anything of the question, each with a score, best first.

    What counts is how much of the question one place of the sources holds, by the rarity of its words, and how much the
    description does; a large library has something of everything, and is held back a little.
    """
    telling = (word for word in content_words(question) if word not in STOP_WORDS and len(word) > 1)
    asked = {
        root_of(word): (_WEAK if is_weak(word) else 1.0)
        for word in islice(dict.fromkeys(telling), _MAX_WORDS)
    }
    if not asked:
        return []
    roots = sorted(asked, key=len, reverse=True)
    wanted = re.compile(rb"(?<![a-z])(%s)[a-z]{0,5}" % b"|".join(re.escape(root.encode()) for root in roots))
    searched = [_search(library, wanted) for library in libraries]
    weights = _weights(asked, searched)
    total = sum(weights.values()) or 1.0
    scores = (
        (_score(library, found, weights) / total, library.name)
        for library, found in zip(libraries, searched, strict=True)
    )
    return sorted((one for one in scores if one[0] > 0), key=lambda one: -one[0])


class _Searched(NamedTuple):
    size: int
    """Bytes of the sources that were read."""
    hits: list[list[tuple[int, str]]]
    """Where each file has which word."""


def _search(library: _Library, wanted: re.Pattern[bytes]) -> _Searched:
    texts = [text.lower() for text in library.texts()]
    hits = [[(hit.start(), hit[1].decode()) for hit in wanted.finditer(text)] for text in texts]
    return _Searched(sum(map(len, texts)), hits)


def _weights(asked: Mapping[str, float], searched: Sequence[_Searched]) -> dict[str, float]:
    """What each word counts, by how rare it is in all sources."""
    counts = Counter(root for one in searched for of_file in one.hits for _place, root in of_file)
    pieces = sum(one.size for one in searched) / _PER_HIT
    return {root: weight * log(1 + pieces / (1 + counts[root]) ** 0.7) for root, weight in asked.items()}


def _score(library: _Library, found: _Searched, weights: Mapping[str, float]) -> float:
    held = max((_densest(of_file, weights) for of_file in found.hits), default=0.0)
    told = sum(weight for root, weight in weights.items() if root in library.description)
    return (held + _TOLD * told) / (1 + _HELD_BACK * log(1 + found.size / _LARGE))


def _densest(hits: Sequence[tuple[int, str]], weights: Mapping[str, float]) -> float:
    """The most that one place of a text holds of what is asked; `hits` are positions and words, in order."""
    inside: Counter[str] = Counter()
    best = held = 0.0
    first = 0
    for place, root in hits:
        inside[root] += 1
        held += weights[root] if inside[root] == 1 else 0.0
        while hits[first][0] < place - _WINDOW:
            inside[hits[first][1]] -= 1
            held -= weights[hits[first][1]] if not inside[hits[first][1]] else 0.0
            first += 1
        best = max(best, held)
    return best
