# ruff: noqa: INP001, S603  a script, not a package; it starts KR and a browser with arguments of its own
"""Take the pictures of the docs: `python tools/screenshots.py` writes docs/images, from the real program.

The terminal is a pseudo-terminal whose colours rich exports as SVG; the page is `kr serve` in a headless Chromium, if there is one.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

IMAGES = Path(__file__).parents[1] / "docs" / "images"
KR = (sys.executable, "-m", "kr_core")
WIDTH = 110
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUESTION = "How do I set a timeout for a single request in httpx?"
DECISION = "Which session store should we use?"
PROJECT = {
    "kr.yaml": "agents: {duc: {plugin: command}}\nplugins: {command: {argv: [cat, '{project-root}/answer.json']}}\n",
    "answer.json": """{"answer": "Keep sessions in Redis, for one hour.", "rationale": "All our services run there.",
        "confidence": 65, "uncertainty_reasons": ["It is not known whether Redis may lose a session."]}""",
}
"""An agent that is a program, and not sure enough."""
ENVIRON = {**os.environ, "KR_TRUST": "all", "LOGNAME": "ann"}


def typed(folder: Path, *arguments: str) -> str:
    """What `kr` shows on a terminal, with its colours."""
    reader, writer = pty.openpty()
    environ = {**ENVIRON, "COLUMNS": str(WIDTH), "LINES": "60", "TERM": "xterm-256color"}
    with subprocess.Popen(
        [*KR, *arguments],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.DEVNULL,
    ):
        os.close(writer)
        shown = b""
        while part := _read(reader):
            shown += part
    os.close(reader)
    return shown.decode("utf-8", "replace").replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the program has ended
        return b""


def draw(name: str, title: str, shown: str) -> None:
    """Write what a terminal showed as an SVG."""
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f"$ {title}\n{shown.rstrip()}"))
    text = console.export_svg(title=title, unique_id=name)
    # The font comes from the reader's machine: the docs load nothing from elsewhere.
    text = re.sub(r"\s*@font-face \{.*?\}", "", text, flags=re.DOTALL)
    (IMAGES / f"{name}.svg").write_text("\n".join(map(str.rstrip, text.splitlines())) + "\n", "utf-8")


def photograph(folder: Path, name: str, path: str) -> bool:
    """Write a picture of a page of `kr serve`; False where there is no browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return False
    with subprocess.Popen(
        [*KR, "serve", "--port", "0"],
        cwd=folder,
        env=ENVIRON,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+?/", line)))
            urllib.request.urlopen(address, timeout=10).close()  # noqa: S310  our own server on this machine
            options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1000,910"]
            command = [browser, *options, f"--screenshot={IMAGES / name}.png", f"{address}{path}"]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
        finally:
            server.terminate()
    return True


def main() -> int:
    """Ask, escalate and take the pictures, in a scratch folder."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        draw("research", f'kr research "{QUESTION}"', typed(folder, "research", QUESTION))
        for name, text in PROJECT.items():
            (folder / name).write_text(text, "utf-8")
        typed(folder, "ask", DECISION, "--topic", "authentication")
        if not photograph(folder, "page", "cases/E1"):
            print("no Chromium: the picture of the page stays as it was")
    return 0


if __name__ == "__main__":
    sys.exit(main())
