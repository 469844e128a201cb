"""Small whole values to give to plugins: an entry, a question, a draft, a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.knowledge.identity import entry_id, report_path
from kr_core.model import (
    Attribution,
    Citation,
    Claim,
    CodeExample,
    Draft,
    Entry,
    Event,
    Finding,
    Outcome,
    Passage,
    Report,
    ResearchQuery,
    Score,
)
from kr_core.testing.surroundings import DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

SENTENCE = "Pass `timeout=` to `send` to set the timeout for a parcel."
CODE = "send('Paris', timeout=2.0)"
URL = "https://docs.example/parcel"
LOCATOR = "parcel/__init__.py:6"


def entry(framework: str, topic: str, *, version: str = "1.4") -> Entry:
    """An entry with the id and path that the engine would give it."""
    return Entry(
        id=entry_id(framework, topic),
        framework=framework,
        framework_version=version,
        topic=topic,
        tags=("timeout",),
        path=report_path(framework, topic),
        created=DAY,
        last_accessed=DAY,
    )


def query(framework: str = "parcel", topic: str = "timeout of a parcel", question: str = "") -> ResearchQuery:
    """A question about a topic."""
    return ResearchQuery(
        framework=framework,
        framework_version="1.4",
        topic=topic,
        tags=("timeout",),
        question=question or f"How do I set the {topic}?",
    )


def events(count: int, run: str = "run-1", text: str = "") -> list[Event]:
    """Events in order, each with data of its own."""
    return [
        Event(
            kind="source.finished", run=run, data={"number": number, "text": text, "list": [1.5, None, True]}
        )
        for number in range(count)
    ]


def finding(text: str = SENTENCE) -> Finding:
    """An answer of a source in which a text stands."""
    passage = Passage(
        text=f"{text}\n\n{CODE}", url=URL, locator=LOCATOR, title="send", lead=text, code=(CODE,),
        version="1.4.0", official=True, coverage=0.9,
    )  # fmt: skip
    return Finding(outcome=Outcome.ok, passages=(passage,), url=URL, version="1.4.0")


def draft(texts: Sequence[str] = (SENTENCE,)) -> Draft:
    """What is known of an answer: a claim, a detail and a citation for each text, and one code example."""
    cited = {number: finding(text).passages[0] for number, text in enumerate(texts, 1)}
    return Draft(
        summary=tuple(Claim(text=text, citations=(number,)) for number, text in enumerate(texts, 1)),
        summary_code=(CodeExample(code=CODE, citation=1),),
        details=tuple(Claim(text=f"In detail: {text}", citations=(n,)) for n, text in enumerate(texts, 1)),
        citations=tuple(
            Citation(n=number, source="docs", url=passage.url, locator=passage.locator, quote=text)
            for (number, passage), text in zip(cited.items(), texts, strict=True)
        ),
        passages=cited,
    )


def report(
    texts: Sequence[str] = (SENTENCE,), *, mark: str | None = None, topic: str = "timeout of a parcel"
) -> Report:
    """A report whose claims are these texts; a skeleton where there are none."""
    return Report(
        query=query(topic=topic),
        research_date=DAY,
        score=Score(score=60 if texts else 0, level="medium" if texts else "low", reasons=("a reason",)),
        draft=draft(texts) if texts else Draft(),
        sources=tuple(Attribution(url=URL, via="docs", finding=text) for text in texts),
        mark=mark,
        notes=tuple(texts),
    )
