"""A human at the terminal: a case that is shown is decided there, or left for later."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kr_core.cli import terminal_chat
from kr_core.cli.terminal import AlreadyDecidedError, TypedLines, tell
from kr_core.errors import ConfigError
from kr_core.escalation.case import options
from kr_core.escalation.commands import help_for, read_replies
from kr_core.escalation.render import for_terminal
from kr_core.model.questions import HumanResponse
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from kr_core.ask.sync_service import KnowledgeRouterService
    from kr_core.escalation.case import Case
    from kr_core.model.questions import AskResult

__all__ = ["attend"]

_LATER = {"", "l", "later", "q", "quit", "exit"}
_UNCLEAR = {"y", "yes", "n", "no", "ok", "okay", "true", "false", "right", "wrong", "help"}
"""Words that are no answer to be built on, and not clear enough to decide by."""


def attend(service: KnowledgeRouterService, shown: AskResult, by: str) -> AskResult:
    """Ask the human about a case until it is decided or left for later.

    Args:
        service: the project's.
        shown: a result that waits; its case has been shown.
        by: who the human is.

    Returns:
        The result as it is then: `escalated` where it was left for later.
    """
    assert shown.escalation is not None, "it waits for a human"
    name, seen, result = shown.escalation.id, shown.escalation.revision, shown
    typed = TypedLines(lambda: not service.cases.get(name).waits)
    while (case := service.cases.get(name)).waits:
        if case.request.revision != seen:  # somebody else had the question asked again
            seen = case.request.revision
            tell(f"\n{for_terminal(service.shown(case.request).message, sys.stderr)}")
        try:
            response = _response(typed, case, by)
            if response is None:
                return result
            if response.action == "chat":
                ended = terminal_chat.talk(service, case, typed, by)
                if ended is None:
                    return result
                result = ended
            else:
                result = service.reply(name, response)
            if result.escalation is not None:
                seen = result.escalation.revision
        except ConfigError as error:
            tell(f"kr: {printable(str(error))}")
        except AlreadyDecidedError:
            pass
    if result.status != "escalated":
        return result
    if case.status == "resolved":
        assert case.resolution is not None, "it is decided"
        tell(f"{name} was answered meanwhile by {case.resolution.by}.")
    else:
        tell(f"{name} is {case.status} meanwhile.")
    return service.result_of(name)


def _response(typed: TypedLines, case: Case, by: str) -> HumanResponse | None:
    """What the human decides; None for later."""
    revision = case.request.revision
    while True:
        line = typed.line(f"\n{_prompt(case)}: ")
        word = (line or "").casefold()
        if line is None or word in _LATER:
            return None
        if line.startswith("/"):
            response = _command(line, case, by)
        elif word in {"c", "confirm"}:
            response = HumanResponse(action="confirm", by=by, revision=revision)
        elif word in {"h", "chat"}:
            response = HumanResponse(action="chat", by=by, revision=revision)
        elif word in {"x", "context"}:
            text = typed.text(f"What should {case.request.agent or 'the agent'} know as well?")
            response = (
                HumanResponse(action="add_context", content=text, by=by, revision=revision) if text else None
            )
        elif word == "correct":
            text = typed.text("What is the answer?")
            response = (
                HumanResponse(action="correct", content=text, by=by, revision=revision) if text else None
            )
        elif word.startswith("choose "):
            response = HumanResponse(action="choose", content=line[7:], by=by, revision=revision)
        elif len(word) == 1 or word in _UNCLEAR:
            tell(f"`{line}` is not clear enough to decide by.\n\n{_help(case)}")
            continue
        else:
            sure = typed.line("Is this the final answer, as you typed it? [y/N] ")
            given = sure is not None and sure.casefold() in {"y", "yes"}
            response = (
                HumanResponse(action="correct", content=line, by=by, revision=revision) if given else None
            )
        if response is not None:
            return response


def _prompt(case: Case) -> str:
    request = case.request
    ways = ["[c]onfirm"] if request.answer is not None and not request.alternatives else []
    letters = [letter for letter, _ in options(request)]
    if letters:
        ways.append(f"choose {letters[0]}-{letters[-1]}")
    ways.append("type the answer")
    ways += [] if request.agent is None else ["conte[x]t"]
    ways += [] if request.partner is None else ["c[h]at"]
    return f"{request.id}@{request.revision}: {', '.join(ways)}, [l]ater"


def _help(case: Case) -> str:
    request = case.request
    fitting = {
        "confirm": request.answer is not None and not request.alternatives,
        "correct": True,
        "context": request.agent is not None,
        "choose": bool(options(request)),
        "chat": request.partner is not None,
    }
    verbs = [verb for verb, fits in fitting.items() if fits]
    several = " or ".join(f"`{verb}`" for verb in ("correct", "context") if verb in verbs)
    return (
        f"{help_for(f'{request.id}@{request.revision}', verbs)}\n"
        f"Here a command ends with its line, unless several are pasted at once: for a text of several lines type {several} alone."
    )


def _command(line: str, case: Case, by: str) -> HumanResponse | None:
    """What a command decides; None where it is none, which is told."""
    name = case.request.id
    read = read_replies(line, (name,))
    for fault in read.faults:
        tell(fault.message)
    if not read.commands:
        if not read.faults:
            tell(_help(case))
        return None
    if len(read.commands) > 1:
        tell("One command at a time, please.")
        return None
    response = read.commands[0].response(by)
    if response.revision is None:
        return response.model_copy(update={"revision": case.request.revision})
    return response
