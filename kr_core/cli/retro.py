"""`kr retro`: what a feature's questions teach, and what is made of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.ask.dry_run import asked_again
from kr_core.cli import ask, output
from kr_core.config import load
from kr_core.errors import ConfigError
from kr_core.file_edits import difference
from kr_core.research import Pipeline
from kr_core.retro.acceptance import Acceptance
from kr_core.retro.effects import written
from kr_core.retro.figures import retrospect
from kr_core.retro.improvement import improvement, pairs
from kr_core.retro.logged_questions import read_questions
from kr_core.retro.report_text import as_markdown, compared, told
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

    from kr_core.retro.changes import PlannedChange


def run(options: argparse.Namespace) -> int:
    """Print the retrospective of a feature, or act on one, and return the exit code."""
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        return {"accept": _accept, "revert": _revert, "replay": _replay}.get(options.action, _show)(
            pipeline, options
        )


def _show(pipeline: Pipeline, options: argparse.Namespace) -> int:
    journal, settings = pipeline.journal, pipeline.config.settings.retro
    learned = pipeline.components.verdicts.read()
    report = retrospect(journal, options.feature, settings, learned)
    if options.compare:
        before = retrospect(journal, options.compare, settings, learned)
        found = improvement(
            pairs(read_questions(journal, options.compare), read_questions(journal, options.feature))
        )
        if options.json:
            values = {"before": before.to_dict(), "after": report.to_dict()}
            print(output.as_json({**values, "improvement": found.model_dump(mode="json")}))
        else:
            print(printable(f"{compared(before, report)}\n{told(found, 'Questions that both asked')}"))
        return 0
    if options.html:
        from kr_core.retro.page import as_html  # which needs what is not always installed

        print(as_html(report, read_questions(journal, options.feature)))
        return 0
    print(
        output.as_json(report.to_dict()) if options.json else printable(as_markdown(report)),
        end="\n" if options.json else "",
    )
    return 0


def _replay(pipeline: Pipeline, options: argparse.Namespace) -> int:
    """Ask the questions again under the other configuration; the answers are compared and thrown away."""
    asked = read_questions(pipeline.journal, options.feature)
    questions = [one for one in asked if one.rounds]
    if not questions:
        raise ConfigError(
            "no agent has answered a question of this feature",
            where=options.feature,
            hint="`kr log` lists the questions with their features",
        )
    other = load((options.folder or Path.cwd()).resolve(), options.against)
    chosen = questions[: options.max_calls]
    after, notes = asked_again(other, options.feature, chosen, asked)
    if len(chosen) < len(questions):
        notes.append(f"asked {len(chosen)} of {len(questions)} questions; `--max-calls` sets how many")
    found = pairs(chosen, after, written(pipeline.journal))
    unseen = improvement([one for one in found if not one.written])
    seen = improvement([one for one in found if one.written])
    if options.json:
        values = {
            "feature": options.feature,
            "unseen": unseen.model_dump(),
            "written": seen.model_dump(),
            "notes": notes,
        }
        print(output.as_json(values))
        return 0
    print(printable(told(unseen, "Questions asked again")))
    if seen.n:
        print(printable(told(seen, "Questions whose answers were written into the knowledge")))
    output.tell(notes)
    return 0


def _accept(pipeline: Pipeline, options: argparse.Namespace) -> int:
    acceptance, by = _acceptance(pipeline), ask.name_of(options)
    offer = acceptance.offer(options.id, options.feature, options.agent)
    change = offer.change
    if options.seen not in {None, change.fingerprint}:
        raise ConfigError(
            "is not the number of this difference",
            where=f"--seen {options.seen}",
            hint=f"a file or the record has changed since; look at it again with `kr retro accept {options.id}`",
        )
    _print(pipeline.config.root, change)
    if options.seen is None:
        if change.from_people and options.yes:
            print("kr: this holds words of people, which a person has to look at first", file=sys.stderr)
        free = options.yes and not change.from_people
        way = f"--seen {change.fingerprint} writes exactly this"
        if not free and not output.agreed(way):
            print("nothing was changed")
            return 0 if sys.stdin.isatty() else 2
    notes = acceptance.accept(offer, by)
    _say_done(pipeline.config.root, change)
    print(printable(f"`kr retro revert {options.id}` takes it back"))
    _notes(options, notes)
    return 0


def _revert(pipeline: Pipeline, options: argparse.Namespace) -> int:
    acceptance, by = _acceptance(pipeline), ask.name_of(options)
    kept, change = acceptance.undoing(options.id, options.feature)
    _print(pipeline.config.root, change)
    if not options.yes and not output.agreed("--yes applies it"):
        print("nothing was changed")
        return 0 if sys.stdin.isatty() else 2
    notes = acceptance.revert(kept, change, by)
    _say_done(pipeline.config.root, change)
    _notes(options, notes)
    return 0


def _acceptance(pipeline: Pipeline) -> Acceptance:
    return Acceptance(pipeline.config, pipeline.journal, pipeline.lessons)


def _print(root: Path, change: PlannedChange) -> None:
    for one in change.edits:
        print(printable(difference(root, one)), end="")
    sys.stdout.flush()


def _say_done(root: Path, change: PlannedChange) -> None:
    for one in change.edits:
        done = "removed" if one.after is None else "wrote"
        print(
            printable(f"{done} {one.path.relative_to(root) if one.path.is_relative_to(root) else one.path}")
        )


def _notes(options: argparse.Namespace, notes: tuple[str, ...]) -> None:
    if not options.quiet:
        output.tell(notes)
