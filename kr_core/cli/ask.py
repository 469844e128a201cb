"""`kr ask`: a question to an agent, or to a human."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from kr_core import yamltext
from kr_core.cli import output
from kr_core.errors import ConfigError
from kr_core.model.questions import GENERAL, Question
from kr_core.pipeline import Pipeline
from kr_core.printable import printable
from kr_core.service import KnowledgeRouterService

if TYPE_CHECKING:
    import argparse

    from kr_core.model.questions import AskResult

WAITING = 5
NOTHING = 4


def run(options: argparse.Namespace) -> int:
    """Ask, print, and return the exit code."""
    if options.source is not None:
        from kr_core.cli import ask_from

        return ask_from.run(options)
    if options.question is None:
        raise ConfigError("nothing to ask", where="kr ask", todo="give a question")
    with output.Progress(quiet=options.quiet, verbose=options.verbose) as progress:
        pipeline = Pipeline.open(options.config, folder=options.folder, on_event=progress.show)
        with KnowledgeRouterService(pipeline) as service:
            result = service.ask(_identified(question(options), options))
            progress.clear()
            show(result, options)
            notes = pipeline.deliver_logs()
    if not (options.quiet or options.json or options.yaml):
        for note in notes:
            print(f"note: {note}", file=sys.stderr)
    return exit_code(result)


def question(options: argparse.Namespace) -> Question:
    """The question of a command line."""
    return Question(
        text=options.question,
        topic=options.topic or "",
        suggested_target=options.targets[0] if options.targets else None,
        also=tuple(options.targets[1:]),
        feature_id=options.feature or GENERAL,
        context=options.context or "",
        choices=tuple(options.choices),
    )


def _identified(question: Question, options: argparse.Namespace) -> Question:
    """The question under the id that others know it by, and with those that it builds on."""
    told = {} if options.id is None else {"id": options.id}
    return question.model_copy(update={**told, "depends_on": tuple(options.depends_on)})


def exit_code(result: AskResult) -> int:
    """0 for an answer, 5 where it waits for a human, 4 where there is neither."""
    return {"escalated": WAITING, "failed": NOTHING}.get(result.status, 0)


def show(result: AskResult, options: argparse.Namespace) -> None:
    """Print a result as it was asked for."""
    if options.json:
        print(json.dumps(result.to_dict(), ensure_ascii=False, indent=2))
    elif options.yaml:
        print(yamltext.dump(result.to_dict()), end="")
    else:
        print(_told(result), end="")
        for note in () if options.quiet else result.notes:
            print(printable(f"note: {note}"), file=sys.stderr)
    sys.stdout.flush()


def _told(result: AskResult) -> str:
    """A result as a person reads it."""
    answer, escalation = result.answer, result.escalation
    if result.status == "escalated":
        assert escalation is not None, "it waits for a human"
        lines = [f"Escalated as {escalation.id}: {escalation.reason}"]
        if answer is not None:
            lines += ["", f"Tentative answer of {_by(result)}:", "", answer.content]
        lines += ["", f"Answer with `kr inbox show {escalation.id}`."]
    elif answer is None:
        lines = ["No answer, and no way to a human."]
    else:
        lines = [answer.content, ""]
        lines += [answer.rationale, ""] if answer.rationale else []
        lines += [f"{_by(result)}; {result.route.reason}"]
    return printable("\n".join(lines)) + "\n"


def _by(result: AskResult) -> str:
    answer = result.answer
    assert answer is not None, "there is one"
    if answer.validated_by and answer.agent not in {result.route.agent, *()}:
        return f"{answer.agent}"
    model = f" ({answer.model})" if answer.model else ""
    needed = f" of {result.threshold} needed"
    validated = ", validated by a human" if answer.validated_by else ""
    return f"{answer.agent}{model}, confidence {answer.confidence}{needed}{validated}"
