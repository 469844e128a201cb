"""Collections made by the real ChromaDB, once for all tests; skipped where it is not installed."""

import importlib.util
import json
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from chromas import FILL, RECORDS


@pytest.fixture(scope="session")
def chromadb():
    """It is installed; a test that needs it is skipped otherwise."""
    if importlib.util.find_spec("chromadb") is None:
        pytest.skip("chromadb is not installed (half a gigabyte): pip install 'kr-source-chroma[folder]'")
    return True


@pytest.fixture(scope="session")
def filled(chromadb, tmp_path_factory):
    """The folder of a PersistentClient with `RECORDS` in the collection `handbook`."""
    folder = tmp_path_factory.mktemp("chroma") / "data"
    assert chromadb
    _fill(folder)
    return folder


@pytest.fixture
def project(filled, tmp_path):
    """A project with that folder."""
    shutil.copytree(filled, tmp_path / "data/chroma")
    return tmp_path


@pytest.fixture(scope="session")
def server(chromadb, tmp_path_factory):
    """A real Chroma server with the same; its address."""
    assert chromadb
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    program = Path(sys.executable).with_name("chroma")
    folder = tmp_path_factory.mktemp("served")
    command = [program, "run", "--path", folder / "data", "--host", "127.0.0.1", "--port", str(port)]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as running,  # noqa: S603  ChromaDB's own
    ):
        url = f"http://127.0.0.1:{port}"
        try:
            _wait(f"{url}/api/v2/heartbeat", running)
            _fill(url)
            yield url
        finally:
            running.terminate()


def _fill(place):
    """Have ChromaDB fill a folder or server, in a process of its own."""
    subprocess.run([sys.executable, "-c", FILL, str(place), json.dumps(RECORDS)], check=True)  # noqa: S603  the text above


def _wait(url, running, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert running.poll() is None, "the server has ended"
        try:
            if httpx.get(url).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise TimeoutError(url)
