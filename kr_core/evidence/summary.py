"""The answer composed by rule: what to call or pass, what it accepts, the default, and the shortest real code.

Every slot of a sentence (symbol, parameter, type, default, quoted prose, code) is verbatim in a cited passage; the
words between the slots only connect them. No language model takes part.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.citations import Citer, folded, holds, plain
from kr_core.evidence.code_examples import shortest_example
from kr_core.evidence.coverage import COVERED
from kr_core.evidence.generated import GeneratedProse, claims_of
from kr_core.evidence.sentences import (
    documentation,
    is_pointer,
    prose,
    says_something,
    sentences,
    shortened,
    steps,
    value_of,
)
from kr_core.markup.tables import rows
from kr_core.model import Claim, CodeExample, Draft, Passage
from kr_core.text import content_words, is_weak, stem, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Finding, ResearchQuery

_LONG_SENTENCE = 240
_MAX_SENTENCE_LENGTH = 400
"""Of what nothing else says."""
_LONG_TYPE = 110
_LONG_ALIAS = 180
_LONG_DEFAULT = 60
_CALL_WIDTH = 64
_MAX_PARAMETERS = 24
"""Of a call form; a reader looks the rest up in the signature."""
_PARAMETERS_LOOKED_AT = 500
_STEPS = 12
"""A longer list is no answer that a person reads at once."""
_ALTERNATIVES = 3
_ROWS = 3
_GUESSES = 5
"""Alternatives that are named where the first passage is not sure to be the answer."""
_STEP = re.compile(r"\d{1,3}[.)]\s")
_CAVEAT = re.compile(
    r"\b(?:deprecated|versionadded|versionchanged|warning|caution|not thread.?safe|new in version|changed in version|note that|be aware|removed in)\b",
    re.IGNORECASE,
)
_PLAIN_LITERAL = re.compile(
    r"^(?:None|True|False|-?\d[\d_.]*|[rbf]?['\"][^'\"]*['\"]|\.\.\.|\(\)|\[\]|\{\})$"
)


_VERBS = frozenset({"Pass", "Set", "Call", "Await", "Use", "Read", "See"})
_WORTH_NAMING = 0.5
"""An alternative is named if it covers so much of what the first passage covers."""
_WORTH_NAMING_BESIDE = 0.7
"""The same beside an answer that is sure."""


class _Part(NamedTuple):
    """A passage with the source it came from and what explains it."""

    source: str
    passage: Passage
    support: tuple[Passage, ...]


def compose(
    query: ResearchQuery,
    findings: Sequence[tuple[str, Finding]],
    *,
    notice: str | None = None,
    prose: GeneratedProse | None = None,
) -> Draft:
    """Compose the answer from what the sources found, their best passages first.

    Args:
        query: the question; its words choose among sentences and parameters.
        findings: (source, finding) in the order in which the sources were asked.
        notice: a sentence that says the passages do not answer the question; it then comes first.
        prose: what a language model has written from these passages, numbered from 1 in this order. What they do not bear
            out is dropped; where nothing is left of it, the answer is composed by rule.
    """
    parts = [
        _Part(source, passage, finding.support)
        for source, finding in findings
        for passage in finding.passages
    ]
    composer = _Composer(query, parts, notice)
    if prose is None:
        return composer.draft()
    written = composer.rewritten(prose)
    if any(claim.written for claim in written.summary):
        return written
    return _Composer(query, parts, notice).draft(written.unsupported)


class _Composer:
    def __init__(self, query: ResearchQuery, parts: list[_Part], notice: str | None) -> None:
        self.asked = stems(query.question)
        self.telling_stems = frozenset(
            stem(word) for word in content_words(query.question) if not is_weak(word)
        )
        self.parts = parts
        self.notice = notice
        self.citer = Citer()
        self.shown: set[str] = set()

    def rewritten(self, prose: GeneratedProse) -> Draft:
        """The draft with the sentences of a model, as far as they are borne out, in place of Summary and Details."""
        passages = [(part.source, part.passage) for part in self.parts]
        summary, unsupported = claims_of(prose.summary, passages, self.citer)
        details, more = claims_of(prose.details, passages, self.citer)
        notice = [Claim(text=self.notice)] if self.notice else []
        example = self.example(self.parts[0]) if self.parts else None
        code = [] if example is None else [example]
        return self.drafted(
            [*notice, *summary], code, len(notice) + len(summary), details, (*unsupported, *more)
        )

    def draft(self, unsupported: tuple[str, ...] = ()) -> Draft:
        summary: list[Claim] = [Claim(text=self.notice)] if self.notice else []
        code: list[CodeExample] = []
        code_after = 0
        if self.parts:
            first = self.parts[0]
            sure = first.passage.coverage >= COVERED
            summary += self.opening(first)
            code_after = len(summary)
            summary += self.telling(first)
            example = self.example(first)
            if example is not None:
                code.append(example)
            rest = self.explanation(first)
            share = _WORTH_NAMING_BESIDE if sure else _WORTH_NAMING
            worth = [one for one in self.parts[1:] if one.passage.coverage >= share * first.passage.coverage]
            others = self.alternatives(worth, _ALTERNATIVES if sure else _GUESSES)
            if sure:
                summary += [*rest[:1], *others, *rest[1:]]
            else:  # the answer may well be the second or third: they come before what explains the first
                summary += others
                code_after = len(summary)
                summary += rest
        details = [claim for part in self.parts[:4] for claim in (*self.details(part), *self.returns(part))]
        return self.drafted(summary, code, code_after, details, unsupported)

    def drafted(
        self,
        summary: Sequence[Claim],
        code: Sequence[CodeExample],
        code_after: int,
        details: Sequence[Claim],
        unsupported: tuple[str, ...],
    ) -> Draft:
        """The draft with further code and caveats, which are verbatim whoever wrote the sentences."""
        more = self.more_code({example.code for example in code})
        caveats = [claim for part in self.parts[:3] for claim in self.caveats(part)]
        return Draft(
            summary=tuple(summary),
            summary_code=tuple(code),
            code_after=code_after,
            details=tuple(details),
            code=tuple(more),
            caveats=tuple(caveats[:4]),
            citations=tuple(self.citer.citations),
            passages=self.citer.passages,
            dropped=tuple(dict.fromkeys(self.citer.dropped)),
            unsupported=unsupported,
        )

    # -- sentences --

    def opening(self, part: _Part) -> list[Claim]:
        """What to call or pass, and the sentence of the documentation that says so."""
        passage = part.passage
        if passage.parameter and passage.symbol:
            return self.pass_parameter(part, passage.symbol, passage.parameter)
        if passage.symbol and passage.what:
            return self.use_symbol(part, passage.symbol)
        return self.quote_section(part)

    def alternatives(self, parts: Sequence[_Part], limit: int) -> list[Claim]:
        """What else may be meant; no more is cited than is said."""
        claims: list[Claim] = []
        for part in parts:
            if len(claims) < limit:
                claims += self.alternative(part)
        return claims

    def alternative(self, part: _Part) -> list[Claim]:
        passage = part.passage
        key = f"{passage.symbol}({passage.parameter})" if passage.symbol else passage.title
        if key in self.shown:
            return []
        is_section = not (passage.symbol and (passage.parameter or passage.what))
        claims = self.quote_section(part, whole=False) if is_section else self.opening(part)[:1]
        return [claim.model_copy(update={"text": _related(claim.text)}) for claim in claims]

    def pass_parameter(self, part: _Part, symbol: str, parameter: str) -> list[Claim]:
        passage = part.passage
        self.shown.add(f"{symbol}({parameter})")
        if passage.what == "field":
            start = f"Set `{parameter}=` in `{symbol}`"
        elif passage.star:
            start = f"Pass `{passage.star}{parameter}` to `{symbol}`"
        else:
            value = _other_than_default(passage)
            start = f"Pass `{parameter}={value}` to `{symbol}`"
        return self.opened(part, start, [symbol, parameter], passage.signature or parameter)

    def use_symbol(self, part: _Part, symbol: str) -> list[Claim]:
        passage = part.passage
        self.shown.add(f"{symbol}(None)")
        verb = {"class": "Use", "property": "Read", "attribute": "Use", "constant": "Use"}.get(
            passage.what or "", "Call"
        )
        if passage.signature and passage.signature.startswith("async def"):
            verb = "Await"
        if re.search(r"(?:Error|Exception|Warning)$", symbol):
            verb = "See"
        call, slots = self.call_form(passage, symbol, [one.parameter or "" for one in _telling(part)])
        anchor = (passage.signature or passage.text).split("\n")[0]
        return self.opened(part, f"{verb} `{call}`", slots, anchor) or self.opened(
            part, f"{verb} `{symbol}`", [symbol], anchor
        )

    def telling(self, part: _Part) -> list[Claim]:
        """Which of a symbol's parameters the question is about."""
        claims = []
        for passage in _telling(part):
            if self.sentence(passage) is None:
                continue  # a bare name says nothing more than the call does
            self.shown.add(f"{passage.symbol}({passage.parameter})")
            claims += self.opened(
                _Part(part.source, passage, ()),
                f"With `{passage.parameter}=`",
                [passage.parameter or ""],
                passage.signature or "",
            )
        return claims

    def opened(self, part: _Part, start: str, slots: list[str], anchor: str) -> list[Claim]:
        """An opening with the documentation's own sentence, or, where there is none, with the signature as its quote."""
        sentence = self.sentence(part.passage)
        number = self.citer.cite(part.source, part.passage, sentence or anchor)
        cut = "" if sentence is None or sentence == sentences(part.passage.lead)[0] else " ..."
        text = f"{start}: {plain(sentence)}{cut}" if sentence else f"{start}."
        claim = self.citer.claim(text, [number], [*slots, sentence] if sentence else slots)
        return [claim] if claim else []

    def call_form(self, passage: Passage, symbol: str, asked_for: Sequence[str]) -> tuple[str, list[str]]:
        """`name(required, asked=default, ...)`: required parameters, those that were asked for, then what fits."""
        if passage.what not in {"function", "class"} or (passage.what == "class" and not passage.parameters):
            return symbol, [symbol]
        slots = [symbol]
        chosen: list[str] = []
        width = 0
        for name, default in passage.parameters[:_PARAMETERS_LOOKED_AT]:
            short = default is not None and len(default) <= 16
            shown = name if default is None else f"{name}={default if short else '...'}"
            if (name.startswith("**") and chosen) or len(chosen) >= _MAX_PARAMETERS:
                continue
            if not self.fits(passage, name, asked_for, width, width + len(shown)):
                continue
            chosen.append(shown)
            slots.append(name.lstrip("*"))
            if short and default is not None:
                slots.append(default)
            width += len(shown) + 2
        left_out = len(chosen) < len(passage.parameters)
        inside = ", ".join([*chosen, "..."] if left_out else chosen)
        return f"{symbol}({inside})", slots

    def fits(self, passage: Passage, name: str, asked_for: Sequence[str], before: int, after: int) -> bool:
        """Whether a call form shows a parameter, by its width before and after it."""
        if name in passage.required:
            return True
        if before > _CALL_WIDTH and name not in asked_for:
            return False
        is_telling = name in asked_for or bool(stems(name.replace("_", " ")) & self.asked)
        return is_telling or after <= _CALL_WIDTH / 2

    def quote_section(self, part: _Part, *, whole: bool = True) -> list[Claim]:
        """What a section says of the question; where the whole is not wanted, no steps: one alone would mislead."""
        passage = part.passage
        self.shown.add(passage.title)
        chosen = self.best_sentences(prose(passage.text), 2)
        lead = shortened(passage.lead, _LONG_SENTENCE)
        cut = ""
        headed = self.is_headed(passage.title, chosen)
        if lead and not is_pointer(lead) and headed:
            chosen = [lead, *(sentence for sentence in chosen if plain(sentence) not in plain(lead))][:2]
            cut = "" if lead == passage.lead else " ..."
        if not whole:
            chosen = [sentence for sentence in chosen if not _STEP.match(sentence)]
        in_rows = self.rows(part, chosen)
        if in_rows:
            return in_rows
        if not chosen:
            return []
        in_order = self.in_order(part, chosen, headed=headed) if whole else []
        if in_order:
            return in_order
        text = " ".join([plain(chosen[0]) + cut, *map(plain, chosen[1:])])
        numbers = [self.citer.cite(part.source, passage, sentence) for sentence in chosen]
        claim = self.citer.claim(f"{passage.title}: {text}" if passage.title else text, numbers, chosen)
        return [claim] if claim else []

    def in_order(self, part: _Part, chosen: Sequence[str], *, headed: bool) -> list[Claim]:
        """All the steps of a section's ordered list where it or one of them was chosen: a step alone would mislead."""
        passage = part.passage
        items = steps(passage.text)
        said = {plain(sentence) for item in items for sentence in sentences(item)}
        asked_for = headed or said & {plain(sentence) for sentence in chosen}
        if not items or not asked_for or len(items) > _STEPS:
            return []
        before, after = _around_steps(passage, items, [one for one in chosen if plain(one) not in said])
        shown = [(" ".join(map(plain, before)), before)] if before else []
        shown += [(f"{number}. {plain(item)}", [item]) for number, item in enumerate(items, 1)]
        shown += [(plain(sentence), [sentence]) for sentence in after]
        if passage.title:
            shown[0] = (f"{passage.title}: {shown[0][0]}", shown[0][1])
        claims = [
            self.citer.claim(text, [self.citer.cite(part.source, passage, quote) for quote in quotes], quotes)
            for text, quotes in shown
        ]
        return [claim for claim in claims if claim is not None] if all(claims) else []

    def rows(self, part: _Part, chosen: Sequence[str]) -> list[Claim]:
        """The rows of a section's tables that say more of what was asked than any of its sentences does."""
        passage = part.passage
        said = max((len(stems(sentence) & self.asked) for sentence in chosen), default=0)
        asked = [(len(stems(row.message) & self.asked), row) for row in rows(passage.text)]
        most = max((count for count, _row in asked), default=0)
        if most <= max(said, 1):
            return []
        best = [row for count, row in asked if count == most][:_ROWS]
        claims = [
            self.citer.claim(
                f"{passage.title}: {plain(row.message)}" if passage.title else plain(row.message),
                [self.citer.cite(part.source, passage, row.line)],
                row.slots,
            )
            for row in best
        ]
        return [claim for claim in claims if claim is not None]

    def is_headed(self, title: str, chosen: Sequence[str]) -> bool:
        """Whether the heading holds as much of the question as any sentence: then all of the section is the answer."""
        said = len(stems(title) & self.asked)
        return all(len(stems(sentence) & self.asked) <= said for sentence in chosen)

    def sentence(self, passage: Passage) -> str | None:
        """The first sentence of the documentation, cut at a word where it is very long."""
        for candidate in sentences(passage.lead)[:1]:
            whole = shortened(candidate, _LONG_SENTENCE)
            if holds(passage.text, whole):
                return whole
        return None

    def explanation(self, part: _Part) -> list[Claim]:
        """What the parameter accepts and its default; or the sentences that speak of what was asked."""
        passage = part.passage
        claims: list[Claim | None] = []
        if passage.parameter:
            claims.append(self.accepts(part))
        first = sentences(passage.lead)[:1]
        further = [
            s for s in sentences(prose(documentation(passage))) if not any(said in s for said in first)
        ]
        if passage.symbol and passage.kind != "section":  # else the opening quotes what is best
            further = sentences(passage.lead)[1:] + further
            best = self.best(further, 2)
            if passage.coverage >= COVERED:
                best += self.unsaid(passage, further, [*first, *best])
            for chosen in best:
                number = self.citer.cite(part.source, passage, chosen)
                claims.append(self.citer.claim(plain(chosen), [number], [chosen]))
        return [claim for claim in claims if claim is not None]

    def accepts(self, part: _Part) -> Claim | None:
        passage = part.passage
        pieces: list[str] = []
        numbers: list[int | None] = []
        slots: list[str] = []
        if (
            passage.annotation
            and len(passage.annotation) <= _LONG_TYPE
            and holds(passage.text, passage.annotation)
        ):
            pieces.append(f"it accepts `{folded(passage.annotation)}`")
            numbers.append(self.citer.cite(part.source, passage, passage.signature or passage.annotation))
            slots.append(passage.annotation)
            alias = self.behind(part, passage.annotation)
            if alias is not None and len(folded(value_of(alias.text))) <= _LONG_ALIAS:
                pieces[-1] += f", which is `{folded(value_of(alias.text))}`"
                numbers.append(self.citer.cite(part.source, alias, alias.text))
                slots.append(value_of(alias.text))
        if (
            passage.default is not None
            and len(passage.default) <= _LONG_DEFAULT
            and holds(passage.text, passage.default)
        ):
            pieces.append(f"the default is `{folded(passage.default)}`")
            numbers.append(self.citer.cite(part.source, passage, passage.signature or passage.default))
            slots.append(passage.default)
            constant = None if _PLAIN_LITERAL.match(passage.default) else self.behind(part, passage.default)
            if constant is not None and len(folded(value_of(constant.text))) <= _LONG_DEFAULT:
                pieces[-1] += f", which is `{folded(value_of(constant.text))}`"
                numbers.append(self.citer.cite(part.source, constant, constant.text))
                slots.append(value_of(constant.text))
        if not pieces:
            return None
        text = "; ".join(pieces)
        return self.citer.claim(f"{text[0].upper()}{text[1:]}.", numbers, slots)

    def behind(self, part: _Part, name: str) -> Passage | None:
        """The constant or alias that a bare name in a signature stands for."""
        bare = name.strip("'\" ").rpartition(".")[2]
        return next(
            (
                passage
                for passage in part.support
                if passage.kind in {"constant", "type"} and (passage.symbol or "").rpartition(".")[2] == bare
                and passage.what == "constant"
            ),
            None,
        )  # fmt: skip

    # -- the rest of the report --

    def example(self, part: _Part) -> CodeExample | None:
        candidates = [part.passage, *part.support, *(other.passage for other in self.parts[1:4])]
        found = shortest_example(part.passage, candidates, self.asked)
        return None if found is None else self.citer.code(part.source, *found)

    def more_code(self, used: set[str]) -> list[CodeExample]:
        found: list[CodeExample] = []
        for part in self.parts[:4]:
            for code in sorted(part.passage.code, key=len):
                if code in used or len(code) > 900 or len(found) >= 3:
                    continue
                used.add(code)
                example = self.citer.code(part.source, part.passage, code)
                if example is not None:
                    found.append(example)
        return found

    def details(self, part: _Part) -> list[Claim]:
        """The first paragraph of the documentation, whole."""
        passage = part.passage
        paragraph = shortened(passage.lead, 700)
        if len(sentences(paragraph)) < 2 and passage.kind != "section":
            return []
        if not paragraph or not holds(passage.text, paragraph):
            return []
        number = self.citer.cite(part.source, passage, paragraph)
        label = (
            f"{passage.symbol}({passage.parameter})" if passage.parameter else passage.symbol or passage.title
        )
        claim = self.citer.claim(f"`{label}`: {plain(paragraph)}", [number], [paragraph])
        return [claim] if claim else []

    def returns(self, part: _Part) -> list[Claim]:
        passage = part.passage
        if (
            not passage.returns
            or passage.what != "function"
            or passage.parameter
            or passage.returns == "None"
        ):
            return []
        number = self.citer.cite(part.source, passage, passage.returns)
        claim = self.citer.claim(
            f"`{passage.symbol}` returns `{folded(passage.returns)}`.",
            [number],
            [passage.symbol or "", passage.returns],
        )
        return [claim] if claim else []

    def caveats(self, part: _Part) -> list[Claim]:
        passage = part.passage
        found = [s for s in sentences(prose(documentation(passage))) if _CAVEAT.search(s) and len(s) < 300]
        claims = [
            self.citer.claim(plain(s), [self.citer.cite(part.source, passage, s)], [s]) for s in found[:2]
        ]
        return [claim for claim in claims if claim is not None]

    def best_sentences(self, text: str, limit: int) -> list[str]:
        candidates = sentences(text)
        return (
            self.best(candidates, limit)
            or [s for s in candidates if len(s) <= _LONG_SENTENCE and says_something(s)][:1]
        )

    def unsaid(self, passage: Passage, candidates: list[str], said: list[str]) -> list[str]:
        """The first sentence, a long one too, with a telling word of the question that nothing said so far holds.

        It holds another of the question's words as well, unless the one is a parameter's name.
        """
        left = self.telling_stems - stems(" ".join([passage.title, *said]))
        named = left & stems(" ".join(name for name, _default in passage.parameters[:_PARAMETERS_LOOKED_AT]))
        return [
            sentence
            for sentence in candidates
            if len(sentence) <= _MAX_SENTENCE_LENGTH and says_something(sentence)
            if (held := stems(sentence) & self.asked) & left and (len(held) > 1 or held & named)
        ][:1]

    def best(self, candidates: list[str], limit: int) -> list[str]:
        """Sentences that hold most of what was asked, at most `limit`, in the order of the text."""
        scored = [
            (len(stems(sentence) & self.asked), -number, sentence)
            for number, sentence in enumerate(dict.fromkeys(candidates))
            if 12 <= len(sentence) <= _LONG_SENTENCE and says_something(sentence)
        ]
        chosen = sorted(scored, reverse=True)[:limit]
        return [sentence for score, _number, sentence in sorted(chosen, key=lambda c: -c[1]) if score >= 2]


def _around_steps(
    passage: Passage, items: Sequence[str], sentences: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The sentences that come before a passage's steps, and the rest; without those that hold the first step."""
    text, first = plain(prose(passage.text)), plain(items[0])
    beside = [sentence for sentence in sentences if first not in plain(sentence)]
    before = [sentence for sentence in beside if text.find(plain(sentence)) < text.find(first)]
    return before, [sentence for sentence in beside if sentence not in before]


def _other_than_default(passage: Passage) -> str:
    """`False` for a switch that is on, `True` for one that is off, as far as its documentation says the word; else ''."""
    other = {"True": "False", "False": "True"}.get(passage.default or "")
    return other if other and re.search(rf"\b{other}\b", documentation(passage)) else ""


def _telling(part: _Part) -> list[Passage]:
    """The passages about parameters that a source sent along with a symbol's."""
    if part.passage.parameter or not part.passage.symbol:
        return []
    return [one for one in part.support if one.parameter and one.symbol == part.passage.symbol]


def _related(text: str) -> str:
    """An opening as one of several, its verb no longer at the start of the line."""
    verb = text.split(" ", 1)[0]
    return f"Related: {text[0].lower()}{text[1:]}" if verb in _VERBS else f"Related: {text}"
