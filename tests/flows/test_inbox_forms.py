"""The page of the inbox without a script: forms, what they do, and who may send them."""

import asyncio
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.asked import Says, said
from support.inbox_page import QUESTION, TOKEN, UNSURE, elements, served, words

from kr_core import RequestError

pytestmark = pytest.mark.req("H2", "I3")

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><form action=/x><button>go</button></form> [c](javascript:alert(3)) ![i](http://127.0.0.1:9/x.png)"


@pytest.fixture(scope="module")
def inbox(tmp_path_factory):
    with served(tmp_path_factory.mktemp("inbox")) as made:
        yield made


@pytest.fixture
def person(inbox):
    with inbox.person() as one:
        yield one


def events(inbox, kind):
    return [event for _, event in inbox.service.pipeline.journal.entries(limit=10_000) if event.kind == kind]


# -- what is shown -------------------------------------------------------------------------------------------


def test_the_inbox_lists_what_waits_newest_first_by_feature_and_status(inbox, person):
    """The newest question stands first; the filters leave only what fits them."""
    first = inbox.ask("Is the first one first?", feature_id="F-list")
    second = inbox.ask("Is the second one first?", feature_id="F-list")
    page = person.open("/?feature=F-list").text
    assert page.index("Is the second one first?") < page.index("Is the first one first?")
    assert "2 questions, newest first" in page
    person.open(f"/cases/{first}")
    person.fill("/reply", action="confirm")
    assert "1 question, newest first" in person.open("/?feature=F-list").text
    assert re.findall(r'data-case="(E\d+)"', person.open("/?feature=F-list&status=resolved").text) == [first]
    assert re.findall(r'data-case="(E\d+)"', person.open("/?feature=F-list&status=all").text) == [
        second,
        first,
    ]


def test_the_list_has_pages_that_stay_while_new_questions_come(inbox, person):
    """A second page begins behind the last case of the first, also if there are new ones meanwhile."""
    for number in range(51):
        inbox.ask(f"Question {number}?", feature_id="F-pages")
    page = person.open("/?feature=F-pages").text
    listed = re.findall(r'data-case="(E\d+)"', page)
    assert len(listed) == 50
    older = re.search(r'href="(/\?[^"]*before=[^"]*)"', page)[1].replace("&amp;", "&")
    inbox.ask("One more?", feature_id="F-pages")
    assert re.findall(r'data-case="(E\d+)"', person.open(older).text) == [f"E{int(listed[-1][1:]) - 1}"]


@pytest.mark.req("H1")
def test_a_case_has_all_that_is_needed_to_decide(inbox, person):
    """Question, context, answer, confidence, threshold, reasons, why, and what can be replied."""
    key = inbox.ask(context="Three web nodes.", choices=())
    page = person.open(f"/cases/{key}").text
    for part in (QUESTION, "Three web nodes.", "Use Redis.", "confidence 65 of 100, 80 needed", "How many sessions there are", "It expires keys by itself.", "The answer is right", "Ask duc again", "put to a human as revision 1"):  # fmt: skip
        assert part in page, part


@pytest.mark.req("H1", "SC-003")
def test_an_answer_outside_of_the_choices_is_shown_as_such(inbox, person):
    """With all that the agent said, and nothing to confirm."""
    page = person.open(f"/cases/{inbox.ask(choices=('Postgres', 'Memcached'))}").text
    for part in ("No agent has given one of the choices as its answer", "Answer outside of the choices", "Use Redis.", "confidence 65 of 100, 80 needed", "It expires keys by itself."):  # fmt: skip
        assert part in page, part
    assert "The answer is right" not in page


def test_a_page_asks_what_has_changed_since_it_was_made(inbox, person):
    """By the number that stands in it; each case once, as it is now, and nothing where nothing has changed."""
    key = inbox.ask()
    page = person.open(f"/cases/{key}").text
    number = int(re.search(r'data-number="(\d+)"', page)[1])

    def news(after, **more):
        return person.get("/live", params={"after": after, **more}).json()

    nothing = {"number": number, "all": False, "cases": [], "working": False, "expedition": "", "tasks": ""}
    assert news(number) == nothing
    person.open(f"/cases/{key}")
    person.fill("/reply", action="confirm", by="ann")
    told = news(number, case=key)
    assert [(one["id"], one["waits"], one["by"], one["action"]) for one in told["cases"]] == [
        (key, False, "ann", "confirm")
    ]
    assert news(told["number"])["cases"] == []
    for wrong in ("", "x", "-1", "1" * 20, "١"):
        assert person.get("/live", params={"after": wrong}).status_code == 422


# -- what is replied -----------------------------------------------------------------------------------------


@pytest.mark.req("H3")
@pytest.mark.parametrize(
    ("fields", "content", "agent"),
    [
        ({"action": "confirm"}, "Use Redis.", "duc"),
        ({"action": "correct", "text_correct": "Use PostgreSQL.\r\nIt is there."}, "Use PostgreSQL.\nIt is there.", "human"),
    ],
)  # fmt: skip
def test_a_reply_decides_and_says_so(inbox, person, fields, content, agent):
    """The decision is kept as it was meant, under the name that was given, and the page says so."""
    key = inbox.ask()
    person.open(f"/cases/{key}")
    page = person.fill("/reply", by="Grace Hopper", **fields).text
    case = inbox.case(key)
    assert (case.status, case.answer.content, case.answer.agent) == ("resolved", content, agent)
    assert (case.answer.validated_by, case.resolution.by) == ("human", "Grace Hopper")
    assert f"{key} is answered, by Grace Hopper" in page
    assert 'action="/cases/' not in page, "there is nothing to reply any more"
    assert person.open("/").status_code == 200
    other = inbox.ask()
    assert 'value="Grace Hopper"' in person.open(f"/cases/{other}").text, "the name is remembered"


@pytest.mark.req("H3")
def test_one_of_the_choices_is_taken(tmp_path):
    """Of choices, and of answers that do not agree, one is taken by its letter."""
    with served(tmp_path, duc=Says(said(answer="Redis", confidence=60))) as inbox, inbox.person() as person:
        key = inbox.ask(choices=("Redis", "PostgreSQL <b>"))
        assert "PostgreSQL &lt;b&gt;" in person.open(f"/cases/{key}").text
        person.fill("/reply", action="choose:B")
        assert inbox.case(key).answer.content == "PostgreSQL <b>"


@pytest.mark.req("H3")
def test_context_is_asked_again_and_a_sure_answer_ends_the_case(tmp_path):
    """The agent is asked again with what was added; its new answer is the result, or a new revision."""
    replies = Says(
        UNSURE, said(answer="Still Redis.", confidence=70), said(answer="Surely Redis.", confidence=95)
    )
    with served(tmp_path, duc=replies) as inbox, inbox.person() as person:
        key = inbox.ask()
        person.open(f"/cases/{key}")
        page = person.fill("/reply", action="add_context", text_context="We have 40 servers.")
        assert "Still Redis." in page.text
        assert inbox.case(key).request.revision == 2
        page = person.fill("/reply", action="add_context", text_context="And two data centres.")
        assert "Surely Redis." in page.text
        assert inbox.case(key).status == "resolved"
        assert "We have 40 servers." in replies.prompts[-1]
        assert "And two data centres." in replies.prompts[-1]


@pytest.mark.req("H3", "H2")
def test_after_added_context_the_page_names_the_agent_that_answered(tmp_path):
    """The accepted answer has its author, confidence and reasons; the person who added context is named as that."""
    replies = Says(UNSURE, said(answer="Surely Redis.", confidence=95, rationale="It replicates."))
    with served(tmp_path, duc=replies) as inbox, inbox.person() as person:
        key = inbox.ask()
        person.open(f"/cases/{key}")
        page = words(person.fill("/reply", action="add_context", text_context="40 servers", by="root").text)
        assert f"{key} is answered by duc, with what root has added" in page
        assert "answered, by root" not in page
        assert "confidence 95 of 100" in page
        assert "It replicates." in page
        assert "duc answered, confidence 95 of 100" in page, "the history has the exchange of the answer"
        assert "answered by duc" in words(person.get("/?status=all").text)
        live = next(one for one in person.get("/live?after=0").json()["cases"] if one["id"] == key)
        assert (live["by"], live["action"]) == ("duc", "context")


@pytest.mark.req("H3")
def test_a_question_is_withdrawn_on_the_page_and_by_the_api(tmp_path):
    """Both need the reason, and show it afterwards with the person's name."""
    with served(tmp_path) as inbox, inbox.person() as person, inbox.program() as program:
        key = inbox.ask()
        person.open(f"/cases/{key}")
        assert "needs a text" in words(person.fill("/reply", action="withdraw", by="ann").text)
        page = words(person.fill("/reply", action="withdraw", text_withdraw="A typo.", by="ann").text)
        assert f"{key} is withdrawn, by ann: A typo." in page
        assert "The question is withdrawn." in page
        assert "withdrawn by ann" in words(person.get("/?status=withdrawn").text)
        other = inbox.ask()
        body = {"action": "withdraw", "content": "Twice.", "revision": 1, "by": "bob"}
        assert program.post(f"/api/inbox/{other}/reply", json=body).json()["status"] == "failed"
        assert program.get(f"/api/inbox/{other}").json()["resolution"]["content"] == "Twice."
        assert program.get("/api/inbox?status=withdrawn").json()["total"] == 2


@pytest.mark.req("H2")
def test_below_an_answer_of_a_human_no_card_says_that_there_is_none(tmp_path):
    """A question that went straight to a human shows the human's answer alone once there is one."""
    with served(tmp_path) as inbox, inbox.person() as person:
        key = inbox.ask("May an order change?", topic="business-rules")
        assert "No answer yet" in person.open(f"/cases/{key}").text
        page = person.fill("/reply", action="correct", text_correct="It may.", by="ann").text
        assert "It may." in page
        assert "No answer yet" not in page


@pytest.mark.req("H3")
def test_a_talk_goes_on_until_it_is_ended_with_an_answer(tmp_path):
    """Each turn stands on the page; the agent's last words can be the answer, and are then the agent's."""
    replies = Says(UNSURE, said(answer="For the sake of speed.", confidence=70))
    with served(tmp_path, duc=replies) as inbox, inbox.person() as person:
        key = inbox.ask()
        person.open(f"/cases/{key}")
        page = person.fill("/chat", text_talk="Why **Redis**?").text
        assert "Why <strong>Redis</strong>?" in page
        assert "For the sake of speed." in page
        assert inbox.case(key).waits
        assert person.fields("/reply")[1]["text_final"] == "For the sake of speed."
        person.fill("/reply", action="chat")
        case = inbox.case(key)
        assert (case.resolution.action, case.answer.agent, case.answer.validated_by) == (
            "chat",
            "duc",
            "human",
        )


class Waits:
    """An agent that is unsure at once, and afterwards answers when it is let go on."""

    def __init__(self, *later):
        self._replies = iter(later)
        self._asked = 0
        self.go_on = threading.Event()

    async def run(self, job):
        self._asked += 1
        if self._asked == 1:
            return UNSURE
        while not self.go_on.is_set():  # noqa: ASYNC110  it is set by another thread
            await asyncio.sleep(0.01)
        self.go_on.clear()
        reply = next(self._replies)
        if isinstance(reply, Exception):
            raise reply
        return reply


def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


@pytest.mark.req("H3")
def test_a_slow_agent_is_waited_for_by_the_page_and_by_nobody_else(tmp_path):
    """What takes long goes on behind the page, which says so; where no answer comes, it says why."""
    agent = Waits(
        said(answer="Since it is fast.", confidence=70), RequestError("unavailable", "the model is gone")
    )
    with served(tmp_path, duc=agent) as inbox, inbox.person() as person:
        key = inbox.ask()

        def working():
            return person.get(f"/live?after=0&case={key}").json()["working"]

        person.open(f"/cases/{key}")
        page = person.fill("/chat", text_talk="Why?", by="ann")
        assert "duc is asked what ann wants to know" in page.text
        assert 'http-equiv="refresh"' in page.text, "for who has no script"
        agent.go_on.set()
        until(lambda: not working())
        page = person.open(f"/cases/{key}")
        assert "Since it is fast." in page.text
        assert 'http-equiv="refresh"' not in page.text
        assert "is asked what" in person.fill("/chat", text_talk="Surely?", by="ann").text
        agent.go_on.set()
        until(lambda: not working())
        page = person.open(f"/cases/{key}").text
        assert "No answer: " in page
        assert "the model is gone" in page


@pytest.mark.req("H6")
def test_an_answer_that_nobody_confirmed_in_time_is_shown_with_its_warning(tmp_path):
    """It is no answer of a human, and the page does not say so."""
    limits = {"escalation": {"timeout": "1s", "on_timeout": "use_answer"}}
    with served(tmp_path, config=limits) as inbox, inbox.person() as person:
        key = inbox.ask()

        def expired():
            inbox.run(inbox.service.tend())
            return inbox.case(key).status == "expired"

        until(expired)
        page = person.open(f"/cases/{key}").text
        assert "nobody has decided in time" in page
        assert inbox.case(key).answer.warning in words(page)
        assert "is answered" not in page
        assert "Send the reply" not in page
        assert f'data-case="{key}"' in person.open("/?status=expired").text
        assert f'data-case="{key}"' not in person.open("/").text


# -- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.req("H4")
def test_a_reply_to_an_older_answer_is_refused_and_what_was_typed_is_kept(tmp_path):
    """The page says why; the text stands in the form, which is now about the new answer."""
    with served(tmp_path) as inbox, inbox.person() as late, inbox.person() as quick:
        key = inbox.ask()
        late.open(f"/cases/{key}")
        quick.open(f"/cases/{key}")
        quick.fill("/reply", action="add_context", text_context="40 servers")
        page = late.fill("/reply", action="correct", text_correct="Take <b>MySQL</b>.")
        assert page.status_code == 409
        assert f"{key}@1 is an older answer" in page.text
        _, fields = late.fields("/reply")
        assert (fields["text_correct"], fields["action"], fields["revision"]) == (
            "Take <b>MySQL</b>.",
            "correct",
            "2",
        )
        assert inbox.case(key).waits
        late.fill("/reply")
        assert inbox.case(key).answer.content == "Take <b>MySQL</b>."


@pytest.mark.req("H2")
def test_of_two_tabs_that_decide_at_once_one_wins_and_the_other_is_told(inbox):
    """Whatever the order, one decision is kept, and the other page says whose it was."""
    for _ in range(10):
        key = inbox.ask()
        with inbox.person() as ann, inbox.person() as bob:
            ann.open(f"/cases/{key}")
            bob.open(f"/cases/{key}")
            with ThreadPoolExecutor(2) as pool:
                sent = [
                    pool.submit(one.fill, "/reply", by=name, action="correct", text_correct=f"of {name}")
                    for name, one in (("ann", ann), ("bob", bob))
                ]
                codes = [one.result().status_code for one in sent]
            winner = inbox.case(key).resolution.by
            assert sorted(codes) == [200, 409]
            assert codes[["ann", "bob"].index(winner)] == 200
            loser = bob if winner == "ann" else ann
            assert f"it is resolved already, by {winner} (correct)" in loser.page.text
    applied = [
        event
        for event in events(inbox, "human.replied")
        if event.data["applied"] and event.data["escalation_id"] == key
    ]
    assert len(applied) == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "Say what to do"),
        ({"action": "explode"}, "Say what to do"),
        ({"action": "choose:Z"}, "nothing to choose from"),
        ({"action": "correct", "text_correct": "  "}, "needs a text"),
        ({"action": "confirm", "text_correct": "No, MySQL."}, "which is not the reply that is chosen"),
        ({"action": "add_context", "text_context": "x", "text_correct": "y"}, "which is not the reply that is chosen"),
        ({"action": "confirm", "by": " "}, "Say who you are"),
        ({"action": "confirm", "by": "x" * 201}, "Say who you are"),
        ({"action": "confirm", "revision": "one"}, "which answer it is about"),
        ({"action": "confirm", "revision": "²"}, "which answer it is about"),
        ({"action": "confirm", "revision": "99"}, "there is no E"),
        ({"action": "correct", "text_correct": "x" * 65_537}, "at most 65,536"),
    ],
)  # fmt: skip
def test_a_form_that_is_not_clear_is_refused_with_the_reason(inbox, person, fields, said):
    """Nothing is guessed, nothing decided, and nothing that was typed is lost."""
    key = inbox.ask()
    person.open(f"/cases/{key}")
    page = person.fill("/reply", **fields)
    assert page.status_code in {409, 422}
    assert said in page.text
    assert inbox.case(key).waits
    assert person.fields("/reply")[1]["text_correct"].strip() == fields.get("text_correct", "").strip()


def test_a_megabyte_is_refused_clearly(inbox, person):
    """A text that no form can have is not even read."""
    key = inbox.ask()
    person.open(f"/cases/{key}")
    page = person.fill("/reply", action="correct", text_correct="x" * 1_000_000)
    assert page.status_code == 413
    assert "too long" in page.text
    assert inbox.case(key).waits


@pytest.mark.req("Z6")
@pytest.mark.parametrize("forged", [None, "", "0" * 64, "é", "of another browser"])
def test_a_form_that_was_not_shown_here_does_nothing(inbox, person, forged):
    """Each form carries what only this server can make for this browser; the text stays."""
    key = inbox.ask()
    person.open(f"/cases/{key}")
    if forged == "of another browser":
        with inbox.person() as other:
            other.open(f"/cases/{key}")
            forged = other.fields("/reply")[1]["form"]
    for way, text in (
        ("/reply", {"action": "correct", "text_correct": "kept"}),
        ("/chat", {"text_talk": "kept"}),
    ):
        page = person.fill(way, form=forged, **text)
        assert page.status_code == 403
        assert "Nothing was done" in page.text
        assert "kept" in page.text
    case = inbox.case(key)
    assert (case.waits, case.turns) == (True, ())


@pytest.mark.req("Z6")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://stranger.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:3000"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"host": "stranger.example"}, 421),
        ({"host": "127.0.0.1.stranger.example"}, 421),
        ({"host": ""}, 421),
    ],
)  # fmt: skip
def test_a_page_of_somebody_else_can_send_nothing(inbox, person, headers, status):
    """Neither from another origin, nor by a name that it points here."""
    key = inbox.ask()
    person.open(f"/cases/{key}")
    page = person.fill("/reply", headers=headers, action="confirm")
    assert page.status_code == status
    assert inbox.case(key).waits


@pytest.mark.req("Z6")
def test_every_answer_tells_browsers_to_be_careful(inbox, person):
    """No scripts but the page's own, in no frame, kept nowhere; files that change their address may be kept."""
    for path in ("/", "/nothing", "/live?after=0", "/api/inbox", "/openapi.json"):
        headers = person.open(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
    page = person.open("/").text
    style = person.open(re.search(r'href="(/static/page.css[^"]*)"', page)[1])
    assert "immutable" in style.headers["cache-control"]
    assert person.open("/static/../base.html").status_code == 404


@pytest.mark.req("H8")
def test_html_and_script_are_text_wherever_they_stand(tmp_path):
    """In every field that a model, an asker or a person can fill, nothing becomes an element of the page."""
    hostile = said(answer=HOSTILE, confidence=40, reasons=[HOSTILE], rationale=HOSTILE)
    with served(tmp_path, duc=Says(hostile)) as inbox, inbox.person() as person:
        key = inbox.ask(HOSTILE, context=HOSTILE, feature_id=HOSTILE, id=HOSTILE)
        person.open(f"/cases/{key}")
        person.fill("/chat", text_talk=HOSTILE, by=HOSTILE[:150])
        pages = [
            person.open("/").text,
            person.open(f"/cases/{key}").text,
            person.open(f"/?feature={HOSTILE}").text,
        ]
        person.open(f"/cases/{key}")
        pages.append(person.fill("/reply", action="confirm", text_correct=HOSTILE).text)
        person.open(f"/cases/{key}")
        pages.append(person.fill("/reply", action="correct", text_correct=HOSTILE, by=HOSTILE[:150]).text)
        assert inbox.case(key).status == "resolved"
        pages.append(person.open("/?status=all").text)
        for page in pages:
            for tag, attributes in elements(page):
                assert tag != "img"
                assert not [name for name in attributes if name.startswith("on")]
                assert not (attributes.get("href") or "").casefold().startswith(("javascript:", "data:"))
                assert tag != "script" or attributes["src"].startswith("/static/page.js?")
                assert tag != "form" or attributes["action"] in {
                    "/",
                    f"/cases/{key}/reply",
                    f"/cases/{key}/chat",
                }


# -- who may see it ------------------------------------------------------------------------------------------


@pytest.mark.req("Z6")
def test_beyond_the_machine_people_sign_in_with_the_token(tmp_path):
    """Without the token nothing is seen; with it the browser gets a cookie that scripts and other sites cannot use."""
    with served(tmp_path, token=TOKEN, user="") as inbox, inbox.person() as person:
        key = inbox.ask()
        page = person.open(f"/cases/{key}")
        assert page.url.path == "/sign-in"
        assert QUESTION not in page.text
        assert person.get("/live?after=0").status_code == 401
        assert person.fill("/sign-in", token="wrong").status_code == 403
        assert person.fill("/sign-in", token=TOKEN, form="x").status_code == 403
        page = person.fill("/sign-in", token=TOKEN)
        assert page.url.path == f"/cases/{key}"
        cookie = page.history[0].headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert TOKEN not in cookie
        assert person.fill("/reply", action="confirm").status_code == 422, "who answers is asked"
        assert person.fill("/reply", action="confirm", by="ann").status_code == 200
        assert inbox.case(key).resolution.by == "ann"
        person.open("/")
        assert person.fill("/sign-out").url.path == "/sign-in"
        assert person.open("/").url.path == "/sign-in"


@pytest.mark.req("Z6")
@pytest.mark.parametrize(
    "target",
    ["//stranger.example", "https://stranger.example/", "/\\stranger.example", "/x\r\nset-cookie: a=b"],
)
def test_signing_in_leads_nowhere_else(tmp_path, target):
    """Where the form leads afterwards is a page of this server, whatever the link said."""
    with served(tmp_path, token=TOKEN) as inbox, inbox.person() as person:
        person.get("/sign-in", params={"next": target})
        person.page = person.get("/sign-in", params={"next": target})
        assert person.fill("/sign-in", token=TOKEN).url == f"{inbox.url}/"
