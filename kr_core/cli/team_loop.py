"""What `kr team` does: the resident on standard input and output, message by message; its log is on standard error."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from kr_core.aio import run as run_loop
from kr_core.cli import output
from kr_core.research import Pipeline
from kr_core.team import line_io, messages
from kr_core.team.assembler import MessageAssembler
from kr_core.team.resident import Resident
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Coroutine, Iterator, Sequence

    from kr_core.model import Fault
    from kr_core.team.request import TeamLookup

_MAX_UNREAD = 8_000_000
"""Bytes of results that nobody reads, before no more messages are read."""
_MAX_LOG = 1_000_000
_FLUSH_SECONDS = 2.0
"""How long the results may take to be read at the end."""
_SWITCH_SECONDS = 0.0005
"""How long Python lets one thread work before another's turn: reports are made of what was found while hits are looked up,
and at Python's own 5 ms a hit would wait for that at each file it reads."""


def converse(options: argparse.Namespace, early: Sequence[int]) -> int:
    """Serve to the end, and return the exit code.

    Args:
        options: of the command line.
        early: the signals to end that have come so far, and those that come before it listens for them itself.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    with output.ProgressLine(quiet=options.quiet, verbose=options.verbose) as progress:
        watching = progress.show if options.verbose else None
        with (
            Pipeline.open(options.config, folder=options.folder, on_event=watching) as pipeline,
            _streams() as (inlet, outlet),
        ):
            return run_loop(_serve(pipeline, options, inlet, outlet, early))


async def _serve(
    pipeline: Pipeline, options: argparse.Namespace, inlet: int, outlet: int, early: Sequence[int]
) -> int:
    server = _Server(pipeline, inlet, outlet, session_id=options.session_id, quiet=options.quiet)
    return await server.serve(early)


@contextmanager
def _streams() -> Iterator[tuple[int, int]]:
    """The two ends of the conversation, kept from what plugins and programs read and print meanwhile."""
    sys.stdout.flush()
    inlet, outlet = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    try:
        yield inlet, outlet
    finally:
        sys.stdout.flush()
        os.dup2(inlet, 0)
        os.dup2(outlet, 1)
        os.close(nothing)


class _Server:
    """One conversation, in the running event loop."""

    def __init__(
        self, pipeline: Pipeline, inlet: int, outlet: int, *, session_id: str | None, quiet: bool
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        self._over = False
        """Whether no more lines are answered."""
        self._room = asyncio.Event()
        self._finishing: asyncio.Task[None] | None = None
        self._inlet = inlet
        self._log = line_io.LineWriter(2, _MAX_LOG)
        self._out = line_io.LineWriter(outlet, _MAX_UNREAD, self._changed)
        self._quiet = quiet
        self._resident = Resident(pipeline, session_id=session_id, tell=self._tell)

    async def serve(self, early: Sequence[int]) -> int:
        """Serve to the end; the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._told_to_end)
        if early:
            self._told_to_end()
        await self._resident.start()
        self._tell(f"[KR-TEAM] Ready, session {self._resident.session_id}")
        woken, wake = os.pipe()
        reading = threading.Thread(target=self._read, args=(woken,), name="kr-inlet", daemon=True)
        reading.start()
        await self._ending.wait()
        self._tell(f"[KR-TEAM] Shutting down, {self._resident.status()['in_hand']} queries in hand")
        await self._resident.shut_down()
        self._over = True
        os.close(wake)
        self._room.set()
        await asyncio.to_thread(reading.join)  # a line that it has read is answered
        os.close(woken)
        self._out.put(messages.SHUTDOWN_RESPONSE)
        await asyncio.to_thread(self._out.close, _FLUSH_SECONDS)
        unread = self._out.waiting
        if unread:
            self._tell(f"[KR-TEAM] note: no one has read the last {unread} lines")
        await asyncio.to_thread(self._log.close, _FLUSH_SECONDS)
        return 1 if unread else 0

    def _told_to_end(self) -> None:
        """End in good order; told twice, at once."""
        if self._ending.is_set():
            self._resident.abandon()
        self._ending.set()

    def _tell(self, text: str) -> None:
        if not self._quiet and not self._log.full:  # a log that nobody reads stops no work
            self._log.put(printable(text))

    # -- what comes in -----------------------------------------------------------------------------------

    def _read(self, woken: int) -> None:
        """Answer one message after the other, in a thread that waits for the next one and looks up what is asked.

        What is known is answered from here: the event loop may have its hands full with what is not.
        """
        assembler = MessageAssembler()
        try:
            for line in line_io.lines(self._inlet, woken, lambda: assembler.seconds_left):
                read = assembler.expire() if line is None else assembler.take(_text(line))
                if self._over:
                    return
                self._handle(read)
            self._handle(assembler.end())
        except OSError as error:
            self._tell(f"[KR-TEAM] note: standard input cannot be read: {error.strerror or error}")
        self._in_loop(self._at_the_end())

    def _handle(self, read: Sequence[messages.TeamMessage | Fault]) -> None:
        """Do what messages say, and refuse what is none; then wait where very much of what was answered is not read."""
        for message in read:
            if isinstance(message, messages.TeamMessage):
                self._obey(message)
            else:
                self._answer(self._resident.refuse(message))
            if self._out.full:
                self._tell("[KR-TEAM] note: results are not read; no more messages are read until they are")
                self._in_loop(self._until_read())

    async def _at_the_end(self) -> None:
        """No more lines come: what was asked until then is answered, unless it is told to end before."""
        self._finishing = asyncio.create_task(self._resident.finish())
        self._finishing.add_done_callback(lambda _done: self._ending.set())

    def _obey(self, message: messages.TeamMessage) -> None:
        if message.name == messages.RESEARCH_REQUEST:
            looked = self._resident.look(message.body)
            result = looked.result
            if result is None:
                self._in_loop(self._take(looked))
            else:
                self._answer(result)
                self._loop.call_soon_threadsafe(self._resident.count, looked)
        elif message.name == messages.ROSTER:
            fault = self._resident.roster(message.body)
            if fault is not None:
                self._answer(self._resident.refuse(fault))
        elif message.name == messages.STATUS_REQUEST:
            self._loop.call_soon_threadsafe(self._report)
        else:
            self._resident.close()  # a request in the next line is refused
            self._loop.call_soon_threadsafe(self._ending.set)

    def _in_loop(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _take(self, looked: TeamLookup) -> None:
        answered = await self._resident.take(looked)
        answered.add_done_callback(lambda done: self._answer(done.result()))

    async def _until_read(self) -> None:
        """Wait while very much of what was answered is not read."""
        while self._out.full and not self._over:
            self._room.clear()
            await self._room.wait()

    def _report(self) -> None:
        self._out.put(messages.written(messages.STATUS_RESPONSE, self._resident.status()))

    # -- what goes out -----------------------------------------------------------------------------------

    def _answer(self, result: dict[str, Any]) -> None:
        self._out.put(messages.written(messages.RESEARCH_RESULT, result))

    def _changed(self) -> None:
        """The other side has read, or has gone; called from the thread that writes."""
        with suppress(RuntimeError):  # the loop has ended meanwhile
            self._loop.call_soon_threadsafe(self._ending.set if self._out.gone else self._room.set)


def _text(line: bytes | line_io.OverlongLine) -> str | Fault:
    if isinstance(line, line_io.OverlongLine):
        most = f"at most {line_io.MAX_LINE_LENGTH} are read"
        return messages.not_a_message(f"the line has {line.size} bytes; {most}")
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return messages.not_a_message(f"is not UTF-8: {error.reason} at byte {error.start}")
