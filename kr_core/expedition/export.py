"""A finished expedition as a file to hand on: its report, and the quotes that each fact rests on."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from kr_core.errors import ConfigError
from kr_core.expedition.facts.corroboration import where
from kr_core.expedition.provenance import ending_of
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from pathlib import Path

    from kr_core.expedition.service import Expeditions, StoredExpedition
    from kr_core.model.expedition import Axiom, Finished

__all__ = ["SUFFIXES", "exported"]

SUFFIXES = (".md", ".html")
_STYLE = (
    "body{max-width:52rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif;color:#222;background:#fff}"
    "code{background:#f3f3f3;padding:.1em .25em;border-radius:.2em}table{border-collapse:collapse;display:block;overflow-x:auto}"
    "td,th{border:1px solid #ccc;padding:.3rem .6rem;text-align:left;vertical-align:top}blockquote{margin:.3rem 0 .6rem 1rem;color:#555}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}code{background:#2a2a2a}td,th{border-color:#444}blockquote{color:#aaa}}"
)


def exported(kept: StoredExpedition, expeditions: Expeditions, path: Path) -> str:
    """The text of a file: Markdown or a page without any other file, as its name ends.

    Args:
        kept: the expedition.
        expeditions: the project's.
        path: the file; nothing is written.

    Raises:
        ConfigError: the expedition has not ended, or the name ends otherwise.
    """
    if path.suffix not in SUFFIXES:
        raise ConfigError(
            "ends in neither .md nor .html", where=str(path), hint="name a file such as report.md"
        )
    done = kept.finished
    if done is None:
        raise ConfigError("has not ended", where=kept.id, hint=f"`kr expedition resume {kept.id}` goes on")
    axioms = expeditions.found(kept)
    return _markdown(done, axioms) if path.suffix == ".md" else _page(done, axioms)


def _markdown(done: Finished, axioms: list[Axiom]) -> str:
    lines = [done.answer.rstrip(), "", "## What each fact rests on", ""]
    for axiom in axioms:
        lines.append(f"- {axiom.id}: {' '.join(axiom.statement.split())}")
        lines += [f'  - {signal.type} {where(signal)}: "{signal.quote}"' for signal in axiom.signals]
    return printable("\n".join([*lines, "", f"{ending_of(done)} ({done.id})"])) + "\n"


def _page(done: Finished, axioms: list[Axiom]) -> str:
    """One HTML file, without scripts: the report, and below it each fact with its quotes, to open."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    body = parser.render(printable(done.answer))
    facts = "".join(_fact(axiom) for axiom in axioms)
    title = escape(printable(done.query))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>\n{body}\n<h2>What each fact rests on</h2>\n{facts}"
        f"<p>{escape(ending_of(done))} ({escape(done.id)})</p>\n</body></html>\n"
    )


def _fact(axiom: Axiom) -> str:
    signals = "".join(
        f"<p>{escape(signal.type)} {escape(printable(where(signal)))}</p><blockquote>{escape(printable(signal.quote))}</blockquote>"
        for signal in axiom.signals
    )
    return f"<details><summary>{escape(axiom.id)}: {escape(printable(axiom.statement))}</summary>{signals}</details>\n"
