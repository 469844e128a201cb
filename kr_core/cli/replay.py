"""A result that was shown before, shown again while nothing it rests on has changed.

This is no second implementation of the look-up: it knows nothing of matching. A result is kept under the command line
and the surroundings it was given in, with the (path, times, size) of every file that could change it (configuration,
index, report, evidence, lock files, the environment's folders) and the day; if any differs, the full way is taken.
Only modules that Python has loaded or loads in a millisecond or two are imported here.

The results lie in the user's own state folder, beside what `kr trust` keeps: one in the project could be anybody's, with
guards that always hold.
"""

import os
import sys
import time
import zlib
from errno import ENOSPC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from kr_core.protocols import LightAppender

FOLDER = "hits"
SESSION = "@kr-session@"
_FORMAT = 5
_ENVIRONMENT = (
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "KR_CACHE_DIR",
    "KR_TRUST",
    "HOME",
    "NO_COLOR",
    "COLUMNS",
    "TERM",
)
_NEVER = (
    "--refresh",
    "--session",
    "--request",
    "--batch",
    "--config",
    "-v",
    "--verbose",
    "-h",
    "--help",
    "--max-calls",
)
"""With these a result depends on more than files, or is wanted anew."""
_KEPT = 500
"""Results of a user, of all projects together."""


STARTED = time.time_ns() - 20_000_000
"""When this process began; what changed since may have been read before the change. File systems keep coarse time."""


def serve(arguments: "list[str]") -> "int | None":
    """Print the kept result for a command line and return its exit code; None where there is none that holds."""
    found = _find(arguments)
    kept = _read(*found) if found is not None else None
    if found is None or kept is None:
        return None
    session = os.urandom(8).hex()
    if not _record(kept, session):
        return None
    try:
        sys.stdout.write(kept["stdout"].replace(SESSION, session))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has gone; Python would complain once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        if error.errno != ENOSPC:
            raise
        from kr_core.cli.command_runner import output_is_full

        return output_is_full()
    return int(kept["exit_code"])


def _read(path: str, key: str) -> "dict[str, Any] | None":
    """A kept result, if it is whole and nothing that it rests on has changed."""
    try:
        with open(path, encoding="utf-8") as file:
            kept = _parsed(file.read())
        if kept["format"] != _FORMAT or kept["key"] != key or kept["day"] != _today():
            return None
        if not kept["guards"] or any(state(guarded[0]) != guarded for guarded in kept["guards"]):
            return None
        texts = all(isinstance(kept[name], str) for name in ("stdout", "event", "appender", "place"))
        return kept if texts and kept["stdout"] and kept["exit_code"] in {0, 4} else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


class _AsInJson:
    """What CPython's scanner asks for; the values are those of `json.loads`."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def _parsed(text: str) -> "Any":
    """A JSON text that `keep` wrote; by the C part of `json` alone, which loads in a tenth of the time of the whole."""
    try:
        from _json import make_scanner
    except ImportError:  # another Python than CPython
        import json

        return json.loads(text)
    try:
        value, end = make_scanner(_AsInJson)(text, 0)  # type: ignore[arg-type]  # the stubs name another class
    except (StopIteration, SystemError):  # its own error is made by the part that is not loaded
        return None
    return value if end == len(text) else None


def keep(
    arguments: "list[str]",
    *,
    appender: "LightAppender",
    guards: "Iterable[list[Any]]",
    stdout: str,
    exit_code: int,
    event: "Mapping[str, Any]",
) -> None:
    """Keep a result for the same command line; a folder that cannot be written is no fault.

    `guards` are the states of files (`state`) from before the result was looked up; `appender` tells the journal of a repetition.
    """
    if not stdout or not may_keep(arguments):
        return
    import json

    folder = results_folder()
    if not folder:
        return
    key = _key(arguments)
    value = {
        "format": _FORMAT, "key": key, "day": _today(), "guards": list(guards), "stdout": stdout,
        "exit_code": exit_code, "event": json.dumps({**event, "session_id": SESSION}), "appender": appender.module, "place": appender.place,
    }  # fmt: skip
    path = os.path.join(folder, _name(key))
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        for made in (os.path.dirname(folder), folder):
            os.makedirs(made, mode=0o700, exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False)
        os.replace(temporary, path)
        _prune(folder)
    except (OSError, ValueError):
        return


def may_keep(arguments: "list[str]") -> bool:
    """Whether the result of a command line depends on files alone."""
    return not any(name in _NEVER for argument in arguments for name in _options(argument))


def _options(argument: str) -> "list[str]":
    """The options in an argument: a long one without its value, short ones each by itself (`-qv`, `-Cfolder`)."""
    if argument.startswith("--") or not argument.startswith("-"):
        return [argument.partition("=")[0]]
    letters = argument[1:].partition("C")[0]
    return [f"-{letter}" for letter in letters]


def _find(arguments: "list[str]") -> "tuple[str, str] | None":
    """Where the kept result of a command line lies, if there is one, and its key."""
    folder = results_folder() if may_keep(arguments) else ""
    if not folder:
        return None
    key = _key(arguments)
    return os.path.join(folder, _name(key)), key


def results_folder() -> str:
    """Where results are kept, in the user's state folder; empty if the user has none."""
    from kr_core.user_state import user_state_folder

    folder = user_state_folder()
    return os.path.join(folder, FOLDER) if folder else ""


def _key(arguments: "list[str]") -> str:
    from kr_core._version import __version__

    surroundings = [f"{name}={os.environ.get(name, '')}" for name in _ENVIRONMENT]
    terminal = str(os.get_terminal_size(sys.stdout.fileno())) if sys.stdout.isatty() else ""
    return "\0".join([__version__, sys.prefix, os.getcwd(), terminal, *surroundings, *arguments])


def _name(key: str) -> str:
    data = key.encode("utf-8", "surrogateescape")
    return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}.json"


def _today() -> str:
    return time.strftime("%Y-%m-%d")


def state(path: str) -> "list[Any]":
    """What tells whether a file has changed: also by a tool that sets its time back, which cannot set `ctime`."""
    try:
        status = os.stat(path)
    except OSError:
        return [path, None, None, None]
    return [path, status.st_mtime_ns, status.st_ctime_ns, status.st_size]


def changed_since_start(guard: "list[Any]") -> bool:
    """Whether a file may have been read by this process before its last change."""
    return guard[2] is not None and guard[2] >= STARTED


def _record(kept: "dict[str, Any]", session: str) -> bool:
    """Write the event of this hit to the journal, by the module that the journal has named; False where it cannot."""
    try:
        module = __import__(kept["appender"], fromlist=("append",))
        return module.append(kept["place"], "run.repeated", kept["event"].replace(SESSION, session)) is True
    except Exception:  # a plugin may raise anything; the full way tells what is wrong
        return False


def _prune(folder: str) -> None:
    """Keep the newest results only."""
    with os.scandir(folder) as entries:
        files = sorted((entry.stat().st_mtime_ns, entry.path) for entry in entries)
    for _time, path in files[:-_KEPT]:
        os.unlink(path)
