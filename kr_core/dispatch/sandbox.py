"""What an agent is confined by while it runs: bubblewrap, Landlock, or nothing, chosen by trying to break out of each.

Confined, it may write in its worktree alone, and reads the system, its worktree, and what its command line names; the rest of
the home folder, of the temporary folder and of the project is hidden. The gate afterwards does not rely on any of this.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core import supervisor
from kr_core.processes import Supervision, order_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kr_core.processes import Confined, Order

__all__ = ["FILE_BYTES", "NAMES", "Confinement", "choose", "order"]

NAMES = ("bubblewrap", "landlock", "none")
"""In the order in which they are tried."""
FILE_BYTES = 2**30
"""The largest file that an agent may write."""
_LEAST_LANDLOCK = 3
"""The first version of Landlock that keeps a program from cutting off files."""
_TEMPORARY_BYTES = 2**30
_SECONDS = 20
_PATHS = re.compile(r"/[^\s'\"`;|&<>()$,:=]+")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
_NAMES_OF_HOSTS = Path("/etc/resolv.conf")
"""Often a link into /run; without it an agent finds no host."""
_PREFIXES = ("pyvenv.cfg", "lib/python*/os.py", "lib/node_modules")
"""What shows that the folder above a program's `bin` belongs to it."""
_PROBE = """
import os, sys
open("inside", "w").close()
for name in sys.argv[1:]:
    try:
        open(name, "r" if name.startswith("/proc/") else "w").close()
    except OSError:
        continue
    sys.exit(3)
"""
"""What must not work: to write outside, and to read KR's environment, with its keys."""


class Confinement(NamedTuple):
    """What one agent is confined to."""

    tree: Path
    """Its worktree, where it runs."""
    scratch: Path
    """A folder for temporary files, its own."""
    hidden: tuple[Path, ...]
    """Folders of which it sees only what is named here."""
    readable: tuple[Path, ...]
    """Files and folders in them that it reads all the same."""


def choose(candidates: Sequence[str] = NAMES) -> str:
    """The first confinement from which a program cannot break out here; `none` is always there.

    Args:
        candidates: those to try, in order.
    """
    return next((name for name in candidates if name == "none" or _holds(name)), "none")


def _holds(name: str) -> bool:
    """Whether a program can write inside, and neither write outside nor read KR's keys; it is tried, not looked up."""
    if name == "bubblewrap" and _bubblewrap() is None:
        return False
    if name == "landlock" and supervisor.landlock_version() < _LEAST_LANDLOCK:
        return False
    # Below the temporary folder and not in it: that is another one inside.
    with tempfile.TemporaryDirectory(prefix="kr-probe-") as made:
        top = Path(made).resolve()
        tree, scratch, outside = top / "tree", top / "scratch", top / "outside"
        for folder in (tree, scratch, outside):
            folder.mkdir()
        target = outside / "written"
        # Bubblewrap gives it a /proc of its own, where that number means another process or none.
        environ = (f"/proc/{os.getpid()}/environ",) if name == "landlock" else ()
        argv = (sys.executable, "-I", "-S", "-c", _PROBE, str(target), *environ)
        confinement = Confinement(tree, scratch, _hidden(), named_by(argv, _hidden()))
        held = Supervision(order(name, confinement, argv, {"PATH": os.defpath}))
        try:
            done = subprocess.run(  # noqa: S603  no shell
                held.argv, check=False, capture_output=True, timeout=_SECONDS, stdin=subprocess.DEVNULL,
                env=held.environment, pass_fds=held.inherited,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return False
        finally:
            held.close()
        return done.returncode == 0 and (tree / "inside").exists() and not target.exists()


def order(name: str, confinement: Confinement, argv: Sequence[str], environment: Mapping[str, str]) -> Order:
    """What the supervisor is to run.

    Args:
        name: one of `NAMES`.
        confinement: of the agent.
        argv: the agent.
        environment: all of its environment.
    """
    own = {**environment, "TMPDIR": "/tmp" if name == "bubblewrap" else str(confinement.scratch)}  # noqa: S108  its own there
    landlock: dict[str, list[str]] | None = None
    inner = list(argv)
    if name == "bubblewrap":
        inner = [*_wrapped(confinement), *argv]
    elif name == "landlock":
        own["HOME"] = str(confinement.scratch)
        landlock = {
            "readable": [str(place) for place in (*_open_folders(confinement.hidden), *confinement.readable)],
            "writable": [
                str(confinement.tree),
                str(confinement.scratch),
                *(f"/dev/{device}" for device in _DEVICES),
            ],
        }
    confined: Confined = {
        "folder": str(confinement.tree),
        "file_bytes": FILE_BYTES,
        "landlock": landlock,
    }
    return order_of(inner, own, confined)


def _bubblewrap() -> str | None:
    program = shutil.which("bwrap", path=os.environ.get("PATH"))
    return program if program is not None and Path(program).is_absolute() else None


def _wrapped(confinement: Confinement) -> list[str]:
    program = _bubblewrap()
    assert program is not None, "it was tried"
    size = ("--size", str(_TEMPORARY_BYTES))
    said = [
        program, "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
        "--cap-drop", "ALL",  # root could mount everything again, writable
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
    ]  # fmt: skip
    for folder in _outermost(confinement.hidden):
        said += [*size, "--tmpfs", str(folder)]
    said += ["--bind", str(confinement.tree), str(confinement.tree)]
    for place in confinement.readable:
        said += ["--ro-bind-try", str(place), str(place)]
    return [*said, "--chdir", str(confinement.tree), "--"]


# -- what is hidden, and what is not -------------------------------------------------------------------------


def _hidden() -> tuple[Path, ...]:
    """The folders of the user, of temporary files and of services; none of them is the whole disk."""
    # In /run lie the sockets of services that do things for who asks: Docker's gives the whole machine away.
    named = [Path.home(), Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"), Path("/run")]  # noqa: S108  hidden, not used
    real = [Path(os.path.realpath(one)) for one in (*named, *_home_of_user())]
    return tuple(dict.fromkeys(one for one in real if one.is_dir() and len(one.parts) > 1))


def _home_of_user() -> list[Path]:
    """The home folder that the system knows, where `HOME` names another."""
    import pwd

    try:
        return [Path(pwd.getpwuid(os.getuid()).pw_dir)]
    except KeyError:
        return []


def hidden_folders(*more: Path) -> tuple[Path, ...]:
    """The folders of which an agent sees only what it needs: the user's, those of temporary files, and others."""
    return tuple(dict.fromkeys((*_hidden(), *(Path(os.path.realpath(one)) for one in more))))


def _outermost(folders: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for folder in sorted(folders, key=lambda one: len(one.parts)):
        if not any(folder.is_relative_to(other) for other in found):
            found.append(folder)
    return found


def _open_folders(hidden: Sequence[Path]) -> list[Path]:
    """The largest folders that hold nothing hidden."""
    above = {folder for one in hidden for folder in one.parents}
    found = []
    waiting = [Path("/")]
    while waiting:
        folder = waiting.pop()
        if folder in hidden:
            continue
        if folder not in above:
            found.append(folder)
            continue
        try:
            waiting += [Path(entry.path) for entry in os.scandir(folder)]
        except OSError:
            continue
    return found


def named_by(argv: Sequence[str], hidden: Sequence[Path], path: str = "") -> tuple[Path, ...]:
    """The files and folders that a command line names and that would be hidden, with what its program needs beside it.

    Args:
        argv: the program by its whole path, and its arguments; an argument may be a script that names files.
        hidden: the hidden folders.
        path: its PATH; the programs there stay readable, too.
    """
    found: dict[Path, None] = {}
    found.setdefault(Path(os.path.realpath(_NAMES_OF_HOSTS)))
    programs = [
        Path(argv[0]),
        *(Path(folder, "any") for folder in path.split(os.pathsep) if folder.startswith("/")),
    ]
    for program in programs:
        for place in _program_folders(program) or ([program.parent] if program.name == "any" else []):
            found.setdefault(place)
    for argument in argv:
        for name in (argument, *_PATHS.findall(argument)):
            if name.startswith("/") and "\0" not in name and len(name) < 4096:
                found.setdefault(Path(os.path.normpath(name)))
    real = [real for place in found for real in (place, Path(os.path.realpath(place)))]
    return tuple(_outermost(place for place in real if _is_worth_naming(place, hidden)))


def _is_worth_naming(place: Path, hidden: Sequence[Path]) -> bool:
    """Whether it exists and is hidden, and is not a hidden folder as a whole."""
    real = Path(os.path.realpath(place))
    above = any(one.is_relative_to(real) for one in hidden)
    below = any(real.is_relative_to(one) or place.is_relative_to(one) for one in hidden)
    return below and not above and os.path.lexists(place)


def _program_folders(program: Path) -> list[Path]:
    """The folders that belong to an interpreter: those above the `bin` of each name that it has."""
    found = []
    step = program
    for _number in range(10):
        folder = step.parent.parent
        owns = step.parent.name == "bin" and any(any(folder.glob(pattern)) for pattern in _PREFIXES)
        if owns or step.parent.name == "shims":  # of pyenv, asdf and the like, which look for the real one
            found.append(folder)
        if not step.is_symlink():
            break
        step = Path(os.path.normpath(step.parent / step.readlink()))
    return found
