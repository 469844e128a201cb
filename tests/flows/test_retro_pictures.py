"""The figures of a retrospective: one page of HTML by itself, and the same on the page of `kr serve`."""

import re
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree as ET

import pytest
from support.asked import Says, said, service
from support.browser import chromium, faults, keep, tab
from support.inbox_page import served

from kr_core import HumanResponse, Question
from kr_core.retro import pictures
from kr_core.retro.logged_questions import AnswerRound, AskedQuestion
from kr_core.review.spot_check_review import SpotChecks
from kr_core.terminal_text import printable

pytestmark = pytest.mark.req("V6")
FEATURE = "F 1 <b>"
NAMES = ["reliability", "risk-coverage", "topics-agents", "timeline"]


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A feature with 20 verdicts and a topic that is no plain text."""
    folder = tmp_path_factory.mktemp("pictures")
    with served(folder, duc=Says(*[said("Redis.", 50 + number) for number in range(25)])) as inbox:
        for number in range(20):
            topic = "caching" if number % 3 else "data <i>\u5b89\u5168\x1b]0;\x07\u202e"
            asked = inbox.run(
                inbox.service.ask(
                    Question(text=f"Which {number}?", topic=topic, feature_id=FEATURE, suggested_target="duc")
                )
            )
            if asked.escalation is not None:
                action, content = ("correct", "No.") if number % 2 else ("confirm", "")
                inbox.run(
                    inbox.service.reply(
                        asked.escalation.id, HumanResponse(action=action, content=content, by="ada")
                    )
                )
        inbox.folder = folder
        yield inbox


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_in_a_browser(made, browser, scheme):
    """Each figure is drawn under the page's strict policy, in its ink, with a text and a table; axe finds nothing."""
    with tab(browser, made.url, color_scheme=scheme) as page:
        page.goto("/retro/F%201%20%3Cb%3E")
        assert page.locator("h1").inner_text() == f"Retrospective: {FEATURE}"
        assert page.locator("section.picture h2").all_inner_texts() == [
            "Stated and true", "Risk and coverage", "Topics and agents", "Course of time",
        ]  # fmt: skip
        assert page.locator("svg.figure").count() == 4
        ink = page.evaluate("getComputedStyle(document.querySelector('svg.figure text')).fill")
        assert ink == page.evaluate("getComputedStyle(document.body).color")
        assert "n = " in page.locator("#reliability-text").inner_text()
        page.locator("summary").first.click()
        assert page.locator("section.picture td").first.is_visible()
        assert faults(page) == []
        keep(page, f"retro-{scheme}")


def test_the_page_by_itself(made, kr_here):
    """`kr retro FEATURE --html` is one file that loads nothing, and whose figures are XML with ids of their own."""
    shown = kr_here("retro", FEATURE, "--html", cwd=made.folder)
    assert shown.code == 0, shown.err
    assert "<b>" not in shown.out
    assert "<i>" not in shown.out
    assert not re.search(r"<script|<link|<img|\bsrc=|url\((?!#)|style=", shown.out)
    assert printable(shown.out) == shown.out, "nothing in it steers a terminal or turns the reading direction"
    figures = re.findall(r"<svg.*?</svg>", shown.out, re.DOTALL)
    assert len(figures) == 4
    ids = [
        one.attrib["id"] for figure in figures for one in ET.fromstring(figure).iter() if "id" in one.attrib
    ]
    assert len(ids) == len(set(ids))
    assert "<image" not in shown.out


@pytest.mark.req("Z8")
def test_many_who_load_the_page_at_once_share_its_drawing(made, monkeypatch):
    """A page of a stranger can have a browser load it many times; that holds up no one else."""
    from matplotlib.figure import Figure  # which takes a second, in each process that collects the tests

    drawn, draw = [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda *given, **named: drawn.append(1) or draw(*given, **named))
    with made.program() as program, ThreadPoolExecutor(20) as pool:
        pages = list(pool.map(lambda _: program.get("/retro/F%201%20%3Cb%3E"), range(20)))
    assert {page.status_code for page in pages} == {200}
    assert len(drawn) <= 10 * 4
    assert printable(pages[0].text) == pages[0].text


@pytest.mark.req("Q14")
def test_the_page_says_what_is_proven_of_accepted_answers(tmp_path, kr_here):
    """As the report on the terminal does: by topic, and an estimate for an agent once some are checked."""
    with service(tmp_path / "p", duc=Says(said("Redis.", 95))) as one:
        for text in ("Which store?", "Which queue?"):
            one.ask(Question(text=text, topic="<i>", feature_id=FEATURE, suggested_target="duc"))
        checks = SpotChecks(one.pipeline)
        for check in checks.waiting():
            checks.judge(check.id, "right", "ada")
    shown = kr_here("retro", FEATURE, "--html", cwd=tmp_path / "p").out
    assert "<li>&lt;i&gt;: not enough verdicts (2 of 38)</li>" in shown
    assert re.search(
        r"<li>duc: about \d+% of its accepted answers are right \(\d+% to 100%, 2 checked\)</li>", shown
    )


def test_a_feature_that_is_not_there(made, browser):
    """The page says so."""
    with browser.new_context(base_url=made.url).new_page() as page:
        answer = page.goto("/retro/none")
        assert answer.status == 404
        assert "the log has no question of this feature" in page.content()


def test_too_few_verdicts_are_told_and_not_drawn():
    """With 12 of 20 verdicts there is no curve; control characters in names do no harm."""
    asked = [
        AskedQuestion(
            str(number), rounds=[AnswerRound("x", "d\x00uc", "", "a\x1b$b$", "", 80, True, 80, "e", True)]
        )
        for number in range(12)
    ]
    drawn = {one.name: one for one in pictures.pictures(asked)}
    assert list(drawn) == NAMES
    assert drawn["reliability"].text == "Not enough verdicts (12 of 20)."
    assert (drawn["reliability"].svg, drawn["timeline"].svg) == ("", "")
    assert ET.fromstring(drawn["topics-agents"].svg) is not None
    assert pictures.pictures([])[2].svg == ""


def test_without_matplotlib(made, kr_here, monkeypatch):
    """The error has the command that installs it."""

    def missing(name):
        return None

    monkeypatch.setattr("importlib.util.find_spec", missing)
    shown = kr_here("retro", FEATURE, "--html", cwd=made.folder)
    assert shown.code == 3
    assert 'pip install "kr-core[pictures]"' in shown.err
