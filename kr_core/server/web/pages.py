"""The pages: the inbox, one case, and the form to sign in. All of it works without the script."""

from __future__ import annotations

import re
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.routing import Route

from kr_core.aio import shielded
from kr_core.escalation.case import options
from kr_core.escalation.commands import help_for
from kr_core.model.questions import GENERAL, Answer, HumanResponse
from kr_core.server.web.case_inbox import MAX_NAME_LENGTH, MAX_TEXT_LENGTH
from kr_core.server.web.forms import FormInput, fields_of, response_of
from kr_core.server.web.inbox_cache import STATES
from kr_core.server.web.markdown_html import links
from kr_core.server.web.page_templates import page
from kr_core.server.web.problems import RequestRefused, able

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from kr_core.escalation.case import Case
    from kr_core.model.questions import EscalationRequest
    from kr_core.server.web.case_inbox import Inbox, InboxPage, ShownCase
    from kr_core.server.web.expedition_browser import ExpeditionBrowser
    from kr_core.server.web.sessions import Sessions
    from kr_core.server.web.tasks_pages import TaskBrowser

__all__ = ["Pages"]

_PART = 50
_NUMBER = re.compile("[0-9]{1,15}")
_ANY_FORM = secrets.token_hex(16)
"""Marks the place of the form's own token in a page that many share; no text of a case can have it."""
_DONE = {
    "confirm": "You have confirmed the answer.",
    "correct": "Your answer is kept.",
    "choose": "Your choice is kept.",
    "chat": "The talk is ended, and the answer kept.",
    "add_context": "The agent was asked again.",
    "withdraw": "The question is withdrawn.",
    "said": "The agent has answered below.",
}
_STALE_FORM = (
    "This page was shown by another run of the server, or to somebody else. Nothing was done; look at it"
    " again and send it once more."
)


class Pages:
    """Shows pages and takes forms.

    Args:
        desk: does what is asked for.
        research: looks at expeditions.
        tasks: looks at dispatched tasks.
        sessions: knows who has signed in.
        user: who answers where nobody says; empty where somebody has to.
    """

    def __init__(
        self, desk: Inbox, research: ExpeditionBrowser, tasks: TaskBrowser, sessions: Sessions, user: str
    ) -> None:
        self._desk = desk
        self._research = research
        self._tasks = tasks
        self._sessions = sessions
        self._user = user

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("/", self._inbox),
            Route("/cases/{id}", self._case),
            Route("/cases/{id}/{form:str}", self._back),
            Route("/cases/{id}/reply", self._reply, methods=["POST"]),
            Route("/cases/{id}/chat", self._chat, methods=["POST"]),
            Route("/live", self._live),
            Route("/sign-in", self._sign_in_form),
            Route("/sign-in", self._sign_in, methods=["POST"]),
            Route("/sign-out", self._sign_out, methods=["POST"]),
        ]

    # -- the inbox ------------------------------------------------------------------------------------------

    async def _inbox(self, request: Request) -> Response:
        asked = request.query_params
        state = asked.get("status", "waiting")
        if state not in STATES:
            raise RequestRefused(
                "refused", f"There is no status “{state[:20]}”; there are: {', '.join(STATES)}."
            )
        feature, before = asked.get("feature", ""), asked.get("before", "")

        async def values() -> dict[str, object]:
            return self._of_inbox(
                state, feature, await self._desk.inbox(state, feature, before, _PART), before
            )

        return await self._shared(request, "inbox.html", (state, feature, before), values)

    @staticmethod
    def _of_inbox(state: str, feature: str, found: InboxPage, before: str) -> dict[str, object]:
        def address(**changed: str) -> str:
            values = {"status": state, "feature": feature, "before": "", **changed}
            values = {
                key: value for key, value in values.items() if value and (key, value) != ("status", "waiting")
            }
            return f"/?{urlencode(values)}" if values else "/"

        features = [(name, "" if name == GENERAL else name, count) for name, count in found.features]
        return {
            "found": found,
            "state": state,
            "states": STATES,
            "feature": feature,
            "features": features,
            "paged": bool(before),
            "address": address,
            "number": found.number,
        }

    # -- one case -------------------------------------------------------------------------------------------

    async def _case(self, request: Request) -> Response:
        key, done = request.path_params["id"], request.query_params.get("done", "")

        async def values() -> dict[str, object]:
            return await self._of_seen(key, said=_DONE.get(done, ""))

        return await self._shared(request, "case.html", (key, done), values)

    async def _back(self, request: Request) -> Response:
        """A refused reply stands under the address of its form; who loads that again sees the case."""
        if request.path_params["form"] not in {"reply", "chat"}:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        key = (await self._desk.case(request.path_params["id"])).request.id
        return RedirectResponse(f"/cases/{key}", HTTPStatus.SEE_OTHER)

    async def _shown_case(
        self,
        request: Request,
        *,
        status: int = 200,
        refused: str = "",
        written: FormInput | None = None,
    ) -> Response:
        values = await self._of_seen(request.path_params["id"], said="", refused=refused, written=written)
        return await self.shown(request, "case.html", status, **values)

    async def _of_seen(
        self, key: str, *, said: str, refused: str = "", written: FormInput | None = None
    ) -> dict[str, object]:
        """What the page of a case shows."""
        seen = await self._desk.seen(key)
        if written is None and seen.outcome is not None:  # what was refused while nobody waited is not lost
            written = _written_again(seen.outcome.response) if seen.outcome.refused else None
        return {
            "said": "" if refused else said,
            "refused": refused,
            "written": written or FormInput(),
            "longest": MAX_TEXT_LENGTH,
            **_of_case(seen),
        }

    async def _reply(self, request: Request) -> Response:
        return await self._taken(request, talk=False)

    async def _chat(self, request: Request) -> Response:
        return await self._taken(request, talk=True)

    async def _taken(self, request: Request, *, talk: bool) -> Response:
        fields = await fields_of(request)
        written = FormInput.of(fields)
        by = " ".join(written.by.split())
        try:
            if not self._sessions.is_ours(request, fields.get("form", "")):
                return await self._shown_case(
                    request, status=HTTPStatus.FORBIDDEN, refused=_STALE_FORM, written=written
                )
            if not by or len(by) > MAX_NAME_LENGTH:
                raise RequestRefused("refused", f"Say who you are, in at most {MAX_NAME_LENGTH} characters.")
            revision = _revision(fields.get("revision", ""))
            if talk:
                response = HumanResponse(
                    action="chat", content=written.text_talk.strip(), by=by, revision=revision
                )
            else:
                response = response_of(written, revision, by)
            result = await self._desk.begin(request.path_params["id"], response, talk=talk)
        except RequestRefused as error:
            if error.kind == "unknown":
                raise
            said = f"Not done: {error.message}" if error.kind != "refused" else error.message
            return await self._shown_case(request, status=error.status, refused=said, written=written)
        done = "said" if talk else response.action
        told = "" if result is None or (talk and result.answer is None) else f"?done={done}"
        key = request.path_params["id"].upper()
        answer = RedirectResponse(f"/cases/{key}{told}{'#talk' if talk else ''}", HTTPStatus.SEE_OTHER)
        self._sessions.keep_name(answer, by)
        return answer

    # -- what is new ----------------------------------------------------------------------------------------

    async def _live(self, request: Request) -> Response:
        """What has changed behind an entry of the record; a page asks every few seconds."""
        after = request.query_params.get("after", "")
        if not _NUMBER.fullmatch(after):
            raise RequestRefused("refused", "`after` is the number of an entry")
        watched = request.query_params.get("case", "")
        expedition = request.query_params.get("expedition", "")
        tasks = request.query_params.get("tasks", "")
        news = await self._desk.reads.read(
            ("news", after, watched), lambda: self._desk.news(int(after), watched)
        )
        cases = [
            {
                "id": one.key, "waits": one.waits, "status": one.status, "revision": one.revision, "by": one.by,
                "action": one.action.removeprefix("add_"), "turns": one.turns,
            }
            for one in news.cases
        ]  # fmt: skip
        return JSONResponse(
            {
                "number": news.number,
                "all": not news.complete,
                "cases": cases,
                "working": bool(watched) and await self._desk.working_on(watched),
                "expedition": await self._research.mark(expedition) if expedition else "",
                "tasks": await self._desk.reads.read(("tasks",), lambda: able(self._tasks.mark))
                if tasks
                else "",
            }
        )

    # -- who is there ---------------------------------------------------------------------------------------

    async def _sign_in_form(self, request: Request) -> Response:
        target = _inside(request.query_params.get("next", "/"))
        if self._sessions.signed_in(request):
            return RedirectResponse(target, HTTPStatus.SEE_OTHER)
        # A browser keeps its cookie to itself where a link of another site led here; from this page it sends it.
        again = request.headers.get("sec-fetch-site") == "cross-site"
        return await self.shown(request, "sign_in.html", target=target, again=again, refused="")

    async def _sign_in(self, request: Request) -> Response:
        fields = await fields_of(request)
        target = _inside(fields.get("next", "/"))
        ours = self._sessions.is_ours(request, fields.get("form", ""))
        if not ours or not self._sessions.knows(fields.get("token", "")):
            refused = "This is not the token." if ours else _STALE_FORM
            return await self.shown(
                request, "sign_in.html", HTTPStatus.FORBIDDEN, target=target, again=False, refused=refused
            )
        answer = RedirectResponse(target, HTTPStatus.SEE_OTHER)
        self._sessions.sign_in(answer)
        return answer

    async def _sign_out(self, request: Request) -> Response:
        fields = await fields_of(request)
        answer = RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER)
        if self._sessions.is_ours(request, fields.get("form", "")):
            self._sessions.sign_out(answer)
        return answer

    async def shown(self, asked: Request, name: str, status: int = 200, **values: object) -> Response:
        """A page of a template and its values, for whoever asks."""
        seed, new = self._sessions.seed(asked)
        common = {**self._common(asked), "form": self._sessions.form_token(asked, seed)}
        render: Callable[[], Response] = lambda: page(name, status, **common, **values)  # noqa: E731  to be called in a thread
        shown = await shielded(render)
        if new:
            self._sessions.keep_seed(shown, seed)
        return shown

    async def _shared(
        self,
        asked: Request,
        name: str,
        about: tuple[str, ...],
        values: Callable[[], Awaitable[dict[str, object]]],
    ) -> Response:
        """The same, made once for all who ask at the same time; what a form carries is put in for each."""
        common = self._common(asked)

        async def made() -> bytes:
            of_page = {**common, **await values(), "form": _ANY_FORM}
            return await shielded(lambda: bytes(page(name, 200, **of_page).body))

        body = await self._desk.reads.read((name, *about, *common.values()), made)
        seed, new = self._sessions.seed(asked)
        form = self._sessions.form_token(asked, seed)
        shown = HTMLResponse(body.replace(_ANY_FORM.encode(), form.encode()))
        if new:
            self._sessions.keep_seed(shown, seed)
        return shown

    def _common(self, asked: Request) -> dict[str, object]:
        """What every page has, except what its forms carry."""
        return {
            "by": self._sessions.name(asked) or self._user,
            "signed_in": self._sessions.asks and self._sessions.signed_in(asked),
        }


def _of_case(seen: ShownCase) -> dict[str, object]:
    """What the page of a case shows."""
    case, request = seen.case, seen.case.request
    listed = options(request)
    last = next((turn.answer for turn in reversed(case.turns) if turn.answer is not None), None)
    return {
        "case": case,
        "request": request,
        "steps": seen.steps,
        "under_way": seen.under_way,
        "outcome": seen.outcome,
        "number": seen.number,
        "feature": "" if request.question.feature_id == GENERAL else request.question.feature_id,
        "alternatives": [(letter, one) for letter, one in listed if isinstance(one, Answer)],
        "choices": [(letter, one) for letter, one in listed if isinstance(one, str)],
        "last_words": "" if last is None else last.content,
        "sources": _sources(case),
        "commands": _commands(request),
    }


def _commands(request: EscalationRequest) -> list[str]:
    """The commands of the grammar that fit a case."""
    verbs = ["confirm"] if request.answer is not None and not request.alternatives else []
    verbs += ["correct", *(["choose"] if options(request) else [])]
    verbs += [] if request.agent is None else ["context"]
    verbs += [] if request.partner is None else ["chat"]
    lines = help_for(f"{request.id}@{request.revision}", verbs).splitlines()
    return [line.strip().partition("  ")[0] for line in lines if line.startswith("    ")]


def _sources(case: Case) -> list[str]:
    """The addresses that the answers name."""
    request = case.request
    answers = request.alternatives or (() if request.answer is None else (request.answer,))
    return list(
        dict.fromkeys(url for one in answers for text in (one.content, one.rationale) for url in links(text))
    )


def _written_again(response: HumanResponse) -> FormInput:
    field = {
        "correct": "text_correct",
        "add_context": "text_context",
        "chat": "text_talk",
        "withdraw": "text_withdraw",
    }.get(response.action)
    return FormInput() if field is None else FormInput(action=response.action, **{field: response.content})


def _revision(written: str) -> int:
    if not _NUMBER.fullmatch(written):
        raise RequestRefused("refused", "The form says not which answer it is about.")
    return int(written)


def _inside(target: str) -> str:
    """An address of this server; anything else is its first page."""
    safe = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if safe else "/"
