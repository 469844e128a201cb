"""`kr worker`: answers questions that other processes have queued, and does what is due for those that wait for a human.

Whether it is well, it says over HTTP: for the program that watches it and restarts it.
"""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING

from kr_core.aio import shielded
from kr_core.ask.async_service import AsyncKnowledgeRouterService
from kr_core.ask.question_runs import ASK
from kr_core.ask.research_batches import RESEARCH
from kr_core.ask.run_worker import RunCounts
from kr_core.cli.terminal import tell
from kr_core.errors import ConfigError, KRError, suggestion
from kr_core.research import Pipeline

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

CONCURRENCY = 4
QUEUES = (ASK, RESEARCH, "upkeep")
"""What workers do: answer queued questions, work through batches, and send reminders and time limits for cases that wait for a human."""


def run(options: argparse.Namespace) -> int:
    """Work until the process is to end, or nothing is left, and return the exit code."""
    from kr_core.aio import run as run_to_its_end

    queues, concurrency = _queues(options.queues), options.concurrency
    if concurrency is not None and concurrency < 1:
        raise ConfigError(
            "is not a number of runs", where=f"--concurrency {concurrency}", hint="give 1 or more"
        )
    run_to_its_end(_work(options, queues, CONCURRENCY if concurrency is None else concurrency))
    return 0


async def _work(options: argparse.Namespace, queues: tuple[str, ...], concurrency: int) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    pipeline = Pipeline.open(options.config, folder=options.folder)
    async with AsyncKnowledgeRouterService(pipeline) as service:

        def end(number: int) -> None:
            stop.set()
            loop.remove_signal_handler(number)
            with suppress(OSError):  # the reader of its messages may be gone
                tell("ends when what has begun is done; again: at once")

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end, number)
        counts = RunCounts()
        try:
            async with health(options.health, pipeline, counts, stop):
                await service.work(queues, concurrency, stop, drain=options.drain, tell=tell, counts=counts)
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)


def _queues(names: str | None) -> tuple[str, ...]:
    if names is None:
        return QUEUES
    queues = tuple(name.strip() for name in names.split(","))
    for name in queues:
        if name not in QUEUES:
            hint = suggestion(name, QUEUES, "queues")
            raise ConfigError(f"`{name}` is not a queue", where=f"--queues {names}", hint=hint)
    return queues


_SECONDS = 5.0
"""How long the journal may take to answer, and who asks to say what they want."""
_LARGEST_PORT = 65535


@asynccontextmanager
async def health(
    address: str | None, pipeline: Pipeline, counts: RunCounts, stop: asyncio.Event
) -> AsyncIterator[None]:
    """Answer at an address while a worker works: 200 if it can use the journal, else 503; `/metrics` for Prometheus.

    Args:
        address: a port of this machine's loopback, or `HOST:PORT`; None for none.
        pipeline: the project's.
        counts: what the worker does.
        stop: is set once it is to end.

    Raises:
        ConfigError: it is not an address, or another program uses it.
    """
    if address is None:
        yield
        return
    host, port = _place(address)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, EOFError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_SECONDS):
                asked = await reader.readuntil(b"\r\n\r\n")
            status, kind, body = await _answer(asked, pipeline, counts, stop)
            head = f"HTTP/1.1 {status} {status.phrase}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
            writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
            await writer.drain()
        writer.close()

    try:
        server = await asyncio.start_server(serve, host, port)
    except OSError as error:
        raise ConfigError(f"cannot be used: {error}", where=f"--health {address}") from error
    async with server:
        yield


async def _answer(
    asked: bytes, pipeline: Pipeline, counts: RunCounts, stop: asyncio.Event
) -> tuple[HTTPStatus, str, bytes]:
    told = {"performing": counts.performing, "performed": counts.performed, "failed": counts.failed}
    if asked.split(b" ", 2)[1:2] == [b"/metrics"]:
        lines = [f"kr_worker_runs_{name} {count}" for name, count in told.items()]
        return HTTPStatus.OK, "text/plain; version=0.0.4", ("\n".join(lines) + "\n").encode()
    status, said = HTTPStatus.OK, "ending" if stop.is_set() else "ok"
    try:
        async with asyncio.timeout(_SECONDS):
            await shielded(lambda: pipeline.journal.cursor("health"))
    except (KRError, TimeoutError) as error:
        status, said = HTTPStatus.SERVICE_UNAVAILABLE, str(error) or "the journal does not answer"
    return status, "application/json", json.dumps({"status": said, **told}).encode()


def _place(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port) <= _LARGEST_PORT):
        raise ConfigError("is not an address", where=f"--health {address}", hint="give a port, or HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)
