"""KR and the GitHub on loopback keep to GitHub's own description; people answer with a client that is not KR's."""

import httpx
import pytest
from support.github_desk import Desk, case
from support.github_prism import prism
from support.github_server import REPOSITORY, TOKEN, github_server

from kr_core.plugin import HumanReply, UnparsedReply

pytestmark = pytest.mark.req("H2", "H4")


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    with github_server() as server, prism(server, tmp_path_factory.mktemp("described")) as address:
        server.permissions.update(ann="maintain", bob="triage")
        server.teams["acme/leads"] = {"finn"}
        yield server, address


def test_all_that_kr_asks_and_is_answered_is_as_github_describes_it(described, tmp_path):
    """Cases, revisions, notices, replies, permissions, teams, and what follows a request that was lost."""
    server, address = described
    desk = Desk(tmp_path, server, base_url=address)
    place = desk.open(case("E1"))
    assert desk.poll() == []
    issue = int(place.partition("/issues/")[2].partition("#")[0])

    def as_person(login, text):
        return server.repository_of(login).get_issue(issue).create_comment(text)

    as_person("ann", "/kr correct E1@1 Use Postgres.")
    as_person("bob", "/kr confirm E1@1")
    correct, refused = desk.poll()
    assert isinstance(correct, HumanReply)
    assert isinstance(refused, UnparsedReply)
    desk.say(case("E1"), "understood", "E1 is answered, by ann (correct)", "n1", reply_to=correct.external_id)
    desk.say(case("E1"), "ended", "E1 is answered, by ann (correct)")
    desk.say(case("E1"), "reminder", "E1 waits", "n2", ask=("ann",))
    desk.open(case("E1", revision=2, place=place))
    desk.settings["responders"] = ("acme/leads",)
    desk.again()
    as_person("finn", "/kr confirm E1@2")
    as_person("ann", "/kr confirm E1@2")
    assert [one.by if isinstance(one, UnparsedReply) else one.response.by for one in desk.poll()] == [
        "finn",
        "ann",
    ]
    for _ in range(2):
        assert desk.poll() == []
    desk.channel._ledger.will_post(
        "E2@1", issue, "2026-02-05T12:00:00Z"
    )  # a process was killed in the middle of it
    desk.open(case("E2"))
    desk.channel._ledger.will_post("issue:F-9", 0, "2026-02-05T12:00:00Z")
    desk.open(case("E3", feature="F-9"))
    server.issues[issue]["state"] = "closed"
    desk.again().open(case("E4"))
    server.write("kr-bot", issue, server.case("E4@1")[0]["body"])
    desk.poll()
    assert len(server.case("E4@1")) == 1
    asked = {(one.method, one.path.split("/")[-1] if one.path[-1].isalpha() else "#") for one in server.asked}
    assert asked >= {
        ("GET", "user"), ("POST", "issues"), ("GET", "issues"), ("GET", "#"), ("PATCH", "#"), ("POST", "comments"),
        ("GET", "comments"), ("DELETE", "#"), ("GET", "permission"), ("GET", "finn"),
    }  # fmt: skip


WRONG = (
    ("POST", "issues/1/comments", {"json": {"text": "no body"}}),
    ("POST", "issues/1/comments", {"json": {"body": 7}}),
    ("GET", "issues/comments", {"params": {"since": "yesterday"}}),
    ("GET", "issues/comments", {"params": {"sort": "newest"}}),
)


def test_the_description_refuses_what_is_wrong(described):
    """Requests that GitHub would not take, and an answer that it would not give; else the test above would say nothing."""
    server, address = described
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/vnd.github+json"}
    with httpx.Client(base_url=f"{address}/repos/{REPOSITORY}", headers=headers) as client:
        for method, path, more in WRONG:
            assert client.request(method, path, **more).status_code == 422, (method, path, more)
        comment = server.write("ann", 1, "hm")
        del server.comments[comment["id"]]["created_at"]
        answer = client.get(f"issues/comments/{comment['id']}")
        assert (answer.status_code, "created_at" in answer.text) == (500, True)
