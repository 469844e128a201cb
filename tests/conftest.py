"""What holds for all tests."""

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile

import pytest
from hypothesis import settings

# Who starts the tests in the background or under nohup has signals ignored, and all that they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(_number, signal.SIG_DFL)

# Where PYTHONDONTWRITEBYTECODE is set each worker would compile every test again, and each of the hundreds of processes of
# `kr` all of KR. What the tests import themselves is enough: the processes read it, and write none of what tests change.
sys.dont_write_bytecode = False

# Else Python's collector looks at all that is collected here, again and again: thousands of tests that stay to the end.
gc.disable()

# An example that waits for a slow disk is no failure: speeds are measured by the bench, never by tests. CI tries the same
# examples each time; everybody else tries others in each run.
settings.register_profile("untimed", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("untimed")

# KR marks state folders as the user's own: nothing of the tester's is read or left behind, whatever makes a folder.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="kr-tests-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    """The pipelines of a test and its commands are one user's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
