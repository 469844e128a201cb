"""Programs that lead a group: nothing of it is left, whenever the one who started it gives up."""

import ast
import asyncio
import os
import resource
import signal
import sys
import time
from pathlib import Path

import pytest

from kr_core import processes
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


LEAVES = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        with open(sys.argv[1] + ".part", "w") as file:
            file.write(str(os.getpid()))
        os.replace(sys.argv[1] + ".part", sys.argv[1])
        time.sleep(600)
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.005)
exec(sys.argv[2])
"""
needs_subreaper = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has subreapers")


def ran(*argv, **options):
    """Start a program, wait for its end, and return its code and what it wrote on its standard error output."""

    async def go():
        process = await start_group(*argv, **options)
        _out, err = await process.communicate(b"")
        await end_group(process)
        return process.returncode, err

    return asyncio.run(go())


@needs_subreaper
@pytest.mark.req("R8")
@pytest.mark.parametrize(
    ("last", "code"),
    [("os._exit(3)", 3), ("os.kill(os.getpid(), 9)", -9), ("os.kill(os.getpid(), signal.SIGTERM)", -15)],
)
def test_what_hides_in_its_own_session_ends_with_its_program(tmp_path, last, code):
    """It ignores SIGTERM and has another parent by then; the return code is the program's."""
    pids = tmp_path / "pids"
    assert ran(sys.executable, "-I", "-S", "-c", LEAVES, str(pids), last) == (code, b"")
    assert ended(pids)()


@needs_subreaper
@pytest.mark.req("R8")
def test_a_program_that_is_asked_to_end_has_time_for_it(tmp_path):
    """So has what it has started in a session of its own."""
    inner = (
        "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(open(sys.argv[1], 'w').write('x')))"
    )
    told = f"{inner}; print(flush=True); time.sleep(600)"
    outer = (
        "import subprocess, sys; one = subprocess.Popen([sys.executable, '-I', '-S', '-c', *sys.argv[1:]], "
        "start_new_session=True, stdout=subprocess.PIPE); one.stdout.readline(); print(flush=True); one.wait()"
    )

    async def go():
        process = await start_group(sys.executable, "-I", "-S", "-c", outer, told, str(tmp_path / "ended"))
        await process.stdout.readline()
        await end_group(process)

    asyncio.run(go())
    assert (tmp_path / "ended").read_text() == "x"


@pytest.mark.req("R8")
@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (("/nowhere/program",), FileNotFoundError),
        (("no-such-program-of-kr",), FileNotFoundError),
        (("/etc/passwd",), PermissionError),
        ((sys.executable, "a\0b"), ValueError),
    ],
    ids=["path", "name", "no program", "null"],
)
def test_why_a_program_cannot_be_started_is_known(argv, error):
    """The error is that of the program, and names it."""
    with pytest.raises(error) as raised:
        asyncio.run(start_group(*argv))
    if isinstance(raised.value, OSError):
        assert raised.value.filename == argv[0]
    with pytest.raises(FileNotFoundError):
        asyncio.run(start_group(sys.executable, cwd="/nowhere"))


@needs_proc
@pytest.mark.req("R8")
def test_a_program_is_started_as_if_nothing_watched_over_it():
    """Nothing of that is in its environment, its open files or its signals; SIGPIPE ends it, as other programs."""
    code = (
        "import os, signal, sys; from pathlib import Path; status = Path('/proc/self/status').read_text();"
        "said = sorted(os.environb.items()), len(os.listdir('/proc/self/fd')), os.getpgrp() == os.getsid(0);"
        "sys.stderr.write(repr((*said, status[status.index('SigBlk'):].split()[1:4:2])))"
    )
    environment = {"A": "\xe4\udcff", "LC_ALL": "C", "PATH": "/bin"}
    returned, err = ran(sys.executable, "-I", "-S", "-c", code, env=environment)
    expected = sorted((os.fsencode(name), os.fsencode(value)) for name, value in environment.items())
    assert returned == 0, err
    found, files, leads, (blocked, ignored) = ast.literal_eval(err.decode())
    assert (found, files, leads) == (expected, 4, True)  # the fourth file is the list
    ordinary = (1 << 31) - 1  # what is above is the C library's own
    assert (blocked, int(ignored, 16) & ordinary & ~(1 << 12 | 1 << 24)) == (
        "0" * 16,
        0,
    )  # Python itself ignores two
    assert ran("sh", "-c", "kill -PIPE $$") == (-signal.SIGPIPE, b"")


@needs_subreaper
@pytest.mark.req("R8")
def test_a_program_that_signals_its_own_group_ends_nothing_else():
    """`trap 'kill 0' EXIT` is common in scripts; the group is the program's own, which it leads."""
    script = "trap '' TERM; kill -TERM 0; kill -TERM -$$; echo alive >&2"
    assert ran("sh", "-c", script) == (0, b"alive\n")


@needs_subreaper
@pytest.mark.req("R8")
def test_the_end_of_a_program_is_heard_where_its_signal_is_blocked():
    """A program that embeds KR may keep signals for one of its threads; all others are started with them blocked."""

    async def go():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
        try:
            process = await start_group("sh", "-c", "exit 3")
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        until(lambda: not runs(process.pid))
        await end_group(process)

    asyncio.run(go())


@needs_subreaper
@pytest.mark.req("R8")
def test_a_supervisor_that_does_not_run_is_an_error(monkeypatch):
    """Nothing has started then, though nothing went wrong that the program could tell."""
    monkeypatch.setattr(processes, "_SUPERVISOR", os.devnull)
    with pytest.raises(OSError, match="what watches over it does not start"):
        asyncio.run(start_group("sh", "-c", "true"))


@pytest.mark.req("R8")
def test_a_program_with_its_own_python_starts_programs_itself(monkeypatch):
    """`sys.executable` is the program there, which would start itself."""
    monkeypatch.setattr(sys, "executable", "/bin/true")
    assert ran("sh", "-c", "echo started >&2") == (0, b"started\n")


@needs_subreaper
@pytest.mark.req("R8")
def test_a_process_that_is_forked_meanwhile_holds_nothing_up(monkeypatch):
    """Another thread of a program that embeds KR may fork at any time."""
    started, forked = processes._started, []

    async def forking(*arguments, **options):
        process = await started(*arguments, **options)
        if (child := os.fork()) == 0:
            signal.pause()
        forked.append(child)
        return process

    monkeypatch.setattr(processes, "_started", forking)
    try:
        assert ran("sh", "-c", "echo started >&2") == (0, b"started\n")
    finally:
        for child in forked:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


@needs_subreaper
@pytest.mark.req("R8")
def test_what_cannot_be_opened_leaves_nothing_open():
    """Too many files are open, so that each one left would make it worse."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    loop = asyncio.new_event_loop()
    before = sorted(os.listdir("/proc/self/fd"))
    try:
        free = sorted(set(range(256)) - set(map(int, before)))
        for last in free[1:12]:
            resource.setrlimit(resource.RLIMIT_NOFILE, (last, limits[1]))
            with pytest.raises(OSError, match="Too many open files"):
                loop.run_until_complete(start_group("sh", "-c", "true"))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert sorted(os.listdir("/proc/self/fd")) == before
    loop.close()
