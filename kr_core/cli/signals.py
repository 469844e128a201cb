"""SIGTERM, SIGHUP, SIGQUIT and their like end the program `kr` as Ctrl-C does: with all that it has started."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from kr_core.cli.command_runner import drop_output

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["Signals"]

_NAMES = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGUSR1", "SIGUSR2")
"""Signals that would end the program alone. After SIGKILL, which no program handles, `kr_core.supervisor` ends what runs; on Linux alone."""
_AGAIN_SECONDS = 0.01
"""After a signal that was dropped; the callback has ended by then, or drops this one too."""
_ENDED = 128
"""To this a shell adds the number of the signal that has ended a program."""


class Signals:
    """Takes the first signal for Ctrl-C, and ends the program at once with the second.

    For the program `kr` alone: another one's signals are its own. One that is ignored, as by `nohup`, stays so; a command
    that handles one itself does that in place of this.
    """

    def __init__(self) -> None:
        self.came = 0
        """The number of the signal that came."""
        self._at_once = False
        self._report = sys.unraisablehook

    def handle(self) -> None:
        """Handle them from now on."""
        for name in _NAMES:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._end)
        self._report, sys.unraisablehook = sys.unraisablehook, self._unraisable

    def _unraisable(self, fault: sys.UnraisableHookArgs) -> None:
        """Send a signal again that came in a callback, of an import for one: Python drops what is raised there."""
        if fault.exc_type is not KeyboardInterrupt:
            self._report(fault)
            return
        import threading

        self._at_once = False
        number, main = self.came or signal.SIGINT, threading.main_thread().ident
        assert main is not None, "it runs"
        again = threading.Timer(_AGAIN_SECONDS, signal.pthread_kill, (main, number))
        again.daemon = True
        again.start()

    def _end(self, number: int, _frame: FrameType | None) -> None:
        if self._at_once:
            _end_children()
            os._exit(_ENDED + number)
        self.came, self._at_once = number, True
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)  # whoever waits for Ctrl-C, as an event loop does, hears of it
        else:  # it is ignored, as in the background of a shell
            raise KeyboardInterrupt

    def exit_code(self, code: int) -> int:
        """The program's exit code; what it has started and could not end is ended."""
        self._at_once = True
        _end_children()
        if not self.came:
            return code
        # CPython ends itself by SIGINT if a KeyboardInterrupt has passed through an `exec` of text, as imports run it,
        # though the exception was caught since; another `exec` takes the mark away (`unhandled_keyboard_interrupt`).
        exec("")  # noqa: S102  no text is run
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):  # the terminal has gone; Python would complain once more
                drop_output(stream)
        return _ENDED + self.came


def _end_children() -> None:
    processes = sys.modules.get("kr_core.processes")  # where nobody has imported it, nobody has started one
    if processes is not None:
        processes.kill_groups()
