"""Dispatched tasks on the page: where each is, one with its log, what is hostile, and in a real browser while one runs."""

import pytest
from support.browser import chromium, faults, tab
from support.inbox_page import elements, served, words

from kr_core.dispatch.record import GrantRequest, RefusedPath, TaskRecord, keep
from kr_core.model import Event, new_id

pytestmark = pytest.mark.req("X6", "I3")

HOSTILE = "<script>window.hit = 1</script><img src='/hit.png' onerror='window.hit = 2'>"


def put(inbox, id_, status="queued", feature="001-x", **more):
    """Put a task on record as it is now."""
    record = TaskRecord(feature=feature, id=id_, title=f"Implement {id_}", role="dede", status=status, **more)
    run = new_id()
    about = {
        "exchange_id": run,
        "feature_id": feature,
        "question_id": id_,
        "reason": record.reason,
        "status": status,
    }
    keep(inbox.service.pipeline.journal, record, [Event("task.finished", run, about, f"{run}-1")])
    return record


def seen_on(page):
    return " ".join(words(page).split())


@pytest.fixture(scope="module")
def inbox(tmp_path_factory):
    with served(tmp_path_factory.mktemp("tasks") / "project") as made:
        yield made


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


def test_the_list_and_one_task(inbox):
    """Each with its status; one with what it changed, what was refused, what it asks for, its output and its difference."""
    aside = inbox.service.pipeline.config.root / ".kr/dispatch/aside/x.patch"
    aside.parent.mkdir(parents=True, exist_ok=True)
    aside.write_text("+++ b/README.md\n+mine\n")
    put(inbox, "T001", "succeeded", changed=("src/a.py",), commit="abc123")
    put(
        inbox, "T002", "blocked_by_scope", reason="README.md: outside", refused=(RefusedPath(path="README.md", reason="outside"),),
        requests=(GrantRequest(path="README.md", escalation="E7"),), output="I wrote it.", patch=".kr/dispatch/aside/x.patch",
    )  # fmt: skip
    with inbox.person() as person:
        listed = person.open("/tasks").text
        assert "1 of 2 succeeded" in seen_on(listed)
        assert "T002 Implement T002 blocked by its scope dede README.md: outside" in seen_on(listed)
        page = person.open("/tasks/one?key=001-x/T002")
    seen = seen_on(page.text)
    for said in (
        "README.md refused: outside",
        "E7 waits for your answer",
        "I wrote it.",
        "+mine",
        "task.finished",
    ):
        assert said in seen
    assert "/cases/E7" in [pairs.get("href") for _tag, pairs in elements(page.text)]


@pytest.mark.req("Z4")
def test_what_agents_say_is_text(inbox):
    """Nothing of a hostile record becomes an element; an unknown task is refused in words."""
    put(
        inbox, f"T9{HOSTILE}", "failed", feature=f"../..{HOSTILE}", reason=HOSTILE, output=HOSTILE, changed=(HOSTILE,),
        refused=(RefusedPath(path=HOSTILE, reason=HOSTILE),), patch="../../../../etc/passwd",
    )  # fmt: skip
    with inbox.person() as person:
        listed = person.open("/tasks").text
        links = [pairs.get("href", "") for tag, pairs in elements(listed) if tag == "a"]
        page = person.open(next(link for link in links if "T9" in link)).text
        missing = person.open(f"/tasks/one?key={HOSTILE}")
    for text in (listed, page, missing.text):
        found = elements(text)
        assert [tag for tag, _pairs in found if tag in {"img", "iframe", "object"}] == []
        assert [pairs for tag, pairs in found if tag == "script" and "src" not in pairs] == []
    assert "window.hit = 1" in words(page)
    assert "root:" not in page
    assert missing.status_code == 404


def test_a_task_is_looked_at_while_it_runs(inbox, browser):
    """The page says what has moved, and shows it, without being loaded again; nothing on it is at fault."""
    put(inbox, "T101", "queued", feature="002-live")
    with tab(browser, inbox.url) as page:
        page.goto("/tasks")
        row = page.locator('[data-task="002-live/T101"]')
        row.locator(".badge", has_text="queued").wait_for()
        put(inbox, "T101", "running", feature="002-live")
        row.locator(".badge", has_text="running").wait_for()
        page.locator("#news", has_text="T101 running.").wait_for()
        row.get_by_role("link").click()
        page.locator(".badge", has_text="running").wait_for()
        put(inbox, "T101", "succeeded", feature="002-live", changed=("src/a.py",))
        page.locator("#news", has_text="T101 succeeded.").wait_for()
        assert page.locator("#paths + ul", has_text="src/a.py").count() == 1
        assert faults(page) == []
        page.goto("/tasks")
        assert faults(page) == []
        assert page.evaluate("window.hit") is None


def test_without_a_script_it_can_be_read(inbox, browser):
    """The list leads to one."""
    put(inbox, "T201", "succeeded", feature="003-plain")
    with tab(browser, inbox.url, java_script_enabled=False) as page:
        page.goto("/")
        page.get_by_role("link", name="Tasks").click()
        page.get_by_role("link", name="T201").click()
        assert "Implement T201" in page.locator("h1").inner_text()
