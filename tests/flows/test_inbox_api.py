"""The JSON API of the inbox: the same as on the page, for programs."""

import json
import re
import sqlite3
import string
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.asked import Says, said
from support.inbox_page import QUESTION, TOKEN, UNSURE, served

pytestmark = pytest.mark.req("H2", "I3")


@pytest.fixture(scope="module")
def inbox(tmp_path_factory):
    with served(tmp_path_factory.mktemp("api")) as made:
        yield made


@pytest.fixture(scope="module")
def program(inbox):
    with inbox.program() as one:
        yield one


def reply(program, key, **body):
    return program.post(f"/api/inbox/{key}/reply", json=body)


def refused(answer, status, kind):
    """The detail of problem details, as RFC 9457 has them."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert problem["type"] == (f"urn:kr:problem:{kind}" if kind else "about:blank")
    assert problem["title"]
    return problem["detail"]


def test_the_list_is_read_page_by_page(inbox, program):
    """Each part names the next one; all of them are the whole list, newest first."""
    keys = [inbox.ask(f"Question {number}?", feature_id="F/a b&c") for number in range(5)]
    path = "/api/inbox?feature=F%2Fa%20b%26c&limit=2"
    found = []
    while path:
        part = program.get(path).json()
        assert part["total"] == 5
        found += [item["id"] for item in part["items"]]
        path = part["next"]
    assert found == keys[::-1]


def test_a_case_has_the_published_shape(inbox, program, tmp_path):
    """`{id, status, revision, case, resolution}`, as `kr inbox show --json` prints it."""
    key = inbox.ask(context="Three nodes.")
    shown = program.get(f"/api/inbox/{key.lower()}").json()
    assert shown == inbox.case(key).to_dict()
    assert list(shown) == ["id", "status", "revision", "case", "resolution"]
    assert shown["case"]["question"]["text"] == QUESTION


@pytest.mark.req("H3")
def test_a_talk_that_was_never_begun_has_no_end(inbox, program):
    """A program that takes `chat` for the beginning of a talk has not decided anything."""
    key = inbox.ask()
    detail = refused(reply(program, key, action="chat", revision=1, content="Why?", by="ada"), 422, "refused")
    assert f"POST /api/inbox/{key}/chat" in detail
    assert inbox.case(key).waits


@pytest.mark.req("H3")
def test_replies_do_what_they_do_on_the_page(tmp_path):
    """Confirm, correct, choose, add context, talk and end the talk; each result is that of `kr ask --json`."""
    agent = Says(
        UNSURE,
        UNSURE,
        UNSURE,
        said(answer="It is fast.", confidence=70),
        said(answer="Surely Redis.", confidence=95),
    )
    with served(tmp_path, duc=agent) as inbox, inbox.program() as program:
        first, second, third = (inbox.ask() for _ in range(3))
        result = reply(program, first, action="confirm", revision=1, by="ann").json()
        assert (result["status"], result["answer"]["validated_by"]) == ("answered", "human")
        reply(program, second, action="correct", content="PostgreSQL.", revision=1).raise_for_status()
        decided = program.get(f"/api/inbox/{second}").json()
        assert decided["resolution"] == {"action": "correct", "by": "ada", "content": "PostgreSQL."}
        said_ = program.post(f"/api/inbox/{third}/chat", json={"content": "Why?", "revision": 1}).json()
        assert (said_["status"], said_["answer"]["content"]) == ("escalated", "It is fast.")
        again = reply(program, third, action="add_context", content="40 servers", revision=1).json()
        assert (again["status"], again["answer"]["content"]) == ("accepted", "Surely Redis.")


def test_what_cannot_be_done_is_refused_as_problem_details(inbox, program):
    """Unknown, older, not yet there, decided, without a text: each with its status and why."""
    key = inbox.ask()
    assert "no escalation" in refused(program.get("/api/inbox/E999999"), 404, "unknown")
    refused(program.get("/api/inbox/nonsense"), 404, "unknown")
    refused(reply(program, "E999999", action="confirm", revision=1), 404, "unknown")
    assert "there is no" in refused(reply(program, key, action="confirm", revision=2), 409, "older")
    assert "needs a text" in refused(reply(program, key, action="correct", revision=1), 422, "refused")
    assert "nothing to choose" in refused(
        reply(program, key, action="choose", content="A", revision=1), 422, "refused"
    )
    reply(program, key, action="confirm", revision=1, by="ann").raise_for_status()
    answer = reply(program, key, action="confirm", revision=1)
    assert "by ann" in refused(answer, 409, "decided")
    assert answer.json()["by"] == "ann"
    refused(program.post(f"/api/inbox/{key}/chat", json={"content": "x", "revision": 1}), 409, "decided")
    refused(program.get("/api/nothing"), 404, "")
    refused(program.delete(f"/api/inbox/{key}"), 405, "")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"", 422),
        (b"[]", 422),
        (b'{"action": "confirm"}', 422),
        (b'{"action": "explode", "revision": 1}', 422),
        (b'{"action": "confirm", "revision": "1"}', 422),
        (b'{"action": "confirm", "revision": 0}', 422),
        (b'{"action": "confirm", "revision": 1, "validated": true}', 422),
        (b'{"action": "correct", "content": 5, "revision": 1}', 422),
        (b'{"action": "correct", "content": "' + b"x" * 65_537 + b'", "revision": 1}', 422),
        (b'{"action": "correct", "content": "' + b"x" * 1_000_000 + b'", "revision": 1}', 413),
        (b'{"action": "confirm", "revision": 1, "by": "' + b"x" * 201 + b'"}', 422),
        (b"\xff\xfe", 400),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_body_that_is_wrong_is_refused(inbox, program, body, status):
    """It says what is wrong, shortly, and nothing is decided."""
    key = inbox.ask()
    answer = program.post(
        f"/api/inbox/{key}/reply", content=body, headers={"content-type": "application/json"}
    )
    refused(answer, status, {400: "invalid", 413: "", 422: "invalid"}[status])
    assert len(answer.content) < 2000
    assert inbox.case(key).waits


@pytest.mark.req("Z6")
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_what_a_form_of_another_page_could_send_is_no_json(inbox, program, kind):
    """Only what is sent as JSON is read as JSON: a browser asks first before it sends that elsewhere."""
    key = inbox.ask()
    body = b'{"action": "confirm", "revision": 1}'
    answer = program.post(f"/api/inbox/{key}/reply", content=body, headers={"content-type": kind})
    assert 400 <= answer.status_code < 500
    assert inbox.case(key).waits


@pytest.mark.req("Z6")
def test_beyond_the_machine_programs_send_the_token(tmp_path):
    """Nothing is told without it, and nothing done; a wrong one is no better than none."""
    with served(tmp_path, token=TOKEN, user="") as inbox, inbox.program() as program:
        key = inbox.ask()
        paths = ["/api/inbox", f"/api/inbox/{key}", "/openapi.json"]
        for given_ in ("", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}"):
            headers = {"authorization": given_}
            for path in paths:
                answer = program.get(path, headers=headers)
                refused(answer, 401, "")
                assert answer.headers["www-authenticate"] == "Bearer"
            refused(
                program.post(f"/api/inbox/{key}/reply", json={}, headers={"authorization": "Bearer x"}),
                401,
                "",
            )
        assert "by" in refused(reply(program, key, action="confirm", revision=1), 422, "refused")
        reply(program, key, action="confirm", revision=1, by="ann").raise_for_status()
        assert inbox.case(key).resolution.by == "ann"


def test_of_two_programs_that_reply_at_once_one_is_told_that_it_was_late(inbox, program):
    """One decision, whoever makes it."""
    for _ in range(10):
        key = inbox.ask()
        with ThreadPoolExecutor(2) as pool:
            sent = [
                pool.submit(reply, program, key, action="correct", content=name, revision=1, by=name)
                for name in "ab"
            ]
            codes = sorted(one.result().status_code for one in sent)
        assert codes == [200, 409]


def test_openapi_describes_what_there_is(inbox, program):
    """Every path of the API with its problems; no page of documentation that loads scripts from elsewhere."""
    described = program.get("/openapi.json").json()
    assert described["openapi"].startswith("3.1")
    assert set(described["paths"]) == {
        "/api/inbox",
        "/api/inbox/{id}",
        "/api/inbox/{id}/reply",
        "/api/inbox/{id}/chat",
        "/api/expeditions",
        "/api/expeditions/{id}",
    }
    text = json.dumps(described)
    for name in re.findall(r'"#/components/schemas/([^"]+)"', text):
        assert name in described["components"]["schemas"], name
    for path in described["paths"].values():
        for operation in path.values():
            assert operation["summary"]
            assert "application/problem+json" in json.dumps(operation["responses"]["422"])
            assert "HTTPValidationError" not in json.dumps(operation)
    for path in ("/docs", "/redoc"):
        assert program.get(path).status_code == 404


_TEXT = st.text(st.characters(codec="utf-8"), max_size=40) | st.text(string.printable, max_size=40)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_BODY = st.fixed_dictionaries(
    {},
    optional={
        "action": st.sampled_from(["confirm", "correct", "choose", "chat", "add_context"]) | _JSON,
        "content": _TEXT | _JSON,
        "revision": st.integers(-1, 3) | _JSON,
        "by": _TEXT | _JSON,
        "other": _JSON,
    },
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    key=st.sampled_from(["E1", "e1", "E0", "E99999999999", "..", "%00", "é"]) | _TEXT,
    body=_BODY | _JSON,
    way=st.sampled_from(["reply", "chat"]),
)
def test_whatever_is_sent_is_answered_as_described(inbox, program, key, body, way):
    """Each answer is one that OpenAPI names for the path, in the form that it names; never an error of the server."""
    from urllib.parse import quote

    described = program.get("/openapi.json").json()["paths"]
    answer = program.post(
        f"/api/inbox/{quote(key, safe='')}/{way}",
        content=json.dumps(body),  # also `Infinity`, which is no JSON
        headers={"Content-Type": "application/json"},
    )
    names = {*described[f"/api/inbox/{{id}}/{way}"]["post"]["responses"], "405"}
    assert str(answer.status_code) in names, (answer.status_code, answer.text)
    if answer.status_code != 200:
        assert answer.headers["content-type"] == "application/problem+json"
        assert set(answer.json()) >= {"type", "title", "status", "detail"}


@pytest.mark.req("Z7")
def test_a_case_in_the_form_of_another_kr(tmp_path):
    """A case with keys that this KR does not know is refused with what to do, on the page and as problem details."""
    with served(tmp_path) as made, made.program() as program:
        key = made.ask()
        with sqlite3.connect(next(tmp_path.rglob("journal.sqlite"))) as connection:
            connection.execute(
                "UPDATE documents SET data = json_set(data, '$.care', json('{\"sinks\": {}}')) WHERE key = ?",
                [key],
            )
        connection.close()
        detail = refused(program.get(f"/api/inbox/{key}"), 500, "unable")
        assert f"case {key} cannot be read, since it is not in the form that this KR writes" in detail
        assert "move the journal aside" in detail
        assert "move the journal aside" in program.get(f"/cases/{key}").text
