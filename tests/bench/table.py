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
        peer = figure["peer"]
        lines.append(
            f"| {figure['what']} | {_spread(figure, figure)} | {peer['what']} | {_spread(peer, figure)} | {_ratio(figure['ratio'])} "
            f"| {_allowed(figure['limit'])} | {_verdict(figure)} |"
        )
    return "\n".join(lines)


def _allowed(limit: dict[str, Any] | None) -> str:
    if limit is None:
        return "none"
    if limit["kind"] in {"least", "most"}:
        return f"at {limit['kind']} {limit['value']:.2f}"
    if limit["kind"] == "times":
        return f"{limit['value']:g} x"
    return _seconds(limit["value"]) + (" more" if limit["kind"] == "more" else "")


def _verdict(figure: dict[str, Any]) -> str:
    if figure["limit"] is None:
        return ""
    return "met" if figure["met"] else "exceeded"


def _ratio(value: float) -> str:
    return f"{value:.2f} x" if value >= 0.1 else f"{value:.3f} x"


def _spread(measured: dict[str, Any], figure: dict[str, Any]) -> str:
    if (figure["limit"] or {}).get("kind") in {"least", "most"}:
        spread = (
            f" ({measured['min_seconds']:.3f}-{measured['max_seconds']:.3f})" if measured["runs"] > 1 else ""
        )
        return f"{measured['median_seconds']:.3f}{spread}"
    low, high = _seconds(measured["min_seconds"]), _seconds(measured["max_seconds"])
    return f"{_seconds(measured['median_seconds'])} ({low}-{high})"


def _seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"


def main() -> None:
    """Write the table between its marks."""
    results = json.loads((ROOT / "bench-results.json").read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    PAGE.write_text(_PLACE.sub(lambda found: f"{found[1]}{table(results)}\n{found[2]}", page), "utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
