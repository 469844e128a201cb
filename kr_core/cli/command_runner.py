"""From the parsed command line to an exit code; every error becomes one line that says where, what, and what to do."""

from __future__ import annotations

import gc
import os
import sys
import time
from errno import ENAMETOOLONG, ENOSPC
from typing import TYPE_CHECKING

from kr_core.cli.command_options import parser
from kr_core.errors import ConfigError, KRError, StorageError
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import TextIO

INTERRUPTED = 130
_FULL = "no room is left where the output, or a file, is written; make room on the disk, or send the output elsewhere"
_GRACE_SECONDS = 0.5
_SHOWN_LENGTH = 60
"""Characters of a name that is too long."""


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as stop:  # argparse has printed help, or what was wrong
        return int(stop.code or 0)
    try:
        code = _command(options, list(arguments))
        sys.stdout.flush()
        return code
    except KRError as error:
        print(f"kr: {printable(str(error))}", file=sys.stderr)  # it may quote a stranger's file
        return error.exit_code
    except KeyboardInterrupt:
        print("kr: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has gone; Python would complain once more when it flushes at exit.
        drop_output(sys.stdout)
        return 0
    except Exception as error:
        if isinstance(error, OSError) and error.errno == ENOSPC:
            return output_is_full()
        if isinstance(error, OSError) and error.errno == ENAMETOOLONG:
            shown = printable(str(error.filename))[:_SHOWN_LENGTH]
            print(f"kr: {shown}...: the name is too long for a file; give a shorter one", file=sys.stderr)
            return ConfigError.exit_code
        if options.verbose:
            raise
        print(printable(f"kr: unforeseen: {type(error).__name__}: {error}; -v shows where"), file=sys.stderr)
        return 1


def output_is_full() -> int:
    """Say that no room is left where output or a file is written; returns the exit code."""
    print(f"kr: {_FULL}", file=sys.stderr)
    drop_output(sys.stdout)  # Python would complain once more
    return StorageError.exit_code


def drop_output(stream: TextIO) -> None:
    """Let a stream that takes nothing any more lead nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def end_process(code: int) -> None:
    """End the process at once if a dropped call, or what a plugin has started, still works in a thread.

    Python would wait for it, however long it takes. A daemon thread needs nothing: it ends with the process. It is for
    the program `kr` alone: in another one, the threads may be that one's own.
    """
    gc.freeze()  # else the collector would look at all that was read, twice, while everything is given up
    threading = sys.modules.get("threading")  # where nobody has imported it, nobody has started one
    if threading is None:
        return
    until = time.monotonic() + _GRACE_SECONDS
    for thread in threading.enumerate():
        if thread is threading.main_thread() or thread is threading.current_thread() or thread.daemon:
            continue
        thread.join(max(0.0, until - time.monotonic()))
        if thread.is_alive():
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def _command(options: argparse.Namespace, arguments: list[str]) -> int:
    if options.folder is not None and not options.folder.is_dir():
        raise ConfigError("is not a folder", where=f"-C {options.folder}")
    try:
        os.getcwd()  # noqa: PTH109  nothing more is needed, and a path takes its time
    except FileNotFoundError:
        raise ConfigError(
            "the working folder is not there any more", hint="change into another one"
        ) from None
    if options.command == "research":
        from kr_core.cli import research

        return research.run(options, arguments)
    from importlib import import_module  # one of them, since `kr plugins` must start quickly

    return int(import_module(f"kr_core.cli.{options.command}").run(options))
