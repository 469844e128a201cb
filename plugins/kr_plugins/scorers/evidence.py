"""The scorer `evidence` says how likely it is that a reader who knows the library would act on the answer.

The probability comes from a logistic model on a few features of the answer. `tests/quality/fit_confidence.py` fits it on the
question sets of `tests/quality`, and `docs/quality.md` says how well it holds.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import kr_core
from kr_core.plugin import Provider, Score
from kr_core.toolkit import (
    COVERED,
    FULLY,
    LogisticModel,
    answered,
    content_words,
    gap,
    given_values,
    parse_question,
    says_parameter,
    stem,
    telling_stems,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kr_core.plugin import Draft, Finding, Level, Passage, ResearchQuery
    from kr_core.toolkit import ParsedQuestion

HIGH, MEDIUM = 80, 50
WEIGHTS = Path(__file__).with_name("weights.json")
_FITTED_ON = "pkg:"
"""The addresses of packages, whose documentation the model was fitted on."""
_LIKELY, _SURE = 0.62, 0.88
_LITTLE = 0.3
"""A passage that the question does not name and that covers less of it is never `medium`."""
_NO_LIMIT = 100
_STATED = 90
"""What metadata says is read, not found."""
_BY_DEFAULT = re.compile(r"\bdefaults?\b(?! values?\b)", re.IGNORECASE)
_DOES_BY_DEFAULT = re.compile(r"\b(?:what|which|how)\b.{0,200}\bby default\b", re.IGNORECASE)
_TOLD_NONE = re.compile(r"(?:the default of `\w+` in [^ ]+ is|default) `none`")
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
_FEW_WORDS = 8
_HALF, _NAMED = 0.5, 0.3
"""The share of the telling words that an answer must say at least; less if the question names what is cited."""
_SENTENCE_END = re.compile(r"(?<=[.!?\]])\s")
_CODE_SPAN = re.compile(r"`[^`]*+`|\[\d++\]")
_MAX_WORDS = 40
"""A longer question is a story with a question in it."""


class Evidence:
    """Scores by the fitted probability; what it could not learn from its questions are limits.

    An answer for another minor version is never `high`. An answer for another major version, one to a question with a name
    that the library does not have, and one that a single unofficial text gives are never `medium`.
    """

    def score(self, query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft) -> Score:
        """Score a draft; pure."""
        if not draft.citations:
            return Score(score=0, level="low", reasons=("no quote could be verified",))
        known = features(query, findings, draft)
        if draft.citations[0].url.startswith(_FITTED_ON):
            value = as_score(_model().probability(known))
        else:
            value = _by_coverage(answered(findings).coverage, code=bool(draft.summary_code))
        if _is_stated(findings):
            value, limit, reasons = (
                _STATED if draft.direct else MEDIUM - 1,
                _NO_LIMIT,
                ["the metadata of the package says so"],
            )
        else:
            limit, reasons = _limit(query, findings, draft)
        value = min(value, limit)
        return Score(score=value, level=_level(value), reasons=(*_reasons(known, findings), *reasons))


def _is_stated(findings: Sequence[tuple[str, Finding]]) -> bool:
    """Whether the answer is a field of the package's metadata, which needs no judgement."""
    shown = [passage for _source, finding in findings for passage in finding.passages]
    return bool(shown) and shown[0].what == "requirements"


def features(query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft) -> dict[str, float]:
    """What the model knows of an answer; each value is between 0 and 1."""
    shown = [passage for _source, finding in findings for passage in finding.passages]
    if not shown:
        return {}
    found = answered(findings)
    first = shown[0]
    question, said = parse_question(query.question), _said(query, draft)
    known: dict[str, float] = {
        "coverage": found.coverage,
        "squared coverage": found.coverage**2,
        "pinned": first.pinned,
        "npm": first.url.startswith("pkg:npm"),
        "direct": draft.direct,
        "example": bool(draft.summary_code),
        "documented": _is_documented(first),
        "missing words": min(1.0, len(found.missing) / 3),
        "unresolved name": any(finding.unresolved for _source, finding in findings),
        "lead": _lead(shown),
        "said": said,
        "said all": said**3,
        "both": question.kind == "difference" and sum(passage.pinned for passage in shown) > 1,
        "parameter first": first.kind == "parameter" and not first.pinned,
        "worded parameter": _is_worded(query, question, first),
        "deprecated": first.deprecated is not None,
        "replacement told": question.kind == "replacement" and first.pinned and first.deprecated is not None,
        "message": first.what == "message" and first.pinned,
        "message advises": first.what == "message"
        and first.pinned
        and len(shown) > 1
        and shown[1].lead != "",
        "long question": min(1.0, len(query.question.split()) / _MAX_WORDS),
        f"kind {question.kind}": 1.0,
        f"passage {first.kind}": 1.0,
        f"pinned {question.kind}": first.pinned,
    }
    return {name: float(value) for name, value in known.items() if value}


def _by_coverage(coverage: float, *, code: bool) -> int:
    """The score of what a service or a folder of documents says, on which no model was fitted; `high` needs code."""
    if coverage < COVERED:
        return round((MEDIUM - 1) * coverage / COVERED)
    if coverage < FULLY or not code:
        return round(MEDIUM + (HIGH - 1 - MEDIUM) * min(1.0, (coverage - COVERED) / (1 - COVERED) * 2))
    return round(HIGH + (100 - HIGH) * (coverage - FULLY) / (1 - FULLY))


def as_score(probability: float) -> int:
    """The score of a probability: `medium` begins at 0.62 and `high` at 0.88, so that of all `high` answers nine in ten are right."""
    steps = ((0.0, 0), (_LIKELY, MEDIUM), (_SURE, HIGH), (1.0, 100))
    for (low, start), (high, end) in itertools.pairwise(steps):
        if probability < high:
            return int(start + (end - start) * (probability - low) / (high - low))
    return 100


@functools.cache
def _model() -> LogisticModel:
    kept: Mapping[str, object] = json.loads(WEIGHTS.read_text("utf-8"))
    weights, intercept = kept["weights"], kept["intercept"]
    assert isinstance(weights, dict)
    assert isinstance(intercept, float)
    return LogisticModel(intercept, weights)


def _is_documented(passage: Passage) -> bool:
    return len(passage.lead.split()) >= 3 or not passage.symbol


def _is_worded(query: ResearchQuery, asked: ParsedQuestion, first: Passage) -> bool:
    """Whether a how-to says the parameter and what takes it in everyday words."""
    takers = [name for name in (first.symbol, *first.also, *first.aliases) if name]
    return bool(first.parameter) and says_parameter(asked, query.framework, first.parameter or "", takers)


def _said(query: ResearchQuery, draft: Draft) -> float:
    """The share of the question's telling words, the library's name aside, that the answer says."""
    asked = {stem(word) for word in content_words(query.question) if word not in query.framework.lower()}
    told = " ".join(claim.text for claim in draft.summary)
    said = {stem(word) for word in words(told)}
    return len(asked & said) / (len(asked) or 1)


def _lead(shown: Sequence[Passage]) -> float:
    """How far the first passage is ahead of the next one, by coverage; parameters asked for together count as one."""
    beside = [
        one for one in shown[1:] if not (one.pinned and one.parameter and one.symbol == shown[0].symbol)
    ]
    second = beside[0].coverage if beside else 0.0
    return min(1.0, max(0.0, shown[0].coverage - second))


def _limit(
    query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft
) -> tuple[int, list[str]]:
    """The most that the score may be, and why."""
    told = [*_of_source(query, findings, draft), *_of_names(findings, draft)]
    shown = [passage for _source, finding in findings for passage in finding.passages]
    if shown:
        asked = parse_question(query.question)
        told += _of_first(shown[0], asked.kind, worded=_is_worded(query, asked, shown[0]))
        told += [(MEDIUM - 1, reason) for reason in _not_said(query, asked, shown, draft)]
        told += _of_other(query, asked, shown)
        told += _lacks(query, asked, shown[0], draft)
    return min(limit for limit, _reason in told), [reason for _limit, reason in told if reason]


def _of_source(
    query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft
) -> Iterator[tuple[int, str]]:
    """Who says it, and of which version."""
    agreement = _agreement(draft, findings)
    if draft.citations[0].official:
        yield _NO_LIMIT, "official documentation"
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
        yield _NO_LIMIT, f"read in the version in use, {read}"


def _of_names(findings: Sequence[tuple[str, Finding]], draft: Draft) -> Iterator[tuple[int, str]]:
    """What the question names that was not found."""
    unresolved = [name.name for _source, finding in findings for name in finding.unresolved]
    if unresolved:
        yield MEDIUM - 1, f"the documentation does not have {', '.join(unresolved[:3])}"
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
    query: ResearchQuery, asked: ParsedQuestion, shown: Sequence[Passage], draft: Draft
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
    if asked.kind in {"yes_no", "meaning", "how_to"}:
        yield from _not_together(shown, told)
    if first.what == "message" and not _is_explained(asked, draft):
        yield "nothing was found beside the message itself"
    if asked.kind == "error" and first.what == "class" and not _advises(shown, told):
        yield "the class of the error is described, and nothing says how to mend it"
    if asked.kind == "meaning" and (value := _value_not_explained(asked, draft)):
        yield f"no sentence of the answer says what {value} means"
    if asked.kind == "error" and not first.pinned and _last(first) not in asked.text.casefold():
        yield "no source read here raises this error"
    if asked.kind == "yes_no" and not draft.direct and not any(one.pinned for one in shown):
        yield "no sentence decides"
    asks = _DOES_BY_DEFAULT if first.pinned or _is_worded(query, asked, first) else _BY_DEFAULT
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
    query: ResearchQuery, asked: ParsedQuestion, first: Passage, draft: Draft
) -> Iterator[tuple[int, str]]:
    """What the question asks for, if the answer has nothing of the kind."""
    told = _told_of(first, draft)
    if asked.kind == "default" and not draft.direct and not _tells_value(query, asked, first, told):
        yield MEDIUM - 1, "no sentence tells a value"
    if asked.kind == "default" and draft.direct and (left := _NOT_RESOLVED.match(_direct_of(draft))):
        yield HIGH - 1, f"nothing tells what {left[1]} is"
    if asked.kind == "yes_no" and not _says_all(query, asked, first, draft):
        yield MEDIUM - 1, "no sentence speaks of all that was asked"
    if _FAILS.search(asked.asking) and not draft.direct and not _SAYS_FAILURE.search(told):
        yield MEDIUM - 1, "no sentence tells what happens in that case"
    if _ASKS_FOR_CODE.search(asked.asking) and not draft.summary_code:
        yield HIGH - 1, "the question asks for code, and there is none"
    if told and not draft.direct and not draft.summary_code and _restates(query, first, told):
        yield MEDIUM - 1, f"the answer says no more than the name {_last(first)}"

    is_topical = asked.kind in _TOPICAL and first.what != "message" and not _is_worded(query, asked, first)
    if is_topical and _share_said(query, asked, first, draft) <= (_NAMED if first.pinned else _HALF):
        yield MEDIUM - 1, "what is quoted does not speak of most of what was asked"


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


def _not_together(shown: Sequence[Passage], told: Sequence[str]) -> Iterator[str]:
    """Two things that the question names, if no sentence is about both: sentences about each alone are not the answer."""
    pinned = [passage for passage in shown if passage.pinned and passage.what != "message"]
    names = list(dict.fromkeys(_last(one) for one in pinned))[:2]
    is_of_one = len({one.symbol for one in pinned}) < 2 or len(names) < 2
    if not is_of_one and not any(all(name in text for name in names) for text in told):
        yield f"no sentence of the answer is about both {names[0]} and {names[1]}"


def _last(passage: Passage) -> str:
    """The name by which a question would call what a passage is about."""
    return (passage.parameter or (passage.symbol or passage.title).rpartition(".")[2]).casefold()


def _reasons(known: Mapping[str, float], findings: Sequence[tuple[str, Finding]]) -> list[str]:
    found = answered(findings)
    share = round(100 * found.coverage)
    reasons = ["the question names what is cited"] if known.get("pinned") else []
    reasons.append(f"the first passage holds {share} % of what was asked, weighted by rarity")
    if found.missing:
        reasons.append(f"nothing was found about: {', '.join(found.missing[:5])}")
    reasons.append("a code example" if known.get("example") else "no code example")
    return reasons


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


def _level(value: int) -> Level:
    return "high" if value >= HIGH else "medium" if value >= MEDIUM else "low"


@kr_core.hookimpl
def kr_scorer() -> Provider[kr_core.plugin.Scorer]:
    """Provide the scorer; it has no settings."""
    return Provider(lambda _settings, _setup: Evidence())
