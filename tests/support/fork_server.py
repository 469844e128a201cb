"""The program `kr` as processes that are forked from one that has imported it: each takes a fifth of the time.

A forked process has its own arguments, folder, environment, standard streams, limits and memory, runs KR's `__main__`,
waits for its threads at its end, and can be killed. What Python and KR import has been imported already, and modules
are not taken apart at the end.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import resource
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_OF_PYTHON = ("PYTHON", "LC_", "LANG", "LD_", "TZ", "COVERAGE")
"""Variables that are read when Python starts: a program with others has to be started."""


class Ended(NamedTuple):
    """How a program ended, and how many bytes of memory it took at most."""

    returncode: int
    stdout: bytes
    stderr: bytes
    memory: int


# -- in the process of a test ----------------------------------------------------------------------------


class ForkServer:
    """A process that has imported KR, and forks a program for each call; it ends with the process of the test."""

    def __init__(self) -> None:
        self._environ = _of_python(os.environ)
        self._calls, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()], cwd="/",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
        atexit.register(self._end)

    def _end(self) -> None:
        self._calls.close()
        self._process.wait(60)

    def can_run(self, environ: dict[str, str]) -> bool:
        """Whether a program that is forked here is the same as one that is started with this environment."""
        return _of_python(environ) == self._environ

    def run(
        self, arguments: list[str], *, cwd: object, environ: dict[str, str], timeout: float, stdin: int | bytes = b"",
        most_bytes: int = resource.RLIM_INFINITY,
    ) -> Ended:  # fmt: skip
        """Run `kr` to its end; a program that takes longer is killed, and raises `subprocess.TimeoutExpired`."""
        asked = {"arguments": arguments, "cwd": str(cwd), "environ": environ, "most_bytes": most_bytes}
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        with (
            tempfile.TemporaryFile() as call,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            ours,
        ):
            call.write(json.dumps(asked).encode())
            call.seek(0)
            given = reading if isinstance(stdin, bytes) else stdin
            streams = [given, out.fileno(), err.fileno()]
            socket.send_fds(self._calls, [b"run"], [*streams, call.fileno(), theirs.fileno()])
            theirs.close()
            os.close(reading)
            threading.Thread(target=_write, args=(writing, stdin), daemon=True).start()
            code, memory = _wait(ours, arguments, timeout)
            said = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in (out, err)]
            return Ended(code, *said, memory)


fork_server = cache(ForkServer)
"""The one of this process."""


def run_program(
    arguments: Iterable[str | os.PathLike[str]], *, cwd: object, environ: dict[str, str], timeout: float = 300,
    stdin: bytes = b"",
) -> Ended | subprocess.CompletedProcess[bytes]:  # fmt: skip
    """Run the program `kr` as a process of its own: forked, or started if its Python has to start otherwise."""
    given = [os.fspath(one) for one in arguments]
    as_here = _of_python(environ) == _of_python(os.environ)  # otherwise no server need be started
    if as_here and fork_server().can_run(environ):
        return fork_server().run(given, cwd=cwd, environ=environ, timeout=timeout, stdin=stdin)
    return subprocess.run(
        [sys.executable, "-m", "kr_core", *given], check=False, capture_output=True, cwd=str(cwd), env=environ,
        timeout=timeout, input=stdin,
    )  # fmt: skip


def _of_python(environ: Any) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name.startswith(_OF_PYTHON)}


def _write(pipe: int, text: int | bytes) -> None:
    """Hand standard input over, as much as is read of it."""
    with suppress(BrokenPipeError), os.fdopen(pipe, "wb") as file:
        if isinstance(text, bytes):
            file.write(text)


def _wait(ours: socket.socket, arguments: list[str], timeout: float) -> tuple[int, int]:
    """The exit code and the memory of a program; the server says its process first."""
    until = time.monotonic() + timeout
    said = b""
    while said.count(b"\n") < 2:
        ours.settimeout(max(0.01, until - time.monotonic()))
        try:
            part = ours.recv(1000)
        except TimeoutError:
            os.kill(int(said.split()[0]), signal.SIGKILL)
            raise subprocess.TimeoutExpired(arguments, timeout) from None
        assert part, "the server has ended"
        said += part
    _process, code, memory = map(int, said.split())
    return code, memory


# -- in the server ---------------------------------------------------------------------------------------


def _load() -> None:
    """Import what commands import, so that no program has to."""
    for package in ("kr_core", "kr_plugins"):
        found = importlib.import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


def _serve(calls: socket.socket) -> dict[str, Any]:
    """Fork a process for each call; returns in each of them, with what it is to run."""
    while True:
        message, descriptors, _flags, _address = socket.recv_fds(calls, 10, 5)
        if not message:
            sys.exit()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if os.fork() == 0:
            *streams, call, answer = descriptors
            with os.fdopen(call, "rb") as file:
                asked: dict[str, Any] = json.load(file)
            program = os.fork()
            if program == 0:
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                calls.detach()
                os.closerange(3, 1024)
                return asked
            _tell_end(program, answer)
        for descriptor in descriptors:
            os.close(descriptor)


def _tell_end(program: int, answer: int) -> None:
    os.write(answer, b"%d\n" % program)
    _program, status, used = os.wait4(program, 0)
    with suppress(BrokenPipeError):
        os.write(answer, b"%d %d\n" % (os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024))
    os._exit(0)


def _become(asked: dict[str, Any]) -> None:
    """Run KR in this process as `python -m kr_core` does."""
    from kr_core.cli import replay

    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    resource.setrlimit(resource.RLIMIT_AS, (asked["most_bytes"],) * 2)
    sys.path.insert(0, asked["cwd"])
    sys.argv = ["kr", *asked["arguments"]]
    replay.STARTED = time.time_ns() - 20_000_000
    try:
        runpy.run_module("kr_core", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        threading._shutdown()  # type: ignore[attr-defined]  # these three are what Python does first at its end
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(ended.code or 0))


if __name__ == "__main__":
    del sys.path[0]
    _load()
    _become(_serve(socket.socket(fileno=int(sys.argv[1]))))
