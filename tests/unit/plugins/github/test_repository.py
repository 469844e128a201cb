"""Issues that are gone, closed or locked, tokens that have expired, and limits: what KR does then."""

import time

import pytest
from support.github_desk import case, failing
from support.github_server import SECONDARY, Fault

# -- issues that are not what they were --------------------------------------------------------------------


@pytest.mark.parametrize("status", [404, 410, 301])
def test_an_issue_that_is_gone_is_opened_anew(desk, github, status):
    """Deleted or transferred: the next case comes to a new issue, also within one process."""
    desk.open(case("E1"))
    github.delete_issue(1, status)
    place = desk.open(case("E2"))
    assert place.startswith("https://github.com/acme/shop/issues/2#")
    github.delete_issue(2, status)
    assert desk.again().open(case("E3")).startswith("https://github.com/acme/shop/issues/3#")


def test_a_case_whose_issue_is_gone_is_shown_again_with_the_next_reminder(desk, github):
    """And replies are read there, although the place on record is the old one."""
    place = desk.open(case("E1"))
    github.delete_issue(1)
    desk.say(case("E1", place=place), "reminder", "E1 waits", "r1")
    assert github.of_kr(2)[0]["body"].split("\n\n")[1].startswith("# E1@1")
    github.write("ann", 2, "/kr confirm E1@1")
    assert [one.response.by for one in desk.poll()] == ["ann"]


def test_a_notice_to_an_issue_that_is_gone_is_for_nobody(desk, github):
    desk.open(case("E1"))
    github.delete_issue(1)
    desk.say(case("E1"), "understood")
    assert github.of_kr() == []


def test_a_repository_that_is_gone_is_no_issue_that_is_gone(desk, github):
    """Nothing is forgotten where a token may not see the repository for a while."""
    desk.open(case("E1"))
    github.fault_of = lambda asked: Fault("status", 404) if asked.path != "/user" else None
    error = failing(desk, lambda: desk.open(case("E2")))
    assert "see that `repository` is right" in str(error)
    github.fault_of = None
    assert desk.open(case("E2")).startswith("https://github.com/acme/shop/issues/1#")


def test_a_closed_issue_is_opened_again_for_a_new_case(desk, github):
    desk.open(case("E1"))
    github.issues[1]["state"] = "closed"
    desk.again().open(case("E2"))
    assert github.issues[1]["state"] == "open"


def test_an_issue_that_is_closed_while_a_program_runs_is_opened_again(desk, github, monkeypatch):
    """Some minutes later: who runs for months looks now and then."""
    desk.open(case("E1"))
    github.issues[1]["state"] = "closed"
    now = time.monotonic
    monkeypatch.setattr("kr_plugins.escalations.github.time.monotonic", lambda: now() + 301)
    desk.open(case("E2"))
    assert github.issues[1]["state"] == "open"
    github.asked.clear()
    desk.open(case("E3"))
    assert len(github.asked) == 1


def test_a_locked_issue_is_told_with_what_to_do(desk, github):
    """As a fault of that case alone, which is posted once the issue is unlocked."""
    desk.open(case("E1"))
    github.locked.add(1)
    error = failing(desk, lambda: desk.open(case("E2")))
    assert (error.outcome, error.hint.partition(":")[0]) == ("bad_answer", "the issue is locked")
    github.locked.clear()
    desk.open(case("E2"))
    assert len(github.case("E2@1")) == 1


def test_a_token_that_has_expired_is_told_with_what_to_do(desk, github):
    desk.open(case("E1"))
    github.tokens.clear()
    error = failing(desk, lambda: desk.open(case("E2")))
    assert error.outcome == "blocked"
    assert "set another as `token`" in str(error)
    assert failing(desk, desk.poll).outcome == "blocked"


# -- limits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        (Fault("status", 403, {"retry-after": "17"}), 17),
        (Fault("status", 403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1770293400"}), 600),
        (SECONDARY, 60),
        (Fault("status", 429, {}), 60),
    ],
    ids=["retry-after", "reset", "secondary", "429"],
)
def test_limits_are_kept_by_all_processes_of_the_project(desk, github, fault, seconds):
    """So long as GitHub says, by its own clock; at least a minute where it does not say. Meanwhile nothing is sent."""
    desk.open(case("E1"))
    github.now = github.now.replace(hour=12, minute=0, second=0)  # 2026-02-05T12:00:00Z is 1770292800
    github.faults = [fault]
    error = failing(desk, lambda: desk.open(case("E2")))
    assert error.outcome == "limited"
    assert f"left alone for {seconds} s" in str(error)
    assert error.seconds == seconds
    github.asked.clear()
    again = failing(desk, lambda: desk.again().open(case("E2")))
    assert (again.outcome, github.asked) == ("limited", [])


def test_secondary_limits_one_after_the_other_double_the_pause(desk, github):
    desk.open(case("E1"))
    for seconds in (60, 120, 240):
        github.faults = [SECONDARY]
        desk.channel._ledger.wait(0)  # that time has passed
        assert f"left alone for {seconds} s" in str(failing(desk, lambda: desk.open(case("E2"))))


def test_writes_are_a_second_apart_where_there_are_limits(desk, github, monkeypatch):
    """And as fast as they go where the server tells of none."""
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr("kr_plugins.escalations.github.client.asyncio.sleep", sleep)
    desk.open(case("E1"))
    assert slept == []
    github.limited = True
    desk.open(case("E2"))
    desk.open(case("E3"))
    assert len(slept) == 1
    assert 0.5 < slept[0] <= 1
