"""The exit gate: with `git_commit: auto` an answer ends as a commit, of the answer and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
from datetime import date, timedelta

import pytest
from support.fork_server import kr_argv
from support.projects import QUESTION, Given, found

IDENTITY = {
    f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}
AUTO = "knowledge_research: {git_commit: auto}\n"


@pytest.fixture
def kr(kr_here):
    """The commands run in this process: that they do so as programs is tried elsewhere, and takes ten times as long."""
    return kr_here


@pytest.fixture
def environ(environ, tmp_path):
    """Git with a name, and nothing of the tester's own configuration."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    return {**kept, **IDENTITY, "HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def git(project_folder, environ):
    """Git in the project."""

    def run(*arguments, cwd=project_folder):
        done = subprocess.run(["git", *arguments], check=True, capture_output=True, cwd=cwd, env=environ)
        return done.stdout.decode()

    return run


@pytest.fixture
def project(project_folder, git):
    """A project in git, that commits what KR keeps."""
    (project_folder / "kr.yaml").write_text(AUTO)
    (project_folder / ".gitignore").write_text(".venv/\n")
    (project_folder / "app.py").write_text("one\n")
    git("init", "-q", "-b", "main", ".")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    return project_folder


@pytest.fixture
def counted(tmp_path, environ):
    """A `git` on the path that writes down its calls, and the environment that finds it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    calls = tmp_path / "calls"
    (folder / "git").write_text(
        f'#!/bin/sh\necho "$*" >> "{calls}"\nPATH="{environ["PATH"]}" exec git "$@"\n'
    )
    (folder / "git").chmod(0o755)
    environ["PATH"] = f"{folder}{os.pathsep}{environ['PATH']}"
    return calls


def committed(git, revision="HEAD"):
    return sorted(git("show", "--format=", "--name-only", revision).split())


@pytest.mark.req("K10")
class TestResearch:
    def test_an_answer_is_a_commit_of_its_own(self, kr, git, project):
        """Report, evidence and index are committed; what the user has staged and changed stays so."""
        (project / "app.py").write_text("two\n")
        git("add", "app.py")
        (project / "app.py").write_text("three\n")
        (project / "new.py").write_text("new\n")
        done = kr("research", QUESTION, "--json")
        assert done.json["results"]["degradation_notes"] == []
        report = "knowledge-base/" + done.json["results"]["report_path"]
        assert committed(git) == sorted(
            [
                report,
                report.replace(".md", ".evidence.json"),
                "knowledge-base/index.yaml",
                "knowledge-base/_archived-index.yaml",
                "knowledge-base/lessons/_lessons-learned.md",
            ]
        )
        assert git("status", "--porcelain").splitlines() == ["MM app.py", "?? new.py"]

    def test_what_the_log_says(self, kr, git, project):
        """The message names library, version and topic, the report, how sure it is and what it rests on."""
        result = kr("research", QUESTION, "--json").json["results"]
        subject, empty, *facts = git("log", "-1", "--format=%B").rstrip().split("\n")
        assert subject.startswith("KR: parcel 1.4.0 - ")
        assert len(subject) <= 72
        assert empty == ""
        assert facts == [
            f"Report: {result['report_path']}",
            f"Confidence: {result['confidence']} ({result['score']}/100)",
            "Sources: installed_docs",
        ]

    def test_research_anew_says_why(self, kr, git, project):
        """The commit of a report that replaces a stale one tells what was wrong with that."""
        kr("research", QUESTION)
        site = next((project / ".venv").rglob("site-packages"))
        (site / "parcel-1.4.0.dist-info").rename(site / "parcel-2.0.0.dist-info")
        metadata = site / "parcel-2.0.0.dist-info/METADATA"
        metadata.write_text(metadata.read_text().replace("1.4.0", "2.0.0"))
        done = kr("research", QUESTION, "--json")
        assert done.json["results"]["degradation_notes"][0].startswith("an earlier report was replaced: ")
        message = git("log", "-1", "--format=%B")
        assert message.startswith("KR: parcel 2.0.0 - ")
        assert re.search(r"^Researched anew: .*1\.4\.0", message, re.MULTILINE)
        report = "knowledge-base/" + done.json["results"]["report_path"]
        assert committed(git) == sorted(
            [report.replace(".md", ".evidence.json"), report, "knowledge-base/index.yaml"]
        )

    def test_a_hit_starts_no_git(self, kr, git, project, counted):
        """Neither the first repetition nor a memoised one calls git, nor does a hit that writes today's date."""
        kr("research", QUESTION)
        assert "commit-tree" in counted.read_text()
        counted.unlink()
        for _repetition in range(2):
            assert kr("research", QUESTION, "--json").json["status"] == "cache-hit"
        index = project / "knowledge-base/index.yaml"
        earlier = f"last_accessed: '{date.today() - timedelta(days=3)}'"
        index.write_text(re.sub(r"last_accessed: .*", earlier, index.read_text()))
        assert kr("research", QUESTION, "--json").json["status"] == "cache-hit"
        assert f"last_accessed: '{date.today()}'" in index.read_text()
        kr("cache", "list")
        assert not counted.exists()

    def test_off_by_default(self, kr, git, project, counted):
        """Without `git_commit: auto` files are kept and git is not called."""
        (project / "kr.yaml").write_text("")
        assert kr("research", QUESTION).code == 0
        assert not counted.exists()

    def test_nothing_changed_on_disk_is_no_commit(self, kr, git, project):
        """Outside git, and where the knowledge base is ignored, an answer is an answer, without a note."""
        (project / ".gitignore").write_text("knowledge-base/\n.venv/\n")
        head = git("rev-parse", "HEAD")
        done = kr("research", QUESTION, "--json")
        assert (done.json["status"], done.json["results"]["degradation_notes"]) == ("success", [])
        assert git("rev-parse", "HEAD") == head

    def test_a_commit_that_fails_is_a_note(self, kr, git, project):
        """The answer stands, is kept, and says why it is not in git."""
        (project / ".git/MERGE_HEAD").write_text(git("rev-parse", "HEAD"))
        done = kr("research", QUESTION, "--json")
        assert (done.code, done.json["status"]) == (0, "success")
        assert done.json["results"]["degradation_notes"] == [
            f"not committed: a merge is under way in {project}; commit when it is done"
        ]
        assert done.json["results"]["index_updated"] is True
        assert kr("research", QUESTION, "--json").json["status"] == "cache-hit"

    def test_what_could_not_be_committed_follows_later(self, kr, git, project):
        """The next commit that succeeds is followed by one of what failed before, and that once only."""
        (project / ".git/MERGE_HEAD").write_text(git("rev-parse", "HEAD"))
        report = "knowledge-base/" + kr("research", QUESTION, "--json").json["results"]["report_path"]
        (project / ".git/MERGE_HEAD").unlink()
        (project / "knowledge-base/mine.md").write_text("not KR's\n")
        assert kr("lessons", "add", "--phase", "dev-execution", "Close the cursor").code == 0
        assert git("log", "-2", "--format=%s").splitlines() == [
            "KR: what could not be committed before",
            "KR: lesson for dev-execution - Close the cursor",
        ]
        assert committed(git) == sorted(
            [
                report,
                report.replace(".md", ".evidence.json"),
                "knowledge-base/index.yaml",
                "knowledge-base/_archived-index.yaml",
            ]
        )
        assert git("status", "--porcelain").splitlines() == ["?? knowledge-base/mine.md"]
        assert kr("lessons", "add", "--phase", "dev-execution", "Give it back").code == 0
        assert git("log", "-1", "--format=%s") == "KR: lesson for dev-execution - Give it back\n"

    def test_what_is_remembered_never_leads_out(self, kr, git, project):
        """A list that came with the project cannot have KR commit what is not the knowledge base's."""
        (project / ".kr").mkdir()
        (project / ".kr/uncommitted.json").write_text('["../secret.txt", "/etc/passwd", 7]')
        (project / "secret.txt").write_text("mine\n")
        assert kr("lessons", "add", "--phase", "dev-execution", "Close the cursor").code == 0
        assert git("log", "-1", "--format=%s").startswith("KR: lesson")
        assert "?? secret.txt" in git("status", "--porcelain").splitlines()

    def test_what_is_remembered_is_what_kr_writes(self, kr, git, project):
        """Where the knowledge base is the whole project, such a list cannot have KR commit the user's own files."""
        (project / "kr.yaml").write_text("knowledge_research: {knowledge_base_path: ., git_commit: auto}\n")
        (project / ".kr").mkdir()
        (project / ".kr/uncommitted.json").write_text('[".env", "secret.txt", ".ssh/notes.md"]')
        (project / ".ssh").mkdir()
        for name in (".env", "secret.txt", ".ssh/notes.md"):
            (project / name).write_text("mine\n")
        assert kr("lessons", "add", "--phase", "dev-execution", "Close the cursor").code == 0
        assert git("log", "-1", "--format=%s").startswith("KR: lesson")
        assert {"?? .env", "?? secret.txt", "?? .ssh/"} <= set(git("status", "--porcelain").splitlines())

    def test_a_batch(self, kr, git, project):
        """Each answer of a batch is a commit, though they are researched at once."""
        questions = [
            f'"How do I {words} in parcel?"' for words in ("set a timeout", "track a number", "insure it")
        ]
        done = kr("research", "--batch", "-", input="\n".join(questions).encode())
        assert done.out.count('"not committed') == 0, done
        assert git("status", "--porcelain", "knowledge-base") == ""
        assert len(git("log", "--format=%s").splitlines()) == 4

    def test_processes_at_once(self, project, git, environ):
        """Several processes commit each their own answer, one after the other."""
        command = kr_argv(environ, "research", "--json")
        asked = [
            f"How do I {words} in parcel?"
            for words in ("set a timeout", "track a number", "insure it", "send it")
        ]
        running = [
            subprocess.Popen(
                [*command, question], cwd=project, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            for question in asked
        ]
        for process in running:
            out, err = process.communicate(timeout=300)
            assert process.returncode == 0, err
            assert b"not committed" not in out
        assert git("status", "--porcelain", "knowledge-base") == ""
        assert len(set(git("ls-files", "knowledge-base/frameworks/*.md").split())) == 4


@pytest.mark.req("K10", "L5")
def test_a_lesson_is_a_commit(kr, git, project):
    """`kr lessons add` commits the lessons alone; one that is there already changes nothing, and so is no commit."""
    kr("research", QUESTION)
    (project / "knowledge-base/notes.md").write_text("a person's\n")
    add = (
        "lessons",
        "add",
        "--phase",
        "dev-execution",
        "--ref",
        "app.py:1",
        "Set a timeout for every parcel.",
    )
    done = kr(*add)
    assert (done.code, done.err) == (0, "")
    assert committed(git) == ["knowledge-base/lessons/_lessons-learned.md"]
    assert (
        git("log", "-1", "--format=%s") == "KR: lesson for dev-execution - Set a timeout for every parcel\n"
    )
    head = git("rev-parse", "HEAD")
    assert "already there" in kr(*add).out
    assert git("rev-parse", "HEAD") == head
    (project / ".git/index.lock").touch()
    done = kr(*add[:-1], "Insure what is dear.")
    assert done.code == 0
    assert re.fullmatch(r"note: not committed: \S+/index\.lock is there; .*\n", done.err)


@pytest.mark.req("K10", "K6", "K9")
def test_what_keeps_the_knowledge_base_in_order_is_committed(kr, git, project, counted):
    """`kr cache gc`, `restore`, `refresh` and `rebuild` commit what they change; a second time each changes nothing."""
    path = kr("research", QUESTION, "--json").json["results"]["report_path"]
    index = project / "knowledge-base/index.yaml"
    name = kr("cache", "list", "--json").json[0]["id"]

    def commits(*command):
        head = git("rev-parse", "HEAD")
        done = kr("cache", *command)
        assert (done.code, done.err) == (0, ""), done
        subject = git("log", "--format=%s", f"{head.strip()}..").strip()
        counted.unlink(missing_ok=True)
        kr("cache", *command)
        assert not counted.exists(), "nothing had changed, and git was started"
        return subject, [path.removeprefix("knowledge-base/") for path in committed(git)]

    index.write_text(re.sub(r"last_accessed: .*", "last_accessed: '2020-01-01'", index.read_text()))
    both = ["_archived-index.yaml", "index.yaml"]
    assert commits("gc") == ("KR: archive 1 entry", both)
    assert commits("restore", name) == (f"KR: restore {name}", both)
    index.write_text(re.sub(r"framework_version: .*", "framework_version: 0.1.0", index.read_text()))
    git("commit", "-q", "-a", "-m", "by hand")
    assert commits("refresh") == ("KR: mark 1 entry as stale", ["index.yaml"])
    index.write_text("[")
    assert commits("rebuild") == ("KR: rebuild the index from the reports", [".gitignore", "index.yaml"])
    assert (project / "knowledge-base" / path).exists()


@pytest.mark.req("K10", "K7")
@pytest.mark.parametrize("broken", [False, True], ids=["before", "corrupt"])
def test_the_work_tree_is_clean_after_a_rebuild(kr, git, project, broken):
    """The copy of the old index that a rebuild keeps is ignored by git, which the same commit says; it stays on the disk."""
    kr("research", QUESTION)
    base = project / "knowledge-base"
    if broken:
        (base / "index.yaml").write_text("[")
    else:
        next(base.glob("frameworks/*/*.md")).with_name("more.md").write_text(
            "# parcel - more\n\n## Summary\n\nx\n"
        )
        git("add", "-A")
        git("commit", "-q", "-m", "by hand")
    done = kr("cache", "rebuild")
    assert (done.code, done.err) == (0, "")
    assert git("status", "--porcelain") == ""
    assert committed(git) == ["knowledge-base/.gitignore", "knowledge-base/index.yaml"]
    label = "corrupt" if broken else "before"
    assert len(list(base.glob(f"index.yaml.{label}-*"))) == 1
    (base / "index.yaml").write_text("[")
    kr("cache", "rebuild")
    assert git("status", "--porcelain") == ""


@pytest.mark.req("K10")
def test_the_log_of_a_knowledge_base_in_use(bench, monkeypatch, tmp_path):
    """After 100 questions, most of them asked before, `git log` shows reports and their entries and nothing else."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in IDENTITY.items():
        monkeypatch.setenv(name, value)

    def git(*arguments):
        return subprocess.run(
            ["git", *arguments], check=True, capture_output=True, cwd=bench.folder
        ).stdout.decode()

    git("init", "-q", "-b", "main", ".")
    bench.configure(AUTO)
    (bench.folder / "app.py").write_text("one\n")
    git("add", "app.py")
    verbs = "open close send track insure wrap weigh label sort lose find return".split()
    said = found(f"With `deliver` you {', '.join(verbs)} a parcel; it is called with the name of the parcel.")
    pipeline = bench.pipeline({"quick": Given(said)})
    new = 0
    for number in range(100):
        verb = verbs[number * 5 % min(len(verbs), 1 + number // 8)]  # a new one now and then
        bench.day = bench.day.replace(day=1 + number // 10)  # hits on later days change dates in the index
        request = bench.request(topic=f"{verb} a parcel", tags=[verb], question=f"How do I {verb} a parcel?")
        result = pipeline.research(request).result
        assert result.results.degradation_notes == ()
        new += result.status == "success"
    assert new == len(verbs)
    subjects = git("log", "--format=%s").splitlines()
    assert sorted(subjects) == sorted(f"KR: parcel 1.4.0 - {verb} a parcel" for verb in verbs)
    for commit in git("log", "--format=%H").split()[:-1]:
        evidence, report, index = git("show", "--format=", "--name-only", commit).split()
        assert (index, evidence) == ("knowledge-base/index.yaml", report.replace(".md", ".evidence.json"))
        removed = re.findall(r"^-(?!--)(.*)$", git("show", "--format=", commit, "--", index), re.MULTILINE)
        assert all("last_accessed" in line for line in removed)
    assert git("ls-tree", "-r", "--name-only", "HEAD", "--", "app.py") == ""
    assert "A  app.py" in git("status", "--porcelain").splitlines()
