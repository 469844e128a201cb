"""What an answer shows of each passage: its head, the sentences that matter, what a callable takes, one piece of code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.evidence.asked_words import AskedWords
from kr_core.evidence.citations import Citer, folded, holds, plain, slot_stands
from kr_core.evidence.code_examples import introduction, shortest_example, with_results
from kr_core.evidence.coverage import is_named
from kr_core.evidence.default_answer import last_run
from kr_core.evidence.heads import head_of, listed_parameter, marks_nothing
from kr_core.evidence.option_types import option_taker, option_type
from kr_core.evidence.quoted_lists import told_rows, told_steps, without_steps
from kr_core.evidence.report_sections import Part
from kr_core.evidence.sentences import (
    assignment_of,
    bare_name,
    behind,
    documentation,
    explained_value,
    prose,
    returned,
    value_of,
)
from kr_core.evidence.window import as_told, first_sentence, told_of, window
from kr_core.question.analysis import subject_of
from kr_core.text import STOP_WORDS, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Claim, CodeExample, Passage, ResearchQuery


_LONGEST_INTRODUCTION = 400
_SAYS_LESS = 0.5
"""Prose that says less of the question than this share of what the code says gives way to what introduces the code."""
OF_ONE = frozenset({"how_to", "meaning", "default", "options", "yes_no"})
"""Kinds of questions that one callable answers."""
_MEMBERS = (150, 150, 150)
"""Characters of each member of a class that is shown."""
_ALSO_TAKES = 360
"""Characters of the names of parameters that the head of a callable leaves out."""
BESIDE = 200
"""Characters of a passage beside the first one."""
_MOST_LISTED, _ALL_LISTED = 12, 1_000
"""How many parameters of a callable are listed, and the characters of all."""
_LONG_ALIAS = 180
_LONG_INSIDE = 330
_TELLING = 2
_MOST_RETURNED = 400
"""Characters of what is said of a returned value."""
NAMED = 330
"""Characters of a parameter that the question names."""


class PassageBlocks:
    """Composes the blocks of an answer, each with its citations; nothing is shown or said twice.

    Args:
        query: the question; its kind, names and words choose what is shown.
        parts: the passages, the best first, each with what explains it.
    """

    def __init__(self, query: ResearchQuery, parts: list[Part]) -> None:
        self.query = query
        self.asked = AskedWords(query.question, [part.passage for part in parts], query.names)
        self.parts = parts
        self.subject = stems(" ".join(subject_of(query.question)))
        self.library = stems(f"{query.framework} {query.framework.rstrip('0123456789')} python")
        self.citer = Citer()
        self.shown: set[str] = set()
        self.said: list[str] = []

    def first_block(self, part: Part, budgets: Sequence[int]) -> list[Claim]:
        """The block of what comes first; of a section whose code says more than its prose, what introduces the code."""
        passage = part.passage
        pieces = [] if passage.symbol or passage.what or not passage.code else self.pieces(part, part.support)
        if pieces and self.says_less(passage, pieces[0][1], budgets[0]):
            return self.introduced(part, pieces[0][1])
        return [*self.blocks([part], budgets), *self.returns(part)]

    def returns(self, part: Part) -> list[Claim]:
        """What a function is documented to return, if that says something asked for."""
        passage = part.passage
        told = (
            returned(documentation(passage)) if passage.what == "function" and not passage.parameter else ""
        )
        new = stems(told) & self.subject - stems(label_of(passage).replace(".", " "))
        if not new or len(told) > _MOST_RETURNED:
            return []
        return self.claim(part, f"Returns {as_told(told)}", [told], [told])

    def says_less(self, section: Passage, code: str, budget: int) -> bool:
        """Whether what would be shown of a section's prose says much less of the question than its code does."""
        told = " ".join(window(section, self.asked, budget))
        return self.asked.share(told) < _SAYS_LESS * self.asked.share(code)

    def introduced(self, part: Part, code: str) -> list[Claim]:
        """The heading of a section, and what introduces its code."""
        self.shown.add(label_of(part.passage))
        heading = f"{folded(part.passage.title)}:"
        told = prose(introduction(part.passage, code)).replace("\n", " ")
        if told and len(told) <= _LONGEST_INTRODUCTION:
            claims = self.claim(part, f"{heading} {as_told(told)}", [told], [told])
            self.said.append(told)
            if claims:
                return claims
        return self.claim(part, heading, [], [code.strip().split("\n")[0]])

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
            if label_of(one) in self.shown or not said or any(said in run for run in self.said):
                continue
            self.shown.add(label_of(one))
            head = listed_parameter(one, symbol)
            listed = Part(part.source, one, part.support)
            claims += self.claim(listed, f"{head.text}: {as_told(said)}", [*head.slots, said], [said])
        return claims

    def also_takes(self, part: Part, *, leading: bool) -> list[Claim]:
        """The names of the parameters that the head of a callable leaves out: one of them may be the answer of a how-to."""
        passage = part.passage
        old = _deprecated_parameters(part)
        head = head_of(passage, self.asked, first=leading, without=old)
        if self.asked.parsed.kind not in OF_ONE or head is None or passage.parameter:
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

    def blocks(self, parts: Sequence[Part], budgets: Sequence[int], opening: str = "") -> list[Claim]:
        """A block for each of the first passages that say something new, as many as there are budgets."""
        claims: list[Claim] = []
        left = list(budgets)
        for part in parts:
            if not left:
                break
            # the parameter that an option of the same name stands for is part of the answer
            close = part.passage.parameter == self.parts[0].passage.title.rpartition(".")[2]
            block = self.block(part, NAMED if close else left[0], close=close)
            if block:
                claims += [block[0].model_copy(update={"text": opening + block[0].text}), *block[1:]]
                del left[0]
        return claims

    def block(self, part: Part, budget: int, *, close: bool = False) -> list[Claim]:
        """The head of a passage and the window on its documentation; less of it where it is not what is asked about."""
        passage = part.passage
        label, first = label_of(passage), plain(first_sentence(passage))
        is_other = bool(self.shown)
        if (
            label in self.shown
            or (first and first in self.shown)
            or (is_other and not first and not self.tells_by_head(passage))
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

    def tells_by_head(self, passage: Passage) -> bool:
        """Whether the head of a passage without documentation says enough: a type or default, or that an expected name is there."""
        has_value = (passage.parameter and passage.annotation) or passage.default
        return bool(has_value) or is_named(self.query, passage)

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
        label = label_of(passage)
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
                for claim in self.block(Part(part.source, one, part.support), NAMED, close=True)
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
            known = [*part.support, *(one.passage for one in self.parts)]
            stands_for = behind(known, name) if passage.parameter and name else None
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
        return self.blocks(made_with[:1], [BESIDE])

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
        values = {found for run in self.said if (found := explained_value(run))}
        wanted = values.pop() if len(values) == 1 else ""  # code that gives another value does another thing
        pieces = [(place, code) for place, code in self.pieces(part, others) if wanted in code]
        return self.cited_code(part, pieces)

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


def label_of(passage: Passage) -> str:
    """What a passage is about, as one name."""
    if passage.symbol and passage.parameter:
        return f"{passage.symbol}({passage.parameter})"
    return passage.symbol or passage.title
