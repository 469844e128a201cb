"""Which installed packages a question may be about, where it names none: those whose own description speaks of it.

Which installed packages speak of a thing that a question spells as a name, in their own sources: `server-sent events`.
"""

from __future__ import annotations

import re
from itertools import islice
from math import log
from typing import TYPE_CHECKING

from kr_core.files import read_bytes, read_start, read_text
from kr_core.project.package_names import normalise
from kr_core.project.project import is_python, is_standard
from kr_core.question.analysis import spelled_in
from kr_core.question.framework import infer_framework
from kr_core.question.vocabulary import DEFINITE_MODULES, NOT_LIBRARIES, PLAIN_ENGLISH
from kr_core.text import STOP_WORDS, content_words, is_weak, root_of, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from kr_core.project.distributions import Distribution
    from kr_core.project.project import LocalProject

__all__ = ["ReadingAllowance", "roots_described", "sources_of", "speaking", "subjects_of"]


_MOST = 5
_READ = 8000
"""Characters of a package's metadata: its summary, and how its description begins."""
_BYTES_PER_CHARACTER = 4
"""At most, in UTF-8."""
_LARGEST = 20_000_000
_ENOUGH = 0.3
"""Share of the question's telling words that a description must hold."""
_NEAR_BEST = 0.6
_SOME = 0.1
"""The same for a package whose sources are looked into for what the question spells as a name."""
_MAX_SPEAKING = 4
_OURS = "kr-core"
"""KR's own distribution."""
_REQUIRED = re.compile(r"^Requires-Dist:\s*([\w.-]+)(.*)$", re.MULTILINE)


def subjects_of(question: str, project: LocalProject) -> tuple[str, list[str]]:
    """The package that a question names, empty for none, and those to look in: those that the question names; else those that describe themselves so, the likeliest first, and those whose sources speak of what it spells as a name.

    What is installed for KR alone, KR itself included, is looked in only where the question names it: a project has nothing to
    do with it. Reads metadata of installed packages; call it off the event loop.
    """
    installed = _of_project(list(project.distributions()), project.root.resolve())
    named = _named(question, project, {one.name for one in installed})
    found = [name for name in named if not is_python(name) or _names_module(question)]
    if found:
        return found[0], found[:_MOST]
    described = [(one, roots_described(one)) for one in installed]
    asked = {
        root_of(word): (0.3 if is_weak(word) else 1.0)
        for word in content_words(question)
        if word not in STOP_WORDS
    }
    worth = _worth(asked, [roots for _one, roots in described])
    scored = sorted(
        ((_share(worth, roots), one.name) for one, roots in described),
        key=lambda pair: (-pair[0], pair[1]),
    )
    best = scored[0][0] if scored else 0.0
    found += [name for share, name in scored if share >= max(_ENOUGH, _NEAR_BEST * best)]
    found = list(dict.fromkeys(found))[:_MOST]
    by_name = {one.name: one for one in installed}
    near = [by_name[name] for share, name in scored if share >= _SOME and name not in found]
    found += speaking(spelled_in(question), near)[:_MAX_SPEAKING]
    return "", found or list(dict.fromkeys(named))[:_MOST]


def _of_project(installed: list[Distribution], root: Path) -> list[Distribution]:
    """What is installed for the project's sake: KR is not, nor, in an environment outside of the project, what KR requires."""
    by_name = {one.name: one for one in installed}
    ours = by_name.get(_OURS)
    if ours is None:
        return installed
    left, brought = [_OURS], set[str]()
    while left:
        one = by_name.get(left.pop())
        if one is None or one.name in brought:
            continue
        brought.add(one.name)
        if ours.environment.prefix.resolve().is_relative_to(root):
            break
        left += [
            normalise(name)
            for name, condition in _REQUIRED.findall(_metadata(one))
            if one is ours or "extra ==" not in condition
        ]
    return [one for one in installed if one.name not in brought]


def _named(question: str, project: LocalProject, installed: set[str]) -> list[str]:
    """The packages that a question names, the one that it is about first."""
    about = infer_framework(question, project)
    if about:  # then another name beside it is no word of English either
        installed = installed | {one.name for one in project.distributions(own=True)}
    tokens = (normalise(token.strip(".,;:?!`'\"()")) for token in question.split())
    others = [
        name
        for name in tokens
        if name in installed and name not in PLAIN_ENGLISH and name not in NOT_LIBRARIES
    ]
    return list(dict.fromkeys([*([about] if about else []), *others]))


def _names_module(question: str) -> bool:
    """Whether a question names a module of the standard library, and not Python alone: most packages are "Python" something."""
    names = (token.strip(".,;:?!`'\"()") for token in question.split())
    return any(
        is_standard(name) and not is_python(name) and ("." in name or name in DEFINITE_MODULES)
        for name in names
    )


def _worth(asked: dict[str, float], described: Sequence[frozenset[str]]) -> dict[str, float]:
    """What each stem of a question counts: the rarer among the packages, the more."""
    return {
        root: weight * log(1 + len(described) / (1 + sum(root in roots for roots in described)))
        for root, weight in asked.items()
    }


def _share(worth: dict[str, float], roots: frozenset[str]) -> float:
    total = sum(worth.values())
    return sum(value for root, value in worth.items() if root in roots) / total if total else 0.0


def _metadata(one: Distribution) -> str:
    try:
        return read_text(
            one.metadata_folder / "METADATA", limit=_LARGEST, within=one.environment.bounds, errors="replace"
        )
    except OSError:
        return ""


def requirements_of(one: Distribution) -> frozenset[str]:
    """The names of the distributions that one requires, extras included."""
    return frozenset(normalise(name) for name, _condition in _REQUIRED.findall(_metadata(one)))


def roots_described(one: Distribution) -> frozenset[str]:
    """The stems of the words that a distribution describes itself with."""
    try:
        start = read_start(
            one.metadata_folder / "METADATA", _READ * _BYTES_PER_CHARACTER, within=one.environment.bounds
        )
    except OSError:
        start = b""
    text = "\n".join(start.decode("utf-8-sig", "replace")[:_READ].splitlines())
    head, _, body = text.partition("\n\n")
    told = [
        line.partition(":")[2]
        for line in head.split("\n")
        if line.startswith(("Summary:", "Keywords:", "Classifier: Framework", "Classifier: Topic"))
    ]
    return frozenset(root_of(word) for word in words(" ".join([one.name, *told, body])))


_MOST_BYTES = 40_000_000
"""Of sources that are read for one question: about half a second."""
_LARGEST_SOURCE = 400_000
"""Bytes of a file; what is larger is a table or was generated."""
_LARGEST_RECORD = 10_000_000
_MOST_SOURCES = 20_000
"""Files of one package."""
_PER_FILE = 500
"""Bytes that each listed file counts: a look at it costs as much."""
_PASSED_OVER = re.compile(r"(?:^|/)(?:tests?|testing|_?vendor(?:ed)?|examples?)/|\.\./")
_BETWEEN = rb"[-_\s]?"


class ReadingAllowance:
    """How many bytes of packages KR reads for one question; it leaves out what comes after them.

    Args:
        most: in all.
    """

    def __init__(self, most: int) -> None:
        self.left = most

    def take(self, size: int) -> bool:
        """Count bytes as read; whether they are within the allowance."""
        self.left -= size
        return self.left >= 0


def speaking(names: Iterable[str], packages: Sequence[Distribution]) -> list[str]:
    """The packages whose sources hold one of these names, however it is joined (`ServerSentEvent`); in the order given.

    Reads files; call it off the event loop.

    Args:
        names: as the question spells them.
        packages: the likeliest first: what comes after the limit of bytes is not read.
    """
    forms = [_BETWEEN.join(re.escape(part.encode()) for part in _parts(name)) for name in names]
    if not forms:
        return []
    wanted = re.compile(b"|".join(forms), re.IGNORECASE)
    allowance = ReadingAllowance(_MOST_BYTES)
    found: list[str] = []
    for one in packages:
        for path in sources_of(one, allowance):
            try:
                size = path.stat().st_size
                if size > _LARGEST_SOURCE:
                    continue
                if not allowance.take(size):
                    return found
                held = wanted.search(read_bytes(path, limit=_LARGEST_SOURCE, within=one.environment.bounds))
            except OSError:  # taken away meanwhile
                continue
            if held:
                found.append(one.name)
                break
    return found


def _parts(name: str) -> list[str]:
    """The parts of a name, a plural's `s` aside."""
    parts = [part for part in re.split(r"[\W_]+", name) if part]
    parts[-1:] = [re.sub(r"(?<=\w{3})s$", "", part) for part in parts[-1:]]
    return parts


def sources_of(one: Distribution, allowance: ReadingAllowance) -> Iterator[Path]:
    """The Python files that a distribution lists, within an allowance.

    Args:
        one: the distribution.
        allowance: what may be read; the list of files counts, and each file that is listed.
    """
    try:
        listed = read_text(
            one.metadata_folder / "RECORD",
            limit=min(_LARGEST_RECORD, max(allowance.left, 0)),
            within=one.environment.bounds,
            errors="replace",
        )
    except OSError:
        return
    allowance.take(len(listed))
    names = dict.fromkeys(line.partition(",")[0] for line in listed.split("\n"))
    sources = (name for name in names if name.endswith((".py", ".pyi")) and not _PASSED_OVER.search(name))
    for name in islice(sources, _MOST_SOURCES):
        if not allowance.take(_PER_FILE):
            return
        yield one.site / name
