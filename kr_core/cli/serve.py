"""`kr serve`: the inbox as a page and an API."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kr_core.entry_points import require
from kr_core.errors import ConfigError
from kr_core.server.access import check_token, is_loopback, token_in

if TYPE_CHECKING:
    import argparse

HOST, PORT = "127.0.0.1", 8420


def run(options: argparse.Namespace) -> int:
    """Serve until the process is told to end, and return the exit code."""
    for module in ("fastapi", "uvicorn", "markdown_it", "nh3"):
        require(module, "serve")
    host, token = options.host or HOST, token_in(options.token_env)
    check_token(host, token, "KR_TOKEN")
    url = _checked(options.url, token)
    from kr_core.aio import run as run_to_its_end
    from kr_core.cli.ask import login_name
    from kr_core.server.served_project import ServedProject
    from kr_core.server.web.web_server import serve

    project = ServedProject(options.config, options.folder)
    user = login_name() if is_loopback(host) and url is None else ""
    run_to_its_end(serve(project, host, PORT if options.port is None else options.port, token, url, user))
    return 0


def _checked(url: str | None, token: str | None) -> str | None:
    """The address under which people reach it.

    Raises:
        ConfigError: it is none, or it is reached without a token.
    """
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        right = parts.scheme in {"http", "https"} and parts.hostname and parts.path in {"", "/"}
        right = right and not parts.query and "@" not in parts.netloc and parts.port != 0
    except ValueError:
        right = False
    if not right:
        hint = "write it as https://kr.example.org"
        raise ConfigError("is not the address of a server", where=f"--url {url}", hint=hint)
    if token is None and not is_loopback(urlsplit(url).hostname or ""):
        hint = "name an environment variable that holds a token: --token-env KR_TOKEN"
        raise ConfigError(
            "is reached from other machines, and so needs a token", where=f"--url {url}", hint=hint
        )
    return url
