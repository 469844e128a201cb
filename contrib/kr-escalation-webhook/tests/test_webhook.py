"""Cases and notices as they are sent, replies as they come in, and what becomes of faults."""

import asyncio
import json
import time
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx
import pytest
from receiver import SECRET, is_signed, signed

from kr_core import Answer, ConfigError, EscalationRequest, Question, RequestError
from kr_core.plugin import CaseView, HumanReply, Notice, OpenCase, UnparsedReply
from kr_escalation_webhook import Webhook, WebhookSettings

HOOK = "/services/T0/B0/hidden-part-of-the-address"
ANSWER = Answer(question_id="q-1", content="Use Redis.", rationale="It is quick.", confidence=65, agent="duc")
REQUEST = EscalationRequest(
    id="E7",
    revision=2,
    exchange_id="x-1",
    question=Question(text="Which store?", topic="authentication"),
    answer=ANSWER,
    agent="duc",
    threshold=80,
    reason="confidence 65 is below 80",
)
CASE = CaseView(REQUEST, "The whole case.")
SHOWN = (OpenCase("E7", 2, "desk", waits=True), OpenCase("E8", 1, "desk", waits=False))


class Context(NamedTuple):
    """What a channel is handed."""

    http: httpx.AsyncClient
    deadline: float = 0.0
    emit: object = None


@asynccontextmanager
async def context():
    async with httpx.AsyncClient(verify=False) as http:  # noqa: S501  loopback alone; certificates take long to read
        yield Context(http)


def channel(url="http://desk.invalid/hook", allow=("ann",)):
    return Webhook(WebhookSettings(url=url, secret=SECRET, allow=allow))


def do(work):
    async def done():
        async with context() as made:
            return await work(made)

    return asyncio.run(done())


def opened(service, case=CASE):
    return do(lambda made: channel(service.host + HOOK).open(case, made))


def told(service, notice, case=CASE):
    do(lambda made: channel(service.host + HOOK).acknowledge(case, notice, made))


def call(**values):
    return json.dumps({"text": "/kr confirm E7@2", "by": "ann", "id": "m1"} | values).encode()


def heard(body, shown=SHOWN, allow=("ann",)):
    headers = signed(body, int(time.time()))
    return do(lambda made: channel(allow=allow).receive(shown, headers, body, made)).replies


# -- what is sent --------------------------------------------------------------------------------------------


def test_a_case_is_sent_as_signed_json(service):
    """All of version 1; the place is the host, since the rest of the address may be a secret."""
    assert opened(service) == service.host
    (sent,) = service.desk.calls
    assert is_signed(sent)
    assert sent.headers["content-type"] == "application/json"
    message = sent.message
    assert message.pop("id") == sent.headers["webhook-id"]
    assert message == {
        "version": 1,
        "event": "case",
        "text": "The whole case.",
        "case": {
            "id": "E7",
            "revision": 2,
            "topic": "authentication",
            "feature": "general",
            "agent": "duc",
            "confidence": 65,
            "threshold": 80,
            "opened": REQUEST.opened.isoformat(),
        },
    }


def test_a_notice_is_sent_as_signed_json(service):
    """It names the message that it answers, and whom a reminder is for."""
    told(service, Notice("n1", "reminder", "E7@2 waits", "", ("ann", "bob")))
    told(service, Notice("n2", "refused", "E7@1 is an older answer", "C1:1770283800.0001:3"))
    assert all(map(is_signed, service.desk.calls))
    first, second = (sent.message for sent in service.desk.calls)
    assert (first["event"], first["text"]) == ("notice", "ann, bob: E7@2 waits")
    assert first["notice"] == {"kind": "reminder", "reply_to": None, "ask": ["ann", "bob"]}
    assert second["text"] == "E7@1 is an older answer"
    assert second["notice"] == {"kind": "refused", "reply_to": "C1:1770283800.0001", "ask": []}
    assert first["case"] == second["case"]


def test_the_same_is_sent_again_under_the_same_id(service):
    """Who receives it can leave out what came before; another revision, notice or project's case is another message."""
    later = REQUEST.model_copy(update={"revision": 3, "exchange_id": "x-2"})
    other = REQUEST.model_copy(update={"opened": REQUEST.opened.replace(year=2001)})
    notice = Notice("n1", "understood", "ann has added context to E7")
    for _ in range(2):
        for request in (REQUEST, later, other):
            opened(service, CaseView(request, "case"))
        told(service, notice)
    told(service, notice, CaseView(later, "case"))  # tried again when the case had moved on
    assert (len(service.desk.calls), len(service.desk.shown)) == (9, 4)


def test_its_own_secrets_are_not_sent(service):
    """Whatever a model has written of them."""
    said = f"Post to {service.host}{HOOK} with {SECRET}."
    opened(service, CaseView(REQUEST, said))
    assert service.desk.text == "Post to *** with ***."


@pytest.mark.parametrize(
    ("status", "text"),
    [(202, ""), (204, ""), (200, "ok"), (200, '{"ok": true}'), (201, '{"success": true, "id": 5}')],
)
def test_an_answer_that_has_taken_it(service, status, text):
    """As chat services and programs answer."""
    service.answers = [(status, text, {})]
    assert opened(service) == service.host


@pytest.mark.parametrize(
    ("status", "text", "outcome"),
    [
        (200, "", "unavailable"),
        (200, "<h1>Please sign in</h1>", "unavailable"),
        (200, '{"ok": false}', "unavailable"),
        (200, '{"error": "over quota"}', "unavailable"),
        (200, "[" * 100_000, "unavailable"),
        (302, "", "blocked"),
        (400, "invalid_payload", "bad_answer"),
        (403, f"{SECRET} is wrong", "blocked"),
        (404, f"no {HOOK}", "blocked"),
        (413, "", "bad_answer"),
        (429, "slow down", "limited"),
        (503, "", "unavailable"),
    ],
)
def test_an_answer_that_has_not(service, status, text, outcome):
    """It is a fault of the right kind, and nothing in it tells the address or the secret."""
    service.answers = [(status, text, {"Retry-After": "40", "Location": "/elsewhere"})]
    with pytest.raises(RequestError) as raised:
        opened(service)
    assert raised.value.outcome == outcome
    assert raised.value.seconds == (40 if status == 429 else None)
    assert str(status) in str(raised.value)
    for secret in (SECRET, "hidden-part"):
        assert secret not in str(raised.value)
    assert len(service.desk.calls) == 1


def test_nobody_listens():
    """The fault says which host, and nothing more of the address."""
    with pytest.raises(RequestError) as raised:
        do(lambda made: channel(f"http://user:pass@127.0.0.1:1{HOOK}?key=hidden-part").open(CASE, made))
    assert raised.value.outcome == "unavailable"
    assert str(raised.value).startswith("http://127.0.0.1:1: cannot be reached: ConnectError")
    assert "hidden-part" not in str(raised.value)
    assert "pass" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    ["", "hidden-part", "ftp://hidden-part", "http://", "http://[hidden-part", "http://hidden-part:99999999"],
)
def test_an_address_that_is_none_is_refused_and_not_shown(url):
    """When the channel is built, not when the first question waits."""
    with pytest.raises(ConfigError, match="`url` is not an address") as raised:
        channel(url)
    assert "hidden-part" not in str(raised.value)


# -- what comes in -------------------------------------------------------------------------------------------


def test_a_reply_is_read_by_the_grammar():
    """Each command of a message is a reply of its own, told apart by line."""
    text = "Hello\n\n/kr correct E7@2 Use Postgres.\n\n/kr confirm e8@1"
    first, second = heard(call(text=text))
    assert (first.escalation_id, first.external_id) == ("E7", "m1:3")
    assert (first.response.action, first.response.content) == ("correct", "Use Postgres.")
    assert (first.response.by, first.response.revision) == ("ann", 2)
    assert (second.escalation_id, second.external_id) == ("E8", "m1:5")  # decided already, as KR will say


def test_the_answer_that_they_saw_is_meant():
    """Without a revision it is the one that was shown here, not one that has come since."""
    (reply,) = heard(call(text="/kr confirm"))
    assert reply.response.revision == 2


@pytest.mark.parametrize("text", ["ok", "yes, confirm E7@2", "> /kr confirm E7@2"])
def test_talk_is_nothing(text):
    """Also by somebody who may not answer."""
    assert not heard(call(text=text))
    assert not heard(call(text=text), allow=())


@pytest.mark.parametrize("allow", [(), ("bob",), ("Ann",), ("ann ",), ("an",)])
def test_who_is_not_named_may_not_answer(allow):
    """Exactly as in `allow`; without any, nobody."""
    (reply,) = heard(call(), allow=allow)
    assert isinstance(reply, UnparsedReply)
    assert (reply.escalation_id, reply.by, reply.kind, reply.external_id) == ("E7", "ann", "refused", "m1:0")


def test_what_is_not_understood_is_told_beside_what_is():
    """All faults of a message at once."""
    reply, unclear = heard(call(text="/kr confirm E7@2\n\n/kr aprove E7\n\n/kr correct E7"))
    assert isinstance(reply, HumanReply)
    assert unclear.kind == "help"
    assert "- line 3: `aprove` is no command" in unclear.message
    assert "- line 5: `correct` needs a text" in unclear.message


def test_a_case_that_is_not_among_them_is_told_beside_one_that_is():
    """It may have been decided long ago, which KR knows; where there is none, its writer is told by another case."""
    (reply,) = heard(call(text="/kr confirm E99"))
    assert (reply.escalation_id, reply.response.revision, reply.beside) == ("E99", None, "E7")


def test_nothing_was_shown():
    """A call that comes before any case is no fault."""
    assert not heard(call(), shown=())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[]",
        b"[" * 100_000,
        call(text=None),
        call(text=" "),
        call(text=["/kr confirm"]),
        call(text="x" * 65_537),
        call(by=""),
        call(by=7),
        call(by="x" * 201),
        call(id=""),
        call(id="x" * 201),
    ],
    ids=lambda body: body[:20].decode("ascii", "replace"),
)
def test_a_body_that_cannot_be_read(body):
    """Though it is signed: the service has a fault, and is told so."""
    with pytest.raises(RequestError) as raised:
        heard(body)
    assert raised.value.outcome == "bad_answer"


def test_half_a_character_is_read_as_none():
    """JSON may hold it; no text may."""
    body = b'{"text": "/kr correct E7@2 a\\ud800b", "by": "ann", "id": "\\ud800"}'
    (reply,) = heard(body)
    assert reply.response.content == "a?b"


def test_a_call_that_is_not_signed_is_not_read():
    """`receive` does not rely on `verify` having been called."""
    body = call()
    with pytest.raises(RequestError, match="not signed"):
        do(lambda made: channel().receive(SHOWN, signed(body + b" ", int(time.time())), body, made))
