"""A simulated team whose accuracy is known, taken through ten features by KR: with retrospectives accepted, and without.

What is compared are the last three features: how many of the accepted answers are right, and of how many questions a human
hears. The same team also runs with retrospectives that nobody but KR's own gate and routing makes anything of, so that what
the gate learns is told from what agents and authors are supposed to make of the knowledge and the intake template.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

from harness import ROOT, Limit, Measured, figure

if TYPE_CHECKING:
    from pathlib import Path

sys.path.insert(0, str(ROOT / "tests"))  # for the team
from support import simulated_team  # type: ignore[import-not-found]  # tests are not a package, and have no types

SEEDS = 20
QUESTIONS = 40
"""Of each feature."""
LAST = 3
PROCESSES = 2
TEAMS = {
    "without": {},
    "gate": {"retros": True},
    "with": {"retros": True, "benefits": True},
}


class _Shares(NamedTuple):
    """Of the last features of one team."""

    right: float
    escalated: float


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    came = measured(folder, QUESTIONS)
    found = []
    for name, how in (("with", "with retrospectives accepted"), ("gate", "by routing and gate alone")):
        wanted = [("accepted answers that are right", "right"), ("questions put to a human", "escalated")]
        for what, field in wanted:
            ours = Measured(f"{what}, {how}, {SEEDS} teams", _values(came[name], field))
            peer = Measured("the same teams without retrospectives", _values(came["without"], field))
            found.append(figure(ours, peer, Limit("least" if field == "right" else "most", peer.median)))
    return found


def measured(folder: Path, questions: int) -> dict[str, list[_Shares]]:
    """Each team's shares, a value for each seed; also told as means."""
    jobs = [(folder, name, seed, questions) for seed in range(SEEDS) for name in TEAMS]
    with ProcessPoolExecutor(PROCESSES) as pool:
        came: dict[str, list[_Shares]] = {name: [] for name in TEAMS}
        for (_folder, name, _seed, _count), shares in zip(jobs, pool.map(_shares, jobs), strict=True):
            came[name].append(shares)
    for name, of_it in came.items():
        told = {field: _told(_values(of_it, field)) for field in _Shares._fields}
        print(f"{questions} questions, {name}: {json.dumps(told)}", file=sys.stderr)
    for name in ("gate", "with"):
        better = sum(
            one.right > other.right and one.escalated < other.escalated
            for one, other in zip(came[name], came["without"], strict=True)
        )
        print(f"{questions} questions, {name}: better in both in {better} of {SEEDS}", file=sys.stderr)
    return came


def _shares(job: tuple[Path, str, int, int]) -> _Shares:
    folder, name, seed, questions = job
    project = folder / f"{name}-{questions}-{seed}"
    last = simulated_team.run(project, seed, questions=questions, **TEAMS[name])[-LAST:]
    return _Shares(
        sum(one.right for one in last) / max(sum(one.accepted for one in last), 1),
        sum(one.escalated for one in last) / sum(one.asked for one in last),
    )


def _values(came: list[_Shares], field: str) -> list[float]:
    return [getattr(one, field) for one in came]


def _told(values: list[float]) -> list[float]:
    return [round(one, 3) for one in (mean(values), stdev(values), min(values), max(values))]


if __name__ == "__main__":  # how many questions it takes: `python tests/bench/retrospectives.py FOLDER 16 40`
    from pathlib import Path as _Path

    for _count in sys.argv[2:]:
        measured(_Path(sys.argv[1]), int(_count))
