"""The renderer `markdown` renders a report with the template `reports/research.md.j2`; the project's own comes first.

Text from sources is data. It reaches the template as values, which Jinja never evaluates; `one_line` and `fenced` keep
it inside its paragraph or code block.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.plugin import Provider, hookimpl
from kr_core.toolkit import render_template

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kr_core.plugin import CodeExample, Renderer, Report

TEMPLATE = "reports/research.md.j2"

_CONTROLS = r"\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029"
_BREAKS = re.compile(rf"(?:(?<!\s)[^\S{_CONTROLS}]++)?[{_CONTROLS}][\s{_CONTROLS}]*+")
_BLOCK = re.compile(
    r"""\#                      # heading
      | ```|~~~                 # fence
      | >                       # quote
      | [-+*](?:\s|$)           # list
      | \*\*                    # a line such as `**Confidence:** high`, which readers of reports look for
      | (?:[-*_=]\s*){2,}$      # rule, or the underline that makes a heading of the line above
      | <                       # HTML: a comment or <script> would swallow what follows
      | \[.*\]:                 # definition: would turn each [1] of the report into a link
    """,
    re.VERBOSE,
)


def one_line(text: str) -> str:
    r"""A text as one paragraph that Markdown reads as plain text, whatever it begins with.

    Line breaks and control characters, with the blanks around them, become one space; a backslash goes before an
    opening that would start a heading, fence, quote, list, rule, bold label, HTML block or link definition. Everything else
    stays, so the text with its lines joined is found in the report as it is: `# x` in `\# x`. (`1. x` becomes a
    list of one item, which ends by itself: a backslash before it would be shown.)
    """
    line = _BREAKS.sub(" ", text).strip()
    return f"\\{line}" if _BLOCK.match(line) else line


def _without_marks(note: str) -> str:
    """A note without pictures, links and tags."""
    return note.replace("](", "] (").replace("<", "< ")


def fenced(example: CodeExample) -> str:
    """A code example as a block that nothing in the code can end, and its citation below it."""
    longest = max((len(run) for run in re.findall("`+", example.code)), default=0)
    fence = "`" * max(3, longest + 1)
    language = re.sub(r"[^\w+#.-]", "", example.language)
    code = example.code.strip("\n")
    return f"{fence}{language}\n{code}\n{fence}\n[{example.citation}]"


class Markdown:
    """Renders reports with Jinja.

    Args:
        template_folders: where the template is looked for, in order.
    """

    def __init__(self, template_folders: Iterable[Path]) -> None:
        self._folders = tuple(template_folders)

    def render(self, report: Report) -> str:
        """The report as Markdown; a skeleton where it holds nothing.

        Raises:
            ConfigError: the template is wrong.
        """
        return render_template(self._folders, TEMPLATE, **values(report))


def values(report: Report) -> dict[str, Any]:
    """What the template may use: every text is safe to stand on a line of its own.

    Single texts: `framework`, `topic`, `version`, `question`, `research_date`, `confidence`, `score`, `mark`.
    `has_summary_code`: whether `summary` holds code.
    Lists of texts: `sources`, `summary` (sentences and code, in the order in which they are read), `details`, `code`,
    `caveats`, `reasons`, `notes`.
    Lists of records: `attributions` (`url`, `via`, `finding`), `citations` (`n`, `url`, `locator`).
    """
    query, draft = report.query, report.draft
    return {
        "framework": one_line(query.framework),
        "topic": one_line(query.topic),
        "version": one_line(query.framework_version) or "unknown",
        "question": one_line(query.question),
        "research_date": report.research_date.isoformat(),
        "confidence": report.score.level,
        "score": report.score.score,
        "mark": one_line(report.mark or ""),
        "sources": list(dict.fromkeys(one_line(source.url) for source in report.sources)),
        "summary": [
            *(one_line(claim.text) for claim in draft.summary[: draft.code_after]),
            *map(fenced, draft.summary_code),
            *(one_line(claim.text) for claim in draft.summary[draft.code_after :]),
        ],
        "has_summary_code": bool(draft.summary_code),
        "details": [one_line(claim.text) for claim in draft.details],
        "code": [fenced(example) for example in draft.code],
        "caveats": [one_line(claim.text) for claim in draft.caveats],
        "reasons": [one_line(reason) for reason in report.score.reasons],
        "notes": [one_line(_without_marks(note)) for note in report.notes],
        "attributions": [
            {"url": one_line(source.url), "via": one_line(source.via), "finding": one_line(source.finding)}
            for source in report.sources
        ],
        "citations": [
            {"n": citation.n, "url": one_line(citation.url), "locator": one_line(citation.locator)}
            for citation in draft.citations
        ],
    }


@hookimpl
def kr_renderer() -> Provider[Renderer]:
    """Provide the renderer; it has no settings."""
    return Provider(lambda _settings, setup: Markdown(setup.template_folders))
