"""`kr inbox withdraw` under attack: only a case that waits here ends, by somebody who may, and what they write steers nothing."""

import json

import pytest
from support.agents import QUESTION, project
from support.inbox_page import TOKEN, served, words

from kr_core import ConfigError, HumanResponse

pytestmark = pytest.mark.req("H4", "Z6")

ODD = [
    "E999999999", "E9999999999", "E0", "E01", "E-1", "E1@0", "E1@2", "E1@1@1", "E1 E2", "E\N{FULLWIDTH DIGIT ONE}",
    "E\N{SUPERSCRIPT ONE}", "\N{CYRILLIC CAPITAL LETTER IE}1", "../E1", "E1/../E2", "..%2fE1", ".kr/E1", "/etc/passwd", "~", "*", "E*", "",
    " ", "--all", "E1;E2", "E1\x1b[2J", "\u202eE1", "1", "escalation", "E1.json", "E" + "1" * 5_000,
]  # fmt: skip
CONTROLS = "\x1b]0;owned\x07ada\r\n\u202eroot\x00\x9b31m"


def steers(text):
    return [one for one in text if one in "\x1b\x07\x00\x9b\r\u202e"]


@pytest.fixture
def waiting(project_folder, kr_here):
    project(project_folder)
    assert kr_here("ask", QUESTION, "--topic", "authentication").code == 5
    return lambda: kr_here("inbox", "list", "--json").json


def test_an_odd_id_withdraws_nothing(waiting, kr_here):
    """Unknown, with a path in it, in other scripts, of another revision: refused in one line that steers no terminal."""
    for odd in ODD:
        done = kr_here("inbox", "withdraw", odd, "gone", "--by", "eve")
        assert done.code != 0, odd
        assert "Traceback" not in done.err, odd
        assert steers(done.err) == [], odd
        assert len(done.err) < 12_000
    assert [case["status"] for case in waiting()] == ["open"]


def test_a_case_of_another_project_is_unknown_here(waiting, kr_here, tmp_path):
    """An id means the case of this project alone, and what is decided elsewhere changes nothing here."""
    other = tmp_path / "other"
    other.mkdir()
    project(other)
    for _ in range(2):
        assert kr_here("ask", QUESTION, "--topic", "authentication", cwd=other).code == 5
    assert "there is no escalation `E2`" in kr_here("inbox", "withdraw", "E2", "gone").err
    assert kr_here("inbox", "withdraw", "E1", "gone", cwd=other).code == 0
    assert [case["status"] for case in waiting()] == ["open"]


@pytest.mark.parametrize("action", ["confirm", "correct", "withdraw"])
def test_a_decided_case_is_not_withdrawn(waiting, kr_here, action):
    """Who decided first is told, the decision stays, and the attempt is on the record."""
    text = [] if action == "confirm" else ["first"]
    assert kr_here("inbox", action, "E1", *text, "--by", "ada").code == 0
    before = kr_here("inbox", "show", "E1", "--json").out
    done = kr_here("inbox", "withdraw", "E1", "second", "--by", "eve")
    assert done.code == 2
    assert "already, by ada" in done.err
    assert kr_here("inbox", "show", "E1", "--json").out == before
    entries = [json.loads(line) for line in kr_here("log", "--json").out.splitlines()]
    replies = [one["data"] for one in entries if one["kind"] == "human.replied"]
    assert [(one["by"], one["applied"]) for one in replies] == [("ada", True), ("eve", False)]


def test_control_characters_in_a_name_and_a_reason_steer_nothing(waiting, kr_here):
    """They are marks in the output, the inbox and the record, and a name is one line."""
    done = kr_here("inbox", "withdraw", "E1", CONTROLS, "--by", CONTROLS)
    assert done.code == 0
    shown = kr_here("inbox", "show", "E1")
    listed = kr_here("inbox", "list", "--all")
    for text in (done.out, done.err, shown.out, listed.out, kr_here("log").out):
        assert steers(text) == []
    resolution = kr_here("inbox", "show", "E1", "--json").json["resolution"]
    assert steers(resolution["by"] + resolution["content"]) == []
    assert "\n" not in resolution["by"]


def test_a_name_of_nothing_is_refused(waiting, kr_here):
    """Somebody is on the record, never an empty name; a name of control characters is one of marks."""
    for by in ("", " ", "\t"):
        done = kr_here("inbox", "withdraw", "E1", "gone", "--by", by)
        assert (done.code, "is not a name" in done.err) == (2, True)
    assert kr_here("inbox", "withdraw", "E1", "gone", "--by", "\x00").code == 0
    assert kr_here("inbox", "show", "E1", "--json").json["resolution"]["by"] == "\N{REPLACEMENT CHARACTER}"


def test_the_page_withdraws_only_by_its_own_form(tmp_path):
    """Without the form's mark, with that of another browser or another case, from another site: nothing is done."""
    with served(tmp_path) as inbox, inbox.person() as person, inbox.person() as other:
        key, second = inbox.ask(), inbox.ask("Which queue?", topic="messaging")
        other.open(f"/cases/{key}")
        stolen = other.fields("/reply")[1]["form"]
        person.open(f"/cases/{key}")
        sent = {"action": "withdraw", "text_withdraw": "gone", "by": "eve"}
        for form in ("", "0" * 64, stolen):
            person.open(f"/cases/{key}")
            assert person.fill("/reply", form=form, **sent).status_code == 403
        for headers in (
            {"origin": "https://stranger.example"},
            {"sec-fetch-site": "cross-site"},
            {"origin": "null"},
        ):
            person.open(f"/cases/{key}")
            assert person.fill("/reply", headers=headers, **sent).status_code == 403
        person.open(f"/cases/{key}")
        fields = person.fields("/reply")[1]
        for path in ("E999", "..%2fE1", "E1%2f..%2fE2", "%00", "E1%0a", "e" * 300):
            assert person.post(f"/cases/{path}/reply", data={**fields, **sent}).status_code in {
                400,
                403,
                404,
                422,
            }
        person.get(
            f"/cases/{key}/reply?action=withdraw&text_withdraw=gone&by=eve"
        )  # a link only shows the case
        assert [inbox.case(one).waits for one in (key, second)] == [True, True]
        person.open(f"/cases/{key}")
        page = person.fill("/reply", **{**sent, "text_withdraw": CONTROLS, "by": f"<script>{CONTROLS}"})
        assert f"{key} is withdrawn" in words(page.text)
        assert "<script>\N{REPLACEMENT CHARACTER}" not in page.text
        assert steers(page.text) == []
        assert [inbox.case(one).waits for one in (key, second)] == [False, True]


def test_the_api_withdraws_only_for_who_may(tmp_path):
    """Without the token, from a page of somebody else, with odd ids or fields, or twice: refused as problem details."""
    with served(tmp_path, token=TOKEN) as inbox, inbox.program() as program:
        key = inbox.ask()
        body = {"action": "withdraw", "content": "gone", "revision": 1, "by": "eve"}
        place = f"/api/inbox/{key}/reply"
        assert program.post(place, json=body, headers={"authorization": ""}).status_code == 401
        assert program.post(place, json=body, headers={"authorization": "Bearer x"}).status_code == 401
        assert (
            program.post(place, json=body, headers={"origin": "https://stranger.example"}).status_code == 403
        )
        assert program.post(
            place, content=json.dumps(body), headers={"content-type": "text/plain"}
        ).status_code in {415, 422}
        for odd in ("E999", "..%2fE1", "E1%00", "%2e%2e", "E1%20", "E" * 30, "\N{FULLWIDTH DIGIT ONE}"):
            assert program.post(f"/api/inbox/{odd}/reply", json=body).status_code in {404, 405, 422}
        for wrong in (
            {"content": " "},
            {"revision": 2},
            {"revision": -1},
            {"by": "x" * 201},
            {"content": None},
            {"id": "E2"},
        ):
            assert program.post(place, json={**body, **wrong}).status_code in {409, 422}
        assert inbox.case(key).waits
        done = program.post(place, json={**body, "by": CONTROLS, "content": CONTROLS})
        assert done.status_code == 200
        assert steers(json.dumps(done.json(), ensure_ascii=False)) == []
        assert program.post(place, json=body).status_code == 409
        with pytest.raises(ConfigError, match="withdrawn already"):
            inbox.run(inbox.service.reply(key, HumanResponse(action="withdraw", content="x", by="eve")))
