"""Real processes that are killed, and real file systems that are full or read-only."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

DRIVERS = Path(__file__).parent / "drivers"


@pytest.fixture
def driver():
    """Start a driver, `driver(name, *arguments)`; what still runs at the end is killed."""
    running = []

    def start(name, *arguments):
        command = [sys.executable, DRIVERS / f"{name}.py", *map(str, arguments)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def killed(driver):
    """Run a driver and kill it: `killed(seconds, name, *arguments)`, counted from its first line.

    Negative seconds count from its start. Returns the lines that it printed.
    """

    def run(seconds, name, *arguments):
        process = driver(name, *arguments)
        # Pipes are read by hand: a line that was read ahead would be lost to `communicate`.
        first = b"" if seconds < 0 else os.read(process.stdout.fileno(), 4096)
        if not first and seconds >= 0:
            pytest.fail(f"the driver ended by itself: {process.communicate()[1].decode()}")
        time.sleep(abs(seconds))
        assert process.poll() is None, process.stderr.read().decode()
        process.kill()
        out, _ = process.communicate()
        # A line that was cut off was not a promise.
        return (first + out).decode().rpartition("\n")[0].split()

    return run


@pytest.fixture
def mounted(tmp_path):
    """Mount a small file system: `mounted(size)`; skips where that is not permitted."""
    folder = tmp_path / "mounted"
    folder.mkdir()

    def mount(size):
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"a file system cannot be mounted here: {done.stderr.strip()}")
        return folder

    yield mount
    if folder.is_mount():
        subprocess.run(["umount", folder], check=True)


@pytest.fixture
def read_only():
    """Make a mounted file system read-only."""

    def remount(folder):
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)

    return remount
