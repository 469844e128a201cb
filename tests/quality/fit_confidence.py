"""Fit the scorer `evidence` on the question sets, and print how well it holds.

    KR_QUALITY_NODE=/tmp/node KR_QUALITY_OTHER=/tmp/other KR_QUALITY_WIDE=/tmp/wide python tests/quality/fit_confidence.py

It fits on the parts `tuning` and `choosing` of every language (`measure_sets.py` says what these folders are), and on `dev.yaml` and
`tuning.yaml`, whose questions use everyday words; each question once as it is, and once with the names of `sets/names.yaml`
where that has some. The part `reported` is only counted, by `tests/quality/measure_sets.py`. Each figure
printed here is from questions that a fit did not see: all are divided by package into five folds, so that a package is
never on both sides.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from quality.measure_sets import SETS, Outcome, expected_names, load, measure, project_of

from kr_core.calibration.logistic import fit_logistic
from kr_core.calibration.metrics import auroc, brier, ece, reliability, risk_coverage
from kr_core.toolkit import yaml_text
from kr_plugins.scorers.evidence import WEIGHTS, as_score
from kr_plugins.scorers.evidence.score_limits import HIGH, MEDIUM

_FOLDS = 5
_RIDGE = 2.0


def held_out(outcomes: list[Outcome]) -> list[float]:
    """For each outcome its probability by a fit on other packages."""
    packages = sorted({str(one.entry["package"]) for one in outcomes})
    fold = {package: number % _FOLDS for number, package in enumerate(packages)}
    models = []
    for number in range(_FOLDS):
        seen = [one for one in outcomes if fold[str(one.entry["package"])] != number]
        models.append(fit_logistic([one.features for one in seen], [one.right for one in seen], ridge=_RIDGE))
    return [models[fold[str(one.entry["package"])]].probability(one.features) for one in outcomes]


def everyday(name: str) -> list[dict[str, Any]]:
    """The questions of an older file in the form of the sets: any fragment is the fact."""
    entries = yaml_text.load((SETS.parent / name).read_text("utf-8"))
    assert isinstance(entries, list)
    return [
        {
            **entry,
            "answerable": bool(entry["answers"]),
            "symbols": entry["answers"],
            "fact": ["|".join(map(re.escape, entry["fragments"]))] if entry["fragments"] else [],
        }
        for entry in entries
    ]


def fitted_on(*, npm: bool = True) -> dict[str, list[Any]]:
    """The questions that models are fitted on, by the environment in which they are asked."""
    asked: dict[str, list[Any]] = {
        "python": [
            *load("tuning"),
            *load("choosing"),
            *load("tuning", "everyday"),
            *load("tuning", "parameters"),
            *everyday("dev.yaml"),
        ],
        "everyday_other": [*load("tuning", "everyday_other"), *everyday("tuning.yaml")],
        "wide": [*load("tuning", "wide"), *load("named", "wide")],
    }
    return asked | {"npm": [*load("tuning", "npm"), *load("choosing", "npm")]} if npm else asked


def main() -> None:
    cache = Path(os.environ.get("KR_CACHE_DIR") or tempfile.mkdtemp())
    expected = expected_names()
    with tempfile.TemporaryDirectory() as root:
        outcomes = [
            one
            for language, entries in fitted_on().items()
            for project in [project_of(language, Path(root))]
            for one in (
                *measure(entries, project, cache),
                *measure([each for each in entries if each["id"] in expected], project, cache, expected),
            )
        ]
    outcomes = [one for one in outcomes if one.features]
    right = [one.right for one in outcomes]
    chances = held_out(outcomes)
    stated = [100 * chance for chance in chances]
    print(
        f"{len(outcomes)} questions, {sum(right)} right; on packages not fitted on: AUROC {auroc(stated, right):.3f}, "
        f"Brier {brier(stated, right):.3f}, ECE {ece(stated, right, 8):.3f}"
    )
    for bin_ in reliability(stated, right, 8):
        print(f"  said {bin_.confidence / 100:.2f}  was {bin_.accuracy:.2f}  ({bin_.cases})")
    for lower, upper, level in ((HIGH, 101, "high"), (MEDIUM, HIGH, "medium"), (0, MEDIUM, "low")):
        found = [
            fact for chance, fact in zip(chances, right, strict=True) if lower <= as_score(chance) < upper
        ]
        print(f"  {level:6} {len(found):4}  right {sum(found) / (len(found) or 1):.0%}")
    for share, risk in risk_coverage(stated, right)[:: max(1, len(outcomes) // 12)]:
        print(f"  the surest {share:4.0%}: {risk:.0%} wrong")
    model = fit_logistic([one.features for one in outcomes], right, ridge=_RIDGE)
    kept = {
        "intercept": round(model.intercept, 3),
        "weights": {name: round(weight, 3) for name, weight in model.weights.items()},
    }
    WEIGHTS.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    print(f"wrote {WEIGHTS.name}")


if __name__ == "__main__":
    main()
