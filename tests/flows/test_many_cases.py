"""Ten thousand questions wait: what looks through them, and what asks for one of them, stays small and quick."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from support.agents import QUESTION
from support.asked import Says, said
from support.boards import Board, service

from kr_core import Question

pytestmark = pytest.mark.req("H7", "S1")

MANY = 10_000
MAX_MEGABYTES = 200
LOOKS = """
import json, re, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from support.agents import QUESTION
from support.asked import Says, said
from support.boards import Board, service
from kr_core import Question
from kr_core.escalation import render as showing

rendered = []
render = showing.render
showing.render = lambda *given, **values: rendered.append(values["id"]) or render(*given, **values)
board = Board()
with service(Path(sys.argv[1]), board, duc=Says(said(confidence=65))) as made:
    made.tend()
    idle = [len(rendered), list(board.calls)]
    for number in range(1, 5):
        board.write(f"E{number * 2000}", "confirm", revision=1)
    tended = made.tend()
    told = sorted(set(rendered))
    waiting, closed = made.cases.ids()
    page = [case.request.id for case in made.cases.page(limit=3, after="E5000")]
    asked = made.ask(Question(id="named", text=QUESTION, topic="authentication"))
    again = made.cases.waiting_of([("general", "named"), ("general", "of the old")])
# `ru_maxrss` would have what the test's own process had when it started this one.
megabytes = int(re.search(r"VmHWM:\\s+([0-9]+) kB", Path("/proc/self/status").read_text())[1]) / 1024
print(json.dumps([idle, tended.applied, told, len(waiting), closed, page, [case.request.id for case in again], megabytes]))
"""


def test_ten_thousand_wait(tmp_path):
    """One look asks the channel once and shows nothing anew; a reply costs what one costs; memory is bounded."""
    with service(tmp_path, Board(), duc=Says(said(confidence=65))) as made:
        made.ask(Question(text=QUESTION, topic="authentication", context="A shop. " * 500))
        kept = made.pipeline.journal.document("escalation", "E1")
    text = json.dumps(kept.data)
    journal = sqlite3.connect(tmp_path / ".kr" / "journal.sqlite")
    with journal:
        journal.executemany(
            "INSERT INTO documents (kind, key, status, version, data) VALUES ('escalation', ?, 'notified', 1, ?)",
            ((f"E{n}", text.replace('"id": "E1"', f'"id": "E{n}"')) for n in range(2, MANY + 1)),
        )
        journal.execute("UPDATE counters SET number = ? WHERE kind = 'escalation'", (MANY,))
    journal.close()
    done = subprocess.run(
        [sys.executable, "-c", LOOKS, str(tmp_path), str(Path(__file__).parents[1])],
        capture_output=True, text=True, check=False, timeout=120, env={**os.environ, "KR_CACHE_DIR": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    idle, applied, rendered, waiting, closed, page, again, megabytes = json.loads(done.stdout)
    assert idle == [0, ["poll"]], "what nothing is due for is not rendered"
    decided = ["E2000", "E4000", "E6000", "E8000"]
    assert (applied, rendered, closed) == (4, decided, decided)
    assert waiting == MANY - 4
    assert page == ["E5001", "E5002", "E5003"]
    assert again == [f"E{MANY + 1}"]
    assert megabytes <= MAX_MEGABYTES
