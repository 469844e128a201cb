"""What a fitted confidence is worth, on real answers of five models; and a retrospective of a large record.

Each model stated a confidence for 12,000 exam questions, and it is known which answers were right. Shares are means over
the models and twenty draws.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import resource
import sys
from collections import defaultdict
from pathlib import Path
from random import Random
from statistics import mean
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from harness import ROOT, Limit, Measured, figure, output

from kr_core import Event, Pipeline
from kr_core.calibration import (
    Accepted,
    audit_probability,
    certified_accuracy,
    ece,
    estimate_accuracy,
    fit,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.calibration import Calibrator

DATA = Path(os.environ.get("KR_DATA") or ROOT.parent / "shared/data") / "calibration"
DRAWS = 20
GATE = 80
QUESTIONS = 300
ENTRIES = 100_000
_TAKEN = 10
"""Answers that the share of all right ones counts for, where a confidence was stated seldom."""
CLOSE = 0.05
"""Raw calibration error up to which a model counts as calibrated."""
RETRO_SECONDS, RETRO_MEGABYTES = 5.0, 500
Row = tuple[float, bool, str]
"""Confidence 0-100, whether it was right, and the topic."""


class _Regime(NamedTuple):
    """What came of a run in which only escalated answers and spot checks are labelled."""

    error: float
    covers: bool
    false: bool
    """Whether a certificate claimed more than is true, at any moment."""


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure; nothing but the retrospective where the data is not there."""
    if not DATA.exists():
        print(f"calibration: {DATA} is not there; KR_DATA names the folder of the data", file=sys.stderr)
        return [_retro(folder)]
    models = [_read(path) for path in sorted(DATA.glob("*.csv.gz"))]
    raw = [_error(rows) for rows in models]
    sure = [rows for rows, error in zip(models, raw, strict=True) if error > CLOSE]
    steady = [_recalibrated(rows) for rows in models]
    kept = [_fitted(rows, 200) for rows in steady]
    raw_ones = mean(_stays_raw(rows, 200) for rows in steady)
    print(f"calibrated models that stay raw after 200 verdicts: {raw_ones:.0%} of draws", file=sys.stderr)
    off, plainly_off = (mean(_off_by_topic(rows, by_topic=one) for rows in models) for one in (True, False))
    chance = mean(_chance(rows) for rows in models)
    few = [_fitted(rows, 200) for rows in sure]
    ratio = mean(after for after, _ in few) / mean(before for _, before in few)
    runs = [_regime(rows, Random(seed)) for rows in models for seed in range(DRAWS)]
    truth = Measured("none", [1.0])
    found = [
        _share(f"calibration error after 200 verdicts over that before, {len(sure)} overconfident models", ratio, 0.4),
        _share("calibration error after 2,000 verdicts, all models", mean(_fitted(rows, 2000, by_topic=False)[0] for rows in models), 0.02),
        figure(Measured("the same with a shift for each topic, which bins then tell apart", [mean(_fitted(rows, 2000)[0] for rows in models)]), Measured("a perfect map, on as many questions", [chance]), Limit("most", 0.03)),
        figure(Measured("how far off a topic is on average, with a shift for each", [off]), Measured("without", [plainly_off]), Limit("most", plainly_off)),
        _share("calibration error that 200 verdicts add to a calibrated model, the worst of five", max(*(after - before for after, before in kept), 0.0), 0.01),
        _share(f"error of the estimated accuracy of accepted answers, {QUESTIONS} questions", mean(one.error for one in runs), 0.05),
        figure(Measured("its 90 % interval covers the truth", [mean(one.covers for one in runs)]), truth, Limit("least", 0.85)),
        _share("runs in which a certificate ever claimed too much", mean(one.false for one in runs), 0.1),
    ]  # fmt: skip
    return [*found, _retro(folder)]


def _share(what: str, value: float, most: float) -> dict[str, Any]:
    return figure(Measured(what, [value]), Measured("none", [1.0]), Limit("most", most))


def _read(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [
            (100 * float(one["confidence"]), one["correct"] == "1", one["topic"])
            for one in csv.DictReader(file)
        ]


def _error(rows: Sequence[Row]) -> float:
    return ece([one for one, _, _ in rows], [right for _, right, _ in rows])


def _fitted(rows: Sequence[Row], labels: int, *, by_topic: bool = True) -> tuple[float, float]:
    """The calibration error on the questions that were not labelled, with the map and without; means of the draws."""
    errors = []
    for seed in range(DRAWS):
        known, rest = _drawn(rows, labels, seed)
        found = _map(known, by_topic=by_topic)
        worth = [found.apply(one, topic if by_topic else None) for one, _, topic in rest]
        errors.append((ece(worth, [right for _, right, _ in rest]), _error(rest)))
    return mean(after for after, _ in errors), mean(before for _, before in errors)


def _recalibrated(rows: Sequence[Row]) -> list[Row]:
    """Half of a model's answers, with what was right in the other half for each confidence that it stated."""
    mixed = Random(0).sample(rows, len(rows))
    half = len(mixed) // 2
    came: dict[float, list[bool]] = defaultdict(list)
    for stated, right, _topic in mixed[:half]:
        came[stated].append(right)
    overall = mean(right for _, right, _ in mixed[:half])
    worth = {one: (sum(right) + _TAKEN * overall) / (len(right) + _TAKEN) for one, right in came.items()}
    return [(100 * worth.get(one, overall), right, topic) for one, right, topic in mixed[half:]]


def _stays_raw(rows: Sequence[Row], labels: int) -> float:
    """In which share of draws the map is not known to be better, so that the confidence is used as it is."""
    maps = (_map(_drawn(rows, labels, seed)[0], by_topic=True) for seed in range(DRAWS))
    return mean(one.stage != "calibrated" for one in maps)


def _off_by_topic(rows: Sequence[Row], *, by_topic: bool) -> float:
    """By how much the mean confidence in a topic is off, mean of the topics, after 2,000 verdicts."""
    off = []
    for seed in range(DRAWS):
        known, rest = _drawn(rows, 2000, seed)
        found = _map(known, by_topic=by_topic)
        of_topic: dict[str, list[float]] = defaultdict(list)
        for stated, right, topic in rest:
            of_topic[topic].append(found.apply(stated, topic if by_topic else None) / 100 - right)
        off.append(mean(abs(mean(one)) for one in of_topic.values()))
    return mean(off)


def _chance(rows: Sequence[Row]) -> float:
    """The calibration error that chance alone leaves to the map with topics: each answer is right as often as it says."""
    errors = []
    for seed in range(DRAWS):
        known, rest = _drawn(rows, 2000, seed)
        found, drawn = _map(known, by_topic=True), Random(seed)
        worth = [found.apply(one, topic) for one, _, topic in rest]
        errors.append(ece(worth, [drawn.random() < one / 100 for one in worth]))
    return mean(errors)


def _drawn(rows: Sequence[Row], labels: int, seed: int) -> tuple[list[Row], list[Row]]:
    """The answers that are labelled, and the others."""
    mixed = Random(seed).sample(rows, len(rows))
    return mixed[:labels], mixed[labels:]


def _map(known: Sequence[Row], *, by_topic: bool) -> Calibrator:
    return fit(
        [one for one, _, _ in known],
        [right for _, right, _ in known],
        topic=[topic for _, _, topic in known] if by_topic else None,
    )


def _regime(rows: Sequence[Row], random: Random) -> _Regime:
    """One project: humans decide what the gate escalates, and check some of what it accepts."""
    truth = mean(right for one, right, _ in rows if one >= GATE)
    accepted: list[Accepted] = []
    verdicts: list[tuple[Row, float]] = []
    checked: list[bool] = []
    false = False
    for row in random.sample(rows, QUESTIONS):
        stated, right, topic = row
        if stated < GATE:
            verdicts.append((row, 1.0))
            continue
        probability = audit_probability(len(accepted))
        drawn = random.random() < probability
        accepted.append(Accepted(stated, float(right) if drawn else None, topic))
        if drawn:
            verdicts.append((row, probability))
            checked.append(right)
            false = false or certified_accuracy(checked) > truth
    found = fit(
        [stated for (stated, _, _), _ in verdicts],
        [right for (_, right, _), _ in verdicts],
        topic=[topic for (_, _, topic), _ in verdicts],
        probability=[one for _, one in verdicts],
    )
    estimate = estimate_accuracy(accepted, found)
    assert estimate is not None, "the first twenty are checked"
    return _Regime(abs(estimate.accuracy - truth), estimate.low <= truth <= estimate.high, false)


# -- a retrospective of a large record -------------------------------------------------------------------------


def _retro(folder: Path) -> dict[str, Any]:
    """`kr retro` over a feature of a hundred thousand entries, in a process of its own."""
    project = folder / "retro"
    project.mkdir()
    (project / "kr.yaml").write_text("logs: []\n", "utf-8")
    with Pipeline.open(folder=project) as pipeline:
        events: list[Event] = []
        random = Random(0)
        for number in range(ENTRIES // 6):
            events += _exchange(number, random)
        pipeline.journal.append(events).result()
    output([sys.executable, "-m", "kr_core", "retro", "F-1", "--json"], project)  # what is learned is kept
    began = perf_counter()
    said = output([sys.executable, "-m", "kr_core", "retro", "F-1", "--json"], project)
    seconds = perf_counter() - began
    assert json.loads(said)["questions"] == ENTRIES // 6
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"memory of kr retro over {ENTRIES:,} entries {most:.0f} MB", file=sys.stderr)
    if most > RETRO_MEGABYTES:
        raise SystemExit(f"it took {most:.0f} MB")
    one = Measured(f"`kr retro` over {ENTRIES:,} entries", [seconds])
    return figure(one, one, Limit("seconds", RETRO_SECONDS))


def _exchange(number: int, random: Random) -> list[Event]:
    run, topic = f"run{number}", f"topic-{number % 8}"
    about = {"exchange_id": run, "parent_id": None, "feature_id": "F-1", "question_id": f"q{number}"}
    stated = random.choice((60, 70, 80, 90, 95))
    accepted = stated >= GATE
    drawn = accepted and random.random() < 0.1
    answer = {"agent": "duc", "model": "opus", "raw_confidence": stated, "confidence": stated}
    gate: dict[str, Any] = {"accepted": accepted, "confidence": stated, "threshold": GATE, "audited": drawn}
    gate |= {"raw_confidence": stated, "agent": "duc", "model": "opus", "prompt": "", "topic": topic}
    right = random.random() < stated / 150
    verdict = ("answer.checked", {"verdict": "right" if right else "wrong", "audit_probability": 0.1})
    reply = ("human.replied", {"action": "confirm" if right else "correct", "content": "No."})
    said: list[tuple[str, dict[str, Any]]] = [
        ("question.asked", {"topic": topic, "text": "Which session store should we use here?"}),
        ("question.routed", {"topic": topic, "target": "duc", "reason": "topic rule"}),
        ("answer.received", {**answer, "content": "Use Redis. " * 20, "rationale": "It expires. " * 20}),
        ("answer.gated", {**gate, "audit_probability": 0.1 if accepted else None}),
        *([verdict] if drawn else [] if accepted else [reply]),
        ("exchange.finished", {"status": "accepted" if accepted else "answered"}),
    ]
    return [Event(kind, run, {**about, **data}) for kind, data in said]
