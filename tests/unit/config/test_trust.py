"""What is trusted, where that is kept, and what makes it void."""

import json
import multiprocessing
import os
import stat

import pytest

from kr_core.config import given, load, trust_store
from kr_core.errors import ConfigError, StorageError

TEXT = "plugins:\n  tool:\n    command: x\n"


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """The user's own state folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state/kr/trusted.json"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "kr.yaml").write_text(TEXT)
    return folder


def read(folder, file=None, environ=None):
    return load(folder, file, environ={} if environ is None else environ)


@pytest.mark.req("Z8")
def test_a_setting_that_runs_something_is_held_back_with_its_line_until_the_file_is_trusted(project):
    with pytest.raises(ConfigError) as caught:
        trust_store.require(read(project), "tool")
    assert str(caught.value) == (
        "kr.yaml:3: `plugins.tool.command` runs `x`, and this file is not trusted; "
        "read it, then allow it with `kr trust`"
    )
    trust_store.trust(read(project))
    trust_store.require(read(project), "tool")
    assert trust_store.forget(read(project))
    assert not trust_store.is_trusted(read(project))
    assert not trust_store.forget(read(project))


@pytest.mark.req("Z8")
def test_any_change_of_the_file_asks_anew_and_the_old_text_is_trusted_no_longer(project):
    trust_store.trust(read(project))
    (project / "kr.yaml").write_text(TEXT + "# a word\n")
    assert not trust_store.is_trusted(read(project))
    trust_store.trust(read(project))
    (project / "kr.yaml").write_text(TEXT)
    assert not trust_store.is_trusted(read(project))


@pytest.mark.req("Z8")
def test_the_text_that_was_read_is_what_is_trusted_not_one_written_meanwhile(project):
    config = read(project)
    (project / "kr.yaml").write_text(TEXT.replace("command: x", "command: rm"))
    trust_store.trust(config)
    assert trust_store.is_trusted(config)
    assert not trust_store.is_trusted(read(project))


@pytest.mark.req("Z8")
def test_the_same_text_elsewhere_is_not_trusted(project, tmp_path):
    trust_store.trust(read(project))
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "kr.yaml").write_text(TEXT)
    assert not trust_store.is_trusted(read(copy))
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "kr.yaml").symlink_to(project / "kr.yaml")  # {project-root}/tool would be another tool
    assert not trust_store.is_trusted(read(linked))
    moved = project.rename(tmp_path / "moved")
    assert not trust_store.is_trusted(read(moved))


@pytest.mark.req("Z8")
def test_a_file_is_the_same_by_whatever_way_it_is_found(project, tmp_path):
    trust_store.trust(read(project))
    below = project / "src"
    below.mkdir()
    (tmp_path / "link").symlink_to(project)
    assert trust_store.is_trusted(read(below))
    assert trust_store.is_trusted(read(tmp_path / "link"))
    assert trust_store.is_trusted(read(tmp_path, project / "src/../kr.yaml"))


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.kr.plugins.tool]\ncommand = "x"\n'),
        ("_bmad/bso/config.yaml", TEXT + "other: 1\n"),
        ("elsewhere.yaml", TEXT),
    ],
)
def test_every_kind_of_file_is_held_back_and_can_be_trusted(tmp_path, name, text):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    named = file if name == "elsewhere.yaml" else None
    with pytest.raises(ConfigError):
        trust_store.require(read(tmp_path, named), "tool")
    trust_store.trust(read(tmp_path, named))
    trust_store.require(read(tmp_path, named), "tool")


@pytest.mark.req("Z8")
def test_a_configuration_that_a_program_gives_is_its_own(tmp_path):
    trust_store.require(given({"plugins": {"tool": {"command": "x"}}}, tmp_path), "tool")


@pytest.mark.req("Z8")
def test_ci_may_trust_every_file_and_no_other_word_is_taken_for_that(project):
    trust_store.require(read(project, environ={"KR_TRUST": "all"}), "tool")
    with pytest.raises(ConfigError):
        trust_store.require(read(project, environ={"KR_TRUST": ""}), "tool")
    for word in ("1", "yes", "All", " all"):
        with pytest.raises(ConfigError, match="its only value is `all`"):
            read(project, environ={"KR_TRUST": word})


@pytest.mark.req("Z8")
def test_what_is_trusted_is_the_users_alone_and_what_is_damaged_is_not_trusted(project, state):
    trust_store.trust(read(project))
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert list(json.loads(state.read_text())["files"]) == [str(project / "kr.yaml")]
    for damaged in ("", "[]", "{", '{"files": []}', '{"files": 7}', "[" * 100_000):
        state.write_text(damaged)
        assert not trust_store.is_trusted(read(project))
        trust_store.trust(read(project))
        assert trust_store.is_trusted(read(project))


@pytest.mark.req("Z8")
def test_where_it_cannot_be_kept_that_is_said(project, state):
    state.parent.parent.mkdir()
    state.parent.write_text("a file")
    assert not trust_store.is_trusted(read(project))
    with pytest.raises(StorageError, match="cannot be written"):
        trust_store.trust(read(project))


def _trust_one(folder):
    folder.mkdir()
    (folder / "kr.yaml").write_text(TEXT)
    trust_store.trust(read(folder))


@pytest.mark.req("Z8")
def test_two_processes_that_trust_at_once_lose_nothing(tmp_path, state):
    folders = [tmp_path / f"p{number}" for number in range(8)]
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_trust_one, args=(folder,)) for folder in folders]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert all(trust_store.is_trusted(read(folder)) for folder in folders)
    assert os.listdir(state.parent) == ["trusted.json"]
