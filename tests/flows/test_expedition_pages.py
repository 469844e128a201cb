"""Expeditions on the page and in the JSON API: the list, one as it stands, what is hostile, and in a real browser while one runs."""

import asyncio
import threading

import pytest
from support.browser import chromium, faults, keep, tab
from support.expeditions import PAGES, QUERY, Library, research
from support.inbox_page import TOKEN, elements, served, words
from support.projects import Bench

from kr_core import Expeditions
from kr_core.expedition import provenance

pytestmark = pytest.mark.req("E1", "E9", "I3")

LOOKS = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True},
}  # fmt: skip
HOSTILE = "<script>window.hit = 1</script><img src='/hit.png' onerror='window.hit = 2'>"
EVIL = {
    f"https://evil.example/?{HOSTILE}": (
        f"Tracking {HOSTILE}",
        f"Parcels {HOSTILE} of carriers support tracking since version 2.1. [c](javascript:window.hit=3)",
    ),
    "javascript:window.hit=4": ("Tracking", "Tracking of parcels was added to carriers in version 9.9."),
}
DISAGREE = {
    "https://one.example/": ("Limits", "Parcels of carriers weigh 5 kilograms at most, tracking included."),
    "https://two.example/": ("Limits", "Parcels of carriers weigh 9 kilograms at most, tracking included."),
}


@pytest.fixture(autouse=True)
def _own_state():
    """The same user for all tests: they share a project, whose state folder has that user's mark."""


@pytest.fixture(scope="module")
def inbox(tmp_path_factory):
    """A project in which three expeditions have ended: a usual one, one whose sources disagree, one over hostile pages."""
    folder = tmp_path_factory.mktemp("pages")
    with served(folder / "project") as made:
        bench = Bench(folder / "project")
        for pages in (PAGES, DISAGREE, EVIL):
            research(bench.pipeline({"web": Library(pages)}))
        made.bench = bench
        yield made
        bench.close()


@pytest.fixture(scope="module")
def browser(inbox):
    """Begun after the expeditions are made: while it runs, this thread has an event loop and cannot run another."""
    with chromium() as one:
        yield one


def test_the_list_and_one_of_them(inbox):
    """Newest first; one has its answer, its rule, each axiom with its confidence, and each signal where it stands."""
    with inbox.person() as person:
        listed = person.open("/expeditions").text
        assert [dict(pairs).get("href") for tag, pairs in elements(listed) if tag == "a"].count(
            "/expeditions/X1"
        ) == 1
        assert words(listed).index("X3") < words(listed).index("X1")
        page = person.open("/expeditions/x1")
        seen = words(page.text)
    pipeline = inbox.bench.pipeline()
    expeditions = Expeditions(pipeline)
    kept = expeditions.get("X1")
    assert kept.finished.reason in seen
    for axiom in kept.finished.axioms:
        assert axiom.id in seen
        assert axiom.statement in seen
    links = {pairs["href"] for tag, pairs in elements(page.text) if tag == "a" and "href" in pairs}
    assert {signal.source for axiom in kept.finished.axioms for signal in axiom.signals} <= links


def test_sources_that_disagree_stand_side_by_side(inbox):
    """Both statements of a contradiction are in one place, each with its own signals."""
    with inbox.person() as person:
        page = person.open("/expeditions/X2").text
    sides = page.partition('class="sides"')[2].partition("</section>")[0]
    assert "5 kilograms" in sides
    assert "9 kilograms" in sides
    assert 'href="https://one.example/"' in sides
    assert 'href="https://two.example/"' in sides


@pytest.mark.req("Z4")
def test_what_pages_say_is_text(inbox):
    """Nothing of a hostile page becomes an element, a link that runs something, or a picture."""
    with inbox.person() as person:
        page = person.open("/expeditions/X3").text
        listed = person.open("/expeditions").text
    for text in (page, listed):
        found = elements(text)
        assert [tag for tag, _pairs in found if tag in {"img", "iframe", "svg", "object"}] == []
        assert len([pairs for tag, pairs in found if tag == "script" and "src" not in pairs]) == 0
        assert not any(pairs.get("href", "").startswith("javascript") for _tag, pairs in found)
    assert "window.hit = 1" in words(page)


def test_the_api_says_the_same(inbox):
    """The list page by page, and the tree as `kr expedition show --json` prints it; what is not there is told as a problem."""
    with inbox.program() as program:
        first = program.get("/api/expeditions?limit=2").json()
        assert ([item["id"] for item in first["items"]], first["total"]) == (["X3", "X2"], 3)
        second = program.get(first["next"]).json()
        assert ([item["id"] for item in second["items"]], second["next"]) == (["X1"], None)
        expeditions = Expeditions(inbox.bench.pipeline())
        shown = program.get("/api/expeditions/X1").json()
        assert shown["axioms"] == provenance.as_data(expeditions.get("X1"), expeditions)["axioms"]
        assert shown["cycles"][0]["new_axioms"] > 0
        assert shown["unsupported"] == []
        for path, status in (
            ("/api/expeditions/X99", 404),
            ("/api/expeditions/E1", 404),
            ("/api/expeditions?before=E1", 422),
            ("/api/expeditions?limit=0", 422),
        ):
            answer = program.get(path)
            assert answer.status_code == status, path
            assert answer.headers["content-type"] == "application/problem+json"
    with inbox.person() as person:
        assert person.open("/expeditions/X99").status_code == 404
        assert person.open("/expeditions?before=..").status_code == 422
        assert person.open("/live?after=0&expedition=X99").status_code == 404


@pytest.mark.req("Z6")
def test_beyond_the_machine_nobody_looks_without_the_token(tmp_path):
    """The list, one expedition and what is new are behind the same door as the inbox."""
    with served(tmp_path, token=TOKEN, user="") as inbox, inbox.person() as person:
        for path in ("/expeditions", "/expeditions/X1"):
            assert "/sign-in" in str(person.open(path).url)
        with inbox.program() as program:
            for path in ("/api/expeditions", "/api/expeditions/X1", "/live?after=0&expedition=all"):
                assert program.get(path, headers={"authorization": ""}).status_code == 401
            assert program.get("/api/expeditions", headers={"host": "evil.example"}).status_code == 421
            assert program.get("/api/expeditions").json()["items"] == []


class Waiting(Library):
    """Answers the second search only when it is told to."""

    def __init__(self):
        super().__init__(most=1)
        self.go = threading.Event()

    async def query(self, query, context):
        if self.asked:
            await asyncio.to_thread(self.go.wait, 30)
        return await super().query(query, context)


def test_one_is_looked_at_while_it_runs(browser, tmp_path):
    """What a cycle has found stands there before the next one ends, the page says when there is more, and shows the answer at last."""
    with served(tmp_path / "project") as inbox:
        bench = Bench(tmp_path / "project")
        library = Waiting()
        running = threading.Thread(target=research, args=(bench.pipeline({"web": library}),))
        with tab(browser, inbox.url) as page:
            page.goto("/expeditions")
            page.get_by_text("No expedition was begun here.").wait_for()
            running.start()
            try:
                page.get_by_role("link", name="X1").click()
                page.locator(".tree", has_text="Fast Carrier").first.wait_for()
                assert page.locator(".badge.open", has_text="not ended").count() == 1
                assert "1 cycle so far" in provenance.as_text(
                    Expeditions(bench.pipeline()).get("X1"), Expeditions(bench.pipeline())
                )
            finally:
                library.go.set()
                running.join(30)
            page.locator("#news", has_text="It has ended").wait_for()
            assert page.locator(".final", has_text="Report").count() == 1
        bench.close()


@pytest.mark.parametrize("look", LOOKS)
def test_pages_are_without_serious_faults_in_every_look(browser, inbox, look):
    """axe-core finds nothing serious, nothing stands out sideways, no page runs what it shows; pictures are kept."""
    with tab(browser, inbox.url, **LOOKS[look]) as page:
        for name, path in {
            "expeditions": "/expeditions", "expedition": "/expeditions/X1", "disagree": "/expeditions/X2", "hostile": "/expeditions/X3",
        }.items():  # fmt: skip
            if look != "light" and name != "disagree":  # a look changes no more than colours and widths
                continue
            page.goto(path)
            keep(page, f"{name}-{look}")
            assert faults(page) == [], name
            overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert page.evaluate(overflow) <= 0, name
            assert page.locator("main h1").count() == 1
            assert page.evaluate("window.hit") is None


def test_without_a_script_it_can_be_read(browser, inbox):
    """The list leads to one, which has its answer and its tree."""
    with tab(browser, inbox.url, java_script_enabled=False) as page:
        page.goto("/")
        page.get_by_role("link", name="Expeditions").click()
        page.get_by_role("link", name="X1").click()
        assert QUERY in page.locator("h1").inner_text()
        assert "Fast Carrier supports tracking" in page.locator(".final").inner_text()
        assert "Fast Carrier supports tracking" in page.locator(".tree").first.inner_text()
