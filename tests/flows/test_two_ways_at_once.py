"""Two humans who answer at the same instant by two ways: one decides, the other is told, each time."""

import asyncio
import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from support.agents import QUESTION
from support.asked import Says, record, said
from support.boards import Board, Wall, service

from kr_core import AsyncKnowledgeRouterService, Pipeline, Question
from kr_core.config import given

pytestmark = pytest.mark.req("H2", "H5")

RACES = 300
AT_ONCE = 50


@pytest.fixture
def in_memory(tmp_path):
    """A folder whose files are in memory, where the system has such: it is not the disk that is raced for."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def test_of_two_ways_exactly_one_decides(in_memory):
    """Hundreds of cases, each answered on two boards, which two services look at together: one answer, and the other is told whose."""
    board, wall = Board(), Wall()
    with service(in_memory, board, wall, duc=Says(said(confidence=65))) as made:
        made.ask(Question(text=QUESTION, topic="authentication"))
        first = made.cases.get("E1")
        for number in range(2, RACES + 1):
            request = first.request.model_copy(update={"id": f"E{number}"})
            assert made.cases.keep(first._replace(request=request, version=1))

    async def race():
        values = {"logs": [], "escalations": ["board", "wall"]}
        loaded = given(values, in_memory, environ={"KR_CACHE_DIR": str(in_memory / "cache")})
        by_board = AsyncKnowledgeRouterService(Pipeline(loaded, escalations=[board]))
        by_wall = AsyncKnowledgeRouterService(Pipeline(loaded, escalations=[wall]))
        async with by_board, by_wall:
            for first in range(1, RACES + 1, AT_ONCE):
                board.written, wall.written = [], []
                for number in range(first, first + AT_ONCE):
                    board.write(f"E{number}", "correct", "Use Postgres.", by="ann", external=f"b{number}")
                    wall.write(f"E{number}", "correct", "Use Redis.", by="bob", external=f"w{number}")
                wall.written.reverse()  # they meet in the middle
                await asyncio.gather(by_board.tend(), by_wall.tend())

    asyncio.run(race())
    both = {"logs": [], "escalations": ["board", "wall"]}
    with service(in_memory, board, wall, config=both) as made:
        made.tend()
        won = Counter(made.cases.get(f"E{number}").resolution.by for number in range(1, RACES + 1))
        applied = Counter(data["applied"] for kind, data in record(made) if kind == "human.replied")
        answers = {
            made.cases.get(f"E{n}").resolution.by: made.cases.get(f"E{n}").answer.content
            for n in range(1, RACES + 1)
        }
    assert answers == {"ann": "Use Postgres.", "bob": "Use Redis."}, "nothing was raced for"
    assert sum(won.values()) == RACES
    assert applied == {True: RACES, False: RACES}
    for one, mine, theirs in ((board, "ann", "bob"), (wall, "bob", "ann")):
        kinds = Counter(notice.kind for _, notice in one.notices)
        assert kinds["understood"] == won[mine]
        assert kinds["refused"] == min(won[theirs], kinds["refused"])
        refused = [notice.message for _, notice in one.notices if notice.kind == "refused"]
        assert all(f"by {theirs} (correct)" in said for said in refused)
        told = {name for name, notice in one.notices if notice.kind in {"refused", "ended"}}
        assert len(told) == won[theirs], "each of those who lost is told"
