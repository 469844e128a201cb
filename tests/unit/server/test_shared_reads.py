"""Reads that many requests share (H2)."""

from __future__ import annotations

import asyncio

import pytest

from kr_core.server.web.shared_reads import SharedReads

pytestmark = pytest.mark.req("H2")


class Book:
    """Is read by a coroutine that waits until it may go on."""

    def __init__(self):
        self.readings = 0
        self.content = "old"
        self.began = asyncio.Event()
        self.may = asyncio.Event()

    async def read(self):
        self.readings += 1
        self.began.set()
        content = self.content
        await self.may.wait()
        return content


def test_who_asks_while_one_reads_shares_the_next_reading():
    """Any number of requests for the same cost two readings, and nobody sees what was there before the request."""

    async def run():
        reads, book = SharedReads(), Book()
        first = asyncio.ensure_future(reads.read("page", book.read))
        await book.began.wait()
        book.content = "new"
        others = [asyncio.ensure_future(reads.read("page", book.read)) for _ in range(200)]
        await asyncio.sleep(0)
        book.may.set()
        assert await first == "old"
        assert set(await asyncio.gather(*others)) == {"new"}
        assert book.readings == 2

    asyncio.run(run())


def test_what_differs_is_read_by_itself():
    """A reading under one key neither waits for one under another nor is shared with it."""

    async def run():
        reads, held, free = SharedReads(), Book(), Book()
        free.may.set()
        waits = asyncio.ensure_future(reads.read("a", held.read))
        assert await reads.read("b", free.read) == "old"
        assert not waits.done()
        held.may.set()
        await reads.close()
        assert await waits == "old"

    asyncio.run(run())


def test_an_error_is_told_to_all_and_kept_from_the_next():
    """All who share a failed reading see its error; one who asks later has a reading of their own."""

    async def run():
        reads, book = SharedReads(), Book()
        book.may.set()

        async def fail():
            raise LookupError("gone")

        failed = await asyncio.gather(*(reads.read("page", fail) for _ in range(3)), return_exceptions=True)
        assert [str(one) for one in failed] == ["gone"] * 3
        assert await reads.read("page", book.read) == "old"

    asyncio.run(run())


def test_who_leaves_does_not_end_the_reading_of_others():
    """A request that is cancelled leaves the shared reading to those who still wait."""

    async def run():
        reads, book = SharedReads(), Book()
        leaves, stays = (asyncio.ensure_future(reads.read("page", book.read)) for _ in range(2))
        await book.began.wait()
        leaves.cancel()
        await asyncio.sleep(0)
        book.may.set()
        assert await stays == "old"
        assert leaves.cancelled()

    asyncio.run(run())
