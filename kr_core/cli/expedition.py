"""`kr expedition`: a question too large for one look-up, researched in cycles until no new facts turn up."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.aio import run as run_loop
from kr_core.cli import output
from kr_core.errors import StorageError
from kr_core.expedition import provenance
from kr_core.expedition.service import Expeditions
from kr_core.model.expedition import Finished, Started
from kr_core.research import Pipeline
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncGenerator

    from kr_core.cli.expedition_view import ExpeditionView
    from kr_core.expedition.service import StoredExpedition
    from kr_core.model.expedition import ExpeditionUpdate

NO_CONTENT = 4


def run(options: argparse.Namespace) -> int:
    """Do what is asked and return the exit code: 4 where nothing that was found answers the question."""
    if options.action in {"run", "resume"}:
        return _go(options)
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        expeditions = Expeditions(pipeline)
        if options.action == "list":
            return _list(expeditions, options)
        if options.action == "show":
            return _show(expeditions, options)
        return _note(expeditions, options)


def _go(options: argparse.Namespace) -> int:
    from kr_core.cli.expedition_view import view_of

    view = view_of(quiet=options.quiet, verbose=options.verbose, json=options.json)
    with view, Pipeline.open(options.config, folder=options.folder, on_event=view.event) as pipeline:
        expeditions = Expeditions(pipeline)
        if options.action == "run":
            updates = expeditions.run_expedition(
                options.query, options.max_cycles, max_calls=options.max_calls, max_tokens=options.max_tokens, agent=options.agent
            )  # fmt: skip
        else:
            kept = expeditions.get(options.id)
            if kept.finished is not None and not (options.json or options.quiet):
                print(f"{kept.id} has ended already; this is what it came to", file=sys.stderr)
            updates = expeditions.resume(kept.id)
        try:
            finished = run_loop(_shown(updates, view))
        except KeyboardInterrupt:
            view.clear()
            if view.begun:
                print(f"{view.begun} is saved; `kr expedition resume {view.begun}` goes on", file=sys.stderr)
            raise
        if finished is None:
            return NO_CONTENT
        if not options.json:
            view.clear()
            text = printable(finished.answer)
            sys.stdout.write(output.markdown(text, tables=True) if sys.stdout.isatty() else text)
            sys.stdout.flush()
            view.end(finished)
        notes = [] if options.json or options.quiet else pipeline.deliver_logs()
    output.tell(notes)
    # The record of one that was written before answers were judged says nothing of that, and counts as answered.
    return 0 if finished.answered and finished.axioms else NO_CONTENT


async def _shown(updates: AsyncGenerator[ExpeditionUpdate, None], view: ExpeditionView) -> Finished | None:
    """Show each update; the last one. An interrupt ends the searches, and what was done stays."""
    finished = None
    try:
        async for update in updates:
            with contextlib.redirect_stdout(sys.stderr) if not view.prints else contextlib.nullcontext():
                view.show(update)
            if isinstance(update, Started):
                view.begun = update.id
            if isinstance(update, Finished):
                finished = update
    finally:
        await updates.aclose()
    return finished


def _list(expeditions: Expeditions, options: argparse.Namespace) -> int:
    kept = expeditions.kept()
    if options.json:
        shown = [
            {
                "id": one.id, "query": one.query, "status": one.status, "begun": one.begun.isoformat(),
                "reason": one.finished.reason if one.finished else None,
                "cycles": one.finished.cycles if one.finished else None,
                "axioms": len(one.finished.axioms) if one.finished else None,
            }
            for one in kept
        ]  # fmt: skip
        print(output.as_json(shown))
        return 0
    for one in kept:
        done = one.finished
        came = f"{done.cycles} cycles, {len(done.axioms)} axioms" if done else "unfinished"
        print(printable(f"{one.id:<5} {one.begun:%Y-%m-%d %H:%M}  {came:<22}  {one.query}"))
    if not kept:
        print("No expedition was begun here.", file=sys.stderr)
    return 0


def _show(expeditions: Expeditions, options: argparse.Namespace) -> int:
    kept = expeditions.get(options.id)
    if options.export:
        return _export(expeditions, kept, Path(options.export))
    if options.json:
        print(output.as_json(provenance.as_data(kept, expeditions)))
    else:
        sys.stdout.write(printable(provenance.as_text(kept, expeditions)))
    return 0


def _export(expeditions: Expeditions, kept: StoredExpedition, path: Path) -> int:
    from kr_core.expedition.export import exported
    from kr_core.files import write_atomically

    text = exported(kept, expeditions, path)
    try:
        write_atomically(path, text)
    except OSError as error:
        raise StorageError(
            f"cannot be written: {error}", where=str(path), hint="name a file that you may write"
        ) from error
    print(printable(f"{kept.id} is in {path}"), file=sys.stderr)
    return 0


def _note(expeditions: Expeditions, options: argparse.Namespace) -> int:
    if options.withdraw:
        return _withdraw(expeditions, options)
    from kr_core.cli.ask import login_name

    by = options.by or login_name()
    axiom, against = expeditions.note(" ".join(options.text), by=by, session=options.session)
    if options.json:
        print(output.as_json(axiom.model_dump(mode="json")))
        return 0
    print(printable(f"{axiom.id} {round(axiom.confidence * 100)}/100, {axiom.category}: {axiom.statement}"))
    for one in against:
        print(printable(f"It conflicts with {one.id}: {one.statement}"), file=sys.stderr)
    return 0


def _withdraw(expeditions: Expeditions, options: argparse.Namespace) -> int:
    axiom = expeditions.withdraw(" ".join(options.text))
    if options.json:
        print(output.as_json(axiom.model_dump(mode="json")))
        return 0
    stays = "withdrawn" if axiom.status == "superseded" else "withdrawn; documents say it all the same"
    print(printable(f"{axiom.id} {stays}: {axiom.statement}"))
    return 0
