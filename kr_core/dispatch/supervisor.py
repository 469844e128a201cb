"""Runs one agent and ends all that it has started: a program of its own, with nothing but the standard library.

KR starts it as `python -I -S supervisor.py ORDER`, where ORDER is a file that `kr_core.dispatch.sandbox` writes. Processes that
leave the agent's group or session become this program's children (PR_SET_CHILD_SUBREAPER, prctl(2)), and it ends before KR
looks at the work. It ends them, too, when KR ends, by a signal or by a kill (PR_SET_PDEATHSIG).
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

_PDEATHSIG, _SUBREAPER, _NO_NEW_PRIVS = 1, 36, 38
_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The system calls of Landlock, the same on every architecture (landlock(7))."""
_READ = 1 << 0 | 1 << 2 | 1 << 3
"""Execute and read files, and list folders."""
_FILE_ONLY = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
"""Rights that a rule for a file may have: execute, write, read, truncate, and control a device."""
_NOT_STARTED = 127
_PATIENCE_SECONDS = 10.0
_STOPS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)

_libc = ctypes.CDLL(None, use_errno=True)


def main(order_file: str) -> int:
    """Run the agent of an order, and return its exit code; 128 and more if a signal has ended it."""
    order = json.loads(Path(order_file).read_text("utf-8"))
    linux = sys.platform == "linux"
    if linux:
        _libc.prctl(_SUBREAPER, 1, 0, 0, 0)
        _libc.prctl(_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != order["parent"]:  # KR has ended already
        return _NOT_STARTED
    for number in _STOPS:
        signal.signal(number, _stopped)
    agent = 0
    try:
        agent = os.fork()
        if agent == 0:
            _become(order, linux=linux)
        os.close(0)
        return _wait(agent)
    except KeyboardInterrupt:
        return 128 + int(signal.SIGTERM)
    finally:
        if agent:
            for number in _STOPS:
                signal.signal(number, signal.SIG_IGN)
            _end_all(agent)


def _stopped(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _wait(agent: int) -> int:
    while True:
        child, status = os.wait()
        if child == agent:
            code = os.waitstatus_to_exitcode(status)
            return 128 - code if code < 0 else code


def _become(order: dict[str, Any], *, linux: bool) -> NoReturn:
    """Turn this process into the agent; it never returns."""
    try:
        for number in _STOPS:
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        limit = order["file_bytes"]
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        os.chdir(order["folder"])
        if linux:
            _libc.prctl(_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
            _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
        if order["landlock"] is not None:
            confine(order["landlock"]["readable"], order["landlock"]["writable"])
        os.execvpe(order["argv"][0], order["argv"], order["environment"])  # noqa: S606  no shell
    except BaseException as error:
        os.write(2, f"cannot be started: {error}\n".encode("utf-8", "replace"))
    os._exit(_NOT_STARTED)


# -- the end of all that was started -------------------------------------------------------------------------


def _end_all(agent: int) -> None:
    """End every process below this one; each that loses its parent becomes a child of this one."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until:
        found = _descendants()
        for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped, none starts another
            for process in found or [agent]:
                try:
                    os.kill(process, number)
                except (ProcessLookupError, PermissionError):
                    continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _descendants() -> list[int]:
    """The processes below this one, as the system lists their parents; empty where it does not tell."""
    parents: dict[int, int] = {}
    try:
        folders = [one for one in Path("/proc").iterdir() if one.name.isdigit()]
    except OSError:
        return []
    for folder in folders:
        try:
            told = (folder / "stat").read_bytes()
            parents[int(folder.name)] = int(told.rpartition(b")")[2].split()[1])
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
    if sys.platform != "linux":
        return 0
    return max(0, int(_libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def confine(readable: list[str], writable: list[str]) -> None:
    """Let this process and its children read and write below some files and folders, and nowhere else, for ever.

    Raises:
        OSError: the system refuses.
    """
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
            allowed = rights if Path(name).is_dir() else rights & _FILE_ONLY
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
    sys.exit(main(sys.argv[1]))
