"""What a cloned project can show on a terminal: text alone, which steers nothing."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import agents
from support.fork_server import kr_argv
from support.projects import PARCEL, install, make_environment

from kr_core.cli import main
from kr_core.cli.output import as_json, markdown
from kr_core.terminal_text import Screen

SECONDS = 300
"""For a child process that is waited for."""
STEERING = (
    "\x1b[31mred\x1b[8mhidden",
    "\x1b]0;title\x07",
    "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b[2J\x1b[1;1H\x1bc\x1bP$q\x1b\\",
    "\x9b31m\x9d0;title\x9c\x90\x85",
    "\x1c\x1d\x1e\x1f",
    "over\rwritten\b\b\b\x7f\x0b\x0c\0\x07",
    "\u202eturned\u202d\u202a\u202b\u202c\u2066\u2067\u2068\u2069\u206a",
    "\U000e0001\U000e0041\U000e0042\U000e007f",
)
"""ESC, CSI, OSC 0, 8 and 52, DCS, C1, separators, bare returns, bidi controls, tags."""
HARM = " ".join(STEERING)
ARGUMENT = HARM.replace("\0", "")
"""As an argument may be; a report with NUL in it counts as torn, and is not shown."""
STEERS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f\ud800-\udfff\U000e0000-\U000e007f]")
STYLE = re.compile(r"\x1b\[[0-9;]*m")
QUESTION = ("research", "How do I set the timeout of a parcel?", "--framework", "parcel")


def harmed(text):
    """A text with the characters behind its words."""
    assert "(timeout=...)`" in text
    return text.replace("(timeout=...)`", f"(timeout=...)` {ARGUMENT}")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project whose stored report, evidence, index, lessons and template hold every one of them."""
    folder = tmp_path_factory.mktemp("hostile") / "project"
    folder.mkdir()
    install(make_environment(folder), "parcel", "1.4.0", {"parcel/__init__.py": PARCEL})
    agents.project(folder, answers=(("", agents.answer(f"Use {HARM} Redis.", 65, (HARM,), HARM)),))
    time.sleep(0.03)  # a command may not trust what changed right before it began
    first = kr(folder, *QUESTION, "--json")
    assert first.returncode == 0, first.stderr
    base = folder / "knowledge-base"
    report = base / json.loads(first.stdout)["results"]["report_path"]
    report.write_text(harmed(report.read_text()), newline="")
    asked = kr(folder, "ask", agents.QUESTION, "--target", "duc", "--topic", "x\x1b[1mx")
    assert asked.returncode == 5, asked.stderr
    (folder / "templates/reports").mkdir(parents=True)
    (folder / "templates/reports/research.md.j2").write_text(f"# {{{{ topic }}}} {HARM}\n\n## Summary\n\n{{{{ summary | join }}}}\n", newline="")  # fmt: skip
    return folder


def environment(folder):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VIRTUAL_ENV", "CONDA", "KR_", "NO_COLOR"))}  # fmt: skip
    return {**kept, "KR_CACHE_DIR": str(folder.parent / "cache"), "XDG_STATE_HOME": str(folder.parent / "state"),
            "TERM": "xterm-256color", "KR_TRUST": "all"}  # fmt: skip


def kr(folder, *arguments):
    """The real command, in pipes."""
    return subprocess.run(
        kr_argv(environment(folder), *arguments), cwd=folder, env=environment(folder), capture_output=True,
        stdin=subprocess.DEVNULL, check=False, timeout=SECONDS,
    )  # fmt: skip


def on_terminal(folder, *arguments):
    """What the real command writes to a terminal, by either stream."""
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        kr_argv(environment(folder), *arguments), cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL,
        stdout=inner, stderr=inner,
    )  # fmt: skip
    os.close(inner)
    read = b""
    try:
        while piece := os.read(outer, 65536):
            read += piece
    except OSError:  # the other end is closed
        pass
    os.close(outer)
    process.wait(timeout=SECONDS)
    return read.decode(errors="surrogateescape").replace("\r\n", "\n")


def entry(folder):
    return json.loads(kr(folder, "cache", "list", "--json").stdout)[0]["id"]


COMMANDS = {
    "a hit": QUESTION,
    "a hit again": QUESTION,
    "a hit as JSON": (*QUESTION, "--json"),
    "a hit as YAML": (*QUESTION, "--yaml"),
    "new research with its own template": (*QUESTION, "--refresh"),
    "cache show": ("cache", "show", "ENTRY"),
    "cache list": ("cache", "list"),
    "cache search": ("cache", "search", "parcel"),
    "cache check": ("cache", "check"),
    "verify": ("verify", "ENTRY"),
    "log": ("log",),
    "log as CSV": ("log", "--csv"),
    "log as JSON": ("log", "--json"),
    "inbox": ("inbox", "list"),
    "a case": ("inbox", "show", "E1"),
    "a case as JSON": ("inbox", "show", "E1", "--json"),
    "plugins": ("plugins",),
    "versions": ("versions",),
    "doctor": ("doctor",),
    "a fault that quotes": ("cache", "show", ARGUMENT),
    "a wrong option": ("cache", ARGUMENT),
    "a wrong file": ("verify", ARGUMENT),
    "a route": ("route", ARGUMENT, "--explain"),
}


@pytest.mark.req("Z4")
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_from_a_project_steers_the_terminal(project, name):
    """No command lets a control character of a stored text through, in a pipe or on a terminal."""
    arguments = [entry(project) if one == "ENTRY" else one for one in COMMANDS[name]]
    piped = kr(project, *arguments)
    for said in (piped.stdout, piped.stderr):
        assert not STEERS.findall(said.decode()), said
    shown = on_terminal(project, *arguments)
    assert shown.strip()
    if name in {"a hit", "cache show", "a case"}:
        assert "\ufffd[31mred" in shown, "the text itself is shown"
    rest = re.sub(
        r"\r|\x1b\[[0-9]{0,3}[AK]|\x1b\[\?25[hl]", "", STYLE.sub("", shown)
    )  # and how progress moves
    assert not STEERS.findall(rest), rest
    for style in STYLE.findall(shown):
        assert "8" not in style[2:-1].split(";")


@pytest.mark.req("Z4")
def test_a_report_holds_nothing_that_steers(project):
    """What a project's template, or a source, puts into a report is cleaned before it is written."""
    done = kr(project, *QUESTION, "--refresh", "--json")
    report = project / "knowledge-base" / json.loads(done.stdout)["results"]["report_path"]
    text = report.read_bytes().decode()
    assert "title" in text
    assert not STEERS.findall(text)


@pytest.mark.req("Z4")
@pytest.mark.parametrize("arguments", [("--help",), ("nothing\x1b]0;x\x07",), ("-C", "\x9bno", "doctor")])
def test_the_streams_of_a_program_that_calls_kr_stay_its_own(capsys, arguments):
    """`main` cleans what it prints, and leaves the streams as it found them."""
    before = sys.stdout, sys.stderr
    main([*arguments])
    assert (sys.stdout, sys.stderr) == before
    assert not STEERS.findall("".join(capsys.readouterr()))


class Terminal(io.StringIO):
    def isatty(self):
        return True


TEXTS = st.one_of(
    st.text(st.characters(), max_size=200), st.text("\x1b[]0123456789;?m8AKHhl\r\n\x9b\x07a", max_size=60)
)


@pytest.mark.req("Z4")
@given(TEXTS)
def test_any_text_that_is_written_is_cleaned(text):
    """In a pipe newline and tab stay alone; on a terminal styles too, and where something moves, what moves it."""
    piped, shown, moving = io.StringIO(), Terminal(), Terminal()
    assert Screen(piped).write(text) == len(text)
    Screen(shown).write(text)
    Screen(moving, moving=True).write(text)
    assert not STEERS.findall(piped.getvalue())
    assert not STEERS.findall(STYLE.sub("", shown.getvalue()))
    assert not STEERS.findall(
        re.sub(r"\r|\x1b\[[0-9]{0,3}[AK]|\x1b\[\?25[hl]", "", STYLE.sub("", moving.getvalue()))
    )


@pytest.mark.req("Z4")
@given(TEXTS)
def test_any_text_as_markdown_is_cleaned(text):
    """What a report says is shown without any style of its own: even a colour is KR's alone."""
    assert not STEERS.findall(STYLE.sub("", markdown(text)))
    assert "\x1b[31m" not in markdown(f"{text}\n\n\x1b[31mred")


@pytest.mark.req("Z4")
@given(TEXTS)
def test_any_text_as_json_is_escaped_and_read_back(text):
    """JSON loses nothing, and holds no character that steers."""
    written = as_json({text: [text]})
    assert json.loads(written) == {text: [text]}
    assert not re.findall(f"{STEERS.pattern}|[\u2028\u2029]", written)


@pytest.mark.req("Z4")
def test_styles_of_kr_stay():
    """Colours reach a terminal, and what would hide a text does not."""
    shown = Terminal()
    print("\x1b[1;33mhead\x1b[0m \x1b[8mhidden\x1b[38;5;120m \x1b[1;08mtoo\x1b[m", file=Screen(shown))
    assert shown.getvalue() == "\x1b[1;33mhead\x1b[0m \ufffd[8mhidden\x1b[38;5;120m \ufffd[1;08mtoo\x1b[m\n"
