"""`kr ask`: a question to an agent, or to a human."""

from __future__ import annotations

import getpass
import json
import sys
import time
from typing import TYPE_CHECKING

from kr_core.agents.question_dispatch import no_topic
from kr_core.ask.sync_service import KnowledgeRouterService
from kr_core.cli import output
from kr_core.cli.prompt import attend
from kr_core.cli.terminal import POLL_SECONDS, person_is_there, tell
from kr_core.errors import ConfigError
from kr_core.escalation.case import letter
from kr_core.escalation.case import options as options_of
from kr_core.escalation.sanitize import as_written, quoted
from kr_core.model.questions import GENERAL, Question
from kr_core.model.routing import HUMAN
from kr_core.protocols import Ephemeral
from kr_core.research import Pipeline
from kr_core.routing.table import UNKNOWN_TOPIC
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

    from kr_core.model.questions import Answer, AskResult, EscalationRequest

WAITING = 5
NOTHING = 4


def run(options: argparse.Namespace) -> int:
    """Ask, print, and return the exit code."""
    if options.source is not None:
        from kr_core.cli import ask_speckit

        return ask_speckit.run(options)
    with output.ProgressLine(quiet=options.quiet, verbose=options.verbose) as progress:
        pipeline = Pipeline.open(options.config, folder=options.folder, on_event=progress.show)
        with KnowledgeRouterService(pipeline) as service:
            result = service.ask(_identified(question(options), options))
            progress.clear()
            result = answered_by_human(service, result, options)
            show(result, options)
            notes = pipeline.deliver_logs()
    if not (options.quiet or options.json or options.yaml):
        output.tell(notes)
    return exit_code(result)


def question(options: argparse.Namespace) -> Question:
    """The question of a command line."""
    if not (options.question or "").strip():
        raise ConfigError("nothing to ask", where="kr ask", hint="give a question")
    targets = list(map(printable, options.targets))
    return Question(
        text=printable(options.question),  # what the shell hands over may be no text at all
        topic=printable(options.topic or ""),
        suggested_target=targets[0] if targets else None,
        also=tuple(targets[1:]),
        feature_id=printable(options.feature or GENERAL),
        context=printable(options.context or ""),
        choices=tuple(map(printable, options.choices)),
    )


def _identified(question: Question, options: argparse.Namespace) -> Question:
    """The question under the id that others know it by, and with those that it builds on."""
    told = {"id": printable(options.id)} if options.id else {}
    return question.model_copy(update={**told, "depends_on": tuple(map(printable, options.depends_on))})


def answered_by_human(
    service: KnowledgeRouterService, result: AskResult, options: argparse.Namespace
) -> AskResult:
    """The result once a human has answered at the terminal, or with `--wait` by any way; at once where none is to be waited for."""
    request = result.escalation
    if result.status != "escalated" or request is None or request.question.id != result.question_id:
        return result  # it is decided, or it is held up by another question, which waits
    here = _terminal_is_a_way(service) and person_is_there()
    if here or options.wait:
        service.keep_tending()  # somebody may reply by another way
    try:
        if here:
            result = attend(service, result, login_name())
        if result.status == "escalated" and options.wait:
            if not options.quiet:
                tell(f"waiting for a human to answer {request.id}")
            while service.result_of(request.id).status == "escalated":
                time.sleep(POLL_SECONDS)
            result = service.result_of(request.id)
    except KeyboardInterrupt:
        tell(f"\n{request.id} waits for an answer: `kr inbox show {request.id}`")
        raise
    return result


def _terminal_is_a_way(service: KnowledgeRouterService) -> bool:
    """Whether a way to a human shows cases to the person before this process."""
    channels, _notes = service.pipeline.components.escalations()
    return any(isinstance(channel, Ephemeral) and channel.momentary for channel in channels.values())


def name_of(options: argparse.Namespace) -> str:
    """Who acts: the name that `--by` gives, or the login name.

    Raises:
        ConfigError: it is empty.
    """
    by = login_name() if options.by is None else str(options.by).strip()
    if not by:
        raise ConfigError(
            "is not a name", where=f"--by {options.by!r}", hint="leave it out, or say who you are"
        )
    return by


def login_name() -> str:
    """Who sits at the terminal, for the record."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user id without a name
        return HUMAN


def exit_code(result: AskResult) -> int:
    """0 for an answer, 5 where it waits for a human, 4 where there is neither."""
    return {"escalated": WAITING, "failed": NOTHING}.get(result.status, 0)


def show(result: AskResult, options: argparse.Namespace) -> None:
    """Print a result as it was asked for."""
    if options.json:
        print(output.as_json(result.to_dict()))
    elif options.yaml:
        print(output.as_yaml(result.to_dict()), end="")
    else:
        print(_told(result, alone=options.quiet), end="")
        if not options.quiet:
            output.tell(result.notes)
    sys.stdout.flush()


def _told(result: AskResult, *, alone: bool = False) -> str:
    """A result as a person reads it; an answer alone, if that is asked for."""
    answer, escalation = result.answer, result.escalation
    if result.status == "escalated":
        assert escalation is not None, "it waits for a human"
        name = f"{escalation.id}@{escalation.revision}"
        lines = [f"Waits for a human as {name}: {escalation.reason}"]
        lines += (
            [*_unknown(escalation), _RESEARCH.format(id=escalation.id)]
            if result.route.reason == UNKNOWN_TOPIC
            else []
        )
        lines += ["", f"Tentative answer of {_by(answer)}:", "", quoted(answer.content)] if answer else []
        for number, one in enumerate(escalation.alternatives):
            lines += ["", f"Answer {letter(number)} of {_by(one)}:", "", quoted(one.content)]
        for one in escalation.outside:
            lines += ["", f"Outside of the choices, {_by(one)}:", "", quoted(one.content)]
        lines += ["", f"Read it with `kr inbox show {escalation.id}`, answer it with one of:"]
        lines += [f"    {line}" for line in ways(escalation)]
    elif result.status == "failed":
        lines = ["Not answered; the notes say why."]
        lines += ["", f"Not sure enough, {_by(answer)}:", "", quoted(answer.content)] if answer else []
    else:
        assert answer is not None, "it is answered"
        if alone:
            return printable(answer.content) + "\n"
        lines = [answer.content, ""]
        lines += [answer.rationale, ""] if answer.rationale else []
        lines += [f"Warning: {answer.warning}", ""] if answer.warning else []
        lines += [f"{_by(answer)}; {result.route.reason}"]
        lines += [f"Certificate: {result.certificate}"] if result.certificate else []
    return as_written(printable("\n".join(lines))) + "\n"


_RESEARCH = (
    "If it asks how a library works, `kr research` answers it from the documentation; then end this with"
    " `kr inbox withdraw {id} WHY`."
)


def _unknown(request: EscalationRequest) -> list[str]:
    """What to write so that an agent is asked the next time."""
    topic = request.question.topic
    if no_topic(topic) in request.notes:
        return ["Say who should answer with `--target`."]
    if not topic:
        return ["Say what it is about with `--topic`, or who should answer with `--target`."]
    shown = json.dumps(topic, ensure_ascii=False)
    return [
        f"Say who should answer with `--target`, or in kr.yaml, under `routing: rules:`: `- {{topic: {shown}, agent: duc}}`.",
        "Rules of your own stand in place of the usual ones.",
    ]


def ways(request: EscalationRequest) -> list[str]:
    """The commands that answer an escalation at a shell."""
    name = f"{request.id}@{request.revision}"
    found = [] if request.answer is None or request.alternatives else [f"kr inbox confirm {name}"]
    found.append(f"kr inbox correct {name} TEXT")
    if options_of(request):
        found.append(f"kr inbox choose {name} A")
    found += [] if request.agent is None else [f"kr inbox context {name} TEXT"]
    found += [] if request.partner is None else [f"kr inbox chat {name}"]
    return found


def _by(answer: Answer) -> str:
    if answer.agent == HUMAN:
        return "a human"
    model = f" ({answer.model})" if answer.model else ""
    validated = ", validated by a human" if answer.validated_by else ""
    return f"{answer.agent}{model}, confidence {answer.confidence} of 100{_worth(answer)}{validated}"


def _worth(answer: Answer) -> str:
    """What a confidence is worth, where that is known."""
    found = answer.calibration
    if found is None or found.calibrated is None:
        return ""
    by = f"by {found.verdicts} verdicts"
    if found.stage == "calibrated":
        return f" (stated {answer.raw_confidence}, corrected {by})"
    return f" (worth {found.calibrated} {by}, not used)"
