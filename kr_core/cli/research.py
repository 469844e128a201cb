"""`kr research`: one question, a request in a file, or a batch."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core import yaml_text
from kr_core.cli import lessons, output, replay
from kr_core.cli.given_file import text_of
from kr_core.cli.request_io import exit_code, refreshed
from kr_core.errors import ConfigError
from kr_core.protocols import Appendable
from kr_core.research import Pipeline
from kr_core.research.requests import InvalidRequest, wants_lessons
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

    from kr_core.model import ResearchRequest
    from kr_core.research.results import CompletedResearch


def run(options: argparse.Namespace, arguments: list[str]) -> int:
    """Answer, print, and return the exit code."""
    if options.wrong is not None:
        return _reject(options)
    if options.why:
        raise ConfigError("--why without --wrong", where="kr research", hint="name the answer: --wrong ID")
    if options.question is None and not options.request and not options.batch:
        raise ConfigError(
            "nothing to answer", where="kr research", hint="give a question, --request FILE or --batch FILE"
        )
    _refuse_mixture(options)
    with output.ProgressLine(quiet=options.quiet, verbose=options.verbose) as progress:
        with Pipeline.open(options.config, folder=options.folder, on_event=progress.show) as pipeline:
            if options.batch:
                from kr_core.cli import batch

                return batch.run(pipeline, options, progress)
            raw = _document(options.request, options.folder) if options.request else None
            if wants_lessons(raw):
                return lessons.show(pipeline.lessons.inject(raw), options)
            request = _request(pipeline, options, raw)
            with contextlib.redirect_stdout(sys.stderr):  # a plugin may print; the answer stands alone
                answer = pipeline.research(request)
            progress.clear()
            sys.stdout.write(_shown(pipeline, options, request, answer))
            sys.stdout.flush()
            _remember(pipeline, options, arguments, request=request, answer=answer)
            notes = (
                []
                if isinstance(request, InvalidRequest) or answer.result.status == "failure"
                else pipeline.deliver_logs()
            )
        output.notes(
            answer.result,
            notes,
            errors_only=options.quiet or options.json or options.yaml,
            verbose=options.verbose,
        )
    return exit_code(answer.result)


def _reject(options: argparse.Namespace) -> int:
    """Take an answer out of the knowledge base, and say so."""
    from kr_core.cli.cache import entry_named
    from kr_core.research.verdict import reject

    if options.question is not None:
        raise ConfigError(
            "a question beside --wrong", where="kr research", hint="ask it again afterwards, by itself"
        )
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        entry = entry_named(options.wrong, pipeline.store.entries())
        notes = reject(pipeline.components, entry, options.why)
        notes = (*notes, *pipeline.deliver_logs())
    if options.json or options.yaml:
        values = {"rejected": entry.id, "report": entry.path}
        sys.stdout.write(output.as_json(values) + "\n" if options.json else output.as_yaml(values))
    else:
        print(printable(f"taken out: {entry.id}  {entry.path}"))
    for note in notes if not options.quiet else ():
        print(printable(f"note: {note}"), file=sys.stderr)
    return 0


def _refuse_mixture(options: argparse.Namespace) -> None:
    """A file of requests says all itself; an option beside it would be passed over in silence."""
    if not options.request and not options.batch:
        return
    file = "--request" if options.request else "--batch"
    beside = {
        "a question": options.question,
        "--framework": options.framework,
        "--version": options.framework_version,
        "--topic": options.topic,
        "--tag": options.tags,
        "--names": list(options.names),
        "--story": options.story_key,
        "--session": options.session_id,
        "--max-calls": options.max_calls,
        "--max-tokens": options.max_tokens,
        "--timeout": options.timeout,
        "--yaml (each answer is a line of JSON)": options.yaml and options.batch,
    }
    for name, value in beside.items():
        if value is not None and value != [] and value is not False:
            raise ConfigError(
                f"{name} beside {file}",
                where="kr research",
                hint=f"write it into the file, or leave out {file}",
            )


def _request(pipeline: Pipeline, options: argparse.Namespace, raw: Any) -> ResearchRequest | InvalidRequest:
    if options.request:
        return pipeline.read_request(refreshed(raw) if options.refresh else raw)
    return pipeline.request(
        options.question,
        framework=options.framework,
        version=options.framework_version,
        topic=options.topic,
        tags=tuple(options.tags),
        names=options.names,
        story_key=options.story_key,
        session_id=options.session_id,
        max_calls=options.max_calls,
        timeout_seconds=options.timeout,
        max_tokens=options.max_tokens,
        refresh=options.refresh,
    )


def _document(name: str, folder: Path | None) -> Any:
    """A request file: JSON is YAML too, so one reader serves both."""
    text = text_of(name, folder)
    try:
        return yaml_text.load(text)
    except (yaml_text.YAMLError, ValueError, RecursionError) as error:
        line = yaml_text.error_line(error) if isinstance(error, yaml_text.YAMLError) else None
        problem = str(getattr(error, "problem", None) or error)
        raise ConfigError(
            f"is neither YAML nor JSON: {problem}",
            where=f"{name}:{line}" if line else name,
            hint="mend it and ask again",
        ) from error


def _shown(
    pipeline: Pipeline,
    options: argparse.Namespace,
    request: ResearchRequest | InvalidRequest,
    answer: CompletedResearch,
) -> str:
    result = answer.result
    if options.json:
        return output.as_json(result.to_dict()) + "\n"
    if options.yaml:
        return output.as_yaml(result.to_dict())
    if isinstance(request, InvalidRequest) or result.status == "failure":
        return ""
    return output.answer(request, answer, pipeline.config.knowledge_base, Path.cwd())


def _remember(
    pipeline: Pipeline,
    options: argparse.Namespace,
    arguments: list[str],
    *,
    request: ResearchRequest | InvalidRequest,
    answer: CompletedResearch,
) -> None:
    """Keep what the same command line will show next time, so that a repeated question costs next to nothing."""
    if isinstance(request, InvalidRequest) or not replay.may_keep(arguments) or answer.result.errors:
        return
    if request.notes:  # they are about this command line itself; a secret may be in them
        return
    if pipeline.config.reads_environment or not answer.result.results.index_updated:
        return
    if not isinstance(pipeline.journal, Appendable):
        return
    # The states are taken before the look-up whose answer is kept: a change in between makes it void, even one by another
    # process to the report that was just written. What lies outside the knowledge base was read when the run began.
    guards = [replay.state(str(path)) for path in answer.depends_on]
    base = pipeline.config.knowledge_base
    outside = [
        guard for path, guard in zip(answer.depends_on, guards, strict=True) if base not in path.parents
    ]
    if not guards or any(map(replay.changed_since_start, outside)):
        return
    again = pipeline.peek(request)
    if again is None or again.depends_on != answer.depends_on:
        return
    result = again.result
    shown = _shown(pipeline, options, request, again)
    replay.keep(
        arguments,
        appender=pipeline.journal.light_appender(),
        guards=guards,
        stdout=shown.replace(result.session_id, replay.SESSION),
        exit_code=exit_code(result),
        event={
            "question": request.query.question,
            "status": result.status,
            "entry": result.results.cache_entry_id,
            "story_key": result.story_key,
        },
    )
