import asyncio

from kr_core import Finding, Outcome, Passage, Provider, Source, hookimpl
from kr_core.toolkit import content_words


class Decisions:
    external = False  # nothing leaves the machine, so no budget is spent
    timeout_seconds = 10.0

    def __init__(self, folder):
        self.folder = folder

    async def query(self, query, context):
        return await asyncio.to_thread(self.look_up, set(content_words(query.question)))

    def look_up(self, asked):
        found = []
        for path in sorted(self.folder.glob("*.md")):
            text, file = path.read_text("utf-8"), f"{self.folder.name}/{path.name}"
            if (share := len(asked & set(content_words(text))) / max(1, len(asked))) >= 0.5:
                found.append(Passage(text=text, url=f"file:{file}", locator=f"{file}:1", coverage=share))
        found.sort(key=lambda passage: -passage.coverage)
        return Finding(outcome=Outcome.ok if found else Outcome.empty, passages=tuple(found))


@hookimpl
def kr_source() -> Provider[Source]:
    return Provider(lambda settings, setup: Decisions(setup.project.root / "decisions"))
