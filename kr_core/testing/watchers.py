"""What code touches outside itself, heard from the interpreter (PEP 578): files, the network, other processes.

Run as a script, it imports one plugin in a fresh interpreter and prints what that touched; see `import_afresh`.
Nothing of KR is imported here, so that the fresh interpreter holds the plugin and little else.
"""

from __future__ import annotations

import importlib
import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {
    "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod",
    "shutil.rmtree", "shutil.copyfile", "shutil.move",
}  # fmt: skip
_PROCESSES = {"subprocess.Popen", "os.system", "os.posix_spawn", "os.exec", "os.fork", "os.forkpty"}
_CALLS = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}
"""Events of the network, and which of their arguments is the address."""
_THIS_MACHINE = ("localhost", "127.", "::1", "0.0.0.0")  # noqa: S104  compared, not bound to
_SYSTEM = ("/dev", "/proc", "/sys", "/usr/share/zoneinfo", "/etc/localtime")
"""What the interpreter and the standard library read on their own account."""


class Touch(NamedTuple):
    """One thing that was touched."""

    kind: str
    """`reads`, `writes`, `network` or `process`."""
    what: str
    where: str
    """The file and line that did it."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.what} (at {self.where})"


class FreshRun(NamedTuple):
    """What a plugin did in a fresh interpreter."""

    at_import: tuple[Touch, ...]
    in_hook: tuple[Touch, ...]
    modules: frozenset[str]
    """The modules that there are after its import."""
    error: str
    """Why it could not be imported; empty if it could."""


class _Watch(NamedTuple):
    kinds: frozenset[str]
    thread: int | None
    found: list[Touch]

    def covers(self, thread: int) -> bool:
        """Whether it hears what this thread touches."""
        return self.thread in {None, thread, _for_thread.get()}


_for_thread: ContextVar[int] = ContextVar("for_thread", default=-1)
"""The thread for which another one works, as calls with a time limit do."""
_watches: list[_Watch] = []  # an audit hook cannot be taken away again: one for the process, which looks here
_installed: list[bool] = []


@contextmanager
def watched(*kinds: str, every_thread: bool = False, with_calls: bool = False) -> Iterator[list[Touch]]:
    """Yield a list that fills with what is touched meanwhile: by this thread, by those too that copy its context, or by all."""
    if not _installed:
        sys.addaudithook(_hear)
        _installed.append(True)
    watch = _Watch(frozenset(kinds), None if every_thread else threading.get_ident(), [])
    _watches.append(watch)
    token = _for_thread.set(threading.get_ident() if with_calls else -1)
    try:
        yield watch.found
    finally:
        _for_thread.reset(token)
        _watches.remove(watch)


def import_afresh(module: str, hook: str) -> FreshRun:
    """Import a module in a fresh interpreter, call its hook, and return what both touched."""
    task = {"path": [os.path.abspath(entry) for entry in sys.path], "module": module, "hook": hook}  # noqa: PTH100  links stay as they are
    with tempfile.TemporaryDirectory() as folder:  # a relative path leads into an empty folder
        done = subprocess.run(  # noqa: S603  this file, with this interpreter
            [sys.executable, "-I", "-B", __file__],
            input=json.dumps(task), capture_output=True, text=True, cwd=folder, timeout=120, check=False,
        )  # fmt: skip
    try:
        said = json.loads(done.stdout.rpartition("\n==> ")[2])
    except ValueError:
        said = {"error": done.stderr.strip()[-2000:] or f"the interpreter ended with {done.returncode}"}
    return FreshRun(
        tuple(Touch(*touch) for touch in said.get("import", ())),
        tuple(Touch(*touch) for touch in said.get("hook", ())),
        frozenset(said.get("modules", ())),
        said.get("error", ""),
    )


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watches:
        return
    thread = threading.get_ident()
    listening = [watch for watch in _watches if watch.covers(thread)]
    if not listening:
        return
    heard = _kind_of(event, arguments)
    if heard is None:
        return
    touch = Touch(*heard, _caller())
    for watch in listening:
        if touch.kind in watch.kinds:
            watch.found.append(touch)


def _kind_of(event: str, arguments: tuple[Any, ...]) -> tuple[str, str] | None:
    if event == "open":
        path, _mode, flags = arguments
        if isinstance(path, int) or _is_of_the_system(path):
            return None
        if flags & _WRITING:
            return "writes", f"opens {path!s} for writing"
        return None if _is_code(path) else ("reads", f"opens {path!s}")
    if event in {"os.listdir", "os.scandir"}:
        path = arguments[0] or "."
        return None if isinstance(path, int) or _is_code(path) else ("reads", f"lists {path!s}")
    if event == "sqlite3.connect":
        return None if arguments[0] == ":memory:" else ("writes", f"opens the database {arguments[0]!s}")
    if event in _CHANGES:
        return "writes", f"{event} {arguments[0]!s}"
    if event in _PROCESSES:
        return "process", f"{event} {_command(event, arguments)}".strip()
    if event in _CALLS:
        address = arguments[_CALLS[event]]
        if event in {"socket.connect", "socket.sendto"}:
            if getattr(arguments[0], "family", None) == getattr(socket, "AF_UNIX", None):
                return None
            address = arguments[-1]
        host = address[0] if isinstance(address, tuple) else address
        if host is None or str(host).startswith(_THIS_MACHINE):
            return None
        return "network", f"{event} {address!s}"
    return None


def _command(event: str, arguments: tuple[Any, ...]) -> str:
    """The command line of what is started; a fork has none."""
    if event == "os.system":
        return os.fsdecode(arguments[0])
    program, *rest = arguments[:2] or ("",)
    words = rest[0] if rest else ()
    if isinstance(words, str | bytes | os.PathLike):
        return os.fsdecode(words)
    return shlex.join(map(os.fsdecode, words or filter(None, [program])))


def _is_of_the_system(path: Any) -> bool:
    return os.fsdecode(path).startswith(_SYSTEM)


def _is_code(path: Any) -> bool:
    """Whether a path lies where code is imported from: reading code is no input."""
    real = os.path.realpath(os.fsdecode(path))
    roots = {os.path.realpath(entry) for entry in (*sys.path, sys.prefix, sys.base_prefix) if entry}
    return _is_of_the_system(real) or any(real == root or real.startswith(root + os.sep) for root in roots)


def _caller() -> str:
    """The nearest frame that is neither of this file nor of the standard library."""
    library = os.path.dirname(os.__file__)  # noqa: PTH120  text, compared with other texts
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  what an audit hook has
    nearest = ""
    while frame is not None:
        file = frame.f_code.co_filename
        ours = file == __file__ or file.startswith("<frozen")
        if not ours:
            nearest = nearest or f"{file}:{frame.f_lineno}"
            if not file.startswith(library) or "site-packages" in file:
                return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return nearest


def _main() -> None:
    task = json.load(sys.stdin)
    sys.path[:] = task["path"]
    for known in ("kr_core.hookspecs", "kr_core.model", "kr_core.protocols"):  # the plugin is watched, not KR
        importlib.import_module(known)
    kinds = ("reads", "writes", "network", "process")
    said: dict[str, Any] = {"hook": [], "error": ""}
    with watched(*kinds) as at_import:
        try:
            module, _colon, attribute = task["module"].partition(":")
            plugin = importlib.import_module(module.strip())
            for part in filter(None, attribute.strip().split(".")):
                plugin = getattr(plugin, part)
        except BaseException as error:  # whatever it is, it is what the author must read
            said["error"] = f"{type(error).__name__}: {error}"
    said["import"] = at_import
    said["modules"] = sorted(sys.modules)
    hook = None if said["error"] else getattr(plugin, task["hook"], None)
    if callable(hook):
        with (
            watched(*kinds) as in_hook,
            suppress(Exception),
        ):  # another contract test calls it too, and says so
            hook()
        said["hook"] = in_hook
    print("\n==> " + json.dumps(said))


if __name__ == "__main__":
    _main()
