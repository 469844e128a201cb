"""A source that keeps to the contract: it runs the program that a setting names, on a file or on what a pattern finds."""

import asyncio
from typing import Self

from pydantic import model_validator

from kr_core import Finding, Outcome, Passage, Provider, Settings, Source, hookimpl
from kr_core.toolkit import content_words


class PrintedSettings(Settings):
    command: tuple[str, ...] = ("cat",)
    """What prints the lines; the file's path is added."""
    file: str = ""
    """The file to read."""
    glob: str = ""
    """Or what finds it."""

    @model_validator(mode="after")
    def one_of_two(self) -> Self:
        if bool(self.file) == bool(self.glob):
            raise ValueError("say either `file` or `glob`")
        return self


class Printed:
    external = False
    timeout_seconds = 5.0

    def __init__(self, settings, folder):
        self.settings = settings
        self.folder = folder

    async def query(self, query, context):
        settings = self.settings
        file = self.folder / settings.file if settings.file else next(self.folder.glob(settings.glob))
        process = await asyncio.create_subprocess_exec(
            *settings.command, file, stdout=asyncio.subprocess.PIPE
        )
        try:
            printed, _nothing = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        if process.returncode:
            return Finding(outcome=Outcome.unavailable, reason=f"exit code {process.returncode}")
        asked = set(content_words(query.question[:1000]))
        lines = [line for line in printed.decode().splitlines() if asked & set(content_words(line))]
        found = tuple(Passage(text=line, url=f"file:{file.name}", coverage=0.5) for line in lines)
        return Finding(outcome=Outcome.ok if found else Outcome.empty, passages=found)


class Plugin:
    @staticmethod
    @hookimpl
    def kr_source() -> Provider[Source]:
        return Provider(lambda settings, setup: Printed(settings, setup.project.root), PrintedSettings)


plugin = Plugin()
