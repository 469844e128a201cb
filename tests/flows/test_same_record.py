"""A decision stands on the record in the same way, whichever way it came: GitHub, the page, or the terminal."""

import pytest
from support.github_server import REPOSITORY, TOKEN, github_server
from support.inbox_page import served

from kr_core import HumanResponse
from kr_plugins.escalations.github import GitHub, GitHubSettings

OF_A_WAY = {"escalation.shown", "escalation.told", "channel.request"}
OF_A_CASE = {"exchange_id", "question_id", "escalation_id", "channel", "seconds", "calibration"}


@pytest.fixture(scope="module")
def github():
    with github_server() as server:
        server.permissions.update(ann="write")
        yield server


@pytest.fixture(scope="module")
def inbox(tmp_path_factory, github):
    folder = tmp_path_factory.mktemp("inbox")
    channel = GitHub(GitHubSettings(repository=REPOSITORY, token=TOKEN, base_url=github.url), folder / ".kr")
    with served(folder, user="ann", config={"escalations": ["web", "github"]}, escalations=[channel]) as made:
        yield made


def by_github(inbox, github, name, action, text):
    github.write("ann", 1, f"/kr {action} {name}@1 {text}")
    assert inbox.run(inbox.service.tend()).applied == 1


def by_page(inbox, _github, name, action, text):
    with inbox.person() as person:
        person.open(f"/cases/{name}")
        person.fill("/reply", action=action, **({f"text_{action}": text} if text else {}))


def by_terminal(inbox, _github, name, action, text):
    inbox.run(inbox.service.reply(name, HumanResponse(action=action, content=text, by="ann", revision=1)))


@pytest.mark.req("H2", "H3")
@pytest.mark.parametrize(("action", "text"), [("confirm", ""), ("correct", "Use Postgres.")])
def test_all_ways_leave_the_same_record(inbox, github, action, text):
    """But for ids, times and what a way says of itself, nothing tells the three apart."""
    records = []
    for decide in (by_github, by_page, by_terminal):
        name = inbox.ask(feature_id="F-1")
        decide(inbox, github, name, action, text)
        case = inbox.case(name)
        assert (case.status, case.resolution.by) == ("resolved", "ann")
        events = [event for _, event in inbox.service.pipeline.journal.entries(limit=10_000)]
        mine = [event for event in events if event.data.get("exchange_id") == case.request.exchange_id]
        records.append(
            [
                (event.kind, {key: value for key, value in event.data.items() if key not in OF_A_CASE})
                for event in mine
                if event.kind not in OF_A_WAY
            ]
        )
    of_github, of_page, of_terminal = records
    assert [kind for kind, _ in of_page][-3:] == ["human.replied", "answer.received", "exchange.finished"]
    assert of_github == of_page == of_terminal
