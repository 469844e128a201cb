"""Replies as they are read: from the issue where a case was shown, new, of people who may answer; each told once."""

import json

import pytest
from github_desk import Desk, case
from github_server import BROKEN, REPOSITORY, Fault
from loopback import Answer

from kr_core import HumanReply, RequestError, Shown, Unclear


@pytest.fixture
def shown(desk):
    desk.open(case("E1"))
    return desk


def understood(replies):
    return [
        (one.response.by, one.response.action, one.response.content)
        for one in replies
        if isinstance(one, HumanReply)
    ]


def unclear(replies):
    return [(one.by, one.kind) for one in replies if isinstance(one, Unclear)]


@pytest.mark.req("H3", "H4")
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("/kr confirm E1@1", ("confirm", "")),
        ("/KR Confirm e1", ("confirm", "")),
        (
            "Well.\r\n\r\n/kr correct E1@1 Use Postgres.\r\nWe run it.",
            ("correct", "Use Postgres.\nWe run it."),
        ),
        ("/kr context We have 40 servers.", ("add_context", "We have 40 servers.")),
        ("/kr choose E1@1 B", ("choose", "B")),
        ("/kr correct\n```\n/kr confirm E1\n```", ("correct", "/kr confirm E1")),
    ],
)
def test_a_command_is_read(shown, github, text, meant):
    comment = github.write("ann", 1, text)
    (reply,) = shown.poll()
    assert (reply.response.action, reply.response.content) == meant
    assert (reply.response.by, reply.escalation_id) == ("ann", "E1")
    assert reply.external_id.startswith(f"{comment['id']}:")
    assert shown.poll() == []


@pytest.mark.req("H4")
@pytest.mark.parametrize(
    "text",
    [
        "this can't be confirmed",
        "> /kr confirm E1@1",
        "```\n/kr confirm E1@1\n```",
        "    /kr confirm E1@1",
        "<!--\n/kr confirm E1@1\n-->",
        "I would /kr confirm E1@1",
        "<details>\n/kr confirm E1@1\n</details>",
        "",
    ],
)
def test_talk_quotes_and_code_are_no_replies(shown, github, text):
    """And nobody is looked up because of them."""
    github.write("ann", 1, text)
    assert shown.poll() == []
    assert github.requests(path="permission") == []


@pytest.mark.req("H4")
def test_several_commands_in_one_comment_are_each_a_reply(shown, github):
    shown.open(case("E2"))
    github.write("ann", 1, "/kr confirm E1@1\n\n/kr correct E2@1 Use Postgres.")
    replies = shown.poll()
    assert [(one.escalation_id, one.response.action) for one in replies] == [
        ("E1", "confirm"),
        ("E2", "correct"),
    ]
    assert len({one.external_id for one in replies}) == 2


@pytest.mark.req("H4")
def test_what_cannot_be_understood_gets_help_once_for_each_mistake(shown, github):
    """Once for each comment, with what is wrong and what to write, by the case that is meant; the same words not again."""
    shown.open(case("E2"))
    texts = ("/kr corect E2@1 x", "/kr confirm E7@1\n\n/kr correct E1@1", "/kr confirm E1@1 but use TLS")
    for text in (*texts, *texts):
        github.write("ann", 1, text)
    verb, several, prose = shown.poll()
    assert {(one.kind, one.by) for one in (verb, several, prose)} == {("help", "ann")}
    assert [one.escalation_id for one in (verb, several, prose)] == ["E2", "E1", "E1"]
    assert "did you mean `correct`" in verb.said
    assert "/kr confirm E2@1" in verb.said
    assert "there is no E7" in several.said
    assert "`correct` needs a text" in several.said
    assert "stands alone" in prose.said
    assert not any(line.startswith("/kr") for line in verb.said.splitlines())


@pytest.mark.req("H4")
def test_a_reply_to_a_case_that_is_decided_is_brought_so_that_it_is_refused(shown, github):
    shown.shown["E1"] = shown.shown["E1"]._replace(waits=False)
    github.write("ann", 1, "/kr confirm E1@1")
    assert understood(shown.poll()) == [("ann", "confirm", "")]


@pytest.mark.req("H3")
def test_the_wish_to_talk_is_brought_for_the_case_that_it_names(shown, github):
    """Whether it can be granted is not the sink's to say: the case may be decided already."""
    shown.open(case("E2"))
    github.write("ann", 1, "/kr confirm E1@1\n\n/kr chat E2")
    assert [(one.escalation_id, one.response.action, one.response.revision) for one in shown.poll()] == [
        ("E1", "confirm", 1), ("E2", "chat", 1),
    ]  # fmt: skip


# -- attacks ---------------------------------------------------------------------------------------------------


@pytest.mark.req("H4")
def test_an_edited_comment_decides_nothing(shown, github):
    """Not one that was talk when it was read, nor one that was edited before; who may answer is told to write anew."""
    talk = github.write("ann", 1, "Let me think.")
    assert shown.poll() == []
    github.edit(talk["id"], "/kr confirm E1@1")
    assert unclear(shown.poll()) == [("ann", "edited")]
    quick = github.write("ann", 1, "/kr corect E1@1")
    github.edit(quick["id"], "/kr confirm E1@1")
    assert unclear(shown.poll()) == [("ann", "edited")]


@pytest.mark.req("H4", "H5")
def test_an_edit_after_a_reply_was_read_changes_nothing(shown, github):
    """Neither what it said, nor is anything told."""
    comment = github.write("ann", 1, "/kr confirm E1@1")
    assert understood(shown.poll()) == [("ann", "confirm", "")]
    github.edit(comment["id"], "/kr correct E1@1 Use Postgres.")
    assert shown.poll() == []


@pytest.mark.req("H4")
def test_bots_are_not_heard_and_get_no_answer(shown, github):
    """Two programs that answer each other would go on for ever."""
    github.write("helper[bot]", 1, "/kr confirm E1@1")
    github.write("helper[bot]", 1, "/kr nonsense")
    assert shown.poll() == []


@pytest.mark.req("H4")
def test_what_an_app_wrote_for_somebody_is_refused(shown, github):
    github.write("ann", 1, "/kr confirm E1@1", performed_via_github_app={"id": 7, "slug": "an-agent"})
    (only,) = shown.poll()
    assert (only.kind, "by an app" in only.said) == ("refused", True)


@pytest.mark.req("H4", "H5")
def test_kr_does_not_hear_itself(shown, github):
    """Not its own comments, whatever stands in them, nor the account of its token unless that is named."""
    github.write("kr-bot", 1, f"{github.of_kr()[0]['body'].splitlines()[0]}\n\n/kr confirm E1@1")
    github.permissions["kr-bot"] = "admin"
    github.write("kr-bot", 1, "/kr confirm E1@1")
    replies = shown.poll()
    assert understood(replies) == []
    assert unclear(replies) == [("kr-bot", "refused")]
    assert "name it in `responders`" in replies[0].said


@pytest.mark.req("H4")
def test_the_account_of_the_token_may_answer_where_it_is_named(tmp_path, github):
    """As one person has it who works alone, with a token of their own."""
    desk = Desk(tmp_path, github, responders=["kr-bot"])
    desk.open(case("E1"))
    assert desk.poll() == []
    github.write("kr-bot", 1, "/kr confirm E1@1")
    assert understood(desk.poll()) == [("kr-bot", "confirm", "")]


@pytest.mark.req("H4")
def test_a_forged_marker_hides_no_comment(shown, github):
    """A person's comment is read whatever it begins with."""
    marker = github.of_kr()[0]["body"].splitlines()[0]
    github.write("ann", 1, f"{marker}\n\n/kr confirm E1@1")
    assert understood(shown.poll()) == [("ann", "confirm", "")]


@pytest.mark.req("H4")
def test_a_reply_without_a_revision_means_the_one_that_was_seen(shown, github):
    """Not a newer answer that came before the reply was read; one to an older revision says so itself."""
    github.write("ann", 1, "/kr confirm E1")
    github.write("ann", 1, "/kr confirm")
    shown.open(case(revision=2, place=shown.shown["E1"].place))
    github.write("ann", 1, "/kr confirm E1@1")
    github.write("ann", 1, "/kr confirm")
    assert [one.response.revision for one in shown.poll()] == [1, 1, 1, 2]


@pytest.mark.req("H4")
def test_a_reply_that_is_older_than_its_case_means_none_of_its_answers(desk, github):
    """Somebody may guess the next id; what they have not seen they cannot confirm."""
    desk.open(case("E1"))
    github.write("ann", 1, "/kr confirm E2")
    desk.open(case("E2"))
    (reply,) = desk.poll()
    assert (reply.escalation_id, reply.response.revision) == ("E2", 0)


@pytest.mark.req("H4", "H5")
@pytest.mark.parametrize("is_late", [False, True], ids=["first", "put off"])
def test_a_reply_without_an_id_never_means_a_case_that_came_later(desk, github, is_late):
    """One case waits, somebody confirms it; before that is read it is decided elsewhere and another one is put."""
    desk.open(case("E1"))
    if is_late:
        kept = desk.shown.pop("E1")
        desk.open(case("E3", feature="F-3"))
    github.write("ann", 1, "/kr confirm")
    if is_late:
        assert desk.poll() == []
        desk.shown["E1"] = kept
    desk.shown["E1"] = desk.shown["E1"]._replace(waits=False)
    desk.open(case("E2"))
    (reply,) = desk.again().poll()
    assert (reply.escalation_id, reply.response.revision) == ("E1", 1)


@pytest.mark.req("H4")
def test_a_reply_without_an_id_means_no_case_that_was_over_when_it_was_written(shown, github):
    """Where that was known on GitHub; else it has to say which."""
    shown.shown["E1"] = shown.shown["E1"]._replace(waits=False)
    shown.open(case("E2"))
    github.write("ann", 1, "/kr confirm")
    (unsure,) = shown.poll()
    assert "several wait, so say which: E1, E2" in unsure.said
    github.write("ann", 1, "/kr confirm")
    assert [one.escalation_id for one in shown.again().poll() if isinstance(one, HumanReply)] == ["E2"]


@pytest.mark.req("H4")
def test_without_its_state_a_reply_older_than_its_case_confirms_nothing(desk, github):
    """The place on record says which comment it was, so it is never unknown what was seen."""
    desk.open(case("E1"))
    github.write("ann", 1, "/kr confirm E2")
    desk.open(case("E2"))
    github.write("ann", 1, "/kr confirm E2")
    (ledger,) = (desk.folder / ".kr/github").iterdir()
    ledger.unlink()
    assert [(one.escalation_id, one.response.revision) for one in desk.again().poll()] == [
        ("E2", 0), ("E2", 1),
    ]  # fmt: skip


@pytest.mark.req("H4")
def test_only_the_issue_counts_in_which_a_case_was_shown(shown, github):
    """A case of another feature is not decided there, nor anything on an issue that KR knows nothing of."""
    shown.open(case("E2", feature="F-2"))
    github.write("ann", 1, "/kr confirm E2@1")
    github.write("ann", 7, "/kr confirm E1@1")
    (only,) = shown.poll()
    assert "there is no E2; waiting: E1" in only.said


@pytest.mark.req("H4")
def test_places_of_another_repository_are_none(shown, github):
    """Where `repository` was changed, an issue of the same number is another one."""
    elsewhere = f"https://github.com/{REPOSITORY}-old/issues/1#issuecomment-5"
    shown.shown = {"E5": Shown("E5", 1, elsewhere, waits=True), "E6": Shown("E6", 1, "terminal", waits=True)}
    github.write("ann", 1, "/kr confirm E5@1")
    assert shown.poll() == []


# -- who may answer --------------------------------------------------------------------------------------------


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
    assert "may not see who is in `acme/leads`" in refused.said
    assert reply.response.by == "dora"


@pytest.mark.req("H4")
def test_who_may_not_answer_is_refused_politely_and_once(shown, github):
    """Also where they write nonsense: they get no help with what is not theirs to do."""
    github.write("bob", 1, "/kr confirm E1@1")
    github.write("bob", 1, "/kr nonsense")
    (only,) = shown.poll()
    assert only.kind == "refused"
    assert only.said.startswith("`bob` may not answer here: it takes the permission `write`")


# -- polls -----------------------------------------------------------------------------------------------------


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
