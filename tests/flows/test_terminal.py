"""What a person sees on a terminal."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest
from support.fork_server import kr_argv

from kr_core.cli.output import ProgressLine, _as_it_is
from kr_core.model import Event

ASK = ("research", "How do I set the timeout of a parcel?", "--framework", "parcel")


def on_a_terminal(command, columns, **options):
    """What a command prints on a terminal so wide, without its colours."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(command, stdin=inner, stdout=inner, stderr=subprocess.DEVNULL, **options)
    os.close(inner)
    read = b""
    try:
        while piece := os.read(outer, 65536):
            read += piece
    except OSError:  # the other end is closed
        pass
    os.close(outer)
    assert process.wait(timeout=300) == 0
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", read.decode()).replace("\r\n", "\n")


@pytest.mark.req("Z4")
@pytest.mark.parametrize("columns", [0, 100])
def test_an_answer_on_a_terminal(project_folder, environ, columns):
    """A locator keeps its underscores, and a terminal that reports no columns shows the whole answer too."""
    command = kr_argv(environ, *ASK)
    shown = [on_a_terminal(command, columns, cwd=project_folder, env=environ) for _ in range(2)]
    for text in shown:
        assert "parcel/__init__.py:" in text
        assert "Confidence: " in text


def rendered(text):
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(width=90, color_system=None)
    with console.capture() as captured:
        console.print(Markdown(_as_it_is(text)))
    return [line.strip() for line in captured.get().splitlines() if line.strip()]


@pytest.mark.parametrize(
    "prose",
    [
        "a __init__.py and *args, **kwargs, snake_case_name",
        "<script>alert(1)</script> and <b> > c",
        r"C:\new and \* and \\ end",
        "[link](https://example.org) ![image](x)",
        "&amp; &lt; ~~gone~~ a | b",
        "a lone ` and __two__",
        "> no quotation",
    ],
)
def test_prose_is_shown_as_it_is(prose):
    """Nothing in prose is markup, also in the list of sources."""
    assert rendered(f"# Title\n\n**Confidence: high**\n\n{prose}\n\n    {prose}\n")[-2:] == [prose, prose]
    assert rendered(f"# Title\n\n**Confidence: high**\n\n- [1] {prose}\n")[-1] == f"\u2022 [1] {prose}"


def test_marks_that_stay():
    """Code is shown as code, the second paragraph is bold, and a citation at a line's start begins a line."""
    text = "# a_b_c\n\n**Confidence: high**\n\nSee `a_b*` and ``c`d``\n[1] x\n\n```python\nf(*a, **_b)\n```\n[2] _y_\n"
    shown = rendered(text)
    assert shown[0].strip("\u2500\u2501\u2503\u2551\u2502 ") in {"", "a_b_c"}
    assert "Confidence: high" in shown
    assert shown[-4:] == ["See a_b* and c`d", "[1] x", "f(*a, **_b)", "[2] _y_"]


@pytest.mark.req("Z4")
@pytest.mark.parametrize(
    "reason", ["answered [/b]", "[link=https://example.org]here[/link]", "[red]list[int][/red]"]
)
def test_progress_shows_what_a_service_says_as_it_is(monkeypatch, reason):
    """Nothing in it is markup: no address behind a word, no colours, and no end of the line that moves."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    said = {"source": "a", "outcome": "unavailable", "passages": 0, "reason": reason, "remembered": False}
    with ProgressLine(quiet=False, verbose=False) as progress:
        progress.show(Event("source.finished", "run", said))
    assert reason in shown.getvalue()
