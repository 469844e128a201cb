"""A cloned project of which nothing is known, and the real command in it: its memory is bounded, and how much it took is told."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from support.fork_server import fork_server
from support.projects import PARCEL, install, make_environment

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 240
"""A guard against hanging, and no measure."""
_MOST_BYTES = 4_000_000_000
FLAT = 400_000_000
"""Bytes that no command takes for what it refuses."""


class Done(NamedTuple):
    """What a command printed, how it ended and how many bytes it took at most."""

    code: int
    out: str
    err: str
    memory: int

    @property
    def message(self) -> str:
        return self.out + self.err


def make_clone(folder: Path) -> Path:
    """A project whose environment has the package `parcel` 1.4.0; returns its site-packages."""
    folder.mkdir(parents=True)
    (folder / "kr.yaml").write_text("knowledge_research: {sources: [installed_docs]}\n")
    site = make_environment(folder)
    install(site, "parcel", "1.4.0", {"parcel/__init__.py": PARCEL})
    return site


def kr(
    folder: Path, *arguments: str, stdin: int | bytes | None = None, shell: str = "", **environ: str
) -> Done:
    """Run `kr` in a folder; with `shell`, that line of bash, in which `"$@"` is the command."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("VIRTUAL_ENV", "CONDA", "KR_", "HTTP", "ALL_PROXY"))
    }
    own = {
        "KR_CACHE_DIR": f"{folder.parent}/cache",
        "XDG_STATE_HOME": f"{folder.parent}/state",
        "NO_COLOR": "1",
    }
    environ = {**kept, **own, **environ}
    if not shell and fork_server().can_run(environ):
        return _forked(folder, arguments, stdin, environ)
    command = [sys.executable, "-m", "kr_core", *arguments]
    if shell:
        command = ["bash", "-c", shell, "bash", *command]
    given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin or subprocess.DEVNULL}
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, *command], check=False, capture_output=True, cwd=folder,
        env=environ, timeout=SECONDS, **given,
    )  # fmt: skip
    err, _mark, memory = done.stderr.decode().rpartition("\nmemory ")
    return Done(done.returncode, done.stdout.decode(), err, int(memory))


def _forked(
    folder: Path, arguments: tuple[str, ...], stdin: int | bytes | None, environ: dict[str, str]
) -> Done:
    done = fork_server().run(
        list(arguments),
        cwd=folder,
        environ=environ,
        timeout=SECONDS,
        stdin=stdin or b"",
        most_bytes=_MOST_BYTES,
    )
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Done(code, done.stdout.decode(), done.stderr.decode(), done.memory)


_MEASURED = f"""
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_AS, ({_MOST_BYTES}, {_MOST_BYTES}))
code = subprocess.run(sys.argv[1:], check=False).returncode
taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
sys.stdout.flush()
print(f"\\nmemory {{taken}}", end="", file=sys.stderr)
sys.exit(code if code >= 0 else 128 - code)
"""


def lay(kind: str, path: Path) -> None:
    """Lay something else in a file's place: what never ends, never begins, or is no file at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as opened:
            here = os.open(path.parent, os.O_RDONLY)
            opened.bind(f"/proc/self/fd/{here}/{path.name}")
            os.close(here)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link to a link":
        between = path.with_name(f"{path.name}.between")
        between.symlink_to("/dev/zero")
        path.symlink_to(between.name)
    else:
        assert kind == "large"
        with path.open("wb") as file:
            file.truncate(3_000_000_000)


KINDS = ("device", "pipe", "socket", "folder", "link to a link", "large")
