"""What the texts of a case may do on GitHub: nothing."""

import re

import pytest
from support.github_desk import case, failing
from support.github_server import TOKEN, Fault

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
    desk.open(case()._replace(message=f"{text}\n**How to answer**\n\n    /kr confirm E1@1"))
    body = github.of_kr()[0]["body"]
    assert len(body.encode()) <= 65_536
    assert "[Shortened: `kr inbox show E1 --json` has all of it.]" in body
    assert body.endswith("/kr confirm E1@1")


@pytest.mark.req("H8")
def test_one_endless_line_is_cut_too(desk, github):
    desk.open(case()._replace(message="\N{SNOWMAN}" * 100_000))
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
    assert TOKEN not in repr(desk.channel.__dict__.get("_settings").model_copy(update={"token": "x"}))
