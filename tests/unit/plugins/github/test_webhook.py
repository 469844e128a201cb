"""Calls of GitHub: only with its signature over the very bytes, once, and with the same questions asked as in a poll."""

import hashlib
import hmac
import json
import subprocess
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from support import mcp_servers
from support.github_desk import Desk, case, understood
from support.github_server import BOT, TOKEN

from kr_core import RequestError
from kr_core.plugin import OpenCase

SECRET = "a secret that nobody guesses"
EXAMPLES = "@octokit/webhooks-examples@7.6.1"
METHODS = "@octokit/webhooks-methods@6.0.0"


@pytest.fixture
def desk(tmp_path, github):
    desk = Desk(tmp_path, github, webhook_secret=SECRET)
    desk.open(case("E1"))
    return desk


def call(comment, delivery="d-1", **more):
    told = {
        "action": "created",
        "issue": {"number": 1},
        "comment": comment,
        "repository": {"full_name": "Acme/shop"},
    }
    return signed({**told, **more}, delivery)


def signed(told, delivery="d-1", event="issue_comment"):
    body = told if isinstance(told, bytes) else json.dumps(told).encode()
    return headers_for(body, delivery, event), body


def headers_for(body, delivery="d-1", event="issue_comment"):
    return {
        "x-github-event": event, "x-github-delivery": delivery, "content-type": "application/json",
        "x-hub-signature-256": f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}",
    }  # fmt: skip


def refused(desk, headers, body):
    with pytest.raises(RequestError) as caught:
        desk.receive(headers, body)
    return caught.value


@pytest.mark.req("Z6", "H4")
def test_a_new_comment_is_read_as_in_a_poll(desk, github):
    """By the same path, with the permission as it is now; the poll that follows tells the same reply."""
    comment = github.write("ann", 1, "/kr confirm E1@1")
    (reply,) = desk.receive(*call(comment))
    assert (reply.response.by, reply.response.action) == ("ann", "confirm")
    assert len(github.requests(path="ann/permission")) == 1
    assert [one.external_id for one in desk.poll()] == [reply.external_id]
    (refusal,) = desk.receive(*call(github.write("bob", 1, "/kr confirm E1@1"), "d-2"))
    assert refusal.kind == "refused"


@pytest.mark.req("H4", "H5")
def test_a_comment_edited_while_its_call_is_under_way_counts_as_it_was_delivered(desk, github):
    """The signed text is the reply; the poll that follows neither reads the later one nor says that edits are not read."""
    comment = github.write("ann", 1, "/kr correct E1@1 Use Redis.")
    headers, body = call(comment)
    github.edit(comment["id"], "/kr correct E1@1 Use Postgres.")
    assert understood(desk.receive(headers, body)) == [("ann", "correct", "Use Redis.")]
    assert desk.poll() == []


@pytest.mark.req("Z6", "H5")
def test_a_call_that_is_delivered_again_tells_nothing(desk, github):
    headers, body = call(github.write("ann", 1, "/kr confirm E1@1"))
    assert len(desk.receive(headers, body)) == 1
    assert desk.receive(headers, body) == []
    assert len(desk.again().receive(headers, body)) == 1, "another process brings the same, with the same id"


@pytest.mark.req("Z6")
def test_a_call_that_failed_is_taken_when_it_is_delivered_again(desk, github):
    headers, body = call(github.write("ann", 1, "/kr confirm E1@1"))
    github.tokens.clear()
    refused(desk, headers, body)
    github.tokens[TOKEN] = BOT
    assert len(desk.receive(headers, body)) == 1


@pytest.mark.req("Z6")
@pytest.mark.parametrize(
    "signature", [None, "", "sha256=", f"sha256={'0' * 64}", "sha1=x", "sha256=\N{SNOWMAN}"]
)
def test_without_the_right_signature_nothing_is_read(desk, github, signature):
    headers, body = call(github.write("ann", 1, "/kr confirm E1@1"))
    if signature is None:
        del headers["x-hub-signature-256"]
    else:
        headers["x-hub-signature-256"] = signature
    error = refused(desk, headers, body)
    assert (error.outcome, SECRET in str(error)) == ("blocked", False)
    assert github.requests(path="permission") == []


@pytest.mark.req("Z6")
def test_a_body_that_was_written_anew_is_not_what_was_signed(desk, github):
    """The same JSON with other spaces is another text."""
    headers, body = call(github.write("ann", 1, "/kr confirm E1@1"))
    desk.channel.verify(headers, body)
    with pytest.raises(RequestError):
        desk.channel.verify(headers, body + b" ")
    assert refused(desk, headers, json.dumps(json.loads(body), indent=1).encode()).outcome == "blocked"
    assert refused(desk, headers, body + b" ").outcome == "blocked"


@pytest.mark.req("Z6")
def test_without_a_secret_no_call_is_taken(tmp_path, github):
    """Also not one that is signed with an empty secret."""
    desk = Desk(tmp_path, github)
    desk.open(case("E1"))
    body = b"{}"
    headers = headers_for(body)
    headers["x-hub-signature-256"] = f"sha256={hmac.new(b'', body, hashlib.sha256).hexdigest()}"
    assert "set `webhook_secret`" in str(refused(desk, headers, body))


@pytest.mark.req("Z6")
def test_a_form_is_refused_with_what_to_set(desk, github):
    """GitHub can send the same as a form, which is another content type at the webhook."""
    _, body = call(github.write("ann", 1, "/kr confirm E1@1"))
    form = b"payload=" + quote(body).encode()
    headers = {**headers_for(form), "content-type": "application/x-www-form-urlencoded"}
    error = refused(desk, headers, form)
    assert (error.outcome, error.hint) == (
        "bad_answer",
        "set the webhook's content type to `application/json`",
    )


@pytest.mark.req("H4")
@pytest.mark.parametrize(
    "change",
    [{"action": "edited"}, {"action": "deleted"}, {"action": None}, {"repository": {"full_name": "eve/shop"}},
     {"repository": None}, {"comment": None}, {"comment": []}],
    ids=json.dumps,
)  # fmt: skip
def test_other_calls_tell_nothing(desk, github, change):
    comment = github.write("ann", 1, "/kr confirm E1@1")
    assert desk.receive(*call(**{"comment": comment, **change})) == []


@pytest.mark.req("H4")
def test_other_events_and_edited_comments_tell_nothing(desk, github):
    comment = github.write("ann", 1, "/kr confirm E1@1")
    assert desk.receive(*signed({"zen": "Keep it logically awesome."}, event="ping")) == []
    assert desk.receive(*call({**comment, "updated_at": "2026-02-06T00:00:00Z"})) == []
    assert desk.receive(*call({**comment, "user": {"login": "x[bot]", "type": "Bot"}}, "d-3")) == []


@pytest.mark.parametrize("body", [b"", b"[]", b"nonsense", b"[" * 100_000, b"\xff\xfe"])
def test_a_signed_call_that_is_no_object_is_told(desk, body):
    assert refused(desk, *signed(body)).outcome == "bad_answer"


# -- GitHub's own examples -------------------------------------------------------------------------------------


def examples():
    folder = mcp_servers.npm("webhooks-examples", EXAMPLES)
    told = json.loads(next(Path(folder).rglob("api.github.com/index.json")).read_text())
    return next(one["examples"] for one in told if one["name"] == "issue_comment")


@pytest.mark.req("Z6")
def test_examples_of_github_are_read(tmp_path, github):
    """Of its examples of `issue_comment` those of new comments, and no others; they hold no commands."""
    found = examples()
    assert {one["action"] for one in found} >= {"created", "edited", "deleted"}
    for number, told in enumerate(found):
        repository = told["repository"]["full_name"]
        desk = Desk(tmp_path / str(number), github, webhook_secret=SECRET, repository=repository)
        place = f"{told['issue']['html_url']}#issuecomment-1"
        desk.shown = {"E1": OpenCase("E1", 1, place, waits=True)}
        assert desk.receive(*signed(told)) == []
        told["comment"]["body"] = "/kr confirm E1@1"
        told["comment"]["updated_at"] = told["comment"]["created_at"]
        told["comment"]["performed_via_github_app"] = None
        replies = permitted(desk, signed(told, "d-2"))
        is_new = told["action"] == "created" and told["comment"]["user"]["type"] == "User"
        assert len(replies) == is_new, told["action"]


def permitted(desk, call):
    """What a call tells, where GitHub says that everybody may write."""

    def respond(request):
        if request.url.path.endswith("/permission"):
            return httpx.Response(200, json={"permission": "write", "role_name": "write"})
        return httpx.Response(200, json={"login": "kr-bot"})

    async def work(context):
        return await desk.channel.receive(list(desk.shown.values()), *call, context)

    return desk.call(work, respond).replies


@pytest.mark.req("Z6")
def test_signatures_of_githubs_own_library_are_taken(desk, github):
    """`sign` of @octokit/webhooks-methods signs as GitHub does; text beyond ASCII too."""
    module = mcp_servers.npm("webhooks-methods", METHODS)
    _, body = call(github.write("ann", 1, "/kr correct E1@1 Größer \N{SNOWMAN} \N{PILE OF POO}"))
    script = (
        f"import {{sign, verify}} from {json.dumps(str(next(module.rglob('dist-node/index.js'), module)))};"
        "let text = ''; process.stdin.setEncoding('utf8'); for await (const part of process.stdin) text += part;"
        f"const signed = await sign({json.dumps(SECRET)}, text);"
        f"console.log(JSON.stringify([signed, await verify({json.dumps(SECRET)}, text + ' ', signed)]));"
    )
    ran = subprocess.run(
        [mcp_servers.newer_node(), "--input-type=module", "-e", script],
        input=body,
        capture_output=True,
        check=True,
    )
    signature, also_with_a_space = json.loads(ran.stdout)
    assert also_with_a_space is False
    headers = {**headers_for(b""), "x-hub-signature-256": signature}
    (reply,) = desk.receive(headers, body)
    assert reply.response.content == "Größer \N{SNOWMAN} \N{PILE OF POO}"
    assert refused(desk, headers, body + b" ").outcome == "blocked"
