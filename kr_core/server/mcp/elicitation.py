"""The human at the client, asked by a form; only what they fill in decides a case, never an argument of a tool.

A client of the older generation is sent a request while the call waits. One of the newer generation gets a result that asks
for input, and calls again with what its human said and a sealed note of the case; the question itself is not asked again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from kr_core.aio import shielded
from kr_core.errors import ConfigError
from kr_core.escalation.case import options
from kr_core.escalation.sanitize import harmless_line
from kr_core.model.questions import Answer, HumanResponse
from kr_core.model.routing import HUMAN
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp_types import CallToolRequestParams

    from kr_core.ask.async_service import AsyncKnowledgeRouterService
    from kr_core.model.questions import AskResult, EscalationRequest

__all__ = ["CANNOT_ASK", "ElicitationResult", "Human"]

_KEY = "decision"
_HOW_TO_ANSWER = "\n**How to answer**"
"""What follows it in a case is about replies in writing, not about a form."""
_CONFIRM = "the answer is right"
_CORRECT = "give the right answer in the text below"
_CONTEXT = "ask the agent again, with the text below"
_MAX_NAME_LENGTH = 60
_MAX_FAULTS = 3
"""After so many replies that do not fit the form the case is left to wait. In the newer generation each round is a call of the
client's own; the count is in the sealed state, and a client that sends an older state again only spends its own calls."""
CANNOT_ASK = "this client cannot ask its human"
_UNDECIDED = {
    "decline": "the client declined the form, for its human or by itself",
    "cancel": "the client closed the form without a decision; it may have shown it to no one",
}
"""What a client says that shows a form, and also one that runs without a person."""


class ElicitationResult(NamedTuple):
    """What became of a case that a human was asked about."""

    result: AskResult
    message: str = ""
    """Why it still waits, if it does."""


class Human:
    """The human at the client of one call.

    Args:
        context: the call's.
        parameters: of the call; a client of the newer generation gives in them what its human said.
    """

    def __init__(self, context: ServerRequestContext[Any, Any], parameters: CallToolRequestParams) -> None:
        self._context = context
        self._modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        self._noted: dict[str, Any] = {}
        self._given: ElicitResult | None = None
        if self._modern and parameters.request_state:  # the SDK has verified its seal
            self._noted = json.loads(parameters.request_state)
            given = (parameters.input_responses or {}).get(_KEY)
            self._given = given if isinstance(given, ElicitResult) else None
        self._came = bool(self._noted)
        self._faults = int(self._noted.get("faults", 0))

    @property
    def reachable(self) -> bool:
        """Whether the client can show a form."""
        capabilities = self._context.session.client_capabilities
        form = None if capabilities is None else capabilities.elicitation
        return form is not None and (form.form is not None or form.url is None)

    @property
    def _name(self) -> str:
        """Who decides, for the record: which program says so is known, its human is not."""
        known = self._context.session.client_params
        name = harmless_line(known.client_info.name, _MAX_NAME_LENGTH) if known else ""
        return f"{HUMAN} at {name}" if name else HUMAN

    @property
    def case(self) -> str:
        """The case that the human was asked about in the round before; empty in the first."""
        return str(self._noted.get("case", ""))

    async def settle(
        self, service: AsyncKnowledgeRouterService, name: str
    ) -> ElicitationResult | InputRequiredResult:
        """Ask the human until a case is decided or they leave it.

        Raises:
            ConfigError: there is no such case.
        """
        result = await shielded(lambda: service.result_of(name))
        if not self.reachable:  # nor was it, whatever it says that its human has decided
            return ElicitationResult(result, CANNOT_ASK if result.status == "escalated" else "")
        fault = ""
        while result.status == "escalated" and self._faults < _MAX_FAULTS:
            request = result.escalation
            assert request is not None, "it waits for a human"
            try:
                came = await self._asked(request, _message(service, request, fault), _form(request))
                if isinstance(came, InputRequiredResult):
                    return came
                if came.action != "accept":
                    return ElicitationResult(result, _UNDECIDED[came.action])
                response = _response(request, came.content or {}, self._name)
                result = await service.reply(request.id, response)
                fault = ""
            except MCPError as error:
                return ElicitationResult(result, f"the client could not show the form: {error.message}")
            except ConfigError as error:  # it was decided elsewhere meanwhile, or a text is missing
                fault = error.what
                self._faults += 1
                result = await shielded(lambda: service.result_of(name))
        if result.status != "escalated":
            return ElicitationResult(result)
        return ElicitationResult(
            result, f"the form came back {self._faults} times without a usable reply; the last fault: {fault}"
        )

    async def _asked(
        self, request: EscalationRequest, message: str, schema: dict[str, Any]
    ) -> ElicitResult | InputRequiredResult:
        """Show the form, or take what came of it.

        Raises:
            ConfigError: the client has called again without an answer to this form.
            MCPError: the client could not show it.
        """
        if not self._modern:
            return await self._context.session.elicit_form(message, schema, self._context.request_id)
        if self._came:
            self._came = False
            if self._given is None:
                raise ConfigError("no answer to the form came", where=request.id)
            if self._noted.get("revision") != request.revision:
                raise ConfigError("the case changed before the decision came", where=request.id)
            return self._given
        asks = ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))
        noted = {"case": request.id, "revision": request.revision, "faults": self._faults}
        return InputRequiredResult(input_requests={_KEY: asks}, request_state=json.dumps(noted))


def _message(service: AsyncKnowledgeRouterService, request: EscalationRequest, fault: str) -> str:
    told = service.shown(request).message.partition(_HOW_TO_ANSWER)[0].strip()
    return printable(f"{fault}\n\n{told}" if fault else told)


def _decisions(request: EscalationRequest) -> dict[str, tuple[str, str]]:
    """What a human may decide, as the form shows it: the action, and its content where the text does not give it."""
    found: dict[str, tuple[str, str]] = {}
    if request.answer is not None and not request.alternatives:
        found[_CONFIRM] = ("confirm", "")
    for letter, option in options(request):
        told = option.content if isinstance(option, Answer) else option
        found[f"{letter}: {' '.join(printable(told).split())[:80]}"] = ("choose", letter)
    found[_CORRECT] = ("correct", "")
    if request.agent is not None:
        found[_CONTEXT] = ("add_context", "")
    return found


def _form(request: EscalationRequest) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            _KEY: {"type": "string", "title": "Decision", "enum": list(_decisions(request))},
            "text": {
                "type": "string",
                "title": "Text",
                "description": "The right answer, or what the agent has to know",
            },
        },
        "required": [_KEY],
    }


def _response(request: EscalationRequest, content: dict[str, Any], by: str) -> HumanResponse:
    """What a human has filled in.

    Raises:
        ConfigError: the client has let pass what the form does not offer.
    """
    decision = _decisions(request).get(str(content.get(_KEY)))
    if decision is None:
        raise ConfigError(
            "the field `Decision` says nothing that it offers: choose one of the decisions", where=request.id
        )
    action, chosen = decision
    text = chosen or ("" if action == "confirm" else str(content.get("text") or ""))
    if action != "confirm" and not text.strip():
        raise ConfigError("the field `Text` is empty, and this decision needs a text", where=request.id)
    values = {"action": action, "content": text, "revision": request.revision, "by": by}
    return HumanResponse.model_validate(values)
