"""`kr log`: what was asked of agents and people, and answered, as a table, JSON or CSV; and whether the record is whole."""

from __future__ import annotations

import csv
import re
import sys
import time
from datetime import datetime
from fnmatch import fnmatchcase
from itertools import chain
from typing import TYPE_CHECKING

from kr_core.cli import output
from kr_core.errors import ConfigError, suggestion
from kr_core.escalation import audit
from kr_core.model.events import EVENTS
from kr_core.qalog.delivery import log_flaws
from kr_core.qalog.reader import LogFilter, LoggedExchange, entries, exchange_pages, follow, last_number
from kr_core.research import Pipeline
from kr_core.terminal_text import columns, printable
from kr_core.verdicts import verdict_record as verdicts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from kr_core.model.questions import QALogEntry
    from kr_core.protocols import EventLog, Journal, Log

NO_CONTENT = 4
COLUMNS = (
    "time", "exchange_id", "parent_id", "feature_id", "question_id", "topic", "agents", "confidence", "threshold", "result",
    "escalation_id", "question", "answer",
)  # fmt: skip
"""The columns of CSV; new ones come at the end."""
_POLL_SECONDS = 0.2
_OF_QUESTIONS = ("question", "agent", "answer", "answers", "escalation", "human", "exchange")
"""What the kinds of entries begin with; those of research are events too, and of no feature."""
_WIDEST = 24
_WIDTH = 160
"""Where no terminal says how wide it is."""
_FEWEST = 20
"""Characters of a question, however narrow the terminal is."""
_TOLD = ("agent", "by", "target", "action", "status", "outcome", "confidence", "reason", "text", "content")
"""What a line says of an entry, where its data has it."""
_FORMULA = re.compile(r"[=+\-@\t\r]")


def run(options: argparse.Namespace) -> int:
    """Show the record, or check it, and return the exit code: 4 where there is nothing to show, 1 for a flaw."""
    if options.follow and (options.csv or options.verify):
        raise ConfigError("goes with the table and --json only", where="--follow")
    _check_kinds(options.kinds)
    wanted = LogFilter(
        options.feature, options.exchange, _time(options.since, "--since"), _time(options.until, "--until"),
        tuple(options.kinds), options.agent, options.topic, options.text,
    )  # fmt: skip
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        journal = pipeline.journal
        if options.verify:
            logs, notes = pipeline.components.logs()
            for note in notes:
                print(printable(f"kr: {note}"), file=sys.stderr)
            return _verify(journal, logs)
        if options.follow:
            _follow(journal, wanted, as_json=options.json)
            return 0
        if options.json:
            code = NO_CONTENT
            for entry in entries(journal, wanted):
                print(_json(entry))
                code = 0
            return code
        pages = exchange_pages(journal, wanted)
        if options.csv:
            return _print_csv(pages)
        code = _print_table(pages, with_feature=not options.feature)
        if code:
            print("nothing is on the record" + (" that was asked for" if any(wanted) else ""))
    return code


def _check_kinds(kinds: Sequence[str]) -> None:
    """Refuse kinds that no event has; of a feature it is KR alone that says anything."""
    for kind in kinds:
        if not any(fnmatchcase(known, kind) for known in EVENTS):
            of_questions = [known for known in EVENTS if known.split(".")[0] in _OF_QUESTIONS]
            raise ConfigError(
                f"no entry is of the kind `{kind}`",
                where="--kind",
                hint=suggestion(kind, of_questions, "kinds"),
            )


def _time(text: str | None, where: str) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()  # without a zone it is the user's
    except (ValueError, OverflowError) as error:
        raise ConfigError(
            "is not a time", where=f"{where} {text}", hint="write it as 2026-02-05 or 2026-02-05T10:00"
        ) from error


def _verify(journal: Journal, logs: Mapping[str, Log]) -> int:
    flaws = [*journal.verify(), *log_flaws(journal, logs)]
    if not flaws:  # entries that are wrong prove nothing of what is kept beside them
        flaws = [*audit.flaws(journal), *verdicts.flaws(journal)]
    for flaw in flaws:
        print(printable(f"{flaw.location}: {flaw.message}; {flaw.hint}"))
    if not flaws:
        last = last_number(journal)
        print(f"{last} {'entry' if last == 1 else 'entries'}, all in order")
    return 1 if flaws else 0


def _follow(journal: EventLog, wanted: LogFilter, *, as_json: bool) -> None:
    for entry in follow(journal, wanted):
        if entry is None:
            time.sleep(_POLL_SECONDS)
        else:
            print(_json(entry) if as_json else _line(entry), flush=True)


# -- forms -------------------------------------------------------------------------------------------------


def _json(entry: QALogEntry) -> str:
    return output.as_json(entry.model_dump(mode="json"), indent=None)


def _print_csv(pages: Iterable[Sequence[LoggedExchange]]) -> int:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    code = NO_CONTENT
    for one in chain.from_iterable(pages):
        code = 0
        row = (
            one.time.isoformat(), one.id, one.parent_id, one.feature_id, one.question_id, one.topic, ", ".join(one.agents),
            one.confidence, one.threshold, one.result, one.escalation_id, one.question, one.answer,
        )  # fmt: skip
        writer.writerow([_cell(value) for value in row])
    return code


def _cell(value: str | int | None) -> str | int | None:
    """A value that no spreadsheet takes for a formula, and that steers no terminal."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if _FORMULA.match(text) else text


def _print_table(pages: Iterable[Sequence[LoggedExchange]], *, with_feature: bool) -> int:
    """Print page by page, each as wide as it and those before it need."""
    rows = [["time", "exchange", *(["feature"] if with_feature else []), "topic", "who", "sure", "result"]]
    questions = ["question"]
    widths = [0] * len(rows[0])
    most = columns(sys.stdout, _WIDTH)
    code = NO_CONTENT
    for page in filter(None, pages):
        code = 0
        rows += [_row(one, with_feature=with_feature) for one in page]
        questions += [one.question for one in page]
        widths = [max(width, *map(len, cells)) for width, *cells in zip(widths, *rows, strict=True)]
        form = "  ".join(f"{{:<{width}}}" for width in widths)
        room = max(_FEWEST, most - sum(widths) - 2 * len(widths))
        lines = (
            f"{form.format(*row)}  {output.brief(question, room)}".rstrip()
            for row, question in zip(rows, questions, strict=True)
        )
        print("\n".join(lines), flush=True)
        rows, questions = [], []
    return code


def _row(one: LoggedExchange, *, with_feature: bool) -> list[str]:
    """The cells of an exchange; one that follows another is indented."""
    sure = "-" if one.confidence is None else f"{one.confidence}"
    return [
        "  " * min(one.depth, 5) + f"{one.time.astimezone():%Y-%m-%d %H:%M:%S}",
        output.brief(one.id, _WIDEST),
        *([output.brief(one.feature_id, _WIDEST)] if with_feature else []),
        output.brief(one.topic, _WIDEST) or "-",
        output.brief(", ".join(one.agents), _WIDEST) or "-",
        sure if one.threshold is None else f"{sure}/{one.threshold}",
        output.brief(one.result, _WIDEST) or "under way",
    ]


def _line(entry: QALogEntry) -> str:
    told = [
        str(value) for key in _TOLD if isinstance(value := entry.data.get(key), str | int) and value != ""
    ]
    start = f"{entry.time.astimezone():%Y-%m-%d %H:%M:%S}  {output.brief(entry.exchange_id, _WIDEST)}  {output.brief(entry.kind, _WIDEST):<18}"
    return f"{start}  {output.brief(', '.join(told), max(_FEWEST, columns(sys.stdout, _WIDTH) - len(start) - 2))}".rstrip()
