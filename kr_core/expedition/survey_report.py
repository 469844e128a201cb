"""The report of a survey, composed by rule: a paragraph that answers, a table of alternatives, a section for each subject, warnings, changes.

A section is about one subject, which a source's own structure has named. The words of the sources stand as they are; what joins them
only counts and names.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kr_core.expedition.facts.survey_facts import cautions
from kr_core.expedition.report_confidence import confidence_of_survey, is_about
from kr_core.expedition.report_confidence import told as confidence_told
from kr_core.expedition.survey_plan import OF_SUBJECT, short_name
from kr_core.question.analysis import asks_since
from kr_core.search.thesaurus import expand, near
from kr_core.text import STOP_WORDS, is_weak, root_of, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kr_core.expedition.answer import AnswerLines
    from kr_core.expedition.expedition_state import ExpeditionState
    from kr_core.expedition.passage_pool import PoolEntry
    from kr_core.model import Family, FamilyKind, Passage, SurveyPlan
    from kr_core.model.expedition import Axiom
    from kr_core.model.research import SurveyKind

__all__ = ["ReportSubject", "add_survey", "is_answered", "subjects_of_report", "unsaid"]

_MOST_SECTIONS = 14
_MOST_FACTS = 8
_OF_PARAMETER = 3
_FIRST = 3
_NAMED_FIRST = 16
_NEAR_BEST, _ALSO = 0.5, 0.6
"""Of the coverage of the passage that says most: for a section of its own, and for a line."""
_FEW = 3
"""Alternatives that are worth a table."""
_MOST_ROWS = 24
_FAMILIAR = 8
_MOST_COMPARED = 30
_MOST_WARNINGS = 8
_MOST_OTHERS = 8
_LIKELY = 0.7
"""Of what the best library says, where the question names none."""
_SAYS_MOST = 0.6
"""The coverage from which on the opening shows a passage before the first members of a family."""
_MOST_CHANGES = 30
_MOST_PARAMETERS = 8
_CELL = 180
_SHORT = 24
_BAR = "\\|"
_OWN_NAME = re.compile(r"\*\*\w+\*\* - (?:\*\(optional\)\* )?")
"""How some docstrings begin the documentation of a parameter."""
_INDEXED = re.compile(r"docs:([^/#]+)")
_NAME = re.compile(r"[\w.]+(?:\([\w*]+\))?")
_NEAR = 0.6
_LONG = 5
_SPELLED = re.compile(r"(?<=[a-z,] )[A-Z]\w+")
"""Written as a name is: `WebSockets`, `Kubernetes`."""
_GOES = re.compile(r"\b(?:deprecated|superseded|removed|legacy|obsolete)\b", re.IGNORECASE)
_BREAKING = re.compile(
    r"\b(?:break\w*|remov\w*|drop\w*|deprecat\w*|no longer|incompatib\w*|renam\w*)\b", re.IGNORECASE
)


class ReportSubject(NamedTuple):
    """One thing that the report is about, and its facts."""

    title: str
    entry: PoolEntry
    facts: tuple[Axiom, ...]
    parameters: tuple[ReportSubject, ...] = ()
    called: str = ""
    """What it is called among the others."""
    kind: FamilyKind | None = None
    """Of its family; None where it belongs to none."""

    @property
    def name(self) -> str:
        """The same as it is written."""
        return f"`{self.called}`" if self.entry.passage.symbol else self.called

    @property
    def first(self) -> Axiom:
        """Its first fact."""
        return self.facts[0]


def subjects_of_report(state: ExpeditionState, axioms: Sequence[Axiom]) -> list[ReportSubject]:
    """The subjects that have facts, those of families first; the parameters of a subject belong to it.

    Args:
        state: what was found.
        axioms: what the report may say.
    """
    of_passage: dict[str, list[Axiom]] = {}
    for axiom in axioms:
        of_passage.setdefault(f"{axiom.signals[0].title} {axiom.signals[0].sha256}", []).append(axiom)
    entries: dict[str, PoolEntry] = {}
    for one in state.pool:
        if one.surveyed and f"{_title(one.passage)} {one.passage.sha256}" in of_passage:
            entries.setdefault(one.passage.title, one)
    if not state.named:
        entries = _of_likely_libraries(entries)
    order = [title for title in state.subjects_found if title in entries]
    order += [title for title in entries if title not in order]
    made = [
        ReportSubject(
            title,
            entries[title],
            tuple(of_passage[f"{_title(entries[title].passage)} {entries[title].passage.sha256}"]),
            kind=family.kind if (family := state.families.get(entries[title].family)) else None,
        )
        for title in order
    ]
    owners = {one.entry.passage.symbol for one in made if one.entry.passage.parameter is None}
    parts: dict[str, list[ReportSubject]] = {}
    for part in made:
        symbol = part.entry.passage.symbol
        if part.entry.passage.parameter and symbol in owners and symbol:
            parts.setdefault(symbol, []).append(part)
    times = Counter(short_name(one.title) for one in made)
    return [
        one._replace(
            parameters=tuple(parts.get(one.entry.passage.symbol or "", ())[:_MOST_PARAMETERS]),
            called=short_name(one.title, parts=1 if times[short_name(one.title)] == 1 else 2),
        )
        for one in made
        if not (one.entry.passage.parameter and one.entry.passage.symbol in owners)
    ]


def _of_likely_libraries(entries: dict[str, PoolEntry]) -> dict[str, PoolEntry]:
    """The passages without those of a library that says much less of the question than another: it names none itself."""
    shares: dict[str, list[float]] = {}
    for one in entries.values():
        shares.setdefault(_origin(one.passage), []).append(one.passage.coverage)
    worth = {origin: sum(sorted(found)[-_FIRST:]) for origin, found in shares.items()}
    best = max(worth.values(), default=0.0)
    return {title: one for title, one in entries.items() if worth[_origin(one.passage)] >= _LIKELY * best}


def add_survey(state: ExpeditionState, subjects: Sequence[ReportSubject], made: AnswerLines) -> None:
    """Add the survey's sections to an answer.

    Args:
        state: what was found.
        subjects: what it is about.
        made: the answer's lines.
    """
    plain = [one for one in subjects if one.kind != "changes"]
    changed = [one for one in subjects if one.kind == "changes"]
    kind = state.survey.kind
    if kind == "changes" and changed:
        plain = []
    made.lines += ["", *_opening(state, kind, plain, changed, made)]
    if kind == "changes":
        _add_changes(changed, made)
    if kind == "comparison" and len(_libraries(plain)) > 1:
        _add_comparison(plain, made)
        return
    for family, members in _alternatives(state, plain) if kind != "limits" else ():
        _add_table(members[:_MOST_ROWS], family.name, made)
    told: set[str] = set()
    sections = _worth_sections(plain)
    for one in sections:
        _add_section(one, made, told, state.survey)
    shown = {one.title for one in sections}
    least = max(OF_SUBJECT, _ALSO * max((one.entry.passage.coverage for one in plain), default=0.0))
    rest = [
        one for one in plain
        if one.title not in shown and one.kind != "alternatives" and one.first.id not in told and one.entry.passage.coverage > least
    ]  # fmt: skip
    also = [
        one.first
        for one in rest
        if (kind != "limits" or _caution(one.first)) and is_about(state.survey, one.entry, one.first)
    ]
    _add_list("Also about it", also, _MOST_OTHERS, made)
    _add_list(
        "Warnings and limits", _of_category(plain[_MOST_SECTIONS:], "safety", told), _MOST_WARNINGS, made
    )
    if kind != "changes":
        history = _of_category(plain, "history", told)
        _add_list(
            "Deprecated", (axiom for axiom in history if _GOES.search(axiom.statement)), _MOST_CHANGES, made
        )


def _alternatives(
    state: ExpeditionState, plain: Sequence[ReportSubject]
) -> Iterator[tuple[Family, list[ReportSubject]]]:
    """The families of which one chooses, each with its members, where these are worth a table."""
    for family in state.families.values():
        members = [one for one in plain if one.entry.family == family.name]
        if family.kind == "alternatives" and len(members) >= _FEW:
            yield family, members


def _opening(
    state: ExpeditionState,
    kind: SurveyKind,
    plain: Sequence[ReportSubject],
    changed: Sequence[ReportSubject],
    made: AnswerLines,
) -> list[str]:
    """The paragraph that answers in the kind of the question."""
    lines: list[str] = []
    if kind == "comparison" and len(_libraries(plain)) > 1:
        return [
            f"- {_package(members[0])}: {_sentence(members[0].first)} {made.mark(members[0].first)}{_known(members)}"
            for members in _libraries(plain).values()
        ]
    if kind == "changes" and changed:
        facts = [axiom for one in changed for axiom in one.facts]
        told = sorted(facts, key=lambda axiom: _BREAKING.search(axiom.statement) is None)[:_FIRST]
        lines.append(
            f"{Counter(map(_package, changed)).most_common(1)[0][0]} has {len(facts)} entries on this; those that may break something come first."
        )
        return [*lines, "", *(f"- {_named(axiom)} {made.mark(axiom)}" for axiom in told)]
    if kind == "limits":
        warned = [(one, axiom) for one in plain for axiom in _with_parameters(one) if _caution(axiom)]
        warned.sort(key=lambda told: _caution(told[1]) * told[0].entry.passage.coverage, reverse=True)
        return [f"- {_named(axiom)} {made.mark(axiom)}" for _one, axiom in warned[:_FIRST]]
    for family, members in _alternatives(state, plain):
        names = [one.name for one in members[:_NAMED_FIRST]]
        more = len(members) + len(family.unshown) - len(names)
        also = f" and {more} more" if more else ""
        marks = "".join(made.mark(one.first) for one in members[:_FIRST])
        lines.append(
            f"{_package(members[0])} has {len(members) + len(family.unshown)} {family.name}: {', '.join(names)}{also}. {marks}"
        )
    if kind in {"workings", "together", "comparison"} or not lines:
        members = [one for one in plain if one.kind == "alternatives"]
        ranked = sorted(plain, key=lambda one: (not one.entry.passage.pinned, -one.entry.passage.coverage))
        alone = [one for one in ranked if one not in members and one.entry.passage.coverage >= _SAYS_MOST]
        best = (alone or members or ranked)[:_FIRST]
        said = [f"{_named(one.first)} {made.mark(one.first)}" for one in best]
        lines = [*lines, *said] if kind == "comparison" else [*said, *lines]
    return [part for line in lines for part in (line, "")][:-1]


def _libraries(plain: Sequence[ReportSubject]) -> dict[str, list[ReportSubject]]:
    """The subjects of each package, what its own pages say first."""
    found: dict[str, list[ReportSubject]] = {}
    for one in sorted(plain, key=lambda one: one.entry.passage.symbol is not None):
        if one.entry.passage.url.startswith("pkg:"):
            found.setdefault(_origin(one.entry.passage), []).append(one)
    return found


def _known(members: Sequence[ReportSubject]) -> str:
    names = [one.name for one in members if one.entry.passage.symbol][:_FAMILIAR]
    return f" Its best-known names are {', '.join(names)}." if names else ""


def _add_comparison(plain: Sequence[ReportSubject], made: AnswerLines) -> None:
    """Libraries side by side: what they say of themselves, then what one may set in each, first what all have."""
    libraries = _libraries(plain)
    for members in libraries.values():
        pages = [one for one in members if one.entry.passage.symbol is None]
        listed = [axiom for one in pages for axiom in one.facts][:_MOST_FACTS]
        _add_list(_package(members[0]), listed, _MOST_FACTS, made)
    places: dict[str, dict[str, tuple[str, Axiom]]] = {}
    for library, members in libraries.items():
        for one in members:
            for part in one.parameters:
                name = part.entry.passage.parameter or ""
                places.setdefault(name, {}).setdefault(library, (_setting(one, part), part.first))
        for one in members:
            for name, default in one.entry.passage.parameters:
                if name not in {"self", "cls"} and not name.startswith(("*", "_")):
                    places.setdefault(name, {}).setdefault(
                        library, (f"{one.name}{_default(default)}", one.first)
                    )
    alone = {library: [name for name, of in places.items() if [*of] == [library]] for library in libraries}
    rows = [name for name, of in places.items() if len(of) > 1]
    rows += [name for names in itertools.zip_longest(*alone.values()) for name in names if name is not None]
    if not rows:
        return
    made.lines += [
        "",
        "## What one may set",
        "",
        f"| | {' | '.join(_package(one[0]) for one in libraries.values())} |",
    ]
    made.lines.append(f"|{' --- |' * (len(libraries) + 1)}")
    for name in rows[:_MOST_COMPARED]:
        told = [places[name].get(library) for library in libraries]
        cells = [f"{one[0].replace('|', _BAR)} {made.mark(one[1])}" if one else "-" for one in told]
        made.lines.append(f"| `{name}` | {' | '.join(cells)} |")


def _setting(owner: ReportSubject, part: ReportSubject) -> str:
    said = _cut(_OWN_NAME.sub("", _sentence(part.first)))
    return f"{owner.name}{_default(part.entry.passage.default)}: {said}"


def _default(value: str | None) -> str:
    return f" = `{value}`" if value else ""


def _add_table(members: Sequence[ReportSubject], name: str, made: AnswerLines) -> None:
    """A table of alternatives: what each is, and the parameters that each takes."""
    takes = {one.title: _parameters(one.entry.passage) for one in members}
    has_parameters = sum(bool(said) for said in takes.values()) > len(members) / 2
    head = ["", "What it is"] + (["Parameters"] if has_parameters else [])
    made.lines += [
        "",
        f"## {name[:1].upper()}{name[1:]}",
        "",
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
    ]
    for one in members:
        deprecated = " (deprecated)" if one.entry.passage.deprecated else ""
        cells = [f"{one.name}{deprecated}", f"{_cut(_sentence(one.first))} {made.mark(one.first)}"]
        cells += [takes[one.title]] if has_parameters else []
        made.lines.append(f"| {' | '.join(cell.replace('|', _BAR) for cell in cells)} |")


def _parameters(passage: Passage) -> str:
    named = [
        f"{name}={default}" if default and len(default) <= _SHORT else name
        for name, default in passage.parameters
        if name not in {"self", "cls"} and not name.lstrip("*").startswith("_")
    ]
    return ", ".join(f"`{one}`" for one in named[:_MOST_PARAMETERS]) + (
        ", ..." if len(named) > _MOST_PARAMETERS else ""
    )


def _worth_sections(plain: Sequence[ReportSubject]) -> list[ReportSubject]:
    """The subjects that say most of the question, in their order; what says much less has its line in a table."""
    best = max((one.entry.passage.coverage for one in plain), default=0.0)
    ranked = sorted(plain, key=lambda one: (not one.entry.passage.pinned, -one.entry.passage.coverage))
    first = next((one.entry.family for one in plain if one.entry.family), None)
    kept = [one for one in plain if one.entry.family and one.entry.family == first][:_MOST_SECTIONS]
    others = [
        one for one in ranked if one not in kept and one.entry.passage.coverage >= _NEAR_BEST * best
    ]  # what belongs to no family may be what the question names
    kept += others[: _MOST_SECTIONS // 2 if kept else _MOST_SECTIONS]
    titles = {one.title for one in kept}
    return [one for one in plain if one.title in titles]


def _add_section(one: ReportSubject, made: AnswerLines, told: set[str], plan: SurveyPlan) -> None:
    """The facts of one subject, beyond its line in a table."""
    facts, cautious = one.facts if not one.entry.family else one.facts[1:], plan.kind == "limits"
    dates = one.entry.passage.symbol is None or asks_since(made.question)
    shown = [axiom for axiom in one.facts if dates or axiom.category != "history"][:_MOST_FACTS]
    if cautious:  # what a source itself calls a warning comes first
        shown = sorted(filter(_caution, one.facts), key=_caution, reverse=True)[:_MOST_FACTS]
    if not one.parameters and not any(axiom in shown for axiom in facts):
        return
    if cautious and not shown:
        return
    cited = [(one.entry, axiom) for axiom in shown]
    cited += [(part.entry, axiom) for part in one.parameters for axiom in part.facts[:_OF_PARAMETER]]
    made.lines += ["", f"## {one.name}", "", f"*{confidence_told(confidence_of_survey(plan, cited))}*", ""]
    for axiom in shown:
        warned = "Warning: " if axiom.category == "safety" else ""
        made.lines.append(f"- {warned}{_sentence(axiom)} {made.mark(axiom)}")
        told.add(axiom.id)
    for part in one.parameters:
        passage = part.entry.passage
        default = f" (default `{passage.default}`)" if passage.default else ""
        told.update(one.id for one in part.facts[:_OF_PARAMETER])
        said = " ".join(
            f"{_OWN_NAME.sub('', _sentence(one))} {made.mark(one)}" for one in part.facts[:_OF_PARAMETER]
        )
        made.lines.append(f"- `{passage.parameter}=`{default}: {said}")


def _add_changes(changed: Sequence[ReportSubject], made: AnswerLines) -> None:
    compared: dict[str, list[ReportSubject]] = {}
    for one in changed:
        if one.entry.passage.changed:
            compared.setdefault(one.entry.passage.changed, []).append(one)
    if compared:
        made.lines += ["", "## What a comparison of the two versions shows", ""]
    for said, ones in compared.items():
        names = ", ".join(f"`{short_name(one.title, parts=2)}` {made.mark(one.first)}" for one in ones)
        made.lines.append(f"- {said} {names}" if len(ones) > 1 else f"- {names}: {said}")
    rest = [(one, one.facts[1:] if one.entry.passage.changed else one.facts) for one in changed]
    for one, facts in [told for told in rest if told[1]][:_MOST_CHANGES]:
        made.lines += ["", f"## {one.name}", ""]
        made.lines += [f"- {_sentence(axiom)} {made.mark(axiom)}" for axiom in facts]


def _add_list(title: str, axioms: Iterable[Axiom], most: int, made: AnswerLines) -> None:
    shown = list(axioms)[:most]
    if shown:
        made.lines += ["", f"## {title}", ""]
        made.lines += [f"- {_named(axiom)} {made.mark(axiom)}" for axiom in shown]


def _of_category(subjects: Sequence[ReportSubject], category: str, told: set[str]) -> Iterator[Axiom]:
    for one in subjects:
        for axiom in _with_parameters(one):
            if axiom.category == category and axiom.id not in told:
                told.add(axiom.id)
                yield axiom


def _with_parameters(one: ReportSubject) -> list[Axiom]:
    return [*one.facts, *(axiom for part in one.parameters for axiom in part.facts)]


def unsaid(state: ExpeditionState) -> list[str]:
    """The telling words of the question that no passage has, nor a word that is near it in meaning."""
    said = {root for one in state.pool for root in one.counts}
    said |= {
        root_of(word)
        for one in state.pool
        for word in words(f"{one.passage.title} {one.passage.url} {one.passage.text}")
    }
    names = " ".join(one.passage.title for one in state.pool).lower()
    spelled = _spelled(state)
    asked = [word for word in words(state.survey.about) if word not in STOP_WORDS and not is_weak(word)]
    return [
        word
        for word in dict.fromkeys(asked)
        if (root_of(word) not in said if word in spelled else not _is_said(word, said, names))
    ]


def _spelled(state: ExpeditionState) -> set[str]:
    """What the question writes as a name."""
    return {word.lower() for word in _SPELLED.findall(state.plan.query)} & set(words(state.survey.about))


def _is_said(word: str, said: set[str], names: str) -> bool:
    alike = {word, *(other for other, cosine in near(word).items() if cosine >= _NEAR)}
    alike |= {other for expansion in expand(word) for other in expansion.others}
    return any(root_of(other) in said for other in alike) or (len(word) >= _LONG and word[:_LONG] in names)


def is_answered(state: ExpeditionState, missing: Sequence[str]) -> bool:
    """Whether a report answers: not where what the question spells as a name is nowhere, nor where most of it is nowhere."""
    asked = set(words(state.survey.about))
    return not _spelled(state) & set(missing) and 2 * len(missing) <= max(len(asked), 1)


def _caution(axiom: Axiom) -> int:
    return 2 * (axiom.category == "safety") + cautions(axiom.statement)


def _title(passage: Passage) -> str:
    """The title as a signal keeps it."""
    return passage.title or passage.symbol or ""


def _package(one: ReportSubject) -> str:
    """Who says it, with the version."""
    name, version = _origin(one.entry.passage), one.entry.passage.version
    return f"{name} {version}" if version else name


def _origin(passage: Passage) -> str:
    """What the package or the documents are called."""
    return re.sub(r"^(?:pkg:[^/]+/|docs:)|[@#].*$", "", passage.url).rpartition("/")[2]


def _sentence(axiom: Axiom) -> str:
    """A statement without the subject that stands before it: its section names that."""
    said = " ".join(axiom.statement.split())
    title = " ".join(axiom.signals[0].title.split())
    prefix = next((one for one in (f"`{title}`: ", f"{title}: ") if said.startswith(one)), "")
    return f"{said[len(prefix) :]}{_version(axiom)}"


def _version(axiom: Axiom) -> str:
    """Whose documents of which version say it; of packages the report says it once."""
    first = axiom.signals[0]
    found = _INDEXED.match(first.source)
    return f" ({found[1]} {first.version})" if found and first.version else ""


def _named(axiom: Axiom) -> str:
    """A statement with its subject's short name."""
    said = _sentence(axiom)
    title = axiom.signals[0].title
    name = short_name(title)
    return (
        f"{f'`{name}`' if _NAME.fullmatch(name) else name}: {said}"
        if title and said != axiom.statement
        else said
    )


def _cut(text: str) -> str:
    return text if len(text) <= _CELL else f"{text[: _CELL - 3].rsplit(' ', 1)[0]}..."
