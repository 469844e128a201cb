"""Who may answer on GitHub."""

import pytest
from support.github_desk import Desk, case, unclear, understood
from support.github_server import Fault


@pytest.mark.req("H4")
@pytest.mark.parametrize(
    ("has", "needs", "may"),
    [
        ("write", "write", True),
        ("maintain", "write", True),
        ("triage", "write", False),
        ("triage", "triage", True),
        ("read", "triage", False),
        ("maintain", "maintain", True),
        ("write", "maintain", False),
        ("none", "triage", False),
        ("our-reviewers", "write", True),
        ("our-reviewers", "maintain", False),
    ],
)
def test_the_permission_in_the_repository_decides(tmp_path, github, has, needs, may):
    """As GitHub has it now; a role of the organisation's own counts as what it is made of."""
    desk = Desk(tmp_path, github, minimum_permission=needs)
    desk.open(case("E1"))
    github.permissions["cleo"] = has
    github.write("cleo", 1, "/kr confirm E1@1")
    replies = desk.poll()
    assert bool(understood(replies)) == may
    assert bool(unclear(replies)) != may


@pytest.mark.req("H4")
def test_a_permission_that_was_taken_away_counts_no_longer(shown, github):
    """It is asked for in each poll, and in one poll once for each person."""
    shown.open(case("E2"))
    github.write("ann", 1, "/kr confirm E1@1")
    github.write("ann", 1, "/kr confirm E2@1")
    assert len(understood(shown.poll())) == 2
    assert len(github.requests(path="ann/permission")) == 1
    github.permissions["ann"] = "read"
    github.write("ann", 1, "/kr confirm E1@1")
    assert unclear(shown.poll()) == [("ann", "refused")]


@pytest.mark.req("H4")
def test_who_is_named_may_answer_and_nobody_else(tmp_path, github):
    """By login, in any case of its letters, or as a member of a team; no permission helps others, nor do they need any."""
    desk = Desk(tmp_path, github, responders=["Dora", "@acme/leads", "acme/ops"])
    desk.open(case("E1"))
    github.teams = {"acme/leads": {"finn"}, "acme/ops": {"gus"}}
    github.permissions["ann"] = "admin"
    for login in ("dora", "finn", "gus", "ann"):
        github.write(login, 1, "/kr confirm E1@1")
    replies = desk.poll()
    assert [by for by, _, _ in understood(replies)] == ["dora", "finn", "gus"]
    assert unclear(replies) == [("ann", "refused")]


@pytest.mark.req("H4")
def test_a_team_that_the_token_may_not_see_lets_nobody_in_and_holds_nobody_up(tmp_path, github):
    desk = Desk(tmp_path, github, responders=["acme/leads", "dora"])
    desk.open(case("E1"))
    github.fault_of = lambda asked: Fault("status", 403, {}, "no") if "/teams/" in asked.path else None
    github.write("finn", 1, "/kr confirm E1@1")
    github.write("dora", 1, "/kr confirm E1@1")
    refused, reply = desk.poll()
    assert "may not see who is in `acme/leads`" in refused.message
    assert reply.response.by == "dora"


@pytest.mark.req("H4")
def test_who_may_not_answer_is_refused_politely_and_once(shown, github):
    """Also where they write nonsense: they get no help with what is not theirs to do."""
    github.write("bob", 1, "/kr confirm E1@1")
    github.write("bob", 1, "/kr nonsense")
    (only,) = shown.poll()
    assert only.kind == "refused"
    assert only.message.startswith("`bob` may not answer here: it takes the permission `write`")
