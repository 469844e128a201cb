"""The page of the inbox in a real browser: with the keyboard, on a phone, in the dark, without a script, and while others work."""

import asyncio
import re
import threading

import pytest
from support.asked import Says, said
from support.browser import chromium, faults, keep, tab
from support.inbox_page import QUESTION, TOKEN, UNSURE, served

pytestmark = pytest.mark.req("I3", "H2")

ANSWER = """Use **Redis** with `maxmemory-policy volatile-ttl`:

```python
SESSION_ENGINE = "django.contrib.sessions.backends.cache"
```

| store | survives a restart |
|---|---|
| Redis with AOF | yes |
| memory | no |

See [the docs](https://redis.io/docs/latest/) and <https://docs.djangoproject.com/en/5.2/topics/http/sessions/>.
"""


class SlowOnce:
    """An agent that answers its first question at once, and the next one when it is let go on."""

    def __init__(self, *replies):
        self._replies = replies
        self.asked = 0
        self.go_on = threading.Event()

    async def run(self, _job):
        self.asked += 1
        while self.asked > 1 and not self.go_on.is_set():  # noqa: ASYNC110  it is set by another thread
            await asyncio.sleep(0.01)
        return self._replies[self.asked - 1]


LOOKS = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True},
}  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def inbox(tmp_path_factory):
    with served(tmp_path_factory.mktemp("browser")) as made:
        yield made


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """An inbox with a case of each kind, as people meet them at work."""
    unsure = said(
        answer=ANSWER,
        confidence=62,
        reasons=("There are no figures of the load", "Two sources do not agree"),
        rationale="It expires keys by itself, and the team runs it already.",
    )
    doubtful = said(answer="Since keys expire by themselves: no job has to clean up.", confidence=70)
    agent = Says(unsure, doubtful, said(answer="Redis", confidence=55), unsure)
    with served(tmp_path_factory.mktemp("full"), duc=agent) as made, made.person() as person:
        first = made.ask(context="Three web nodes behind a load balancer.\n\n- sessions of 30 minutes\n- 2,000 users", feature_id="003-checkout")  # fmt: skip
        person.open(f"/cases/{first}")
        person.fill("/chat", text_talk="Why not *PostgreSQL*, which we run already?", by="Grace Hopper")
        second = made.ask(
            "Which of these?", choices=("Redis", "PostgreSQL", "signed cookies"), feature_id="003-checkout"
        )
        third = made.ask(
            "May an order be changed after it is paid?", topic="business-rules", feature_id="004-orders"
        )
        fourth = made.ask("How long is a session?")
        person.open(f"/cases/{fourth}")
        person.fill("/reply", action="correct", text_correct="30 minutes.", by="Grace Hopper")
        made.cases = {"case": first, "choices": second, "straight": third, "decided": fourth}
        yield made


@pytest.mark.parametrize("look", LOOKS)
def test_pages_are_without_serious_faults_in_every_look(browser, full, look):
    """axe-core finds nothing serious, nothing stands out sideways, and pictures are kept of light, dark and phone."""
    with tab(browser, full.url, **LOOKS[look]) as page:
        for name, path in {
            "inbox": "/?status=all",
            **{name: f"/cases/{key}" for name, key in full.cases.items()},
        }.items():
            page.goto(path)
            if page.locator("#correct").count():
                page.locator("#correct").check()
            keep(page, f"{name}-{look}")
            if look == "light" or name == "case":  # a look changes no more than colours and widths
                assert faults(page) == [], name
            overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert page.evaluate(overflow) <= 0, name
            assert page.title().endswith(" · KR")
            assert page.locator("main h1").count() == 1


def test_a_case_is_answered_with_the_keyboard_alone(browser, inbox):
    """From the skip link to the sent reply nothing else is needed, and where one is can be seen at each step."""
    key = inbox.ask()
    with tab(browser, inbox.url) as page:

        def press(name, most=40, until=None):
            """Press a key until an element has the focus; the element's ring must be visible each time."""
            for _ in range(most):
                page.keyboard.press(name)
                here = page.evaluate(
                    "(() => { const one = document.activeElement, style = getComputedStyle(one);"
                    " return {id: one.id, text: one.textContent.trim().slice(0, 40), ring: style.outlineStyle + style.outlineWidth}; })()"
                )
                assert here["ring"] not in {"none0px", "none3px"}, here
                if until is None or until in {here["id"], here["text"]} or here["text"].startswith(until):
                    return here
            raise AssertionError(f"{until} was never reached")

        page.goto("/")
        assert press("Tab")["text"] == "Skip to the content"
        page.keyboard.press("Enter")
        press("Tab", until=key)
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/cases/{key}")
        press("Tab", until="confirm")
        page.keyboard.press("ArrowDown")
        assert page.locator("#correct").is_checked()
        press("Tab", until="text_correct")
        page.keyboard.type("Use PostgreSQL.")
        press("Tab", until="Start from")
        press("Tab", until="by_reply")
        page.keyboard.press("Control+A")
        page.keyboard.type("Grace")
        press("Tab", until="Send the reply")
        page.keyboard.press("Enter")
        page.wait_for_selector(".notice.done")
    case = inbox.case(key)
    assert (case.answer.content, case.resolution.by) == ("Use PostgreSQL.", "Grace")


def test_without_a_script_everything_essential_works(browser, tmp_path):
    """Listing, looking, talking, adding context and deciding are plain forms."""
    agent = Says(
        UNSURE, said(answer="It is fast.", confidence=70), said(answer="Still Redis.", confidence=70)
    )
    with served(tmp_path, duc=agent) as inbox, tab(browser, inbox.url, java_script_enabled=False) as page:
        key = inbox.ask()
        page.goto("/")
        page.get_by_role("link", name=QUESTION).click()
        page.get_by_label("Say something").fill("Why?")
        page.get_by_role("button", name="Say it").click()
        assert page.locator(".turns").inner_text().count("It is fast.") == 1
        page.get_by_label("Ask duc again").check()
        page.get_by_label("What duc should know").fill("40 servers")
        page.get_by_role("button", name="Send the reply").click()
        assert "Still Redis." in page.locator(".answer").inner_text()
        page.get_by_label("The answer is right").check()
        page.get_by_role("button", name="Send the reply").click()
        assert "You have confirmed the answer." in page.locator("#news").inner_text()
        assert inbox.case(key).answer.content == "Still Redis."


def test_new_questions_come_into_the_list_by_themselves(browser, inbox):
    """They are said to screen readers, and where one is in the list stays where it was."""
    first = inbox.ask("The first one?", feature_id="F-live")
    with tab(browser, inbox.url) as page:
        page.goto("/?feature=F-live")
        page.locator(f'[data-case="{first}"] .asked').focus()
        second = inbox.ask("The second one?", feature_id="F-live")
        page.locator(f'[data-case="{second}"]').wait_for()
        page.locator("#news", has_text=f"New: {second}").wait_for()
        assert page.evaluate("document.activeElement.closest('[data-case]').dataset.case") == first
        assert page.title().startswith("2 waiting")


def test_who_looks_at_a_case_that_somebody_else_decides_is_told_at_once(browser, inbox):
    """The form is closed, what was typed stays to be read, and a link shows the answer."""
    key = inbox.ask()
    with tab(browser, inbox.url) as page, inbox.person() as other:
        page.goto(f"/cases/{key}")
        page.locator("#text_correct").evaluate("one => one.closest('.way').querySelector('input').click()")
        page.locator("#text_correct").fill("Half of an ans")
        other.open(f"/cases/{key}")
        other.fill("/reply", action="confirm", by="Bob")
        page.locator("#news", has_text=f"{key} was answered by Bob (confirm).").wait_for()
        assert page.get_by_role("button", name="Send the reply").is_disabled()
        assert page.locator("#text_correct").input_value() == "Half of an ans"
        page.get_by_role("link", name="Show it").click()
        page.locator("#final").wait_for()
        assert "Bob (confirm)" in page.locator(".final").inner_text()


@pytest.mark.req("H4")
def test_who_types_while_a_newer_answer_comes_loses_nothing(browser, tmp_path):
    """The page says so, closes the form of the older answer, and has the text in the form of the newer one."""
    agent = Says(UNSURE, said(answer="Still Redis.", confidence=70))
    with served(tmp_path, duc=agent) as inbox, tab(browser, inbox.url) as page, inbox.person() as other:
        key = inbox.ask()
        page.goto(f"/cases/{key}")
        page.get_by_label("Answer with this text").check()
        page.get_by_label("The answer", exact=True).fill("Use PostgreSQL.")
        other.open(f"/cases/{key}")
        other.fill("/reply", action="add_context", text_context="40 servers", by="Bob")
        page.get_by_role("link", name="Show it, and keep what you have typed").click()
        page.locator(".answer", has_text="Still Redis.").wait_for()
        assert page.locator("#text_correct").input_value() == "Use PostgreSQL."
        page.get_by_role("button", name="Send the reply").click()
        page.locator(".notice.done").wait_for()
        assert inbox.case(key).answer.content == "Use PostgreSQL."


@pytest.mark.req("H2", "H4")
def test_a_choice_just_made_outlives_the_answer_that_comes(browser, tmp_path):
    """Where the page was waiting for an agent, it does not load itself again once a person has begun a reply."""
    agent = SlowOnce(UNSURE, said(answer="It is fast.", confidence=70))
    with served(tmp_path, duc=agent) as inbox, tab(browser, inbox.url) as page:
        key = inbox.ask()
        page.goto(f"/cases/{key}")
        page.get_by_label("Say something").fill("Why?")
        page.get_by_role("button", name="Say it").click()
        page.locator(".notice.working").wait_for()
        page.get_by_label("The answer is right").check()
        page.locator("#by_reply").fill("Grace")
        agent.go_on.set()
        page.get_by_role("link", name="Show it, and keep what you have begun").wait_for()
        assert page.get_by_label("The answer is right").is_checked()
        page.get_by_role("link", name="Show it, and keep what you have begun").click()
        page.locator(".turns .agent", has_text="It is fast.").wait_for()
        assert page.get_by_label("The answer is right").is_checked()
        assert page.locator("#by_reply").input_value() == "Grace"
        page.get_by_role("button", name="Send the reply").click()
        page.locator(".notice.done").wait_for()
    assert agent.asked == 2


@pytest.mark.req("H2", "H4")
def test_what_is_begun_before_the_script_comes_is_not_undone(browser, tmp_path):
    """The page brings back what was typed before it was loaded again, but not over what a quick person has begun meanwhile."""
    from playwright.sync_api import expect

    with served(tmp_path) as inbox, tab(browser, inbox.url) as page:
        key = inbox.ask()
        page.goto(f"/cases/{key}")
        page.get_by_label("Answer with this text").check()
        page.locator("#text_correct").fill("Kept.")
        page.locator("#by_reply").fill("Grace")
        held = []

        def hold(route):
            held.append(route)

        page.route("**/page*.js*", hold)
        page.goto(f"/cases/{key}?again", wait_until="commit")
        page.get_by_label("The answer is right").check()
        page.locator("#by_reply").fill("Ada")
        held[0].continue_()
        expect(page.locator("#text_correct")).to_have_value(
            "Kept."
        )  # the page's policy forbids to evaluate texts
        assert page.get_by_label("The answer is right").is_checked()
        assert page.locator("#by_reply").input_value() == "Ada"


@pytest.mark.req("H2", "H4")
def test_what_was_chosen_for_an_older_answer_is_not_chosen_for_a_newer_one(browser, tmp_path):
    """A person confirms only the answer that they saw: a newer one starts without a choice."""
    agent = Says(UNSURE, said(answer="Still Redis.", confidence=70))
    with served(tmp_path, duc=agent) as inbox, tab(browser, inbox.url) as page, inbox.person() as other:
        key = inbox.ask()
        page.goto(f"/cases/{key}")
        page.get_by_label("The answer is right").check()
        other.open(f"/cases/{key}")
        other.fill("/reply", action="add_context", text_context="40 servers", by="Bob")
        page.get_by_role("link", name="Show it, and keep what you have typed").click()
        page.locator(".answer", has_text="Still Redis.").wait_for()
        assert not page.get_by_label("The answer is right").is_checked()


def test_the_agents_answer_is_a_start_to_correct(browser, inbox):
    """One key puts it into the form as it was written."""
    key = inbox.ask()
    with tab(browser, inbox.url) as page:
        page.goto(f"/cases/{key}")
        page.get_by_label("Answer with this text").check()
        page.get_by_role("button", name="Start from the agent's answer").click()
        assert page.locator("#text_correct").input_value() == "Use Redis."


@pytest.mark.req("H8", "Z6")
def test_what_a_model_writes_runs_nothing_and_loads_nothing(browser, tmp_path):
    """No script of it runs, no picture of it is asked for; the browser itself refuses what is not the page's own."""
    hostile = "<script>window.hit = 1</script><img src='/hit.png' onerror='window.hit = 2'>\n\n![x](http://127.0.0.1:9/hit.png) [c](javascript:window.hit=3) <svg onload='window.hit=4'>"
    agent = Says(said(answer=hostile, rationale=hostile, reasons=[hostile], confidence=10))
    with served(tmp_path, duc=agent) as inbox, tab(browser, inbox.url) as page:
        key = inbox.ask(hostile, context=hostile, feature_id="F<script>hit()</script>")
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        for path in ("/", f"/cases/{key}"):
            page.goto(path)
            page.wait_for_load_state("networkidle")
            assert page.evaluate("window.hit") is None
            assert page.locator("main img, main svg, main script, main iframe").count() == 0
        assert not [url for url in asked if "hit" in url]
        assert {re.match(r"https?://[^/]+", url)[0] for url in asked} == {inbox.url}
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hit = 5'}))"
        )
        assert page.evaluate("window.hit") is None
        assert any("Content Security Policy" in one for one in page.complaints)
        page.complaints.clear()


def test_after_a_refusal_the_page_goes_on_as_before(browser, tmp_path):
    """Its address is that of the form then; what is new is told and shown all the same, and loading it again shows the case."""
    with served(tmp_path) as inbox, tab(browser, inbox.url) as page, inbox.person() as other:
        key = inbox.ask()
        page.goto(f"/cases/{key}")
        page.get_by_label("The answer is right").check()
        page.locator("#text_correct").evaluate("one => one.value = 'Or this.'")
        page.get_by_role("button", name="Send the reply").click()
        page.locator("#refused", has_text="not the reply that is chosen").wait_for()
        assert page.evaluate("document.activeElement.id") == "refused", (
            "it is read out, and the keyboard goes on from there"
        )
        page.complaints.clear()  # of the refusal
        other.open(f"/cases/{key}")
        other.fill("/reply", action="confirm", by="Bob")
        page.get_by_role("link", name="Show it").click()
        page.wait_for_url(f"**/cases/{key}")
        page.goto(f"/cases/{key}/reply")
        assert page.url == f"{inbox.url}/cases/{key}"


@pytest.mark.req("Z6")
def test_a_link_of_another_site_leads_to_the_case_for_who_has_signed_in(browser, tmp_path):
    """The cookie does not come with a link from elsewhere; the browser asks once more by itself, and only forms stay shut."""
    with served(tmp_path, token=TOKEN, user="") as inbox, tab(browser, inbox.url) as page:
        key = inbox.ask()
        elsewhere = f"<a href='{inbox.url}/cases/{key}'>the case</a><form method=post action='{inbox.url}/cases/{key}/reply'><button>go</button></form>"
        page.route(
            "https://stranger.example/**",
            lambda route: route.fulfill(body=elsewhere, content_type="text/html"),
        )
        page.goto("/")
        assert faults(page) == []
        page.get_by_label("The server's token").fill(TOKEN)
        page.get_by_role("button", name="Sign in").click()
        page.locator("[data-case]").wait_for()
        page.goto("https://stranger.example/")
        page.get_by_role("link", name="the case").click()
        page.locator(".answer").wait_for()
        assert page.url == f"{inbox.url}/cases/{key}"
        page.goto("https://stranger.example/")
        page.get_by_role("button", name="go").click()
        page.get_by_text("The request comes from a page of somebody else.").wait_for()
        assert faults(page) == []
        assert inbox.case(key).waits
        page.complaints.clear()  # of the refusal
