"""The JSON API: the same as on the page, for programs.

Without postponed annotations, since FastAPI reads them.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from kr_core.escalation.case import Case
from kr_core.model.questions import EscalationRequest, HumanResponse
from kr_core.server.web.case_inbox import MAX_NAME_LENGTH, MAX_TEXT_LENGTH, Inbox, InboxPage
from kr_core.server.web.problems import PROBLEM, RequestRefused

__all__ = ["routes"]

_MAX_LISTED = 200
_MAX_LINE_LENGTH = 1000
Action = Literal["confirm", "correct", "add_context", "choose", "chat", "withdraw"]
Id = Annotated[str, Path(description="such as `E7`", max_length=20)]


class CaseSummary(BaseModel):
    """A case in the list."""

    id: str
    status: str
    revision: int
    feature: str
    topic: str
    question: str = Field(description="its first 1,000 characters")
    reason: str
    agent: str | None
    confidence: int | None
    threshold: int
    opened: dt.datetime


class CaseList(BaseModel):
    """A part of the list, newest first."""

    items: list[CaseSummary]
    total: int = Field(description="cases that fit, on whatever page")
    next: str | None = Field(description="the address of the next part; null at the end")


class Decision(BaseModel):
    """How a case ended."""

    action: Literal["confirm", "correct", "add_context", "choose", "chat", "withdraw", "timeout"]
    by: str
    content: str | None


class CaseDetail(BaseModel):
    """A case, as `kr inbox show ID --json` prints it."""

    id: str
    status: Literal["open", "notified", "resolved", "expired", "superseded", "withdrawn"]
    revision: int
    case: EscalationRequest
    resolution: Decision | None


class DecisionResult(BaseModel):
    """What came of it, as `kr ask --json` prints it."""

    model_config = ConfigDict(extra="allow")

    exchange_id: str
    question_id: str
    status: Literal["accepted", "escalated", "answered", "expired", "failed"]
    answer: dict[str, Any] | None
    threshold: int
    escalation: dict[str, Any] | None
    notes: list[str]


class ChatMessage(BaseModel):
    """What is said to the agent of a case."""

    model_config = ConfigDict(extra="forbid", strict=True)

    content: str = Field(min_length=1, max_length=MAX_TEXT_LENGTH)
    revision: int = Field(ge=1, description="of the answer that it is about")
    by: str = Field(default="", max_length=MAX_NAME_LENGTH, description="who says it; the record shows it")


class DecisionBody(BaseModel):
    """What a human has decided."""

    model_config = ConfigDict(extra="forbid", strict=True)

    action: Action
    content: str = Field(
        default="",
        max_length=MAX_TEXT_LENGTH,
        description="the answer, the context, the choice's letter, what ends a talk, or why it is withdrawn",
    )
    revision: int = Field(
        ge=1, description="of the answer that it is about; a reply to an older one is refused"
    )
    by: str = Field(default="", max_length=MAX_NAME_LENGTH, description="who replies; the record shows it")


class ProblemDetails(BaseModel):
    """Problem details, as RFC 9457 has them."""

    type: str
    title: str
    status: int
    detail: str


_SAID = {
    400: "the body is no JSON",
    401: "the token is missing or wrong",
    403: "the request comes from a page of somebody else",
    404: "there is no such case",
    409: "the case is decided, or the reply is about an older answer",
    413: "the body is too long",
    415: "the body is not sent as JSON",
    422: "the reply cannot be applied, or a field is wrong",
}


def problems(*statuses: int, said: Mapping[int, str] = _SAID) -> dict[int | str, dict[str, Any]]:
    """The refusals of a route, as the description of the API has them; `said` is what each means."""
    content = {PROBLEM: {"schema": ProblemDetails.model_json_schema()}}
    return {status: {"description": said[status], "content": content} for status in statuses}


def routes(desk: Inbox, user: str) -> APIRouter:
    """The routes below `/api/`.

    Args:
        desk: does what is asked for.
        user: who replies where nobody says; empty where somebody has to.
    """
    router = APIRouter(prefix="/api/inbox", tags=["inbox"])

    @router.get("", summary="List cases, newest first", response_model=CaseList, responses=problems(401, 422))
    async def inbox(
        status: Annotated[
            Literal["waiting", "resolved", "expired", "superseded", "withdrawn", "all"],
            Query(description="`waiting` are those that no one has decided"),
        ] = "waiting",
        feature: Annotated[str, Query(description="of this feature alone", max_length=500)] = "",
        before: Annotated[
            str, Query(description="only cases before this one", pattern=r"^([Ee][0-9]{1,9})?$")
        ] = "",
        limit: Annotated[int, Query(ge=1, le=_MAX_LISTED)] = 50,
    ) -> Response:
        async def listed() -> bytes:
            found = await desk.inbox(status, feature, before, limit)
            asked = {"status": status, "feature": feature, "before": found.before, "limit": limit}
            return _list(found, asked).model_dump_json().encode()

        body = await desk.reads.read(("api", status, feature, before, limit), listed)
        return Response(body, media_type="application/json")

    @router.get("/{id}", summary="Show a case", responses=problems(401, 404, 422))
    async def show(id: Id) -> CaseDetail:  # noqa: A002  the name in the address
        return CaseDetail.model_validate((await desk.case(id)).to_dict())

    @router.post(
        "/{id}/reply",
        summary="Reply to a case",
        description="After `add_context` it waits for the agent's new answer.",
        responses=problems(400, 401, 403, 404, 409, 413, 415, 422),
    )
    async def reply(id: Id, body: DecisionBody) -> DecisionResult:  # noqa: A002  the name in the address
        response = _response(body, body.action, user)
        if body.action == "chat" and not (await desk.case(id)).turns:
            raise RequestRefused(
                "refused",
                f"nobody has talked about {id} yet, so there is no talk to end; begin one with `POST /api/inbox/{id}/chat`,"
                " or give the answer with the action `correct`",
            )
        return DecisionResult.model_validate((await desk.reply(id, response)).to_dict())

    @router.post(
        "/{id}/chat",
        summary="Say something to the agent of a case",
        description="It waits for what the agent says, and the case waits on; a reply with the action `chat` ends the talk.",
        responses=problems(400, 401, 403, 404, 409, 413, 415, 422),
    )
    async def chat(id: Id, body: ChatMessage) -> DecisionResult:  # noqa: A002  the name in the address
        return DecisionResult.model_validate((await desk.chat(id, _response(body, "chat", user))).to_dict())

    return router


def _response(body: ChatMessage | DecisionBody, action: Action, user: str) -> HumanResponse:
    name = body.by.strip() or user
    if not name:
        raise RequestRefused("refused", "`by` is needed: who replies")
    return HumanResponse(action=action, content=body.content, by=name, revision=body.revision)


def _list(found: InboxPage, asked: dict[str, Any]) -> CaseList:
    following = None
    if found.before is not None:
        following = f"/api/inbox?{urlencode({key: value for key, value in asked.items() if value})}"
    return CaseList(items=[_line(case) for case in found.cases], total=found.total, next=following)


def _line(case: Case) -> CaseSummary:
    request = case.request
    return CaseSummary(
        id=request.id,
        status=case.status,
        revision=request.revision,
        feature=request.question.feature_id,
        topic=request.question.topic,
        question=request.question.text[:_MAX_LINE_LENGTH],
        reason=request.reason,
        agent=request.agent,
        confidence=None if request.answer is None else request.answer.confidence,
        threshold=request.threshold,
        opened=request.opened,
    )
