"""The real Claude command line, from npm, with the loopback model server in place of the service."""

from __future__ import annotations

from functools import cache

from support.mcp_servers import npm

_CLAUDE = "@anthropic-ai/claude-code@2.1.330"
KEY = "sk-ant-test-" + "a1b2c3d4" * 4


@cache
def claude() -> str:
    """The program; skips the test where it cannot be installed."""
    return str(npm("claude", _CLAUDE) / "bin/claude.exe")


def environment(server, home) -> dict[str, str]:
    """What it is told by its environment: where the service is, its key, and a home of its own."""
    return {
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": KEY,
        "HOME": str(home),
        "NO_PROXY": "127.0.0.1",
    }
