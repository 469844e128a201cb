"""A retrospective as one page of HTML that needs nothing beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from kr_core.retro.pictures import pictures
from kr_core.retro.report_text import effect, proven
from kr_core.templates import bundled_folder
from kr_core.terminal_text import finalized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model.retro_report import RetroReport
    from kr_core.retro.logged_questions import AskedQuestion

__all__ = ["as_html", "page_values"]


def as_html(report: RetroReport, questions: Sequence[AskedQuestion]) -> str:
    """The page, whole.

    Raises:
        PluginError: matplotlib is not installed.
    """
    environment = Environment(
        loader=FileSystemLoader(bundled_folder() / "web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = (bundled_folder() / "web" / "static" / "page.css").read_text("utf-8")
    values = page_values(report, questions)
    return environment.get_template("retro_file.html").render(style=Markup(style), **values)  # noqa: S704  KR's own


def page_values(report: RetroReport, questions: Sequence[AskedQuestion]) -> dict[str, object]:
    """What the template of a retrospective uses.

    Raises:
        PluginError: matplotlib is not installed.
    """
    drawn = [(one, Markup(one.svg)) for one in pictures(questions)]  # noqa: S704  matplotlib has escaped its texts
    return {
        "report": report,
        "drawn": drawn,
        "outcomes": [(one, effect(one)) for one in report.changes],
        "proven": proven(report),
    }
