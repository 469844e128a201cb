"""Expeditions in the JSON API: the same as on the page, for programs.

Without postponed annotations, since FastAPI reads them.
"""

import datetime as dt
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from kr_core.model.expedition import Axiom, CycleReport, Ending, Finished
from kr_core.server.web.api import problems
from kr_core.server.web.expedition_browser import ExpeditionBrowser, ExpeditionRow

__all__ = ["routes"]

_MAX_LISTED = 200
Status = Literal["unfinished", "finished"]


class ExpeditionLine(BaseModel):
    """An expedition in the list."""

    id: str
    query: str
    status: Status
    begun: dt.datetime
    reason: Ending | None = Field(description="the rule that ended it")
    cycles: int
    axioms: int = Field(description="found so far")


class ExpeditionListing(BaseModel):
    """A part of the list, newest first."""

    items: list[ExpeditionLine]
    total: int
    next: str | None = Field(description="the address of the next part; null at the end")


class PassageShown(BaseModel):
    """What a signal was taken from."""

    text: str
    url: str
    locator: str
    title: str


class Unsupported(BaseModel):
    """A signal whose quote stands in no kept passage."""

    axiom: str
    message: str


class ExpeditionTree(BaseModel):
    """An expedition, as `kr expedition show ID --json` prints it."""

    id: str
    query: str
    status: Status
    begun: dt.datetime
    finished: Finished | None = Field(description="as when it ended; null while it has not")
    cycles: list[CycleReport] = Field(description="each attempt at a cycle so far")
    axioms: list[Axiom] = Field(description="as they stand today")
    passages: dict[str, PassageShown] = Field(description="by the `sha256` of a signal")
    unsupported: list[Unsupported]


_SAID = {
    401: "the token is missing or wrong",
    404: "there is no such expedition",
    422: "a parameter is wrong",
}


def routes(research: ExpeditionBrowser) -> APIRouter:
    """The routes below `/api/expeditions`.

    Args:
        research: looks at the expeditions.
    """
    router = APIRouter(prefix="/api/expeditions", tags=["expeditions"])

    @router.get(
        "",
        summary="List expeditions, newest first",
        responses=problems(401, 422, said=_SAID),
    )
    async def listed(
        before: Annotated[
            str, Query(description="only those begun before this one", pattern=r"^([Xx][0-9]{1,9})?$")
        ] = "",
        limit: Annotated[int, Query(ge=1, le=_MAX_LISTED)] = 50,
    ) -> ExpeditionListing:
        found = await research.listed(before, limit)
        following = None if found.before is None else f"/api/expeditions?before={found.before}&limit={limit}"
        return ExpeditionListing(items=[_line(row) for row in found.rows], total=found.total, next=following)

    @router.get(
        "/{id}",
        summary="Show an expedition",
        responses=problems(401, 404, 422, said=_SAID),
    )
    async def show(
        id: Annotated[str, Path(description="such as `X7`", max_length=20)],  # noqa: A002  the name in the address
    ) -> ExpeditionTree:
        return ExpeditionTree.model_validate(await research.tree(id))

    return router


def _line(row: ExpeditionRow) -> ExpeditionLine:
    kept = row.kept
    return ExpeditionLine(
        id=kept.id,
        query=kept.query,
        status="finished" if kept.finished is not None else "unfinished",
        begun=kept.begun,
        reason=None if kept.finished is None else kept.finished.reason,
        cycles=row.cycles,
        axioms=row.axioms,
    )
