"""One knowledge base, many processes, and kills at any instant: nothing is lost, nothing is torn, nothing waits."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from kr_plugins.stores.files import Files

DRIVER = Path(__file__).parent / "drivers/mixed.py"
SECONDS = 600


@pytest.fixture
def crowd(tmp_path):
    """Eight processes with 500 operations each: `crowd(kills=20)`; the seed is KR_SEED or a new one, and is printed."""
    seed = int(os.environ.get("KR_SEED") or secrets.randbelow(10**6))
    print(f"KR_SEED={seed}")

    def run(**options):
        folder = tmp_path / "crowd" / "knowledge-base"
        folder.parent.mkdir()
        arguments = [f"--{key}" if value is True else f"--{key}={value}" for key, value in options.items()]
        command = [sys.executable, DRIVER, folder, f"--seed={seed}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0, f"KR_SEED={seed}\n{done.stderr}"
        told = json.loads(done.stdout)
        assert told["faults"] == [], f"KR_SEED={seed}\n{done.stderr}"
        return folder, told

    return run


def leftovers(folder):
    """Temporary files that are still there once somebody has written."""
    store = Files(folder)
    first = store.entries()[0]
    store.write(*store.read(first), first)
    return [file.name for file in folder.rglob(".*") if file.is_file()]


@pytest.mark.req("K8", "K6", "Z7")
def test_killed_at_any_instant(crowd):
    """While 20 processes are killed at random instants every operation that was confirmed holds, and the index can be read."""
    folder, told = crowd(kills=20)
    assert told["kills"] == 20
    assert told["parsed"] > 20
    assert leftovers(folder) == []


@pytest.mark.faults
@pytest.mark.req("K8", "K6", "Z7")
@pytest.mark.parametrize("fair", [False, True], ids=["as they come", "in turn"])
def test_killed_very_often(crowd, fair):
    """After 200 kills the same holds; what they cost is measured by `make bench`, where nothing else is at work."""
    folder, told = crowd(kills=200, **({"fair": True} if fair else {}))
    assert told["kills"] == 200
    assert leftovers(folder) == []
