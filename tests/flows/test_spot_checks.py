"""Spot checks on the page of `kr serve`, at a real terminal, and of answers of research."""

import pytest
from support.asked import Says, said, service
from support.browser import chromium, faults, keep, tab
from support.inbox_page import served
from support.projects import TEXT, Given, found
from support.terminals import Terminal

from kr_core import Question
from kr_core.research.rejection import reject
from kr_core.review.spot_check_review import SpotChecks

pytestmark = pytest.mark.req("Q14")
HIGH = {"installed_docs": Given(found())}
SURE = said("Use **Redis**. <script>alert(1)</script>", 95)


def accepted(inbox, count=1):
    for number in range(count):
        question = Question(text=f"Which store for part {number}?", topic="authentication")
        assert inbox.run(inbox.service.ask(question)).status == "accepted"


def judged(made):
    return [one.right for one in made.service.pipeline.components.verdicts.read().judged]


# -- the page --------------------------------------------------------------------------------------------------


def test_a_card_on_the_page_is_judged_without_a_script(tmp_path):
    """It has question, claim, passage and KR's verdict; then the next card comes, and at last none."""
    with served(tmp_path, duc=Says(SURE)) as inbox, inbox.person() as person:
        accepted(inbox, 3)
        page = person.open("/checks").text
        for part in ("3 accepted answers wait", "Which store for part 0?", "<strong>Redis</strong>", "It expires keys by itself.", "confidence 95 is at least 80"):  # fmt: skip
            assert part in page, part
        assert "<script>alert" not in page
        assert "Which store for part 1?" in person.open("/checks?after=S1").text
        person.open("/checks")
        for verdict in ("right", "wrong", "unsure"):
            page = person.fill("", by="Grace Hopper", verdict=verdict).text
        assert "Nothing waits for a check." in page
        assert judged(inbox) == [True, False]


@pytest.mark.parametrize(
    ("filled", "status", "said"),
    [
        ({"verdict": "maybe"}, 422, "right, wrong, or that you cannot tell"),
        ({"verdict": "right", "by": " "}, 422, "Say who you are"),
        ({"verdict": "right", "form": "another"}, 403, "another run of the server"),
    ],
)
def test_a_verdict_that_cannot_be_taken_is_refused_and_the_card_stays(tmp_path, filled, status, said):
    """With the reason on the page."""
    with served(tmp_path, duc=Says(SURE)) as inbox, inbox.person() as person:
        accepted(inbox)
        person.open("/checks")
        page = person.fill("", **filled)
        assert (page.status_code, said in page.text, "Which store for part 0?" in page.text) == (
            status,
            True,
            True,
        )
        assert judged(inbox) == []


def test_who_comes_second_on_the_page_is_told(tmp_path):
    """A card that somebody else judged meanwhile is gone; one that there never was is refused alike."""
    with served(tmp_path, duc=Says(SURE)) as inbox, inbox.person() as first, inbox.person() as second:
        accepted(inbox, 2)
        first.open("/checks")
        second.open("/checks")
        first.fill("S1", verdict="right")
        page = second.fill("S1", verdict="wrong")
        assert (page.status_code, "no spot check S1 waits" in page.text) == (409, True)
        assert judged(inbox) == [True]
        assert second.open("/checks/S99").url.path == "/checks"


def test_one_key_each_in_a_browser(tmp_path):
    """`r`, `w` and `c` judge the card that is shown; what is typed into a field judges nothing."""
    with chromium() as browser, served(tmp_path, duc=Says(SURE)) as inbox:
        accepted(inbox, 4)
        with tab(browser, inbox.url, viewport={"width": 1280, "height": 900}) as page:
            page.goto("/checks")
            keep(page, "checks")
            assert faults(page) == []
            for number, key in enumerate("rwc"):
                page.get_by_text(f"Which store for part {number}?").wait_for()
                page.keyboard.press(key)
            page.get_by_text("Which store for part 3?").wait_for()
            page.locator("#because").fill("")
            page.locator("#because").press("w")
            assert page.locator("#because").input_value() == "w"
        assert judged(inbox) == [True, False]


# -- the terminal ----------------------------------------------------------------------------------------------


def test_one_key_each_at_a_terminal(tmp_path, environ):
    """Card after card, without Return; `l` leaves one, and `q` ends."""
    with service(tmp_path / "p", duc=Says(said("Use Redis.", 95))) as made:
        for number in range(5):
            made.ask(Question(text=f"Which store for part {number}?", topic="storage"))
    one = Terminal("inbox", "check", "--by", "ada", cwd=tmp_path / "p", env={**environ, "KR_TRUST": "all"})
    for number, key in enumerate("rxwclq"):
        place = number - (number > 1)
        one.until(f"{place + 1} of 5") if key != "x" else None
        one.press(key)
    code, _out = one.end()
    assert code == 0
    with service(tmp_path / "p") as made:
        assert [check.id for check in SpotChecks(made.pipeline).waiting()] == ["S4", "S5"]
        assert [check.right for check in made.pipeline.components.verdicts.read().judged] == [True, False]


# -- research --------------------------------------------------------------------------------------------------


@pytest.mark.req("A8", "Q14")
def test_a_high_answer_of_research_is_drawn_and_a_wrong_one_leaves_the_knowledge_base(bench):
    """Its card has the quote that it begins with; a hit of the same answer is not drawn again."""
    pipeline = bench.pipeline(HIGH)
    first = pipeline.research(bench.request()).result.results
    assert first.confidence == "high"
    assert pipeline.research(bench.request()).result.results.cache_hit
    checks = SpotChecks(pipeline)
    (card,) = checks.cards()
    assert card.entry == first.cache_entry_id
    assert (card.passage in TEXT, bool(card.passage), card.verdict[:6]) == (True, True, "high, ")
    checks.judge(card.id, "wrong", "ada", "It is another function.")
    assert list(pipeline.store.entries()) == []
    kinds = [event.kind for _, event in pipeline.journal.read(0, 1000)]
    assert kinds[-2:] == ["answer.checked", "answer.rejected"]
    (one,) = pipeline.components.verdicts.read().judged
    assert (one.subject.quantity, one.right, one.confidence) == ("research", False, first.score)


def test_a_card_of_an_answer_that_is_gone_says_so(bench):
    """Its entry was rejected before anybody looked; the verdict is still taken."""
    pipeline = bench.pipeline(HIGH)
    pipeline.research(bench.request())
    reject(pipeline.components, pipeline.store.entries()[0], "")
    checks = SpotChecks(pipeline)
    assert checks.cards()[0].claim == "the answer is no longer in the knowledge base"
    assert checks.judge("S1", "wrong", "ada") == ()


def test_an_answer_of_research_that_is_not_high_is_not_drawn(bench):
    """Nor is any where `audit` is off."""
    low = bench.pipeline({"web": Given(found("Parcels wait for a timeout.", official=False))})
    assert low.research(bench.request()).result.results.confidence != "high"
    assert SpotChecks(low).waiting() == []
    bench.configure("audit: false")
    off = bench.pipeline(HIGH)
    off.research(bench.request(topic="another timeout", question="What is the timeout of send in parcel?"))
    assert SpotChecks(off).waiting() == []
