"""Runs one program and ends all that it has started: a program of its own, with nothing but the standard library.

`kr_core.processes` starts it as `python -I -S supervisor.py ORDER LIFELINE REPORT`, three open files: the order, a pipe that ends
when KR ends, however that comes, and a pipe for that this program runs (a null byte) and for why the other cannot be started. What that one starts becomes this program's
child when its own parent ends, whatever session it is in (PR_SET_CHILD_SUBREAPER, prctl(2)), and this program ends after all
others. Linux alone has that; elsewhere it ends the program and its group.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import resource
import select
import signal
import stat
import sys
import time

TYPE_CHECKING = False  # `typing`, like `pathlib`, takes longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn

_PDEATHSIG, _BOUNDS_DROP, _SUBREAPER, _NO_NEW_PRIVS = 1, 24, 36, 38
_CAPABILITIES = 64
"""More than Linux has."""
_CAPABILITY_VERSION = 0x20080522
"""Of the sets that `capset` takes, three of 64 bits each (capset(2))."""
_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The system calls of Landlock, the same on every architecture (landlock(7))."""
_READ = 1 << 0 | 1 << 2 | 1 << 3
"""Execute and read files, and list folders."""
_FILE_ONLY = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
"""Rights that a rule for a file may have: execute, write, read, truncate, and control a device."""
STARTED = b"\0"
"""What this program reports once it has started the other one, or has tried to."""
_NOT_STARTED = 127
_PATIENCE_SECONDS = 10.0
_STOPS = {signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT}
_LINUX = sys.platform == "linux"

_libc = ctypes.CDLL(None, use_errno=True)


def main(order_file: int, lifeline: int, report: int) -> int:
    """Run the program of an order, and return its exit code; 128 and more if a signal has ended it."""
    with os.fdopen(order_file, "rb") as file:
        order = marshal.load(file)  # noqa: S302  of the process that started this one
    for inherited in (lifeline, report):
        os.set_inheritable(inherited, False)  # noqa: FBT003  it takes no name
    if _LINUX:
        _libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    handled = {number for number in _STOPS if signal.getsignal(number) is not signal.SIG_IGN}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    family = _Family(handled)
    family.program = os.fork()
    if family.program == 0:
        _become(order, report, handled, before)
    # Who has started this one may keep signals from most of its threads; here they are needed.
    signal.pthread_sigmask(signal.SIG_SETMASK, set(before) - _STOPS - {signal.SIGCHLD})
    os.write(report, STARTED)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # the program's alone: who reads its output hears of the end
        os.dup2(nothing, number)
    os.close(report)
    try:
        family.watch(lifeline, order["grace"])
    finally:
        family.end()
    code = family.code
    if code < 0 and order["as_signal"]:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return 128 - code if code < 0 else code


def _become(
    order: dict[str, Any], report: int, handled: set[signal.Signals], mask: Iterable[int]
) -> NoReturn:
    """Turn this process into the program; it never returns."""
    try:
        for number in {*handled, signal.SIGPIPE, signal.SIGXFSZ}:  # Python ignores the last two
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.setsid()  # what it sends to its group is not meant for the supervisor
        if _LINUX:
            _libc.prctl(_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if (confined := order["confined"]) is not None:
            _confine(confined)
        os.execvpe(order["argv"][0], order["argv"], order["environment"])  # noqa: S606  no shell
    except BaseException as error:
        code = error.errno or 0 if isinstance(error, OSError) else 0
        os.write(report, f"{code} {error}".encode("utf-8", "replace")[:4000])
    os._exit(_NOT_STARTED)


def _confine(order: dict[str, Any]) -> None:
    limit = order["file_bytes"]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    os.chdir(order["folder"])
    if _LINUX:
        _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    if order["landlock"] is not None:
        _drop_capabilities()
        confine(order["landlock"]["readable"], order["landlock"]["writable"])


def _drop_capabilities() -> None:
    """Be no more than any other user: root could read the environment of each process in /proc, KR's too.

    Raises:
        OSError: the system refuses.
    """
    import struct

    for number in range(_CAPABILITIES):
        _libc.prctl(_BOUNDS_DROP, number, 0, 0, 0)
    if _libc.capset(struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24)):
        code = ctypes.get_errno()
        raise OSError(code, f"capabilities: {os.strerror(code)}")


# -- the end of all that was started -------------------------------------------------------------------------


class _Family:
    """The program and all that it has started."""

    def __init__(self, handled: Iterable[int]) -> None:
        self.program = 0
        self.code = -int(signal.SIGTERM)
        """Of the program; below 0 the signal that has ended it."""
        self._ended = False
        self._signals, signals = os.pipe()
        for end in (self._signals, signals):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(signals, warn_on_full_buffer=False)
        for number in (*handled, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)

    def watch(self, lifeline: int, grace: float) -> None:
        """Wait until all have ended, or must be ended: KR has gone, the time is over, or a second signal has come.

        Args:
            lifeline: ends with KR.
            grace: seconds for all that is left once the program has ended or a signal has come.
        """
        poll = select.poll()
        poll.register(lifeline, 0)  # its end shows all the same
        poll.register(self._signals, select.POLLIN)
        until = None
        while self._reap():
            if self._ended and until is None:
                until = time.monotonic() + grace
                self._terminate()
            left = None if until is None else max(0.0, until - time.monotonic()) * 1000
            shown = poll.poll(left)
            if not shown or any(end == lifeline for end, _event in shown):
                return
            if not _STOPS.isdisjoint(os.read(self._signals, 4096)):
                if until is not None:
                    return
                until = time.monotonic() + grace
                self._terminate()

    def end(self) -> None:
        """End all at once; each that loses its parent becomes a child of this process."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while self._reap() and time.monotonic() < until:
            found = _descendants() or self._group()
            own = [_send(process, signal.SIGSTOP) for process in found]  # stopped, none starts another
            for process in found:
                _send(process, signal.SIGKILL)
            if found and not any(own):
                return
            time.sleep(0.002)

    def _reap(self) -> bool:
        """Note which have ended; whether any is left."""
        try:
            while True:
                child, status = os.waitpid(-1, os.WNOHANG)
                if child == 0:
                    return True
                if child == self.program:
                    self.code, self._ended = os.waitstatus_to_exitcode(status), True
        except ChildProcessError:
            return False

    def _terminate(self) -> None:
        """Ask all to end."""
        for process in _descendants() or self._group():
            if _send(process, signal.SIGTERM):
                _send(process, signal.SIGCONT)

    def _group(self) -> list[int]:
        """The program's group, as `kill` takes it, where the system lists no processes; nothing once the program has ended."""
        return [] if self._ended else [-self.program]


def _send(process: int, number: int) -> bool:
    """Send a signal to a process; whether it is this user's."""
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True


def _descendants() -> list[int]:
    """The processes below this one, as the system lists their parents; empty where it does not list them."""
    parents: dict[int, int] = {}
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208  pathlib is slow to import
    except OSError:
        return []
    for name in names:
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123  pathlib is slow to import
                parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
    found: list[int] = []
    level = {os.getpid()}
    while level:
        level = {process for process, parent in parents.items() if parent in level}
        found += level
    return found


# -- Landlock ------------------------------------------------------------------------------------------------


def landlock_version() -> int:
    """The version of Landlock that this system has; 0 where it has none."""
    if not _LINUX:
        return 0
    return max(0, int(_libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def confine(readable: list[str], writable: list[str]) -> None:
    """Let this process and its children read and write below some files and folders, and nowhere else, for ever.

    Raises:
        OSError: the system refuses.
    """
    import struct

    version = landlock_version()
    handled = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    scoped = 3 if version >= 6 else 0
    attributes = struct.pack("=QQQ", handled, 0, scoped)[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = _called(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    for names, rights in ((readable, _READ), (writable, handled)):
        for name in names:
            try:
                place = os.open(name, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue  # it is not there, so there is nothing to allow
            allowed = rights if stat.S_ISDIR(os.fstat(place).st_mode) else rights & _FILE_ONLY
            rule = struct.pack("=Qi", allowed & handled, place)
            _called(_ADD, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint32(0))
            os.close(place)
    _called(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)


def _called(number: int, *arguments: Any) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return result


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
