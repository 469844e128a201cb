"""Fit the order of the first passages of a how-to that names nothing, and print what it brings on packages that a fit did not see.

    KR_QUALITY_OTHER=/tmp/other KR_QUALITY_WIDE=/tmp/wide python tests/quality/fit_order.py

It fits on the how-tos of the Python sets that `fit_confidence.py` fits on (`measure_sets.py` says what the folders are).
A question counts if any of its first passages bears a symbol that the set names. For the printed figures all packages are
divided into six folds, so that none is on both sides.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from quality.fit_confidence import fitted_on
from quality.measure import answered_by
from quality.measure_sets import project_of, suffixes

from kr_core.search import learned_order, ranking
from kr_plugins.sources.installed_docs import InstalledDocs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.search.passage_index import IndexedPassage, PassageIndex
    from kr_core.search.passage_score import RankedPassage
    from kr_core.search.terms import Term

_FOLDS, _RIDGE, _ROUNDS, _DIGITS = 6, 6.0, 400, 4


class Candidates(NamedTuple):
    """The first passages of a question."""

    package: str
    traits: Sequence[Mapping[str, float]]
    right: Sequence[bool]


def names_of(passage: IndexedPassage) -> set[str]:
    """Every name under which a set may name a passage, with the endings of each."""
    data = passage.data
    sites = [site["symbol"] for site in (data.get("site"), *data.get("sites", ())) if site]
    symbols = {one for one in (passage.symbol, *data.get("also", ()), *sites) if one}
    if passage.parameter:
        symbols = {f"{symbol}({passage.parameter})" for symbol in symbols}
    return suffixes(symbols | set(data.get("aliases", ())))


def gathered(cache: Path) -> list[Candidates]:
    """The candidates of every question: what the library's own index hands to the model first."""
    handed: list[tuple[list[dict[str, float]], list[RankedPassage]]] = []

    def recorded(
        index: PassageIndex, terms: Sequence[Term], found: list[RankedPassage]
    ) -> list[RankedPassage]:
        handed.append((learned_order.traits_of(index, terms, found), found))
        return found

    ranking.reordered = recorded
    source, out = InstalledDocs(cache), []
    with tempfile.TemporaryDirectory() as root:
        for language, entries in fitted_on(npm=False).items():
            project = project_of(language, Path(root))
            for entry in entries:
                if entry.get("kind", "how_to") != "how_to" or not entry.get("symbols"):
                    continue
                handed.clear()
                answered_by(source, project, entry["package"].lower(), entry["question"])
                if handed:
                    traits, found = handed[0]
                    wanted = set(entry["symbols"])
                    right = [bool(names_of(one.passage) & wanted) for one in found[: len(traits)]]
                    out.append(Candidates(entry["package"].lower(), traits, right))
    return out


def fitted(questions: Sequence[Candidates], names: Sequence[str]) -> np.ndarray:
    """The weights, in the units of the traits: gradient descent on the likelihood of the right passages, with a ridge."""
    telling = [one for one in questions if 0 < sum(one.right) < len(one.right)]
    rows = [np.array([[each.get(name, 0.0) for name in names] for each in one.traits]) for one in telling]
    marks = [np.array(one.right, float) for one in telling]
    whole = np.vstack(rows)
    spread = whole.std(axis=0) + 1e-9
    rows = [(each - whole.mean(axis=0)) / spread for each in rows]
    weights, moment, square = (np.zeros(len(names)) for _ in range(3))
    for step in range(1, _ROUNDS + 1):  # Adam (Kingma and Ba, 2015)
        slope = 2 * _RIDGE * weights
        for each, mark in zip(rows, marks, strict=True):
            worth = each @ weights
            chance = np.exp(worth - worth.max())
            right = chance * mark
            slope -= each.T @ (right / right.sum() - chance / chance.sum())
        moment = 0.9 * moment + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        weights -= 0.03 * (moment / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return np.asarray(weights / spread)


def figures(questions: Sequence[Candidates], places: Sequence[int | None]) -> str:
    """How many right passages come first and among the first three, and the mean reciprocal rank."""
    count = len(questions)
    first = sum(place == 0 for place in places)
    three = sum(place is not None and place < 3 for place in places)
    mean = sum(1 / (place + 1) for place in places if place is not None) / count
    return f"first {first} of {count} ({first / count:.1%}), among three {three} ({three / count:.1%}), MRR {mean:.3f}"


def place_of(one: Candidates, names: Sequence[str], weights: np.ndarray | None) -> int | None:
    """Where the first right passage comes; None where there is none."""
    order = range(len(one.right))
    if weights is not None:
        worth = [
            sum(w * each.get(n, 0.0) for n, w in zip(names, weights, strict=True)) for each in one.traits
        ]
        order = sorted(order, key=lambda place: -worth[place])
    return next((rank for rank, place in enumerate(order) if one.right[place]), None)


def main() -> None:
    questions = gathered(Path(os.environ.get("KR_CACHE_DIR") or tempfile.mkdtemp()))
    names = sorted({name for one in questions for each in one.traits for name in each})
    packages = sorted({one.package for one in questions})
    fold = {package: number % _FOLDS for number, package in enumerate(packages)}
    print("as ranked:", figures(questions, [place_of(one, names, None) for one in questions]))
    models = [
        fitted([one for one in questions if fold[one.package] != number], names) for number in range(_FOLDS)
    ]
    print(
        "reordered, on packages not fitted on:",
        figures(questions, [place_of(one, names, models[fold[one.package]]) for one in questions]),
    )
    weights = fitted(questions, names)
    kept = {name: round(float(weight), _DIGITS) for name, weight in zip(names, weights, strict=True)}
    file = Path(learned_order.__file__).with_name(learned_order.WEIGHTS_FILE)
    file.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    print(f"wrote {file.name}")


if __name__ == "__main__":
    main()
