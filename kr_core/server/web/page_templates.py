"""Pages from the bundled templates; whatever is put into them is text, never HTML, but for what `markdown` has cleaned."""

from __future__ import annotations

import datetime as dt
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from kr_core._version import __version__
from kr_core.escalation.sanitize import harmless_line
from kr_core.server.web.markdown_html import to_html
from kr_core.templates import bundled_folder
from kr_core.terminal_text import finalized, printable

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["page", "static_folder"]

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def page(name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page.

    Args:
        name: of the template below `web/`.
        status: the HTTP status.
        values: what the template uses; all of it is escaped.
    """
    return HTMLResponse(_environment().get_template(name).render(values), status)


def static_folder() -> Path:
    """Where the style sheet and the script lie."""
    return bundled_folder() / "web" / "static"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(bundled_folder() / "web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        age=_age, moment=_moment, stamp=_stamp, line=harmless_line, markdown=to_html, plain=printable
    )
    environment.globals.update(asset=_asset, version=__version__)
    return environment


@cache
def _asset(name: str) -> str:
    """The address of a file that is kept by browsers until it changes."""
    digest = hashlib.sha256((static_folder() / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={digest}"


def _age(time: dt.datetime) -> str:
    """How long ago, in one unit."""
    seconds = max(0.0, (dt.datetime.now(dt.UTC) - time).total_seconds())
    for unit, size in (("d", _DAY), ("h", _HOUR), ("min", _MINUTE)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"


def _moment(time: dt.datetime) -> str:
    return f"{time.astimezone():%Y-%m-%d %H:%M}"


def _stamp(time: dt.datetime) -> str:
    return time.astimezone(dt.UTC).isoformat(timespec="seconds")
