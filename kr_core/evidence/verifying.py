"""`kr verify`: each quote of a report found again in the kept passage, without any language model.

What is checked: the passages have the fingerprints they were kept with; each quote stands in its passage; each slot of a
sentence stands in a cited passage; each checked sentence and code example stands in the report as it was checked; and
the report holds no other sentence with a citation, nor any uncited one among its answers.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.evidence.citing import slot_stands
from kr_core.evidence.quotes import folded, holds, holds_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ANSWERS = ("Summary", "Details", "Code Examples")
"""Sections in which every sentence must have been checked."""
_PLACEHOLDER = re.compile(r"^(?:No .{3,60} was found\.|No further details were found\.|\[[^\[\]]*\])$")
_FENCE = re.compile(r"^(`{3,}|~{3,})")
_MARKS = re.compile(r"(?:\[\d+\])+$")


class Problem(NamedTuple):
    """Something that does not hold, and where."""

    where: str
    what: str


def verify(report: str, evidence: Mapping[str, Any]) -> list[Problem]:
    """What is false in a report and its evidence; empty where all holds."""
    try:
        return list(_problems(report, evidence))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        return [Problem("evidence", f"not in the form KR writes ({type(error).__name__}: {error})")]


def _problems(report: str, evidence: Mapping[str, Any]) -> Iterator[Problem]:
    passages: dict[str, str] = {}
    for sha256, passage in evidence["passages"].items():
        passages[sha256] = passage["text"]
        if hashlib.sha256(passage["text"].encode()).hexdigest() != sha256:
            yield Problem(f"passage {sha256[:12]}", "the text is not the one that was kept")
    texts: dict[int, str] = {}
    for citation in evidence["citations"]:
        text = passages.get(citation["sha256"])
        if text is None:
            yield Problem(f"[{citation['n']}]", "its passage is missing")
            continue
        texts[int(citation["n"])] = text
        if not holds(text, citation["quote"]):
            yield Problem(f"[{citation['n']}]", f"the quote is not in its passage: {citation['quote'][:80]}")
    claims = [claim for part in ("summary", "details", "caveats") for claim in evidence[part]]
    examples = [example for part in ("summary_code", "code") for example in evidence[part]]
    for claim in claims:
        yield from _claim_problems(claim, texts)
    for example in examples:
        if not holds_code(texts.get(int(example["citation"]), ""), example["code"]):
            yield Problem(
                f"[{example['citation']}]", f"the code is not in its passage: {example['code'][:60]}"
            )
    yield from _report_problems(
        report, [claim["text"] for claim in claims], [example["code"] for example in examples]
    )


def _claim_problems(claim: Mapping[str, Any], texts: Mapping[int, str]) -> Iterator[Problem]:
    cited = [texts[number] for number in claim["citations"] if number in texts]
    if len(cited) < len(claim["citations"]):
        yield Problem(claim["text"][:60], "cites a passage that is missing")
    for slot in claim["slots"]:
        if not slot_stands(slot, cited):
            yield Problem(claim["text"][:60], f"not in the cited passage: {slot[:80]}")
    marks = {int(number) for number in re.findall(r"\d+", (_MARKS.search(claim["text"]) or [""])[0])}
    if marks != set(claim["citations"]):
        yield Problem(claim["text"][:60], "its citation marks are not those that were checked")


def _report_problems(report: str, claims: list[str], examples: list[str]) -> Iterator[Problem]:
    whole = folded(report)
    known = {folded(claim) for claim in claims}
    for claim in sorted(known):
        if claim not in whole:
            yield Problem(claim[:60], "a checked sentence is not in the report as it was checked")
    blocks, sentences = _parts(report)
    for example in examples:
        if folded(example) not in {folded(block) for block in blocks}:
            yield Problem(
                example.split("\n")[0][:60], "a code example is not in the report as it was checked"
            )
    checked = {folded(example) for example in examples}
    for block in blocks:
        if folded(block) not in checked:
            yield Problem(block.split("\n")[0][:60], "a code example that was never checked")
    for section, line in sentences:
        text = folded(line.removeprefix("\\"))
        if text in known or _PLACEHOLDER.match(text) or not text:
            continue
        if section in _ANSWERS or _MARKS.search(text):
            yield Problem(f"{section}: {text[:60]}", "a sentence that was never checked")


def _parts(report: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The code blocks of a report, and its other lines with the section in which each stands."""
    blocks: list[str] = []
    lines: list[tuple[str, str]] = []
    section, fence, block = "", "", list[str]()
    for line in report.split("\n"):
        opening = _FENCE.match(line)
        if fence:
            if opening and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                blocks.append("\n".join(block))
                fence, block = "", []
            else:
                block.append(line)
        elif opening:
            fence = opening[1]
        elif line.startswith("## "):
            section = line[3:].strip()
        elif section:
            lines.append((section, line))
    if fence:
        blocks.append("\n".join(block))
    return blocks, lines
