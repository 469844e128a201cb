"""What a person or a program sees of an expedition while it runs: lines of JSON, plain lines, or a live picture on a terminal."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Any, Self, cast

from kr_core.cli.output import ProgressLine, as_json, brief
from kr_core.expedition.provenance import ENDINGS, ending_of
from kr_core.model.expedition import (
    AxiomFound,
    AxiomMerged,
    ConflictFound,
    Converging,
    CycleStarted,
    Finished,
    Noted,
    SourceHit,
    Spent,
    Started,
    SubQueries,
    Synthesised,
)
from kr_core.terminal_text import Screen, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Group
    from rich.live import Live

    from kr_core.model import Event
    from kr_core.model.expedition import ExpeditionUpdate

__all__ = ["ExpeditionView", "JSONStream", "Lines", "LivePicture", "line_of", "view_of"]

_LATEST = 6
_WIDE = 110


class ExpeditionView:
    """Shows nothing until the end."""

    prints = False
    """Whether it writes to standard output itself."""
    begun = ""
    """The id of the expedition that is shown, as soon as it has one."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.clear()

    def event(self, event: Event) -> None:
        """An event of the pipeline: progress within a source."""

    def show(self, update: ExpeditionUpdate) -> None:
        """An update."""

    def end(self, finished: Finished) -> None:
        """Say how it ended, below the answer."""

    def clear(self) -> None:
        """Take away what moves."""


class JSONStream(ExpeditionView):
    """Each update as a line of JSON on standard output."""

    prints = True

    def show(self, update: ExpeditionUpdate) -> None:
        """Print the line at once: whoever reads a pipe waits for it."""
        print(as_json(update.model_dump(mode="json"), indent=None), flush=True)


class Lines(ExpeditionView):
    """Plain lines on standard error; with `verbose` every search and source call too."""

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose
        self._progress = ProgressLine(quiet=False, verbose=verbose)

    def event(self, event: Event) -> None:
        """What sources do, with `-v`."""
        if self._verbose:
            self._progress.show(event)

    def show(self, update: ExpeditionUpdate) -> None:
        """Print what it says, if it says something."""
        if isinstance(update, SourceHit) and not self._verbose:
            return
        if line := line_of(update):
            print(printable(line), file=sys.stderr, flush=True)

    def end(self, finished: Finished) -> None:
        """One line on how it ended, and where to look further."""
        print(printable(_ended(finished)), file=sys.stderr)

    def clear(self) -> None:
        """Nothing moves."""
        self._progress.clear()


class LivePicture(ExpeditionView):
    """A live picture on a terminal: the cycle, what is searched for, who answered, the latest axioms."""

    def __init__(self) -> None:
        self._live: Live | None = None
        self._head = ""
        self._cycle = ""
        self._queries: list[str] = []
        self._searched: dict[str, list[int]] = {}
        self._axioms: list[str] = []
        self._count = 0
        self._last = ""
        self._doing = ""

    def event(self, event: Event) -> None:
        """What a source reads at the moment."""
        if event.kind == "index.progress":
            data = event.data
            self._doing = f"reading {data['package']}: {data['done']} of {data['total']} files"
            self._draw()

    def show(self, update: ExpeditionUpdate) -> None:
        """Draw it anew."""
        match update:
            case Started():
                self._head = f"{update.id} {update.query}"
            case CycleStarted():
                again = " again" if update.attempt == 2 else ""
                self._cycle = f"cycle {update.cycle}{again}"
                self._searched, self._doing = {}, ""
            case SubQueries():
                self._queries = [query.text for query in update.queries]
            case SourceHit():
                told = self._searched.setdefault(update.source, [0, 0])
                told[0] += 1
                told[1] += update.passages
                self._doing = ""
            case AxiomFound() | AxiomMerged():
                self._count += isinstance(update, AxiomFound)
                self._axioms = [*self._axioms, line_of(update).strip()][-_LATEST:]
            case Converging() | Noted() | ConflictFound():
                self._last = line_of(update)
            case _:
                pass
        self._draw()

    def end(self, finished: Finished) -> None:
        """One line on how it came out, yellow without an answer, and where to look further."""
        colour = "32" if finished.answered and finished.axioms else "33"
        line = printable(_ended(finished))
        print(line if os.environ.get("NO_COLOR") else f"\033[{colour}m{line}\033[0m", file=sys.stderr)

    def clear(self) -> None:
        """Take the picture away."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _draw(self) -> None:
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            console = Console(
                file=cast("IO[str]", Screen(sys.stderr, moving=True)),
                no_color=bool(os.environ.get("NO_COLOR")),
            )
            self._live = Live(console=console, transient=True, refresh_per_second=8)
            self._live.start()
        self._live.update(self._picture())

    def _picture(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        def text(line: str, style: str = "") -> Any:
            return Text(printable(line), style=style, no_wrap=True, overflow="ellipsis")

        rows = [text(self._head, "bold"), text(f"{self._cycle}, {self._count} facts", "cyan")]
        rows += [text(f"  searching: {query}", "dim") for query in self._queries]
        rows += [
            text(f"  {source}: {searches} searches, {passages} passages")
            for source, (searches, passages) in self._searched.items()
        ]
        rows += [text(f"  {self._doing}", "dim")] if self._doing else []
        rows += [text(f"  {line}", "green") for line in self._axioms]
        rows += [text(self._last, "yellow")] if self._last else []
        return Group(*rows)


def view_of(*, quiet: bool, verbose: bool, json: bool) -> ExpeditionView:
    """The view for this command line and terminal."""
    if json:
        return JSONStream()
    if quiet:
        return ExpeditionView()
    if sys.stderr.isatty() and not verbose and os.environ.get("TERM") != "dumb":
        return LivePicture()
    return Lines(verbose=verbose)


def line_of(update: ExpeditionUpdate) -> str:
    """An update in one line; empty where a person need not know it."""
    line = _LINES.get(type(update))
    return line(update) if line else ""


def _started(update: Started) -> str:
    going = "goes on" if update.resumed else "begins"
    who = f", {update.agent} reads and writes" if update.agent else ""
    known = f", {update.known} axioms known" if update.known else ""
    return f"{update.id} {going}: {', '.join(update.sources) or 'no source'}{who}{known}"


def _cycle_started(update: CycleStarted) -> str:
    return f"cycle {update.cycle}{' again' if update.attempt == 2 else ''}"


def _sub_queries(update: SubQueries) -> str:
    return "\n".join(f"  searching: {query.text}" for query in update.queries)


def _source_hit(update: SourceHit) -> str:
    reason = f": {update.reason}" if update.reason else ""
    return f"  {update.source}: {update.outcome}, {update.passages} passages{reason}"


def _axiom_found(update: AxiomFound) -> str:
    return f"  + {update.axiom.id} {update.axiom.category}: {brief(update.axiom.statement, _WIDE)}"


def _axiom_merged(update: AxiomMerged) -> str:
    before, now = round(update.before * 100), round(update.axiom.confidence * 100)
    return f"  = {update.axiom.id} {before} -> {now}/100: {brief(update.axiom.statement, _WIDE)}"


def _conflict_found(update: ConflictFound) -> str:
    return f"  ! {update.first} conflicts with {update.second}"


def _converging(update: Converging) -> str:
    report, before = update.report, update.previous
    axioms = f"{report.new_axioms} new axioms" + (f" (before: {before.new_axioms})" if before else "")
    sources = f"{report.new_sources} new documents" + (f" (before: {before.new_sources})" if before else "")
    merged = f", {report.merged} confirmed" if report.merged else ""
    follows = {"continue": "goes on", "repeat": "is repeated"}.get(update.decision, "")
    ends = f"ends: {ENDINGS[update.rule]}" if update.rule else follows
    return f"  {axioms}{merged}, {sources}; {ends}"


def _spent(update: Spent) -> str:
    calls = f"{update.calls} calls, {update.calls_left} left" if update.calls else ""
    tokens = f"{update.tokens.total:,} tokens, {update.tokens_left:,} left" if update.tokens.total else ""
    return f"  spent: {', '.join(filter(None, (calls, tokens)))}" if calls or tokens else ""


def _noted(update: Noted) -> str:
    return f"note: {update.text}"


def _synthesised(update: Synthesised) -> str:
    return f"  written by {update.agent}" if update.agent else ""


_LINES: dict[type[ExpeditionUpdate], Callable[[Any], str]] = {
    Started: _started,
    CycleStarted: _cycle_started,
    SubQueries: _sub_queries,
    SourceHit: _source_hit,
    AxiomFound: _axiom_found,
    AxiomMerged: _axiom_merged,
    ConflictFound: _conflict_found,
    Converging: _converging,
    Spent: _spent,
    Noted: _noted,
    Synthesised: _synthesised,
}


def _ended(finished: Finished) -> str:
    spent = f", {finished.calls} calls" if finished.calls else ""
    spent += f", {finished.tokens:,} tokens" if finished.tokens else ""
    return (
        f"{ending_of(finished)}. {len(finished.axioms)} facts of {len(finished.sources)} documents{spent}. "
        f"Its tree: kr expedition show {finished.id}"
    )
