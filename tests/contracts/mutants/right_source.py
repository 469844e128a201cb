"""A source that keeps to the contract: a passage for each line of a text file."""

import asyncio

from kr_core import Finding, Outcome, Passage, Provider, Settings, Source, hookimpl
from kr_core.toolkit import content_words


class Limits(Settings):
    passages: int = 5
    """At most so many passages."""


class LinesSettings(Settings):
    file: str = "lines.txt"
    """The file, relative to the project."""
    limits: Limits = Limits()
    """How much is returned."""


class Lines:
    external = False
    timeout_seconds = 5.0

    def __init__(self, file, limits):
        self.file = file
        self.limits = limits

    async def query(self, query, context):
        return await asyncio.to_thread(self.look_up, query.question)

    def look_up(self, question):
        found = []
        asked = set(content_words(question[:1000]))
        text = self.file.read_text("utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            share = len(asked & set(content_words(line))) / max(1, len(asked))
            if share:
                url = f"file:{self.file.name}"
                locator = f"{self.file.name}:{number}"
                found.append(Passage(text=line, lead=line, url=url, locator=locator, coverage=share))
        found = sorted(found, key=lambda one: -one.coverage)[: self.limits.passages]
        return Finding(outcome=Outcome.ok if found else Outcome.empty, passages=tuple(found))


@hookimpl
def kr_source() -> Provider[Source]:
    return Provider(
        lambda settings, setup: Lines(setup.project.root / settings.file, settings.limits), LinesSettings
    )
