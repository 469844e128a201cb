"""The answer, composed by rule from axioms: what says most first, the rest by category, conflicts side by side, then the sources."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.citations import plain
from kr_core.expedition.facts.axiom import MEANINGS
from kr_core.expedition.facts.corroboration import where
from kr_core.expedition.facts.extraction import dated, tells_outright
from kr_core.expedition.facts.relevance import fit_of
from kr_core.expedition.passage_pool import page_of
from kr_core.expedition.survey_report import add_survey, is_answered, subjects_of_report, unsaid
from kr_core.question.analysis import asks_since, asks_since_when, asks_time, keywords_in
from kr_core.text import root_of, words

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from kr_core.expedition.expedition_state import ExpeditionState
    from kr_core.expedition.survey_report import ReportSubject
    from kr_core.model.expedition import Axiom, Signal

__all__ = ["AnswerLines", "ParsedAnswer", "answer_of", "chosen", "with_head"]

_FIRST = 5
_NEAR_BEST = 0.6
"""Of what the best axiom says about the question; only the tree has what says less."""
_MOST = 20
_MAX_SAID = 0.6
"""Of the telling words that the best axiom says, so that the answer has another one too; half of the words always do."""
_TITLES = {
    "specifications": "Specifications",
    "procedures": "Procedures",
    "compatibility": "Compatibility",
    "diagnostics": "Diagnostics",
    "history": "History",
    "safety": "Safety",
}
_OUTRIGHT = 0.15
_HALF, _MAX_OF_IT = 0.5, 2 / 3
_NEARLY_ALL = 0.8
"""Of the telling words of a question, so that what says them answers it though another word is missing."""
_LITTLE = 0.5
"""A question of which less is covered gets a warning before anything else."""


_INDEXED = re.compile(r"docs:([^/#]+)")
_PACKAGE = re.compile(r"pkg:[^/]+/(.+)@([^@]+)$")


class ParsedAnswer(NamedTuple):
    """An answer as it is read."""

    text: str
    """Markdown."""
    cited: tuple[str, ...]
    """The ids of the axioms that it cites."""
    answers: bool
    """Whether it says what was asked; otherwise it has the nearest that was found, or nothing."""


class AnswerLines:
    """Lines of an answer, with its citations numbered in the order in which they are made."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.cited: dict[str, int] = {}
        self.lines = [f"# {question}"]

    def mark(self, axiom: Axiom) -> str:
        """`[n]`, the axiom's number."""
        return f"[{self.cited.setdefault(axiom.id, len(self.cited) + 1)}]"

    def add_section(self, title: str, axioms: Sequence[Axiom]) -> None:
        """Add a heading and what each axiom says; nothing where there are no axioms."""
        if axioms:
            self.lines += ["", f"## {title}", ""]
            self.lines += [f"- {_said(axiom)} {self.mark(axiom)}" for axiom in axioms]

    def add_written(self, sentences: Sequence[str], by: Sequence[Axiom]) -> None:
        """Add the sentences of a language model, with numbers in place of the ids that they cite."""
        self.lines += ["", "## Answer", ""]
        for sentence in sentences:
            marked = sentence
            for axiom in by:
                if f"{{{axiom.id}}}" in sentence:
                    marked = marked.replace(f"{{{axiom.id}}}", self.mark(axiom))
            self.lines.append(marked)


def chosen(state: ExpeditionState) -> list[Axiom]:
    """The axioms that an answer may rest on, those that say most about the question first; the others are in the tree."""
    names = dict.fromkeys([*state.found, *state.recalled])
    axioms = [axiom for name in names if (axiom := state.known.get(name)) is not None]
    worth = {axiom.id: _worth(state, axiom) for axiom in axioms}
    telling = _telling(state, axioms, worth)
    best_first = sorted([*telling, *_warnings_beside(telling, axioms)], key=lambda axiom: -worth[axiom.id])
    kept = {axiom.id for axiom in _in_turn(state, best_first)[:_MOST]}
    return [axiom for axiom in best_first if axiom.id in kept]


def _telling(state: ExpeditionState, axioms: Sequence[Axiom], worth: Mapping[str, float]) -> list[Axiom]:
    """The axioms that come near the best of their kind, and those that others contradict.

    What only tells a version says little else, which is not held against it; nor is that it answers another part of the question.
    """
    said = {axiom.id: _share_told(state, axiom) for axiom in axioms}
    part = {axiom.id: state.pool.part_of(axiom.signals[0].quote) for axiom in axioms}
    kind = {axiom.id: (tells_outright(state.plan.query, axiom.statement), part[axiom.id]) for axiom in axioms}
    best, most = _best_of(kind, worth), _best_of(part, said)

    def is_near(name: str) -> bool:
        near_best = worth[name] >= _NEAR_BEST * best[kind[name]]
        return near_best and said[name] >= min(_HALF, _MAX_SAID * most[part[name]])

    return [axiom for axiom in axioms if axiom.conflicts or is_near(axiom.id)]


def _best_of(groups: Mapping[str, Hashable], values: Mapping[str, float]) -> dict[Hashable, float]:
    """The highest value in each group."""
    best: dict[Hashable, float] = {}
    for name, group in groups.items():
        best[group] = max(values[name], best.get(group, 0.0))
    return best


def _warnings_beside(telling: Sequence[Axiom], axioms: Sequence[Axiom]) -> list[Axiom]:
    """The warnings of the passages that axioms were taken from: an answer has a passage's warnings with the rest of it."""
    told = {signal.sha256 for axiom in telling for signal in axiom.signals if signal.sha256}
    warnings = [axiom for axiom in axioms if axiom.category == "safety" and axiom not in telling]
    return [axiom for axiom in warnings if axiom.signals[0].sha256 in told]


def answer_of(state: ExpeditionState, told: Sequence[str] = (), by: Sequence[Axiom] = ()) -> ParsedAnswer:
    """The answer, with what it cites.

    Args:
        state: what was found.
        told: sentences that a language model wrote, with `{A-...}` for what each rests on; by rule where there are none.
        by: the axioms that those sentences cite.
    """
    axioms = chosen(state)
    made = AnswerLines(state.plan.query)
    subjects = subjects_of_report(state, _standing(state))
    if subjects:
        return _surveyed(state, subjects, axioms, made, told, by)
    if not axioms:
        made.lines += ["", _nothing(state)]
        return ParsedAnswer("\n".join(made.lines) + "\n", (), answers=False)
    missing, answers = _missing(state, axioms)
    if missing:
        made.lines += ["", missing]
    settled = [axiom for axiom in axioms if axiom.status != "superseded" and not _is_open(state, axiom)]
    first: list[Axiom] = []
    if told:
        made.add_written(told, by)
    else:
        first = _in_turn(state, settled)[:_FIRST]
        made.add_section("Answer" if answers else "The nearest that was found", first)
    if answers or told:  # what is not even an answer stays in the tree
        for category in MEANINGS:
            rest = [axiom for axiom in settled if axiom.category == category and axiom not in first]
            made.add_section(_TITLES[category], rest)
    made.lines += _conflicts(state, axioms, made)
    made.lines += _sources(state, made)
    return ParsedAnswer("\n".join(made.lines) + "\n", tuple(made.cited), answers or bool(told))


def with_head(text: str, paragraphs: Sequence[str]) -> str:
    """A report with paragraphs below its question: how sure it is, what is noted on its sources."""
    question, _line, rest = text.partition("\n")
    return "\n\n".join([question, *paragraphs]) + f"\n{rest}"


def _surveyed(
    state: ExpeditionState,
    subjects: Sequence[ReportSubject],
    axioms: Sequence[Axiom],
    made: AnswerLines,
    told: Sequence[str],
    by: Sequence[Axiom],
) -> ParsedAnswer:
    """The report of a survey; what other sources say follows it."""
    missing = unsaid(state)
    answers = bool(told) or is_answered(state, missing)
    if missing:
        made.lines += ["", f"No passage that was found says anything about {_listed(missing, {})}."]
    if not answers:
        made.add_section("The nearest that was found", [one.first for one in subjects[:_FIRST]])
        made.lines += _sources(state, made)
        return ParsedAnswer("\n".join(made.lines) + "\n", tuple(made.cited), answers=False)
    if told:
        made.add_written(told, by)
    add_survey(state, subjects, made)
    surveyed = {one.passage.sha256 for one in state.pool if one.surveyed}
    others = [one for one in axioms if not any(signal.sha256 in surveyed for signal in one.signals)]
    made.add_section(
        "From other passages",
        [one for one in others if one.status != "superseded" and not _is_open(state, one)],
    )
    made.lines += _conflicts(state, _standing(state), made)
    made.lines += _sources(state, made)
    return ParsedAnswer("\n".join(made.lines) + "\n", tuple(made.cited), answers)


def _standing(state: ExpeditionState) -> list[Axiom]:
    """What this expedition has found and still holds."""
    found = (state.known.get(name) for name in state.found)
    return [axiom for axiom in found if axiom is not None and axiom.status != "superseded"]


def _is_open(state: ExpeditionState, axiom: Axiom) -> bool:
    """Whether something that still holds says otherwise; what is superseded leaves no doubt."""
    others = (state.known.get(name) for name in axiom.conflicts)
    return any(other is not None and other.status != "superseded" for other in others)


def _in_turn(state: ExpeditionState, axioms: Sequence[Axiom]) -> list[Axiom]:
    """Axioms in such an order that each part of the question has its turn, those that stand first in each part first."""
    turns: dict[int, int] = {}
    placed = []
    for place, axiom in enumerate(axioms):
        part = state.pool.part_of(axiom.signals[0].quote)
        turns[part] = turns.get(part, 0) + 1
        placed.append((turns[part], place, axiom))
    return [axiom for _turn, _place, axiom in sorted(placed, key=lambda entry: entry[:2])]


def _said(axiom: Axiom) -> str:
    """A statement, with the package or documents whose version says it."""
    said = " ".join(axiom.statement.split())
    first = axiom.signals[0]
    package = _PACKAGE.match(first.source)
    if package:
        return f"{said} ({package[1]} {package[2]})"
    indexed = _INDEXED.match(first.source)
    return f"{said} ({indexed[1]} {first.version})" if indexed and first.version else said


def _worth(state: ExpeditionState, axiom: Axiom) -> float:
    """How much of the question an axiom says, and whether as it asks; one that tells the version or the default that it asks for counts more."""
    context = _context(state, axiom)
    outright = tells_outright(state.plan.query, axiom.statement)
    fit = fit_of(state.plan.query)(plain(axiom.signals[0].quote), context)
    said = state.pool.share(f"{context} . {axiom.statement}") + (_OUTRIGHT if outright else 0.0)
    return fit * said * axiom.confidence


def _context(state: ExpeditionState, axiom: Axiom) -> str:
    """What an axiom is about without saying so: the headings of its first passage, its page and whose documents it is of."""
    first = axiom.signals[0]
    return f"{plain(first.title)} . {page_of(first.source)} . {state.pool.owner(first.source)}"


def _share_told(state: ExpeditionState, axiom: Axiom) -> float:
    """The most that an axiom says of the telling words of the question, or of a part of it."""
    held = {root_of(word) for word in words(f"{_context(state, axiom)} . {axiom.statement}")}
    return max(
        (len(telling & held) / len(telling) for telling in state.pool.asks(_dating(state.plan.query))),
        default=1.0,
    )


@lru_cache(maxsize=64)
def _dating(question: str) -> frozenset[str]:
    """The stems by which a question asks for a time, and names no thing."""
    return (
        frozenset(root_of(word) for word in words(question) if asks_time(word))
        if asks_since(question)
        else frozenset()
    )


def _nothing(state: ExpeditionState) -> str:
    if not state.asks:
        return (
            "Nobody could look: there is no source that can be asked. That says nothing about the question."
        )
    if state.history and all(report.down for report in state.history):
        who = ", ".join(state.history[-1].down)
        return f"Nobody could look: {who} did not answer in any cycle. That says nothing about the question."
    if not len(state.pool):
        return "Nothing was found: no source has a passage about this question."
    return "Nothing was found: no sentence of the passages that were read says enough about this question."


def _missing(state: ExpeditionState, axioms: Sequence[Axiom]) -> tuple[str, bool]:
    """A warning where the axioms leave something of the question out, and whether they answer it all the same."""
    if unseen := _unsearched(state, axioms):
        return unseen, False
    query = state.plan.query
    says_most = any(_says(state, axiom, _HALF, _MAX_OF_IT) for axiom in axioms)
    if says_most and asks_since_when(query) and not any(dated(axiom.statement) for axiom in axioms):
        return "No source says since when. What follows is so in the versions that are named beside it.", True
    said = frozenset().union(*(_told_by(state, axiom) for axiom in axioms))
    spelled = {root_of(word): word for word in reversed(words(query))}
    left = _left_out(state, said, spelled)
    nowhere = [root for root in left if not _found(state, root)]
    if not says_most:
        who = _listed(nowhere, spelled)
        said_of = f"says anything about {who}" if who else "speaks of most of the question at once"
        return f"Nothing that was found says it: no passage {said_of}.", False
    if not left:
        return "", True
    told = _said_of_left(left, nowhere, spelled)
    if _is_little(state, said):
        return f"The sources do not seem to answer this. {told}", False
    lacks = nowhere or any(state.pool.is_name(root) for root in left)
    nearly_all = any(_says(state, axiom, _NEARLY_ALL, _NEARLY_ALL) for axiom in axioms)
    return told, nearly_all and not lacks


def _unsearched(state: ExpeditionState, axioms: Sequence[Axiom]) -> str:
    """The warning where no passage has a word of the question, or no search looks for it."""
    if unspoken := state.pool.unspoken:
        return f"Nothing that was found says it: no passage says anything about {_listed(unspoken, {})}."
    quotes = " ".join(signal.quote for axiom in axioms for signal in axiom.signals)
    if passed := [word for word in keywords_in(state.plan.query) if not re.search(rf"\b{word}\b", quotes)]:
        return f"Nothing found below says anything about {_listed(passed, {})}, which no search looks for."
    return ""


def _left_out(state: ExpeditionState, said: frozenset[str], spelled: Mapping[str, str]) -> list[str]:
    """The telling stems of the question that no axiom says; those that ask for a time count as no thing."""
    pool = state.pool
    left = [root for root in pool.asked if root in pool.telling and root not in said]
    if asks_since(state.plan.query):
        return [root for root in left if not asks_time(spelled.get(root, root))]
    return left


def _said_of_left(left: Sequence[str], nowhere: Sequence[str], spelled: Mapping[str, str]) -> str:
    """The warning on words that the axioms leave out: which of them no passage has, and which only those below lack."""
    named = [root for root in left if root not in nowhere]
    told = [f"No passage that was found says anything about {_listed(nowhere, spelled)}."] if nowhere else []
    told += [f"Nothing found below says anything about {_listed(named, spelled)}."] if named else []
    return " ".join(told)


def _is_little(state: ExpeditionState, said: frozenset[str]) -> bool:
    """Whether the axioms cover so little of the question that they hardly answer it."""
    asked = state.pool.asked
    return sum(weight for root, weight in asked.items() if root in said) < _LITTLE * sum(asked.values())


def _listed(roots: Sequence[str], spelled: Mapping[str, str]) -> str:
    """Stems as the question has their words: `a, b or c`."""
    *first, last = [spelled.get(root, root) for root in roots] or [""]
    return f"{', '.join(first)} or {last}" if first else last


def _told_by(state: ExpeditionState, axiom: Axiom) -> frozenset[str]:
    """The stems that an axiom speaks of: its own, those of its headings, and what else its passage says, names and numbers aside."""
    places = " ".join(f"{one.title} {state.pool.owner(one.source)}" for one in axiom.signals)
    own = {root_of(word) for word in words(f"{axiom.statement} {places}")}
    taken = {signal.sha256 for signal in axiom.signals if signal.sha256}
    beside = {root for one in state.pool if one.passage.sha256 in taken for root in one.counts}
    return frozenset(own | {root for root in beside if not state.pool.is_name(root)})


def _found(state: ExpeditionState, root: str) -> bool:
    """Whether any passage that was found has a word, be it in a heading that leads to it."""
    return any(
        root in one.counts or root in {root_of(word) for word in words(one.passage.title)}
        for one in state.pool
    )


def _says(state: ExpeditionState, axiom: Axiom, with_name: float, without: float) -> bool:
    """Whether one axiom says so much of what a question, or a part of it, is about; less will do with the name that it spells."""
    pool = state.pool
    text = " . ".join(
        [
            axiom.statement,
            *(f"{one.title} . {one.source} . {pool.owner(one.source)}" for one in axiom.signals),
        ]
    )
    held = {root_of(word) for word in words(text)}
    enough = with_name if pool.names_it(text) else without
    return any(
        len(telling & held) >= enough * len(telling) for telling in pool.asks(_dating(state.plan.query))
    )


def _conflicts(state: ExpeditionState, axioms: Sequence[Axiom], made: AnswerLines) -> list[str]:
    """Axioms that say otherwise, side by side, the newest first, each with its version and dates."""
    lines: list[str] = []
    shown: set[frozenset[str]] = set()
    for axiom in axioms:
        for name in axiom.conflicts:
            other = state.known.get(name)
            pair = frozenset((axiom.id, name))
            if other is None or pair in shown:
                continue
            shown.add(pair)
            for one in sorted((axiom, other), key=_newness, reverse=True):
                superseded = " (superseded)" if one.status == "superseded" else ""
                lines.append(f"- {_said(one)} {made.mark(one)}, {_dated(one.signals[0])}{superseded}")
            lines.append("")
    return ["", "## The sources disagree", "", *lines[:-1]] if lines else []


def _dated(signal: Signal) -> str:
    version = f"version {signal.version}, " if signal.version else ""
    day = f"of {signal.dated.isoformat()}, " if signal.dated else ""
    return f"{version}{day}read {signal.timestamp.date().isoformat()}"


def _newness(axiom: Axiom) -> tuple[date, list[int]]:
    """By what its document states of itself: the day, then the version."""
    signal = axiom.signals[0]
    return signal.dated or date.min, [int(part[:9]) for part in re.findall(r"\d+", signal.version or "")]


def _sources(state: ExpeditionState, made: AnswerLines) -> list[str]:
    lines = ["", "## Sources", ""]
    for name, number in made.cited.items():
        axiom = state.known.get(name)
        if axiom is None:
            continue
        for place, signal in enumerate(axiom.signals):
            head = f"[{number}] {axiom.id}, {round(axiom.confidence * 100)}/100" if place == 0 else "   "
            told = f"{signal.type} {where(signal)}{f' (version {signal.version})' if signal.version else ''}"
            lines.append(f"- {head}: {told}" if place == 0 else f"  - {told}")
    return lines
