"""Programs that lead a group: nothing of it is left, whenever the one who started it gives up."""

import asyncio
import sys
import time
from pathlib import Path

import pytest

from kr_core.toolkit import end_group, start_group

FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[1] + ".part", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.replace(sys.argv[1] + ".part", sys.argv[1])
time.sleep(600)
"""
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(happened):
    end = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


def ended(pids):
    return lambda: not any(map(runs, map(int, pids.read_text().split())))


@needs_proc
@pytest.mark.req("R8")
@pytest.mark.parametrize("times", [1, 100])
def test_who_gives_up_while_it_starts_leaves_nothing(tmp_path, times):
    """The program is there, and has started another, before the event loop has come to hear of it."""
    pids = tmp_path / "pids"

    async def go():
        starting = asyncio.ensure_future(start_group(sys.executable, "-c", FAMILY, str(pids)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        until(pids.exists)  # in the loop's own thread, so that it hears of nothing
        assert not starting.done()
        for _ in range(times):
            starting.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await starting

    asyncio.run(go())
    until(ended(pids))


@pytest.mark.req("R8")
def test_what_cannot_be_started_is_an_error():
    with pytest.raises(FileNotFoundError):
        asyncio.run(start_group("/nowhere/program"))


@needs_proc
@pytest.mark.req("R8")
def test_it_is_ended_with_what_it_started(tmp_path):
    pids = tmp_path / "pids"

    async def go():
        process = await start_group(sys.executable, "-c", FAMILY, str(pids))
        await asyncio.to_thread(until, pids.exists)
        await end_group(process)

    asyncio.run(go())
    until(ended(pids))
