"""A result that was shown before, shown again while nothing it rests on has changed.

This is no second implementation of the look-up: it knows nothing of matching. A result is kept under the command line
and the surroundings it was given in, with the (path, time, size) of every file that could change it (configuration,
index, report, evidence, lock files, the environment's folders) and the day; if any differs, the full way is taken.
Only modules that Python has loaded or loads in a millisecond or two are imported here.
"""

import os
import sys
import time
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

FOLDER = "hits"
SESSION = "@kr-session@"
_FORMAT = 1
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
_KEPT = 200


def serve(arguments: "list[str]") -> "int | None":
    """Print the kept result for a command line and return its exit code; None where there is none that holds."""
    found = _find(arguments)
    if found is None:
        return None
    import json

    path, key = found
    try:
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        if kept["format"] != _FORMAT or kept["key"] != key or kept["day"] != _today():
            return None
        if any(_state(guarded[0]) != guarded for guarded in kept["guards"]):
            return None
        session = os.urandom(8).hex()
        if not _record(kept["journal"], kept["event"], session):
            return None
        sys.stdout.write(kept["stdout"].replace(SESSION, session))
        sys.stdout.flush()
        return int(kept["exit_code"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def keep(
    arguments: "list[str]",
    *,
    state_folder: str,
    guards: "Iterable[str]",
    stdout: str,
    exit_code: int,
    event: "Mapping[str, Any]",
) -> None:
    """Keep a result for the same command line; a folder that cannot be written is no fault."""
    if not may_keep(arguments):
        return
    import json

    folder = os.path.join(state_folder, FOLDER)
    key = _key(arguments)
    value = {
        "format": _FORMAT, "key": key, "day": _today(), "guards": [_state(path) for path in guards], "stdout": stdout,
        "exit_code": exit_code, "journal": os.path.join(state_folder, "journal.sqlite"), "event": event,
    }  # fmt: skip
    path = os.path.join(folder, _name(key))
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(folder, exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False)
        os.replace(temporary, path)
        _prune(folder)
    except OSError:
        return


def may_keep(arguments: "list[str]") -> bool:
    """Whether the result of a command line depends on files alone."""
    return not any(argument.partition("=")[0] in _NEVER for argument in arguments)


def _find(arguments: "list[str]") -> "tuple[str, str] | None":
    """The kept result's file in the nearest `.kr/` upwards, and its key."""
    if not may_keep(arguments):
        return None
    key = _key(arguments)
    name = _name(key)
    folder = _working_folder(arguments)
    while True:
        path = os.path.join(folder, ".kr", FOLDER, name)
        if os.path.exists(path):
            return path, key
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _working_folder(arguments: "list[str]") -> str:
    for number, argument in enumerate(arguments[:-1]):
        if argument == "-C":
            return os.path.abspath(arguments[number + 1])
    return os.getcwd()


def _key(arguments: "list[str]") -> str:
    from kr_core import __version__

    surroundings = [f"{name}={os.environ.get(name, '')}" for name in _ENVIRONMENT]
    terminal = str(sys.stdout.isatty())
    return "\0".join([__version__, sys.prefix, os.getcwd(), terminal, *surroundings, *arguments])


def _name(key: str) -> str:
    data = key.encode("utf-8", "surrogateescape")
    return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}.json"


def _today() -> str:
    return time.strftime("%Y-%m-%d")


def _state(path: str) -> "list[Any]":
    try:
        status = os.stat(path)
    except OSError:
        return [path, None, None]
    return [path, status.st_mtime_ns, status.st_size]


def _record(journal: str, event: "Mapping[str, Any]", session: str) -> bool:
    """Write the event of this hit to the journal, durably; False where it is not there in the known form."""
    if not os.path.exists(journal):
        return False
    import json
    import sqlite3

    data = {**event, "session_id": session}
    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1_000_000):06d}+00:00"
    try:
        connection = sqlite3.connect(journal, timeout=30, isolation_level=None)
        try:
            if connection.execute("PRAGMA user_version").fetchone() != (1,):
                return False
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(
                "INSERT INTO events (id, time, run, kind, data) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                (os.urandom(8).hex(), stamp, os.urandom(8).hex(), "run.repeated", json.dumps(data)),
            )
        finally:
            connection.close()
    except sqlite3.Error:
        return False
    return True


def _prune(folder: str) -> None:
    """Keep the newest results only."""
    with os.scandir(folder) as entries:
        files = sorted((entry.stat().st_mtime_ns, entry.path) for entry in entries)
    for _time, path in files[:-_KEPT]:
        os.unlink(path)
