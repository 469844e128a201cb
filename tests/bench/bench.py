"""The measurements: `make bench` writes `bench-results.json` and exits with 1 where a limit is exceeded.

Every figure stands beside a peer or limit that was measured in the same run, in turn with it. A group of figures can be
named on the command line to measure it alone; the results are then printed and not kept.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from pathlib import Path
from time import strftime

import asking
import calibration
import commands
import dispatch
import engine
import escalations
import evidence_found
import inbox
import journal
import knowledge
import large_base
import local_search
import mcp_server
import network
import processes
import record
import retrospectives
import team
from harness import ROOT, compile_everything, own_code
from table import table

RESULTS = ROOT / "bench-results.json"
GROUPS = {
    "asking": asking.figures,
    "calibration": calibration.figures,
    "commands": commands.figures,
    "dispatch": dispatch.figures,
    "engine": engine.figures,
    "escalations": escalations.figures,
    "expeditions": evidence_found.figures,
    "inbox": inbox.figures,
    "journal": journal.figures,
    "knowledge": knowledge.figures,
    "large_base": large_base.figures,
    "local_search": local_search.figures,
    "mcp_server": mcp_server.figures,
    "network": network.figures,
    "processes": processes.figures,
    "record": record.figures,
    "retrospectives": retrospectives.figures,
    "team": team.figures,
}


def main(wanted: list[str]) -> int:
    """Measure, keep the results, print them; 1 where a limit is exceeded, 2 for an unknown group."""
    if set(wanted) - set(GROUPS):
        print(f"groups: {', '.join(GROUPS)}", file=sys.stderr)
        return 2
    compile_everything(sys.executable, own_code())
    figures = []
    with tempfile.TemporaryDirectory(prefix="kr-bench-") as folder:
        for name in wanted or GROUPS:
            figures += [{"group": name, **figure} for figure in GROUPS[name](Path(folder))]
    results = {
        "date": strftime("%Y-%m-%d"),
        "machine": {"python": platform.python_version(), "cpus": os.cpu_count(), "system": platform.system()},
        "figures": figures,
    }
    if not wanted:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    print(table(results))
    missed = [figure["what"] for figure in figures if not figure["met"]]
    if missed:
        print(f"\nlimit exceeded: {'; '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
