"""Two hundred different questions at once through the source `context7`, against two hundred plain requests.

Run as a program it prints one JSON object of lists, in seconds: `gap` (99th percentile of how late the event loop comes back
to a task that sleeps for 5 ms) and `whole`, and the same for plain requests: `plain gap`, `plain`. It fails where the memory
that it took grew by more than 300 MB.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import re
import resource
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import httpx

from kr_core import Pipeline

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from multiprocessing.connection import Connection

QUESTIONS = 200
SLOW_SECONDS = 0.1
TICK_SECONDS = 0.005
MAX_BYTES = 300 * 2**20
_LIBRARY = {
    "id": "/acme/parcel",
    "title": "Parcel",
    "state": "finalized",
    "totalSnippets": 9,
    "trustScore": 9,
}
_SNIPPET = {
    "codeTitle": "Set a timeout for a parcel", "codeDescription": "Pass `timeout` to set the timeout of a parcel.",
    "codeLanguage": "python", "codeId": "https://github.com/acme/parcel/blob/main/docs/timeouts.md#_snippet_0",
    "pageTitle": "Timeouts", "codeList": [{"language": "python", "code": "send('Paris', timeout=2.0)"}],
}  # fmt: skip


def _library(head: bytes) -> dict[str, Any]:
    """The library that was searched for."""
    asked = re.search(rb"libraryName=([^& ]+)", head)
    name = asked[1].decode() if asked else "parcel"
    return {**_LIBRARY, "id": f"/acme/{name}", "title": name}


async def _serve(port: Connection) -> None:
    """Context7's two calls, each 100 ms slow; in a process of its own, so that it takes nothing of the measured one."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):  # until the other side leaves
            while head := await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(SLOW_SECONDS)
                found = (
                    {"results": [_library(head)]} if b"/libs/search" in head else {"codeSnippets": [_SNIPPET]}
                )
                body = json.dumps(found).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1000)
    port.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def serve_slowly(port: Connection) -> None:
    """Serve until ended; the number of the port is sent to the other end."""
    asyncio.get_event_loop_policy().new_event_loop().run_until_complete(_serve(port))


async def _watched(work: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
    """How long the work takes, and how late the loop is meanwhile."""
    late: list[float] = []

    async def beat() -> None:
        while True:
            due = perf_counter() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            late.append(max(0.0, perf_counter() - due))

    beating = asyncio.ensure_future(beat())
    begun = perf_counter()
    await work()
    seconds = perf_counter() - begun
    beating.cancel()
    return seconds, sorted(late)[int(len(late) * 0.99)]


def _research(url: str, folder: Path) -> Callable[[], Awaitable[Any]]:
    config = {
        "knowledge_research": {
            "sources": ["context7"],
            "knowledge_base_path": str(folder / "knowledge-base"),
        },
        "plugins": {"context7": {"base_url": f"{url}/api"}},
    }
    pipeline = Pipeline(config)

    async def one(number: int) -> None:
        word = (
            "".join(chr(ord("b") + int(digit) * 2) for digit in f"{number:03}") * 2
        )  # no two have a keyword in common
        answer = await pipeline.aresearch(
            f"How do I set the timeout of a parcel for {word}?", framework="parcel", topic=word,
            tags=(word,),
        )  # fmt: skip
        if answer.result.status != "success":
            raise SystemExit(f"{answer.result.status}: {answer.result.results.degradation_notes}")

    async def ask() -> None:
        async with pipeline:
            await asyncio.gather(*map(one, range(QUESTIONS)))

    return ask


def _plain(url: str) -> Callable[[], Awaitable[Any]]:
    async def ask() -> None:
        async with httpx.AsyncClient() as client:
            await asyncio.gather(*(client.get(f"{url}/api/v2/libs/search") for _ in range(QUESTIONS)))

    return ask


def main(folder: Path) -> None:
    """Measure in a folder of its own, and print."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve_slowly, args=(there,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{here.recv()}"
    before = _memory()
    plain, plain_gap = asyncio.run(_watched(_plain(url)))
    whole, gap = asyncio.run(_watched(_research(url, Path(tempfile.mkdtemp(dir=folder)))))
    server.terminate()
    grown = _memory() - before
    if grown > MAX_BYTES:
        raise SystemExit(f"it took {grown / 2**20:.0f} MB")
    print(json.dumps({"gap": [gap], "whole": [whole], "plain gap": [plain_gap], "plain": [plain]}))


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main(Path(sys.argv[1]))
