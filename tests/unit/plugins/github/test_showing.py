"""Cases and notices as they are posted: once, whatever fails, and with nothing in them that acts."""

import re

import pytest
from support.github_desk import case, failing
from support.github_server import BROKEN, BROKEN_AFTER, LOST, TOKEN, UNSEEN, Fault

POSTS = re.compile(r"/issues(/\d+/comments)?$")


def test_a_case_is_one_comment_on_the_issue_of_its_feature(desk, github):
    """Each feature has an issue of its own; its cases are comments there, and the place is the comment's address."""
    first = desk.open(case("E1", feature="F-1"))
    desk.open(case("E2", feature="F-1"))
    desk.open(case("E3"))
    assert first == "https://github.com/acme/shop/issues/1#issuecomment-901"
    assert [one["title"] for one in github.issues.values()] == [
        "Questions about F-1 that wait for a person", "Questions that wait for a person",
    ]  # fmt: skip
    assert [int(one["issue_url"][-1]) for one in github.of_kr()] == [1, 1, 2]
    assert "/kr confirm E1@1" in github.case("E1@1")[0]["body"]


def test_requests_say_what_github_wants_to_know(desk, github):
    """The version of the API, the media type, whose token it is, and who asks."""
    desk.open(case())
    for asked in github.asked:
        assert asked.headers["x-github-api-version"] == "2026-03-10"
        assert asked.headers["accept"] == "application/vnd.github+json"
        assert asked.headers["authorization"] == f"Bearer {TOKEN}"
        assert asked.headers["user-agent"].startswith("kr")


def test_few_requests_where_nothing_can_have_gone_wrong(desk, github):
    """The second case of a feature costs one request."""
    desk.open(case("E1"))
    github.asked.clear()
    desk.open(case("E2"))
    assert [asked.method for asked in github.asked] == ["POST"]


@pytest.mark.req("H5")
def test_a_case_that_is_shown_again_is_not_posted_again(desk, github):
    """Neither by the same process nor by another one that knows nothing of the first."""
    place = desk.open(case())
    assert desk.open(case()) == place
    assert desk.again().open(case()) == place
    assert len(github.of_kr()) == 1


@pytest.mark.req("H5")
@pytest.mark.parametrize(
    "fault", [LOST, UNSEEN, BROKEN, BROKEN_AFTER], ids=["lost", "unseen", "500", "502-after"]
)
@pytest.mark.parametrize("which", [0, 1], ids=["issue", "comment"])
def test_a_request_that_was_not_answered_is_looked_for_before_it_is_sent_again(desk, github, fault, which):
    """Whether GitHub did it or not: there is one issue and one comment in the end."""
    github.faults = []
    count = iter(range(100))
    github.fault_of = lambda asked: (
        fault if asked.method == "POST" and POSTS.search(asked.path) and next(count) == which else None
    )
    failing(desk, lambda: desk.open(case()))
    desk.again().open(case())
    assert (len(github.issues), len(github.of_kr())) == (1, 1)
    assert desk.open(case()) == github.of_kr()[0]["html_url"]


@pytest.mark.req("H5")
def test_the_token_of_an_app_does_as_well(desk, github):
    """GitHub does not tell whose it is; who has posted with it is seen with the first comment."""
    github.tokens[TOKEN] = "kr-app[bot]"
    github.fault_of = lambda asked: (
        Fault("status", 403, {}, "Resource not accessible by integration") if asked.path == "/user" else
        LOST if asked.method == "POST" else None
    )  # fmt: skip
    failing(desk, lambda: desk.open(case()))
    failing(desk, lambda: desk.again().open(case()))
    github.fault_of = lambda asked: Fault("status", 403, {}, "no") if asked.path == "/user" else None
    place = desk.again().open(case())
    assert [one["html_url"] for one in github.comments.values()] == [place]
    assert len(github.issues) == 1
    desk.open(case("E2"))
    github.write("ann", 1, "/kr confirm E1@1")
    assert len(desk.poll()) == 1


@pytest.mark.req("H5")
def test_nothing_is_looked_for_after_a_refusal(desk, github):
    """What GitHub has refused was not posted."""
    desk.open(case("E1"))
    github.fault_of = lambda asked: Fault("status", 422) if asked.method == "POST" else None
    failing(desk, lambda: desk.open(case("E2")))
    github.fault_of = None
    github.asked.clear()
    desk.open(case("E2"))
    assert [asked.method for asked in github.asked] == ["POST"]


@pytest.mark.req("H5")
def test_only_a_signed_marker_in_a_comment_of_its_own_counts(desk, github):
    """Somebody who copies KR's marker, or makes one up, does not keep KR from posting."""
    desk.open(case("E1"))
    marker = github.of_kr()[0]["body"].split("\n")[0]
    github.fault_of = lambda asked: UNSEEN if asked.method == "POST" else None
    failing(desk, lambda: desk.open(case("E2")))
    github.fault_of = None
    github.write("eve", 1, "<!-- kr E2@1 00000000000000000000000000000000 -->\n")
    github.write("eve", 1, marker.replace("E1@1", "E2@1"))
    github.write("kr-bot", 1, marker.replace("E1@1", "E2@1"))
    desk.again().open(case("E2"))
    assert [one["user"]["login"] for one in github.case("E2@1")] == [
        "kr-bot",
        "kr-bot",
    ]  # the last one is signed
    assert "/kr confirm E2@1" in github.case("E2@1")[-1]["body"]


@pytest.mark.req("H5")
def test_a_comment_that_came_to_light_too_late_is_removed(desk, github):
    """A request that was carried out after another had been sent leaves one comment, not two."""
    desk.open(case("E1"))
    late = github.of_kr()[0]
    twin = github.write("kr-bot", 1, late["body"])
    assert desk.poll() == []
    assert [one["id"] for one in github.of_kr()] == [late["id"]]
    assert twin["id"] != late["id"]


@pytest.mark.req("H5")
def test_a_look_through_very_many_comments_goes_on_from_call_to_call(desk, github):
    """What may have been posted is found behind all of them, and nothing is posted again before."""
    desk.open(case("E1"))
    github.fault_of = lambda asked: UNSEEN if asked.method == "POST" else None
    failing(desk, lambda: desk.open(case("E2")))
    for _ in range(4_100):
        github.write("carl", 1, "hm")
    github.fault_of = lambda asked: LOST if asked.method == "POST" else None
    for _ in range(3):  # two that read, and the one that posts and is not answered
        failing(desk, lambda: desk.open(case("E2")))
    github.fault_of = None
    github.asked.clear()
    failing(desk, lambda: desk.open(case("E2")))
    assert len(github.asked) == 20
    failing(desk, lambda: desk.open(case("E2")))
    assert desk.open(case("E2")) == github.case("E2@1")[0]["html_url"]
    assert len(github.case("E2@1")) == 1


@pytest.mark.req("H5")
def test_what_may_have_been_posted_first_is_looked_for_from_then_on(desk, github):
    """Although it was tried again later, and other things were posted in between: the first may come to light at last."""
    desk.open(case("E1"))
    github.fault_of = lambda asked: LOST if asked.method == "POST" else None
    failing(desk, lambda: desk.open(case("E2")))
    (hidden,) = github.case("E2@1")
    del github.comments[hidden["id"]]
    github.now = github.now.replace(hour=14)
    github.fault_of = None
    desk.open(case("E3"))
    github.fault_of = lambda asked: UNSEEN if asked.method == "POST" else None
    failing(desk, lambda: desk.again().open(case("E2")))
    github.fault_of = None
    github.comments = {hidden["id"]: hidden, **github.comments}
    assert desk.again().open(case("E2")) == hidden["html_url"]
    assert len(github.case("E2@1")) == 1


@pytest.mark.req("H5")
def test_a_poll_that_sees_what_may_have_been_posted_notes_it(desk, github):
    """Nothing is looked for then, and one that comes to light later is removed."""
    desk.open(case("E1"))
    github.fault_of = lambda asked: LOST if asked.method == "POST" else None
    failing(desk, lambda: desk.open(case("E2")))
    github.fault_of = None
    assert desk.poll() == []
    github.write("kr-bot", 1, github.case("E2@1")[0]["body"])
    assert desk.poll() == []
    github.asked.clear()
    assert desk.open(case("E2")) == github.case("E2@1")[0]["html_url"]
    assert (github.asked, len(github.case("E2@1"))) == ([], 1)


@pytest.mark.req("H5")
def test_an_issue_that_may_have_been_opened_is_found_behind_many_others(desk, github):
    """Whatever case the letters of the account have in the answers."""
    github.fault_of = lambda asked: LOST if asked.method == "POST" else None
    failing(desk, lambda: desk.open(case()))
    github.fault_of = None
    github.issues[1]["user"]["login"] = "KR-Bot"
    for number in range(2, 153):
        github.issues[number] = {**github.issues[1], "number": number, "body": "another one"}
    github._list_issues = lambda _who, query, _told, asked: github._paged(
        sorted(github.issues.values(), key=lambda one: -one["number"]), query, asked
    )
    assert "/issues/1#" in desk.again().open(case())


@pytest.mark.req("H4", "H5")
def test_the_account_may_be_renamed(desk, github):
    """Its comments are KR's own as before, and what may have been posted by its new name is found."""
    desk.open(case("E1"))
    github.tokens[TOKEN] = "kr-new"
    for comment in github.comments.values():
        comment["user"]["login"] = "kr-new"
    desk.say(case("E1"), "ended", "E1 is answered")
    assert "**E1 is answered**" in next(iter(github.comments.values()))["body"]
    github.fault_of = lambda asked: LOST if asked.method == "POST" else None
    failing(desk, lambda: desk.open(case("E2")))
    github.fault_of = None
    desk.again().open(case("E2"))
    assert len(github.comments) == 2


@pytest.mark.req("H4")
def test_a_new_revision_is_a_new_comment_and_the_older_one_says_so(desk, github):
    """Whoever reads the older answer sees that it is not the one that waits."""
    place = desk.open(case())
    newer = desk.open(case(revision=2, place=place))
    older, latest = github.of_kr()
    assert newer.endswith(str(latest["id"]))
    assert f"Superseded: the answer that waits is [E1@2]({newer})" in older["body"]
    assert "Use Redis." in older["body"]
    assert "Superseded" not in latest["body"]


def test_a_revision_is_shown_also_where_the_older_one_cannot_be_changed(desk, github):
    """That is said there by courtesy: a reply to it is refused anyway."""
    place = desk.open(case())
    github.fault_of = lambda asked: BROKEN if asked.method == "PATCH" else None
    assert desk.open(case(revision=2, place=place)).endswith("902")


# -- notices -----------------------------------------------------------------------------------------------


@pytest.mark.req("H4", "H5")
def test_a_notice_is_said_once(desk, github):
    """Also where the request was not answered, and another process tries again."""
    desk.open(case())
    github.fault_of = lambda asked: LOST if asked.method == "POST" else None
    failing(desk, lambda: desk.say(case(), notice="n1", reply_to="907:1"))
    github.fault_of = None
    desk.again().say(case(), notice="n1", reply_to="907:1")
    desk.say(case(), notice="n1", reply_to="907:1")
    desk.say(case(), notice="of another kind, with spaces -->", said="Something else")
    desk.say(case(), "help", "- line 2: what\n\nWrite", "n2", reply_to="908:2")
    said = [one["body"].split("\n\n", 1)[1] for one in github.of_kr()[1:]]
    assert said == [
        "On [this comment](https://github.com/acme/shop/issues/1#issuecomment-907): E1 is answered",
        "Something else",
        "On [this comment](https://github.com/acme/shop/issues/1#issuecomment-908):\n\n- line 2: what\n\nWrite",
    ]


@pytest.mark.req("H2")
def test_that_a_case_is_over_stands_above_the_case(desk, github):
    """Nobody gets a message more; who opens the case sees it."""
    desk.open(case())
    desk.say(case(), "ended", "E1 is answered, by ada (confirm)")
    desk.again().say(case(), "ended", "E1 is answered, by ada (confirm)")
    (only,) = github.of_kr()
    assert only["body"].count("**E1 is answered, by ada (confirm)**") == 1
    assert "Use Redis." in only["body"]
    assert len(github.requests("PATCH")) == 1


def test_that_a_case_is_over_needs_no_comment_that_is_there(desk, github):
    """Where somebody has removed it there is nobody to tell, nor where it was never shown."""
    desk.open(case())
    github.comments.clear()
    desk.say(case(), "ended")
    desk.say(case("E9"), "ended")
    desk.say(case("E9"), "understood")


@pytest.mark.req("H6", "H8")
def test_a_reminder_mentions_those_who_are_configured_and_nobody_else(desk, github, tmp_path):
    """Those of the tier, or else those who may answer; what is no account is left out."""
    desk.open(case())
    desk.say(
        case(), "reminder", "E1 waits, @eve", "r1", ask=("ann", "ann@example.org", "@acme/leads", "Ann B.")
    )
    desk.settings = {"responders": ("bob", "acme/leads")}
    desk.again().say(case(), "reminder", "E1 waits", "r2")
    first, second = (one["body"] for one in github.of_kr()[1:])
    assert re.findall(r"@[A-Za-z][\w/]*", first.split("\n\n", 1)[1]) == ["@ann", "@acme/leads"]
    assert "@bob @acme/leads: E1 waits" in second
