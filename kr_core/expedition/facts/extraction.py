"""Facts taken from passages without a language model: the sentences that say most about the question.

A sentence is taken as it stands, never put together of pieces. Where it does not say what it is about, the title or symbol
of its passage, which is the source's own word for it, is put before it. Directives of reStructuredText that tell in which
version something came or went are read as the sentences that they print.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.citations import folded, holds, plain
from kr_core.evidence.sentences import documentation, is_pointer, prose, says_something, sentences, steps
from kr_core.expedition.facts.axiom import of_quote
from kr_core.expedition.facts.relevance import denies, fit_of
from kr_core.expedition.passage_pool import page_of, title_of
from kr_core.markup.rst_tables import rest_rows, without_lists
from kr_core.markup.tables import rows
from kr_core.question.analysis import asks_default, asks_since, spelled_in
from kr_core.text import roots

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.expedition.facts.relevance import Fit
    from kr_core.expedition.passage_pool import PassagePool, PoolEntry
    from kr_core.model import Passage
    from kr_core.model.expedition import Axiom

__all__ = [
    "dated",
    "directives",
    "extracted",
    "instructing",
    "instructs",
    "marks",
    "tells_outright",
    "warnings",
]

_EACH = 3
"""Sentences of one passage, for each part of the question."""
_MOST = 20
"""Of one cycle, for each part of the question."""
_LEAST = 0.2
"""Share of the question that a sentence must say, its title included."""
_OWN = 0.1
"""And that it must say itself."""
_OWN_BELOW_TITLE = 0.18
"""The same where the title says some of it for every sentence below it."""
_NEAR_BEST = 0.5
"""And what it must be worth beside the best sentence so far."""
_SHORTEST, _LONGEST = 20, 400
_OUTRIGHT = 0.5
"""What a sentence that tells a version, or a default, is worth more, of what it says of the question, where that asks for such."""
_SHORTEST_FACT = 10
"""`Added in: v15.4.0`, `Keys do not expire.`, `Default: 0`"""
_MIN_DENYING = 3
"""Words of a sentence that denies: `Keys never expire.`"""
_MIN_ITEM = 5
"""Words of an item of a list that begins with a small letter: `signal <AbortSignal> allows aborting the process`."""
_END_OF_ITEM = re.compile(r"(?:;|,)(?: and| or)?$")
_GOES_ON = re.compile(
    r"(?:and|or|but|nor|so|yet|which|who|whose|where|when|while|then|than|that|if|is|are|was|were|has|have|had|will|would|can|could|may|might"
    r"|must|should|to|for|from|with|without|in|on|of|at|by|as|into|via|because|since|etc|e\.g|i\.e|see|or)\b"
)
"""Begins with a small letter because a sentence goes on that code has broken off."""
_DIRECTIVE = re.compile(
    r"^[ \t]*\.\.[ \t]+(versionadded|versionchanged|deprecated|versionremoved)::[ \t]*(\S+)[ \t]*(.*)$",
    re.MULTILINE,
)
_WHOLE_DIRECTIVE = re.compile(
    r"^([ \t]*)\.\.[ \t]+(?:versionadded|versionchanged|deprecated|versionremoved)::[ \t]*\S+[ \t]*.*(?:\n(?:[ \t]*\n)?\1[ \t]+\S.*){0,12}",
    re.MULTILINE,
)
"""The same with all that it says."""
_MARK = re.compile(
    r"^[ \t]*///[ \t]+(version-added|version-changed|version-removed|deprecated|deprecated-removed)[ \t]*\|[ \t]*v?([\d.]+).*"
    r"((?:\n[ \t]*(?!///)\S.*){0,6})",
    re.MULTILINE,
)
"""The same in Markdown of MkDocs, with the lines that it holds."""
_METADATA = re.compile(
    r"^(?:Added|New|Changed|Deprecated|Removed|Introduced) (?:in|since):? (?:version )?v?\d[\w.]*(?:,\s*v?\d[\w.]*)*$",
    re.MULTILINE,
)
"""A line that tells a version and nothing else: `Added in: v15.4.0`."""
_HISTORY_ROW = re.compile(
    r"^\|[ \t]*(v?\d[\w.]*(?:,[ \t]*v?\d[\w.]*)*)[ \t]*\|[ \t]*(\S.{7,300}?)[ \t]*\|$", re.MULTILINE
)
"""A row of a table of versions and changes."""
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}"
_SINCE = re.compile(
    r"\b(?:(?:new|added|changed|deprecated|removed|introduced|available) (?:in|since)|since|as of)\b.{0,20}\d"
    r"|\b(?:added|changed|updated|deprecated|removed|introduced|released|dropped)\b[^.]{0,60}?\b"
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|(?:\d{{1,2}}(?:st|nd|rd|th)? )?{_MONTH}\.?(?: \d{{1,2}}(?:st|nd|rd|th)?)?,? \d{{4}})\b",
    re.IGNORECASE,
)
"""Tells since which version something is so, or since which day: `Changed in the gateway (March 5, 2024)`, `removed on 5 Mar 2024`."""
_DEFAULT = re.compile(
    r"\bdefault(?: value)?: ?\S|\bdefaults to\b|\bdefault(?: \w+)?(?: of \S+)? (?:is|are)\b|\(default\b",
    re.IGNORECASE,
)
"""Tells what something is where nobody has said what it is to be."""
_DEFAULT_FIELD = re.compile(
    r"^[ \t]*(?:[-*+•][ \t]+)?(\S.*\bDefault(?: value)?: ?\S.*|Default(?: value)?: ?\S.*)$", re.MULTILINE
)
"""A line that ends in a default, whole, since what stands before says of which parameter: `- timeout <number> In ms. Default: 5000.`"""
_DEFINED = re.compile(r"[\w.]+(?:\(\))?: [A-Z`].*\.$")
"""An item that says what a name stands for, however short: `tomllib: For parsing TOML.`"""
_REFERENCE = re.compile(r"\[([^\[\]]+)\]\[[^\[\]]*\]")
_LINKS = re.compile(
    r"(?:\]\(?http\S+\s*){2,}|(?:\[[^\]]{1,300}\]\([^)]{0,1000}\)\s*){3,}|(?:https?://\S{1,1000}+\s+){2,}"
)
"""Badges and lists of links."""
_MAX_TITLE_LENGTH = 80
_ADMONITION = re.compile(
    r"^[ \t]*\.\.[ \t]+(?:attention|caution|danger|error|hint|important|note|tip|warning|seealso)::[ \t]*",
    re.MULTILINE,
)
"""Of reStructuredText; what it says are sentences like any other."""
_WARNING = re.compile(
    r"^([ \t]*)\.\.[ \t]+(?:attention|caution|danger|warning)::[ \t]*((?:.*(?:\n(?:[ \t]*\n)?\1[ \t]+\S.*)*))",
    re.MULTILINE,
)
_BOXED_WARNING = re.compile(
    r"^\|[ \t]*+\|\n\|-{3,}+\|\n\|[ \t]*+(?:attention|caution|danger|important|warning)[ \t]*+\|\n\|([^\n]++)$",
    re.MULTILINE | re.IGNORECASE,
)
"""The same as pages of DocBook have it: a table of one column."""
_MARKED_WARNING = re.compile(
    r"^!!! (?:attention|caution|danger|important|warning)\b.*\n((?:(?:[ \t]{4}.*)?(?:\n|\Z))+)",
    re.MULTILINE | re.IGNORECASE,
)
"""The same in Markdown of MkDocs."""
_WARNINGS = 4
"""Sentences of a passage's warnings that are told with whatever else of it is told."""
_RAGGED = re.compile(r"(?![`'\"(\[<*_/@$|-]?\s?\w)|.*(?:\"\"\"|\)\s*,\s*\]|\]\s*=)")
"""Begins in the middle of something, or holds the end of a piece of code."""
_INSTRUCTION = re.compile(
    r"\b(?:ignore (?:all |any )?(?:previous|prior|above)|(?:ignore|disregard|forget) (?:all |any |of )*(?:your|these|those|the) (?:\w+ )?instructions"
    r"|disregard (?:the|all)|system prompt|you are (?:an? )?(?:AI|assistant|language model)|as an AI"
    r"|(?:note|message|instructions?) (?:to|for) (?:the |any |all )?(?:AI|assistants?|(?:language )?models?|LLMs?)\b)"
    r"|</?(?:system|assistant|instructions?)>|\A\W*(?:assistants?|AI|LLM|chatbot|language model)\s*[:,]\s|\A\W*(?-i:SYSTEM)\s*:",
    re.IGNORECASE,
)
"""What is said to a reader that is a model, and states nothing about a subject."""


class _Asked(NamedTuple):
    question: str
    fit: Fit


class _ScoredSentence(NamedTuple):
    message: str
    quote: str
    worth: float
    kind: tuple[bool, int]
    """Whether it tells outright what is asked for, and often little else, and which part of the question it answers: such are compared with each other."""


def dated(said: str) -> bool:
    """Whether a statement says in which version something came, changed or went."""
    return _SINCE.search(said) is not None


def tells_outright(question: str, said: str) -> bool:
    """Whether a statement tells the version that a question asks for, or the default of what it names."""
    names = spelled_in(question)
    if asks_since(question) and dated(said):
        return _has_one(said, [name for name in names if "." in name])
    return asks_default(question) and _DEFAULT.search(said) is not None and _has_one(said, names)


def _has_one(said: str, names: Sequence[str]) -> bool:
    """Whether a statement has a name as it is spelled, or there is none; what has its parts alone may be of another thing."""
    last = [name.rpartition(".")[2] for name in names]
    return not last or any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said, re.IGNORECASE) for name in last
    )


def instructs(said: str) -> bool:
    """Whether a text speaks to a reader that is a model, in place of stating something."""
    return _INSTRUCTION.search(said) is not None


def extracted(question: str, pool: PassagePool, read: Sequence[PoolEntry]) -> list[Axiom]:
    """The facts of passages that were not read before, those that say most about the question first.

    Args:
        question: the expedition's.
        pool: weighs its words.
        read: the passages, best first.
    """
    asked = _Asked(question, fit_of(question))
    found = [(place, said) for place, one in enumerate(read) for said in _best(one, pool, asked)]
    found.sort(key=lambda entry: (-entry[1].worth, entry[0]))
    best: dict[tuple[bool, int], float] = {}
    for _place, said in found:
        best.setdefault(said.kind, pool.best_of(said.kind, said.worth))
    warned = {place: warnings(one) for place, one in enumerate(read)}
    unique: dict[str, Axiom] = {}
    taken: Counter[int] = Counter()
    for place, said in found:
        part = said.kind[1]
        if said.worth < _NEAR_BEST * best[said.kind] or taken[part] >= _MOST:
            continue
        one = read[place]
        axiom = of_quote(one.passage, said.quote, one.source, statement=said.message)
        for told in (axiom, *warned.pop(place, ())):
            taken[part] += unique.setdefault(f"{told.id} {told.signals[0].source}", told) is told
    return list(unique.values())


def instructing(read: Sequence[PoolEntry]) -> list[str]:
    """A note for each passage that speaks to a model: what it says so is no fact."""
    return [
        f"left out, since it speaks to a model and states nothing: {_place(one.passage)}"
        for one in read
        if any(instructs(plain(said)) for said in sentences(_running(one.passage)))
    ]


def _place(passage: Passage) -> str:
    if passage.url.startswith(("docs:", "file:")):
        return passage.locator or passage.url
    return f"{passage.url} {passage.locator}".strip()


def warnings(one: PoolEntry) -> list[Axiom]:
    """What a passage warns of, to be told beside what it instructs to."""
    text = one.passage.text
    warned = [found[2] for found in _WARNING.finditer(text)]
    warned += [found[1].strip(" \t|") for found in _BOXED_WARNING.finditer(text)]
    warned += [found[1] for found in _MARKED_WARNING.finditer(text)]
    told = [
        folded(said)
        for warning in warned
        for said in sentences(prose(warning))
        if len(said) <= _LONGEST and says_something(said) and not instructs(said)
    ]
    return [
        of_quote(one.passage, quote, one.source, category="safety")
        for quote in told[:_WARNINGS]
        if holds(one.passage.text, quote)
    ]


def _best(one: PoolEntry, pool: PassagePool, asked: _Asked) -> list[_ScoredSentence]:
    """The sentences of a passage that are worth most, a few for each part of the question."""
    chosen: list[_ScoredSentence] = []
    taken: Counter[int] = Counter()
    for said in sorted(_scored(one, pool, asked), key=lambda sentence: -sentence.worth):
        taken[said.kind[1]] += 1
        if taken[said.kind[1]] <= _EACH:
            chosen.append(said)
    return chosen


def _scored(one: PoolEntry, pool: PassagePool, asked: _Asked) -> Iterator[_ScoredSentence]:
    title = title_of(one.passage)
    context = _context(one.passage, pool)
    head = roots(title)
    called = roots(plain(f"{one.passage.title} . {one.passage.symbol}"))  # a heading states nothing
    weights = pool.weights()
    telling = pool.without_owner(weights)
    for quote, reading in _candidates(one):
        said = _REFERENCE.sub(r"\1", plain(reading)).replace("**", "").strip()
        if len(said) > _LONGEST or len(said) < (
            _SHORTEST_FACT if dated(said) or denies(said) or _DEFAULT.match(said) else _SHORTEST
        ):
            continue  # first, since what is looked for below may take long in what is endless
        if _LINKS.search(quote) or _RAGGED.match(said) or roots(said) <= called or instructs(said):
            continue
        if not pool.about_it(f"{context} . {said}", one.passage.url):
            continue
        statement = _about(said, title, head, one.passage)
        own = pool.share(said, telling)
        whole = pool.share(f"{context} . {said}", weights)
        outright = tells_outright(asked.question, statement)
        fit = asked.fit(said, context)
        least = _OWN if whole - own < _OWN or (asked.fit.denied and denies(said)) else _OWN_BELOW_TITLE
        if whole < _LEAST or (own < least and not outright):
            continue
        worth = 0.6 * own + 0.4 * whole + (_OUTRIGHT * whole if outright else 0.0)
        kind = (outright, pool.part_of(said))
        if fit:
            yield _ScoredSentence(statement, quote, fit * worth, kind)


def _context(passage: Passage, pool: PassagePool) -> str:
    """What a passage is about without saying so in each sentence: its headings, its page, and the package or documents that it is of."""
    page = page_of(passage.url)
    return plain(f"{passage.title or passage.symbol} . {page} . {pool.owner(passage.url)}")


def _candidates(one: PoolEntry) -> Iterator[tuple[str, str]]:
    """What may state a fact: the quote, verbatim in the passage, and how it reads; of a table each row, with its heads."""
    for quote in _quotes(one):
        yield quote, quote
    for row in (*rows(one.passage.text), *rest_rows(one.passage.text)):
        if not _HISTORY_ROW.match(row.line):
            yield folded(row.line), row.message


def _running(passage: Passage) -> str:
    """The running text of a passage, that of its admonitions included."""
    return prose(_ADMONITION.sub("\n", without_lists(documentation(passage))))


def _quotes(one: PoolEntry) -> Iterator[str]:
    """The sentences of a passage that may state a fact, each verbatim in it."""
    passage = one.passage
    running = _running(passage)
    fields = [folded(found[1]) for found in _DEFAULT_FIELD.finditer(passage.text)]
    seen: set[str] = set()
    candidates = [*([passage.lead] if passage.lead else []), *steps(passage.text), *sentences(running)]
    for text in candidates:
        for sentence in sentences(text):
            quote = _END_OF_ITEM.sub("", folded(sentence))
            if (
                quote not in seen
                and not (_DEFAULT.match(quote) and any(field.endswith(quote) for field in fields))
                and (says_something(quote) or _SINCE.search(quote) or _denial(quote) or _clause(quote))
                and holds(passage.text, quote)
            ):
                seen.add(quote)
                yield quote
    told = [
        folded(found.group().strip())
        for form in (_DIRECTIVE, _METADATA, _HISTORY_ROW)
        for found in form.finditer(passage.text)
    ]
    for quote in (*told, *fields):
        if quote not in seen:
            seen.add(quote)
            yield quote


def _denial(quote: str) -> bool:
    """Whether a sentence denies something, however short."""
    return (
        denies(quote)
        and quote.endswith(".")
        and len(quote.split()) >= _MIN_DENYING
        and not quote[0].islower()
        and not is_pointer(quote)
    )


def _clause(quote: str) -> bool:
    """Whether a text that begins with a small letter is an item of a list: a clause, or a name or parameter and what it does."""
    return (
        quote[:1].islower()
        and (len(quote.split()) >= _MIN_ITEM or _DEFINED.match(quote) is not None)
        and not is_pointer(quote)
        and not _GOES_ON.match(quote)
    )


def directives(passage: Passage) -> Iterator[tuple[str, str]]:
    """What a passage says of versions in a mark: the quote, and the sentence that it prints."""
    told = [
        (folded(found.group()), _told(folded(found.group())))
        for found in _WHOLE_DIRECTIVE.finditer(passage.text)
    ]
    told += [
        (folded(found.group()), _of_version(found[1], found[2], folded(found[3])))
        for found in _MARK.finditer(passage.text)
    ]
    yield from ((quote, said) for quote, said in told if holds(passage.text, quote))


def marks(passage: Passage) -> Iterator[tuple[str, str]]:
    """What a page says of versions on a line or in a row of its own: the quote, and the sentence that it makes."""
    for found in _METADATA.finditer(passage.text):
        quote = folded(found.group().strip())
        yield quote, quote
    for found in _HISTORY_ROW.finditer(passage.text):
        quote = folded(found.group().strip())
        if holds(passage.text, quote):
            yield quote, found[2] if dated(found[2]) else f"Changed in version {found[1]}: {found[2]}"


def _told(said: str) -> str:
    """A mark of a version as the sentence that it prints; what is none as it stands."""
    found = _DIRECTIVE.match(said)
    return _of_version(found[1], found[2], found[3]) if found else said


def _of_version(what: str, version: str, said: str) -> str:
    """What became of a thing in a version, as a sentence."""
    told = {"added": "Added in", "changed": "Changed in", "deprecated": "Deprecated since"}
    kind = what.replace("version", "").strip("-").removesuffix("-removed")
    return f"{told.get(kind, 'Removed in')} version {version.lstrip('v')}{f': {said}' if said else ''}"


def _about(said: str, title: str, head: frozenset[str], passage: Passage) -> str:
    """A sentence that says what it is about."""
    said = _told(said)
    row = _HISTORY_ROW.match(said)
    if row:
        said = row[2] if dated(row[2]) else f"Changed in version {row[1]}: {row[2]}"
    parameter = passage.parameter
    if len(title) > _MAX_TITLE_LENGTH:
        title = title.rpartition(" / ")[2]
    if not title or len(title) > _MAX_TITLE_LENGTH or (head <= roots(said) and not parameter):
        return said
    is_code = re.fullmatch(r"[\w.]+(?:\(\))?", title) and re.search(r"[._A-Z]", title[1:])
    named = f"`{title}`" if is_code else title
    if not parameter:
        return f"{named}: {said}"
    default = passage.default if passage.default and holds(passage.text, passage.default) else ""
    return f"{named}, `{parameter}=`: {said}{f' The default is `{default}`.' if default else ''}"
