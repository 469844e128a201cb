"""The way out of the machine, as a source has it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from support.sites import Fetched, Loop

from kr_core import RequestError
from kr_core.net.shared_resources import SharedResources
from kr_core.net.source_context import ConsultationContext


class Way:
    """Contexts that share what a pipeline's share, and the events that they made."""

    def __init__(self, folder):
        self.events = []
        self.outside = SharedResources(folder)

    @asynccontextmanager
    async def out(self, name="docs", seconds=5.0, rate=None):
        deadline = asyncio.get_running_loop().time() + seconds
        context = ConsultationContext(
            None, lambda kind, data: self.events.append((kind, data)), deadline, self.outside, name, rate
        )
        try:
            yield context
        finally:
            await context.close()

    def get(self, url, **options):
        """One GET by the client that a source is handed."""

        async def go():
            async with self.out(**options) as context:
                return await context.http.get(url)

        return asyncio.run(go())


@pytest.fixture
def way(tmp_path):
    made = Way(tmp_path / "answers")
    yield made
    made.outside.close()


@pytest.fixture
def fetch(way):
    """One fetch of a page: `fetch(url, allow_hosts)`."""

    def fetched(url, allow=(), *, seconds=10.0, loop=None):
        async def go():
            async with way.out(seconds=seconds) as context:
                return await context.fetch(url, allow_hosts=allow)

        loop = loop or Loop()
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            try:
                return Fetched(runner.run(go()), None, loop)
            except RequestError as error:
                return Fetched(None, error, loop)

    return fetched
