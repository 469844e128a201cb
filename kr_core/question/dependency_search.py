"""Which of the project's direct dependencies a question is about, where it names none.

A name that only one of them defines tells it (`AsyncClient`); else the words of the question do, held against the names
that each dependency offers and how it describes itself. Nothing is imported.
"""

from __future__ import annotations

import builtins
import os
import re
from array import array
from collections import Counter
from contextlib import suppress
from itertools import islice
from math import log
from time import thread_time
from typing import TYPE_CHECKING, NamedTuple

from kr_core.files import read_bytes, read_text
from kr_core.project.package_names import normalise
from kr_core.question.framework import library_of, named_framework, undeclared
from kr_core.question.packages import ReadingAllowance, requirements_of, roots_described, sources_of
from kr_core.text import STOP_WORDS, content_words, is_weak, root_of, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from kr_core.project.distributions import Distribution
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
_MEMBER = re.compile(r"(?<![\w.])[A-Z]\w++\.[a-z_]\w++")
_SPELLS_PYTHON = re.compile(r"\bpython\b|\w\.\w|`|\bimport\b", re.IGNORECASE)
_DEFINES = re.compile(
    rb"(?<![ \t])[ \t]*+(?:export\s+)?(?:declare\s+)?(?:async\s+def|def|class|interface|function|const|type)\s+"
)
_DEFINES_CLASS = re.compile(rb"(?:export\s+)?(?:declare\s+)?(?:abstract\s+)?class\s+")
"""What stands before a name in the line that defines it."""
_ENDS, _ASSIGNED = re.compile(rb"\b"), re.compile(rb"\s*+[:=]")
_LONGEST_HEAD = 200
"""Bytes of a line before a name that is defined there."""
_MOST_PLACES = 1_000
"""Places of a file in which a name may be defined."""
_MAX_FILES, _MAX_SCRIPTS, _MAX_FOLDERS = 200, 3_000, 3_000
_SCRIPTS = (".js", ".cjs", ".mjs")
_MAX_CLASSES = 3
"""Classes of a question that are looked for in all sources of each library."""
_MAX_NAMES = 40
"""Identifiers of a question that are looked for; a pasted traceback has hundreds."""
_MAX_HELD = 5
"""How many names KR looks for in all sources of each library."""
_AT_TOP = 2
"""The worth of a name that a library exports at its top; one below may belong to an old version inside it."""
_MAX_WORDS = 100
"""Words of a question that are looked for."""
_MAX_DESCRIPTION_LENGTH = 8_000
_WEAK = 0.3
"""What ordinary English counts among the words of a question."""
_MOST_HITS = 20_000
"""Words of the question that KR notes in the sources of one library; the largest have fewer."""
_WINDOW = 1_500
"""Bytes of a source that count as one place: a function with its documentation."""
_PER_HIT = 100_000
_TOLD = 0.8
"""What a word counts that the description has."""
_HELD_BACK, _LARGE = 0.15, 200_000
"""How much a larger library must have more, by the bytes of its sources."""
_RAISED = re.compile(
    r"(?:Error|Exception|Warning|Found|Unfeasible|\b([A-Z]++(?:_[A-Z\d]++)++)):[ \t]([^\n]{10,400})"
)
_RUNS, _SHORT_RUNS, _STEP, _MOST_RUNS, _LEAST_RUN = (4, 3), (2,), 2, 8, 10
"""A raised message is looked for in runs of so many words, one from every second word; characters at least."""
_MAX_QUOTED_BYTES = 30_000_000
"""Of one package's sources in which a raised message or the definition of a class is looked for."""
_MAX_SEARCHED_BYTES = 1_000_000_000
"""Of the sources of all packages in which a raised message is looked for."""
_MAX_LISTED_BYTES = 100_000_000
"""Of the lists of files of all packages, with what each file counts."""
_MAX_READ_BYTES = 3_000_000_000
"""Of the sources of all packages, over all readings: once for the names of a question, and once for its words."""
_PER_READ = 50_000
"""Bytes that each reading of a file counts: to open it costs as much."""
_MOST_SECONDS = 10.0
"""Of processor time for the search of a pasted message: some texts take a hundred times as long as others."""
_SURE = 0.8
"""From this share of the question's words on, a dependency comes before a plain word that is a package's name."""


def choose_framework(question: str, project: LocalProject, expected: Sequence[str] = ()) -> FrameworkChoice:
    """Say which library a question is about: the one that it names, else the direct dependency that fits it best.

    Reads sources of the project's dependencies only if the question names no library.

    Args:
        question: as it is asked.
        project: says which libraries there are.
        expected: names that the asker expects in the answer; they tell where the question does not (`httpx.Timeout`).
    """
    name, sure, guess = named_framework(question, project)
    # an everyday word may be a module too: "a csv file", beside the name `read_csv`
    is_word = name == "python" and bool(expected) and not _SPELLS_PYTHON.search(question)
    if sure and not is_word:
        return FrameworkChoice(name)
    roots = [one for one in (library_of(each, project) for each in expected) if one]
    rooted = next((one for one in roots if one != "python"), roots[0] if roots else None)
    if rooted or (guess and not _is_class(guess)):
        return FrameworkChoice(rooted or name)
    wanted = direct_dependencies(project)[:_MAX_PACKAGES]
    listing, reading = ReadingAllowance(_MAX_LISTED_BYTES), ReadingAllowance(_MAX_READ_BYTES)
    known = [one for one in (_library(name, project, listing, reading) for name in wanted) if one is not None]
    searched = tuple(one.name for one in known)
    # what is taken for a library that is not there may be a class of one that is
    owner = _owner(guess, known) if guess else _quoted(question, known) or _owner(question, known)
    again = ReadingAllowance(_MAX_READ_BYTES)
    known = [one._replace(reading=again) for one in known]
    holding = [] if owner else _holding([*expected, *_members_in(question)], known)
    owner = owner or _required_by_others(holding)
    owner = owner or _owner(" ".join(f"`{each}`" for each in map(_owner_of, expected) if each), known)
    if owner:
        return FrameworkChoice(owner, searched)
    if (guess or is_word) and not holding:
        return FrameworkChoice(name)
    ranked = _ranked(question, holding or known)
    if holding and ranked:
        return FrameworkChoice(ranked[0][1], searched)
    if ranked and (ranked[0][0] >= _SURE or name is None):
        return FrameworkChoice(ranked[0][1], searched)
    return FrameworkChoice(name)


def _owner_of(name: str) -> str:
    """What a library must define for a name to be its own: the class of a member, a name without an owner; else empty."""
    owner, dot, _rest = name.partition(".")
    return owner if not dot or owner[:1].isupper() else ""


def _members_in(question: str) -> list[str]:
    """The members of classes that a question spells: `Session.scalars`."""
    return [name for name in dict.fromkeys(_MEMBER.findall(question)) if _is_member(name)]


def _is_member(name: str) -> bool:
    """Whether a name is that of a member of a class: many classes have a `get`."""
    return "." in name and _is_class(name.split(".")[-2])


def _holding(names: Sequence[str], libraries: Sequence[_Library]) -> list[_Library]:
    """The libraries that hold most of some names: a member beside its class, anything else among what a package exports."""
    wanted = list(dict.fromkeys(names))[:_MAX_HELD]
    counted = [sum(_holds(one, name) for name in wanted) for one in libraries] if wanted else []
    most = max(counted, default=0)
    return [one for one, count in zip(libraries, counted, strict=True) if count == most] if most else []


def _holds(library: _Library, name: str) -> int:
    """How much a library has of a name: 2 if it exports the name at its top, 1 if it has it elsewhere, else 0."""
    *owners, last = name.encode().split(b".")
    owner = owners[-1] if owners and owners[-1][:1].isupper() else b""
    if not owner:
        said = re.compile(rb"\b%s\b" % re.escape(last))
        for exporting, worth in ((library.at_top(), _AT_TOP), (library.files, 1)):
            files = [file for file in exporting if _exports(file)]
            if any(last in text and said.search(text) for text in library.texts(files)):
                return worth
        return 0
    return int(
        any(
            last in text
            and _is_defined(owner, text, _DEFINES_CLASS)
            and _is_defined(last, text, _DEFINES, assigned=True)
            for text in library.texts(most=_MAX_QUOTED_BYTES)
        )
    )


def _required_by_others(libraries: Sequence[_Library]) -> str | None:
    """The library that all the others require: they only offer its names again. A single library is its own answer."""
    required = [requirements_of(one.distribution) if one.distribution else frozenset() for one in libraries]
    for place, one in enumerate(libraries):
        others = [*required[:place], *required[place + 1 :]]
        if all(normalise(one.name) in each for each in others):
            return one.name
    return None


def direct_dependencies(project: LocalProject) -> list[str]:
    """The project's direct dependencies, those that it runs with before those that it is developed with.

    Where its files name none that is installed in its environment, all that is installed there comes behind them.
    """
    running = project.direct_dependencies(development=False)
    named = [*sorted(running), *sorted(project.direct_dependencies() - running)]
    return [*named, *sorted(undeclared(project).difference(named))]


class _Library(NamedTuple):
    name: str
    files: tuple[Path, ...]
    """Its sources, the nearest to its top first."""
    bounds: tuple[Path, ...] | None
    description: frozenset[str]
    reading: ReadingAllowance
    """Shared by all libraries."""
    distribution: Distribution | None = None
    folder: Path | None = None
    """Of a package of npm, whose sources are its declarations."""

    def with_code(self) -> _Library:
        """The same with the README and the code of a package of npm, which hold what it raises."""
        return self if self.folder is None else self._replace(files=tuple(_code(self.folder)))

    def at_top(self) -> list[Path]:
        """Its sources in the folder at its top."""
        top = min((len(file.parts) for file in self.files), default=0)
        return [file for file in self.files if len(file.parts) == top]

    def texts(
        self, files: Sequence[Path] | None = None, *, most: int = _MAX_BYTES, largest: int = _MAX_FILE_BYTES
    ) -> Iterator[bytes]:
        """What its sources hold, or some of them, within the limits."""
        left = most
        for file in self.files if files is None else files:
            try:
                size = file.stat().st_size
                if size > largest:
                    continue
                left -= size
                if left < 0 or not self.reading.take(size + _PER_READ):
                    return
                yield read_bytes(file, limit=largest, within=self.bounds)
            except OSError:  # taken away meanwhile
                continue


def _library(
    name: str, project: LocalProject, listing: ReadingAllowance, reading: ReadingAllowance
) -> _Library | None:
    """What is installed under the name of a direct dependency."""
    one = project.distribution(name, own=False)
    if one is not None:
        files = sorted(
            sources_of(one, listing),
            key=lambda file: (len(file.parts), file.name != "__init__.py", str(file)),
        )
        return _Library(
            one.name, tuple(files), one.environment.bounds, roots_described(one), reading, distribution=one
        )
    module = project.module(name)
    if module is None:
        return None
    folder = module.folder / module.name
    declared, described = tuple(_declarations(folder)), _described(folder, module.bounds)
    return _Library(module.name, declared, module.bounds, described, reading, folder=folder)


def _exports(file: Path) -> bool:
    """Whether a file says what a package, or a part of it, exports."""
    return file.stem.partition(".")[0] in {"__init__", "index"}


def _declarations(folder: Path) -> list[Path]:
    """The TypeScript declarations of a package, the nearest to its top first."""
    found: list[Path] = []
    for pattern in ("*.d.ts", "*/*.d.ts", "*/*/*.d.ts"):
        found += sorted(islice(folder.glob(pattern), _MAX_FILES - len(found)))
    return found


def _code(folder: Path) -> Iterator[Path]:
    """The README and the code of a package, without what it has brought along."""
    left = _MAX_SCRIPTS
    for here, folders, names in islice(os.walk(folder), _MAX_FOLDERS):
        folders[:] = sorted(set(folders) - {"node_modules"})
        found = [name for name in sorted(names) if name.endswith(_SCRIPTS) or name.lower() == "readme.md"]
        yield from (folder / here / name for name in found[:left])
        left -= len(found)
        if left <= 0:
            return


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
    """The library whose sources hold most of the message that a question pastes, if one holds more than the others.

    A message behind a code (`FST_ERR_VALIDATION: ...`) is that of a library that has the code, too: any text may stand behind a name.
    """
    raised = _RAISED.findall(question)
    code, message = raised[-1] if raised else ("", "")
    said = message.split()
    runs = [run for length in _RUNS for run in _runs(said, length)]
    runs = runs or [run for length in _SHORT_RUNS for run in _runs(said, length)]
    if not runs:
        return None
    found = []
    began = thread_time()
    reading = ReadingAllowance(_MAX_SEARCHED_BYTES)
    for library in libraries:
        missing, missing_code = set(runs), code.encode()
        texts = (
            library.with_code()
            ._replace(reading=reading)
            .texts(most=_MAX_QUOTED_BYTES, largest=_MAX_QUOTED_BYTES)
        )
        for text in texts:
            if thread_time() - began > _MOST_SECONDS:  # what was not read may hold as much
                return None
            missing -= {run for run in missing if run in text}
            if missing_code in text:
                missing_code = b""
            if not (missing or missing_code):
                break
        if reading.left < 0:  # what was not read may hold as much
            return None
        found.append((0 if missing_code else len(runs) - len(missing), library.name))
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
    names = [name for name in names if not _is_member(name)][:_MAX_NAMES]
    for name in names:
        last = name.rpartition(".")[2].encode()
        for exported in (True, False):
            having = [one.name for one in libraries if _has(one, last, exported=exported)]
            if len(having) == 1:
                return having[0]
            if having:
                break
    return _definer([name for name in names if _is_class(name.rpartition(".")[2])], libraries)


def _has(library: _Library, name: bytes, *, exported: bool) -> bool:
    """Whether a library exports a name, or defines it among the sources nearest to its top."""
    if exported:
        said = re.compile(rb"\b%s\b" % re.escape(name))
        exporting = [file for file in library.at_top() if _exports(file)]
        return any(name in text and said.search(text) for text in library.texts(exporting))
    return any(_is_defined(name, text, _DEFINES, assigned=True) for text in library.texts())


def _definer(classes: Sequence[str], libraries: Sequence[_Library]) -> str | None:
    """The only one of the libraries that defines a class of the question anywhere: a large one has most below its top."""
    for name in classes[:_MAX_CLASSES]:
        last = name.rpartition(".")[2].encode()
        having = [
            one.name
            for one in libraries
            if any(_is_defined(last, text, _DEFINES_CLASS) for text in one.texts(most=_MAX_QUOTED_BYTES))
        ]
        if len(having) == 1:
            return having[0]
    return None


def _is_defined(name: bytes, text: bytes, head: re.Pattern[bytes], *, assigned: bool = False) -> bool:
    """Whether a line of a text defines a name: `head` stands before it, or it is assigned.

    The places of the name are looked at, since a search from each line takes seconds for a text of nothing but lines.
    """
    if name not in text:
        return False
    for found in islice(re.finditer(re.escape(name), text), _MOST_PLACES):
        start, end = found.span()
        first = max(start - _LONGEST_HEAD, 0)
        line = text.rfind(b"\n", first, start) + 1
        if (line == 0 and first > 0) or not _ENDS.match(text, end):
            continue
        before = text[line:start]
        if head.fullmatch(before) or (assigned and not before.strip(b" \t") and _ASSIGNED.match(text, end)):
            return True
    return False


def _is_class(name: str) -> bool:
    return name[:1].isupper() and not name.isupper()


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
    searched = [_search(library, wanted, roots) for library in libraries]
    weights = _weights(asked, roots, searched)
    total = sum(weights) or 1.0
    scores = (
        (_score(library, found, roots, weights) / total, library.name)
        for library, found in zip(libraries, searched, strict=True)
    )
    return sorted((one for one in scores if one[0] > 0), key=lambda one: -one[0])


class _FileHits(NamedTuple):
    """Where a file has words of the question, in order."""

    places: array[int]
    """In bytes."""
    roots: array[int]
    """The numbers of the words."""


class _Searched(NamedTuple):
    size: int
    """Bytes of the sources that were read."""
    hits: list[_FileHits]


def _search(library: _Library, wanted: re.Pattern[bytes], roots: Sequence[str]) -> _Searched:
    numbers = {root.encode(): number for number, root in enumerate(roots)}
    size, left = 0, _MOST_HITS
    hits = []
    for text in library.texts():
        lower = text.lower()
        found = _FileHits(array("L"), array("L"))
        for hit in islice(wanted.finditer(lower), left):
            found.places.append(hit.start())
            found.roots.append(numbers[hit[1]])
        size += len(lower)
        left -= len(found.places)
        hits.append(found)
    return _Searched(size, hits)


def _weights(asked: Mapping[str, float], roots: Sequence[str], searched: Sequence[_Searched]) -> list[float]:
    """What each word counts, by how rare it is in all sources."""
    counts = Counter(number for one in searched for of_file in one.hits for number in of_file.roots)
    pieces = sum(one.size for one in searched) / _PER_HIT
    return [asked[root] * log(1 + pieces / (1 + counts[number]) ** 0.7) for number, root in enumerate(roots)]


def _score(library: _Library, found: _Searched, roots: Sequence[str], weights: Sequence[float]) -> float:
    held = max((_densest(of_file, weights) for of_file in found.hits), default=0.0)
    told = sum(weight for root, weight in zip(roots, weights, strict=True) if root in library.description)
    return (held + _TOLD * told) / (1 + _HELD_BACK * log(1 + found.size / _LARGE))


def _densest(hits: _FileHits, weights: Sequence[float]) -> float:
    """The most that one place of a text holds of what is asked."""
    inside: Counter[int] = Counter()
    best = held = 0.0
    first = 0
    for place, root in zip(hits.places, hits.roots, strict=True):
        inside[root] += 1
        held += weights[root] if inside[root] == 1 else 0.0
        while hits.places[first] < place - _WINDOW:
            gone = hits.roots[first]
            inside[gone] -= 1
            held -= weights[gone] if not inside[gone] else 0.0
            first += 1
        best = max(best, held)
    return best
