"""Which installed packages a question may be about, where it names none: those whose own description speaks of it."""

from __future__ import annotations

import re
from math import log
from typing import TYPE_CHECKING

from kr_core.expedition.questions import spelled_in
from kr_core.expedition.speaking import speaking
from kr_core.files import read_text
from kr_core.knowledge.inference import infer_framework
from kr_core.knowledge.names import normalise
from kr_core.knowledge.project import is_python, is_standard
from kr_core.knowledge.vocabulary import DEFINITE_MODULES, NOT_LIBRARIES, PLAIN_ENGLISH
from kr_core.text import STOP_WORDS, content_words, is_weak, root_of, words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kr_core.knowledge.distributions import Distribution
    from kr_core.knowledge.project import LocalProject

__all__ = ["subjects_of"]

_MOST = 5
_READ = 8000
"""Characters of a package's metadata: its summary, and how its description begins."""
_LARGEST = 20_000_000
_ENOUGH = 0.3
"""Share of the question's telling words that a description must hold."""
_NEAR_BEST = 0.6
_SOME = 0.1
"""The same for a package whose sources are looked into for what the question spells as a name."""
_MOST_SPEAKING = 4
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
    described = [(one, _described(one)) for one in installed]
    asked = {
        root_of(word): (0.3 if is_weak(word) else 1.0)
        for word in content_words(question)
        if word not in STOP_WORDS
    }
    scored = sorted(
        ((_share(asked, roots, [other for _one, other in described]), one.name) for one, roots in described),
        key=lambda pair: (-pair[0], pair[1]),
    )
    best = scored[0][0] if scored else 0.0
    found += [name for share, name in scored if share >= max(_ENOUGH, _NEAR_BEST * best)]
    found = list(dict.fromkeys(found))[:_MOST]
    by_name = {one.name: one for one in installed}
    near = [by_name[name] for share, name in scored if share >= _SOME and name not in found]
    found += speaking(spelled_in(question), near)[:_MOST_SPEAKING]
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


def _share(asked: dict[str, float], roots: frozenset[str], others: Sequence[frozenset[str]]) -> float:
    worth = {
        root: weight * log(1 + len(others) / (1 + sum(root in other for other in others)))
        for root, weight in asked.items()
    }
    total = sum(worth.values())
    return sum(value for root, value in worth.items() if root in roots) / total if total else 0.0


def _metadata(one: Distribution) -> str:
    try:
        return read_text(
            one.metadata_folder / "METADATA", limit=_LARGEST, within=one.environment.bounds, errors="replace"
        )
    except OSError:
        return ""


def _described(one: Distribution) -> frozenset[str]:
    head, _, body = _metadata(one)[:_READ].partition("\n\n")
    told = [
        line.partition(":")[2]
        for line in head.split("\n")
        if line.startswith(("Summary:", "Keywords:", "Classifier: Framework", "Classifier: Topic"))
    ]
    return frozenset(root_of(word) for word in words(" ".join([one.name, *told, body])))
