"""What people see: the answer on standard output, progress and notes on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import IO, TYPE_CHECKING, Any, Self, cast
from urllib.parse import quote

from kr_core import yaml_text
from kr_core.terminal_text import Screen, cleaned, columns, printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kr_core.model import Event, ResearchRequest, ResearchResult
    from kr_core.model.research import Results
    from kr_core.research.results import CompletedResearch

_RESULT_WIDTH = 100
_HEADING_WIDTH = 120
_BELOW_SURE = 4
"""How many passages KR shows below an answer at `high`."""
_BAR = re.compile(r"(?<!\\)\|")
_PACKAGE_URL = re.compile(r"^pkg:\w++/|@[^@]*$")
_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)(.*)")
_SPAN_OR_MARK = re.compile(r"(?<!`)(`+)(?!`)(?P<code>.+?)(?<!`)\1(?!`)|[\\`*_\[\]<>&~|]")

_STEERS = re.compile("[\x7f-\x9f\u2028-\u202e\u2060-\u206f\ud800-\udfff\U000e0000-\U000e01ef]")
"""What JSON lets stand as it is, and what steers a terminal or is no text."""


def as_json(value: Any, *, indent: int | None = 2) -> str:
    """Plain values as JSON, any script readable; what steers a terminal or turns the reading direction is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _STEERS.sub(lambda found: json.dumps(found[0])[1:-1], text)


def as_yaml(value: Any) -> str:
    """The same as YAML, with U+FFFD for it; YAML has no way to write a lone surrogate."""
    return yaml_text.dump(cleaned(value))


def answer(
    request: ResearchRequest, found: CompletedResearch, knowledge_base: Path, working_folder: Path
) -> str:
    """A result as a person reads it; in colour and wrapped on a terminal, plain Markdown in a pipe."""
    result = found.result
    results = result.results
    lines = [f"# {_heading(request, results)}", "", f"**{_confidence(result)}**", ""]
    if results.match is not None and results.match.warning and result.status == "cache-hit":
        lines += [f"Note: {results.match.warning}.", ""]
    lines += [results.summary or "No summary.", ""]
    if results.citations:  # without one, nothing was found
        from kr_core.cli.documentation import documentation  # with all words of `kr_core.text`

        passages = results.passages[:_BELOW_SURE] if results.confidence == "high" else results.passages
        lines += documentation(passages, request.query.question, results.summary, request.query.names)
    lines += _sources(results)
    if results.written_by is not None:
        lines += [f"Written by {results.written_by.told}", ""]
    lines += _report(result, knowledge_base, working_folder)
    text = printable("\n".join(lines).rstrip()) + "\n"
    return markdown(text) if sys.stdout.isatty() else text


def _heading(request: ResearchRequest, results: Results) -> str:
    query = request.query
    urls = [(one.url.lower(), one.version) for one in results.citations if one.version]
    # `pkg:npm/%40types/box@1.0` is another package than `box`
    own = [version for url, version in urls if _PACKAGE_URL.sub("", url) == quote(query.framework.lower())]
    others = [
        version for url, version in urls if not url.startswith("pkg:")
    ]  # a dependency may be all that is cited
    version = next(iter((*own, *others)), query.framework_version)
    subject = f"{query.framework} {version}" if version else query.framework
    kept = results.match.question if results.match is not None and results.cache_hit else None
    asked = query.question if "topic" in query.inferred else query.topic
    return f"{subject} - {brief_words(kept or asked, _HEADING_WIDTH)}"


def _sources(results: Results) -> list[str]:
    """The sources that the summary cites."""
    shown = [citation for citation in results.citations if f"[{citation.n}]" in results.summary]
    if not shown:
        return []
    listed = [
        f"- [{one.n}] {one.url} {one.locator}" + (f" `{one.symbol}`" if one.symbol else "") for one in shown
    ]
    return ["Sources:", "", *listed, ""]


def _report(result: ResearchResult, knowledge_base: Path, working_folder: Path) -> list[str]:
    """Where the report is kept, and how it was found; the report itself where it could not be kept."""
    results, is_hit = result.results, result.status == "cache-hit"
    if not results.report_path:
        text = results.report
        return ["KR could not store the report. This is the full text:", "", text] if text else []
    file = knowledge_base / results.report_path
    # a store may keep reports elsewhere than in files
    place = os.path.relpath(file, working_folder) if file.exists() else results.cache_entry_id
    lines = [f"{'From the knowledge base' if is_hit else 'Kept in'}: {place}"] if place else []
    is_kept = is_hit or (results.match is not None and results.match.stale and result.status == "degraded")
    if results.match is not None and is_kept:
        lines += ["", f"Matched: {results.match.told}"]
    return lines


def _confidence(result: ResearchResult) -> str:
    results = result.results
    score = f" ({results.score}/100)" if results.score is not None else ""
    said = f"Confidence: {results.confidence}{score}"
    return said if result.status in {"success", "cache-hit"} else f"{said}, status: {result.status}"


def markdown(text: str, *, tables: bool = False) -> str:
    """Markdown in colour and wrapped, for a terminal.

    Args:
        text: what is shown.
        tables: whether lines between `|` are rows of tables, and not as they are.
    """
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(
        force_terminal=not os.environ.get("NO_COLOR"),
        width=min(_RESULT_WIDTH, columns(sys.stdout, _RESULT_WIDTH)),
    )
    with console.capture() as captured:
        console.print(Markdown(_as_it_is(printable(text), tables=tables)))
    return captured.get()


def _as_it_is(text: str, *, tables: bool = False) -> str:
    """Markdown that shows prose and sources as they are: only code, headings, lists and the second paragraph are marked.

    `__init__.py` keeps its underscores and `<script>` is no element; a line that begins with a citation stays one.
    """
    lines: list[str] = []
    fence = ""
    for number, line in enumerate(text.split("\n")):
        edge = _FENCE.fullmatch(line)
        if fence:
            if edge and edge[1].startswith(fence) and not edge[2].strip():
                fence = ""
            lines.append(line)
        elif edge and "`" not in edge[2]:
            fence = edge[1]
            lines.append(line)
        elif tables and line.startswith("|"):
            cells = (_escaped(cell, after_blank=False) for cell in _BAR.split(line.strip("|")))
            lines.append(f"|{'|'.join(cells)}|")
        elif number == 2 and line.startswith("**") and line.endswith("**"):  # how sure KR is
            lines.append(line)
        else:
            if line.startswith("[") and lines and lines[-1]:
                lines[-1] += "  "
            lines.append(_escaped(line, after_blank=not lines or not lines[-1]))
    return "\n".join(lines)


def _escaped(line: str, *, after_blank: bool) -> str:
    inner = line.lstrip()
    indent = line[: len(line) - len(inner)]
    if after_blank and len(indent.expandtabs(4)) >= 4:  # else it would be a block of code
        indent = "\N{NO-BREAK SPACE}" * len(indent.expandtabs(4))
    return indent + _SPAN_OR_MARK.sub(lambda found: found[0] if found["code"] else f"\\{found[0]}", inner)


def brief_words(text: str, most: int) -> str:
    """The first words of a text, in one line, none of them cut."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    cut = line[:most]
    return f"{(cut.rpartition(' ')[0] or cut).rstrip(',;:.- ')}\N{HORIZONTAL ELLIPSIS}"


def brief(text: str, most: int) -> str:
    """The first words of a text, in one line, with nothing in it that steers a terminal."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def notes(result: ResearchResult, more: list[str], *, errors_only: bool, verbose: bool = False) -> None:
    """What went wrong, and unless told otherwise the notes of the run, on standard error.

    Which quotes KR dropped helps only a reader who wants all of it, or who gets no answer.
    """
    from kr_core.model import QUOTE_DROPPED

    for fault in result.errors:
        print(printable(f"kr: {fault.message}"), file=sys.stderr)
    if not errors_only:
        every = verbose or not result.results.citations
        kept = (
            note for note in result.results.degradation_notes if every or not note.startswith(QUOTE_DROPPED)
        )
        tell([*kept, *more])


def agreed(otherwise: str) -> bool:
    """Whether a person at the terminal says yes; without a terminal KR says how to go on."""
    if not sys.stdin.isatty():
        print(f"kr: there is no one to ask here; {otherwise}", file=sys.stderr)
        return False
    try:
        return input("Apply? [y/N] ").strip().casefold() in {"y", "yes"}
    except EOFError:
        return False


def tell(notes: Iterable[str]) -> None:
    """Print notes on standard error."""
    for note in notes:
        print(printable(f"note: {note}"), file=sys.stderr)


_MAX_TOLD_LENGTH = 120


class ProgressLine:
    """What a run is doing: a line that moves on a terminal, a line for each source call with `-v`, else nothing."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self._verbose = verbose and not quiet
        self._moving = sys.stderr.isatty() and not quiet
        self._status: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.clear()

    def show(self, event: Event) -> None:
        """Show an event; an observer of the pipeline."""
        if event.kind == "index.progress":
            done, total = event.data["done"], event.data["total"]
            if done in {0, total} or done % 10 == 0:
                self._line(f"reading {event.data['package']}: {done} of {total} files")
        elif event.kind == "source.started":
            self._say(f"asking {event.data['source']}")
        elif event.kind == "agent.started":
            self._say(f"asking {event.data['agent']}")
        elif event.kind == "agent.failed":
            self._say(f"{event.data['agent']}: {event.data['outcome']}: {event.data['reason']}")
        elif event.kind in {"escalation.opened", "exchange.finished"}:
            self.clear()  # a case is shown, or a human is asked
        elif event.kind in {"source.request", "agent.request"}:
            data = event.data
            came = data["error"] or f"{data['status'] or 'answered'}, {data['received']} bytes"
            came = "given up" if came.startswith("CancelledError") else came
            told = f" ({brief(data['sent'], _MAX_TOLD_LENGTH)})" if data["sent"] else ""
            self._say(f"  {data['method']} {data['url']}{told}: {came} in {data['seconds']:.1f} s")
        elif event.kind == "source.finished":
            data = event.data
            reason = f": {data['reason']}" if data["reason"] else ""
            kept = ", remembered" if data["remembered"] else ""
            self._say(f"{data['source']}: {data['outcome']}, {data['passages']} passages{kept}{reason}")

    def count(self, done: int, total: int) -> None:
        """Show how far a batch is."""
        self._say(f"{done} of {total} answered")

    def clear(self) -> None:
        """Take the moving line away."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _say(self, text: str) -> None:
        if self._verbose:
            self.clear()
            print(printable(text), file=sys.stderr)
        else:
            self._line(text)

    def _line(self, text: str) -> None:
        if not self._moving:
            return
        from rich.text import Text

        shown = Text(printable(text))  # as it is: what a service said may look like rich's markup
        if self._status is None:
            from rich.console import Console

            self._status = Console(file=cast("IO[str]", Screen(sys.stderr, moving=True))).status(shown)
            self._status.start()
        self._status.update(shown)
