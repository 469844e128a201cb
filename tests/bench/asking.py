"""Questions to agents: what a thousand at once cost beside the agents themselves, and what the rules cost."""

from __future__ import annotations

import fnmatch
import json
import re
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from harness import Limit, Measured, Values, figure, output

from kr_core.routing.defaults import ROSTER, RULES
from kr_core.routing.table import PlacedRule, Table

TURNS = 3
TABLES = 20
WHOLE, GAP, RULES_SECONDS = 8.0, 0.1, 0.005
_HERE = Path(__file__).parent


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    seconds: Values = {}
    for _ in range(TURNS):
        project = Path(tempfile.mkdtemp(dir=folder))
        told = json.loads(output([sys.executable, str(_HERE / "asked_at_once.py"), str(project)], project))
        for name, values in told.items():
            seconds.setdefault(name, []).extend(values)
    thousand = "1,000 questions at once, 200 with agents that take 1 s"
    asleep = "1,000 sleeps of 1 s, 200 at once"
    tables, patterns = [_table() for _ in range(TABLES)], [_patterns() for _ in range(TABLES)]
    return [
        figure(
            Measured(thousand, seconds["whole"]), Measured(asleep, seconds["asleep"]), Limit("seconds", WHOLE)
        ),
        figure(
            Measured(f"{thousand}: how late the event loop is, 99th percentile", seconds["gap"]),
            Measured(asleep, seconds["asleep gap"]),
            Limit("seconds", GAP),
        ),
        figure(
            Measured("the default rules checked and put in order", tables),
            Measured("their patterns compiled as regular expressions", patterns),
            Limit("seconds", RULES_SECONDS),
        ),
    ]


def _table() -> float:
    placed = [PlacedRule(rule, "default rules") for rule in RULES]
    begun = perf_counter()
    Table(placed, ROSTER, 80)
    return perf_counter() - begun


def _patterns() -> float:
    re.purge()
    begun = perf_counter()
    for rule in RULES:
        re.compile(fnmatch.translate(rule.topic))
    return perf_counter() - begun
