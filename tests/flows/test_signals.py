"""Signals end a command with all that it has started: what it waits for, what that has started, and what hides in a session of its own."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress

import pytest
from support.fork_server import kr_argv

from kr_core.cli import main

pytestmark = pytest.mark.req("Z8")

PATIENCE_SECONDS = 120
"""Nothing takes so long; it keeps a failure from waiting for ever."""
DETACHED = """
import os, signal, time
os.setsid()
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork():
    os._exit(0)
with open({pids!r} + ".detached", "w") as file:
    file.write(str(os.getpid()))
time.sleep(600)
"""
HANGS = """
import os, signal, subprocess, sys, time
for number in {ignored!r}:
    signal.signal(number, signal.SIG_IGN)
python = [sys.executable, "-I", "-S", "-c"]
inner = subprocess.Popen([*python, "import time; time.sleep(600)"])
pids = [os.getpid(), inner.pid]
if {detached!r}:
    subprocess.run([*python, {detached!r}])
    while not (os.path.exists({pids!r} + ".detached") and open({pids!r} + ".detached").read()):
        time.sleep(0.01)
    pids.append(int(open({pids!r} + ".detached").read()))
with open({pids!r} + ".new", "w") as file:
    file.write(" ".join(map(str, pids)))
os.rename({pids!r} + ".new", {pids!r})
time.sleep(600)
"""
needs_subreaper = pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere what leaves its group and its session is lost"
)
ASK = ("ask", "Which session store should we use?", "--target", "duc")
RESEARCH = ("research", "How do I set the timeout of a parcel?", "--framework", "parcel", "--refresh")


def is_running(pid):
    """Whether a process does anything still; one that nobody has waited for yet is at its end."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except (ProcessLookupError, FileNotFoundError):
        return False
    except OSError:  # no such file system
        return True


def until(happened):
    end = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


class Hanging:
    """A command that waits for a program which never answers, and which has started another one."""

    def __init__(self, folder, environ):
        self._pids, self._folder, self._environ = folder / "pids", folder, environ
        self._started = []

    def configure(self, command, ignored=()):
        """`mcp`: a source over standard input and output; `command`: an agent."""
        program = self._folder / "hangs.py"
        pids = str(self._pids)
        detached = DETACHED.format(pids=pids) if sys.platform == "linux" else ""
        program.write_text(HANGS.format(ignored=[int(one) for one in ignored], pids=pids, detached=detached))
        argv = json.dumps([sys.executable, "-I", "-S", str(program)])
        if command == "mcp":
            text = (
                "knowledge_research: {sources: [slow], timeout_seconds: 300, fallback_if_mcp_unavailable: null}\n"
                f"plugins: {{slow: {{use: mcp, command: {argv}, tool: ask}}}}\n"
            )
        else:
            text = f"agents: {{duc: {{plugin: command}}}}\nplugins: {{command: {{argv: {argv}}}}}\n"
        (self._folder / "kr.yaml").write_text(text)

    def start(self, *arguments, python=("-m", "kr_core"), **options):
        """Start a command, and wait until the program that it waits for has started its own."""
        self._start([sys.executable, *python, *arguments], **options)
        return self._process

    def fork(self, *arguments):
        """The same with a forked `kr`, which takes a third of the time; the four signals that KR handles are passed on to it."""
        self._start(kr_argv(self._environ, *arguments))
        return self._process

    def _start(self, command, **options):
        self._process = subprocess.Popen(
            command,
            cwd=self._folder,
            env={**self._environ, "KR_TRUST": "all"},
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )
        self._started.append(self._process.pid)
        until(lambda: self._pids.exists() or self._process.poll() is not None)
        assert self._process.poll() is None, self._process.communicate()
        self.programs = [int(pid) for pid in self._pids.read_text().split()]
        self._started += self.programs
        assert all(map(is_running, self.programs))

    def ended(self):
        """How the command has ended and what it has said, once all that it has started has ended, too."""
        out, err = self._process.communicate(timeout=PATIENCE_SECONDS)
        until(lambda: not any(map(is_running, self.programs)))
        return self._process.returncode, (out or b"").decode(), (err or b"").decode()

    def close(self):
        for pid in self._started:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.communicate()


@pytest.fixture
def hanging(project_folder, environ):
    """Commands that hang."""
    made = Hanging(project_folder, environ)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("command", "arguments"), [("mcp", RESEARCH), ("command", ASK)], ids=["mcp", "command"]
)
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGQUIT, 131)],
    ids=str,
)
def test_a_signal_ends_what_a_command_has_started(hanging, command, arguments, number, code):
    """The program that it waits for ends, and so does what that has started; the exit code says which signal it was."""
    hanging.configure(command)
    hanging.fork(*arguments).send_signal(number)
    assert hanging.ended() == (code, "", "kr: interrupted\n")


NEVER_CLOSES = """
import sys
from kr_core import KnowledgeRouterService, Question
service = KnowledgeRouterService.open("kr.yaml")
service.route_question(Question(text="Which session store should we use?", suggested_target="duc"))
sys.stdin.read()
"""


def test_a_program_that_closes_no_service_leaves_nothing_running(hanging):
    """A program that embeds KR and ends while an agent works ends the agent's programs too, and says nothing."""
    hanging.configure("command", ignored=(signal.SIGTERM, signal.SIGHUP))
    hanging.start(python=("-c", NEVER_CLOSES), stdin=subprocess.PIPE)
    assert hanging.ended() == (0, "", "")


@pytest.mark.parametrize(
    ("command", "arguments"), [("mcp", RESEARCH), ("command", ASK)], ids=["mcp", "command"]
)
def test_programs_that_ignore_sigterm_are_ended_too(hanging, command, arguments):
    """What does not listen is killed."""
    hanging.configure(command, ignored=(signal.SIGTERM, signal.SIGHUP, signal.SIGINT))
    hanging.fork(*arguments).send_signal(signal.SIGTERM)
    assert hanging.ended()[0] == 143


@needs_subreaper
@pytest.mark.parametrize(
    ("command", "arguments"), [("mcp", RESEARCH), ("command", ASK)], ids=["mcp", "command"]
)
def test_a_kill_ends_what_a_command_has_started(hanging, command, arguments):
    """What cannot be handled leaves nothing either."""
    hanging.configure(command, ignored=(signal.SIGTERM, signal.SIGHUP, signal.SIGINT))
    hanging.start(*arguments).kill()
    assert hanging.ended()[0] == -signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2], ids=str)
def test_a_signal_that_has_no_meaning_here_ends_a_command_with_its_programs(hanging, number):
    """It would end the command alone."""
    hanging.configure("mcp")
    hanging.start(*RESEARCH).send_signal(number)
    assert hanging.ended()[0] == 128 + number


def test_a_second_signal_ends_at_once(hanging):
    """Nobody waits then, and no program is left all the same."""
    hanging.configure("mcp", ignored=(signal.SIGTERM,))
    process = hanging.start(*RESEARCH)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGTERM):
        with suppress(ProcessLookupError):
            process.send_signal(number)
    assert hanging.ended()[0] in {129, 143}


def test_in_the_background_of_a_shell(hanging):
    """Where Ctrl-C is ignored, as of a job in the background, SIGTERM ends a command with its programs all the same."""
    hanging.configure("mcp")
    ignoring = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    hanging.start(*RESEARCH, **ignoring).send_signal(signal.SIGTERM)
    assert hanging.ended()[0] == 143


def test_under_nohup(hanging):
    """A signal that is ignored stays so."""
    hanging.configure("mcp")
    process = hanging.start(*RESEARCH, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.send_signal(signal.SIGTERM)
    assert hanging.ended()[0] == 143


def test_a_terminal_that_goes(hanging):
    """When its window is closed, a command ends with its programs, and what it cannot say any more hurts nobody."""
    hanging.configure("mcp")
    ours, its = os.openpty()
    try:
        terminal = dict.fromkeys(("stdin", "stdout", "stderr"), its)
        leads = {"start_new_session": True, "preexec_fn": lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)}
        hanging.start(*RESEARCH, **terminal, **leads)
    finally:
        os.close(its)
        os.close(ours)
    assert hanging.ended()[0] == 129


@pytest.mark.parametrize("arguments", [("mcp",), ("serve", "--port", "0"), ("team",)], ids=lambda one: one[0])
def test_servers_end_in_their_own_way(project_folder, environ, arguments):
    """A server that waits for somebody ends with SIGTERM and with SIGHUP."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        process = subprocess.Popen(
            [sys.executable, "-m", "kr_core", *arguments], cwd=project_folder, env=environ,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            until(lambda process=process: catches(process.pid, signal.SIGTERM))
            process.send_signal(number)
            _out, err = process.communicate(timeout=PATIENCE_SECONDS)
            assert process.returncode in {0, 128 + number}
            assert b"Traceback" not in err
        finally:
            process.kill()
            process.communicate()


LOST = """
import os, signal, sys, weakref
from kr_core.cli.signals import Signals
signals = Signals()
signals.handle()
class Value: pass
value = Value()
callback = weakref.ref(value, lambda _gone: os.kill(os.getpid(), signal.SIGTERM))
try:
    del value
    while True:
        signal.pause()
except KeyboardInterrupt:
    sys.exit(signals.exit_code(0))
"""


def test_a_signal_that_comes_in_a_callback_is_not_lost(environ):
    """Python drops what a callback of an import or of the garbage collector raises; the program ends all the same."""
    done = subprocess.run(
        [sys.executable, "-c", LOST], env=environ, check=False, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (143, b"")


def catches(pid, number):
    """Whether a process has a handler for a signal; assumed where the system does not tell."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            caught = next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt"))
    except FileNotFoundError:
        return True
    return bool(caught >> (number - 1) & 1)


def test_another_program_keeps_its_signals(capsys, monkeypatch, project_folder):
    """A program that calls `main` with arguments has the handlers that it had before."""
    monkeypatch.chdir(project_folder)
    names = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT]
    before = [signal.getsignal(one) for one in names]
    assert main(["plugins", "--json"]) == 0
    assert [signal.getsignal(one) for one in names] == before
    capsys.readouterr()
