"""Agents asked as the engine asks them, by way of KR's own HTTP client."""

from __future__ import annotations

import asyncio

import pytest

from kr_core.aio import run
from kr_core.testing.surroundings import JobOptions, build, job_in

QUESTION = "Which session store should we use?"


class Asking:
    """Asks agents, and remembers the events."""

    def __init__(self, folder):
        self.folder = folder
        self.events = []

    def agent(self, plugin, **settings):
        return build(f"kr_plugins.agents.{plugin}", "agent", settings, self.folder)

    def ask(self, agent, seconds=20.0, times=1, until=None, researcher=None, **options):
        """What the agent replies; in a list if it is asked more than once. Cancelled once `until()` is true."""

        async def asked():
            deadline = asyncio.get_running_loop().time() + seconds
            replies = []
            for _ in range(times):
                async with (
                    job_in(
                        self.folder,
                        QUESTION,
                        deadline,
                        options=JobOptions(**options),
                        emit=self._note,
                        researcher=researcher,
                    ) as made,
                    asyncio.timeout(seconds),
                ):
                    reply = asyncio.ensure_future(agent.run(made))
                    while until is not None and not reply.done():
                        await asyncio.sleep(0.02)
                        if until():
                            reply.cancel()
                            break
                    replies.append(await reply)
            return replies[0] if times == 1 else replies

        return run(asked())

    def _note(self, kind, data):
        self.events.append((kind, data))


@pytest.fixture
def asking(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return Asking(folder)
