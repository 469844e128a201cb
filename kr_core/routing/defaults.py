"""The roster and the rules where nothing is configured."""

from __future__ import annotations

from kr_core.model.routing import AgentProfile, RoutingRule

__all__ = ["DEFAULT_PLUGIN", "ROSTER", "RULES"]

DEFAULT_PLUGIN = "claude_cli"

ROSTER = {
    name: AgentProfile(name=name, plugin=DEFAULT_PLUGIN, role=role)
    for name, role in {
        "duc": "architect",
        "veuve": "product",
        "marie": "qa",
        "dede": "developer",
        "gustave": "devops",
        "degaulle": "reviewer",
    }.items()
}
"""Two who know (architecture, product) and four who work (tests, code, infrastructure, review)."""

_TECHNICAL = """api apis architecture authentication authorization availability backend build caching ci cloud code
compatibility concurrency configuration data database dependencies deployment design-patterns devops encryption
error-handling errors frameworks frontend infra infrastructure integration languages libraries logging messaging
microservices migration monitoring networking observability orm performance platform protocols queues reliability
scalability scaling schema search security session sessions storage technical technology testing tooling tools"""
_PRODUCT = """acceptance-criteria business budget customers feature-scope features go-to-market market naming persona
personas pricing priorities priority product requirements roadmap scope stakeholders user-experience user-stories users
ux"""

RULES = tuple(
    RoutingRule(topic=f"{topic}/*", agent=agent)
    for agent, topics in (("duc", _TECHNICAL), ("veuve", _PRODUCT))
    for topic in topics.split()
)
"""Technical topics go to the architect, product topics to the product manager."""
