"""A result that was shown before, shown again only while nothing that it rests on has changed."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.fork_server import kr_argv
from support.projects import PARCEL, install

from kr_core.cli import replay
from kr_core.plugin import LightAppender
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

ASK = ("research", "What does the timeout of parcel.send mean?", "--framework", "parcel")


def without_session(text):
    value = json.loads(text)
    return {**value, "session_id": "", "story_key": ""}


@pytest.fixture
def started(kr_here, monkeypatch):
    """Run `kr` in this process as if it began with this call, without `KR_TRUST`, as a process of `kr` has it."""

    def run(*arguments, env=None):
        monkeypatch.setattr(replay, "STARTED", time.time_ns() - 20_000_000)
        return kr_here(*arguments, env={"KR_TRUST": "", **(env or {})})

    return run


@pytest.fixture
def memo(started, environ):
    """The kept result of a question that was asked once; `memo()` finds it."""
    assert started(*ASK, "--json").code == 0

    def find():
        files = list((Path(environ["XDG_STATE_HOME"]) / "kr/hits").glob("*.json"))
        assert len(files) == 1
        return files[0]

    find()
    return find


@pytest.fixture
def repeated(started, project_folder, memo):
    """Ask again; also whether the kept result served, as the journal tells."""

    def run(*more, **options):
        before = kinds(project_folder).count("run.repeated")
        done = started(*ASK, "--json", *more, **options)
        return done, kinds(project_folder).count("run.repeated") > before

    return run


def kinds(folder):
    connection = sqlite3.connect(folder / ".kr/journal.sqlite")
    try:
        return [kind for (kind,) in connection.execute("SELECT kind FROM events ORDER BY number")]
    finally:
        connection.close()


@pytest.mark.req("R4")
def test_it_equals_the_full_way(kr, repeated):
    """What is repeated is what a look-up would have said, but for the session."""
    done, served = repeated()
    assert served
    full = kr(*ASK, "--json", "-v")
    assert without_session(done.out) == without_session(full.out)
    assert json.loads(done.out)["session_id"] != json.loads(repeated()[0].out)["session_id"]
    assert (done.code, done.err) == (0, "")
    text = kr(*ASK).out
    assert kr(*ASK).out == text
    assert text.startswith("# parcel 1.4.0")


@pytest.mark.req("R4")
def test_its_event_lands_in_the_journal(repeated, project_folder):
    """A repeated result is told in the journal, with its session, and in the log at the next full run."""
    done, served = repeated()
    assert served
    connection = sqlite3.connect(project_folder / ".kr/journal.sqlite")
    data, stamp = connection.execute("SELECT data, time FROM events WHERE kind = 'run.repeated'").fetchone()
    connection.close()
    event = json.loads(data)
    assert event["session_id"] == json.loads(done.out)["session_id"]
    assert (event["status"], event["entry"]) == (
        "cache-hit",
        json.loads(done.out)["results"]["cache_entry_id"],
    )
    repeated("-v")
    logged = [json.loads(line) for line in (project_folder / ".kr/log.jsonl").read_text().splitlines()]
    assert [(line["time"], line["data"]) for line in logged if line["kind"] == "run.repeated"] == [
        (stamp, event)
    ]


@pytest.mark.req("G2")
def test_its_event_is_in_the_chain(repeated, project_folder):
    """The journal's hashes hold over events of repeated results, before and after those of full runs."""
    assert repeated()[1]
    assert repeated()[1]
    assert not repeated("-v")[1]
    assert repeated()[1]
    assert kinds(project_folder)[-1] == "run.repeated"
    journal = SQLite(project_folder / ".kr")
    assert journal.verify() == []
    journal.close()


def change(folder, what):
    """Change one thing that an answer may rest on."""
    base = folder / "knowledge-base"
    (report,) = (base / "frameworks/parcel").glob("*.md")
    if what == "report":
        report.write_text(report.read_text().replace("## Summary", "## Summary\n\nAltered."))
    elif what == "same size and time":
        status = report.stat()
        text = report.read_text()
        report.write_text(text.replace("parcel", "PARCEL"))
        os.utime(report, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif what == "report gone":
        report.unlink()
    elif what == "evidence":
        report.with_suffix(".evidence.json").write_text("{}")
    elif what == "index":
        index = base / "index.yaml"
        index.write_text(index.read_text().replace("fresh", "stale"))
    elif what == "index gone":
        (base / "index.yaml").unlink()
    elif what == "configuration":
        (folder / "kr.yaml").write_text("knowledge_research: {max_calls_per_story: 2}\n")
    elif what == "pyproject":
        (folder / "pyproject.toml").write_text("[tool.kr.knowledge_research]\nenabled = false\n")
    elif what == "lock file":
        (folder / "uv.lock").write_text('version = 1\n[[package]]\nname = "parcel"\nversion = "2.0.0"\n')
    elif what == "environment":
        site = folder / ".venv/lib/python3.12/site-packages"
        for path in site.glob("parcel-*/*"):
            path.unlink()
        (site / "parcel-1.4.0.dist-info").rmdir()
        install(site, "parcel", "2.0.0", {"parcel/__init__.py": PARCEL})
    else:
        raise AssertionError(what)


@pytest.mark.req("R4")
@pytest.mark.parametrize(
    "what",
    [
        "report",
        "same size and time",
        "report gone",
        "evidence",
        "index",
        "index gone",
        "configuration",
        "pyproject",
        "lock file",
        "environment",
    ],
)
def test_a_change_makes_it_void(repeated, project_folder, what):
    """After any change the full way is taken, which sees the change."""
    assert repeated()[1]
    change(project_folder, what)
    done, served = repeated()
    assert not served
    results = json.loads(done.out)["results"]
    if what == "configuration":
        assert results["budget_remaining"] == 2
    elif what == "environment":
        assert results["match"]["version"] == "2.0.0"
    elif what == "pyproject":
        assert done.code == 2
    elif what in {"index", "index gone", "report gone"}:
        assert not results["cache_hit"]


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "HOME", "KR_CACHE_DIR", "CONDA_PREFIX"])
def test_another_environment(repeated, tmp_path, variable):
    """An environment variable that could change the answer is part of the question."""
    assert not repeated(env={variable: str(tmp_path)})[1]
    assert repeated()[1]


def test_another_day(repeated, memo):
    """What was kept on another day is not shown."""
    kept = json.loads(memo().read_text())
    assert kept["day"] == time.strftime("%Y-%m-%d")
    kept["day"] = "2020-02-02"
    memo().write_text(json.dumps(kept))
    assert not repeated()[1]
    assert repeated()[1]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"null",
        b"{}{}",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": 5}',
        {"guards": 7},
        {"guards": []},
        {"guards": [7]},
        {"guards": [["\0", 1, 2, 3]]},
        {"stdout": 7},
        {"event": []},
        {"exit_code": "0"},
        {"exit_code": 3},
        {"format": 1},
        {"place": 7},
        {"place": "\0"},
        {"place": "/no/such/folder/journal"},
        {"appender": 7},
        {"appender": ""},
        {"appender": "no_such_module"},
        {"appender": "json"},
        {"key": "another"},
    ],
    ids=str,
)
def test_garbage(repeated, memo, text):
    """A kept result that is spoilt is passed over, no event is written for it, and it is mended."""
    file = memo()
    file.write_bytes(
        text if isinstance(text, bytes) else json.dumps({**json.loads(file.read_text()), **text}).encode()
    )
    done, served = repeated()
    assert (done.code, served, done.err) == (0, False, "")
    assert json.loads(done.out)["status"] == "cache-hit"
    assert repeated()[1]


@pytest.mark.parametrize("damage", ["gone", "rubbish", "folder", "newer"])
def test_without_the_journal(kr, project_folder, memo, damage):
    """Where its event cannot be written a result is not repeated."""
    journal = project_folder / ".kr/journal.sqlite"
    for extra in project_folder.glob(".kr/journal.sqlite-*"):
        extra.unlink()
    if damage == "newer":
        connection = sqlite3.connect(journal)
        connection.execute("PRAGMA user_version = 99")
        connection.close()
    else:
        journal.unlink()
    if damage == "rubbish":
        journal.write_bytes(b"rubbish" * 1000)
    elif damage == "folder":
        journal.mkdir()
    done = kr(*ASK, "--json")
    assert done.code == (0 if damage == "gone" else 3), done
    assert len(done.err.splitlines()) == (0 if damage == "gone" else 1)


@pytest.mark.req("R7")
def test_budgets_are_never_repeated(kr, project_folder, memo):
    """What a session has left is looked up; a story without a session has all of its budget."""
    from support.projects import Bench, Given

    from kr_core import Finding

    for story in ("3-1", "0-0"):
        for _ in range(2):
            done = kr(*ASK, "--json", "--story", story)
            assert json.loads(done.out)["results"]["budget_remaining"] == 3
    bench = Bench(project_folder)
    request = {**Bench.request(story="3-1", session="s9"), "refresh": True}
    bench.ask({"net": Given(Finding(outcome="empty"), external=True)}, request)
    bench.close()
    done = kr(*ASK, "--json", "--story", "3-1", "--session", "s9")
    assert json.loads(done.out)["results"]["budget_remaining"] == 2
    assert "run.repeated" not in kinds(project_folder)[-1:]


@pytest.mark.parametrize(
    "arguments",
    [["--refresh"], ["--session", "s"], ["--session=s"], ["--request", "f"], ["--batch=f"], ["--config", "c"],
     ["-v"], ["-qv"], ["-vC."], ["-qh"], ["--verbose"], ["--max-calls=2"], ["--help"]],
)  # fmt: skip
def test_what_is_never_kept(arguments):
    """With these a result depends on more than files, or is wanted anew."""
    assert not replay.may_keep(["research", "a question", *arguments])


def test_settings_from_the_environment(kr, project_folder, environ):
    """Where a plugin's settings come from the environment, nothing is kept: they may change unseen."""
    (project_folder / "kr.yaml").write_text("plugins: {files: {folder: {env: PLACE}}}\n")
    kr(*ASK, "--json", env={"PLACE": "x"})
    assert not (Path(environ["XDG_STATE_HOME"]) / "kr/hits").exists()


def test_many_at_once(project_folder, environ, memo):
    """Processes that repeat, and change, the same result at once all answer, and leave no temporary file."""
    command = kr_argv(environ, *ASK, "--json")
    started = [
        subprocess.Popen(
            [*command, *(["-v"] if number % 3 == 0 else [])],
            cwd=project_folder,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for number in range(9)
    ]
    answers = [json.loads(process.communicate(timeout=300)[0]) for process in started]
    assert {answer["status"] for answer in answers} == {"cache-hit"}
    assert len({answer["session_id"] for answer in answers}) == 9
    assert [path.suffix for path in memo().parent.iterdir()] == [".json"]


def test_old_ones_are_taken_away(tmp_path):
    """No more than five hundred results are kept."""
    for number in range(505):
        (tmp_path / f"{number}.json").write_text("{}")
        os.utime(tmp_path / f"{number}.json", (number, number))
    replay._prune(str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 500
    assert not (tmp_path / "4.json").exists()


def test_a_change_while_it_ran(tmp_path, monkeypatch):
    """A file that changed since this process began may have been read before: nothing is kept on it."""
    file = tmp_path / "uv.lock"
    assert not replay.changed_since_start(replay.state(str(file)))
    file.write_text("")
    assert replay.changed_since_start(replay.state(str(file)))
    monkeypatch.setattr(replay, "STARTED", time.time_ns() + 10**9)
    assert not replay.changed_since_start(replay.state(str(file)))


@pytest.mark.parametrize(
    "arguments", [["-C", "there"], ["-Cthere"], ["-C=there"], ["-qCthere"], ["-q", "-C", "x", "-Cthere"]]
)
def test_the_project_may_be_elsewhere(arguments):
    """A result is kept in whatever form `-C` is written; it is part of the question."""
    assert replay.may_keep(["research", "a question", *arguments])


def test_the_event_lands_in_the_journal_of_the_project(kr, project_folder, tmp_path):
    """A question asked from elsewhere, or from a folder below the project, is told where the project is."""
    (project_folder / "kr.yaml").write_text("{}\n")
    (project_folder / "below").mkdir()
    for where, more in ((tmp_path, ("-C", str(project_folder))), (project_folder / "below", ())):
        before = kinds(project_folder).count("run.repeated") if (project_folder / ".kr").exists() else 0
        for _ in range(3):
            assert kr(*ASK, *more, cwd=where).code == 0
        assert kinds(project_folder).count("run.repeated") >= before + 1


def test_nothing_is_not_kept(tmp_path, monkeypatch):
    """An empty text is no result to repeat."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    replay.keep(["research"], appender=LightAppender("", ""), guards=[], stdout="", exit_code=0, event={})
    assert not list(tmp_path.iterdir())


@pytest.mark.req("R14")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_output_without_room_is_told(repeated, environ, project_folder):
    """As by any other command."""
    assert repeated()[1]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kr_core", *ASK, "--json"], check=False, cwd=project_folder,
            env={**environ, "KR_TRUST": ""}, stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "no room is left" in done.stderr
