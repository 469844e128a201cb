"""`kr verify`: each quote of a report found again in the kept passage, without any language model.

What is checked: the passages have the fingerprints they were kept with; each quote stands in its passage; each slot of a
sentence stands in the sentence and in a cited passage, with nothing but connecting words between the slots; each
sentence and code example stands in the report as it was checked; the answer that is served from the knowledge base is
made of them alone; and the report's head, sections and citations say nothing that the evidence does not.
"""

from __future__ import annotations

import hashlib
import re
from functools import cached_property
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.evidence.citations import folded, holds, holds_code, plain, slot_stands
from kr_core.evidence.generated import unsupported
from kr_core.evidence.heads import SUBCLASS
from kr_core.evidence.own_lines import is_like_own
from kr_core.model import SKELETON_MARK, STALE_MARK
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_ATTRIBUTION = "Source Attribution"
_PARTS = {
    "Summary": ("summary", "summary_code"),
    "Details": ("details",),
    "Code Examples": ("code",),
    "Caveats & Version-Specific Notes": ("caveats",),
    _ATTRIBUTION: ("citations",),
}
"""The sections of the template, and what of the evidence each prints."""
_PLACEHOLDERS = {
    "Summary": "No answer was found.",
    "Details": "No further details were found.",
    "Code Examples": "No code example was found.",
    "Caveats & Version-Specific Notes": "No caveat was found.",
    _ATTRIBUTION: "No source was used.",
}
_CODE_ABOVE = "The code example is in the Summary."
_CAVEATS = "Caveats & Version-Specific Notes"
_FENCE = re.compile(r"^(`{3,}|~{3,})")
_HEADING = re.compile(r"^##\s++(.*)$")
_MARKS = re.compile(r"(?:\[\d{1,9}\]){1,100}+$")
_MARK = re.compile(r"\[\d+\]")
_UNDERLINE = re.compile(r"=+|-+")
_FRONT_MATTER = 40
"""Lines that YAML above a title may have at most."""
_LABEL = re.compile(r"^\*\*(Framework|Version|Research Date|Confidence|Score|Sources):\*\*(.*)$")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
_CONNECTING = frozenset(
    "see also the default of in is which means type options deprecated replacement returns"
    " also takes has of this kind by their names to hands on raises value from environment"
    " pass to set call await use read with related it accepts".split()
)
"""The words that KR puts between slots; the last line is of reports that earlier versions wrote."""
_LIST_MARK = "- "
"""Before a parameter in the list of what a callable takes."""
_VERDICT = re.compile(r"^(?:Yes|No): ")
_REQUIRED = " has no default: it is required."
"""What KR says of a parameter that each call must give."""
_OPENINGS = ("See also ", "Related: ")
_BETWEEN = re.compile(r"[\s\w`:;,.=()*]*")
_UNTOLD = re.compile(r'Not answered here: "([^"`\[\]]{1,160})"\.')
_QUOTING = re.compile(r"[\"`\[\]]")
_LONGEST_PART, _CUT = 140, " ..."
_VERSION = r"[^\s`\[\]()]{1,60}"
_MOST_WORK = 300_000_000
"""Characters that a check may look at, some with others again and again: seconds. KR's own reports take a thousandth."""
_WRITTEN = 25
"""How often the passages of a sentence that a model wrote are looked at, about."""
_LONGEST_NAME = 500
"""Characters of a framework's name that a notice may have: a pattern is made of it."""
_LINE = 150
"""Characters that are looked at in the time that a line and a citation take to be compared."""
_FINDINGS = {
    "verified via official docs": True,
    "inferred from community examples": False,
    "partial coverage only": None,
    "given by a human": False,
}
"""What is said of a source, and whether it must be an official one."""


class VerificationProblem(NamedTuple):
    """Something that does not hold, and where."""

    where: str
    what: str


class _ReportLine(NamedTuple):
    """A line of a report outside its code; `section` is "" above the first."""

    section: str
    text: str


class _Block(NamedTuple):
    """A code block of a report, and the line below it."""

    section: str
    code: str
    below: str


def verify(report: str, evidence: Mapping[str, Any]) -> list[VerificationProblem]:
    """What is false in a report and its evidence; empty where all holds."""
    if not report.strip():
        return [VerificationProblem("report", "the report is empty")]
    try:
        if _work(report, evidence) > _MOST_WORK:
            return [VerificationProblem("report", "too large to be checked, with its evidence")]
        return list(_problems(report, evidence))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        return [
            VerificationProblem("evidence", f"not in the form KR writes ({type(error).__name__}: {error})")
        ]


def _work(report: str, evidence: Mapping[str, Any]) -> int:
    """How many characters a check looks at, about; who wrote a report and its evidence is not known."""
    lines, sections = report.count("\n") + 1, report.count("\n## ") + 1
    citations, reasons = evidence["citations"], evidence.get("reasons") or ()
    claims = [claim for part in ("summary", "details", "caveats") for claim in evidence[part]]
    examples = [*evidence["summary_code"], *evidence["code"]]
    lengths = {
        sha256: len(passage["text"]) + len(passage.get("title") or "")
        for sha256, passage in evidence["passages"].items()
    }
    cited: dict[int, int] = {}
    work = 0
    for citation in citations:
        length = (
            lengths.get(citation["sha256"], 0) + len(citation["quote"]) + len(citation.get("symbol") or "")
        )
        cited[int(citation["n"])] = length
        work += length
    for claim in claims:
        read = sum(cited.get(number, 0) for number in claim["citations"])
        own = len(claim["text"]) + _LINE  # held against the name of each passage, too
        times = len(claim["slots"]) + (_WRITTEN if claim.get("written") else 5)
        work += times * (read + own + own * len(claim["citations"]))
        work += len(claim["text"]) * len(evidence["summary"])  # the answer, with its code after each sentence
        if not claim["citations"]:
            work += 5 * (len(str(evidence.get("question"))) + len(citations))
    work += len(evidence["summary"]) * sum(len(example["code"]) for example in evidence["summary_code"])
    work += sum(cited.get(int(example["citation"]), 0) for example in examples)
    return (
        work + len(report) * (1 + len(examples)) + _LINE * lines * (len(citations) + len(reasons) + sections)
    )


def not_checked(report: str) -> list[str]:
    """What `verify` passes over: sections that are not the template's own, and notes of the run."""
    _blocks, lines, sections = _read(report)
    foreign = [f"the section {section}" for section in dict.fromkeys(sections) if section not in _PARTS]
    return [*foreign, *(line.text for line in lines if _is_note(line))]


def _problems(report: str, evidence: Mapping[str, Any]) -> Iterator[VerificationProblem]:
    passages: dict[str, Mapping[str, Any]] = {}
    for sha256, passage in evidence["passages"].items():
        passages[sha256] = passage
        if hashlib.sha256(passage["text"].encode()).hexdigest() != sha256:
            yield VerificationProblem(f"passage {sha256[:12]}", "the text is not the one that was kept")
    cited: dict[int, _Cited] = {}
    for citation in evidence["citations"]:
        kept = passages.get(citation["sha256"])
        if kept is None:
            yield VerificationProblem(f"[{citation['n']}]", "its passage is missing")
            continue
        cited[int(citation["n"])] = _Cited(
            kept["text"], _labels(kept.get("title") or ""), citation.get("symbol") or "", citation["quote"]
        )
        if not holds(kept["text"], citation["quote"]):
            yield VerificationProblem(
                f"[{citation['n']}]", f"the quote is not in its passage: {citation['quote'][:80]}"
            )
    for part in ("summary", "details", "caveats"):
        for claim in evidence[part]:
            if claim["citations"]:
                yield from _claim_problems(claim, cited)
            elif not _is_notice(claim["text"], part, evidence):
                yield VerificationProblem(
                    claim["text"][:60], "a sentence without a citation that is none of KR's notices"
                )
    for example in (example for part in ("summary_code", "code") for example in evidence[part]):
        source = cited.get(int(example["citation"]))
        if source is None or not holds_code(source.text, example["code"]):
            yield VerificationProblem(
                f"[{example['citation']}]", f"the code is not in its passage: {example['code'][:60]}"
            )
    yield from _answer_problems(evidence)
    yield from _report_problems(report, evidence)


class _Cited(NamedTuple):
    """What a citation points to."""

    text: str
    labels: tuple[str, ...]
    """The forms of its title with which a sentence may begin."""
    symbol: str
    quote: str


def _labels(title: str) -> tuple[str, ...]:
    return (f"{folded(title)}: ", f"{plain(title)}: ", f"`{plain(title)}`: ") if title else ()


# -- sentences --


def _claim_problems(
    claim: Mapping[str, Any], citations: Mapping[int, _Cited]
) -> Iterator[VerificationProblem]:
    where = claim["text"][:60]
    cited = [citations[number] for number in claim["citations"] if number in citations]
    if len(cited) < len(claim["citations"]):
        yield VerificationProblem(where, "cites a passage that is missing")
    said = folded(_MARKS.sub("", claim["text"]))
    for slot in claim["slots"]:
        if not slot_stands(slot, [one.text for one in cited]) or not _named_so(slot, cited):
            yield VerificationProblem(where, f"not in the cited passage: {slot[:80]}")
        if plain(slot) not in said and folded(slot) not in said:
            yield VerificationProblem(where, f"not in the sentence: {slot[:80]}")
    marks = {int(number) for number in re.findall(r"\d+", (_MARKS.search(claim["text"]) or [""])[0])}
    if marks != set(claim["citations"]):
        yield VerificationProblem(where, "its citation marks are not those that were checked")
    if claim.get("written"):
        fault = unsupported(said, [one.text for one in cited], [one.quote for one in cited])
        if fault:
            yield VerificationProblem(where, fault)
        return
    between = _unslotted(said, claim["slots"], cited)
    if between:
        yield VerificationProblem(where, f"says more than its passages: {between[:60]}")


def _named_so(slot: str, cited: Sequence[_Cited]) -> bool:
    """Whether a dotted name is that of a cited symbol, where its passage does not have it as it is."""
    if not re.fullmatch(r"\w+(?:\.\w+)+", slot):
        return True
    symbols = [one.symbol for one in cited if one.symbol]
    return not symbols or slot in symbols or any(holds(one.text, slot) for one in cited)


def _unslotted(said: str, slots: Sequence[str], cited: Sequence[_Cited]) -> str:
    """What a sentence says beside its slots, its title and connecting words; '' for nothing."""
    if said.startswith('"') and said.endswith('"') and is_like_own(said[1:-1]):
        said = said[1:-1]  # quoted as a whole, since it begins like a line of KR's own
    said = _VERDICT.sub("", said).removesuffix(_REQUIRED)
    rest = _without_slots(_without_titles(said, cited), slots, cited)
    rest = rest.replace(f"`{SUBCLASS}(", "`(")
    inside = " ".join(part for part in rest.split("`")[1::2] if re.search(r"\w", part))
    outside = rest.replace("\x01", " ")
    words = [word for word in re.findall(r"\w+", outside) if word.lower() not in _CONNECTING]
    if inside or words:
        return (inside or " ".join(words)).replace("\x01", "...").strip()
    return "" if _BETWEEN.fullmatch(outside.removeprefix(_LIST_MARK)) else outside.strip()


def _without_titles(text: str, cited: Sequence[_Cited]) -> str:
    """A sentence without the titles of its passages, with which it may begin."""
    for passage in cited:
        opening = next((one for one in _OPENINGS if text.startswith(one)), "")
        for label in passage.labels:
            if text.startswith(f"{opening}{label}"):
                text = text[len(opening) + len(label) :]
    return text


def _without_slots(text: str, slots: Sequence[str], cited: Sequence[_Cited]) -> str:
    """A sentence with a mark in place of each slot and each cited symbol."""
    pieces = {text for slot in slots for text in (plain(slot), folded(slot)) if text}
    pieces |= {passage.symbol for passage in cited if passage.symbol}
    for piece in sorted(pieces, key=len, reverse=True):
        if piece not in text:  # a pattern of a long name takes its time for each sentence
            continue
        before, after = r"(?<!\w)" * piece[0].isalnum(), r"(?!\w)" * piece[-1].isalnum()
        text = re.sub(f"{before}{re.escape(piece)}{after}", "\x01", text)
    return text


def untold_notice(part: str) -> str:
    """What KR says of a part of a question that its answer leaves out."""
    return f'Not answered here: "{shorten(_as_quoted(part), _LONGEST_PART, placeholder=_CUT)}".'


def _as_quoted(question: str) -> str:
    """A question as KR quotes it: without what would end the quotation, or be code or a link."""
    return folded(printable(_QUOTING.sub("", question)))


def _is_notice(text: str, part: str, evidence: Mapping[str, Any]) -> bool:
    """Whether a sentence without a citation is one that KR itself says."""
    framework = str(evidence["framework"])
    if len(framework) > _LONGEST_NAME:
        return False
    name = re.escape(folded(framework))
    said = folded(text)
    if part == "summary":
        words = r'"[^"`\[\]]{1,60}"(?:, "[^"`\[\]]{1,60}"){0,3}'
        unknown = rf"says nothing of {words}|does not seem to answer this"
        subject = rf"{name}(?: {_VERSION})?"
        notice = rf"The documentation of {subject} (?:{unknown}); the nearest passages follow\."
        nothing_of = f"says nothing of {words}"
        doubt = rf"KR (?:is not sure of this|found what you named, and is not sure that it answers this)(?:: the documentation of {subject} {nothing_of})?; closest:"
        nothing = rf"KR found no answer in {subject}(?:, which {nothing_of})?; this comes closest:"
        bare = rf"KR found only signatures in {subject}, without a word about them:"
        near = r"; the nearest: `[^`\[\]]{1,200}`(?:, `[^`\[\]]{1,200}`){0,2}"
        unresolved = rf"KR found nothing named `[^`\[\]]{{1,200}}` in {subject}(?:{near})?\."
        mentioned = (
            rf"KR found no entry for `[^`\[\]]{{1,200}}` in {subject}, whose documentation only mentions it\."
        )
        untold = _UNTOLD.fullmatch(said)
        if untold:
            return untold[1].removesuffix(_CUT) in _as_quoted(str(evidence.get("question")))
        return bool(re.fullmatch(f"{notice}|{doubt}|{nothing}|{bare}|{unresolved}|{mentioned}", said))
    if part != "caveats":
        return False
    read = re.fullmatch(rf"([\w.-]+) read {name} ({_VERSION})(?: \([^()`\[\]]{{1,80}}\))?\.", said)
    if read:
        known = {
            citation["version"]
            for citation in evidence["citations"]
            if citation["source"] == read[1] and citation["version"]
        }
        return not known or read[2] in known
    other = r"The question is about [^`\[\]]{1,60}, another (?:major|minor) version: check before use\."
    return bool(re.fullmatch(other, said))


def _answer_problems(evidence: Mapping[str, Any]) -> Iterator[VerificationProblem]:
    """The answer served from the knowledge base: the summary's sentences in order, its code between two of them."""
    if "answer" not in evidence:
        return
    claims = [claim["text"] for claim in evidence["summary"]]
    code = [
        f"```{example['language']}\n{example['code']}\n```\n[{example['citation']}]"
        for example in evidence["summary_code"]
    ]
    places = range(len(claims) + 1)
    if not any(
        evidence["answer"] == "\n\n".join([*claims[:place], *code, *claims[place:]]) for place in places
    ):
        yield VerificationProblem(
            "answer", "it is not made of the summary's checked sentences and code alone"
        )


# -- the report --


def _report_problems(report: str, evidence: Mapping[str, Any]) -> Iterator[VerificationProblem]:
    blocks, lines, sections = _read(report)
    claims = {
        _folded_line(claim["text"]): part
        for part in ("summary", "details", "caveats")
        for claim in evidence[part]
    }
    examples = {
        (folded(example["code"]), int(example["citation"])): part
        for part in ("summary_code", "code")
        for example in evidence[part]
    }
    printed = {_folded_line(line.text) for line in lines}
    for claim in claims:
        if claim not in printed:
            yield VerificationProblem(claim[:60], "a checked sentence is not in the report as it was checked")
    yield from _code_problems(blocks, list(examples))
    for section in dict.fromkeys(sections):
        if section not in _PARTS:
            yield from _foreign_heading(section, sections, lines, blocks, claims)
    yield from _line_problems(blocks, lines, claims, evidence)


def _code_problems(
    blocks: Sequence[_Block], examples: Sequence[tuple[str, int]]
) -> Iterator[VerificationProblem]:
    """Code that the report lacks, code that was never checked, and code with another citation mark."""
    printed = {folded(block.code) for block in blocks}
    for code, _number in examples:
        if code not in printed:
            yield VerificationProblem(code[:60], "a code example is not in the report as it was checked")
    for block in blocks:
        numbers = [number for code, number in examples if code == folded(block.code)]
        first_line = block.code.split("\n")[0][:60]
        if block.section in {*_PARTS, ""} and not numbers:
            yield VerificationProblem(first_line, "a code example that was never checked")
        elif numbers and block.below not in {f"[{number}]" for number in numbers}:
            yield VerificationProblem(first_line, "its citation mark is not the one that was checked")


def _line_problems(
    blocks: Sequence[_Block],
    lines: Sequence[_ReportLine],
    claims: Mapping[str, str],
    evidence: Mapping[str, Any],
) -> Iterator[VerificationProblem]:
    """A title that is not that of the evidence, and lines that say what the evidence does not."""
    filled = [line for line in lines if line.text.strip()]
    title = _title(filled, evidence)
    if not title:
        yield VerificationProblem("title", "it is not that of the evidence")
    checked = {*claims, SKELETON_MARK, STALE_MARK}
    checked |= {block.below for block in blocks if _MARK.fullmatch(block.below)}
    template = _TemplateLines(evidence)
    for line in filled[title or 1 :]:
        text = _folded_line(line.text)
        if label := _LABEL.match(line.text.strip()):
            if folded(label[2]) != template.heads[label[1]]:
                yield VerificationProblem(
                    f"{label[1]}: {folded(label[2])[:60]}", "the evidence says otherwise"
                )
        elif text not in checked and not _may_stand(line, text, template):
            yield VerificationProblem(
                f"{line.section or 'head'}: {text[:60]}", "a sentence that was never checked"
            )


def _may_stand(line: _ReportLine, text: str, template: _TemplateLines) -> bool:
    """Whether an unchecked line is the template's own, or is in a section that a person added and cites nothing."""
    if line.section in _PARTS or not line.section:
        return template.has(line, text)
    return not _MARK.search(text)


def _foreign_heading(
    section: str,
    sections: Sequence[str],
    lines: Sequence[_ReportLine],
    blocks: Sequence[_Block],
    claims: Mapping[str, str],
) -> Iterator[VerificationProblem]:
    """A heading that is not the template's own may head its own text, not nothing or what belongs under another."""
    held = [_folded_line(line.text) for line in lines if line.section == section and line.text.strip()]
    if not held and not any(block.section == section for block in blocks):
        yield VerificationProblem(
            section[:60], "a heading with nothing below it that is not the template's own"
        )
    homes = {home for home, parts in _PARTS.items() if home in sections for part in parts}
    taken = [claims[text] for text in held if text in claims]
    if any(part in _PARTS[home] for home in homes for part in taken):
        yield VerificationProblem(section[:60], "a heading over sentences that stand under another one")


def title_of(report: str) -> str:
    """How a report begins, as its evidence keeps it: the first line, with its underline and any front matter above it."""
    filled = [line for line in report.split("\n") if line.strip()]
    return "\n".join(filled[: _title_lines(filled)])


def _title_lines(filled: Sequence[str]) -> int:
    """How many of the filled lines are the title."""
    begin = 0
    if (
        filled
        and filled[0].strip() == "---"
        and "---" in (rest := [one.strip() for one in filled[1:_FRONT_MATTER]])
    ):
        begin = rest.index("---") + 2
    is_underlined = len(filled) > begin + 1 and _UNDERLINE.fullmatch(filled[begin + 1].strip())
    return begin + (2 if is_underlined else 1)


def _title(filled: Sequence[_ReportLine], evidence: Mapping[str, Any]) -> int:
    """How many lines are the report's title, that of the project's own template or else KR's; 0 where they are not."""
    title = (
        evidence.get("title")
        or f"# {_folded_line(evidence['framework'])} - {_folded_line(evidence['topic'])}"
    )
    count = _title_lines([line.text for line in filled])
    shown = filled[:count]
    is_same = folded("\n".join(line.text for line in shown)) == folded(title)
    return count if is_same and not any(line.section for line in shown) else 0


class _TemplateLines:
    """The lines that the template writes beside sentences and code; each list of them is made once for all lines of a report."""

    def __init__(self, evidence: Mapping[str, Any]) -> None:
        self._evidence = evidence

    @cached_property
    def heads(self) -> dict[str, str]:
        """The lines at the head of a report, by their label."""
        evidence = self._evidence
        urls = dict.fromkeys(_folded_line(citation["url"]) for citation in evidence["citations"])
        return {
            "Framework": _folded_line(evidence["framework"]),
            "Version": _folded_line(evidence["version"]) or "unknown",
            "Research Date": evidence["research_date"],
            "Confidence": evidence["level"],
            "Score": f"{evidence['score']}/100",
            "Sources": folded(", ".join(urls)) or "none",
        }

    @cached_property
    def _reasons(self) -> set[str]:
        return {folded(f"- Confidence: {_folded_line(reason)}") for reason in self._evidence["reasons"]}

    @cached_property
    def _listed(self) -> set[str]:
        return {
            folded(f"- [{citation['n']}] {_folded_line(citation['url'])} {_folded_line(citation['locator'])}")
            for citation in self._evidence["citations"]
        }

    @cached_property
    def _findings(self) -> set[str]:
        return {
            folded(f"{_folded_line(citation['url'])} (via {_folded_line(citation['source'])}) - {finding}")
            for citation in self._evidence["citations"]
            for finding, official in _FINDINGS.items()
            if official is None or official == citation["official"]
        }

    def has(self, line: _ReportLine, text: str) -> bool:
        """Whether a line, with its folded text, is one of them."""
        evidence = self._evidence
        if text == _PLACEHOLDERS.get(line.section):
            return not any(evidence[part] for part in _PARTS[line.section])
        if (line.section, text) == ("Code Examples", _CODE_ABOVE):
            return bool(evidence["summary_code"]) and not evidence["code"]
        if line.section == _CAVEATS:
            return text in self._reasons or _is_note(line)
        if line.section == _ATTRIBUTION:
            said = re.fullmatch(r"- Source \d+: (.*)", text)
            return (
                text == "Citations:"
                or text in self._listed
                or (said is not None and said[1] in self._findings)
            )
        return False


def _is_note(line: _ReportLine) -> bool:
    return line.section == _CAVEATS and line.text.startswith("- Note: ") and not _MARK.search(line.text)


def _folded_line(text: str) -> str:
    """A text as the template prints it on a line: without breaks and control characters; an opening may be escaped."""
    line = folded(_CONTROL.sub(" ", text))
    return line.removeprefix("\\")


def _read(report: str) -> tuple[list[_Block], list[_ReportLine], list[str]]:
    """The code blocks of a report, its other lines, and its sections in order."""
    blocks: list[_Block] = []
    lines: list[_ReportLine] = []
    sections: list[str] = []
    section, fence, block, closed = "", "", list[str](), False
    for line in report.split("\n"):
        opening = _FENCE.match(line)
        heading = _HEADING.match(line)
        if closed:
            blocks[-1] = blocks[-1]._replace(below=line.strip())
            closed = False
        if fence:
            if opening and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                blocks.append(_Block(section, "\n".join(block), ""))
                fence, block, closed = "", [], True
            else:
                block.append(line)
        elif opening:
            fence = opening[1]
        elif heading:
            section = heading[1].rstrip()
            sections.append(section)
        else:
            lines.append(_ReportLine(section, line))
    if fence:
        blocks.append(_Block(section, "\n".join(block), ""))
    return blocks, lines, sections
