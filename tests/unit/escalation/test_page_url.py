"""Where the page is served is known as long as a server lives, and no longer."""

import signal
import subprocess
import sys

import pytest

from kr_core.escalation.page_url import present
from kr_core.toolkit import served_at

pytestmark = pytest.mark.req("H2", "H7")

SERVER = """
import pathlib, sys, time
from kr_core.escalation.page_url import present
with present(pathlib.Path(sys.argv[1]), "http://127.0.0.1:8420") as mine:
    print(mine, flush=True)
    time.sleep(60)
"""


def test_a_page_is_told_of_while_it_is_served(tmp_path):
    """Not before, not afterwards; of two servers of a project the first one is told of."""
    assert served_at(tmp_path) is None
    with present(tmp_path, "http://127.0.0.1:1") as mine:
        assert mine
        assert served_at(tmp_path) == "http://127.0.0.1:1"
        with present(tmp_path, "http://127.0.0.1:2") as other:
            assert not other
            assert served_at(tmp_path) == "http://127.0.0.1:1"
    assert served_at(tmp_path) is None


def test_a_server_that_was_killed_is_not_told_of(tmp_path):
    """Its lock is gone with it, although its file is there."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, tmp_path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "True\n"
        assert served_at(tmp_path) == "http://127.0.0.1:8420"
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / "serve.json").exists()
    assert served_at(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"url": 5}', "null"])
def test_a_file_that_is_damaged_tells_of_nothing(tmp_path, text):
    """It is no reason to fail."""
    with present(tmp_path, "http://127.0.0.1:1"):
        (tmp_path / "serve.json").write_text(text)
        assert served_at(tmp_path) is None
