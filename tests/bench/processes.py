"""The knowledge base under eight processes: what kills cost, and what it costs to be served in turn."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from harness import ROOT, Limit, Measured, figure, output

if TYPE_CHECKING:
    from pathlib import Path

    from harness import Values

DRIVER = ROOT / "tests" / "faults" / "drivers" / "mixed.py"
TURNS = 3
KILLS = (20, 200)
_VARIANTS = {
    "undisturbed": ["--kills=0"],
    **{f"{kills} kills": [f"--kills={kills}"] for kills in KILLS},
    "in turn": ["--kills=0", "--fair"],
}


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    seconds: Values = {}
    for turn in range(TURNS):
        for name, arguments in _VARIANTS.items():
            base = folder / f"{name}-{turn}" / "knowledge-base"
            base.parent.mkdir()
            told = json.loads(
                output([sys.executable, str(DRIVER), str(base), f"--seed={turn}", *arguments], folder)
            )
            if told["faults"]:
                raise SystemExit(f"{name}, seed {turn}: {told['faults']}")
            seconds.setdefault(name, []).append(told["seconds"])
    what = "eight processes, 500 operations each"
    peer = Measured("the same, undisturbed", seconds["undisturbed"])
    return [
        *(
            figure(Measured(f"{what}, {kills} kills", seconds[f"{kills} kills"]), peer, Limit("times", 2.0))
            for kills in KILLS
        ),
        figure(Measured(f"{what}, first come, first served", seconds["in turn"]), peer, None),
    ]
