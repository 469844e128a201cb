"""`kr cache`, and the limits of the knowledge base, as a person and a pipeline meet them."""

import json
import os
import subprocess
from datetime import date, timedelta

import pytest
import yaml
from support.projects import DAY, Given, found, install

from kr_core import Event
from kr_core.research.maintenance import last_uses

OK = {"a": Given(found())}
TOPICS = ("timeout", "retries", "insurance", "labels", "tracking")


@pytest.fixture
def kr(kr_here):
    """The commands run in this process: that they do so as programs is tried elsewhere, and takes ten times as long."""
    return kr_here


def kept(bench, topic, **query):
    """Research a topic; returns its result."""
    return bench.result(OK, bench.request(topic=topic, tags=[topic], **query)).results


def archive_of(folder):
    return yaml.safe_load((folder / "knowledge-base/_archived-index.yaml").read_text())["archived_entries"]


class TestLimits:
    @pytest.mark.req("K6")
    def test_the_least_recently_used_make_room(self, bench):
        """After a write the entries beyond the limit are archived, the one that was used longest ago first; none is deleted."""
        bench.configure("knowledge_research: {max_entries: 3}")
        for number, topic in enumerate(TOPICS[:3]):
            bench.day = DAY + timedelta(days=number)
            assert kept(bench, topic).lru_evicted == 0
        bench.day = DAY + timedelta(days=5)
        kept(bench, "timeout")  # used again
        results = kept(bench, "labels")
        assert (results.lru_evicted, results.index_count) == (1, 3)
        assert [entry["topic"] for entry in bench.index] == ["timeout", "insurance", "labels"]
        (archived,) = archive_of(bench.folder)
        assert (archived["topic"], archived["status"]) == ("retries", "archived")
        assert (bench.folder / "knowledge-base" / archived["path"]).is_file()

    @pytest.mark.req("K6", "K5")
    def test_what_was_not_used_for_long_is_archived(self, bench):
        """After 60 days without use an entry is archived by the next write; it does not count as evicted."""
        kept(bench, "timeout")
        bench.day = DAY + timedelta(days=61)
        results = kept(bench, "retries")
        assert (results.lru_evicted, results.index_count) == (0, 1)
        assert [entry["topic"] for entry in archive_of(bench.folder)] == ["timeout"]

    @pytest.mark.req("K6")
    def test_the_entry_just_written_never_goes(self, bench):
        """With room for one entry the new one stays."""
        bench.configure("knowledge_research: {max_entries: 1}")
        kept(bench, "timeout")
        assert kept(bench, "retries").lru_evicted == 1
        assert [entry["topic"] for entry in bench.index] == ["retries"]

    @pytest.mark.req("K6", "K2")
    def test_within_a_day_the_last_use_decides(self, bench):
        """Of entries that were used on the same day, the one whose last use is longest ago goes; the index holds only dates."""
        bench.configure("knowledge_research: {max_entries: 3}")
        for topic in TOPICS[:3]:
            kept(bench, topic)
        before = (bench.folder / "knowledge-base/index.yaml").read_bytes()
        assert kept(bench, "timeout").cache_hit
        assert (bench.folder / "knowledge-base/index.yaml").read_bytes() == before
        kept(bench, "labels")
        assert [entry["topic"] for entry in archive_of(bench.folder)] == ["retries"]
        kept(bench, "insurance")
        kept(bench, "tracking")
        assert [entry["topic"] for entry in archive_of(bench.folder)] == ["retries", "timeout"]

    @pytest.mark.req("K2", "K6")
    def test_a_new_index_says_the_limits_of_the_configuration(self, bench):
        """The header of a new index holds what is configured; what it says later changes nothing."""
        bench.configure("knowledge_research: {max_entries: 2, cache_ttl_days: 9}")
        kept(bench, "timeout")
        index = bench.folder / "knowledge-base/index.yaml"
        header = yaml.safe_load(index.read_text())
        assert (header["max_entries"], header["cache_ttl_days"]) == (2, 9)
        index.write_text(index.read_text().replace("max_entries: 2", "max_entries: 100"))
        kept(bench, "retries")
        assert kept(bench, "insurance").lru_evicted == 1

    @pytest.mark.req("K6", "R15")
    def test_a_guard_that_fails_is_told(self, bench):
        """Where the archive cannot be read nothing is archived, the count is -1, a note says where, and the answer stands."""
        bench.configure("knowledge_research: {max_entries: 1}")
        kept(bench, "timeout")
        (bench.folder / "knowledge-base/_archived-index.yaml").write_text("archived_entries: [}\n")
        results = kept(bench, "retries")
        assert (results.lru_evicted, results.index_count, results.index_updated) == (-1, 2, True)
        (note,) = [note for note in results.degradation_notes if note.startswith("capacity")]
        assert "_archived-index.yaml:1" in note
        assert "kr cache rebuild" in note

    @pytest.mark.req("K2")
    def test_uses_are_read_from_the_journal_once(self, bench):
        """What was read of the journal is kept beside it; spoilt, or of another journal, it is read anew."""
        kept(bench, "timeout")
        pipeline = bench.pipeline()
        entries = pipeline.store.entries()
        file = bench.folder / ".kr/uses.json"
        first = last_uses(pipeline.journal, file, entries)
        assert set(first) == {"parcel-timeout"}
        known = json.loads(file.read_text())
        pipeline.journal.append([Event("run.repeated", "r", {"entry": "parcel-timeout"})]).result()
        assert last_uses(pipeline.journal, file, entries)["parcel-timeout"] > first["parcel-timeout"]
        assert json.loads(file.read_text())["after"] == known["after"] + 1
        for spoilt in (
            "{",
            "[]",
            "{}",
            json.dumps({**known, "event": "another"}),
            json.dumps({**known, "after": 10**6}),
        ):
            file.write_text(spoilt)
            assert set(last_uses(pipeline.journal, file, entries)) == {"parcel-timeout"}


INDEX = """\
# ours
schema_version: 1
entries:
- id: parcel-timeout
  framework: parcel
  framework_version: "1.4.0"   # as installed
  topic: timeout of a parcel
  tags: [timeout, parcel]
  path: frameworks/parcel/timeout.md
  created: '{day}'
  last_accessed: '{day}'
  status: fresh
  reviewed_by: ops
- id: parcel-labels
  framework: parcel
  framework_version: 1.x
  topic: labels
  tags: [labels]
  path: frameworks/parcel/labels.md
  created: '{day}'
  last_accessed: '{day}'
  status: fresh
"""


def report(topic, version="1.4.0", day=None):
    day = day or date.today()
    return f"# parcel - {topic}\n\n**Framework:** parcel\n**Version:** {version}\n**Research Date:** {day}\n\n## Summary\n\nSo.\n"


@pytest.fixture
def base(project_folder):
    """The knowledge base of a project with parcel 1.4.0, two entries and their reports."""
    folder = project_folder / "knowledge-base"
    (folder / "frameworks/parcel").mkdir(parents=True)
    (folder / "index.yaml").write_text(INDEX.format(day=date.today()))
    (folder / "frameworks/parcel/timeout.md").write_text(report("timeout of a parcel"))
    (folder / "frameworks/parcel/labels.md").write_text(report("labels", "1.x"))
    return folder


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


class TestLooking:
    @pytest.mark.req("K6", "I1")
    def test_list_search_and_show(self, kr, base):
        """Entries are listed, found by their words or those of their reports, and shown by id or path; nothing is written."""
        before = contents(base.parent)
        assert [one["id"] for one in kr("cache", "list", "--json").json] == [
            "parcel-timeout",
            "parcel-labels",
        ]
        assert [one["id"] for one in kr("cache", "search", "timeouts", "--json").json] == ["parcel-timeout"]
        (base / "frameworks/parcel/labels.md").write_text(report("labels") + "\nThe zebra printer.\n")
        assert [one["id"] for one in kr("cache", "search", "zebra", "printers", "--json").json] == [
            "parcel-labels"
        ]
        assert kr("cache", "search", "giraffe").code == 4
        assert kr("cache", "search", "giraffe", "--json").json == []
        assert (
            kr("cache", "show", "parcel-timeout").out
            == kr("cache", "show", "frameworks/parcel/timeout.md").out
        )
        assert "did you mean parcel-timeout" in kr("cache", "show", "parcel-timeouts").err
        assert contents(base.parent).keys() == before.keys()

    @pytest.mark.req("K7")
    def test_two_entries_of_one_id(self, kr, base):
        """An id that two entries have is asked for by path."""
        text = (base / "index.yaml").read_text()
        (base / "index.yaml").write_text(text.replace("parcel-labels", "parcel-timeout"))
        done = kr("cache", "show", "parcel-timeout")
        assert done.code == 2
        assert "frameworks/parcel/timeout.md, frameworks/parcel/labels.md" in done.err
        assert kr("cache", "show", "frameworks/parcel/labels.md").out.startswith("# parcel - labels")


class TestInOrder:
    @pytest.mark.req("K6")
    def test_gc_and_restore(self, kr, base):
        """What is too old is archived and leaves the list; it is listed, searched and restored, its comments and keys with it."""
        old = date.today() - timedelta(days=70)
        text = (base / "index.yaml").read_text()
        (base / "index.yaml").write_text(
            text.replace(f"last_accessed: '{date.today()}'", f"last_accessed: '{old}'", 1)
        )
        assert [one["id"] for one in kr("cache", "gc", "--json").json] == ["parcel-timeout"]
        assert [one["id"] for one in kr("cache", "list", "--json").json] == ["parcel-labels"]
        (archived,) = archive_of(base.parent)
        assert archived["reviewed_by"] == "ops"
        (listed,) = kr("cache", "list", "--archived", "--json").json
        assert (listed["id"], listed["status"]) == ("parcel-timeout", "archived")
        assert [one["id"] for one in kr("cache", "search", "--archived", "timeout", "--json").json] == [
            "parcel-timeout"
        ]
        assert kr("cache", "show", "parcel-timeout").out.startswith("# parcel - timeout")
        assert kr("cache", "restore", "parcel-timeout").code == 0
        restored = yaml.safe_load((base / "index.yaml").read_text())["entries"][-1]
        assert (restored["id"], restored["status"], restored["reviewed_by"]) == (
            "parcel-timeout",
            "fresh",
            "ops",
        )
        assert restored["last_accessed"] == str(date.today())
        assert archive_of(base.parent) == []
        assert kr("cache", "restore", "parcel-timeout").code == 2

    @pytest.mark.req("K10", "K6")
    @pytest.mark.parametrize("action", ["gc", "refresh", "rebuild", "check", "list"])
    def test_nothing_to_do_writes_nothing(self, kr, base, action):
        """Where nothing has to be done no file of the knowledge base is written or made."""
        before = contents(base)
        assert kr("cache", action).code == 0
        assert contents(base) == before

    @pytest.mark.req("K9", "K4")
    def test_refresh(self, kr, base, project_folder):
        """A major version that is installed marks the entries of the one before as stale: one word changes in the index."""
        site = project_folder / ".venv/lib/python3.12/site-packages"
        for path in site.glob("parcel-1.4.0.dist-info/*"):
            path.unlink()
        (site / "parcel-1.4.0.dist-info").rmdir()
        install(site, "parcel", "2.0.0", {"parcel/__init__.py": ""})
        before = (base / "index.yaml").read_text()
        marked = kr("cache", "refresh", "--json").json
        assert [(one["id"], one["status"]) for one in marked] == [
            ("parcel-timeout", "stale"),
            ("parcel-labels", "stale"),
        ]
        assert (base / "index.yaml").read_text() == before.replace("status: fresh", "status: stale")
        assert kr("cache", "refresh", "--json").json == []

    @pytest.mark.req("K9")
    def test_a_lock_file_alone(self, kr, base, project_folder):
        """The version of a lock file counts where nothing is installed; a minor upgrade marks nothing."""
        subprocess.run(["rm", "-r", project_folder / ".venv"], check=True)
        lock = project_folder / "uv.lock"
        lock.write_text('version = 1\n[[package]]\nname = "parcel"\nversion = "1.9.0"\n')
        assert kr("cache", "refresh", "--json").json == []
        lock.write_text('version = 1\n[[package]]\nname = "parcel"\nversion = "2.0.0"\n')
        assert len(kr("cache", "refresh", "--json").json) == 2


class TestCheck:
    @pytest.mark.req("K7", "K9")
    def test_all_is_well(self, kr, base):
        """A whole knowledge base passes."""
        done = kr("cache", "check", "--ci")
        assert (done.code, done.out) == (0, "nothing is wrong, and nothing is stale\n")

    @pytest.mark.req("K7")
    def test_it_lists_what_is_wrong(self, kr, base):
        """Orphaned reports, dangling entries and entries that cannot be read are named with file and line, and what to do."""
        (base / "frameworks/parcel/labels.md").unlink()
        (base / "frameworks/parcel/found.md").write_text(report("found again"))
        with (base / "index.yaml").open("a") as file:
            file.write("- id: nothing\n- framework: x\n")
        flaws = kr("cache", "check", "--json").json
        assert [(one["kind"], one["location"].rpartition("/")[2]) for one in flaws] == [
            ("unreadable", "index.yaml:23"),
            ("unreadable", "index.yaml:24"),
            ("dangling", "parcel-labels"),
            ("orphan", "found.md"),
        ]
        assert all(one["message"] and one["hint"] for one in flaws)
        assert kr("cache", "check").code == 0
        assert kr("cache", "check", "--ci").code == 1

    @pytest.mark.req("K9", "K4", "K5")
    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (('"1.4.0"', '"0.9"'), "written for 0.9, you run 1.4.0 (another major version)"),
            (('"1.4.0"', '"1.2"'), "written for 1.2, you run 1.4.0 (another minor version)"),
            (("status: fresh\n  reviewed", "status: stale\n  reviewed"), "marked stale"),
        ],
    )
    def test_stale_answers_fail_the_build(self, kr, base, change, said):
        """An answer for another version, or marked stale, is listed, and fails the build where that was asked for."""
        (base / "index.yaml").write_text((base / "index.yaml").read_text().replace(*change))
        (flaw,) = kr("cache", "check", "--json").json
        assert (flaw["kind"], flaw["location"], flaw["message"]) == ("stale", "parcel-timeout", said)
        assert kr("cache", "check", "--ci").code == 1

    @pytest.mark.req("K5")
    def test_old_research_fails_the_build(self, kr, base):
        """The research date counts, not the day of the last use."""
        old = date.today() - timedelta(days=200)
        (base / "frameworks/parcel/labels.md").write_text(report("labels", day=old))
        done = kr("cache", "check", "--ci")
        assert done.code == 1
        assert done.out.startswith("stale: parcel-labels: researched 200 days ago; ")

    @pytest.mark.req("K5")
    def test_what_nobody_asked_for_is_told_only(self, kr, base):
        """That an answer was not used for long says nothing of its truth: it is listed, and the build passes."""
        old = date.today() - timedelta(days=40)
        text = (
            (base / "index.yaml")
            .read_text()
            .replace(f"last_accessed: '{date.today()}'", f"last_accessed: '{old}'", 1)
        )
        (base / "index.yaml").write_text(text)
        done = kr("cache", "check", "--ci")
        assert done.code == 0
        assert done.out.startswith("unused: parcel-timeout: not used for 40 days; ")

    @pytest.mark.req("K7")
    @pytest.mark.parametrize("name", ["index.yaml", "_archived-index.yaml"])
    def test_a_broken_index_fails_the_build(self, kr, base, name):
        """An index that cannot be read is named with its line."""
        (base / name).write_text("a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> theirs\n")
        done = kr("cache", "check", "--ci")
        assert done.code == 1
        assert f"{name}:2: cannot be read: a merge conflict that is not resolved; " in done.out


class TestRebuild:
    @pytest.mark.req("K7")
    def test_after_a_merge_conflict(self, kr, base):
        """Both sides of a conflict count, with their ids, dates and own keys; the old file is set aside."""
        text = (base / "index.yaml").read_text()
        second = text.index("- id: parcel-labels")
        broken = f"{text[:second]}<<<<<<< HEAD\n=======\n{text[second:]}>>>>>>> theirs\n"
        (base / "index.yaml").write_text(broken)
        (base / "frameworks/parcel/found.md").write_text(report("found again"))
        done = kr("cache", "rebuild")
        assert done.code == 0
        (aside,) = base.glob("index.yaml.corrupt-*")
        assert aside.read_text() == broken
        assert aside.name in done.out
        index = yaml.safe_load((base / "index.yaml").read_text())
        assert [one["id"] for one in index["entries"]] == ["parcel-timeout", "parcel-labels", "parcel-found"]
        assert index["entries"][0]["reviewed_by"] == "ops"
        assert (base / "index.yaml").read_text().startswith("# ours\nschema_version: 1\n")
        assert kr("cache", "check", "--ci").code == 0

    @pytest.mark.req("K7")
    def test_of_an_index_that_can_be_read(self, kr, base):
        """Orphans are taken up and dangling entries left out; the lines of all others stay as they were."""
        (base / "frameworks/parcel/labels.md").unlink()
        (base / "frameworks/parcel/found.md").write_text(report("found again"))
        text = (base / "index.yaml").read_text()
        assert kr("cache", "rebuild").code == 0
        after = (base / "index.yaml").read_text()
        assert after.startswith(text[: text.index("- id: parcel-labels")].partition("entries:")[0])
        assert text[text.index("- id: parcel-timeout") : text.index("- id: parcel-labels")] in after
        assert [one["id"] for one in kr("cache", "list", "--json").json] == ["parcel-timeout", "parcel-found"]
        (aside,) = base.glob("index.yaml.before-*")
        assert aside.read_text() == text

    @pytest.mark.req("K7")
    def test_from_reports_alone(self, kr, base):
        """Without any index, entries are made from what the reports say."""
        (base / "index.yaml").unlink()
        (base / "frameworks/parcel/wild.md").write_text(
            "# Sending parcels\n\n**Framework:** parcel 1.4\n**Topic:** sending\n**Confidence:** high\n"
            "**Sources:** https://docs.example\n**Researched:** 2026-01-05\n"
        )
        assert kr("cache", "rebuild").code == 0
        listed = {one["id"]: one for one in kr("cache", "list", "--json").json}
        assert set(listed) == {"parcel-labels", "parcel-timeout", "parcel-wild"}
        wild = listed["parcel-wild"]
        assert (wild["topic"], wild["framework_version"], wild["created"]) == ("sending", "1.4", "2026-01-05")

    @pytest.mark.req("K7", "K5")
    def test_reports_without_a_day_are_named(self, kr, base):
        """The day on which their file was written counts, and the command says so, once and for these alone."""
        text = "# parcel - {}\n\n**Framework:** parcel\n{}\n## Summary\n\nSo.\n"
        for number in range(5):
            file = base / f"frameworks/parcel/undated-{number}.md"
            file.write_text(text.format(f"undated {number}", "**Researched:** last week\n"))
            os.utime(file, (1_770_000_000,) * 2)
        (base / "frameworks/parcel/dated.md").write_text(
            text.format("dated", "**Researched:** 5 February 2026\n")
        )
        told = " ".join(kr("cache", "rebuild").out.split())
        assert (
            "5 reports tell no day of their research that KR can read; the day on which the file was written counts: "
            "frameworks/parcel/undated-0.md, frameworks/parcel/undated-1.md, frameworks/parcel/undated-2.md and 2 more"
        ) in told
        days = {one["id"]: one["created"] for one in kr("cache", "list", "--json").json}
        assert (days["parcel-dated"], days["parcel-undated-0"]) == ("2026-02-05", "2026-02-02")
        assert "no day" not in kr("cache", "rebuild").out

    @pytest.mark.req("K7", "K6")
    def test_a_broken_archive(self, kr, base):
        """An archive that cannot be read is set aside and made of the entries that can; they do not come back to life."""
        entry = yaml.safe_load((base / "index.yaml").read_text())["entries"][1]
        archive = (
            "schema_version: 1\narchived_entries:\n"
            + yaml.safe_dump([entry | {"status": "archived"}])
            + "- id: 'cut"
        )
        (base / "_archived-index.yaml").write_text(archive)
        text = (base / "index.yaml").read_text()
        (base / "index.yaml").write_text(text[: text.index("- id: parcel-labels")])
        assert kr("cache", "rebuild").code == 0
        assert [one["id"] for one in kr("cache", "list", "--archived", "--json").json] == ["parcel-labels"]
        assert [one["id"] for one in kr("cache", "list", "--json").json] == ["parcel-timeout"]
        assert len(list(base.glob("_archived-index.yaml.corrupt-*"))) == 1


@pytest.mark.req("K5", "R4")
def test_a_report_in_another_language_is_served(kr, base):
    """A report whose facts and sections are in Chinese is listed, found, served with its text, and checked for its age."""
    text = "# parcel - 退款流程\n\n**框架：** parcel\n**版本：** 1.4.0\n**研究日期：** {day}\n\n## 摘要\n\n调用 `parcel.refund()`。\n"
    file = base / "frameworks/parcel/refund.md"
    file.write_text(text.format(day=f"{date.today():%Y年%m月%d日}"))
    assert kr("cache", "rebuild").code == 0
    assert "frameworks/parcel/refund.md" in kr("cache", "list").out
    assert "refund" in kr("cache", "search", "退款流程").out
    done = kr("research", "退款流程", "--framework", "parcel", "--json")
    assert done.json["status"] == "cache-hit"
    assert "parcel.refund()" in done.json["results"]["summary"]
    assert kr("cache", "check", "--ci").code == 0
    file.write_text(text.format(day="2001年1月5日"))
    assert "refund" in kr("cache", "check", "--ci").out
