"""`kr route`: where a question would go, and what decides it; nobody is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.agents.question_dispatch import AgentDispatcher, hints
from kr_core.cli import output
from kr_core.cli.ask import question
from kr_core.research import Pipeline
from kr_core.routing.table import UNKNOWN_TOPIC
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

    from kr_core.model.routing import AgentProfile, Route


def run(options: argparse.Namespace) -> int:
    """Print the way of a question, and with `--explain` what decided."""
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        asked = question(options)
        route, notes = AgentDispatcher(pipeline).route(asked)
        table = pipeline.components.table()
        profile = table.agents.get(route.agent or "")
        notes += hints(asked, route, table) if route.reason == UNKNOWN_TOPIC else []
    if options.json:
        print(output.as_json({**route.model_dump(mode="json"), "notes": notes}))
        return 0
    print(printable(route.target if profile is None else _who(route, profile)))
    if options.explain:
        for line in [*_why(route, profile), *notes]:
            print(printable(f"  {line}"))
    return 0


def _who(route: Route, profile: AgentProfile) -> str:
    first = profile.name if route.target == profile.name else f"{profile.name} ({route.target})"
    return ", ".join([first, *route.also])


def _why(route: Route, profile: AgentProfile | None) -> list[str]:
    lines = [f"because: {route.reason}"]
    if profile is None:
        return lines
    needed = "every answer goes to a human" if route.always_escalate else f"{route.threshold}"
    lines.append(f"threshold: {needed} ({route.threshold_reason})")
    if route.certified is not None:
        lines.append(
            f"certified: {route.certified} % of such answers must be proven right; till then a human decides"
        )
    model = f", model {profile.model}" if profile.model else ""
    lines.append(f"asked through: {profile.plugin}{model}, at most {profile.timeout_seconds} s")
    if profile.fallback:
        lines.append(f"if it fails: {', '.join(profile.fallback)}, then a human")
    return lines
