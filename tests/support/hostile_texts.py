"""Texts that nobody writes by hand, and everything of KR that reads text which others wrote."""

from __future__ import annotations

import base64
import random
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SIGNS = "*_`[]()<>{}|#-=~\\/:;.,!?\"'@$%&+^0aA \t\r\n\f\x1f\x1e\u2028\xa0é漢"

TEXTS: dict[str, Callable[[int], str]] = {
    **{f"run of {sign!r}": lambda size, sign=sign: sign * size for sign in SIGNS},
    **{f"lines of {sign!r}": lambda size, sign=sign: f"{sign}\n" * (size // 2) for sign in SIGNS},
    **{f"words of {sign!r}": lambda size, sign=sign: f"a{sign} " * (size // 3) for sign in "*_`[](<>{|#-=~\\:.\"'@"},
    "hex": lambda size: random.Random(1).randbytes(size // 2).hex(),
    "base64": lambda size: base64.b64encode(random.Random(2).randbytes(size * 3 // 4)).decode(),
    "base64 in lines": lambda size: base64.encodebytes(random.Random(3).randbytes(size * 3 // 4)).decode(),
    "no spaces": lambda size: "Use`client.get(url,timeout=3)`,see[docs](https://a.example/x).:func:`a.b`=1" * (size // 74),
    "CamelCase": lambda size: "FooBar1" * (size // 7),
    "dotted": lambda size: "a.b_c." * (size // 6),
    "hyphens": lambda size: "well-known-" * (size // 11),
    "one long line of words": lambda size: "the timeout of a client is set by default " * (size // 42),
    "brackets nested": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "parentheses nested": lambda size: "(" * (size // 2) + ")" * (size // 2),
    "braces nested": lambda size: '{"a":' * (size // 6) + "1" + "}" * (size // 6),
    "calls nested": lambda size: "f(" * (size // 3) + ")" * (size // 3),
    "quotes nested": lambda size: "> " * (size // 2) + "x",
    "list nested": lambda size: "\n".join("  " * min(depth, 500) + "- x" for depth in range(size // 504 + 1)),
    "tags nested": lambda size: "<div>" * (size // 11) + "x" + "</div>" * (size // 11),
    "tags never closed": lambda size: "<div><p><b>x" * (size // 12),
    "tags begun": lambda size: "<a href=" * (size // 8),
    "tags quoted": lambda size: '<a x=">" ' * (size // 9),
    "scripts never closed": lambda size: "<script>x" * (size // 9),
    "comments never closed": lambda size: "<!-- x " * (size // 7),
    "comments of code": lambda size: "/* x " * (size // 5),
    "JSDoc": lambda size: "/** @param {a} b - c\n" * (size // 21),
    "links begun": lambda size: "[a](" * (size // 4),
    "pictures begun": lambda size: "![![" * (size // 4),
    "references": lambda size: "[a][b" * (size // 5),
    "roles": lambda size: ":a:`b <c" * (size // 8),
    "fences never closed": lambda size: "```py\n~~~x\n" * (size // 11),
    "fences ever longer": lambda size: "\n".join("`" * length for length in range(3, int((2 * size) ** 0.5))),
    "headings": lambda size: "# a\n\nx y\n" * (size // 9),
    "underlines": lambda size: "a\n===\nb\n---\n" * (size // 12),
    "directives": lambda size: ".. note::\n   x\n" * (size // 14),
    "grid tables": lambda size: "+--+--+\n|a |b |\n" * (size // 16),
    "simple tables": lambda size: "== ==\na  b\n" * (size // 11),
    "row of many cells": lambda size: "|a|b|\n|-|-|\n" + "|x" * (size // 2) + "|",
    "table of many columns": lambda size: "|x" * (size // 5) + "|\n" + "|-" * (size // 5) + "|\n|1|2|\n",
    "rows": lambda size: "|a|b|\n|-|-|\n" + "|x|y|\n" * (size // 6),
    "steps": lambda size: "1. do it\n" * (size // 9),
    "fields": lambda size: ":param x: y\n" * (size // 12),
    "Google parameters": lambda size: "Args:\n" + "    x (a): y\n" * (size // 13),
    "Google parameters begun": lambda size: "Args:\n    x" + "(a" * (size // 2),
    "NumPy parameters": lambda size: "Parameters\n----------\n" + "x : int\n    y\n" * (size // 14),
    "prompts": lambda size: ">>> f(x)\n1\n" * (size // 11),
    "CRLF": lambda size: "a b\r\n\r\n" * (size // 7),
    "CR and LF": lambda size: "\r\n\n\r" * (size // 4),
    "separators": lambda size: "a\x1fb\x1e\x1c\x85\u2028" * (size // 7),
    "escapes": lambda size: "\x1b[31m\x9b0m\\x1b" * (size // 13),
    "commands": lambda size: "/kr confirm E1@1\n" * (size // 17),
    "commands quoted": lambda size: "> a\n/kr chat E1 `x`\n" * (size // 20),
    "lessons": lambda size: "- [a] [b] x ref: y\n" * (size // 19),
    "questions of a specification": lambda size: "[NEEDS CLARIFICATION: a " * (size // 24),
    "clarifications": lambda size: "## Clarifications\n" + "- Q: a -> b \u2192 " * (size // 14),
    "secrets begun": lambda size: "-----BEGIN PRIVATE KEY password=" * (size // 32),
    "paths": lambda size: "/ a/ " * (size // 5),
    "times": lambda size: "1:2.3-4 " * (size // 8),
    "types": lambda size: "export interface A<T extends B<T>> { a(b: C): D }\n" * (size // 50),
    "types begun": lambda size: "export type A = {a: " * (size // 20),
    "generics begun": lambda size: "export type A = " + "B<" * (size // 2),
    "decorators": lambda size: "@a(\n" * (size // 4),
    "strings begun": lambda size: "'''\"\"\"" * (size // 6),
    "aliases": lambda size: "*a &a " * (size // 6),
    "flows": lambda size: "a: [" * (size // 4),
    "words that differ": lambda size: " ".join(f"w{number}x" for number in range(size // 7)),
    "lines that differ": lambda size: "\n".join(f"w{number} is x" for number in range(size // 13)),
    "dotted key": lambda size: "a." * (size // 2) + "z = 1",
    "dotted header": lambda size: "[" + "a." * (size // 2) + "z]",
    "dotted key in a table": lambda size: "x = {" + "'a' . " * (size // 6) + "z = 1}",
    "packages": lambda size: '[[package]]\nname = "a"\nversion = "1"\n\n' * (size // 38),
    "entries": lambda size: '"a@^1":\n  version "1"\n  resolution: "a@' * (size // 36),
    "dependencies begun": lambda size: "implementation( platform( 'a:b" * (size // 30),
    "assignments begun": lambda size: "val a: String = ext.b = " * (size // 24),
    "requirements": lambda size: "a[b,c] >=1, <2 ; x == '1' #egg=\n" * (size // 32),
    "modules": lambda size: "require (\n\ta v1\n" * (size // 16),
    "sentences": lambda size: "It is so. " * (size // 10),
    "sentences without words": lambda size: ". ! ? " * (size // 6),
}  # fmt: skip


@cache
def readers() -> dict[str, Callable[[str], object]]:
    """What reads text of others, by what it does."""
    groups = (_of_evidence, _of_words, _of_documents, _of_people, _of_packages, _of_sources, _of_projects)
    return {name: reader for group in groups for name, reader in group().items()}


def _of_evidence() -> dict[str, Callable[[str], object]]:
    from kr_core.cli.excerpt import excerpt
    from kr_core.cli.output import markdown as shown
    from kr_core.evidence.asked_words import AskedWords
    from kr_core.evidence.citations import holds, holds_code
    from kr_core.evidence.code_examples import language_of, shortest_example
    from kr_core.evidence.generated import unsupported
    from kr_core.evidence.sentences import is_pointer, prose, says_something, sentences, shortened, steps
    from kr_core.evidence.soft_errors import refusal
    from kr_core.evidence.summary import compose
    from kr_core.evidence.verification import verify
    from kr_core.expedition.facts import comparison, extraction
    from kr_core.expedition.facts.axiom import category_of
    from kr_core.expedition.query_expansion import first_queries
    from kr_core.markup.rst_tables import rest_rows, without_lists
    from kr_core.markup.tables import rows
    from kr_core.model import Finding, Outcome, Passage, ResearchQuery

    asked = ResearchQuery(
        question="What is the default timeout of a client?",
        framework="box",
        framework_version="1",
        topic="timeout",
        tags=("timeout",),
    )

    def composed(text: str) -> object:
        passage = Passage(text=text, url="https://a.example/", lead=text, code=(text,), coverage=0.9)
        return compose(asked, [("web", Finding(outcome=Outcome.ok, passages=(passage,)))])

    def example(text: str) -> object:
        return shortest_example(
            Passage(
                text=text,
                url="https://a.example/",
                code=(text,),
                symbol="a.f",
                parameter="x",
                kind="parameter",
            ),
            [],
            AskedWords("timeout", []),
        )

    return {
        "composing an answer": composed,
        "the shortest example": example,
        "an excerpt": lambda text: excerpt(text, {"timeout": 1.0, "x": 0.5}),
        "Markdown for a terminal": shown,
        "the language of code": lambda text: language_of(text, "x = 1"),
        "looking a quote up": lambda text: holds(text, "`x` is so"),
        "looking up a long quote": lambda text: holds("x", text),
        "looking code up": lambda text: holds_code(text, "x\ny"),
        "a refusal": lambda text: refusal(text, "x"),
        "tables": rows,
        "reStructuredText's tables": rest_rows,
        "text without lists": without_lists,
        "prose": prose,
        "sentences": sentences,
        "sentences one by one": lambda text: [
            (says_something(one), is_pointer(one)) for one in sentences(text)
        ],
        "a long sentence": lambda text: (says_something(text), is_pointer(text), shortened(text, 200)),
        "steps": steps,
        "a report": lambda text: verify(
            text, {"passages": {}, "citations": [], "claims": [], "research_query": "x"}
        ),
        "what is unsupported": lambda text: unsupported(text[:400], [text], [text]),
        "a statement's category": category_of,
        "what a statement means": comparison.normalised,
        "comparing statements": lambda text: comparison.compared(text[:400], f"{text[:399]} x"),
        "a statement's instructions": extraction.instructs,
        "telling outright": lambda text: extraction.tells_outright("Is x the default?", text),
        "dated statements": extraction.dated,
        "first queries": first_queries,
    }


def _of_words() -> dict[str, Callable[[str], object]]:
    from kr_core.agents import prompts
    from kr_core.agents.personas import stripped
    from kr_core.knowledge import matching
    from kr_core.lessons import file as lessons
    from kr_core.net.redaction import redacted
    from kr_core.project import version_gaps, version_ranges
    from kr_core.question.topics import topic_and_tags
    from kr_core.search.passage_index import IndexedPassage, build, searchable
    from kr_core.search.ranking import rank
    from kr_core.search.terms import question_terms
    from kr_core.search.thesaurus import expand
    from kr_core.terminal_text import printable
    from kr_core.text import content_words, root_of, split_identifier, stem, stems
    from kr_core.yaml_text import check_bounds

    def ranked(text: str) -> object:
        passages = [IndexedPassage(kind="section", title="x", text=text, locator="x", name="x")]
        index = build(None, passages)
        return rank(index, question_terms(index, "What is the default timeout of w1x?"))

    few = build(None, [IndexedPassage(kind="section", title="x", text="a timeout", locator="x", name="x")])
    return {
        "searching a passage": ranked,
        "terms of a question": lambda text: question_terms(few, text),
        "terms without names": lambda text: question_terms(few, text, without=["a", "w1x"]),
        "the thesaurus": expand,
        "words of an index": searchable,
        "content words": content_words,
        "stems": stems,
        "one word": lambda text: (stem(text), root_of(text), split_identifier(text)),
        "printable text": printable,
        "redaction": redacted,
        "a fence in a prompt": prompts.fenced,
        "a persona": stripped,
        "keywords": matching.keywords,
        "a subject": lambda text: matching.subject("box", text, (text,)),
        "a topic": lambda text: topic_and_tags(text, "box"),
        "a version": version_gaps.parse,
        "a range": lambda text: version_ranges.allows(text, "1.2.3", "npm"),
        "a range of Python": lambda text: version_ranges.allows(text, "1.2.3", "pypi"),
        "lessons": lessons.parse,
        "a lesson's summary": lessons.canonical_summary,
        "a lesson's path": lessons.canonical_path,
        "the depth of YAML": check_bounds,
    }


def _of_documents() -> dict[str, Callable[[str], object]]:
    from kr_core.markup import html
    from kr_core.model import Page
    from kr_core.net.main_text import _read
    from kr_core.search.documents import loaders, tokenizer
    from kr_core.search.documents.encoding import packed
    from kr_core.server.web.markdown_html import to_html
    from kr_plugins.sources import document_metadata, sections

    def document(name: str, text: str) -> object:
        read = loaders.read(name, text.encode("utf-8", "replace"))
        return list(packed("/docs", name, read.title, read.pieces))

    def page(text: str) -> object:
        return list(html.with_blocks(html.beginning(html.parts(text))))

    return {
        **{
            f"a document {name}": lambda text, name=name: document(name, text)
            for name in (
                "a.md",
                "a.rst",
                "a.html",
                "a.txt",
                "a.py",
                "a.js",
                "a.c",
                "a.sh",
                "a.ipynb",
                "a.csv",
                "a.tex",
            )
        },
        "words of a document": tokenizer.searchable,
        "what is asked of documents": tokenizer.asked,
        "parts of a page": page,
        "a page as Markdown": lambda text: html.markdown(page(text)),
        "attributes of a tag": html.attributes,
        "the text of a page": lambda text: _read(Page("https://a.example/", text, "text/html")),
        "Markdown in the browser": to_html,
        "sections of a text": lambda text: list(sections.sections_of(sections.AnswerText(text, "x"))),
        "searching a text": lambda text: sections.search(
            [sections.AnswerText(text, "x")], "What is the timeout of w1x?", url="https://a.example/"
        ),
        "what a document states": document_metadata.stated,
        "what a page states": document_metadata.stated_by_page,
    }


def _of_people() -> dict[str, Callable[[str], object]]:
    import datetime as dt

    from kr_core.escalation.commands import read_replies
    from kr_core.escalation.sanitize import harmless, harmless_line, quoted
    from kr_core.markup.markdown import outside
    from kr_core.speckit.spec_parser import answers_in, read
    from kr_core.speckit.writer import with_answers
    from kr_core.team.assembler import MessageAssembler
    from kr_plugins.renderers.markdown import one_line
    from support.spec_files import questions_in

    return {
        "replies": lambda text: read_replies(f"/kr chat E1\n\n/kr correct E1\n{text}", ["E1"]),
        "the beginning of a reply": lambda text: read_replies(f"/kr {text}", ["E1"]),
        "a reply's text": lambda text: read_replies(f"/kr correct E1 {text}", ["E1"]),
        "text outside of quotes": lambda text: outside(text.split("\n")),
        "harmless text": lambda text: (harmless(text), harmless_line(text), quoted(text)),
        "questions of a specification": questions_in,
        "answers in a specification": answers_in,
        "answers for a specification": lambda text: with_answers(text, [("x?", "y")], dt.date(2026, 1, 1)),
        "open fields of a specification": lambda text: read(
            f"**A**: {text}\n| a | {text} |\n[NEEDS CLARIFICATION]{text}"
        ),
        "an answer in place of a marker": lambda text: with_answers(
            "[NEEDS CLARIFICATION: x?]\n", [("x?", text)], dt.date(2026, 1, 1)
        ),
        "lines of a team": lambda text: [
            *map(MessageAssembler().take, [f"RESEARCH_REQUEST: {{{text}", *text.split("\n"), text])
        ],
        "a line of a report": one_line,
    }


def _of_packages() -> dict[str, Callable[[str], object]]:
    from kr_plugins.sources.installed_docs import text_sections
    from kr_plugins.sources.installed_docs.code_blocks import code_blocks
    from kr_plugins.sources.installed_docs.node import declarations_parser, readmes, tsdoc
    from kr_plugins.sources.installed_docs.pages import html_sections as pages
    from kr_plugins.sources.installed_docs.python import docstrings
    from kr_plugins.sources.installed_docs.python.module_parser import Unreadable, read_module
    from kr_plugins.sources.installed_docs.python.module_passages import make
    from kr_plugins.sources.installed_docs.python.public_names import PublicNames
    from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget
    from kr_plugins.sources.installed_docs.text_sections import TextFile, text_passages

    def module(text: str) -> object:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "box.py")
            file.write_text(text, encoding="utf-8", errors="replace")
            try:
                modules = {"box": read_module(file, "box", "box.py")}
            except Unreadable:
                return None
        return make(modules, PublicNames(modules, ["box"]), ReadingBudget())

    def documented(text: str) -> object:
        return module(f"def f(x=1, *, y: int = 2):\n    {text!r}\n\n\nclass A:\n    {text!r}\n")

    def readme(text: str) -> object:
        return make({}, PublicNames({}, []), ReadingBudget(), [TextFile("README", "README.md", text)])

    return {
        "a README of Python": readme,
        "a README of JavaScript": lambda text: list(readmes.sections(TextFile("README", "README.md", text))),
        "sections of a docstring": lambda text: list(text_passages(TextFile("x", "x", text), docstring=True)),
        "a docstring": documented,
        "a docstring by itself": lambda text: docstrings.parse(docstrings.clean(text)[0]),
        "a module": module,
        "a module's expression": lambda text: module(f"x = {text}"),
        "code blocks": lambda text: code_blocks(text.split("\n")),
        "headed sections": text_sections.sections,
        "a comment of TypeScript": lambda text: tsdoc.parse(f"/**\n{text}\n*/", 1),
        "types": declarations_parser.read,
        "a type": lambda text: declarations_parser.read(f"export declare function f(a: {text}"),
        "a page of a package": lambda text: pages.pieces(pages.parse(text)),
    }


def _of_sources() -> dict[str, Callable[[str], object]]:
    import datetime as dt

    from kr_core.model.outside import ToolResult
    from kr_plugins.sources.context7.snippets import snippets_in
    from kr_plugins.sources.deepwiki import told
    from kr_plugins.sources.local_docs import _documented, _fenced, _lead
    from kr_plugins.sources.web_search.site_corroboration import PlacedPassage, agreements
    from kr_plugins.stores.files import repair, reports

    return {
        "a snippet": lambda text: snippets_in(
            {
                "codeSnippets": [
                    {
                        "codeTitle": text,
                        "codeDescription": text,
                        "codeList": [{"code": text, "language": "x"}],
                    }
                ]
            }
        ),
        "a passage of a document": lambda text: (_documented(f'"""{text}'), list(_fenced(text)), _lead(text)),
        "agreement": lambda text: agreements(
            [PlacedPassage("a.example", text, text), PlacedPassage("b.example", text, text)], "x"
        ),
        "a report's entry": lambda text: reports.entry_of(
            "frameworks/a/b.md", text, undated=dt.date(2026, 1, 1)
        ),
        "an index": lambda text: repair.salvaged(text, dt.date(2026, 1, 1)),
        "an answer of a wiki": lambda text: told(
            ToolResult(text, None, False), "What is the timeout?", "a/b"
        ),
    }


def _of_projects() -> dict[str, Callable[[str], object]]:
    from kr_core.project.lockfiles import formats
    from kr_core.project.lockfiles.pins import UnreadableError

    def lock_file(name: str, text: str) -> object:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, name)
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8", errors="replace")
            try:
                return formats.read(file)
            except UnreadableError:
                return None

    return {each.name: lambda text, name=each.name: lock_file(name, text) for each in formats.FORMATS}
