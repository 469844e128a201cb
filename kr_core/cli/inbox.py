"""`kr inbox`: the questions that wait for a human, and the human's answers."""

from __future__ import annotations

import datetime as dt
import re
import sys
from typing import TYPE_CHECKING

from kr_core.ask.sync_service import KnowledgeRouterService
from kr_core.cli import ask, output, spot_checks, terminal_chat
from kr_core.cli.terminal import TypedLines, tell
from kr_core.config.template_trust import unused_note
from kr_core.errors import ConfigError, StorageError
from kr_core.escalation.render import for_terminal
from kr_core.escalation.sanitize import harmless_line, quoted
from kr_core.model.questions import AskResult, HumanResponse
from kr_core.research import Pipeline
from kr_core.terminal_text import columns, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from kr_core.escalation.case import Case
    from kr_core.escalation.upkeep_summary import RunSummary

_ID = re.compile(r"(E[0-9]{1,9})(?:@([0-9]{1,9}))?", re.IGNORECASE)
_WIDTH = 100
_FEWEST = 20
"""Characters of a question that are shown, however narrow the terminal is."""
_WIDEST = 40
_LONGEST = 2_000
_DAY = 86_400


def run(options: argparse.Namespace) -> int:
    """Show or answer, print, and return the exit code."""
    with output.ProgressLine(quiet=options.quiet, verbose=options.verbose) as progress:
        pipeline = Pipeline.open(options.config, folder=options.folder, on_event=progress.show)
        with KnowledgeRouterService(pipeline) as service:
            if options.action == "list":
                return _list(service, options)
            if options.action == "show":
                return _show(service, options)
            if options.action == "check":
                progress.clear()
                return spot_checks.run(pipeline, options)
            if options.action == "poll":
                tended = service.tend()
                progress.clear()
                _polled(tended, options)
                if not (options.quiet or options.json):
                    output.tell(pipeline.deliver_logs())
                return 0
            result = _answered(service, options)
            progress.clear()
            withdrawn = options.action == "withdraw"
            (_show_withdrawn if withdrawn else ask.show)(result, options)
            notes = pipeline.deliver_logs()
    if not (options.quiet or options.json or options.yaml):
        output.tell(notes)
    return 0 if withdrawn else ask.exit_code(result)


def _show_withdrawn(result: AskResult, options: argparse.Namespace) -> None:
    if options.json or options.yaml:
        ask.show(result, options)
    elif not options.quiet:
        print(printable(result.notes[-1]))


def _answered(service: KnowledgeRouterService, options: argparse.Namespace) -> AskResult:
    """What came of a reply."""
    name, revision = _which(options.id)
    by = ask.name_of(options)
    if options.action == "chat":
        return _talked(service, name, revision, by)
    response = HumanResponse(
        action="add_context" if options.action == "context" else options.action,
        content=_text(getattr(options, "text", [])),
        by=by,
        revision=revision,
    )
    return service.reply(name, response)


def _talked(service: KnowledgeRouterService, name: str, revision: int | None, by: str) -> AskResult:
    case = service.cases.get(name)
    if not case.waits or case.request.partner is None or revision not in {None, case.request.revision}:
        return service.reply(  # it will be refused, and that is on the record
            name, HumanResponse(action="chat", by=by, revision=revision)
        )
    if sys.stdin.isatty():
        print(for_terminal(service.shown(case.request).message, sys.stderr), file=sys.stderr)
    typed = TypedLines(lambda: not service.cases.get(name).waits)
    return terminal_chat.talk(service, case, typed, by) or service.result_of(name)


def _which(written: str) -> tuple[str, int | None]:
    found = _ID.fullmatch(written.strip())
    if found is None:
        raise ConfigError(f"`{written}` is not an id", where="kr inbox", hint="write it as `E7` or `E7@2`")
    return found[1].upper(), None if found[2] is None else int(found[2])


def _text(words: Sequence[str]) -> str:
    if list(words) != ["-"]:
        return " ".join(words)
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _polled(tended: RunSummary, options: argparse.Namespace) -> None:
    if options.json:
        print(output.as_json(tended.to_dict()))
        return
    done = [f"{said}: {count}" for name, said in _DONE.items() if (count := getattr(tended, name))]
    print("\n".join(done) or "nothing was due")
    if not options.quiet:
        output.tell(tended.notes)


_DONE = {
    "applied": "replies applied",
    "refused": "replies refused",
    "shown": "shown",
    "told": "told",
    "reminded": "reminders",
    "timed_out": "time limits passed, which wait on",
    "expired": "expired, their answers used with a warning",
    "asked_again": "agents asked again",
}


# -- what is shown -------------------------------------------------------------------------------------------


def _list(service: KnowledgeRouterService, options: argparse.Namespace) -> int:
    # There may be thousands: one is in memory at a time. One that was damaged hides no other.
    unread: list[StorageError] = []
    cases = service.cases.each(waiting=not options.all, unreadable=unread.append)
    if options.json:
        print(output.as_json([case.to_dict() for case in cases]))
    elif lines := _table(cases, with_status=options.all):
        print("\n".join(lines))
    else:
        print("no question was ever put to a human" if options.all else "nothing waits for an answer")
    if not options.json and (said := spot_checks.hint(service.pipeline)):
        print(said)
    if unread:
        for error in unread[1:]:
            tell(str(error))
        raise unread[0]
    return 0


def _table(cases: Iterable[Case], *, with_status: bool) -> list[str]:
    rows = [["id", "age", *(["status"] if with_status else []), "topic", "feature", "reason", "question"]]
    rows += [_row(case, with_status=with_status) for case in cases]
    if len(rows) == 1:
        return []
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    lines = []
    for *row, question in rows:
        start = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        lines.append(
            f"{start}  {harmless_line(question, max(_FEWEST, columns(sys.stdout, _WIDTH) - len(start) - 2))}".rstrip()
        )
    return lines


def _row(case: Case, *, with_status: bool) -> list[str]:
    """The cells of a case; the last one is its question, as far as any terminal shows it."""
    request = case.request
    return [
        f"{request.id}@{request.revision}",
        _age(request.opened),
        *([case.status] if with_status else []),
        harmless_line(request.question.topic, _WIDEST) or "-",
        harmless_line(request.question.feature_id, _WIDEST),
        harmless_line(request.reason, _WIDEST),
        request.question.text[:_LONGEST],
    ]


def _age(opened: dt.datetime) -> str:
    seconds = max(0.0, (dt.datetime.now(dt.UTC) - opened).total_seconds())
    for unit, size in (("d", _DAY), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds)}s"


def _show(service: KnowledgeRouterService, options: argparse.Namespace) -> int:
    name, revision = _which(options.id)
    case = service.cases.get(name)
    if revision not in {None, case.request.revision}:
        raise ConfigError(
            f"only the newest answer is shown, {name}@{case.request.revision}",
            where=options.id,
            hint=f"see `kr inbox show {name}`; `kr log` has them all",
        )
    if options.json:
        print(output.as_json(case.to_dict()))
        return 0
    said = service.shown(case.request).message
    if not case.waits:
        said = f"{said.partition('**How to answer**')[0].rstrip()}\n\n{_decided(case)}"
    print(for_terminal(said, sys.stdout))
    config = service.pipeline.config
    output.tell(filter(None, [unused_note(config.root, config.environ)]))
    for name, state in case.channels.items():
        if state.location:
            print(f"Shown by {name}: {printable(state.location)}\n")
    if case.asking:
        print(f"{case.request.agent} is being asked again, with what was added.\n")
    if case.turns:
        print(f"Talk so far:\n{terminal_chat.said_so_far(case)}\n")
    if case.waits:
        print("\n".join(["At a shell:", "", *(f"    {way}" for way in ask.ways(case.request))]))
    return 0


def _decided(case: Case) -> str:
    resolution = case.resolution
    if case.status == "withdrawn" and resolution is not None:
        return f"**Withdrawn** by {harmless_line(resolution.by)}:\n\n{quoted(resolution.content or '')}"
    if resolution is None or case.answer is None:
        return f"It is {case.status}."
    how = resolution.action.removeprefix("add_")
    when = f"{resolution.time.astimezone():%Y-%m-%d %H:%M}"
    if case.status == "expired":
        return f"**Expired**, {when}. Warning: {harmless_line(case.answer.warning)}\n\n{quoted(case.answer.content)}"
    by = f"{harmless_line(resolution.by)} ({how})"
    if resolution.action == "add_context":
        by = f"{harmless_line(case.answered_by)}, with what {harmless_line(resolution.by)} has added"
    return f"**Answered** by {by}, {when}:\n\n{quoted(case.answer.content)}"
