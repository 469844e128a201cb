"""What Context7 gives for a question, as pieces of text with the place they come from.

All of it is text from outside: nothing is followed or run, `rules` (what a library's owners want to say to models) is not
read, and an address that is none of the web is not shown.
"""

from __future__ import annotations

import re
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from kr_core.plugin import Passage
from kr_core.toolkit import IndexedPassage, build_index, question_terms, rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.plugin import ResearchQuery
    from kr_core.toolkit import PassageIndex, Term
    from kr_plugins.sources.context7.libraries import Library
    from kr_plugins.sources.context7.library_versions import RequestedVersion

_MOST = 100
"""So many snippets of a kind are read; the service sends the best first, and some ten."""
_LONGEST = 20_000
"""Characters; a longer snippet is a file, and no passage."""
_MAX_TITLE_LENGTH = 200
_MAX_URL_LENGTH = 1000
_NUMBER = re.compile(r"#_snippet_\d+$")
_LANGUAGE = re.compile(r"\w[\w+#-]{0,29}")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_NO_PROSE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|[|<>]|!\[|[-=*_]{3,}[ \t]*$)")
"""What begins a paragraph that explains nothing: a heading, a table, a quote, HTML, a picture, a rule."""


_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f]")
_ABOUT = 0.4
"""What holds less of the question is not about it."""
_NEAR = 0.25
"""Where nothing is about it, the two that are nearest are shown, if they hold so much; the chain goes on all the same."""
_SHOWN = 6
_HELD = 0.5
"""What a word counts that a snippet holds, against 1 for one that it does not hold."""
_WEAK = 0.3
"""What ordinary English counts against words that say what the question is about."""


class Snippet(NamedTuple):
    """A piece of documentation."""

    text: str
    """Verbatim, as Markdown; code between fences."""
    title: str
    lead: str
    """Its first paragraph of prose, folded into one line; empty where there is none."""
    code: tuple[str, ...]
    """What stands between its fences."""
    url: str
    """Where it comes from; empty where the service names no page of the web."""
    locator: str
    """The heading or page that it stands under."""


def snippets_in(body: dict[str, Any]) -> list[Snippet]:
    """The snippets of an answer, each text once; what is not of the known form is left out."""
    found = [*map(_of_code, _list(body, "codeSnippets")), *map(_of_prose, _list(body, "infoSnippets"))]
    return list({one.text: one for one in found if one is not None and one.text}.values())


def _of_code(value: Any) -> Snippet | None:
    if not isinstance(value, dict):
        return None
    title, description = _line(value.get("codeTitle")), _text(value.get("codeDescription"))
    language = value.get("codeLanguage")
    blocks = [
        (_text(block.get("code"), strip="\n"), block.get("language") or language)
        for block in _list(value, "codeList")
        if isinstance(block, dict)
    ]
    blocks = [(code, told) for code, told in blocks if code.strip()]
    if not blocks:
        return None
    said = description or title  # what has no description is explained by its title alone
    text = "\n\n".join([*([said] if said else []), *(_fenced(code, told) for code, told in blocks)])
    if len(text) > _LONGEST:
        return None
    page = _line(value.get("pageTitle"))
    return Snippet(
        text=text,
        title=title or page,
        lead=_lead(said),
        code=tuple(textwrap.dedent(code) for code, _told in blocks),
        url=_address(value.get("codeId")),
        locator=page or title,
    )


def _of_prose(value: Any) -> Snippet | None:
    if not isinstance(value, dict):
        return None
    text, trail = _text(value.get("content")), _line(value.get("breadcrumb"))
    if len(text) > _LONGEST:
        return None
    return Snippet(
        text=text,
        title=trail,
        lead=_lead(text),
        code=tuple(_code_in(text)),
        url=_address(value.get("pageId")),
        locator=trail or _line(value.get("pageTitle")),
    )


def _fenced(code: str, language: Any) -> str:
    """Code between fences that are longer than any in it."""
    longest = max((len(found) for found in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    named = _LANGUAGE.fullmatch(language) if isinstance(language, str) else None
    return f"{fence}{named[0] if named else ''}\n{code}\n{fence}"


def _lead(text: str) -> str:
    for paragraph, fenced in _blocks(text):
        folded = " ".join(paragraph.split())
        if folded and not fenced and not _NO_PROSE.match(paragraph):
            return folded
    return ""


def _code_in(text: str) -> Iterator[str]:
    for block, fenced in _blocks(text):
        if fenced and block.strip():
            yield textwrap.dedent(block).strip("\n")


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """The paragraphs of a text and what stands between its fences, in order, and whether it is the latter."""
    lines: list[tuple[str, int]] = []
    fence, number = "", 0
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not line.strip(" \t`~"))):
            fence = "" if fence else mark[1]
            number += 1
            continue
        if not fence and not line.strip():
            number += 1
            continue
        lines.append((line, 2 * number + bool(fence)))
    for key, group in groupby(lines, lambda one: one[1]):
        yield "\n".join(line for line, _key in group), bool(key % 2)


def _address(value: Any) -> str:
    """The page of a snippet's id; empty where that is no address of the web, or bears a password."""
    url = _NUMBER.sub("", value) if isinstance(value, str) else ""
    if (
        len(url) > _MAX_URL_LENGTH
        or not re.fullmatch(r"https?://[!-~]+", url)
        or re.search(r"[\"<>\\^`{|}]", url)
    ):
        return ""
    try:
        parts = urlsplit(url)
        return url if parts.hostname and "@" not in parts.netloc else ""
    except ValueError:
        return ""


def _list(value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return found[:_MOST] if isinstance(found, list) else []


def _line(value: Any) -> str:
    return " ".join(_text(value).split())[:_MAX_TITLE_LENGTH]


def _text(value: Any, *, strip: str | None = None) -> str:
    """A text with plain line ends, without control characters and lone surrogates; empty for what is none."""
    if not isinstance(value, str):
        return ""
    lines = value.replace("\r\n", "\n").replace("\r", "\n")
    shown = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", lines)  # else a blank to some, and none to others
    return shown.encode("utf-8", "replace").decode().strip(strip)


class RelevantSnippets(NamedTuple):
    """What is about the question."""

    passages: tuple[Passage, ...]
    missing: tuple[str, ...]
    """Words of the question that stand in no snippet."""


class _SnippetHit(NamedTuple):
    snippet: Snippet
    coverage: float
    covered: frozenset[str]


def answer(
    snippets: Sequence[Snippet], library: Library, chosen: RequestedVersion, query: ResearchQuery
) -> RelevantSnippets:
    """Rank the snippets by KR's own search; what is not about the question is dropped."""
    if not snippets:
        return RelevantSnippets((), ())
    index = build_index(None, map(_indexed, range(len(snippets)), snippets))
    try:
        names = {query.framework, library.title} - {""}
        terms = question_terms(index, query.question, without=names) or question_terms(index, query.question)
        coverage = _coverage(index, terms)
        ranked = [(found.passage.data["place"], found.covered) for found in rank(index, terms, len(snippets))]
    finally:
        index.close()
    hits = [_SnippetHit(snippets[place], coverage[place], covered) for place, covered in ranked]
    # among those that hold as much of the question, the search has put the better first
    hits.sort(key=lambda hit: -round(hit.coverage, 1))
    hits = [hit for hit in hits if hit.coverage >= _ABOUT] or [hit for hit in hits if hit.coverage >= _NEAR][
        :2
    ]
    missing = tuple(term.word for term in terms if not term.known and not term.weak)
    return RelevantSnippets(tuple(_passage(hit, library, chosen) for hit in hits[:_SHOWN]), missing)


def _coverage(index: PassageIndex, terms: Sequence[Term]) -> dict[int, float]:
    """How much of the question each snippet holds, 0-1, by its place.

    Rarity, by which KR's search weighs words, misleads here. The service chose these few snippets by the question, so what
    stands in all of them is not common: it is the subject. And one that does not stand in a snippet counts twice as
    much as one that does, since without it the snippet is likely about something else: what sets the height of a row
    does not set its colour. A word of the same meaning counts in part.
    """
    held: dict[int, dict[str, float]] = {}
    for term in terms:
        for root, likeness in term.alike.items():
            for number, _field in index.postings(root):
                words = held.setdefault(number, {})
                words[term.word] = max(likeness, words.get(term.word, 0.0))
    single = [term for term in terms if " " not in term.word]
    return {
        hit.passage.data["place"]: _share(single, held.get(hit.id, {}))
        for hit in index.get(range(1, index.size + 1))
    }


def _share(terms: Sequence[Term], held: dict[str, float]) -> float:
    weights = [(_WEAK if term.weak else 1.0, min(1.0, held.get(term.word, 0.0))) for term in terms]
    gained = sum(weight * _HELD * likeness for weight, likeness in weights)
    lost = sum(weight * (1.0 - likeness) for weight, likeness in weights)
    return gained / (gained + lost) if gained else 0.0


def _indexed(place: int, snippet: Snippet) -> IndexedPassage:
    return IndexedPassage(
        kind="section",
        # no two are alike, and ties are broken by the service's own order
        title=f"{place:03} {snippet.title}",
        text=snippet.text,
        locator=snippet.locator,
        name=snippet.title,
        lead=snippet.lead,
        code=snippet.code,
        data={"place": place},
    )


def _passage(hit: _SnippetHit, library: Library, chosen: RequestedVersion) -> Passage:
    snippet = hit.snippet
    return Passage(
        text=snippet.text,
        url=snippet.url or library.page(chosen.tag),
        locator=snippet.locator,
        title=snippet.title,
        lead=snippet.lead,
        kind="section",
        code=snippet.code,
        version=chosen.version,
        official=library.official,
        coverage=hit.coverage,
        covered=hit.covered,
    )
