"""Replies as they are read: from the issue where a case was shown, new, of people who may answer; each told once."""

import pytest
from support.github_desk import Desk, case, unclear, understood
from support.github_server import REPOSITORY

from kr_core.plugin import HumanReply, OpenCase


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
    assert "did you mean `correct`" in verb.message
    assert "/kr confirm E2@1" in verb.message
    assert "there is no E7" in several.message
    assert "`correct` needs a text" in several.message
    assert "stands alone" in prose.message
    assert not any(line.startswith("/kr") for line in verb.message.splitlines())


@pytest.mark.req("H4")
def test_a_reply_to_a_case_that_is_decided_is_brought_so_that_it_is_refused(shown, github):
    shown.shown["E1"] = shown.shown["E1"]._replace(waits=False)
    github.write("ann", 1, "/kr confirm E1@1")
    assert understood(shown.poll()) == [("ann", "confirm", "")]


@pytest.mark.req("H3")
def test_the_wish_to_talk_is_brought_for_the_case_that_it_names(shown, github):
    """Whether it can be granted is not the channel's to say: the case may be decided already."""
    shown.open(case("E2"))
    github.write("ann", 1, "/kr confirm E1@1\n\n/kr chat E2")
    assert [(one.escalation_id, one.response.action, one.response.revision) for one in shown.poll()] == [
        ("E1", "confirm", 1), ("E2", "chat", 1),
    ]  # fmt: skip


# -- attacks -----------------------------------------------------------------------------------------------


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


@pytest.mark.req("H4", "H5")
@pytest.mark.parametrize("request_", ["permission", "comments"])
def test_a_comment_edited_while_it_is_read_counts_as_it_was_read(shown, github, request_):
    """The text that was read first is the reply, whole and once; the later text is none, whether it comes on a later page or poll."""
    comment = github.write("ann", 1, "/kr correct E1@1 Use Redis.\n\nIt is quick.")
    for _ in range(100):
        github.write("ann", 1, "Well.")
    pages = []

    def edit(asked):
        pages.append(asked.path)
        if asked.path.endswith(request_) and pages.count(asked.path) == 2 - (request_ == "permission"):
            github.edit(comment["id"], "/kr correct E1@1 Use Postgres.\n\n/kr confirm E1@1")

    github.fault_of = edit
    assert understood(shown.poll()) == [("ann", "correct", "Use Redis.\n\nIt is quick.")]
    github.fault_of = None
    assert "Postgres" in github.comments[comment["id"]]["body"]
    assert shown.poll() == []
    assert shown.again().poll() == []


@pytest.mark.req("H4", "H5")
def test_a_comment_edited_within_the_second_it_was_written_counts_as_it_was_read(shown, github):
    """GitHub's times tell nothing of such an edit; the text that was read first is the reply."""
    comment = github.write("ann", 1, "/kr correct E1@1 Use Redis.")
    assert understood(shown.poll()) == [("ann", "correct", "Use Redis.")]
    github.comments[comment["id"]]["body"] = "/kr correct E1@1 Use Postgres."
    assert shown.poll() == []
    assert shown.again().poll() == []


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
    assert (only.kind, "by an app" in only.message) == ("refused", True)


@pytest.mark.req("H4", "H5")
def test_kr_does_not_hear_itself(shown, github):
    """Not its own comments, whatever stands in them, nor the account of its token unless that is named."""
    github.write("kr-bot", 1, f"{github.of_kr()[0]['body'].splitlines()[0]}\n\n/kr confirm E1@1")
    github.permissions["kr-bot"] = "admin"
    github.write("kr-bot", 1, "/kr confirm E1@1")
    replies = shown.poll()
    assert understood(replies) == []
    assert unclear(replies) == [("kr-bot", "refused")]
    assert "name it in `responders`" in replies[0].message


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
    shown.open(case(revision=2, place=shown.shown["E1"].location))
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
    assert "several wait, so say which: E1, E2" in unsure.message
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
    assert "there is no E2; waiting: E1" in only.message


@pytest.mark.req("H4")
def test_places_of_another_repository_are_none(shown, github):
    """Where `repository` was changed, an issue of the same number is another one."""
    elsewhere = f"https://github.com/{REPOSITORY}-old/issues/1#issuecomment-5"
    shown.shown = {
        "E5": OpenCase("E5", 1, elsewhere, waits=True),
        "E6": OpenCase("E6", 1, "terminal", waits=True),
    }
    github.write("ann", 1, "/kr confirm E5@1")
    assert shown.poll() == []
