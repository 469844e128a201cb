"""From findings to a report: composed, scored, rendered; each step that fails degrades and says so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.evidence.asked_words import AskedWords
from kr_core.evidence.citations import loads_or_links
from kr_core.evidence.coverage import ABOUT, PARTLY, answered, is_named
from kr_core.evidence.difference_answer import not_found
from kr_core.evidence.summary import compose
from kr_core.evidence.untold_parts import HARDLY, untold_parts
from kr_core.evidence.verification import untold_notice
from kr_core.model import Attribution, Claim, Draft, Report, Score
from kr_core.project.environments import OWN_LABEL
from kr_core.project.version_gaps import gap
from kr_core.question.parsed_question import parse_question
from kr_core.research.passages import evidence_entries
from kr_core.research.requests import UNKNOWN_VERSION
from kr_core.terminal_text import printable
from kr_core.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from kr_core.evidence.generated import GeneratedProse
    from kr_core.model import Finding, Passage, ResearchQuery
    from kr_core.plugin_calls import PluginCalls
    from kr_core.project.project import LocalProject
    from kr_core.protocols import Renderer, Scorer
    from kr_core.research.entry_lookup import LookupResult

_UNSURE = "KR is not sure of this"
_NAMED = "KR found what you named, and is not sure that it answers this"
_WORD = re.compile(r"[\d_.+-]*[^\W\d_][\w.+-]*")
"""A word of a question; a figure is the asker's own value, and two words side by side are not a term of a library."""
_NEAREST = 8
_LONGEST = 20_000
"""Characters of a passage that are searched for a word."""
_MISSING_MATTERS = 0.5
"""Up to this coverage, the answer starts with the words that the documentation does not have."""
_NOT_ABOUT = 0.1
"""A first passage that covers no more of the question is about something else."""
_NOTHING_FITS = 9
"""Below this score nothing of an answer fits: of the tuning questions no answerable one has less."""
_UNRESOLVED = 2
"""Names that the library does not have; more are a pasted program."""
_EXPECTED = 6
"""The same of the names that the asker expects."""
NOTHING = Score(score=0, level="low", reasons=("nothing was found",))


class RenderedReport(NamedTuple):
    """A report ready to be kept."""

    report: Report
    text: str
    notes: tuple[str, ...]


def draft_of(
    query: ResearchQuery, findings: Sequence[tuple[str, Finding]], prose: GeneratedProse | None = None
) -> Draft:
    """Compose the answer, with notices before it where the passages do not cover the question.

    Args:
        query: what is asked.
        findings: what the named sources found.
        prose: what a language model has written from it.
    """
    found, unknown = _is_about(query, findings), _says_nothing_of(findings)
    lone = _not_found(query, findings)
    notices = [*_unresolved(query, findings), *_not_found_told(query, findings, lone)]
    if not notices and (unknown or not found):
        said = unknown or "does not seem to answer this"
        notices = [f"The documentation of {_subject(query, findings)} {said}; the nearest passages follow."]
    draft = compose(query, findings, notices=notices, found=found, prose=prose)
    return draft.model_copy(update={"not_found": lone}) if lone else draft


def told_with_doubt(
    query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft, score: Score
) -> Draft:
    """A draft whose score is low, so that nothing in it reads as the answer; any other with what it leaves unanswered.

    A doubtful one begins with how sure KR is. What a language model wrote stays, since its prose is borne out by the passages.

    Args:
        query: what is asked.
        findings: what the named sources found.
        draft: the answer as it was composed and scored.
        score: of the draft.
    """
    if not draft.citations:
        return draft
    if score.level != "low":
        untold = _parts_untold(query, draft)
        return draft.model_copy(update={"summary": (*draft.summary, *untold)}) if untold else draft
    found = _is_about(query, findings) and score.score >= _NOTHING_FITS
    subject, unknown = _subject(query, findings), _says_nothing_of(findings)
    if found:
        reason = f": the documentation of {subject} {unknown}" if unknown else ""
        opening = f"{_NAMED if _is_as_named(query, findings) else _UNSURE}{reason}; closest:"
    else:
        reason = f", which {unknown}" if unknown else ""
        opening = f"KR found no answer in {subject}{reason}; this comes closest:"
    absent = _not_found_told(query, findings, draft.not_found)
    notices = [*_unresolved(query, findings), *absent, opening]
    if any(claim.written for claim in draft.summary):
        kept = [claim for claim in draft.summary if claim.citations]
        said = [Claim(text=notice) for notice in notices]
        after = draft.code_after + len(said) + len(kept) - len(draft.summary)
        return draft.model_copy(update={"summary": (*said, *kept), "code_after": after})
    doubtful = compose(query, findings, notices=notices, found=found, in_doubt=True)
    if found and all(passage.symbol and not passage.lead for passage in _quoted(doubtful)):
        notices[-1] = f"KR found only signatures in {subject}, without a word about them:"
        doubtful = compose(query, findings, notices=notices, found=found, in_doubt=True)
    return doubtful.model_copy(update={"unsupported": draft.unsupported, "not_found": draft.not_found})


def _quoted(draft: Draft) -> list[Passage]:
    """The passages that an answer quotes."""
    numbers = {number for claim in draft.summary for number in claim.citations}
    return [draft.passages[number] for number in numbers]


def _parts_untold(query: ResearchQuery, draft: Draft) -> list[Claim]:
    """That a part of a question for several things is not answered; not where the asker expects a name for each, and all are cited."""
    untold = untold_parts(query, draft, HARDLY)
    cited = {
        name.rpartition(".")[2]
        for one in draft.passages.values()
        for name in (one.symbol, one.parameter)
        if name
    }
    names = {name.rpartition(".")[2] for name in query.names}
    if len(names) > len(untold) and names <= cited:
        return []
    return [Claim(text=text) for part in untold if not loads_or_links(text := untold_notice(part))]


def _is_about(query: ResearchQuery, findings: Sequence[tuple[str, Finding]]) -> bool:
    """Whether the passages are about the question, or about what the asker expects in its answer."""
    first = [finding.passages[0] for _source, finding in findings if finding.passages]
    is_expected = any(is_named(query, passage) for passage in first)
    return is_expected or _is_pinned(findings) or answered(findings).coverage > _NOT_ABOUT


def _is_as_named(query: ResearchQuery, findings: Sequence[tuple[str, Finding]]) -> bool:
    """Whether what the asker expects is there and comes first: whether it answers is all that is in doubt."""
    first = next((finding.passages[0] for _source, finding in findings if finding.passages), None)
    is_absent = any(not one.mentioned for _source, finding in findings for one in finding.unresolved)
    return first is not None and is_named(query, first) and not is_absent


def _is_pinned(findings: Sequence[tuple[str, Finding]]) -> bool:
    return any(finding.passages[0].pinned for _source, finding in findings if finding.passages)


def _says_nothing_of(findings: Sequence[tuple[str, Finding]]) -> str:
    """`says nothing of "lid"`, where words of the question are missing and little of it is covered; else empty."""
    coverage = answered(findings)
    held = {word for passage in _nearest(findings) for word in words(_held_by(passage))}
    absent = (one.name for _source, finding in findings for one in finding.unresolved)
    held.update(part.lower() for name in absent for part in (name, *name.split(".")))  # KR says so already
    missing = [
        word
        for word in coverage.missing
        if not any(word != other and word in other for other in coverage.missing)
        and _WORD.fullmatch(word)
        and held.isdisjoint({word, *words(word)})
    ]
    if not missing or coverage.coverage >= _MISSING_MATTERS or _is_pinned(findings):
        return ""
    return "says nothing of " + ", ".join(f'"{word}"' for word in missing[:4])


def _nearest(findings: Sequence[tuple[str, Finding]]) -> list[Passage]:
    """The passages that may be shown: what they hold is not denied."""
    return [passage for _source, finding in findings for passage in finding.passages[:_NEAREST]]


def _held_by(passage: Passage) -> str:
    return f"{passage.title} {passage.signature or ''} {passage.text[:_LONGEST]}"


def _is_shown(name: str, passage: Passage) -> bool:
    """Whether a passage lists what has a plain name, or comes below a heading that is the name."""
    listed = {parameter.lstrip("*.") for parameter, _default in passage.parameters}
    heading = (passage.title or "").rpartition(" § ")[2].strip("` ")
    return name in listed or name == heading


def _unresolved(query: ResearchQuery, findings: Sequence[tuple[str, Finding]]) -> list[str]:
    """What the question names and the library does not have, a sentence each."""
    names = {one.name: one for _source, finding in findings for one in finding.unresolved}
    subject = _subject(query, findings)
    sentences = []
    nearest_passages = _nearest(findings)
    denied = [
        one for one in names.values() if not any(_is_shown(one.name, passage) for passage in nearest_passages)
    ]
    for one in denied[: max(_UNRESOLVED, min(len(query.names), _EXPECTED))]:
        near = ", ".join(f"`{name}`" for name in one.nearest)
        nearest = f"; the nearest: {near}" if near else ""
        sentences.append(
            f"KR found no entry for `{one.name}` in {subject}, whose documentation only mentions it."
            if one.mentioned
            else f"KR found nothing named `{one.name}` in {subject}{nearest}."
        )
    return sentences


def _not_found(query: ResearchQuery, findings: Sequence[tuple[str, Finding]]) -> tuple[str, ...]:
    """What a question about a difference names and nothing is about, though another side was found."""
    if "difference" not in parse_question(query.question).kinds:
        return ()
    unresolved = {one.name for _source, finding in findings for one in finding.unresolved}
    passages = [passage for _source, finding in findings for passage in finding.passages]
    names = not_found(AskedWords(query.question, passages), passages)
    return tuple(name for name in dict.fromkeys(names) if name not in unresolved)[:_UNRESOLVED]


def _not_found_told(
    query: ResearchQuery, findings: Sequence[tuple[str, Finding]], names: Sequence[str]
) -> list[str]:
    return [f"KR found nothing named `{name}` in {_subject(query, findings)}." for name in names]


def _subject(query: ResearchQuery, findings: Sequence[tuple[str, Finding]]) -> str:
    """The library, with the version that was read."""
    version = next((finding.version for _source, finding in findings if finding.version), None)
    return f"{query.framework} {version}" if version else query.framework


def score_of(
    scorer: PluginCalls[Scorer],
    query: ResearchQuery,
    findings: Sequence[tuple[str, Finding]],
    draft: Draft,
) -> tuple[Score, list[str]]:
    """The score, and a note where the scorer failed."""
    try:
        score = scorer(lambda one: one.score(query, findings, draft))
        if not isinstance(score, Score):
            raise TypeError(f"returned {type(score).__name__}, not a Score")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything
        reason = f"the scorer failed ({scorer.fault(error)})"
        return Score(score=0, level="low", reasons=(reason,)), [f"scorer {scorer.name}: {reason}"]
    return score, []


def is_sufficient(
    query: ResearchQuery,
    findings: Sequence[tuple[str, Finding]],
    wanted: int,
    scorer: Callable[[], PluginCalls[Scorer]],
) -> bool:
    """Whether the chain of sources may stop: the findings are about the question, or reach the score asked for.

    Args:
        query: what is asked.
        findings: what the named sources found so far.
        wanted: the score to reach; 0 for none.
        scorer: gives the scorer, where a score is wanted.
    """
    if answered(findings).coverage < ABOUT:
        return False
    if wanted == 0:
        return True
    score, _notes = score_of(scorer(), query, findings, draft_of(query, findings))
    return score.score >= wanted


def report_of(
    query: ResearchQuery,
    findings: Sequence[tuple[str, Finding]],
    draft: Draft,
    score: Score | None,
    today: date,
    mark: str | None,
    notes: Sequence[str],
) -> Report:
    """The report, ready to be rendered; without a score, that of a skeleton."""
    return Report(
        query=query.model_copy(update={"framework_version": version_of(query, findings)}),
        research_date=today,
        score=score or NOTHING,
        draft=draft.model_copy(update={"caveats": (*_version_caveats(query, findings), *draft.caveats)}),
        sources=_attributions(draft, findings),
        mark=mark,
        notes=(*notes, *_passage_notes(draft)),
    )


def rendered(renderer: PluginCalls[Renderer], report: Report, notes: Sequence[str] = ()) -> RenderedReport:
    """The report with its text and the notes on it; plain text, and one more note, where the renderer fails."""
    try:
        text = renderer(lambda one: one.render(report))
        if not isinstance(text, str) or not text.strip():
            raise TypeError("rendered nothing")
        return RenderedReport(report, printable(text), tuple(notes))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything
        return RenderedReport(
            report,
            printable(plain(report)),
            (*notes, f"renderer {renderer.name}: {renderer.fault(error)}; plain text instead"),
        )


def version_notes(
    query: ResearchQuery, findings: Sequence[tuple[str, Finding]], lookup: LookupResult, project: LocalProject
) -> list[str]:
    """What a caller should know of the versions that sources read, and of an earlier report for another one."""
    notes = []
    if any(finding.version_from == OWN_LABEL for _name, finding in findings):
        notes.append(f"{query.framework} is not installed in this project; read from {OWN_LABEL}")
    for name, finding in findings:
        if finding.version and gap(finding.version, query.framework_version):
            notes.append(
                f"{name} read {finding.version}, the question is about {query.framework_version}: check before use"
            )
    disagreement = project.disagreement(query.framework)
    if disagreement:
        notes.append(disagreement)
    match = lookup.match
    if lookup.state == "stale" and match is not None and match.warning and lookup.replaces:
        notes.append(f"an earlier report was replaced: {match.warning}")
    return notes


def _passage_notes(draft: Draft) -> list[str]:
    """What is noted beside the passages that are cited, each by the name of its passage."""
    notes = (
        f"{name}: {note}" if (name := passage.symbol or passage.title) else note
        for passage in draft.passages.values()
        for note in passage.notes
    )
    return list(dict.fromkeys(notes))


def version_of(query: ResearchQuery, findings: Sequence[tuple[str, Finding]]) -> str:
    """The version that the report is filed under: the one asked for or in use; where none is known, the one that was read.

    Filed under what was read, a report on a package that only a lock file names would be stale at once, for ever.
    """
    read = next((finding.version for _source, finding in findings if finding.version), None)
    return read if read and query.framework_version == UNKNOWN_VERSION else query.framework_version


def _version_caveats(query: ResearchQuery, findings: Sequence[tuple[str, Finding]]) -> list[Claim]:
    """What the reader must know of versions: which was read, where it was findings, and whether it is the one asked for."""
    claims = []
    for source, finding in findings:
        if not finding.version:
            continue
        where = f" ({finding.version_from})" if finding.version_from else ""
        claims.append(Claim(text=f"{source} read {query.framework} {finding.version}{where}."))
        difference = gap(finding.version, query.framework_version)
        if difference:
            claims.append(
                Claim(
                    text=f"The question is about {query.framework_version}, another {difference} version: check before use."
                )
            )
    return claims


def _attributions(draft: Draft, findings: Sequence[tuple[str, Finding]]) -> tuple[Attribution, ...]:
    cited = {(citation.source, citation.url): citation for citation in draft.citations}
    lines = []
    for (source, url), citation in cited.items():
        passages = [
            passage
            for name, finding in findings
            if name == source
            for passage in finding.passages
            if passage.url == url
        ]
        best = max((passage.coverage for passage in passages), default=0.0)
        word = "verified via official docs" if citation.official else "inferred from community examples"
        lines.append(
            Attribution(url=url, via=source, finding="partial coverage only" if best < PARTLY else word)
        )
    return tuple(lines)


def plain(report: Report) -> str:
    """A report without any template, for when the renderer fails."""
    query, draft = report.query, report.draft
    lines = [
        f"# {query.framework} - {query.topic}", "",
        f"**Framework:** {query.framework}", f"**Version:** {query.framework_version}",
        f"**Research Date:** {report.research_date.isoformat()}", f"**Confidence:** {report.score.level}",
        f"**Sources:** {', '.join(source.url for source in report.sources) or 'none'}", "",
        *([report.mark, ""] if report.mark else []),
    ]  # fmt: skip
    for title, claims in (
        ("Summary", draft.summary),
        ("Details", draft.details),
        ("Caveats & Version-Specific Notes", draft.caveats),
    ):
        lines += [f"## {title}", "", *(f"{claim.text}\n" for claim in claims)]
    return "\n".join(lines) + "\n"


def evidence_of(
    report: Report, query: ResearchQuery, path: str, shown: Sequence[Passage] = ()
) -> dict[str, Any]:
    """What `kr verify` needs: claims, quotes and the passages in which they stand (`{topic}.evidence.json`).

    Args:
        report: as it was rendered.
        query: what was asked.
        path: of the report in the knowledge base.
        shown: the passages that agents get, best first.
    """
    draft = report.draft
    passages = {passage.sha256: passage for passage in (*draft.passages.values(), *shown)}
    return {
        "schema_version": 1,
        "report": path,
        "framework": query.framework,
        "version": report.query.framework_version,
        "topic": report.query.topic,
        "question": query.question,
        **({"names": list(query.names)} if query.names else {}),
        "research_date": report.research_date.isoformat(),
        "score": report.score.score,
        "level": report.score.level,
        "reasons": list(report.score.reasons),
        "answer": summary_text(draft),
        "summary": [claim.model_dump(mode="json") for claim in draft.summary],
        "details": [claim.model_dump(mode="json") for claim in draft.details],
        "caveats": [claim.model_dump(mode="json") for claim in draft.caveats],
        "summary_code": [example.model_dump(mode="json") for example in draft.summary_code],
        "code": [example.model_dump(mode="json") for example in draft.code],
        "citations": [
            {**citation.model_dump(mode="json"), "sha256": draft.passages[citation.n].sha256}
            for citation in draft.citations
        ],
        "shown": evidence_entries(shown),
        "passages": {
            sha256: {
                "url": passage.url,
                "locator": passage.locator,
                "title": passage.title,
                "fetched_at": passage.fetched_at.isoformat(timespec="seconds"),
                "text": passage.text,
            }
            for sha256, passage in passages.items()
        },
    }


def summary_text(draft: Draft) -> str:
    """The Summary as people and agents read it: its sentences, then the shortest code."""
    first, rest = draft.summary[: draft.code_after], draft.summary[draft.code_after :]
    blocks = [claim.text for claim in first]
    blocks += [
        f"```{example.language}\n{example.code}\n```\n[{example.citation}]" for example in draft.summary_code
    ]
    return "\n\n".join([*blocks, *(claim.text for claim in rest)])
