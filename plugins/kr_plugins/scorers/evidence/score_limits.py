"""The most that the score of an answer may be: what the model could not learn from its questions."""

from __future__ import annotations

import itertools
import re
from functools import partial
from typing import TYPE_CHECKING

from kr_core.toolkit import (
    content_words,
    gap,
    given_values,
    is_expected,
    is_named,
    is_opposite,
    parse_question,
    stem,
    telling_stems,
    untold_parts,
    words,
)
from kr_plugins.scorers.evidence.answer_features import is_of_unsaid_owner, is_worded, share_beside_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.plugin import Draft, Finding, Passage, ResearchQuery
    from kr_core.toolkit import ParsedQuestion

HIGH, MEDIUM = 80, 50
_LITTLE = 0.3
"""A passage that the question does not name and that covers less of it is never `medium`."""
NO_LIMIT = 100
_BY_DEFAULT = re.compile(r"\bdefaults?\b(?! values?\b)", re.IGNORECASE)
_DOES_BY_DEFAULT = re.compile(r"\b(?:what|which|how)\b.{0,200}\bby default\b", re.IGNORECASE)
_TOLD_NONE = re.compile(r"(?:the default of `\w+` in [^ ]+ is|default) `none`")
_SAYS_NONE = re.compile(
    r"\bnone\b|\bby default\b|\bdefaults? to\b|\bif (?:omitted|unset|not (?:given|set|specified|provided|passed))\b"
)
_TELLS_VALUE = re.compile(
    r"\bdefaults? (?:to|is|are|value|`)|\bby default\b|\bdefault[:=]|\(default|\bif (?:omitted|unset|None|not (?:given|set|specified|provided|passed|supplied))\b",
    re.IGNORECASE,
)
_FAILS = re.compile(
    r"\bwhat happens (?:if|when)\b.{0,100}\b(?:missing|(?:not|n't) (?:exist|found|there|present|in|match)\w*|invalid|wrong|bad|fails?|absent|unknown|empty|negative|too \w+|no)\b",
    re.IGNORECASE,
)
_SAYS_FAILURE = re.compile(
    r"\b(?:rais\w+|\w*error\w*|\w*exception\w*|fail\w*|ignor\w+|missing|nan|returns? (?:none|false|an empty)|not found|invalid)\b",
    re.IGNORECASE,
)
_ASKS_FOR_CODE = re.compile(
    r"\b(?:(?:an?|some|minimal|short|simple|working) (?:\w+ )?(?:example|snippet)|example (?:of|for|code)|sample code|code (?:example|snippet|sample))\b",
    re.IGNORECASE,
)
_TAKER = re.compile(r"\bdefaults?\b.{1,80}\b(?:in|of|for) (?:the )?[`'\"]?([a-z_]\w*)\b(?!\.)")
_TOPICAL = frozenset({"how_to", "meaning", "yes_no", "default", "options"})
_QUOTED = re.compile(r"""['"`][\w.+-]{1,40}['"`]""")
_DEFAULT_MARK = re.compile(r"@?\bdefault\s+(?:`[^`]*`|\S+)")
"""A default that is given and not explained."""
_LISTED = 3
"""A sentence that quotes this many values is a list of them."""
_NOT_RESOLVED = re.compile(
    r"the default of .{1,300} is `((?!(?:True|False|None)`)[a-z_][^`(]{0,80})`\.", re.IGNORECASE
)
"""A default that is a name or an expression with one, of which no sentence says what it stands for."""
_ADVISES = re.compile(
    r"\b(?:instead|use|try|set|pass|install|must|should|make sure|please|upgrade|remove|replace|consider|did you|add|call)\b",
    re.IGNORECASE,
)
_TYPED = re.compile(r"\(type `[^`\n]{0,300}`[^)\n]{0,300}\)")
_VERDICT = re.compile(r"(?:Yes|No):")
_WITHOUT = re.compile(r"\b(?:without|except)\s+(?:an?\s+|the\s+|any\s+)?(\w+)", re.IGNORECASE)
_FEW_WORDS = 8
_SHORT = 3
"""A stem of at most three letters is too short to look for inside names."""
_HALF, _NAMED = 0.5, 0.3
"""The share of the telling words that an answer must say at least; less if the question names what is cited."""
_EXPECTED = 0.45
"""So much of the question a passage has to cover that only the asker names: else nothing but the name speaks for it."""
_SURELY_EXPECTED, _OF_PARAMETER = 0.55, 0.34
"""The same for a `high` answer, and what a parameter has to say beside the name of its callable."""
_SENTENCE_END = re.compile(r"(?<=[.!?\]])\s")
_CODE_SPAN = re.compile(r"`[^`]*+`|\[\d++\]")


def limit_of(
    query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft
) -> tuple[int, list[str]]:
    """The most that the score may be, and why."""
    told = [*_of_source(query, findings, draft), *_of_names(query, findings, draft)]
    shown = [passage for _source, finding in findings for passage in finding.passages]
    if shown:
        asked = parse_question(query.question)
        worded = is_worded(query, asked, shown)
        named = _is_named_with_owner(query, asked, shown[0]) or _takes_asked(query, shown[0], shown)
        told += _of_first(shown[0], asked.kind, worded=worded)
        told += [
            (MEDIUM - 1, reason) for reason in _not_said(asked, shown, draft, worded=worded, named=named)
        ]
        told += [(MEDIUM - 1, reason) for reason in _not_together(query, asked, shown, draft)]
        told += _of_other(query, asked, shown)
        told += _of_opposite(query, asked, shown[0])
        told += _of_unsaid_callable(query, asked, shown[0])
        told += _lacks(query, asked, shown[0], draft, worded=worded, named=named)
        told += _not_as_expected(query, asked, shown, draft)
    return min(limit for limit, _reason in told), [reason for _limit, reason in told if reason]


def _of_source(
    query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft
) -> Iterator[tuple[int, str]]:
    """Who says it, and of which version."""
    agreement = _agreement(draft, findings)
    if draft.citations[0].official:
        yield NO_LIMIT, "official documentation"
    elif agreement > 1:
        yield HIGH - 1, f"not official documentation, but {agreement} independent places agree"
    else:
        yield MEDIUM - 1, "not official documentation"
    read = next((finding.version for _source, finding in findings if finding.version), None)
    difference = gap(read, query.framework_version) if read else None
    if difference:
        limit = HIGH - 1 if difference == "minor" else MEDIUM - 1
        yield limit, f"read in {read}, asked about {query.framework_version}"
    elif read:
        yield NO_LIMIT, f"read in the version in use, {read}"


def _of_names(
    query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft
) -> Iterator[tuple[int, str]]:
    """What the question names that was not found; of names that the asker expects another one may be right."""
    unresolved = [
        one.name for _source, finding in findings for one in finding.unresolved if not one.mentioned
    ]
    if unresolved:
        first = next((passage for _source, finding in findings for passage in finding.passages), None)
        is_other = (
            first is not None and is_named(query, first) and not any(map(_may_be_parameter, unresolved))
        )
        limit = HIGH - 1 if is_other else MEDIUM - 1
        yield limit, f"the documentation does not have {', '.join(unresolved[:3])}"
    if draft.not_found:
        yield MEDIUM - 1, f"nothing was found named {', '.join(draft.not_found)}"


def _of_first(first: Passage, kind: str, *, worded: bool) -> Iterator[tuple[int, str]]:
    """What the first passage is."""
    if first.parameter and not first.lead and kind not in {"default", "options"}:
        yield MEDIUM - 1, f"the documentation does not say what {first.parameter} means"
    if first.kind == "constant" and not first.lead and kind not in {"default", "options"}:
        yield MEDIUM - 1, f"the documentation does not say what {first.symbol} is for"
    if first.what == "message":
        yield HIGH - 1, "the source says when it is raised, and may not say how to mend it"
    if kind == "how_to" and first.parameter and not first.pinned and not worded:
        yield HIGH - 1, f"the question does not name {first.parameter}"
    if not first.pinned and first.coverage < _LITTLE:
        yield MEDIUM - 1, ""


def _not_said(
    asked: ParsedQuestion, shown: Sequence[Passage], draft: Draft, *, worded: bool, named: bool
) -> Iterator[str]:
    """What the question turns on and no sentence of the answer says."""
    told = [claim.text.casefold() for claim in draft.summary]
    if not told:
        return
    first = shown[0]
    if told[0].startswith("see also"):
        yield "nothing can be quoted of what comes first"
    if asked.kind == "meaning":
        yield from _not_meant(asked, told)
    yield from _not_named(asked, draft)
    if first.what == "message" and not _is_explained(asked, draft):
        yield "nothing was found beside the message itself"
    if asked.kind == "error" and first.what == "class" and not _advises(shown, told):
        yield "the class of the error is described, and nothing says how to mend it"
    if asked.kind == "meaning" and (value := _value_not_explained(asked, draft)):
        yield f"no sentence of the answer says what {value} means"
    if asked.kind == "error" and not first.pinned and _last(first) not in asked.text.casefold():
        is_raised = first.what == "message"
        yield (
            "the message that was found may be another"
            if is_raised
            else "no source read here raises this error"
        )
    decides = draft.direct and _VERDICT.match(draft.summary[0].text)
    if asked.kind == "yes_no" and not decides and not (named or any(one.pinned for one in shown)):
        yield "no sentence decides"
    asks = _DOES_BY_DEFAULT if first.pinned or worded else _BY_DEFAULT
    if first.parameter and first.default == "None" and first.default_means is None:
        says_it = _BY_DEFAULT.search(_TOLD_NONE.sub("", " ".join(told)))
        if asks.search(asked.asking) and not says_it:
            yield f"no sentence of the answer says what None means in {first.parameter}"


def _advises(shown: Sequence[Passage], told: Sequence[str]) -> bool:
    """Whether an answer about an error holds its message in the source, or says what to do."""
    return any(one.what == "message" for one in shown) or any(map(_ADVISES.search, told))


def _not_named(asked: ParsedQuestion, draft: Draft) -> Iterator[str]:
    """The keywords of the question (`bind=True`) of which neither a sentence nor the code of the answer speaks."""
    parts = [*(claim.text for claim in draft.summary), *(example.code for example in draft.summary_code)]
    said = "\n".join(parts).casefold()
    for one in asked.identifiers:
        if one.form == "keyword" and not re.search(rf"(?<!\w){re.escape(one.name.casefold())}(?!\w)", said):
            yield f"nothing in the answer speaks of {one.name}"


def _lacks(
    query: ResearchQuery, asked: ParsedQuestion, first: Passage, draft: Draft, *, worded: bool, named: bool
) -> Iterator[tuple[int, str]]:
    """What the question asks for, if the answer has nothing of the kind."""
    told = _told_of(first, draft)
    if asked.kind == "default" and not draft.direct and not _tells_value(query, asked, first, told):
        yield MEDIUM - 1, "no sentence tells a value"
    if asked.kind == "default" and draft.direct and _is_bare_none(first, draft):
        yield HIGH - 1, f"nothing tells what None means in {first.parameter}"
    if asked.kind == "default" and draft.direct and (left := _NOT_RESOLVED.match(_direct_of(draft))):
        yield HIGH - 1, f"nothing tells what {left[1]} is"
    # what the asker names with its owner is rarely another thing than is meant: in doubt, it is `medium`; a how-to may
    # ask for what no such thing does
    little = HIGH if named and (first.parameter or asked.kind not in {"how_to", "meaning"}) else MEDIUM
    if asked.kind == "yes_no" and not _says_all(query, asked, first, draft):
        yield little - 1, "no sentence speaks of all that was asked"
    if _FAILS.search(asked.asking) and not draft.direct and not _SAYS_FAILURE.search(told):
        yield MEDIUM - 1, "no sentence tells what happens in that case"
    if _ASKS_FOR_CODE.search(asked.asking) and not draft.summary_code:
        yield HIGH - 1, "the question asks for code, and there is none"
    if told and not draft.direct and not draft.summary_code and _restates(query, first, told):
        yield MEDIUM - 1, f"the answer says no more than the name {_last(first)}"

    if untold_parts(query, draft, _HALF):
        yield HIGH - 1, "a part of the question is hardly spoken of"
    if asked.kind == "difference" and not _contrasts(draft):
        yield HIGH - 1, "no sentence sets the one against the other"
    if left_out := _left_out(asked, draft):
        yield HIGH - 1, f"no sentence says how {left_out} is left out"
    if not worded and not _speaks_of_it(query, asked, first, draft):
        yield little - 1, "what is quoted does not speak of most of what was asked"


def _contrasts(draft: Draft) -> bool:
    """Whether what is quoted of one symbol names another that is cited: two first sentences do not say how they differ."""
    cited = {_last(one).casefold() for one in draft.passages.values() if one.symbol and not one.parameter}
    for claim in draft.summary:
        own = {_last(draft.passages[number]).casefold() for number in claim.citations}
        if len(own) == 1 and not (cited - own).isdisjoint(words(claim.text.casefold())):
            return True
    return False


def _left_out(asked: ParsedQuestion, draft: Draft) -> str:
    """What the question wants left out (`without an intercept`) and the answer does not speak of; else empty."""
    found = _WITHOUT.search(asked.asking) if asked.kind == "how_to" else None
    told = itertools.takewhile(
        lambda text: not text.startswith("See also "), (one.text for one in draft.summary)
    )
    said = {stem(word) for text in told for word in words(text)}
    said |= {stem(word) for example in draft.summary_code for word in words(example.code)}
    return found[1] if found and stem(found[1].lower()) not in said else ""


def _is_named_with_owner(query: ResearchQuery, asked: ParsedQuestion, first: Passage) -> bool:
    """Whether the request names what comes first, and it or the question what takes or has it."""
    return is_named(query, first) and not is_of_unsaid_owner(query, asked, first)


def _takes_asked(query: ResearchQuery, first: Passage, shown: Sequence[Passage]) -> bool:
    """Whether the first passage is a parameter that the question itself names, and the request names its callable."""
    takers = [one for one in shown if one.symbol == first.symbol and not one.parameter]
    return bool(first.parameter) and first.pinned and any(is_named(query, one) for one in takers)


def _not_as_expected(
    query: ResearchQuery, asked: ParsedQuestion, shown: Sequence[Passage], draft: Draft
) -> Iterator[tuple[int, str]]:
    """What the asker expects and the answer has elsewhere, or not at all."""
    first = shown[0]
    elsewhere = [] if first.parameter else [one for one in shown[1:] if one.parameter in query.names]
    if elsewhere and all(is_of_unsaid_owner(query, asked, one) for one in elsewhere):
        yield MEDIUM - 1, f"{elsewhere[0].parameter} was found in {elsewhere[0].symbol} alone"
    if unsaid := _unsaid_names(query, draft):
        yield HIGH - 1, f"the answer says nothing of {unsaid[0]}"
    if is_expected(query, asked, first) and not _bears_out(query, asked, first, draft):
        yield HIGH - 1, "little but the names of the request speaks for it"
    of_one = [one for one in shown[1:] if _owner(one) == _owner(first) and is_named(query, one)]
    if is_expected(query, asked, first) and is_of_unsaid_owner(query, asked, first) and not of_one:
        yield MEDIUM - 1, f"{_last(first)} is a member of something that was not named"


def _owner(passage: Passage) -> str:
    return (passage.symbol or "").rpartition(".")[0]


def _bears_out(query: ResearchQuery, asked: ParsedQuestion, first: Passage, draft: Draft) -> bool:
    """Whether what only the asker expects says enough of the question itself; a parameter, beside its callable's name."""
    if first.parameter and share_beside_name(query, first) < _OF_PARAMETER:
        return False
    return first.coverage >= _SURELY_EXPECTED or _share_said(query, asked, first, draft) > _HALF


def _may_be_parameter(name: str) -> bool:
    """Whether a name is spelled as a parameter, alone or with what does not take it: then the rest may not answer."""
    return name.endswith(")") or (name.isidentifier() and name.islower())


def _unsaid_names(query: ResearchQuery, draft: Draft) -> list[str]:
    """The names of the request that may be parameters and that the answer does not say."""
    told = " ".join([*(claim.text for claim in draft.summary), *(one.code for one in draft.summary_code)])
    names = [name for name in query.names if name.isidentifier() and name.islower()]
    return [name for name in names if not re.search(rf"(?<!\w)_?{re.escape(name)}(?!\w)", told)]


def _speaks_of_it(query: ResearchQuery, asked: ParsedQuestion, first: Passage, draft: Draft) -> bool:
    """Whether an answer says enough of what was asked; what only the asker expects has to say more."""
    share = partial(_share_said, query, asked, first, draft)
    if is_expected(query, asked, first):
        return first.coverage >= _EXPECTED or share() > _HALF
    if asked.kind not in _TOPICAL or first.what == "message":
        return True
    return share() > (_NAMED if first.pinned else _HALF)


def _is_bare_none(first: Passage, draft: Draft) -> bool:
    """Whether a default is None, and no sentence speaks of what that means."""
    said = " ".join(claim.text for claim in draft.summary).casefold()
    told = _TOLD_NONE.sub("", _TYPED.sub("", said))
    return first.default == "None" and first.default_means is None and not _SAYS_NONE.search(told)


def _says_all(query: ResearchQuery, asked: ParsedQuestion, first: Passage, draft: Draft) -> bool:
    """Whether the answer speaks of each telling word of a yes/no question; a default that it tells decides alone."""
    if "default" in asked.kinds and draft.direct:
        return True
    said = _stems_of(" ".join([_told_of(first, draft), _direct_of(draft)]))
    return telling_stems(asked, query.framework) <= _names_of(first) | said


def _of_other(
    query: ResearchQuery, asked: ParsedQuestion, shown: Sequence[Passage]
) -> Iterator[tuple[int, str]]:
    """A parameter of something else, where a question for a default names what takes it: "the default of start in range"."""
    first = shown[0]
    taken = _TAKER.findall(asked.asking) if asked.kind == "default" and first.parameter else []
    named = [name for name in taken if name != first.parameter]
    own = {part for name in (first.symbol or "", *first.also, *first.aliases) for part in name.split(".")}
    if named and not own & set(named) and any(_last(one) in named for one in shown[1:] if not one.parameter):
        yield MEDIUM - 1, f"the question asks about {named[0]}, and this is a parameter of {first.symbol}"
    if asked.kind == "default" and first.parameter and _is_place(query, asked, first.parameter):
        yield MEDIUM - 1, f"the question asks for a default in {first.parameter}, and not for its own"
    yield from _of_other_class(asked, first)
    yield from _of_other_method(asked, shown, own)


def _is_place(query: ResearchQuery, asked: ParsedQuestion, parameter: str) -> bool:
    """Whether a question names a parameter only as the place of what it asks for: "the default max retries in Config"."""
    found = re.search(rf"\bdefaults?\b(.{{1,80}}?)\bin (?:\w+ )?{re.escape(parameter)}\b", asked.asking)
    subject = {stem(word) for word in content_words(found[1])} if found else set()
    subject &= telling_stems(asked, query.framework)
    return bool(subject) and subject.isdisjoint(_stems_of(parameter))


def _of_other_method(
    asked: ParsedQuestion, shown: Sequence[Passage], own: set[str]
) -> Iterator[tuple[int, str]]:
    """A parameter of a method, where a question for a default names the class alone."""
    first = shown[0]
    symbols = {name.rpartition(".")[2] for name in (first.symbol or "", *first.also, *first.aliases)}
    classes = [one.last for one in asked.identifiers if one.place == "prose" and one.last[:1].isupper()]
    is_of_method = first.parameter and classes and symbols.isdisjoint({*classes, *words(asked.asking)})
    known = own.union(*((one.symbol or "").split(".") for one in shown))
    if asked.kind == "default" and is_of_method and set(classes) & known:
        yield MEDIUM - 1, f"the question asks about {classes[0]}, and this is a parameter of {first.symbol}"


def _of_other_class(asked: ParsedQuestion, first: Passage) -> Iterator[tuple[int, str]]:
    """A parameter of a method of another class: `Adapter.send` where the question says `Session.send`."""
    names = [f".{name}" for name in (first.symbol or "", *first.also, *first.aliases)]
    for one in asked.identifiers if first.parameter else ():
        owner = one.name.rpartition(".")[0].rpartition(".")[2]
        is_same_name = owner[:1].isupper() and any(name.endswith(f".{one.last}") for name in names)
        if is_same_name and not any(f".{owner}.{one.last}" in f"{name}." for name in names):
            yield MEDIUM - 1, f"the question asks about {one.name}, and this is a parameter of {first.symbol}"


def _of_unsaid_callable(
    query: ResearchQuery, asked: ParsedQuestion, first: Passage
) -> Iterator[tuple[int, str]]:
    """A part of something that a how-to does not mention, found by its words alone: `unstack(sort)` for sorting rows."""
    if asked.kind != "how_to" or first.pinned or not first.symbol or is_named(query, first):
        return
    *owners, last = first.symbol.split(".")
    own = _stems_of(" ".join([last, *(one for one in owners[-1:] if one[:1].isupper())]))
    said = _stems_of(asked.asking)
    parts = {stem(part) for part in words((first.parameter or "").replace("_", " "))}
    if len(parts) > 1 and parts <= said:  # "follow redirects" names `follow_redirects` in any callable
        return
    if not any(
        one in said or any(one.startswith(root) for root in said if len(root) > _SHORT) for one in own
    ):
        yield MEDIUM - 1, f"the question does not speak of {last}"


def _of_opposite(query: ResearchQuery, asked: ParsedQuestion, first: Passage) -> Iterator[tuple[int, str]]:
    """A name that says the opposite of what is asked for: `unstructure` where the question says "structure"."""
    name = _stems_of(" ".join([(first.symbol or "").rpartition(".")[2], first.parameter or ""]))
    is_found = (
        asked.kind == "how_to" and not first.pinned
    )  # by its words alone: they may be about the other way
    telling = telling_stems(asked, query.framework)
    for own in (name, name | _stems_of(first.lead)) if is_found else (name,):
        for one in sorted(own - telling):
            if any(is_opposite(one, other) for other in telling - own):
                yield MEDIUM - 1, f"{_last(first)} says the opposite of what is asked for"
                return


def _share_said(query: ResearchQuery, asked: ParsedQuestion, first: Passage, draft: Draft) -> float:
    """The share of the question's telling words that the first passage's name, the quotes and the code say."""
    telling = telling_stems(asked, query.framework)
    told = " ".join([_told_of(first, draft), first.title, *(one.code for one in draft.summary_code)])
    return len(telling & _stems_of(told)) / (len(telling) or 1)


def _stems_of(text: str) -> set[str]:
    """The stems of a text's words, those inside names too."""
    return {stem(word) for one in (text, text.replace("_", " ")) for word in words(one)}


def _names_of(first: Passage) -> set[str]:
    return _stems_of(" ".join([first.symbol or first.title, first.parameter or "", *first.aliases]))


def _direct_of(draft: Draft) -> str:
    """The sentence that answers in the question's kind, which may be from another passage than the first."""
    return draft.summary[0].text if draft.direct and draft.summary else ""


def _tells_value(query: ResearchQuery, asked: ParsedQuestion, first: Passage, told: str) -> bool:
    """Whether a sentence about what is asked for says a value, and not one about something else of the same callable."""
    subject = telling_stems(asked, query.framework) - _names_of(first.model_copy(update={"parameter": None}))
    told_apart = _SENTENCE_END.split(told)
    return any(_TELLS_VALUE.search(one) and (not subject or subject & _stems_of(one)) for one in told_apart)


def _told_of(first: Passage, draft: Draft) -> str:
    """What the answer says of its first passage."""
    numbers = {number for number, passage in draft.passages.items() if passage.text == first.text}
    return " ".join(claim.text for claim in draft.summary if numbers & set(claim.citations))


def _restates(query: ResearchQuery, first: Passage, told: str) -> bool:
    """Whether what is quoted only says a name in words: `pool_size`: The pool size."""
    if first.kind in {"section", "page"} or first.what == "message":
        return False
    names = [query.framework, first.symbol or "", first.parameter or "", *first.aliases]
    known = {stem(word) for name in names for word in words(name.replace("_", " "))}
    said = {stem(word) for word in content_words(_CODE_SPAN.sub(" ", told))}
    return not said - known


def _is_explained(asked: ParsedQuestion, draft: Draft) -> bool:
    """Whether an answer says more than a pasted message, the code that raises it and the class of the error."""
    pasted = _words_of(asked.text)
    numbers = {number for claim in draft.summary for number in claim.citations}
    shown = [passage for number, passage in draft.passages.items() if number in numbers]
    return any(
        passage.what != "message" and _last(passage) not in pasted and len(passage.lead.split()) >= _FEW_WORDS
        for passage in shown
    ) or any(
        _ADVISES.search(sentence) and not _words_of(sentence) <= pasted
        for passage in shown
        if passage.what == "message"
        for sentence in _SENTENCE_END.split(passage.lead)
    )


def _words_of(text: str) -> set[str]:
    return set(words(text.casefold()))


def _value_not_explained(asked: ParsedQuestion, draft: Draft) -> str:
    """The value whose meaning is asked for (`mode="wrap"`), if the answer only lists it; else nothing."""
    value = next(iter(given_values(asked.asking)), None)
    if value is None:
        return ""
    quoted = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
    told = [
        one
        for claim in draft.summary
        for one in _SENTENCE_END.split(_DEFAULT_MARK.sub("", claim.text))
        if quoted.search(one)
    ]
    return "" if any(len(_QUOTED.findall(one)) < _LISTED for one in told) else value


def _not_meant(asked: ParsedQuestion, told: Sequence[str]) -> Iterator[str]:
    """A name whose meaning is asked for and that no sentence says."""
    for one in asked.identifiers:
        is_subject = one.role == "subject" and one.place == "prose"
        if is_subject and not any(one.last.casefold() in text for text in told):
            yield f"no sentence of the answer says {one.last}"


def _not_together(
    query: ResearchQuery, asked: ParsedQuestion, shown: Sequence[Passage], draft: Draft
) -> Iterator[str]:
    """Two things that the question names, if no sentence is about both: sentences about each alone are not the answer.

    Of names that only the asker expects, each may be an answer: `forward_fill`, `fill_null`.
    """
    if asked.kind not in {"yes_no", "meaning", "how_to"} or not draft.summary:
        return
    told = [claim.text.casefold() for claim in draft.summary]
    pinned = [
        one for one in shown if one.pinned and one.what != "message" and not is_expected(query, asked, one)
    ]
    names = list(dict.fromkeys(_last(one) for one in pinned))[:2]
    is_of_one = len({one.symbol for one in pinned}) < 2 or len(names) < 2
    if not is_of_one and not any(all(name in text for name in names) for text in told):
        yield f"no sentence of the answer is about both {names[0]} and {names[1]}"


def _last(passage: Passage) -> str:
    """The name by which a question would call what a passage is about."""
    return (passage.parameter or (passage.symbol or passage.title).rpartition(".")[2]).casefold()


def _agreement(draft: Draft, findings: Sequence[tuple[str, Finding]]) -> int:
    """In how many independent places stands what is cited first."""
    cited = draft.citations[0]
    places = [
        passage.agreement
        for source, finding in findings
        for passage in finding.passages
        if (source, passage.url) == (cited.source, cited.url) and passage.locate(cited.quote) == cited.locator
    ]
    return max(places, default=1)
