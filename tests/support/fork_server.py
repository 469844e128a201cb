"""The program `kr` as processes that are forked from one that has imported it: each takes a fifth of the time.

A forked process has its own arguments, folder, environment, standard streams, limits and memory, runs KR's `__main__`,
waits for its threads at its end, and can be killed. What Python and KR import has been imported already, and modules
are not taken apart at the end.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_OF_PYTHON = ("PYTHON", "LC_", "LANG", "LD_", "TZ", "COVERAGE")
"""Variables that are read when Python starts: a program with others has to be started."""

_COLLAPSE = 25
"""MADV_COLLAPSE of Linux; where it is not known, nothing is changed."""


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
        self._folder = tempfile.TemporaryDirectory(prefix="kr-fork-")
        self.address = f"{self._folder.name}/calls"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as calls:
            calls.bind(self.address)
            calls.listen(64)
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(calls.fileno())], pass_fds=[calls.fileno()], cwd="/",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
        atexit.register(self._end)

    def _end(self) -> None:
        self._process.communicate(timeout=60)
        self._folder.cleanup()

    def can_run(self, environ: dict[str, str]) -> bool:
        """Whether a program that is forked here is the same as one that is started with this environment."""
        return _of_python(environ) == self._environ and all(map(_adds_only, _python_path(environ)))

    def argv(self, *arguments: str) -> list[str]:
        """What to start for a forked `kr` whose streams, folder and environment are those of what starts it.

        It passes signals on, and ends as the program does; where it is killed, so is the program.
        """
        client = Path(__file__).with_name("forked_kr.py")
        return [sys.executable, "-I", "-S", str(client), self.address, *arguments]

    def run(
        self, arguments: list[str], *, cwd: object, environ: dict[str, str], timeout: float, stdin: int | bytes = b"",
        most_bytes: int = resource.RLIM_INFINITY,
    ) -> Ended:  # fmt: skip
        """Run `kr` to its end; a program that takes longer is killed, and raises `subprocess.TimeoutExpired`."""
        asked = {"arguments": arguments, "cwd": str(cwd), "environ": environ, "most_bytes": most_bytes}
        reading, writing = os.pipe()
        with (
            tempfile.TemporaryFile() as call,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as ours,
        ):
            call.write(json.dumps(asked).encode())
            call.seek(0)
            given = reading if isinstance(stdin, bytes) else stdin
            ours.connect(self.address)
            socket.send_fds(ours, [b"run"], [given, out.fileno(), err.fileno(), call.fileno()])
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


def kr_argv(environ: dict[str, str], *arguments: str) -> list[str]:
    """What to start for a `kr` that runs beside the test: forked, or itself if its Python has to start otherwise."""
    if fork_server().can_run(environ):
        return fork_server().argv(*arguments)
    return [sys.executable, "-m", "kr_core", *arguments]


def _of_python(environ: Any) -> dict[str, str]:
    return {
        name: value for name, value in environ.items() if name.startswith(_OF_PYTHON) and name != "PYTHONPATH"
    }


def _python_path(environ: Any) -> list[str]:
    mine = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [path for path in environ.get("PYTHONPATH", "").split(os.pathsep) if path and path not in mine]


def _adds_only(folder: str) -> bool:
    """Whether the modules of a folder have names that nothing here has, so that none should have been imported from there."""
    names = {
        file.name.partition(".")[0] for file in Path(folder).glob("*") if not file.name.endswith("-info")
    }
    customize = {"sitecustomize", "usercustomize"}
    return not names & customize and not any(name.isidentifier() and find_spec(name) for name in names)


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
    _join_pages()


def _join_pages() -> None:
    """Keep what was loaded in large pages, where the system has them: a fork copies a table of all pages."""
    if not sys.platform.startswith("linux"):
        return
    advise, size = ctypes.CDLL(None).madvise, 2**21
    for line in Path("/proc/self/maps").read_text("utf-8").splitlines():
        place, rights, _offset, _device, _file, *name = line.split(maxsplit=5)
        begin, end = (int(number, 16) for number in place.split("-"))
        begin, end = -(-begin // size) * size, end // size * size
        if rights.startswith("rw") and name in ([], ["[heap]"]) and begin < end:
            advise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), _COLLAPSE)


class _Programs:
    """The forked programs that run, each with the connection of its caller."""

    def __init__(self, waited: select.poll) -> None:
        self._waited = waited
        self._ends: dict[int, tuple[int, int]] = {}
        self._callers: dict[int, int] = {}

    def add(self, program: int, caller: int) -> None:
        end = os.pidfd_open(program)
        self._ends[end], self._callers[caller] = (program, caller), program
        for number in (end, caller):
            self._waited.register(number, select.POLLIN)
        _tell(caller, b"%d\n" % program)

    def see(self, number: int) -> None:
        """A program has ended, or a caller: it was killed, and so is its program."""
        if number in self._callers:
            self._waited.unregister(number)
            os.kill(self._callers.pop(number), signal.SIGKILL)
        elif number in self._ends:
            program, caller = self._ends.pop(number)
            _program, status, used = os.wait4(program, 0)
            _tell(caller, b"%d %d\n" % (os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024))
            if self._callers.pop(caller, None) is not None:
                self._waited.unregister(caller)
            self._waited.unregister(number)
            os.close(number)
            os.close(caller)


def _serve(calls: socket.socket) -> dict[str, Any]:
    """Fork a process for each call; returns in each of them, with what it is to run."""
    waited = select.poll()
    waited.register(0, select.POLLIN)
    waited.register(calls, select.POLLIN)
    programs = _Programs(waited)
    while True:
        for number, _what in waited.poll():
            if number == 0:  # the process of the test has ended
                sys.exit()
            if number != calls.fileno():
                programs.see(number)
                continue
            connection = calls.accept()[0]
            try:
                _message, (*streams, call), _flags, _address = socket.recv_fds(connection, 10, 4)
            except (OSError, ValueError):  # it was killed before it said anything
                connection.close()
                continue
            caller = connection.detach()
            program = os.fork()
            if program == 0:
                return _asked(calls, streams, call)
            for stream in (*streams, call):
                os.close(stream)
            programs.add(program, caller)


def _asked(calls: socket.socket, streams: list[int], call: int) -> dict[str, Any]:
    """What a forked process is to run, whose standard streams are now those of its caller."""
    with os.fdopen(call, "rb") as file:
        asked: dict[str, Any] = json.load(file)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    calls.detach()
    os.closerange(3, 1024)
    return asked


def _tell(caller: int, said: bytes) -> None:
    with suppress(OSError):  # where it was killed
        os.write(caller, said)


def _become(asked: dict[str, Any]) -> None:
    """Run KR in this process as `python -m kr_core` does."""
    from kr_core.cli import replay

    os.chdir(asked["cwd"])
    sys.path[:0] = [asked["cwd"], *_python_path(asked["environ"])]
    os.environ.clear()
    os.environ.update(asked["environ"])
    for number, name in enumerate(("stdin", "stdout", "stderr")):  # those of the server knew other files
        old = getattr(sys, name)
        options = {"encoding": old.encoding, "errors": old.errors, "closefd": False}
        stream = open(number, "w" if number else "r", **options)  # noqa: SIM115  it is the process's own
        stream.reconfigure(line_buffering=number == 2 or stream.isatty())
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    resource.setrlimit(resource.RLIMIT_AS, (asked["most_bytes"],) * 2)
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
    sys.dont_write_bytecode, asked = (
        False,
        sys.dont_write_bytecode,
    )  # the next server need not compile KR again
    _load()
    sys.dont_write_bytecode = asked
    _become(_serve(socket.socket(fileno=int(sys.argv[1]))))
