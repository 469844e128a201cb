"""Expeditions over slow sources that are killed at random instants: the same result, and nothing is paid twice."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

DRIVER = Path(__file__).parent / "drivers/expedition.py"
SECONDS = 300


@pytest.mark.req("E8")
@pytest.mark.parametrize("kills", [10, pytest.param(50, marks=pytest.mark.faults)])
def test_killed_it_comes_to_the_same(tmp_path, kills):
    """Whenever its process is killed, axioms, answer and the rule that ended it are those of one that was left alone."""
    seed = int(os.environ.get("KR_SEED") or secrets.randbelow(10**6))
    command = [sys.executable, DRIVER, tmp_path, f"--kills={kills}", f"--seed={seed}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, f"KR_SEED={seed}\n{done.stderr}"
    told = json.loads(done.stdout)
    assert told["faults"] == [], f"KR_SEED={seed}"
    assert told["kills"] == kills, f"KR_SEED={seed}"
    assert told["paid"] > 4
    assert told["axioms"] >= 3
