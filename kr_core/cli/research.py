"""`kr research`: one question, a request in a file, or a batch."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core.cli import lessons, output, replay
from kr_core.cli.given_file import document, text_of
from kr_core.config import load
from kr_core.errors import ConfigError
from kr_core.lessons.lesson_requests import wants_lessons
from kr_core.model.lessons import LessonsResult
from kr_core.project.project import LocalProject
from kr_core.protocols import Appendable
from kr_core.research import Pipeline
from kr_core.research.request_form import InvalidRequest
from kr_core.review import is_doubtful, reviewed
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from kr_core.config import Config
    from kr_core.model import Event, ResearchRequest, ResearchResult
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
    if options.max_cost is not None and not options.batch:
        raise ConfigError("--max-cost without --batch", where="kr research", hint="leave it out")
    with output.ProgressLine(quiet=options.quiet, verbose=options.verbose) as progress:
        with _opened(options, progress.show) as (pipeline, unkept):
            if options.batch:
                from kr_core.cli import research_batch

                return research_batch.run(pipeline, options, progress)
            raw = (
                document(options.request, text_of(options.request, options.folder, pipeline.config.root))
                if options.request
                else None
            )
            if wants_lessons(raw):
                return lessons.show(pipeline.lessons.inject(raw), options)
            request = _request(pipeline, options, raw)
            with contextlib.redirect_stdout(sys.stderr):  # a plugin may print; the answer stands alone
                answer = pipeline.research(request)
                doubtful = is_doubtful(pipeline, answer.result)
                if doubtful:
                    from kr_core.aio import run as run_loop

                    answer = run_loop(reviewed(pipeline, request, answer))
            progress.clear()
            sys.stdout.write(_shown(pipeline, options, request, answer))
            sys.stdout.flush()
            if not (
                doubtful or unkept or _is_judged_anew(pipeline)
            ):  # what became of its case is told each time
                _remember(pipeline, options, arguments, request=request, answer=answer)
            notes = (
                unkept
                if isinstance(request, InvalidRequest) or answer.result.status == "failure"
                else [*unkept, *([] if unkept else pipeline.deliver_logs())]
            )
        output.notes(
            answer.result,
            notes,
            errors_only=options.quiet or options.json or options.yaml,
            verbose=options.verbose,
        )
    return exit_code(answer.result)


def _is_judged_anew(pipeline: Pipeline) -> bool:
    """Whether the next verdict may make the same answer doubtful."""
    settings = pipeline.config.settings
    return settings.calibration == "calibrated" and settings.knowledge_research.escalate_below is not None


@contextlib.contextmanager
def _opened(
    options: argparse.Namespace, on_event: Callable[[Event], object]
) -> Iterator[tuple[Pipeline, list[str]]]:
    """The project's pipeline, and what to say where KR can keep nothing: a project on a read-only disk is answered, too.

    What KR writes for one answer then lies in a temporary folder.
    """
    start = (options.folder or Path.cwd()).resolve()
    config = load(start, options.config)
    with contextlib.ExitStack() as stack:
        unkept = []
        if not _is_writable(config):
            scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="kr-"))
            config = replace(config, temporary_state=Path(scratch, ".kr"))
            unkept = [f"nothing was kept: {config.root} cannot be written; make it writable to keep answers"]
        project = LocalProject(config.root, start, config.environ)
        pipeline = stack.enter_context(Pipeline(config, project=project, on_event=on_event))
        pipeline.check_names()
        yield pipeline, unkept


def _is_writable(config: Config) -> bool:
    """Whether KR's state can be written: its folder, or the one to make it in; a link is left to be refused."""
    state = config.state_folder
    if state.is_symlink():
        return True
    return os.access(state if os.path.lexists(state) else config.root, os.W_OK)


def _reject(options: argparse.Namespace) -> int:
    """Take an answer out of the knowledge base, and say so."""
    from kr_core.cli.cache import entry_named
    from kr_core.research.rejection import reject

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


def exit_code(result: ResearchResult | LessonsResult) -> int:
    """0 for any answer, 2 for an invalid request, 4 where there is no content."""
    if isinstance(result, LessonsResult):
        return lessons.exit_code(result)
    if result.status == "failure":
        return 2
    if result.status == "cache-hit" or result.results.citations or result.results.cache_entry_id:
        return 0
    return 4


def refreshed(raw: Any) -> Any:
    return {**raw, "refresh": True} if isinstance(raw, Mapping) else raw
