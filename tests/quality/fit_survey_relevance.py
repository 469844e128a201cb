"""Fit how likely a fact of a survey's report is about its question, on the half to choose on.

    python tests/quality/fit_survey_relevance.py

Each fact that a report cites is a row of the traits in `kr_core/expedition/report_confidence.py`. Its label is the count of `measure_surveys.py`. Questions are left out one
by one to see how well the fit holds. Prints the weights for that module.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import measure_surveys as surveys
import numpy as np

from kr_core.expedition import expedition_runner
from kr_core.expedition.report_confidence import traits_of
from kr_core.expedition.survey_plan import short_name
from kr_core.toolkit import yaml_text

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = tuple[tuple[float, ...], bool]
_STEPS, _RATE = 400, 1.0


def rows_of(entry: dict[str, Any]) -> list[Row]:
    """The facts of a report, with their labels."""
    rows: list[Row] = []
    scored = expedition_runner._scored

    def seen(state: Any, components: Any, made: Any) -> Any:
        entries = {one.passage.sha256: one for one in reversed(list(state.pool))}
        for name in made.cited:
            axiom = state.known.get(name)
            if axiom is not None and (one := entries.get(axiom.signals[0].sha256)) is not None:
                line = f"{short_name(axiom.signals[0].title)}: {axiom.statement}"
                rows.append((traits_of(state.survey, one, axiom), surveys._is_about(line, entry)))
        return scored(state, components, made)

    expedition_runner._scored = seen
    try:
        surveys.measured(entry)
    finally:
        expedition_runner._scored = scored
    return rows


def fitted(rows: Sequence[Row]) -> list[float]:
    """The weights of a logistic model, the constant last."""
    traits = np.array([(*known, 1.0) for known, _label in rows])
    labels = np.array([float(label) for _known, label in rows])
    weights = np.zeros(traits.shape[1])
    for _step in range(_STEPS):
        off = 1 / (1 + np.exp(-traits @ weights)) - labels
        weights -= _RATE * 8 * (traits.T @ off) / len(rows)
    return [float(weight) for weight in weights]


def probability(weights: Sequence[float], traits: Sequence[float]) -> float:
    """What a model says of a row."""
    return 1 / (
        1 + math.exp(-sum(weight * trait for weight, trait in zip(weights, (*traits, 1.0), strict=True)))
    )


def main() -> None:
    """Fit, leave out, print."""
    surveys.prepare()
    entries = yaml_text.load((surveys.SETS / surveys.HALVES["chosen"]).read_text("utf-8"))
    sets = [rows_of(entry) for entry in entries if not entry.get("nothing")]
    sets = [rows for rows in sets if rows]
    bins: dict[int, list[bool]] = {}
    for place, held in enumerate(sets):
        weights = fitted([row for other, rows in enumerate(sets) if other != place for row in rows])
        for traits, label in held:
            bins.setdefault(int(probability(weights, traits) * 5), []).append(label)
    for number, labels in sorted(bins.items()):
        print(
            f"{number / 5:.1f} to {(number + 1) / 5:.1f}: {sum(labels)} of {len(labels)} ({sum(labels) / len(labels):.0%})"
        )
    print([round(weight, 2) for weight in fitted([row for rows in sets for row in rows])])


if __name__ == "__main__":
    main()
