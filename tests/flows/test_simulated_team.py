"""A team whose accuracy is known, taken through several features: with retrospectives accepted, and without."""

import json

import pytest
from support import simulated_team

pytestmark = pytest.mark.req("V4", "SC-006")


def shares(came):
    """Of all features but the first: accepted answers that are right, and questions put to a human."""
    right = sum(one.right for one in came[1:]) / sum(one.accepted for one in came[1:])
    return right, sum(one.escalated for one in came[1:]) / sum(one.asked for one in came[1:])


def test_a_team_with_retrospectives_is_right_more_often_and_asks_people_less(tmp_path):
    """Five features of 40 questions; `make bench` has ten, of twenty teams, and what the gate alone comes to."""
    ends = {}
    for name, more in (("without", {}), ("with", {"retros": True, "benefits": True})):
        ends[name] = shares(simulated_team.run(tmp_path / name, 1, questions=40, features=5, **more))
    assert ends["with"][0] > ends["without"][0] + 0.03
    assert ends["with"][1] < ends["without"][1] - 0.1
    written = json.loads((tmp_path / "with/kr.yaml").read_text("utf-8"))
    assert {"topic": "licences", "agent": "marie"} in written["routing"]["rules"]
    assert (
        simulated_team.SEGMENT in (tmp_path / "with" / simulated_team.TEMPLATE).read_text("utf-8").casefold()
    )
    assert (tmp_path / "with/knowledge/duc/decided-by-people.md").exists()


def test_a_team_is_the_same_each_time(tmp_path):
    """Its agents, people and questions follow from the seed; of so few answers all are drawn for a spot check."""
    first, again = (simulated_team.run(tmp_path / name, 3, questions=12, features=2) for name in "ab")
    assert first == again
