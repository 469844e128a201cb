"""A talk at the terminal between a human and the agent of a case."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kr_core.cli.terminal import TypedLines, tell
from kr_core.errors import ConfigError
from kr_core.escalation.commands import read_replies
from kr_core.escalation.render import for_terminal
from kr_core.escalation.sanitize import quoted
from kr_core.escalation.transitions import NO_PARTNER
from kr_core.model.questions import HumanResponse
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from kr_core.ask.sync_service import KnowledgeRouterService
    from kr_core.escalation.case import Case
    from kr_core.model.questions import Answer, AskResult

__all__ = ["said_so_far", "talk"]


def talk(service: KnowledgeRouterService, case: Case, typed: TypedLines, by: str) -> AskResult | None:
    """Talk with the agent of a case until the human ends it.

    Args:
        service: the project's.
        case: it waits.
        typed: what the human types.
        by: who the human is.

    Returns:
        What it came to; None where the human has left, and it goes on another time.

    Raises:
        ConfigError: the case has no agent.
        DecidedError: somebody else has decided the case meanwhile.
    """
    request = case.request
    agent = request.partner
    if agent is None:
        raise ConfigError(NO_PARTNER, where=request.id)
    tell(
        f"\nYou talk with {agent} about {request.id}. `/done TEXT` ends it with your answer, `/kr confirm` with what"
        f" {agent} has said last; Ctrl-D leaves it for later."
    )
    if case.turns:
        tell(said_so_far(case))
    last = next((turn.answer for turn in reversed(case.turns) if turn.answer is not None), None)
    while True:
        line = typed.line(f"\n{by}: ")
        if line is None:
            return None
        if not line:
            continue
        try:
            if line.startswith("/"):
                ending = _ending(line, case, last, by)
                if ending is not None:
                    return service.reply(request.id, ending)
                continue
            said = HumanResponse(action="chat", content=line, by=by, revision=request.revision)
            result = service.chat(request.id, said)
        except ConfigError as error:
            tell(f"kr: {printable(str(error))}")
            if not service.cases.get(request.id).waits:
                return service.result_of(request.id)
            continue
        if result.status != "escalated":
            return result
        last = result.answer or last
        tell(_told(result.answer) if result.answer else "\n".join(map(printable, result.notes)))


def said_so_far(case: Case) -> str:
    """The turns of a talk, one below the other."""
    return "\n".join(
        _told(turn.answer) if turn.answer else f"\n{turn.by}:\n\n{_quote(turn.text)}" for turn in case.turns
    )


def _told(answer: Answer) -> str:
    reasons = "; ".join(answer.uncertainty_reasons)
    unsure = f"\n\nNot sure, because of: {' '.join(printable(reasons).split())}" if reasons else ""
    return f"\n{answer.agent}, confidence {answer.confidence} of 100:\n\n{_quote(answer.content)}{unsure}"


def _quote(text: str) -> str:
    return for_terminal(quoted(text), sys.stderr)


def _ending(line: str, case: Case, last: Answer | None, by: str) -> HumanResponse | None:
    """What ends the talk; None where nothing does, which is told."""
    request = case.request
    if line.split(maxsplit=1)[0].casefold() == "/done":
        text = line[len("/done") :].strip()
        if not text:
            tell("`/done` needs a text: the final answer.")
            return None
        return HumanResponse(action="chat", content=text, by=by, revision=request.revision)
    read = read_replies(line, (request.id,))
    for fault in read.faults:
        tell(fault.message)
    if len(read.commands) != 1 or read.commands[0].action == "chat":
        tell(
            "To end the talk: `/done TEXT`, `/kr confirm`, `/kr correct TEXT`, `/kr context TEXT`; or Ctrl-D."
        )
        return None
    response = read.commands[0].response(by)
    if response.action == "confirm" and last is not None and response.revision in {None, request.revision}:
        response = HumanResponse(action="chat", content=last.content, by=by)
    return response.model_copy(update={"revision": response.revision or request.revision})
