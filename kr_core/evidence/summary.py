"""The answer composed by rule: a direct sentence where one is certain, the documentation itself, one example.

Every slot of a sentence (symbol, parameter, type, default, quoted prose, code) is verbatim in a cited passage; the
words between the slots only connect them. No language model takes part.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.evidence.asked_words import AskedWords
from kr_core.evidence.call_forms import call_form
from kr_core.evidence.citations import Citer, folded, holds, plain, slot_stands
from kr_core.evidence.code_examples import introduction, shortest_example, with_results
from kr_core.evidence.coverage import COVERED
from kr_core.evidence.default_answer import last_run
from kr_core.evidence.difference_answer import subjects
from kr_core.evidence.direct_answer import direct_answer
from kr_core.evidence.generated import GeneratedProse, claims_of
from kr_core.evidence.heads import default_of, head_of, listed_parameter, marks_nothing
from kr_core.evidence.option_types import option_taker, option_type
from kr_core.evidence.quoted_lists import told_rows, told_steps, without_steps
from kr_core.evidence.report_sections import Part, caveats, details, more_code
from kr_core.evidence.sentences import assignment_of, bare_name, behind, documentation, prose, value_of
from kr_core.evidence.window import as_told, first_sentence, told_of, window
from kr_core.model import Claim, CodeExample, Draft, Passage
from kr_core.question.analysis import subject_of
from kr_core.text import STOP_WORDS, stems

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
_IN_DOUBT_SECTION = (330, 200, 150, 150)
"""The same where a section with code comes first: it is shown, with fewer neighbours."""
_LONGEST_INTRODUCTION = 400
_SAYS_LESS = 0.5
"""Prose that says less of the question than this share of what the code says gives way to what introduces the code."""
_OF_ONE = frozenset({"how_to", "meaning", "default", "options", "yes_no"})
"""Kinds of questions that one callable answers."""
_MEMBERS = (150, 150, 150)
"""Characters of each member of a class that is shown."""
_ALSO_TAKES = 360
"""Characters of the names of parameters that the head of a callable leaves out."""
_BESIDE = 200
"""Characters of a passage beside the first one."""
_MOST_LISTED, _ALL_LISTED = 12, 1_000
"""How many parameters of a callable are listed, and the characters of all."""
_ADDS = 0.1
"""Such a share of the question a passage beside the first one must say that was not said yet."""
_LONG_ALIAS = 180
_LONG_INSIDE = 330
_TELLING = 2
_NAMED = 330
"""Characters of a parameter that the question names."""
_NEAR = 0.25
"""A parameter that the question does not name is shown if its documentation says so much of the question."""
_NEAR_UNSURE = 0.2
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
        in_doubt: whether the passages may not answer; then at most four are shown as they are, without a sentence that
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
    composer = _Composer(query, parts, notices)
    return composer.in_doubt() if in_doubt and found else composer.draft(found=found)


class _Composer:
    def __init__(self, query: ResearchQuery, parts: list[Part], notices: Sequence[str]) -> None:
        self.asked = AskedWords(query.question, [part.passage for part in parts])
        self.parts = parts
        self.subject = stems(" ".join(subject_of(query.question)))
        self.library = stems(f"{query.framework} {query.framework.rstrip('0123456789')} python")
        self.notices = [Claim(text=notice) for notice in notices]
        self.citer = Citer()
        self.shown: set[str] = set()
        self.said: list[str] = []

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
            places = self.blocks(self.parts, _NOT_FOUND)
            summary = [*self.notices, *places]
            return self.drafted(summary, [], len(summary), [], unsupported)
        parts = self.in_order()
        first = parts[0]
        sure = first.passage.pinned or first.passage.coverage >= COVERED
        two = subjects(self.asked, [part.passage for part in parts]) if self.asked.asks("difference") else []
        together = [] if two else _asked_together(parts)
        if together:
            return self.each(together, unsupported)
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

    def leading(self, first: Part, budgets: Sequence[int], near: float) -> list[Claim]:
        """The block of the first passage; a parameter that the question names comes before the rest of its callable."""
        block = self.first_block(first, budgets)
        told = self.telling(first, near)
        comes_before = told and block and not first.passage.deprecated and self.names_one(first)
        after = 1 if comes_before else len(block)
        return [*block[:after], *told, *block[after:]]

    def each(self, together: Sequence[Part], unsupported: tuple[str, ...]) -> Draft:
        """Several parameters of one callable that the question names: each answered by itself, and nothing else."""
        direct = [claim for part in together for claim in self.direct([part])]
        summary = [*self.notices, *direct]
        for part in together:
            block = self.block(part, _NAMED, close=True)
            summary += block if len(block) > 1 or part.passage.lead or not direct else []
        code = self.example(together[0])
        detailed = details(list(together), self.citer)
        drafted = self.drafted(summary, code, len(summary), detailed, unsupported)
        return drafted.model_copy(update={"direct": bool(direct)})

    def in_doubt(self) -> Draft:
        """The closest passages as they are: nothing of them reads as the answer."""
        parts = self.in_order()
        first, *others = parts
        sure = first.passage.pinned or first.passage.coverage >= COVERED
        is_named = self.asked.parsed.kind in _OF_ONE and self.is_named(first.passage, parts)
        is_shown = not first.passage.symbol and bool(first.passage.code)
        budgets = list(_IN_DOUBT_NAMED if is_named else _IN_DOUBT_SECTION if is_shown else _IN_DOUBT)
        summary = [*self.notices, *self.alike(first), *self.first_block(first, budgets[:1])]
        summary += self.telling(first, _NEAR_UNSURE)
        taker = first
        if is_named and first.passage.parameter and (owner := self.owner_of(first)) is not None:
            taker = first._replace(passage=owner)
            summary += self.blocks([taker], [_BESIDE])
        taken = self.takes(first) if is_named else []
        summary += [*taken, *self.also_takes(taker, leading=taker is first)]
        code_after = len(summary)
        summary += self.members(first)
        others = [one for one in others if one.passage.coverage >= _WORTH_NAMING * first.passage.coverage]
        others = list(self.only_replacements(first, others))
        del budgets[0]
        for other in self.without_async_twins(first, others):
            is_free = is_named and (other.passage.pinned or other.passage.symbol == first.passage.symbol)
            if taken and not is_free and other.passage.coverage <= first.passage.coverage:
                continue
            block = self.blocks([other], [_BESIDE] if is_free else budgets[:1])
            summary += [*block, *(self.members(other) if block else [])]
            del budgets[: 1 if block and not is_free else 0]
        example = self.example(first, first.support)
        at_end = len(summary) if not (sure or is_shown) else code_after
        return self.drafted(summary, example, at_end, details(parts, self.citer), ())

    def first_block(self, part: Part, budgets: Sequence[int]) -> list[Claim]:
        """The block of what comes first; of a section whose code says more than its prose, what introduces the code."""
        passage = part.passage
        pieces = [] if passage.symbol or passage.what or not passage.code else self.pieces(part, part.support)
        if pieces and self.says_less(passage, pieces[0][1], budgets[0]):
            return self.introduced(part, pieces[0][1])
        return self.blocks([part], budgets)

    def says_less(self, section: Passage, code: str, budget: int) -> bool:
        """Whether what would be shown of a section's prose says much less of the question than its code does."""
        told = " ".join(window(section, self.asked, budget))
        return self.asked.share(told) < _SAYS_LESS * self.asked.share(code)

    def introduced(self, part: Part, code: str) -> list[Claim]:
        """The heading of a section, and what introduces its code."""
        self.shown.add(_label(part.passage))
        heading = f"{folded(part.passage.title)}:"
        told = prose(introduction(part.passage, code)).replace("\n", " ")
        if told and len(told) <= _LONGEST_INTRODUCTION:
            claims = self.claim(part, f"{heading} {as_told(told)}", [told], [told])
            self.said.append(told)
            if claims:
                return claims
        return self.claim(part, heading, [], [code.strip().split("\n")[0]])

    def is_named(self, first: Passage, parts: Sequence[Part]) -> bool:
        """Whether the question names what the first passage is about, or what takes the parameter that it is about."""
        pinned = any(one.passage.pinned and one.passage.symbol == first.symbol for one in parts)
        return pinned or self.asked.parsed.spells([first.symbol or ""])

    def alike(self, part: Part) -> list[Claim]:
        """All names that are formed like that of the first passage, where the question asks which there are."""
        found = [one for one in _beside(part) if not _is_member(one, part.passage)]
        names = [name for one in found for name in one.also]
        if not names:
            return []
        told = [name.removeprefix(f"{part.passage.symbol}.") for name in names]
        is_setting = part.passage.what == "setting"
        numbers = [self.citer.cite(part.source, one, one.text) for one in found]
        listed = ", ".join(f"`{name}`" for name in told)
        kind = "Read from the environment" if is_setting else "Of this kind, by their names"
        claim = self.citer.claim(f"{kind}: {listed}.", numbers, told)
        return [claim] if claim else []

    def members(self, part: Part) -> list[Claim]:
        """The members of a class that say most of the question, with what they do."""
        passage = part.passage
        found = [one for one in _beside(part) if _is_member(one, passage)]
        if not found or any(one.startswith(f"{passage.symbol}(") for one in self.shown):
            return []  # a parameter of it is the answer
        names = {name for one in found for name in one.also}
        of_class = [Part(part.source, one, part.support) for one in part.support]
        known = [*self.parts, *of_class]
        shown = [one for one in known if one.passage.symbol in names and not one.passage.parameter]
        return self.blocks(shown, _MEMBERS)

    def first_line(self, part: Part) -> str:
        """The first line of what a passage quotes."""
        return (part.passage.signature or part.passage.text).split("\n")[0]

    def takes(self, part: Part) -> list[Claim]:
        """The documented parameters of a callable that the question names, as `help` lists them, the nearest first."""
        symbol = part.passage.symbol
        known = [one.passage for one in self.parts if one.passage.parameter] + list(part.support)
        own = [
            one
            for one in known
            if symbol in {one.symbol, *one.also}
            and (one.parameter and one.lead)
            and not (one.star or one.deprecated)
        ]
        claims: list[Claim] = []
        for one in own:
            if len(claims) == _MOST_LISTED or sum(len(claim.text) for claim in claims) > _ALL_LISTED:
                break
            said = first_sentence(one)
            if _label(one) in self.shown or not said or any(said in run for run in self.said):
                continue
            self.shown.add(_label(one))
            head = listed_parameter(one, symbol)
            listed = Part(part.source, one, part.support)
            claims += self.claim(listed, f"{head.text}: {as_told(said)}", [*head.slots, said], [said])
        return claims

    def also_takes(self, part: Part, *, leading: bool) -> list[Claim]:
        """The names of the parameters that the head of a callable leaves out: one of them may be the answer of a how-to."""
        passage = part.passage
        old = _deprecated_parameters(part)
        head = head_of(passage, self.asked, first=leading, without=old)
        if self.asked.parsed.kind not in _OF_ONE or head is None or passage.parameter:
            return []
        told = set(re.findall(r"\w+", head.text))
        told |= {name for name, _default in passage.parameters if f"{passage.symbol}({name})" in self.shown}
        names = [name for name, _default in passage.parameters if name.lstrip("*") not in told | old]
        while names and sum(len(name) + 4 for name in names) > _ALSO_TAKES:
            names.pop()
        listed = ", ".join(f"`{name.lstrip('*')}`" for name in names if not name.startswith("*"))
        slots = [passage.symbol or "", *(name for name in names if not name.startswith("*"))]
        text = f"`{passage.symbol}` also takes {listed}."
        return self.claim(part, text, slots, [self.first_line(part)]) if listed else []

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
        seen = {_label(first.passage)}
        for part in others:
            label = _label(part.passage)
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
            if replacement in {_label(one), one.symbol}
        ][:1]
        kept = [part for part in parts if part.passage not in [one.passage for one in new]]
        return [kept[0], *new, *kept[1:]]

    # -- sentences --

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

    def blocks(self, parts: Sequence[Part], budgets: Sequence[int], opening: str = "") -> list[Claim]:
        """A block for each of the first passages that say something new, as many as there are budgets."""
        claims: list[Claim] = []
        left = list(budgets)
        for part in parts:
            if not left:
                break
            # the parameter that an option of the same name stands for is part of the answer
            close = part.passage.parameter == self.parts[0].passage.title.rpartition(".")[2]
            block = self.block(part, _NAMED if close else left[0], close=close)
            if block:
                claims += [block[0].model_copy(update={"text": opening + block[0].text}), *block[1:]]
                del left[0]
        return claims

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
            claims += block
            self.said = [*said, *self.said]
        return claims

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
            shown = window(passage, self.asked, _BESIDE, self.said, first=False)
            new = stems(" ".join([_label(passage), *shown])) & self.subject - told
            belongs = _belongs(passage, first) or (not answered and self.has_default(passage))
            if belongs or self.asked.share_of(new) >= _ADDS:
                told |= new
                yield part

    def has_default(self, passage: Passage) -> bool:
        """Whether a passage has the value of a default that is asked for."""
        value = default_of(passage, passage.default)
        return value is not None and self.asked.asks("default") and self.asked.names(passage.parameter or "")

    def block(self, part: Part, budget: int, *, close: bool = False) -> list[Claim]:
        """The head of a passage and the window on its documentation; less of it where it is not what is asked about."""
        passage = part.passage
        label, first = _label(passage), plain(first_sentence(passage))
        is_other = bool(self.shown)
        if (
            label in self.shown
            or (first and first in self.shown)
            or (
                is_other and not first and not (passage.parameter and (passage.annotation or passage.default))
            )
        ):
            return []
        self.shown |= {label, first}
        deprecated = self.deprecated(part)
        head = head_of(passage, self.asked, first=not is_other, without=_deprecated_parameters(part))
        runs = window(
            passage,
            self.asked,
            budget - (len(head.text) if head else 0),
            self.said,
            first=close or not is_other,
        )
        if head is None:
            return self.section(part, runs, whole=not is_other)
        self.said += runs
        if not runs and deprecated:
            return deprecated
        if not runs:
            anchor = passage.signature or passage.text
            named = self.claim(part, head.text, head.slots, [anchor.split("\n")[0]])
            explained = [] if is_other else self.type_of_option(part)
            return [*deprecated, *named, *explained, *self.told_by_owner(part)]
        opening = self.claim(part, f"{head.text}: {as_told(runs[0])}", [*head.slots, runs[0]], runs[:1])
        bare = [name for name in (passage.symbol, passage.parameter) if name]
        opening = opening or self.claim(part, f"`{label}`: {as_told(runs[0])}", [*bare, runs[0]], runs[:1])
        following = [claim for run in runs[1:] for claim in self.claim(part, as_told(run), [run], [run])]
        return [*deprecated, *opening, *following, *([] if is_other else self.accepts(part))]

    def told_by_owner(self, part: Part) -> list[Claim]:
        """What the documentation of its callable says of a parameter that has none of its own."""
        passage = part.passage
        owner = self.owner_of(part)
        if not passage.parameter or owner is None:
            return []
        runs = [run for run in told_of(passage.parameter, owner) if run not in self.said]
        self.said += runs
        of_owner = part._replace(passage=owner)
        return [claim for run in runs for claim in self.claim(of_owner, plain(run), [run], [run])]

    def deprecated(self, part: Part) -> list[Claim]:
        """What the source says of its deprecation, and what replaces it."""
        passage = part.passage
        if not passage.deprecated:
            return []
        label = _label(passage)
        slots = [one for one in (passage.symbol, passage.parameter) if one]
        new = passage.replacement
        if new and new.rpartition(".")[2] not in passage.deprecated and holds(passage.text, new):
            after, slots = f" The replacement is `{new}`.", [*slots, new]
        else:
            after = ""
        text = f"`{label}` is deprecated: {plain(passage.deprecated)}{after}"
        self.said.append(passage.deprecated)
        return self.claim(part, text, [*slots, passage.deprecated], [passage.deprecated])

    def section(self, part: Part, runs: Sequence[str], *, whole: bool) -> list[Claim]:
        """What a section says of the question; beside a surer answer no steps, since one alone would mislead."""
        passage = part.passage
        start = f"{folded(passage.title)}: " if passage.title.strip() else ""
        told = [(plain(row.message), row.slots, [row.line]) for row in told_rows(passage, runs, self.asked)]
        if told:
            return [
                claim
                for text, slots, quotes in told
                for claim in self.claim(part, start + text, slots, quotes)
            ]
        steps = told_steps(passage, runs, self.asked) if whole else []
        runs = runs if whole else without_steps(runs)
        pieces = steps or [(as_told(run), [run]) for run in runs]
        claims: list[Claim] = []
        for number, (text, quotes) in enumerate(pieces):
            claims += self.claim(part, text if number else start + text, quotes, quotes)
        self.said += runs
        return claims

    def telling(self, part: Part, share: float) -> list[Claim]:
        """The parameters of a symbol that the question names, or else those that say such a share of it."""
        if part.passage.parameter or not part.passage.symbol:
            return []
        own = [
            one
            for one in part.support
            if one.symbol == part.passage.symbol
            and one.lead
            and one.parameter
            and (one.pinned or one.parameter not in part.passage.required)
        ]
        named = [one for one in own if self.names_parameter(one)]
        if named:
            return [
                claim
                for one in named[:_TELLING]
                for claim in self.block(Part(part.source, one, part.support), _NAMED, close=True)
            ]
        near = [
            one
            for one in own
            if not one.deprecated and self.asked.share(f"{one.parameter} {one.lead}") >= share
        ]
        return self.blocks(
            [Part(part.source, one, part.support) for one in near[:_TELLING]], [200] * _TELLING
        )

    def names_one(self, part: Part) -> bool:
        """Whether the question names a documented parameter of a symbol."""
        own = [one for one in part.support if one.symbol == part.passage.symbol and one.lead]
        return any(self.names_parameter(one) for one in own)

    def names_parameter(self, passage: Passage) -> bool:
        """Whether the question names what a passage is about; an everyday word (`on`, `to`) only as code."""
        name = passage.parameter or ""
        is_code = any(one.name == name and one.form != "weak" for one in self.asked.parsed.identifiers)
        return self.asked.names(name) and (is_code or name not in STOP_WORDS)

    def accepts(self, part: Part) -> list[Claim]:
        """The values behind the names in a parameter's declaration: its type's alias, its default's constant."""
        passage = part.passage
        claims = self.meaning(part)
        default = None if marks_nothing(passage.default or "") else passage.default
        for word, name in (("The type", passage.annotation), ("The default", default)):
            stands_for = behind(part.support, name) if passage.parameter and name else None
            if stands_for is None or not name or not holds(passage.text, name):
                continue
            value = value_of(stands_for)
            bare = bare_name(name)
            text = f"{word} `{folded(bare)}` is `{folded(value)}`."
            if len(folded(value)) > _LONG_ALIAS or plain(value) in " ".join(self.said):
                continue
            numbers = [
                self.citer.cite(part.source, passage, passage.signature or name),
                self.citer.cite(part.source, stands_for, assignment_of(stands_for)),
            ]
            claim = self.citer.claim(text, numbers, [bare, value])
            claims += [claim] if claim else []
            claims += self.inside(part, stands_for, value) if word == "The type" else []
        return [*claims, *self.classes_inside(part), *self.type_of_option(part)]

    def type_of_option(self, part: Part) -> list[Claim]:
        """What the type of an option holds or lists, and for a how-to what takes the option."""
        told = [option_type(part.passage, part.support)]
        told += [option_taker(part.passage, part.support)] if self.asked.parsed.kind == "how_to" else []
        claims = []
        for one in filter(None, told):
            numbers = [self.citer.cite(part.source, declared, quote) for declared, quote in one.quotes]
            claim = self.citer.claim(one.text, numbers, list(one.slots))
            claims += [claim] if claim else []
        return claims

    def classes_inside(self, part: Part) -> list[Claim]:
        """The first class of the library that a parameter's type names, for a how-to: what is passed is made with it."""
        passage = part.passage
        if not passage.parameter or self.asked.parsed.kind != "how_to":
            return []
        alias = behind(part.support, passage.annotation) if passage.annotation else None
        declared = value_of(alias) if alias is not None else passage.annotation or ""
        made_with = [
            Part(part.source, one, part.support)
            for one in part.support
            if one.what == "class"
            and one.symbol
            and one.lead
            and one.symbol != passage.symbol
            and re.search(rf"(?<![\w])['\"]?{re.escape(one.symbol.rpartition('.')[2])}(?!\w)", declared)
        ]
        return self.blocks(made_with[:1], [_BESIDE])

    def inside(self, part: Part, alias: Passage, value: str) -> list[Claim]:
        """The meaning of the first alias that a type is made of: the form of one file in `dict[str, FileTypes]`."""
        for one in part.support:
            name = (one.symbol or "").rpartition(".")[2]
            is_inside = one is not alias and name and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", value)
            if not is_inside or behind([one], name) is None:
                continue
            meant = value_of(one)
            if len(folded(meant)) > _LONG_INSIDE:
                return []
            text = f"The type `{name}` is `{folded(meant)}`."
            claim = self.citer.claim(
                text, [self.citer.cite(part.source, one, assignment_of(one))], [name, meant]
            )
            return [claim] if claim else []
        return []

    def meaning(self, part: Part) -> list[Claim]:
        """What a default means that only marks that nothing was given."""
        value = part.passage.default_means
        if value is None or value in self.said:
            return []
        is_none = part.passage.default == "None"
        text = (
            f"The default `None` means `{folded(value)}`."
            if is_none
            else f"The default is `{folded(value)}`."
        )
        return self.claim(part, text, ["None", value] if is_none else [value], [last_run(part.passage)])

    def claim(self, part: Part, text: str, slots: Sequence[str], quotes: Sequence[str]) -> list[Claim]:
        numbers = [self.citer.cite(part.source, part.passage, quote) for quote in quotes]
        claim = self.citer.claim(text, [*numbers, *self.owner_cited(part, slots)], list(slots))
        return [claim] if claim else []

    def owner_cited(self, part: Part, slots: Sequence[str]) -> list[int | None]:
        """The definition of what takes a parameter, where its documentation is shared and lies beside another's definition."""
        passage = part.passage
        symbol = passage.symbol or ""
        if not passage.parameter or symbol not in slots or slot_stands(symbol, [passage.text]):
            return []
        owner = self.owner_of(part)
        return (
            [self.citer.cite(part.source, owner, (owner.signature or owner.text).split("\n")[0])]
            if owner
            else []
        )

    def owner_of(self, part: Part) -> Passage | None:
        """The passage about what takes a parameter."""
        known = [*(one.passage for one in self.parts), *part.support]
        return next((one for one in known if one.symbol == part.passage.symbol and not one.parameter), None)

    def example(self, part: Part, others: Sequence[Passage] | None = None) -> list[CodeExample]:
        """The shortest code that shows what answers, with the parameter that the question names.

        Args:
            part: what the code is to show.
            others: further passages whose code may be shown; by default what explains it, and the next passages.
        """
        return self.cited_code(part, self.pieces(part, others))

    def cited_code(self, part: Part, pieces: Sequence[tuple[Passage, str]]) -> list[CodeExample]:
        """Pieces of code with their citations."""
        examples = [
            self.citer.code(part.source, place, with_results(place.text, code)) for place, code in pieces
        ]
        return [example for example in examples if example]

    def pieces(self, part: Part, others: Sequence[Passage] | None = None) -> Sequence[tuple[Passage, str]]:
        """The code of an example, and the passage that has it."""
        passage = part.passage
        if passage.what in {"message", "setting"}:  # where it is raised, and on what condition, or read
            return [(passage, passage.code[0])] if passage.code else []
        if passage.deprecated and passage.replacement:
            return []
        if others is None:
            others = [*part.support, *(other.passage for other in self.parts[1:4])]
        named = [
            name.lstrip("*")
            for name, _default in passage.parameters
            if passage.what in {"function", "class"}
            and name not in passage.required  # passed by its place, so that no code has its name
            and self.asked.names(name)
        ]
        known = [one.passage for one in self.parts] + [one for each in self.parts for one in each.support]
        found = shortest_example(
            passage, [passage, *others], self.asked, frozenset(named), known, self.library
        )
        return [found] if found else _raised_in(passage, part.support)


def _last_of(passage: Passage) -> str:
    """The name by which a sentence would call what a passage is about."""
    return passage.parameter or (passage.symbol or passage.title).rpartition(".")[2]


def _deprecated_parameters(part: Part) -> set[str]:
    """The parameters of a callable that no call should give any more."""
    own = (one for one in part.support if one.symbol == part.passage.symbol and one.deprecated)
    return {one.parameter for one in own if one.parameter}


def _beside(part: Part) -> list[Passage]:
    """The passages that hold the first lines of the names beside one."""
    title = f"names beside {part.passage.symbol}"
    return [one for one in part.support if one.what == "names" and one.title == title]


def _is_member(names: Passage, owner: Passage) -> bool:
    """Whether some names are those of a class's members."""
    return all(name.startswith(f"{owner.symbol}.") for name in names.also)


def _raised_in(passage: Passage, support: Sequence[Passage]) -> list[tuple[Passage, str]]:
    """The code that raises in a function whose documentation does not say when."""
    name = (passage.symbol or "").rpartition(".")[2]
    said = [one for one in support if one.what == "message" and one.code]
    return [(one, one.code[0]) for one in said if name and one.title.rpartition(".")[2] == name]


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


def _label(passage: Passage) -> str:
    """What a passage is about, as one name."""
    if passage.symbol and passage.parameter:
        return f"{passage.symbol}({passage.parameter})"
    return passage.symbol or passage.title


def _belongs(passage: Passage, first: Passage) -> bool:
    """Whether a passage is named beside the first one, by the question or by the message that it quotes, or replaces it."""
    is_other = passage.symbol is None or passage.symbol != first.symbol
    return (passage.pinned and is_other) or first.replacement == _label(passage)
