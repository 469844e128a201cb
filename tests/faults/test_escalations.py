"""Questions put to people on GitHub by processes that are killed, while GitHub fails: each is asked once, each reply applied once."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

DRIVER = Path(__file__).parent / "drivers/escalations.py"
SECONDS = 600


@pytest.mark.req("H5", "H7")
@pytest.mark.parametrize(
    ("kills", "escalations"), [(12, 20), pytest.param(100, 100, marks=pytest.mark.faults)]
)
def test_each_question_is_asked_once_and_each_reply_applied_once(tmp_path, kills, escalations):
    """Killed before posting, between posting and saving, and while a reply is applied; refused, cut off and answered too late."""
    seed = int(os.environ.get("KR_SEED") or secrets.randbelow(10**6))
    print(f"KR_SEED={seed}")
    command = [
        sys.executable, DRIVER, tmp_path / "project", f"--seed={seed}", f"--kills={kills}", f"--escalations={escalations}",
    ]  # fmt: skip
    environ = {**os.environ, "KR_CACHE_DIR": str(tmp_path / "cache"), "KR_TRUST": "all"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environ)
    assert done.returncode == 0, f"KR_SEED={seed}\n{done.stderr}"
    told = json.loads(done.stdout)
    assert told["faults"] == [], f"KR_SEED={seed}\n{done.stderr}"
    assert (told["kills"], told["cases"]) == (kills, escalations)
    assert told["again"] <= 1, (
        "what was posted is not looked for; once in a while a request may be done too late"
    )
