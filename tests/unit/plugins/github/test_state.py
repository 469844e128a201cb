"""What is kept of GitHub in the project, and how it is configured."""

import json
import os
import shutil
import stat
import threading

import pytest
from support.github_desk import Desk, case, failing

from kr_core import ConfigError
from kr_plugins.escalations.github import GitHub, GitHubSettings

# -- what is kept ------------------------------------------------------------------------------------------


def test_what_was_posted_is_known_after_a_line_was_cut_off(desk, github):
    """A process that was killed while it wrote spoils no other line."""
    place = desk.open(case("E1"))
    (ledger,) = (desk.folder / ".kr/github").iterdir()
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600
    with ledger.open("a") as file:
        file.write('{"will": "E2@1", "iss')
    desk.again().open(case("E2"))
    assert desk.again().open(case("E1")) == place
    assert len(github.of_kr()) == 2
    lines = [line for line in ledger.read_text().splitlines() if not line.endswith('"iss')]
    assert all(json.loads(line) for line in lines)


@pytest.mark.req("H5")
def test_state_that_is_replaced_while_a_program_runs_is_read_anew(desk, github):
    """As from a backup: nothing is read from the middle of another file."""
    place = desk.open(case("E1"))
    (ledger,) = (desk.folder / ".kr/github").iterdir()
    backup = ledger.read_bytes()
    desk.open(case("E2"))
    ledger.unlink()
    ledger.write_bytes(backup + b"\n" * 5_000)
    desk.open(case("E3"))
    assert desk.open(case("E1")) == place
    assert desk.again().open(case("E3")) == github.case("E3@1")[0]["html_url"]
    assert desk.channel._ledger.posted("E2@1") is None


def test_state_that_is_removed_while_a_program_runs_is_made_anew(desk, github):
    """And where that cannot be, it is told as any fault of a channel."""
    desk.open(case("E1"))
    folder = desk.folder / ".kr/github"
    shutil.rmtree(folder)
    assert "/issues/2#" in desk.open(case("E2"))
    shutil.rmtree(folder)
    folder.write_text("in the way")
    assert failing(desk, lambda: desk.open(case("E3"))).outcome == "unavailable"


def test_nobody_waits_for_the_disk(desk, github, monkeypatch):
    """What is noted of each thing that is posted is made durable beside what else a program does."""
    desk.open(case("E1"))
    by = []
    flush = os.fsync
    monkeypatch.setattr(
        "kr_plugins.escalations.github.outbox.os.fsync",
        lambda handle: (by.append(threading.current_thread() is threading.main_thread()), flush(handle))[1],
    )
    desk.open(case("E2"))
    assert by == [False, False]


def test_a_ledger_without_its_secret_is_told_with_what_to_do(desk, github):
    desk.open(case("E1"))
    (ledger,) = (desk.folder / ".kr/github").iterdir()
    ledger.write_text("{}\n")
    assert "remove it" in str(failing(desk, lambda: desk.again().open(case("E2"))))


def test_a_ledger_that_cannot_be_written_keeps_kr_from_posting(desk, github):
    """What nobody would know of after a crash is not posted."""
    (desk.folder / ".kr").mkdir()
    (desk.folder / ".kr/github").write_text("in the way")
    failing(desk, lambda: desk.open(case("E1")))
    assert github.requests("POST") == []


# -- settings ----------------------------------------------------------------------------------------------


def test_without_a_token_nothing_is_asked(tmp_path, github):
    desk = Desk(tmp_path, github, token=None)
    assert "set `token`" in str(failing(desk, lambda: desk.open(case())))
    assert github.asked == []


def test_a_token_with_characters_that_none_has_is_refused_unseen(tmp_path):
    with pytest.raises(ConfigError) as caught:
        GitHub(GitHubSettings(repository="a/b", token="ghp_secret\nx"), tmp_path)
    assert "ghp_secret" not in str(caught.value)


@pytest.mark.parametrize("repository", ["shop", "a/b/c", "https://github.com/a/b", "a b/c", "../b", ""])
def test_a_repository_is_an_owner_and_a_name(repository):
    with pytest.raises(ValueError, match="repository"):
        GitHubSettings(repository=repository)


@pytest.mark.req("G5")
@pytest.mark.parametrize(
    "url", ["http://ghe.example/api/v3", "http://127.0.0.1.example", "http://10.0.0.7", "http://[::2]"]
)
def test_a_token_is_sent_without_encryption_on_this_machine_alone(url):
    with pytest.raises(ValueError, match="without encryption"):
        GitHubSettings(repository="a/b", base_url=url)
    for here in (
        "http://127.0.0.1:8080",
        "http://localhost/api/v3",
        "http://[::1]:1",
        url.replace("http:", "https:"),
    ):
        assert GitHubSettings(repository="a/b", base_url=here).base_url == here


@pytest.mark.req("H4")
def test_that_somebody_may_read_is_not_enough_to_answer():
    """In a public repository everybody may."""
    with pytest.raises(ValueError, match="minimum_permission"):
        GitHubSettings(repository="a/b", minimum_permission="read")
