"""The answer composed by rule: a direct sentence where one is certain, the documentation itself, one example.

Every slot of a sentence (symbol, parameter, type, default, quoted prose, code) is verbatim in a cited passage; the
words between the slots only connect them. No language model takes part.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.evidence.call_forms import call_form
from kr_core.evidence.citations import folded, plain, slot_stands
from kr_core.evidence.coverage import COVERED, is_expected, is_named, takes_kind
from kr_core.evidence.difference_answer import subjects
from kr_core.evidence.direct_answer import direct_answer
from kr_core.evidence.generated import GeneratedProse, claims_of
from kr_core.evidence.heads import default_of
from kr_core.evidence.passage_blocks import BESIDE, NAMED, OF_ONE, PassageBlocks, label_of
from kr_core.evidence.report_sections import Part, caveats, details, more_code
from kr_core.evidence.sentences import documentation, prose, says_something
from kr_core.evidence.window import as_told, first_sentence, told_of, window
from kr_core.model import Claim, CodeExample, Draft, Passage
from kr_core.text import stems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.model import Finding, ResearchQuery

_SURE = (450, 200, 200)
_UNSURE = (330, 250, 200, 150, 150)
_TWO_SUBJECTS = (330, 330, 200)
_OWN = 400
"""Characters of a paragraph that only one side of a difference has."""
_NOT_FOUND = (200, 200)
_IN_DOUBT = (260, 200, 150, 150, 150, 150)
"""Characters of each block: the passages of the second to the sixth place often hold the fact."""
_IN_DOUBT_NAMED = (450, 150, 150)
"""The same where the question names what comes first: its own parameters follow, and only two neighbours."""
_IN_DOUBT_EXPECTED = (600, 250, 150)
"""The same where the asker expects what comes first: they decide by its documentation."""
_IN_DOUBT_SECTION = (330, 200, 150, 150)
"""The same where a section with code comes first: it is shown, with fewer neighbours."""
_MOST_NAMED = 4
"""Further names of the request that are shown."""
_ADDS = 0.1
"""Such a share of the question a passage beside the first one must say that was not said yet."""
_NEAR = 0.25
"""A parameter that the question does not name is shown if its documentation says so much of the question."""
_NEAR_UNSURE = 0.2
_DIRECTIVE = re.compile(r"^[ \t]*+\.\. \w++::[^\n]*+$", re.MULTILINE)
_LEAST_MENTION, _LONGEST_MENTION = 20, 330
_ASYNC = re.compile(r"async|await", re.IGNORECASE)
_WORTH_NAMING = 0.4
"""A passage is shown if it covers so much of what the first one covers."""
_WORTH_NAMING_BESIDE = 0.5
"""The same beside an answer that is sure."""


def compose(
    query: ResearchQuery,
    findings: Sequence[tuple[str, Finding]],
    *,
    notices: Sequence[str] = (),
    found: bool = True,
    in_doubt: bool = False,
    prose: GeneratedProse | None = None,
) -> Draft:
    """Compose the answer from what the sources found, their best passages first.

    Args:
        query: the question; its kind, names and words choose what is shown.
        findings: (source, finding) in the order in which the sources were asked.
        notices: sentences that say what the passages do not answer; they come first.
        found: whether the passages are about the question; if not, at most two are shown as places to look.
        in_doubt: whether the passages may not answer; then the closest are shown as they are, without a sentence that
            answers, and only code of the first one's own.
        prose: what a language model has written from these passages, numbered from 1 in this order. What they do not bear
            out is dropped; where nothing is left of it, the answer is composed by rule.
    """
    parts = [
        Part(source, passage, finding.support) for source, finding in findings for passage in finding.passages
    ]
    if prose is not None:
        written = _Composer(query, parts, notices).rewritten(prose)
        if any(claim.written for claim in written.summary):
            return written
        return _Composer(query, parts, notices).draft(found=found, unsupported=written.unsupported)
    mentioned = [
        one.name.rpartition(".")[2]
        for _source, finding in findings
        for one in finding.unresolved
        if one.mentioned
    ]
    composer = _Composer(query, parts, notices, mentioned)
    return composer.in_doubt() if in_doubt and found else composer.draft(found=found)


class _Composer(PassageBlocks):
    """Orders the blocks of an answer."""

    def __init__(
        self,
        query: ResearchQuery,
        parts: list[Part],
        notices: Sequence[str],
        mentioned: Sequence[str] = (),
    ) -> None:
        super().__init__(query, parts)
        self.notices = [Claim(text=notice) for notice in notices]
        self.mentioned = mentioned

    def rewritten(self, prose: GeneratedProse) -> Draft:
        """The draft with the sentences of a model, as far as they are borne out, in place of Summary and Details."""
        passages = [(part.source, part.passage) for part in self.parts]
        summary, unsupported = claims_of(prose.summary, passages, self.citer)
        written, more = claims_of(prose.details, passages, self.citer)
        code = self.example(self.parts[0]) if self.parts else []
        summary = [*self.notices, *summary]
        return self.drafted(summary, code, len(summary), written, (*unsupported, *more))

    def draft(self, *, found: bool, unsupported: tuple[str, ...] = ()) -> Draft:
        if not self.parts or not found:
            places = self.named(self.parts)
            if not places:
                places = self.blocks(self.parts, _NOT_FOUND)
            elif self.asked.asks("replacement") and not is_named(self.query, self.parts[0].passage):
                places = [*self.blocks(self.parts[:1], _NOT_FOUND), *places]  # a new name resembles the old
            summary = [*self.notices, *places]
            return self.drafted(summary, [], len(summary), [], unsupported)
        parts = self.in_order()
        first = parts[0]
        sure = first.passage.pinned or first.passage.coverage >= COVERED
        two = subjects(self.asked, [part.passage for part in parts]) if self.asked.asks("difference") else []
        together = [] if two else _asked_together(parts)
        if together:
            return self.each(together, parts, unsupported)
        direct = self.direct(parts)
        direct = direct or self.called(first)
        summary = [*self.notices, *direct, *self.alike(first)]
        budgets = _TWO_SUBJECTS if two else _SURE if sure else _UNSURE
        leading = 2 if two else 1
        near = _NEAR if sure else _NEAR_UNSURE
        summary += self.side_by_side(parts[:2], budgets) if two else self.leading(first, budgets, near)
        code_after = len(summary)
        example = self.example(first, [parts[1].passage] if two else None)
        share = (_WORTH_NAMING_BESIDE if sure else _WORTH_NAMING) * first.passage.coverage
        summary += self.named(parts[leading:], "See also " if sure else "")
        others = _worth_naming(parts[leading:], share, only_pinned=bool(two))
        others = list(self.adding(self.only_replacements(first, others), summary, answered=bool(direct)))
        summary += self.blocks(others, budgets[leading:], "See also " if sure else "")
        is_shown = sure or not first.passage.symbol
        drafted = self.drafted(
            summary,
            example,
            code_after if is_shown else len(summary),
            details(parts, self.citer),
            unsupported,
        )
        return drafted.model_copy(update={"direct": bool(direct)})

    def named(self, others: Sequence[Part], opening: str = "") -> list[Claim]:
        """A block for each further name that the asker expects: the answer checks what they believe."""
        first = next((part.passage for part in self.parts), None)
        is_message = first is not None and first.what == "message"  # what mends it is often a parameter
        found = [one for one in others if is_named(self.query, one.passage) or self.is_of_named(one)]
        mentions = [claim for name in self.mentioned for claim in self.mention(name)]
        budgets = [NAMED if is_message or one.passage.parameter else BESIDE for one in found]
        blocks = [self.blocks([one], [budget], opening) for one, budget in zip(found, budgets, strict=True)]
        claims = [claim for block in [each for each in blocks if each][:_MOST_NAMED] for claim in block]
        return [*mentions, *claims]

    def is_of_named(self, part: Part) -> bool:
        """Whether a parameter was found for an expected callable: it comes before it, or takes what else is expected."""
        shown = [one.passage for one in self.parts]
        if part.passage not in shown:  # a replacement, of those that explain the first passage
            return False
        place = shown.index(part.passage)
        before, after = (
            any(is_named(self.query, one) and _is_of(part.passage, one) for one in beside)
            for beside in (shown[max(0, place - 1) : place], shown[place + 1 : place + 2])
        )
        kinds = [name.rpartition(".")[2] for name in self.query.names]
        return after or (before and takes_kind(part.passage.parameter or "", part.passage.text, kinds))

    def mention(self, name: str) -> list[Claim]:
        """What the documentation says of an expected name that has no entry of its own."""
        if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", one) for one in self.said):
            return []
        for part in self.parts:
            passage = part.passage
            for run in [*told_of(name, passage), *_paragraphs_with(name, passage)][:1]:
                self.said.append(run)
                bare = [one for one in (passage.symbol, passage.parameter) if one]
                label = f"`{label_of(passage)}`" if bare else folded(passage.title)
                return self.claim(part, f"{label}: {as_told(run)}", [*bare, run], [run])
        return []

    def leading(self, first: Part, budgets: Sequence[int], near: float) -> list[Claim]:
        """The block of the first passage; a parameter that the question names comes before the rest of its callable."""
        block = self.first_block(first, budgets)
        told = self.telling(first, near)
        comes_before = told and block and not first.passage.deprecated and self.names_one(first)
        after = 1 if comes_before else len(block)
        return [*block[:after], *told, *block[after:]]

    def each(self, together: Sequence[Part], parts: Sequence[Part], unsupported: tuple[str, ...]) -> Draft:
        """Several parameters of one callable that the question names: each answered by itself, and what else the asker expects."""
        direct = [claim for part in together for claim in self.direct([part])]
        summary = [*self.notices, *direct]
        for part in together:
            block = self.block(part, NAMED, close=True)
            summary += block if len(block) > 1 or part.passage.lead or not direct else []
        summary += self.named([one for one in parts if one.passage.symbol != together[0].passage.symbol])
        code = self.example(together[0])
        detailed = details(list(together), self.citer)
        drafted = self.drafted(summary, code, len(summary), detailed, unsupported)
        return drafted.model_copy(update={"direct": bool(direct)})

    def in_doubt(self) -> Draft:
        """The closest passages as they are: nothing of them reads as the answer."""
        parts = self.in_order()
        first, *others = parts
        sure = first.passage.pinned or first.passage.coverage >= COVERED
        expected = is_expected(self.query, self.asked.parsed, first.passage)
        is_named = self.asked.parsed.kind in OF_ONE and (expected or self.is_named(first.passage, parts))
        is_shown = not first.passage.symbol and bool(first.passage.code)
        named = _IN_DOUBT_EXPECTED if expected else _IN_DOUBT_NAMED
        budgets = list(named if is_named else _IN_DOUBT_SECTION if is_shown else _IN_DOUBT)
        summary = [*self.notices, *self.alike(first), *self.first_block(first, budgets[:1])]
        told = self.telling(first, _NEAR_UNSURE)
        summary += told
        taker = first
        if is_named and first.passage.parameter and (owner := self.owner_of(first)) is not None:
            taker = first._replace(passage=owner)
            says_all = (
                expected and not first.passage.lead
            )  # the parameter's documentation is that of its callable
            summary += self.blocks([taker], [_IN_DOUBT_EXPECTED[0] if says_all else BESIDE])
        is_told = first.passage.parameter and first.passage.lead  # then the others are beside the point
        taken = self.takes(first) if is_named and not is_told else []
        summary += taken
        if is_named or not told:
            summary += self.also_takes(taker, leading=taker is first)
        code_after = len(summary)
        summary += self.named(others)
        summary += self.members(first)
        others = [one for one in others if one.passage.coverage >= _WORTH_NAMING * first.passage.coverage]
        others = list(self.only_replacements(first, others))
        del budgets[0]
        for other in self.without_async_twins(first, others):
            is_free = is_named and (other.passage.pinned or other.passage.symbol == first.passage.symbol)
            if taken and not is_free and other.passage.coverage <= first.passage.coverage:
                continue
            block = self.blocks([other], [BESIDE] if is_free else budgets[:1])
            summary += [*block, *(self.members(other) if block else [])]
            del budgets[: 1 if block and not is_free else 0]
        own = stems(label_of(first.passage).replace(".", " "))
        code = self.example(first, first.support)
        example = [one for one in code if is_named or stems(one.code) & self.subject - own]
        at_end = len(summary) if not (sure or is_shown) else code_after
        return self.drafted(summary, example, at_end, details(parts, self.citer), ())

    def is_named(self, first: Passage, parts: Sequence[Part]) -> bool:
        """Whether the question names what the first passage is about, or what takes the parameter that it is about."""
        pinned = any(one.passage.pinned and one.passage.symbol == first.symbol for one in parts)
        return pinned or self.asked.parsed.spells([first.symbol or ""])

    def only_replacements(self, first: Part, others: Sequence[Part]) -> Sequence[Part]:
        """The passages beside a deprecated thing whose replacement is asked for: only what its deprecation names."""
        told = first.passage.deprecated if first.passage.pinned else None
        if told is None or not self.asked.asks("replacement"):
            return others
        return [
            one for one in others if one.passage.pinned or _last_of(one.passage) in re.findall(r"\w+", told)
        ]

    def without_async_twins(self, first: Part, others: Sequence[Part]) -> Iterator[Part]:
        """The passages without what does the same for `async` code as one before it, where the question does not speak of that."""
        seen = {label_of(first.passage)}
        for part in others:
            label = label_of(part.passage)
            plain_label = label.replace("Async", "").replace(".ext.asyncio", "").replace("._async", "._sync")
            if plain_label == label or plain_label not in seen or _ASYNC.search(self.asked.question):
                seen.add(label)
                yield part

    def drafted(
        self,
        summary: Sequence[Claim],
        code: Sequence[CodeExample],
        code_after: int,
        detailed: Sequence[Claim],
        unsupported: tuple[str, ...],
    ) -> Draft:
        """The draft with further code and caveats, which are verbatim also beside a model's sentences."""
        more = more_code(self.parts, self.citer, {example.code for example in code})
        return Draft(
            summary=tuple(summary),
            summary_code=tuple(code),
            code_after=code_after,
            details=tuple(detailed),
            code=tuple(more),
            caveats=tuple(caveats(self.parts, self.citer)),
            citations=tuple(self.citer.citations),
            passages=self.citer.passages,
            dropped=tuple(dict.fromkeys(self.citer.dropped)),
            unsupported=unsupported,
        )

    def in_order(self) -> list[Part]:
        """The passages as they are shown: both subjects of a difference first, a replacement next to what it replaces."""
        parts = self.parts
        two = subjects(self.asked, [part.passage for part in parts]) if self.asked.asks("difference") else []
        if two:
            first = [part for one in two for part in parts if part.passage is one]
            return [*first, *(part for part in parts if part not in first)]
        replacement = parts[0].passage.replacement
        if not replacement:
            return parts
        new = [
            Part(parts[0].source, one, parts[0].support)
            for one in (*(part.passage for part in parts[1:]), *parts[0].support)
            if replacement in {label_of(one), one.symbol}
        ][:1]
        kept = [part for part in parts if part.passage not in [one.passage for one in new]]
        return [kept[0], *new, *kept[1:]]

    def direct(self, parts: Sequence[Part]) -> list[Claim]:
        """The sentence that answers in the question's kind, where one is certain."""
        if parts[0].passage.deprecated:
            return []  # the block of a deprecated thing begins with that
        support = [one for part in parts[:3] for one in part.support]
        answer = direct_answer(self.asked, [part.passage for part in parts], support)
        if answer is None:
            return []
        sources = {id(part.passage): part.source for part in parts}
        numbers = [
            self.citer.cite(sources.get(id(one.passage), parts[0].source), one.passage, one.text)
            for one in answer.quotes
        ]
        if not any(slot_stands(parts[0].passage.symbol or "", [one.passage.text]) for one in answer.quotes):
            numbers += self.owner_cited(parts[0], answer.slots)
        claim = self.citer.claim(answer.text, numbers, answer.slots)
        self.said += answer.said if claim else ()
        return [claim] if claim else []

    def called(self, part: Part) -> list[Claim]:
        """`Call f(x, limit=5)`: for a how-to whose answer is a parameter of a function, with a documented value."""
        passage = part.passage
        is_asked = self.asked.parsed.kind == "how_to" and passage.parameter and passage.pinned
        form = call_form(passage, part.support) if is_asked else None
        if form is None:
            return []
        numbers = [self.citer.cite(part.source, one, quote) for one, quote in form.quotes]
        claim = self.citer.claim(f"Call {form.text}.", numbers, form.slots)
        return [claim] if claim else []

    def side_by_side(self, parts: Sequence[Part], budgets: Sequence[int]) -> list[Claim]:
        """A block for each side of a difference; where both begin alike, what only the one says is shown too."""
        claims: list[Claim] = []
        texts = [prose(documentation(part.passage)).split("\n") for part in parts]
        begin_alike = len({text[0] for text in texts}) < len(parts)
        for number, (part, budget) in enumerate(zip(parts, budgets, strict=False)):
            said: list[str] = []
            if begin_alike:
                said, self.said = self.said, []
                self.shown.discard(plain(first_sentence(part.passage)))
            block = self.block(part, budget)
            others = {line for at, text in enumerate(texts) if at != number for line in text}
            own = [line for line in texts[number] if line not in others and 0 < len(line) <= _OWN]
            if begin_alike and own and not any(own[0] in one for one in self.said):
                block += self.claim(part, as_told(own[0]), [own[0]], [own[0]])
                self.said.append(own[0])
            claims += [*block, *self.given(part)]
            self.said = [*said, *self.said]
        return claims

    def given(self, part: Part) -> list[Claim]:
        """The parameters of one side that the question gives or names: `model_dump(mode="json")` differs by it."""
        own = [one for one in self.parts if one.passage.symbol == part.passage.symbol and one.passage.pinned]
        return [claim for one in own if one.passage.parameter for claim in self.block(one, NAMED, close=True)]

    def adding(self, others: Sequence[Part], claims: Sequence[Claim], *, answered: bool) -> Iterator[Part]:
        """The passages that the question names, or that say something asked for that was not said yet.

        Args:
            others: passages beside the first one.
            claims: the sentences of the answer up to here.
            answered: whether a sentence answers in the question's kind.
        """
        told = stems(" ".join(claim.text for claim in claims)) | self.library
        first = self.parts[0].passage
        for part in others:
            passage = part.passage
            shown = window(passage, self.asked, BESIDE, self.said, first=False)
            new = stems(" ".join([label_of(passage), *shown])) & self.subject - told
            belongs = _belongs(passage, first) or (not answered and self.has_default(passage))
            if belongs or self.asked.share_of(new) >= _ADDS:
                told |= new
                yield part

    def has_default(self, passage: Passage) -> bool:
        """Whether a passage has the value of a default that is asked for."""
        value = default_of(passage, passage.default)
        return value is not None and self.asked.asks("default") and self.asked.names(passage.parameter or "")


def _paragraphs_with(name: str, passage: Passage) -> Iterator[str]:
    """The short paragraphs of a passage that say a name, those of a note on its history too: "applymap was renamed to map"."""
    says = re.compile(rf"(?<![\w]){re.escape(name)}(?!\w)")
    for paragraph in re.split(r"\n\s*\n", documentation(passage)):
        told = folded(_DIRECTIVE.sub("", paragraph))
        if says.search(told) and _LEAST_MENTION <= len(told) <= _LONGEST_MENTION and says_something(told):
            yield told


def _is_of(parameter: Passage, taker: Passage) -> bool:
    """Whether a passage is about a parameter of the callable beside it, and says something of it."""
    is_told = bool(parameter.parameter and parameter.lead)
    return is_told and parameter.symbol == taker.symbol and not taker.parameter


def _last_of(passage: Passage) -> str:
    """The name by which a sentence would call what a passage is about."""
    return passage.parameter or (passage.symbol or passage.title).rpartition(".")[2]


def _worth_naming(parts: Sequence[Part], share: float, *, only_pinned: bool) -> list[Part]:
    """The passages that cover such a share of the question."""
    near = [one for one in parts if one.passage.coverage >= share]
    return [one for one in near if one.passage.pinned] if only_pinned else near


def _asked_together(parts: Sequence[Part]) -> list[Part]:
    """The first parameter and others of its callable, where the question names them together; else none."""
    first = parts[0].passage
    found = [
        part
        for part in parts
        if part.passage.pinned and part.passage.parameter and part.passage.symbol == first.symbol
    ]
    return found if first.parameter and len(found) > 1 and not first.deprecated else []


def _belongs(passage: Passage, first: Passage) -> bool:
    """Whether a passage is named beside the first one, by the question or by the message that it quotes, or replaces it."""
    is_other = passage.symbol is None or passage.symbol != first.symbol
    return (passage.pinned and is_other) or first.replacement == label_of(passage)
