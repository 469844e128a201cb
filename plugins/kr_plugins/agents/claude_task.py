"""What Claude's command line gets for a task of `kr dispatch`: its tools, its environment and the words of the task.

Claude's own rules for tools are not a boundary (they hold for its file tools, and not for what a shell command does). They tell it
early what it may not do; KR's sandbox and gate decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["arguments", "environment", "prompt"]

_READ = ("Read", "Glob", "Grep")
_WORK = (*_READ, "Edit", "Write", "Bash")
_FIXED = (
    "--output-format", "text", "--permission-mode", "dontAsk", "--permission-prompts", "none", "--strict-mcp-config",
    "--disable-slash-commands", "--no-session-persistence", "--restricted", "--safe-mode",
)  # fmt: skip
"""It asks no one, and works in its current folder, without the user's and the project's settings."""
_KEPT = (
    "HOME",
    "LANG",
    "LC_ALL",
    "PATH",
    "TMPDIR",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "CLAUDE_CONFIG_DIR",
)
_PROXIES = ("http_proxy", "https_proxy", "no_proxy")
_SERVICES = {
    "CLAUDE_CODE_USE_BEDROCK": ("AWS_",),
    "CLAUDE_CODE_USE_VERTEX": ("GOOGLE_", "CLOUD_ML_", "VERTEX_"),
}
"""Whose variables belong to the service that a variable chooses."""
_LOGIN = ("ANTHROPIC_", "CLAUDE_CODE_OAUTH_", "CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_")
_DOES = {
    "marie": "You write tests.",
    "dede": "You write code.",
    "gustave": "You write infrastructure.",
    "degaulle": "You review. You change no file: what you print at the end is your review.",
}


def arguments(order: Mapping[str, Any], model: str | None, max_cost_usd: float) -> Iterator[str]:
    """What follows the program.

    Args:
        order: the task.
        model: the configured one, if any.
        max_cost_usd: what the task may cost.
    """
    tools = ",".join(_WORK if order["scope"]["allow"] else _READ)
    yield from (
        "-p",
        *_FIXED,
        f"--tools={tools}",
        f"--allowedTools={tools}",
        "--max-budget-usd",
        str(max_cost_usd),
    )
    if model:
        yield f"--model={model}"  # as one word, so that no name is an option


def environment(of_user: Mapping[str, str]) -> dict[str, str]:
    """The variables of the user that Claude needs to run and to log in; its shell could read all others as well."""
    begins = [*_LOGIN, *(one for name, all_ in _SERVICES.items() if of_user.get(name) for one in all_)]
    return {
        name: value
        for name, value in of_user.items()
        if name in _KEPT or name.lower() in _PROXIES or name.startswith(tuple(begins))
    }


def prompt(order: Mapping[str, Any]) -> str:
    """The task in words, and no more of the project than belongs to it."""
    scope = order["scope"]
    own = [*scope["allow"], *order.get("granted", ())]
    parts = [
        f"Do task {order['id']} of the feature {order['feature']} in the repository in your current folder. {_DOES.get(order['role'], '')}",
        f"Task: {order['title']}",
        _listed("It is done when:", order["criteria"]),
        _listed("Its files:", order["paths"]),
        _listed("Related files, to read:", order["related"]),
        _listed("You may change only what lies here:", own),
        _listed("And never:", scope["deny"]),
    ]
    if own:
        parts.append(
            "A change anywhere else has the whole task refused. If the task cannot be done without one, make that change too, and no"
            " other outside; a person then decides. Do not commit, and leave no temporary files. At the end say in a few sentences what you did."
        )
    return "\n\n".join(part for part in parts if part) + "\n"


def _listed(heading: str, lines: Any) -> str:
    return "\n".join([heading, *(f"- {line}" for line in lines)]) if lines else ""
