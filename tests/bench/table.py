"""Write the table of `bench-results.json` into docs/performance.md."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "performance.md"
_PLACE = re.compile(r"(<!-- bench:begin -->\n).*?(<!-- bench:end -->)", re.DOTALL)


def table(results: dict[str, Any]) -> str:
    """The results in Markdown."""
    machine = results["machine"]
    lines = [
        f"{results['date']}, Python {machine['python']}, {machine['system']}, {machine['cpus']} CPUs.",
        "",
        "| | median (min-max) | peer | peer's median (min-max) | ratio | limit | |",
        "|---|---|---|---|---|---|---|",
    ]
    for figure in results["figures"]:
        peer, limit = figure["peer"], figure["limit"]
        allowed = f"{limit['times_peer']:g} x" if "times_peer" in limit else _seconds(limit["seconds"])
        lines.append(
            f"| {figure['what']} | {_spread(figure)} | {peer['what']} | {_spread(peer)} | {figure['ratio']:.2f} x "
            f"| {allowed} | {'met' if figure['met'] else 'exceeded'} |"
        )
    return "\n".join(lines)


def _spread(measured: dict[str, Any]) -> str:
    low, high = _seconds(measured["min_seconds"]), _seconds(measured["max_seconds"])
    return f"{_seconds(measured['median_seconds'])} ({low}-{high})"


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms"


def main() -> None:
    """Write the table between its marks."""
    results = json.loads((ROOT / "bench-results.json").read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    PAGE.write_text(_PLACE.sub(lambda found: f"{found[1]}{table(results)}\n{found[2]}", page), "utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
