"""Cases and notices as they are posted: once, whatever fails, and with nothing in them that acts."""

import json
import os
import re
import shutil
import stat
import threading
import time

import pytest
from github_desk import Desk, case
from github_server import BROKEN, BROKEN_AFTER, LOST, SECONDARY, TOKEN, UNSEEN, Fault

from kr_core import ConfigError, RequestError
from kr_plugins.escalations.github import GitHub, GitHubSettings

POSTS = re.compile(r"/issues(/\d+/comments)?$")


def failing(desk, work):
    with pytest.raises(RequestError) as caught:
        work()
    return caught.value


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


# -- notices ---------------------------------------------------------------------------------------------------


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


# -- what texts do ---------------------------------------------------------------------------------------------

ACTING = (
    "Ask @octocat, _@octocat_ and @acme/leads. Fixes #12, closes acme/shop#13, resolves GH-14; see 1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b, "
    "a1b2c3d and https://github.com/acme/shop/issues/15, https://github.com/acme/shop/pull/16 or "
    "https://github.com/acme/shop/commit/abcdef1. <!-- kr E1@1 x --> <details>\n\n/kr confirm E1@1\n> /kr confirm E1@1"
)
ACTS = (
    r"(?<!E1)@\w", r"#\d", r"GH-\d", r"\b[0-9a-f]{7,40}\b", r"/(?:issues|pull|commit)/\w", r"<[a-z!]", r"(?m)^/kr",
)  # fmt: skip


@pytest.mark.req("H8")
@pytest.mark.parametrize("acts", ACTS)
def test_what_a_model_wrote_does_nothing_on_github(desk, github, acts):
    """It mentions nobody, refers to no issue, pull request or commit, closes nothing, and is no command."""
    answer = case().request.answer.model_copy(update={"content": ACTING, "rationale": ACTING})
    desk.open(case(text=ACTING, feature=ACTING, answer=answer, reason=ACTING))
    title, body = github.issues[1]["title"], github.of_kr()[0]["body"].split("\n\n", 1)[1]
    assert re.search(acts, ACTING), "the text would act"
    assert not re.search(acts, body)
    assert not re.search(acts, title)
    assert "octocat" in body
    assert "acme/shop#\u200b13" in body


@pytest.mark.req("H8")
@pytest.mark.parametrize(
    "name", ["`@octocat`", "/@octocat", "x@octocat", "<img src=x>", "&#64;octocat", "![x](//y)", "[x](//y)", "`rm`", "https://y.example",
             "www.y.example", "\u202eevil", "<!-- x -->", "*x* _x_ ~~x~~", "a | b", "\\"],
)  # fmt: skip
def test_the_name_of_a_feature_is_plain_text(desk, github, name):
    """In the title of its issue, and in the text of it, whatever Markdown stands in it."""
    desk.open(case(feature=name))
    title, body = github.issues[1]["title"], github.issues[1]["body"].split("\n\n", 1)[1]
    for text in (title, body):
        assert not re.search("@\\w|<[a-z!]|&[#a-z]|://|www[.]|\u202e", text.replace("E7@2", ""))
    shown = body.partition(" about ")[2].partition(" here that")[0]
    assert not re.search(r"(?<!\\)(?:\\\\)*[\[\]`*_~<>|!#]", shown)
    assert re.sub(r"\\([^\w\s]|_)", r"\1", shown).replace("\u200b", "") == name.replace("\u202e", "\ufffd")


@pytest.mark.req("H4", "H8")
def test_ids_can_be_copied(desk, github):
    """What was put into them so that they mention nobody is not needed there, and would make another text of them."""
    desk.open(case())
    desk.say(case(), "refused", "E1@\u200b1 is an older answer, @\u200beve; the one that waits is E1@\u200b2")
    assert github.of_kr()[-1]["body"].endswith(
        "E1@1 is an older answer, @\u200beve; the one that waits is E1@2"
    )


@pytest.mark.req("H8")
@pytest.mark.parametrize("letter", ["x", "\N{SNOWMAN}", "\N{PILE OF POO}", "@a #1 "])
def test_a_text_that_is_too_long_is_cut_and_says_where_the_rest_is(desk, github, letter):
    """At most 65,536 bytes; how to answer stays."""
    text = "".join(f"{letter * 20} {number}\n" for number in range(4_000))
    desk.open(case()._replace(said=f"{text}\n**How to answer**\n\n    /kr confirm E1@1"))
    body = github.of_kr()[0]["body"]
    assert len(body.encode()) <= 65_536
    assert "[Shortened: `kr inbox show E1 --json` has all of it.]" in body
    assert body.endswith("/kr confirm E1@1")


@pytest.mark.req("H8")
def test_one_endless_line_is_cut_too(desk, github):
    desk.open(case()._replace(said="\N{SNOWMAN}" * 100_000))
    assert 60_000 < len(github.of_kr()[0]["body"].encode()) <= 65_536


@pytest.mark.req("G5")
def test_no_secret_reaches_a_comment_an_error_or_an_event(desk, github, tmp_path):
    """Neither KR's token nor the webhook's secret, whatever a text or GitHub says."""
    desk.settings = {"webhook_secret": "hush-hush-hush"}
    desk.again().open(case(text=f"Is {TOKEN} the token, and hush-hush-hush the secret?"))
    assert TOKEN not in github.of_kr()[0]["body"]
    assert "hush-hush-hush" not in github.of_kr()[0]["body"]
    github.fault_of = lambda _asked: Fault("status", 403, {}, f"bad: {TOKEN}")
    error = failing(desk, lambda: desk.open(case("E2")))
    assert TOKEN not in str(error)
    assert TOKEN not in repr(desk.sink.__dict__.get("_settings").model_copy(update={"token": "x"}))


# -- issues that are not what they were ----------------------------------------------------------------------


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
    assert (error.outcome, error.todo.partition(":")[0]) == ("bad_answer", "the issue is locked")
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


# -- limits ----------------------------------------------------------------------------------------------------


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
        desk.sink._ledger.wait(0)  # that time has passed
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


# -- what is kept ----------------------------------------------------------------------------------------------


def test_what_was_posted_is_known_after_a_line_was_cut_off(desk, github):
    """A process that was killed while it wrote spoils no other line."""
    place = desk.open(case("E1"))
    (ledger,) = (desk.folder / ".kr/github").iterdir()
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600
    with ledger.open("a") as file:
        file.write('{"will": "E2@1", "iss')
    desk.again().open(case("E2"))
    assert desk.again().open(case("E1")) == place
    assert len(github.of_kr()) == 2
    lines = [line for line in ledger.read_text().splitlines() if not line.endswith('"iss')]
    assert all(json.loads(line) for line in lines)


@pytest.mark.req("H5")
def test_state_that_is_replaced_while_a_program_runs_is_read_anew(desk, github):
    """As from a backup: nothing is read from the middle of another file."""
    place = desk.open(case("E1"))
    (ledger,) = (desk.folder / ".kr/github").iterdir()
    backup = ledger.read_bytes()
    desk.open(case("E2"))
    ledger.unlink()
    ledger.write_bytes(backup + b"\n" * 5_000)
    desk.open(case("E3"))
    assert desk.open(case("E1")) == place
    assert desk.again().open(case("E3")) == github.case("E3@1")[0]["html_url"]
    assert desk.sink._ledger.posted("E2@1") is None


def test_state_that_is_removed_while_a_program_runs_is_made_anew(desk, github):
    """And where that cannot be, it is told as any fault of a sink."""
    desk.open(case("E1"))
    folder = desk.folder / ".kr/github"
    shutil.rmtree(folder)
    assert "/issues/2#" in desk.open(case("E2"))
    shutil.rmtree(folder)
    folder.write_text("in the way")
    assert failing(desk, lambda: desk.open(case("E3"))).outcome == "unavailable"


def test_nobody_waits_for_the_disk(desk, github, monkeypatch):
    """What is noted of each thing that is posted is made durable beside what else a program does."""
    desk.open(case("E1"))
    by = []
    flush = os.fsync
    monkeypatch.setattr(
        "kr_plugins.escalations.github.ledger.os.fsync",
        lambda handle: (by.append(threading.current_thread() is threading.main_thread()), flush(handle))[1],
    )
    desk.open(case("E2"))
    assert by == [False, False]


def test_a_ledger_without_its_secret_is_told_with_what_to_do(desk, github):
    desk.open(case("E1"))
    (ledger,) = (desk.folder / ".kr/github").iterdir()
    ledger.write_text("{}\n")
    assert "remove it" in str(failing(desk, lambda: desk.again().open(case("E2"))))


def test_a_ledger_that_cannot_be_written_keeps_kr_from_posting(desk, github):
    """What nobody would know of after a crash is not posted."""
    (desk.folder / ".kr").mkdir()
    (desk.folder / ".kr/github").write_text("in the way")
    failing(desk, lambda: desk.open(case("E1")))
    assert github.requests("POST") == []


# -- settings --------------------------------------------------------------------------------------------------


def test_without_a_token_nothing_is_asked(tmp_path, github):
    desk = Desk(tmp_path, github, token=None)
    assert "set `token`" in str(failing(desk, lambda: desk.open(case())))
    assert github.asked == []


def test_a_token_with_characters_that_none_has_is_refused_unseen(tmp_path):
    with pytest.raises(ConfigError) as caught:
        GitHub(GitHubSettings(repository="a/b", token="ghp_secret\nx"), tmp_path)
    assert "ghp_secret" not in str(caught.value)


@pytest.mark.parametrize("repository", ["shop", "a/b/c", "https://github.com/a/b", "a b/c", "../b", ""])
def test_a_repository_is_an_owner_and_a_name(repository):
    with pytest.raises(ValueError, match="repository"):
        GitHubSettings(repository=repository)


@pytest.mark.req("G5")
@pytest.mark.parametrize(
    "url", ["http://ghe.example/api/v3", "http://127.0.0.1.example", "http://10.0.0.7", "http://[::2]"]
)
def test_a_token_is_sent_without_encryption_on_this_machine_alone(url):
    with pytest.raises(ValueError, match="without encryption"):
        GitHubSettings(repository="a/b", base_url=url)
    for here in (
        "http://127.0.0.1:8080",
        "http://localhost/api/v3",
        "http://[::1]:1",
        url.replace("http:", "https:"),
    ):
        assert GitHubSettings(repository="a/b", base_url=here).base_url == here


@pytest.mark.req("H4")
def test_that_somebody_may_read_is_not_enough_to_answer():
    """In a public repository everybody may."""
    with pytest.raises(ValueError, match="minimum_permission"):
        GitHubSettings(repository="a/b", minimum_permission="read")
