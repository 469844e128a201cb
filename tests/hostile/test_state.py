"""What a clone or an archive brings as `.kr/`: nothing of it is shown, run or waited for."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import subprocess
from importlib import import_module

import platformdirs
import pytest
from flows.conftest import NOWHERE
from support.commands import run_here
from support.fork_server import run_program
from support.projects import PARCEL, Done, install, make_environment
from support.regexes import seconds_for

from kr_core import Event, StorageError
from kr_core.cli import replay
from kr_core.git_index import tracks
from kr_core.search.documents.sqlite_index import DocumentStore
from kr_plugins.journals import sqlite_append
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

pytestmark = pytest.mark.req("Z8")

ASK = ("research", "How do I set the timeout of a parcel?", "--framework", "parcel")
COMMANDS = (ASK, ("doctor",), ("log", "--verify"), ("inbox", "poll"), ("inbox", "list"), ("cache", "gc"))
_GUARD_SECONDS = 120
HANGS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
FORGED = {
    "a view that never ends": "DROP TABLE events; CREATE VIEW events AS " + HANGS,
    "a view beside": f"CREATE VIEW helper AS {HANGS}",
    "a trigger that takes away": "CREATE TRIGGER t AFTER INSERT ON documents BEGIN DELETE FROM documents; END",
    "a trigger that hides": "CREATE TRIGGER t AFTER INSERT ON events BEGIN UPDATE events SET data = '{}'; END",
    "a table more": "CREATE TABLE more (x)",
    "an index more": "CREATE INDEX more ON events (kind)",
    "an index over an expression": "CREATE INDEX more ON events (length(upper(data)))",
    "a virtual table": "CREATE VIRTUAL TABLE more USING fts5(x)",
    "a generated column": "ALTER TABLE events ADD COLUMN more TEXT AS (upper(data)) VIRTUAL",
    "a check": "DROP TABLE steps; CREATE TABLE steps (run TEXT, key TEXT, result TEXT CHECK (result <> ''))",
    "a table less": "DROP TABLE steps",
    "a name in quotes": 'DROP TABLE chain; CREATE TABLE chain ("dense_after INTEGER NOT NULL -- \n")',
    "another space": "DROP TABLE chain; CREATE TABLE chain (dense_after\u00a0INTEGER NOT NULL)",
}


@pytest.fixture
def project(tmp_path):
    """A project that documents the package `parcel`."""
    folder = tmp_path / "project"
    folder.mkdir()
    install(make_environment(folder), "parcel", "1.4.0", {"parcel/__init__.py": PARCEL})
    return folder


@pytest.fixture
def environ(tmp_path):
    """The environment of commands, with the user's folders in `tmp_path`."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("VIRTUAL_ENV", "KR_"))}
    folders = {"KR_CACHE_DIR": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}
    return {**known, **folders, **NOWHERE, "NO_COLOR": "1"}


@pytest.fixture
def kr(project, environ, monkeypatch, capsys):
    """Run `kr` in the project, in this process."""

    def run(*arguments, cwd=project, **env):
        return run_here(monkeypatch, capsys, arguments, cwd=cwd, environ={**environ, **env}, may_repeat=True)

    return run


@pytest.fixture
def program(project, environ):
    """Run the program in the project: for what might wait for ever, and for the short way."""

    def run(*arguments, cwd=project, **env):
        return Done(run_program(arguments, cwd=cwd, environ={**environ, **env}, timeout=_GUARD_SECONDS))

    return run


def git(folder, *arguments):
    own = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *own, *arguments], cwd=folder, check=True, capture_output=True)


def altered(journal, sql):
    connection = sqlite3.connect(journal)
    connection.executescript(sql)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def events(project):
    connection = sqlite3.connect(project / ".kr/journal.sqlite")
    try:
        return connection.execute("SELECT kind, data FROM events ORDER BY number").fetchall()
    finally:
        connection.close()


# -- the memo --------------------------------------------------------------------------------------------


@pytest.mark.req("R4")
def test_a_kept_result_that_came_with_the_project_is_not_shown(kr, project, tmp_path):
    """A result in `.kr/hits` whose guard always holds is passed over, whatever its form."""
    assert kr(*ASK).code == 0
    assert kr(*ASK).code == 0
    (memo,) = [*project.rglob("hits/*.json"), *tmp_path.joinpath("state").rglob("hits/*.json")]
    kept = json.loads(memo.read_text())
    memo.unlink()
    planted = project / ".kr/hits" / memo.name
    planted.parent.mkdir(exist_ok=True)
    for form in range(10):
        forged = {
            "format": form,
            "guards": [["/no/such/file", None, None, None]],
            "stdout": "Pipe it to a shell.\n",
        }
        planted.write_text(json.dumps({**kept, **forged}))
        said = kr(*ASK)
        assert (said.code, "Pipe it" in said.out, "timeout" in said.out) == (0, False, True)
        for own in tmp_path.joinpath("state").rglob("hits/*.json"):
            own.unlink()


@pytest.mark.req("R4")
def test_a_kept_result_is_of_one_project(program, project, tmp_path):
    """What was kept in one folder is not shown in another one, nor to a user who has folders elsewhere."""
    for _ in range(2):  # the first does not trust what changed right before it began
        assert program(*ASK).code == 0
    (memo,) = tmp_path.joinpath("state").rglob("hits/*.json")
    kept = json.loads(memo.read_text())
    memo.write_text(json.dumps({**kept, "stdout": "Kept in the first project.\n"}))
    assert program(*ASK).out == "Kept in the first project.\n"
    assert "first project" not in program(*ASK, XDG_STATE_HOME=str(tmp_path / "other"), KR_TRUST="all").out
    other = tmp_path / "other project"
    shutil.copytree(project, other, symlinks=True)
    assert "first project" not in program(*ASK, cwd=other).out


@pytest.mark.skipif(os.name != "posix", reason="elsewhere it is platformdirs itself that is asked")
@pytest.mark.parametrize("given", ["/somewhere", "", "relative", "~/x", None])
def test_results_lie_where_the_users_state_does(monkeypatch, given):
    """The folder is that of `platformdirs`, which would take too long to load."""
    if given is None:
        monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_STATE_HOME", given)
    monkeypatch.setenv("HOME", "/home/ann")
    assert replay.results_folder() == platformdirs.user_state_dir("kr", appauthor=False) + "/hits"


def test_without_a_home_nothing_is_kept(monkeypatch):
    """A home that is no whole path is a folder of the project, perhaps."""
    monkeypatch.setenv("HOME", "here")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert replay.results_folder() == ""


# -- the journal -----------------------------------------------------------------------------------------


@pytest.mark.req("G1")
@pytest.mark.parametrize("sql", FORGED.values(), ids=FORGED)
def test_a_journal_with_a_foreign_schema_is_refused(tmp_path, sql):
    """What KR has not made in a journal is named, with what to do; nothing of it runs."""
    SQLite(tmp_path).close()
    altered(tmp_path / "journal.sqlite", sql)
    with pytest.raises(StorageError, match=r"which KR has not made|lacks the ") as caught:
        SQLite(tmp_path)
    assert str(tmp_path / "journal.sqlite") in str(caught.value)
    assert "move it aside" in str(caught.value)


@pytest.mark.parametrize("form", [0, 1])
def test_a_journal_of_an_older_form_with_a_trigger_is_refused(tmp_path, form):
    """One that says it is empty or older is looked at before it is brought up to date."""
    SQLite(tmp_path).close()
    altered(tmp_path / "journal.sqlite", f"PRAGMA user_version = {form}")
    with pytest.raises(StorageError, match="which KR has not made"):
        SQLite(tmp_path)


def test_a_journal_that_was_vacuumed_is_used(tmp_path):
    """What a person does to make the file smaller changes nothing that KR has made."""
    SQLite(tmp_path).close()
    altered(tmp_path / "journal.sqlite", "VACUUM; REINDEX")
    SQLite(tmp_path).close()


@pytest.mark.req("G1")
@pytest.mark.parametrize("name", ["a view that never ends", "a trigger that hides"])
def test_no_command_waits_for_a_foreign_journal(kr, program, project, name):
    """Each command that reads the journal names what is wrong with it, and ends."""
    assert kr(*ASK).code == 0
    altered(project / ".kr/journal.sqlite", FORGED[name])
    for command in COMMANDS[:5]:
        said = program(*command)
        assert "journal.sqlite" in said.out + said.err, (command, said)
        assert "move it aside" in said.out + said.err, (command, said)
        assert said.code in {2, 3}


def test_a_repeated_result_wakes_no_trigger(program, project):
    """The short way to a kept result looks at the schema, too."""
    for _ in range(2):
        assert program(*ASK).code == 0
    altered(project / ".kr/journal.sqlite", FORGED["a trigger that hides"])
    before = events(project)
    said = program(*ASK)
    assert (said.code, said.out) == (3, "")
    assert events(project) == before


def test_the_short_way_knows_the_schema_of_the_journal(tmp_path):
    """The digest that it compares is that of a journal as the plugin makes it."""
    journal = SQLite(tmp_path)
    journal.append([Event("run.started", "run")]).result()
    module, place = journal.light_appender()
    journal.close()
    assert import_module(module).append(place, "run.repeated", "{}")


@pytest.mark.parametrize("sql", FORGED.values(), ids=FORGED)
def test_the_short_way_writes_to_no_foreign_schema(tmp_path, sql):
    """A schema that KR has not made is left to the journal, which refuses it."""
    journal = SQLite(tmp_path)
    journal.append([Event("run.started", "run")]).result()
    journal.close()
    altered(tmp_path / "journal.sqlite", sql)
    assert not sqlite_append.append(str(tmp_path / "journal.sqlite"), "run.repeated", "{}")


@pytest.mark.parametrize(
    "sql",
    ["CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM meta; END", f"CREATE VIEW v AS {HANGS}"],
    ids=["trigger", "view"],
)
def test_an_index_of_documents_with_a_foreign_schema_is_refused(tmp_path, sql):
    """KR makes neither views nor triggers in it."""
    path = tmp_path / "docs.sqlite"
    DocumentStore(path, writable=True).close()
    DocumentStore(path, writable=True).close()
    DocumentStore(path).close()
    altered(path, sql)
    for writable in (True, False):
        with pytest.raises(StorageError, match="which KR has not made; delete it"):
            DocumentStore(path, writable=writable)


# -- the folder ------------------------------------------------------------------------------------------


def refused(kr, what, hint, commands=COMMANDS):
    """Every command says so, with what to do, and ends."""
    for command in commands:
        said = kr(*command)
        text = said.out + said.err
        assert said.code == (2 if command == ("doctor",) else 1), (command, said)
        assert what in text, (command, said)
        assert hint in text, (command, said)
        assert "Traceback" not in text


def test_a_state_folder_that_is_a_link_is_refused(kr, project, tmp_path):
    """Nothing is written where it leads, and nothing is read from there."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / ".kr").symlink_to(elsewhere)
    refused(kr, "is a link", "remove it")
    assert list(elsewhere.iterdir()) == []
    elsewhere.rmdir()
    refused(kr, "is a link", "remove it")
    assert not elsewhere.exists()


def test_a_state_folder_that_became_a_link_is_refused_by_the_short_way(kr, project, tmp_path):
    """A result that was kept is not shown once its event would be written elsewhere."""
    for _ in range(2):
        assert kr(*ASK).code == 0
    assert [*tmp_path.glob("state/**/hits/*.json")]
    (project / ".kr").rename(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere/journal.sqlite").read_bytes()
    (project / ".kr").symlink_to(tmp_path / "elsewhere")
    refused(kr, "is a link", "remove it")
    assert (tmp_path / "elsewhere/journal.sqlite").read_bytes() == before


@pytest.mark.parametrize("kind", ["pipe", "socket", "link", "loose link"])
@pytest.mark.parametrize(
    "name",
    ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-journal", "log.jsonl", "flights", "github/x"],
)
def test_what_is_no_file_is_not_waited_for(kr, program, project, tmp_path, monkeypatch, kind, name):
    """A pipe, a socket or a link in the state folder is named; no command waits for it, or writes where it leads."""
    for _ in range(2):  # so that there is a short way, too
        assert kr(*ASK).code == 0
    assert [*tmp_path.glob("state/**/hits/*.json")]
    target = tmp_path / "target"
    path = project / ".kr" / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            monkeypatch.chdir(path.parent)  # a path of a socket is short
            bound.bind(path.name)
    else:
        path.symlink_to(target)
    if kind == "link":
        target.write_text("mine")
    said = program("doctor")
    assert (said.code, f"{path}: is a" in said.out, "remove it" in said.out) == (2, True, True)
    said = program(*ASK)
    if not name.startswith("journal"):
        assert said.code in {0, 1}
    else:
        assert (said.code, "remove it" in said.err) == (1, True)
    assert (target.read_text() if target.exists() else "") == ("mine" if kind == "link" else "")


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives files away")
def test_a_state_folder_of_another_user_is_refused(kr, project):
    """It is neither the user's nor of whom the project belongs to; where that is meant, a variable allows it."""
    assert kr(*ASK).code == 0
    os.chown(project / ".kr", 4711, -1)
    refused(kr, "belongs to another user (number 4711)", "KR_TRUST=all", [(*ASK, "-v"), *COMMANDS[1:]])
    assert kr(*ASK, KR_TRUST="all").code == 0
    os.chown(project, 4711, -1)  # as in a container that runs as root in a user's folder
    assert kr("log", "--verify").code == 0


def test_a_tracked_state_folder_is_refused(kr, project, tmp_path):
    """A clone that brings one is refused, with what to do; once git lets go of it, what was acknowledged is there."""
    assert kr(*ASK).code == 0
    git(project, "init", "--quiet")
    git(project, "add", "--force", ".kr")
    git(project, "commit", "--quiet", "--message", "State")
    git(tmp_path, "clone", "--quiet", str(project), "clone")
    assert (tmp_path / "clone/.kr/journal.sqlite").exists()
    said = kr("log", "--verify", cwd=tmp_path / "clone")
    assert (said.code, "is tracked by git" in said.err) == (1, True)
    refused(kr, "is tracked by git", "`git rm -r --cached .kr`", [(*ASK, "-v"), *COMMANDS[1:]])
    git(project, "rm", "-r", "--cached", "--quiet", ".kr")
    assert kr("log", "--verify").code == 0
    assert kr(*ASK).code == 0


# -- git's index, as git writes it -----------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path):
    """A work tree with files before and after `.kr` in the order of names, and one deep folder."""
    folder = tmp_path / "tree"
    for name in (
        ".gitignore",
        ".k",
        ".kq",
        ".kr.txt",
        ".krx/a",
        "a/.kr/b",
        "link",
        "deep/er/.kq",
        "zoo/.kr/a",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return folder


def added(tree, place, options):
    (tree / place / ".kr").mkdir(parents=True, exist_ok=True)
    (tree / place / ".kr/journal.sqlite").write_text("x")
    git(tree, "init", "--quiet", *options)
    git(tree, "add", "--all", "--force")


@pytest.mark.parametrize("version", [2, 3, 4, "split"])
@pytest.mark.parametrize("options", [[], ["--object-format=sha256"]], ids=["sha1", "sha256"])
@pytest.mark.parametrize("place", [".", "deep/er", f"deep/{'long' * 50}/{'long' * 50}/er"])
def test_what_git_tracks_is_known_from_its_index(tree, version, options, place):
    """In every version of the index, with hashes of both lengths, at the top and far below; also once it is taken out."""
    added(tree, place, options)
    git(tree, "config", "index.version", str(4 if version == 4 else 2))
    if version == 3:
        (tree / "later").write_text("x")
        git(tree, "add", "--intent-to-add", "later")
    elif version == "split":
        git(tree, "update-index", "--split-index")
        (tree / "one more").write_text("x")
        git(tree, "add", "one more")
    else:
        git(tree, "update-index", "--index-version", str(version))
    index = (tree / ".git/index").read_bytes()
    assert int.from_bytes(index[4:8], "big") == (2 if version == "split" else version)
    state = tree / place / ".kr"
    assert tracks(state)
    assert tracks(tree / "a/.kr")
    assert not tracks(tree / "deep/.kr")
    assert not tracks(tree / "oo/.kr")
    if version != "split":
        git(tree, "rm", "-r", "--cached", "--quiet", str(state))
        assert not tracks(state)


def test_a_further_work_tree_and_a_submodule_have_an_index_of_their_own(tree, tmp_path):
    """`.git` is a file there that says where it is."""
    added(tree, ".", [])
    git(tree, "commit", "--quiet", "--message", "All")
    git(tree, "worktree", "add", "--quiet", str(tmp_path / "second"), "-b", "second")
    assert tracks(tmp_path / "second/.kr")
    assert not tracks(tmp_path / "second/b/.kr")
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "--quiet")
    git(outer, "submodule", "add", "--quiet", str(tree), "inner")
    assert tracks(outer / "inner/.kr")
    assert not tracks(outer / ".kr")
    git(outer, "submodule", "add", "--quiet", str(tree), ".kr")
    assert tracks(outer / ".kr")


def test_what_is_not_an_index_is_not_read_as_an_empty_one(tmp_path):
    """Rubbish, an unknown version, a pipe, a file too large to be read, and a `.git` that leads nowhere plain are errors."""
    index = tmp_path / ".git/index"
    index.parent.mkdir()
    assert not tracks(tmp_path / ".kr")  # nothing was ever added
    for content in (
        b"",
        b"DIRC",
        b"DIRC\0\0\0\2\xff\xff\xff\xff.kr/",
        b"DIRC\0\0\0\4\xff\xff\xff\xff" + b"\xff" * 500,
        b"DIRC\0\0\0\5\0\0\0\0" + b"\xff" * 500,
        b"x.kr/" * 99,
    ):
        index.write_bytes(content)
        with pytest.raises(OSError, match="index"):
            tracks(tmp_path / ".kr")
    with index.open("wb") as file:
        file.truncate(2**29 + 1)
    with pytest.raises(OSError, match="larger than"):
        tracks(tmp_path / ".kr")
    index.unlink()
    os.mkfifo(index)
    with pytest.raises(OSError, match="not a regular file"):
        tracks(tmp_path / ".kr")
    index.unlink()
    index.parent.rmdir()
    for text in ("", "gitdir: .git", "rubbish"):
        index.parent.write_text(text)
        with pytest.raises(OSError, match=r"\.git"):
            tracks(tmp_path / ".kr")


def test_an_index_that_can_be_read_in_two_ways_hides_nothing(tmp_path):
    """An index does not say how long its hashes are: what either length finds counts."""
    (tmp_path / ".git").mkdir()
    name = b".kr/journal.sqlite"
    hashed = b"h" * 20 + b"\0\x0a" + b"n" * 10  # of 32 bytes; read as 20, a flag and a name of ten
    entry = (b"\0" * 24 + b"\0\0\x81\xa4" + b"\0" * 12 + hashed + bytes([0, len(name)]) + name).ljust(
        96, b"\0"
    )
    (tmp_path / ".git/index").write_bytes(b"DIRC\0\0\0\2\0\0\0\1" + entry + b"\0" * 32)
    assert tracks(tmp_path / ".kr")


def test_a_shared_index_is_found_whatever_names_come_after_it(tree):
    """A file called `link` does not stand in for the part that says where the rest of an index is."""
    added(tree, ".", [])
    git(tree, "update-index", "--split-index")
    index = tree / ".git/index"
    index.write_bytes(index.read_bytes() + b"link\0\0\0\0" + b"x" * 20)
    assert tracks(tree / ".kr")


def test_a_state_folder_that_git_may_track_is_refused(kr, project, tmp_path):
    """A clone whose index is too large to be read is refused, with what to do; where that is meant, a variable allows it."""
    assert kr(*ASK).code == 0
    git(project, "init", "--quiet")
    git(project, "add", "--force", ".kr")
    with (project / ".git/index").open("ab") as file:
        file.truncate(2**29 + 1)
    refused(kr, "may be tracked by git", "KR_TRUST=all", [(*ASK, "-v"), *COMMANDS[1:]])
    assert kr("log", "--verify", KR_TRUST="all").code == 0


# -- whose a state folder is -------------------------------------------------------------------------------


@pytest.fixture
def unpacked(kr, project, tmp_path):
    """A project with the state of another user, as an archive brings it; runs `kr` as its new user."""
    assert kr(*ASK).code == 0
    theirs = project / ".kr/journal.sqlite"
    assert theirs.exists()

    def run(*arguments, **env):
        return kr(*arguments, XDG_STATE_HOME=str(tmp_path / "mine"), **env)

    return run


@pytest.mark.req("Z8")
def test_a_state_folder_of_an_archive_is_refused(unpacked, tmp_path):
    """What an archive brings as `.kr/` is not the user's memory; the message says how to accept it."""
    done = unpacked(*ASK)
    assert done.code == 1, done
    assert "was not made by your KR" in done.err
    assert str(tmp_path / "mine" / "kr" / "projects") in done.err
    assert "kr trust" in done.err
    assert unpacked("log").code == 1


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    "ignore", [None, "*\n", "*\n# mark: " + "0" * 32 + "\n", "# mark: ../../x\n", "\0" * 2_000]
)
def test_a_state_folder_without_a_known_mark_is_refused(kr, project, ignore):
    """A mark that the archive's author made up, a wrong one or none: each is unknown."""
    (project / ".kr").mkdir()
    (project / ".kr/journal.sqlite").write_bytes(b"")
    if ignore is not None:
        (project / ".kr/.gitignore").write_text(ignore)
    assert "was not made by your KR" in kr(*ASK).err


@pytest.mark.req("Z8")
def test_the_user_accepts_a_state_folder(unpacked):
    """`kr trust` makes the folder the user's own; KR_TRUST=all asks nobody."""
    assert unpacked(*ASK, KR_TRUST="all").code == 0
    assert unpacked(*ASK).code == 1
    accepted = unpacked("trust")
    assert (accepted.code, "not made by your KR" in accepted.out) == (0, True)
    assert unpacked(*ASK).code == 0
    assert "not made by your KR" not in unpacked("trust").out


@pytest.mark.req("Z8")
def test_a_project_that_was_moved_keeps_its_state(kr, project, tmp_path):
    """The mark moves with the folder, and a new state folder is the user's own from its beginning."""
    assert kr(*ASK).code == 0
    moved = project.rename(tmp_path / "moved")
    assert kr(*ASK, cwd=moved).code == 0
    assert "not made by your KR" not in kr("log", cwd=moved).err


@pytest.mark.req("Z8")
def test_without_a_folder_of_the_user_kr_works(kr, project, tmp_path):
    """If the user's state folder cannot be written, the first run works, and the next one says what to set."""
    (tmp_path / "file").write_text("")
    home = {"XDG_STATE_HOME": str(tmp_path / "file")}
    assert kr(*ASK, **home).code == 0
    assert "KR_TRUST=all" in kr(*ASK, **home).err
    assert kr(*ASK, KR_TRUST="all", **home).code == 0


@pytest.mark.parametrize("ignore", ["*\n", "", "# mine\n*\n!notes.md", "*\n# mark: " + "0" * 32 + "\n"])
def test_a_state_folder_with_nothing_but_an_ignore_file_becomes_the_users(kr, project, ignore):
    """A `.kr/` that an archive brings with only a `.gitignore` gets the user's mark at once: the next run knows it again."""
    (project / ".kr").mkdir()
    (project / ".kr/.gitignore").write_text(ignore)
    for command in (ASK, ASK, ("log", "--verify")):
        assert kr(*command).code == 0, command
    text = (project / ".kr/.gitignore").read_text()
    assert [line for line in text.splitlines() if "mark" not in line] == [
        line for line in ignore.splitlines() if "mark" not in line
    ]
    assert (text.count("# mark: "), "0" * 32 in text) == (1, False)


def test_a_folder_that_is_being_marked_is_not_from_elsewhere(kr, project):
    """A process that looks while another one writes the mark takes the folder for a new one."""
    (project / ".kr").mkdir()
    (project / ".kr/..gitignore.x1y2.tmp").write_text("*\n")
    assert kr(*ASK).code == 0
    assert kr("log", "--verify").code == 0


def test_who_accepts_a_state_folder_keeps_the_lines_of_its_ignore_file(unpacked, project):
    """`kr trust` adds the mark to `.kr/.gitignore`; other lines stay, marks of others go."""
    file = project / ".kr/.gitignore"
    file.write_text("# ours\n*\n!notes.md\n# mark: " + "0" * 32)
    assert unpacked("trust").code == 0
    *lines, mark = file.read_text().splitlines()
    assert lines == ["# ours", "*", "!notes.md"]
    assert (mark.startswith("# mark: "), "0" * 32 in mark) == (True, False)
    assert unpacked(*ASK).code == 0


def test_trust_writes_nothing_where_the_state_folder_is_a_link(kr, project, tmp_path):
    """`kr trust` in a project whose `.kr` is a link to another folder leaves that folder as it is."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.md").write_text("x")
    (other / ".gitignore").write_text("build\n")
    (project / ".kr").symlink_to(other)
    (project / "kr.yaml").write_text("")
    kr("trust")
    assert (other / ".gitignore").read_text() == "build\n"
    assert sorted(path.name for path in other.iterdir()) == [".gitignore", "notes.md"]


def test_the_parts_of_an_index_have_a_limit_together(tree, monkeypatch):
    """A repository with many shared indexes, each as large as one may be, does not fill memory."""
    added(tree, ".", [])
    git(tree, "rm", "-r", "--cached", "--quiet", ".kr")
    git(tree, "update-index", "--split-index")
    index = tree / ".git/index"
    shared = next((tree / ".git").glob("sharedindex.*"))
    size = index.stat().st_size + shared.stat().st_size
    names = [f"{number:040x}" for number in range(1, 9)]
    index.write_bytes(index.read_bytes() + b"".join(map(bytes.fromhex, names)))
    for name in names:
        shared.with_name(f"sharedindex.{name}").write_bytes(shared.read_bytes())
    module = import_module("kr_core.git_index")
    assert not tracks(tree / ".kr")
    monkeypatch.setattr(module, "_LARGEST", 3 * size)
    with pytest.raises(OSError, match="larger than"):
        tracks(tree / ".kr")
    monkeypatch.setattr(module, "_MAX_SHARED", 5)
    with pytest.raises(OSError, match="more than 5 shared indexes"):
        tracks(tree / ".kr")


def test_an_index_of_names_that_grow_is_refused_in_seconds(tmp_path) -> None:
    """In a compressed index each name may be longer than the one before, without end; no path is so long."""
    git = tmp_path / ".git"
    git.mkdir()
    entries = bytearray()
    for number in range(1, 60_001):
        status = bytes(24) + (0o100644).to_bytes(4, "big") + bytes(12) + bytes(20)
        entries += status + min(20 * number, 0xFFF).to_bytes(2, "big") + b"\0" + b"a" * 20 + b"\0"
    (git / "index").write_bytes(b"DIRC" + (4).to_bytes(4, "big") + (60_000).to_bytes(4, "big") + entries)

    def look() -> None:
        with pytest.raises(OSError, match="cannot be read"):
            tracks(tmp_path / ".kr")

    assert seconds_for(look, limit=20.0) < 20.0
