"""Polls: everything is read once, a bounded part at a time, whatever fails or is odd."""

import json

import pytest
from support.github_desk import Desk, case, unclear, understood
from support.github_server import BROKEN, REPOSITORY, Fault
from support.loopback import Answer

from kr_core import RequestError


@pytest.mark.req("H4")
def test_a_poll_is_one_conditional_request_for_the_whole_repository(shown, github):
    """Whatever the number of cases and issues; where nothing has changed, GitHub counts it not even."""
    for number in range(2, 9):
        shown.open(case(f"E{number}", feature=f"F-{number}"))
    shown.poll()
    shown.poll()  # the first one with this mark, which tells the ETag
    mark = shown.mark
    for _ in range(3):
        github.asked.clear()
        shown.poll()
        (asked,) = github.asked
        assert asked.headers["if-none-match"]
        assert asked.path == f"/repos/{REPOSITORY}/issues/comments"
        assert asked.query["sort"] + asked.query["direction"] + asked.query["per_page"] == [
            "updated",
            "asc",
            "100",
        ]
    assert shown.mark == mark


def test_nothing_shown_nothing_asked(desk, github):
    assert desk.poll() == []
    assert github.asked == []


@pytest.mark.req("H5")
def test_what_was_not_put_on_record_is_brought_again_as_the_same(shown, github):
    """The mark that is given decides, not what the process remembers."""
    github.write("ann", 1, "/kr confirm E1@1")
    first = shown.poll(keep=False)
    assert shown.again().poll(keep=False) == first


def test_clocks_that_differ_do_not_matter(tmp_path, github):
    """Times are GitHub's own, years away from ours."""
    github.now = github.now.replace(year=2019)
    desk = Desk(tmp_path, github)
    desk.open(case("E1"))
    github.write("ann", 1, "/kr confirm E1@1")
    assert len(desk.poll()) == 1
    assert github.requests(path="issues/comments")[0].query["since"][0].startswith("2019-")


@pytest.mark.req("H5", "H7")
def test_a_reply_to_a_case_that_nobody_has_noted_yet_waits_for_it(desk, github):
    """A process was killed after it had posted a case and before that was kept: meanwhile others are read, and then this one."""
    desk.open(case("E1"))
    desk.open(case("E2", feature="F-2"))
    kept = {name: desk.shown.pop(name) for name in ("E1", "E2")}
    desk.open(case("E3"))
    github.write("ann", 1, "/kr confirm E1@1\n\n/kr confirm E3@1")
    github.write("ann", 2, "/kr confirm")
    assert [one.escalation_id for one in desk.poll()] == ["E3"]
    for _ in range(200):
        github.write("carl", 1, "hm")
    assert desk.poll() == []
    desk.shown.update(kept)
    assert {(one.escalation_id, one.response.action) for one in desk.again().poll()} == {
        ("E1", "confirm"), ("E2", "confirm"), ("E3", "confirm"),
    }  # fmt: skip
    assert desk.poll() == []


@pytest.mark.req("H4")
def test_a_reply_to_a_case_that_was_over_long_ago_is_brought_so_that_it_is_refused(desk, github):
    """By itself, and with a case that its writer can be told by."""
    desk.open(case("E1"))
    desk.shown.clear()
    github.now = github.now.replace(month=3)
    desk.open(case("E2"))
    github.write("ann", 1, "/kr confirm E1@1")
    (reply,) = desk.poll()
    assert (reply.escalation_id, reply.beside) == ("E1", "E2")


@pytest.mark.req("H5", "H7")
def test_a_comment_that_answers_several_cases_waits_until_the_last_is_noted(desk, github):
    """Whichever of them is noted first."""
    for name in ("E1", "E2", "E3"):
        desk.open(case(name))
    kept = {name: desk.shown.pop(name) for name in ("E1", "E2")}
    github.write("ann", 1, "/kr confirm E1@1\n\n/kr confirm E2@1")
    assert desk.poll() == []
    desk.shown["E2"] = kept["E2"]
    assert [one.escalation_id for one in desk.again().poll()] == ["E2"]
    desk.shown["E1"] = kept["E1"]
    assert {one.escalation_id for one in desk.again().poll()} == {"E1", "E2"}
    assert desk.poll() == []


@pytest.mark.req("H5")
def test_a_poll_that_has_no_time_left_tells_what_it_has_read_and_goes_on_there(shown, github):
    """A service may be slow: what was read counts, and no time limit ends a case meanwhile."""
    logins = [f"ann{number}" for number in range(6)]
    for login in logins:
        github.permissions[login] = "write"
        github.write(login, 1, "/kr confirm E1@1")
    found, polls = [], 0
    while polls < 10:
        found += shown.poll(requests=4)
        polls += 1
        if shown.complete:
            break
    assert [one.response.by for one in found] == logins
    assert polls > 2


def test_a_comment_that_comes_to_light_late_is_read(shown, github):
    """GitHub has many servers: one may tell of a comment after a younger one was told."""
    late = github.write("ann", 1, "/kr confirm E1@1")
    del github.comments[late["id"]]
    github.write("ann", 1, "/kr correct E1@1 Use Postgres.")
    assert len(shown.poll()) == 1
    github.comments[late["id"]] = late
    assert understood(shown.poll()) == [("ann", "confirm", "")]


def test_ten_thousand_comments_are_read_a_bounded_part_at_a_time(shown, github):
    """Of any kind; no reply among them is lost, none comes twice, and no poll takes more than a few requests."""
    for number in range(10_000):
        github.write(
            "ann" if number % 1000 == 999 else "carl", 1, "/kr confirm E1@1" if number % 1000 == 999 else "hm"
        )
    found, polls = [], 0
    while polls < 30:
        github.asked.clear()
        found += shown.poll()
        polls += 1
        assert len(github.asked) <= 12
        assert shown.complete == (polls > 10)
        if len(github.asked) == 1 and github.asked[0].headers.get("if-none-match"):
            break
    assert len({one.external_id for one in found}) == len(found) == 10
    assert polls < 15


def test_many_comments_of_one_second_are_read_too(shown, github):
    """As after an import: time tells nothing there, so pages are counted."""
    github._tick = lambda: github.now.strftime("%Y-%m-%dT%H:%M:%SZ")
    for number in range(2_500):
        github.write("ann" if number == 2_400 else "carl", 1, "/kr confirm E1@1" if number == 2_400 else "hm")
    found = []
    for _ in range(4):
        found += shown.poll()
    assert len(found) == 1


def test_a_comment_that_changes_while_pages_are_read_hides_no_other(shown, github):
    """What is changed goes to the end, and all behind it move up by one."""
    talk = [github.write("carl", 1, "hm") for _ in range(150)]
    wanted = github.write("ann", 1, "/kr confirm E1@1")
    for _ in range(150):
        github.write("carl", 1, "hm")

    def edit(asked):
        if asked.path.endswith("/issues/comments"):
            for one in talk[:60]:
                github.edit(one["id"], "hm, hm")
            del talk[:60]

    github.fault_of = edit
    found = [one for _ in range(3) for one in shown.poll()]
    assert [one.external_id for one in found] == [f"{wanted['id']}:1"]


def test_a_reply_of_a_megabyte_and_pages_of_them(shown, github):
    """They come in smaller pages; whatever GitHub's limit is, the replies of others are read."""
    for _ in range(9):
        github.write("ann", 1, f"/kr correct E1@1 {'x' * 1_000_000}")
    github.write("ann", 1, "/kr choose E1@1 B")
    found = [one for _ in range(4) for one in shown.poll()]
    assert [one[1] for one in understood(found)] == ["correct"] * 9 + ["choose"]


def test_what_was_read_before_a_failure_is_not_read_again(shown, github):
    """And where nothing was, the failure is told."""
    github.write("ann", 1, "/kr confirm E1@1")
    github.write("bob", 1, "/kr confirm E1@1")
    github.fault_of = lambda asked: Fault("status", 403, {}, "no") if "bob/permission" in asked.path else None
    assert understood(shown.poll()) == [("ann", "confirm", "")]
    assert not shown.complete
    github.asked.clear()
    with pytest.raises(RequestError):
        shown.poll()
    assert github.requests(path="ann/permission") == []
    github.fault_of = None
    assert unclear(shown.poll()) == [("bob", "refused")]


def test_a_failure_in_passing_is_told_and_loses_nothing(shown, github):
    github.write("ann", 1, "/kr confirm E1@1")
    github.fault_of = lambda asked: BROKEN if asked.path.endswith("/comments") else None
    with pytest.raises(RequestError) as caught:
        shown.poll()
    assert caught.value.outcome == "unavailable"
    github.fault_of = None
    assert len(shown.poll()) == 1


@pytest.mark.parametrize(
    "mark", ["{", "[]", '{"since":1}', '{"since":"","skip":0,"etag":"","seen":[]}', "nonsense"]
)
def test_a_mark_that_cannot_be_read_is_the_first_one(shown, github, mark):
    github.write("ann", 1, "/kr confirm E1@1")
    shown.mark = mark
    assert len(shown.poll()) == 1


def test_without_its_state_a_project_asks_github_when_a_case_was_shown(shown, github):
    """The place that is on record is enough to find replies."""
    github.write("ann", 1, "/kr confirm E1@1")
    (ledger,) = (shown.folder / ".kr/github").iterdir()
    ledger.unlink()
    assert len(shown.again().poll()) == 1
    assert len(github.requests(path=r"issues/comments/901$")) == 1


@pytest.mark.parametrize(
    "odd",
    [
        {"user": None}, {"user": {"login": "a b"}}, {"user": []}, {"id": "7"}, {"id": True},
        {"issue_url": "https://x/issues/1x"}, {"body": None}, {"body": 7}, {"created_at": None}, {"updated_at": "yesterday"},
    ],
    ids=json.dumps,
)  # fmt: skip
def test_what_is_no_comment_hides_no_other(shown, github, odd):
    """Comments of accounts that are gone, and whatever else there may be."""
    comment = github.write("ann", 1, "/kr correct E1@1 x")
    github.comments[comment["id"]].update(odd)
    github.write("ann", 1, "/kr confirm E1@1")
    github._list_all_comments = lambda _who, query, _told, asked: github._paged(
        list(github.comments.values()), query, asked
    )
    assert understood(shown.poll()) == [("ann", "confirm", "")]


def test_the_issue_may_stand_in_the_address_alone(shown, github):
    comment = github.write("ann", 1, "/kr confirm E1@1")
    github.comments[comment["id"]]["issue_url"] = None
    assert understood(shown.poll()) == [("ann", "confirm", "")]


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b"[" * 100_000, b"[1, null, [], {}]"])
def test_an_answer_that_is_no_list_of_comments_is_told(shown, github, body):
    github._listed = lambda _found, _query, _asked: Answer(200, body, {"Content-Type": "application/json"})
    if body.startswith(b"[1"):
        assert shown.poll() == []
        return
    with pytest.raises(RequestError) as caught:
        shown.poll()
    assert caught.value.outcome == "bad_answer"
