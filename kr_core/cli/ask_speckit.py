"""`kr ask --from`: what spec-kit left open in a file, asked at once and answered there; or a list of questions, as JSON or YAML."""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from kr_core.agents.exchange import Key, key
from kr_core.agents.question_dependencies import FINAL, answered
from kr_core.ask.sync_service import KnowledgeRouterService
from kr_core.cli import output
from kr_core.cli.given_file import document, place_of
from kr_core.config.config_file import find
from kr_core.errors import ConfigError
from kr_core.files import lock, read_start, write_atomically
from kr_core.model.questions import GENERAL, AskResult, Question
from kr_core.net.redaction import redacted
from kr_core.research import Pipeline
from kr_core.speckit.markers import MOST_MARKED
from kr_core.speckit.spec_parser import SpecQuestion, answers_in, read, unanswered
from kr_core.speckit.writer import replied, with_answers
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from kr_core.speckit.markers import OpenField

LARGEST = 5_000_000
"""Bytes of a file; a specification of a hundred pages has a tenth of it."""
_FEATURE = re.compile(r"\d{3,}-.+|\d{8}-\d{6}-.+")
"""spec-kit's folders: `004-knowledge-router`, `20260103-101500-knowledge-router`."""
_LISTS = {".json", ".yaml", ".yml"}
_SHOWN = 100
_MOST_NAMED = 10
_MOST_ASKED = 500
"""Questions of one file; spec-kit leaves three open in a specification."""


class _AnsweredQuestion(NamedTuple):
    """A question and what came of it."""

    question: Question
    found: SpecQuestion | None
    result: AskResult
    new: bool
    """Whether it was asked now."""


def run(options: argparse.Namespace) -> int:
    """Ask what is in the file, write the answers into it, print, and return the exit code."""
    file = _place(options)
    text = _read(file)
    is_list = file.suffix in _LISTS
    if is_list:
        listed = [(one, _completed(one, options)) for one in _listed(file, text)]
        pairs: list[tuple[Question, SpecQuestion | None]] = [(one, None) for _, one in listed]
        anew = {key(one) for written, one in listed if _sent_to(written) != _sent_to(one)}
    else:
        spec = read(text)
        pairs = [(_question(one, file, options), one) for one in unanswered(spec)]
        anew = {key(one) for one, _ in pairs if options.targets or options.topic}
        _name_open(file, spec.open_fields, options)
    open_fields = [] if is_list else spec.open_fields
    if not pairs and not is_list and spec.answers:
        _write(file, [])
        print(f"{_name(file)}: all questions are answered")
        return 0
    if not pairs:
        raise ConfigError(
            "there is no question in it",
            where=_name(file),
            hint="KR looks for [NEEDS CLARIFICATION: ...], for tables of options, and for NEEDS CLARIFICATION in a plan",
        )
    if len(pairs) > _MOST_ASKED:  # each may cost a call, and puts a case before a person
        hint = f"at most {_MOST_ASKED} are asked at once: split the file, or take some out"
        least = "at least " if not is_list and len(spec.asked) >= MOST_MARKED else ""
        raise ConfigError(f"has {least}{len(pairs):,} questions", where=_name(file), hint=hint)
    with output.ProgressLine(quiet=options.quiet, verbose=options.verbose) as progress:
        pipeline = Pipeline.open(options.config, folder=options.folder, on_event=progress.show)
        with KnowledgeRouterService(pipeline) as service:
            asked = _asked(service, pairs, anew)
            progress.clear()
            written = 0
            try:
                written = 0 if is_list else _write(file, asked)
            finally:  # where they cannot be written they are shown all the same
                _show(file, asked, written, open_fields, options)
            pipeline.deliver_logs()
    states = {one.result.status for one in asked}
    return 4 if "failed" in states else 5 if "escalated" in states else 0


# -- the file -----------------------------------------------------------------------------------------------


def _place(options: argparse.Namespace) -> Path:
    beside = {
        "a question": options.question is not None,
        "--choice": options.choices,
        "--id": options.id is not None,
        "--depends-on": options.depends_on,
        "--wait": options.wait,
    }
    for name, given in beside.items():
        if given:
            raise ConfigError(f"{name} beside --from", where="kr ask", hint="give one of them")
    folder = (options.folder or Path.cwd()).resolve()
    return place_of(folder / options.source, find(folder, options.config).root)


def _name(file: Path) -> str:
    here = Path.cwd()
    return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)


def _read(file: Path) -> str:
    """The file's text, with its line ends and its byte order mark.

    Raises:
        ConfigError: it cannot be read, is too large, or is no text.
    """
    try:
        content = read_start(file, LARGEST + 1)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", where=_name(file)) from error
    if len(content) > LARGEST:
        raise ConfigError(
            f"has more than {LARGEST:,} bytes", where=_name(file), hint="give a file of spec-kit, or cut it"
        )
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"is not UTF-8 text (byte {error.start})", where=_name(file), hint="save it as UTF-8"
        ) from None
    if "\0" in text:
        raise ConfigError("is no text: it has zero bytes", where=_name(file), hint="give a file of spec-kit")
    return text


def _listed(file: Path, text: str) -> list[Question]:
    """The questions of a file in JSON or YAML: a list of `kr_core.Question`, whose target may be called `target`."""
    text = text.removeprefix("\ufeff")
    try:
        values = json.loads(text) if file.suffix == ".json" else document(_name(file), text)
        items = [_with_target(one) for one in values] if isinstance(values, list) else values
        return TypeAdapter(list[Question]).validate_python(items)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"{place}: {first['msg']}" if place else first["msg"],
            where=_name(file),
            hint='write a list of questions: [{"id": "Q1", "topic": "...", "text": "...", "target": "..."}]',
        ) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"Invalid JSON: {error}", where=_name(file), hint="mend it and ask again") from None


def _with_target(item: Any) -> Any:
    """An item of a list as `Question` names its fields."""
    if not isinstance(item, dict) or "target" not in item:
        return item
    if item.keys() & {"suggested_target", "also"}:
        raise ConfigError(
            "`target` beside `suggested_target` or `also`", where="a question", hint="give one of them"
        )
    values = {name: value for name, value in item.items() if name != "target"}
    targets = item["target"]
    first, *also = targets if isinstance(targets, list) and targets else [targets]
    return {**values, "suggested_target": first, "also": also}


def _completed(question: Question, options: argparse.Namespace) -> Question:
    """A listed question with what the command line says and the list does not; the context is that of both."""
    given: dict[str, object] = {}
    if options.feature and "feature_id" not in question.model_fields_set:
        given["feature_id"] = options.feature
    if options.topic and not question.topic:
        given["topic"] = options.topic
    if options.targets and not (question.suggested_target or question.also):
        given |= {"suggested_target": options.targets[0], "also": tuple(options.targets[1:])}
    if options.context:
        given["context"] = "\n\n".join(part for part in (question.context, options.context) if part)
    return question.model_copy(update=given)


def _sent_to(question: Question) -> tuple[object, ...]:
    """What of a question decides who is asked."""
    return question.topic, question.suggested_target, question.also


def _question(found: SpecQuestion, file: Path, options: argparse.Namespace) -> Question:
    feature = options.feature or (file.parent.name if _FEATURE.fullmatch(file.parent.name) else GENERAL)
    told = sha256(f"{feature}\n{found.key}".encode()).hexdigest()
    return Question(
        id=f"spec-{told[:12]}",  # the same in every run, so that what a human answers meanwhile is found again
        feature_id=feature,
        topic=options.topic or found.topic,
        text=found.text,
        suggested_target=options.targets[0] if options.targets else None,
        also=tuple(options.targets[1:]),
        context="\n\n".join(part for part in (found.context, options.context) if part),
        choices=tuple(option for _, option in found.options),
    )


def _write(file: Path, asked: Sequence[_AnsweredQuestion]) -> int:
    """Write answers into the file as it is now, and return how many are new; what others changed in it meanwhile stays.

    Markers whose answers the file has already are filled too.
    """
    answers = [(one.question.text, _content(one)) for one in asked if one.result.status in FINAL]
    try:
        with lock(file.parent):
            text = _read(file)
            new = with_answers(text, answers, dt.datetime.now().astimezone().date())
            if new != text:
                write_atomically(file, new)
            return len(answers_in(new)) - len(answers_in(text))
    except OSError as error:
        raise ConfigError(
            f"the answers cannot be written: {error.strerror or error}",
            where=_name(file),
            hint="see `kr log`",
        ) from error


# -- asking -------------------------------------------------------------------------------------------------


def _asked(
    service: KnowledgeRouterService,
    pairs: Sequence[tuple[Question, SpecQuestion | None]],
    anew: AbstractSet[Key],
) -> list[_AnsweredQuestion]:
    """Ask what neither waits for a human nor was answered by one.

    Args:
        service: asks.
        pairs: the questions.
        anew: those of which the caller says who should answer, so that what waits because nobody was asked is asked now.
    """
    known = _decided(service, pairs)
    known = {
        one: result
        for one, result in known.items()
        if one not in anew
        or result.status in FINAL
        or result.escalation is None
        or result.escalation.agent is not None
    }
    new = [question for question, _ in pairs if key(question) not in known]
    results = dict(zip(map(key, new), service.ask_all(new), strict=True))
    return [
        _AnsweredQuestion(
            question, found, known.get(key(question)) or results[key(question)], key(question) in results
        )
        for question, found in pairs
    ]


def _decided(
    service: KnowledgeRouterService, pairs: Sequence[tuple[Question, SpecQuestion | None]]
) -> dict[Key, AskResult]:
    """What a human has answered since it was asked, or is still to answer; of a list of questions, what was accepted as well.

    An answer that was accepted for a question of spec-kit stands in its file; where it was taken out it is asked again.
    """
    texts = {key(question): redacted(question.text) for question, _ in pairs}
    listed = {key(question) for question, found in pairs if found is None}
    found: dict[Key, AskResult] = {}
    for one, known in answered(service.pipeline.journal, texts).items():
        if known.text == texts[one] and known.route and (known.answer.validated_by or one in listed):
            found[one] = known.result(one[1])
    for case in service.cases.waiting_of(texts):
        if case.request.question.text == texts[key(case.request.question)]:
            found[key(case.request.question)] = service.result_of(case.request.id)
    return found


def _content(one: _AnsweredQuestion) -> str:
    assert one.result.answer is not None, "it is answered"
    return one.result.answer.content


# -- what is printed ----------------------------------------------------------------------------------------


def _name_open(file: Path, fields: Sequence[OpenField], options: argparse.Namespace) -> None:
    """Say which fields look open and are not asked; a template of another year has others than those that KR knows."""
    if options.quiet or options.json or options.yaml:
        return
    for one in fields[:_MOST_NAMED]:
        print(
            printable(f"note: {_name(file)}:{one.line}: looks open, but is not asked: {one.text}"),
            file=sys.stderr,
        )
    if len(fields) > _MOST_NAMED:
        print(f"note: {len(fields) - _MOST_NAMED} more fields look open", file=sys.stderr)
    if fields:
        print("note: to have a field asked, write NEEDS CLARIFICATION as its value", file=sys.stderr)


def _show(
    file: Path,
    asked: Sequence[_AnsweredQuestion],
    written: int,
    open_fields: Sequence[OpenField],
    options: argparse.Namespace,
) -> None:
    final = [
        (one.found, _content(one)) for one in asked if one.result.status in FINAL and one.found is not None
    ]
    reply = replied(final)
    if options.json or options.yaml:
        told: dict[str, Any] = {
            "results": [
                {
                    "question": one.question.text,
                    "line": None if one.found is None else one.found.line,
                    **one.result.to_dict(),
                }
                for one in asked
            ],
            "reply": reply,
            "written": written,
            "open_fields": [{"line": one.line, "text": one.text} for one in open_fields],
        }
        print(output.as_json(told) if options.json else output.as_yaml(told).rstrip("\n"))
    else:
        lines = [] if options.quiet else [line for one in asked for line in _told(file, one)]
        lines += [reply] if reply else []
        if not options.quiet and file.suffix not in _LISTS:
            lines += [f"{_name(file)}: {written} answer{'s' * (written != 1)} written"]
        for line in lines:
            print(printable(line))
    sys.stdout.flush()


def _told(file: Path, one: _AnsweredQuestion) -> list[str]:
    """A question and what came of it, as a person reads it."""
    result = one.result
    place = "" if one.found is None else f"{_name(file)}:{one.found.line}: "
    said = " ".join(one.question.text.split())
    lines = [f"{place}{said if len(said) <= _SHOWN else said[: _SHOWN - 3] + '...'}"]
    if result.status in FINAL:
        assert result.answer is not None, "it is answered"
        lines.append(
            f"  {result.answer.agent}, confidence {result.answer.confidence}: {' '.join(_content(one).split())}"
        )
    elif result.escalation is not None and result.escalation.question.id != one.question.id:
        lines.append(f"  {result.escalation.reason}")  # it was put to nobody: another one waits
    elif result.escalation is not None:
        waits = "put to a human" if one.new else "still waits for a human"
        lines.append(f"  {waits} as {result.escalation.id}: {result.escalation.reason}")
    else:
        lines.append("  no answer, and no channel to a human")
    said = "" if result.escalation is None else result.escalation.reason
    return [*lines, *(f"  note: {note}" for note in result.notes if one.new and note != said), ""]
