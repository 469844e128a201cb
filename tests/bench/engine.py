"""The engine against plain calls and against LangGraph, in processes that take turns."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import ROOT, Limit, Measured, compile_everything, figure, output

if TYPE_CHECKING:
    from harness import Values

PEERS = ROOT / ".quality" / "peers" / ".venv"
TURNS = 3
OVERHEAD = 60e-6
CROWDED = 1.3
OF_LANGGRAPH = 1 / 20
_HERE = Path(__file__).parent


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    python = PEERS / "bin" / "python"
    if not python.exists():
        raise SystemExit(f"{PEERS} is missing; run `make peers-env`")
    compile_everything(str(python), list(PEERS.glob("lib/python*/site-packages")))
    ours = [sys.executable, str(_HERE / "stages.py"), str(folder)]
    theirs = [str(python), str(_HERE / "peers" / "langgraph_stages.py")]
    seconds: Values = {}
    for _ in range(TURNS):
        for command in (ours, theirs):
            for name, values in json.loads(output(command, folder)).items():
                seconds.setdefault(name, []).extend(values)
    return _rows(seconds)


def _rows(seconds: Values) -> list[dict[str, Any]]:
    def row(what: str, name: str, said: str, peer: str, limit: Limit | None) -> dict[str, Any]:
        return figure(Measured(what, seconds[name]), Measured(said, seconds[peer]), limit)

    invoked, awaited = "LangGraph `invoke`, seven no-op nodes", "LangGraph `ainvoke`"
    one, many = "seven no-op stages", "seven no-op stages, 1,000 runs in flight"
    whole = "research with no-op plugins"
    return [
        row(one, "engine", "seven plain calls", "plain", Limit("more", OVERHEAD)),
        row(many, "engine of 1000", "one in flight", "engine", Limit("times", CROWDED)),
        row(one, "engine", invoked, "invoke", Limit("times", OF_LANGGRAPH)),
        row(one, "engine", awaited, "ainvoke", Limit("times", OF_LANGGRAPH)),
        row(whole, "research", awaited, "ainvoke", None),
        row(
            f"{whole}, 1,000 in flight",
            "research of 1000",
            "one in flight",
            "research",
            Limit("times", CROWDED),
        ),
    ]
