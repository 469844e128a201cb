"""A real terminal for a command: what it shows is waited for, and what is typed goes in line by line."""

import os
import pty
import re
import select
import signal
import subprocess
import termios
import time

from support.fork_server import kr_argv

SECONDS = 120
"""For anything that is waited for; a test that passes never waits so long."""
_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """`kr` with standard input and standard error on a terminal, and standard output in a pipe of its own."""

    def __init__(self, *arguments, cwd, env):
        self._outer, inner = pty.openpty()
        attributes = termios.tcgetattr(inner)
        attributes[3] &= ~termios.ECHO  # what is typed is not shown, so that what is shown is KR's
        termios.tcsetattr(inner, termios.TCSANOW, attributes)
        self.process = subprocess.Popen(
            kr_argv(env, *arguments),
            stdin=inner, stderr=inner, stdout=subprocess.PIPE, cwd=cwd, env=env, start_new_session=True,
        )  # fmt: skip
        os.close(inner)
        self.shown = ""
        self._seen = 0
        self._raw = b""

    def until(self, text):
        """Wait until the terminal shows a text after what was waited for before; everything up to it."""
        end = time.monotonic() + SECONDS
        while (found := self.shown.find(text, self._seen)) < 0:
            assert time.monotonic() < end, f"{text!r} was never shown:\n{self.shown}"
            assert self._more(end), f"ended without showing {text!r}:\n{self.shown}"
        came = self.shown[self._seen : found + len(text)]
        self._seen = found + len(text)
        return came

    def type(self, *lines):
        os.write(self._outer, "".join(f"{line}\n" for line in lines).encode())

    def press(self, key):
        """Press one key, without Return."""
        os.write(self._outer, key.encode())

    def end_of_input(self):
        os.write(self._outer, b"\x04")

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self):
        """Wait for the end; the exit code and what stands on standard output."""
        end = time.monotonic() + SECONDS
        while self._more(end):
            pass
        assert time.monotonic() < end, f"it goes on and on:\n{self.shown}"
        out = self.process.stdout.read().decode()
        code = self.process.wait(timeout=SECONDS)
        self.close()
        return code, out

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        if self._outer is not None:
            os.close(self._outer)
            self._outer = None

    def _more(self, end):
        if not select.select([self._outer], [], [], max(0.0, end - time.monotonic()))[0]:
            return False
        try:
            piece = os.read(self._outer, 65536)
        except OSError:  # the other end is closed
            return False
        self._raw += piece
        self.shown = _STYLE.sub("", self._raw.decode(errors="replace")).replace("\r\n", "\n")
        return bool(piece)
