"""The page of a feature's retrospective, with its figures; it works without the script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from kr_core.errors import ConfigError, PluginError
from kr_core.retro.figures import retrospect
from kr_core.retro.logged_questions import read_questions
from kr_core.retro.page import page_values
from kr_core.server.web.problems import RequestRefused, able

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from kr_core.research import Pipeline
    from kr_core.server.web.shared_reads import SharedReads

__all__ = ["RetroPages"]


class RetroPages:
    """Shows retrospectives.

    Args:
        pipeline: of the project.
        reads: shares the drawing of figures, which takes long.
        shown: makes a page of a template and its values, for whoever asks.
    """

    def __init__(
        self, pipeline: Pipeline, reads: SharedReads, shown: Callable[..., Awaitable[Response]]
    ) -> None:
        self._pipeline = pipeline
        self._reads = reads
        self._shown = shown

    def routes(self) -> list[Route]:
        """Where they are."""
        return [Route("/retro/{feature:path}", self._one)]

    async def _one(self, request: Request) -> Response:
        feature = request.path_params["feature"]
        values = await self._reads.read(("retro", feature), lambda: able(lambda: self._values(feature)))
        return await self._shown(request, "retro.html", **values)

    def _values(self, feature: str) -> dict[str, object]:
        journal = self._pipeline.journal
        try:
            learned = self._pipeline.components.verdicts.read()
            report = retrospect(journal, feature, self._pipeline.config.settings.retro, learned)
            return page_values(report, read_questions(journal, feature))
        except ConfigError as error:
            raise RequestRefused("unknown", str(error)) from error
        except PluginError as error:
            raise RequestRefused("unable", str(error)) from error
