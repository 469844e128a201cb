"""What an answer says of settings: environment variables, options of the command line, the default that code gives an option."""

from __future__ import annotations

import re
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

from kr_core.plugin import UnresolvedName
from kr_core.toolkit import marks_nothing, split_identifier, stem, words
from kr_plugins.sources.installed_docs.cited_passages import passage_of
from kr_plugins.sources.installed_docs.relatives import names_beside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core import Passage
    from kr_core.toolkit import IndexedPassage, ParsedQuestion, PassageIndex, Term
    from kr_plugins.sources.installed_docs.cited_passages import IndexAnswer, Origin

_ASKS = re.compile(r"\benv(?:ironment)?[ -]?var(?:iable)?s?\b", re.IGNORECASE)
_ABOUT = frozenset(
    map(stem, ("environment", "variable", "variables", "env", "var", "vars", "set", "read", "control"))
)
"""Words that say that an environment variable is asked for, and not which."""
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
_NEAR = 0.6
"""Names of options that are less alike are not near each other."""
_MOST_COMPARED = 1_000
_MOST = 3
"""Environment variables that are shown with their code."""
_MOST_NAMED = 24
_MOST_SAYING = 60
_SAYS_SOME = 0.25
"""The share of the question that the name of an environment variable must say to be shown first."""
_MOST_DESCRIBED = 3
_ANSWERED = 0.5
"""How much of a how-to a passage covers that comes before any option: most libraries have no command line."""
_SAYS_MOST = 0.6
"""The share of a how-to that the help of an option must say to be shown first."""
_COVERED = 0.6
"""How much of a question the environment variable covers that says all of it: its name is all that is known of it."""


def about_settings(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, terms: Sequence[Term], origin: Origin
) -> IndexAnswer:
    """The answer with the settings that the question asks about.

    Args:
        index: where they are looked up.
        parsed: the question.
        answered: the ranked passages.
        terms: the words of the question.
        origin: where the passages come from.
    """
    answered = _with_flags(index, parsed, answered, origin)
    answered = _with_described_flags(index, parsed, answered, terms, origin)
    first = next(iter(answered.passages), None)
    is_bare = first is not None and (first.what == "setting" or (first.what == "constant" and not first.lead))
    if first is not None and is_bare:
        twins = _documented_twins(index, first, origin)
        rest = [one for one in answered.passages[1:] if one.title not in {twin.title for twin in twins}]
        answered = answered._replace(passages=(first, *twins, *rest))
    if first is not None and first.pinned and is_bare:
        last = (first.symbol or "").rpartition(".")[2]
        spelled = re.compile(rf"(?<!\w){re.escape(last)}(?!\w)")
        rest = [one for one in answered.passages[1:] if one.pinned or spelled.search(one.text)]
        is_told = parsed.kind == "default" and first.default is not None
        covers = first.model_copy(update={"coverage": max(first.coverage, 1.0 if is_told else _COVERED)})
        return answered._replace(passages=(covers, *rest))
    if first is not None and first.parameter and parsed.kind == "default":
        return answered._replace(support=(*answered.support, *_read_default(index, first, origin)))
    if _ASKS.search(parsed.asking):
        return _with_environment(index, answered, terms, origin)
    return answered


def _documented_twins(index: PassageIndex, setting: Passage, origin: Origin) -> list[Passage]:
    """The attribute that reads a setting and documents it under the same name: `max_content_length` for `MAX_CONTENT_LENGTH`."""
    name = (setting.symbol or "").rpartition(".")[2]
    said = (hit.passage for hit in index.saying(name, _MOST_SAYING))
    twins = (
        one
        for one in said
        if one.lead and not one.parameter and (one.symbol or "").rpartition(".")[2] == name.lower() != name
    )
    return [
        passage_of(one, origin).model_copy(update={"coverage": setting.coverage, "pinned": setting.pinned})
        for one in islice(twins, 1)
    ]


def _with_flags(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, origin: Origin
) -> IndexAnswer:
    """The answer that begins with the options of the command line that the question spells, or says which are not there."""
    asked = list(dict.fromkeys(_FLAG.findall(parsed.text)))[:_MOST]
    if not asked:
        return answered
    found = {name: hit.passage for name in asked for hit in index.by_symbol(name)[:1]}
    declared = [one.symbol or "" for one in index.unsearched("setting") if one.data["form"] == "flag"]
    declared = declared[:_MOST_COMPARED]
    said = "\n".join(passage.text for passage in answered.passages)
    absent = [
        UnresolvedName(name=name, nearest=tuple(get_close_matches(name, declared, n=2, cutoff=_NEAR)))
        for name in asked
        if declared and name not in found and name not in said
    ]
    named = [
        passage_of(one, origin).model_copy(update={"coverage": 1.0, "pinned": True}) for one in found.values()
    ]
    rest = [one for one in answered.passages if not (named and one.pinned)]
    return answered._replace(passages=(*named, *rest), unresolved=(*answered.unresolved, *absent))


def _with_described_flags(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, terms: Sequence[Term], origin: Origin
) -> IndexAnswer:
    """The answer that begins with the options of the command line whose help says most of a how-to that names nothing."""
    first = next((one.coverage for one in answered.passages), 0.0)
    if parsed.kind != "how_to" or first > _ANSWERED or any(one.pinned for one in answered.passages):
        return answered
    said = [term for term in terms if " " not in term.word]
    total = sum(term.weight for term in said) or 1.0
    found = []
    for one in index.unsearched("setting"):
        if one.data["form"] == "flag" and one.lead:
            roots = {stem(word) for word in words(f"{one.symbol} {one.lead}".replace("-", " "))}
            share = sum(term.weight for term in said if stem(term.word) in roots) / total
            if share >= _SAYS_MOST:
                found.append((share, one))
    by_help = {one.lead: (share, one) for share, one in reversed(found)}  # `--sw` and `--stepwise` are one
    best = sorted(by_help.values(), key=lambda pair: -pair[0])[:_MOST_DESCRIBED]
    told = [passage_of(one, origin).model_copy(update={"coverage": share}) for share, one in best]
    return answered._replace(passages=(*told, *answered.passages))


def _read_default(index: PassageIndex, first: Passage, origin: Origin) -> list[Passage]:
    """The code that gives a parameter its default, where the signature has none."""
    if not marks_nothing(first.default or "undefined"):
        return []
    found = index.by_symbol(first.parameter or "")
    return [passage_of(hit.passage, origin) for hit in found if hit.passage.kind == "setting"][:1]


def _with_environment(
    index: PassageIndex, answered: IndexAnswer, terms: Sequence[Term], origin: Origin
) -> IndexAnswer:
    """The answer that begins with the environment variables whose names say most of the question, and names all."""
    telling = {stem(term.word) for term in terms if not term.weak and " " not in term.word} - _ABOUT
    read = [one for one in index.unsearched("setting") if one.data["form"] == "environment"]
    ranked = sorted(((_share(telling, one), one) for one in read), key=lambda pair: -pair[0])
    if not ranked:
        return answered
    shown = [
        passage_of(one, origin).model_copy(update={"coverage": _COVERED * share})
        for share, one in ranked[:_MOST]
        if share >= _SAYS_SOME
    ]
    if not shown:
        return answered
    lines = [_line_of(one) for _share, one in ranked[:_MOST_NAMED]]
    named = [one for one in answered.passages if one.pinned]
    rest = [one for one in answered.passages if not one.pinned]
    names = names_beside((named or shown)[0], lines, origin) if len(lines) > 1 else []
    return answered._replace(passages=(*named, *shown, *rest), support=(*answered.support, *names))


def _share(telling: set[str], setting: IndexedPassage) -> float:
    """The share of the question's words that the name of a setting says, and half as much where it is read."""
    if not telling:
        return 1.0
    said = {stem(part.lower()) for part in (setting.symbol or "").split("_")}
    where = {stem(word) for word in words(" ".join(split_identifier(setting.data["where"])))}
    return (len(telling & said) + 0.5 * len(telling & where - said)) / len(telling)


def _line_of(setting: IndexedPassage) -> IndexedPassage:
    """A setting with the one line that names it."""
    lines = setting.text.split("\n")
    start, number = setting.data["lines"][-1]
    place = next((at for at in range(start, len(lines)) if (setting.symbol or "") in lines[at]), start)
    path = setting.locator.rpartition(":")[0]
    return setting._replace(text=lines[place].strip(), locator=f"{path}:{number + place - start}")
