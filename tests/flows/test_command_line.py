"""The command `kr`: what it prints where, and how it ends; as a process of its own where that makes a difference."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support.projects import install

QUESTION = "How do I set the timeout of a parcel?"
ASK = ("research", QUESTION, "--framework", "parcel")
FORM = {
    "story_key": "3-1",
    "mode": "research",
    "session_id": "s1",
    "research_query": {
        "framework": "parcel",
        "framework_version": "1.4.0",
        "topic": "timeout",
        "tags": ["timeout"],
        "question": QUESTION,
    },
}


class TestResearch:
    @pytest.mark.req("R5", "R14", "K9")
    def test_the_main_job(self, kr, project_folder):
        """A question is answered from the installed documentation, then from the knowledge base without any source."""
        asked = ("research", "What is the default of timeout in parcel.send?", "--framework", "parcel")
        first = kr(*asked, "--json")
        assert (first.code, first.err) == (0, "")
        results = first.json["results"]
        assert first.json["status"] == "success"
        assert results["confidence"] in {"high", "medium"}
        assert "timeout" in results["summary"]
        assert [(line["source"], line["status"]) for line in results["sources_consulted"]] == [
            ("installed_docs", "success"), ("context7", "skipped"), ("deepwiki", "skipped"), ("web_search", "skipped"),
        ]  # fmt: skip
        assert results["budget_remaining"] == 3
        site = project_folder / ".venv/lib/python3.12/site-packages"
        for citation in results["citations"]:
            assert citation["url"] == "pkg:pypi/parcel@1.4.0"
            path, _, line = citation["locator"].partition(":")
            quoted = "\n".join((site / path).read_text().split("\n")[int(line) - 1 :])
            assert citation["quote"].split("\n")[0].split()[0] in quoted
        second = kr(*asked, "--json")
        assert (second.code, second.json["status"]) == (0, "cache-hit")
        assert second.json["results"]["sources_consulted"] == []
        third = kr(*asked, "--json")
        assert {**third.json, "session_id": ""} == {**second.json, "session_id": ""}
        assert third.json["session_id"] != second.json["session_id"]

    @pytest.mark.req("R14")
    def test_forms(self, kr):
        """For people Markdown, for programs JSON or YAML of the same value; notes go to standard error."""
        text = kr(*ASK)
        assert text.out.startswith("# parcel 1.4.0 - ")
        assert "**Confidence: " in text.out
        assert "Kept in: knowledge-base/frameworks/parcel/" in text.out
        assert "\x1b" not in text.out
        assert text.err == ""
        as_json, as_yaml = kr(*ASK, "--json", "--session", "s"), kr(*ASK, "--yaml", "--session", "s")
        assert yaml.safe_load(as_yaml.out) == as_json.json
        assert kr(*ASK, "--json", "--yaml").code == 2

    def test_every_flag(self, kr_here, project_folder):
        """Framework, version, topic, tags, story, session, budget and time are taken from the command line."""
        done = kr_here(*ASK, "--version", "1.3", "--topic", "the patience of carriers", "--tag", "one", "--tag", "two",
                  "--story", "7-2", "--session", "mine", "--max-calls", "2", "--timeout", "30", "--json")  # fmt: skip
        assert done.code == 0, done
        assert (done.json["story_key"], done.json["session_id"]) == ("7-2", "mine")
        assert done.json["results"]["budget_remaining"] == 2
        (entry,) = yaml.safe_load((project_folder / "knowledge-base/index.yaml").read_text())["entries"]
        assert (entry["framework_version"], entry["topic"], entry["tags"]) == (
            "1.3",
            "the patience of carriers",
            ["one", "two"],
        )
        assert (
            kr_here(
                *ASK, "--topic", "the patience of carriers", "--tag", "one", "--version", "1.3", "--json"
            ).json["status"]
            == "cache-hit"
        )
        again = kr_here(
            *ASK,
            "--topic",
            "the patience of carriers",
            "--tag",
            "one",
            "--version",
            "1.3",
            "--json",
            "--refresh",
        )
        assert again.json["status"] == "success"

    @pytest.mark.req("R1", "R2")
    @pytest.mark.parametrize("dump", [json.dumps, yaml.safe_dump])
    def test_a_request_in_a_file(self, kr_here, tmp_path, project_folder, dump):
        """A request as YAML or JSON, in a file or on standard input; a file's name counts from the folder of -C."""
        (project_folder / "request").write_text(dump(FORM))
        done = kr_here("research", "--request", "request", "--json")
        assert (done.code, done.json["status"], done.json["session_id"]) == (0, "success", "s1")
        assert (
            kr_here("research", "--request", "-", "--json", input=dump(FORM).encode()).json["status"]
            == "cache-hit"
        )
        outside = kr_here("-C", project_folder, "research", "--request", "request", "--json", cwd=tmp_path)
        assert outside.json["status"] == "cache-hit"
        fresh = kr_here("research", "--request", "request", "--refresh", "--json")
        assert fresh.json["status"] == "success"

    @pytest.mark.req("S4")
    @pytest.mark.parametrize("ending", ["yaml", "yml"])
    def test_a_batch_in_yaml(self, kr_here, project_folder, ending):
        """A list of questions and requests, as people write them; what is not a list is refused with its place."""
        batch = project_folder / f"batch.{ending}"
        batch.write_text(
            f"# open\n- {QUESTION}\n- question: {QUESTION}\n  framework: parcel\n  version: 1.4\n- inputs: {{required: {json.dumps(FORM)}}}\n"
        )
        done = kr_here("research", "--batch", batch.name)
        results = [json.loads(line) for line in done.out.splitlines()]
        assert [one["status"] for one in results] == ["success"] * 3 or done.code == 0, done
        batch.write_text("- a\n- {\n")
        bad = kr_here("research", "--batch", batch.name)
        assert (bad.code, f"batch.{ending}:3: is neither YAML nor JSON" in bad.err) == (2, True)
        batch.write_text("question: a\n")
        assert "is not a list; write one question" in kr_here("research", "--batch", batch.name).err

    @pytest.mark.req("S4")
    def test_a_batch(self, kr_here, project_folder):
        """One result a line, in the order asked; the worst exit code counts."""
        lines = [json.dumps(FORM), json.dumps({"question": QUESTION, "framework": "parcel"}), "",
                 json.dumps({**FORM, "mode": "x"})]  # fmt: skip
        done = kr_here("research", "--batch", "-", input="\n".join(lines).encode())
        assert [json.loads(line)["status"] for line in done.out.splitlines()] == [
            "success",
            "success",
            "failure",
        ]
        assert done.code == 2
        again = kr_here("research", "--batch", "-", input="\n".join(lines[:2]).encode())
        assert [json.loads(line)["status"] for line in again.out.splitlines()] == ["cache-hit"] * 2
        fresh = kr_here("research", "--batch", "-", "--refresh", input=lines[0].encode())
        assert json.loads(fresh.out)["status"] == "success"

    @pytest.mark.parametrize("place", ["before", "after"])
    def test_where_it_works(self, kr, tmp_path, project_folder, place):
        """`-C` and `--config` stand before or after the subcommand."""
        (project_folder / "other.yaml").write_text("knowledge_research: {knowledge_base_path: elsewhere}\n")
        root = ("-C", project_folder, "--config", "other.yaml")
        command = (*root, *ASK) if place == "before" else (*ASK, *root)
        done = kr(*command, cwd=tmp_path)
        assert done.code == 0, done
        assert (project_folder / "elsewhere/index.yaml").is_file()
        assert "Kept in: project/elsewhere/" in done.out

    def test_loud_and_quiet(self, kr_here):
        """`-v` shows each source call as it happens; `-q` nothing but the answer, and what went wrong."""
        loud = kr_here(*ASK, "-v")
        assert "asking installed_docs\n" in loud.err
        assert "installed_docs: ok, " in loud.err
        assert kr_here(*ASK, "-q", "--refresh").err == ""
        wrong = kr_here("research", "", "-q")
        assert (wrong.code, wrong.out) == (2, "")
        assert wrong.err == "kr: Validation failed: question: must not be empty\n"

    def test_exit_codes_without_content(self, kr):
        """No content is 4, with a result that says so."""
        done = kr("research", "How do I fly?", "--framework", "nothing-of-the-kind", "--json")
        assert (done.code, done.json["status"]) == (4, "degraded")

    @pytest.mark.parametrize(
        "arguments",
        [
            ("research",),
            ("research", "a", "--request", "x"),
            ("research", "--request", "x", "--topic", "y"),
            ("research", "--batch", "x", "--session", "y"),
            ("research", "--request", "no-such-file"),
            ("research", "--request", "."),
            ("research", "--request", "x" * 5000),
            ("research", QUESTION, "--refres"),
            ("research", QUESTION, "--max-calls", "many"),
            ("reserach", QUESTION),
            ("-C", "no-such-folder", "versions"),
            ("--config", "no-such-file", "versions"),
            ("verify", "no-such-report"),
            ("verify", "x" * 5000),
            ("cache", "show", "nothing"),
            ("cache",),
        ],
    )
    def test_wrong_use(self, kr_here, project_folder, arguments):
        """Wrong use ends with 2 and one line that says what is wrong; nothing is written."""
        done = kr_here(*arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.splitlines()[-1].startswith("kr")
        assert "Traceback" not in done.err
        assert os.listdir(project_folder) == [".venv"]

    def test_a_reader_that_goes_away(self, kr, project_folder, environ):
        """A closed pipe is no error, also for a repeated answer."""
        kr(*ASK)
        for more in ((), ("-v",)):
            command = [sys.executable, "-m", "kr_core", *ASK, *more]
            process = subprocess.Popen(command, cwd=project_folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
            process.stdout.close()
            errors = process.stderr.read().decode()
            process.stderr.close()
            assert process.wait() == 0
            assert "Traceback" not in errors
            assert "BrokenPipe" not in errors

    @pytest.fixture
    def stubborn(self, tmp_path, project_folder, environ):
        """Install a source that never ends, as a plugin, and configure it first; returns the environment to use."""

        def make(kind, seconds):
            work = {
                "ignores": "while True:\n            try:\n                await asyncio.sleep(3600)\n"
                "            except asyncio.CancelledError:\n                continue\n",
                "blocks": "await asyncio.to_thread(time.sleep, 3600)\n",
                "leaves": "threading.Thread(target=time.sleep, args=(3600,)).start()\n"
                "        await asyncio.sleep(3600)\n",
                "imports": "pass\n",
            }
            plugin = f"""\
import asyncio, threading, time, kr_core

time.sleep({3600 if kind == "imports" else 0})

class Stubborn:
    external = False
    timeout_seconds = {seconds}

    async def query(self, query, context):
        {work[kind]}

@kr_core.hookimpl
def kr_source():
    return kr_core.Provider(lambda settings, setup: Stubborn())
"""
            site = tmp_path / "extra"
            folder = install(site, "kr-stubborn", "1.0", {"kr_stubborn.py": plugin})
            (folder / "entry_points.txt").write_text("[kr]\nstubborn = kr_stubborn\n")
            (project_folder / "kr.yaml").write_text(
                "knowledge_research: {sources: [stubborn, installed_docs]%s}\n"
                % (", timeout_seconds: 2" if kind == "imports" else "")
            )
            return {"PYTHONPATH": str(site)}

        return make

    @pytest.mark.req("R8")
    def test_a_program_that_runs_a_command_goes_on(self, project_folder, environ):
        """A thread of another program's own that works longer than the command is none of KR's to end."""
        program = """
import threading
from kr_core.cli import main

done = threading.Event()
threading.Thread(target=done.wait).start()
print("code", main(["plugins"]))
done.set()
"""
        command = [sys.executable, "-c", program]
        ended = subprocess.run(
            command, cwd=project_folder, env=environ, capture_output=True, text=True, check=True
        )
        assert ended.stdout.endswith("code 0\n")

    @pytest.mark.req("R8")
    @pytest.mark.parametrize("kind", ["ignores", "blocks", "leaves"])
    def test_a_stubborn_source_does_not_keep_the_process(self, kr, stubborn, kind):
        """A call that never stops, as a task or in a thread, is left behind: the process ends soon."""
        done = kr(*ASK, "--json", env=stubborn(kind, 0.1), timeout=120)
        assert (done.code, done.json["status"]) == (0, "timeout"), done
        assert "stubborn: timeout after 0.1 s" in done.json["results"]["degradation_notes"]

    @pytest.mark.req("R8")
    def test_an_import_that_never_ends_does_not_keep_the_process(self, kr, stubborn):
        """It is its source's timeout; the other plugins are imported meanwhile, and the next source answers."""
        done = kr(*ASK, "--json", env=stubborn("imports", 0.1), timeout=120)
        assert (done.code, done.json["status"]) == (0, "timeout"), done
        assert [line["status"] for line in done.json["results"]["sources_consulted"]] == [
            "timeout",
            "success",
        ]

    @pytest.mark.parametrize("kind", ["ignores", "blocks"])
    def test_an_interrupt(self, stubborn, project_folder, environ, kind):
        """Control-C ends a run soon, with 130 and no traceback, whatever its source does; the journal tells of it."""
        command = [sys.executable, "-m", "kr_core", *ASK, "-v"]
        process = subprocess.Popen(
            command,
            cwd=project_folder,
            env={**environ, **stubborn(kind, 60)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A job in the background starts its children deaf to this signal.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509  nothing else sets it
        )
        asked = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=120)
        assert (asked, process.returncode, out, errors) == (
            b"asking stubborn\n",
            130,
            b"",
            b"stubborn: unavailable, 0 passages: the run was cancelled\nkr: interrupted\n",
        )
        connection = sqlite3.connect(project_folder / ".kr/journal.sqlite")
        last = connection.execute("SELECT kind FROM events ORDER BY number DESC").fetchone()
        connection.close()
        assert last == ("run.cancelled",)


class TestVerify:
    @pytest.fixture
    def kr(self, kr_here):
        """The commands run in this process: that they do so as programs is tried above."""
        return kr_here

    @pytest.fixture
    def report(self, kr, project_folder):
        kr(*ASK)
        (report,) = (project_folder / "knowledge-base/frameworks/parcel").glob("*.md")
        return report

    @pytest.mark.req("R18")
    def test_a_true_report(self, kr, project_folder, tmp_path, report):
        """A report is checked by its file, its path in the knowledge base or its entry; offline, with exit 0."""
        names = [report, report.relative_to(project_folder / "knowledge-base"), f"parcel-{report.stem}"]
        for name in names:
            done = kr("verify", name)
            assert (done.code, done.err) == (0, ""), done
            assert "quotes hold" in done.out
        nearby = report.relative_to(project_folder)
        assert kr("verify", nearby, "-C", project_folder, cwd=tmp_path).code == 0

    @pytest.mark.req("R18")
    @pytest.mark.parametrize("change", ["sentence", "added", "quote", "passage", "code"])
    def test_a_false_report(self, kr, report, change):
        """An altered sentence, quote, passage or code, or a sentence more, is told, and the exit is not 0."""
        beside = report.with_suffix(".evidence.json")
        evidence = json.loads(beside.read_text())
        if change == "sentence":
            report.write_text(report.read_text().replace("timeout=", "patience="))
        elif change == "added":
            report.write_text(report.read_text().replace("## Details", "It never fails. [1]\n\n## Details"))
        elif change == "quote":
            evidence["citations"][0]["quote"] = "It never fails."
        elif change == "passage":
            next(iter(evidence["passages"].values()))["text"] += " It never fails."
        else:
            report.write_text(report.read_text().replace("2.0", "3.0").replace("(address", "(adress"))
        beside.write_text(json.dumps(evidence))
        done = kr("verify", report)
        assert done.code == 1, done
        assert done.out.startswith("false: ")
        assert "Traceback" not in done.err

    @pytest.mark.req("R18")
    def test_several_reports(self, kr, report):
        """Each is checked, whatever became of the others; one that says that there was no answer has nothing to check."""
        kr("research", "How do I tame a zyzzyva with parcel?", "--framework", "parcel", "--topic", "zyzzyva")
        lost = report.with_name("lost.md")
        lost.write_text(report.read_text())
        unanswered = report.parents[3] / ".kr/unanswered/parcel/zyzzyva.md"
        done = kr("verify", lost, unanswered, report)
        assert done.code == 2, done
        assert "lost.md: no evidence beside it" in done.err
        assert done.out.splitlines()[0] == "nothing to check: zyzzyva.md says that there was no answer"
        assert f"hold in {report.name}" in done.out.splitlines()[1]
        assert kr("verify", unanswered, report).code == 0

    @pytest.mark.req("R18")
    @pytest.mark.parametrize(
        "evidence", [None, "", "{}", "[]", "7", "\x00", "[" * 100_000, '{"passages": 7}']
    )
    def test_evidence_that_is_not_there(self, kr, report, evidence):
        """A report whose evidence is gone or spoilt does not pass."""
        beside = report.with_suffix(".evidence.json")
        beside.unlink()
        if evidence is not None:
            beside.write_text(evidence)
        done = kr("verify", report)
        assert done.code in {1, 2}
        assert len((done.out + done.err).splitlines()) == 1
        assert "unforeseen" not in done.err
        assert "Errno" not in done.err
        if evidence is None:
            assert f"no evidence beside it: KR keeps it in {beside.name}" in done.err


class TestLooking:
    @pytest.fixture
    def kr(self, kr_here):
        """The commands run in this process: that they do so as programs is tried above."""
        return kr_here

    @pytest.mark.req("K9")
    def test_versions(self, kr):
        """The versions in use and where each was found, for people and as a list."""
        assert kr("versions").out == "parcel 1.4.0 (.venv)\n"
        assert kr("versions", "Parcel", "--json").json == [
            {"name": "Parcel", "version": "1.4.0", "from": ".venv"}
        ]
        assert kr("versions", "--json").json == [{"name": "parcel", "version": "1.4.0", "from": ".venv"}]
        unknown = kr("versions", "nothing")
        assert (unknown.code, unknown.out) == (4, "nothing: not known in this project\n")
        assert (kr("versions", "nothing", "--json").code, kr("versions", "nothing", "--json").json) == (0, [])

    @pytest.mark.req("K1")
    def test_the_knowledge_base(self, kr):
        """Entries are listed and reports shown; an id that is not there names the nearest."""
        assert kr("cache", "list").out == "the knowledge base is empty\n"
        assert kr("cache", "list", "--json").json == []
        kr(*ASK)
        (entry,) = kr("cache", "list", "--json").json
        assert entry["framework"] == "parcel"
        assert kr("cache", "list").out.startswith(entry["id"])
        assert kr("cache", "show", entry["id"]).out.startswith("# parcel - ")
        wrong = kr("cache", "show", f"{entry['id']}x")
        assert (wrong.code, wrong.out) == (2, "")
        assert f"did you mean {entry['id']}?" in wrong.err

    @pytest.mark.req("P2")
    def test_plugins(self, kr):
        """The plugins that are installed, which are active, and with -v what each provides."""
        rows = {row["name"]: row for row in kr("plugins", "--json").json}
        active = {
            "files",
            "sqlite",
            "jsonl",
            "installed_docs",
            "context7",
            "deepwiki",
            "web_search",
            "match",
            "evidence",
            "markdown",
            "rules",
            "stdout",
        }
        assert {name for name, row in rows.items() if row["active"]} == active
        assert not rows["mcp"]["active"]
        assert all("kinds" not in row for row in rows.values())
        kinds = {row["name"]: row["kinds"] for row in kr("plugins", "-v", "--json").json}
        assert kinds["installed_docs"] == ["source"]
        assert "active" in kr("plugins").out

    def test_doctor(self, kr, project_folder):
        """Everything that is in use is checked, line by line; a fault makes the exit 2."""
        done = kr("doctor")
        assert done.code == 0, done
        assert {line.split()[0] for line in done.out.splitlines()} == {"ok", "note"}
        assert "source web_search: not asked: no search engine is configured" in done.out
        assert {"name", "state", "message"} == set(kr("doctor", "--json").json[0])
        for text in ("store: nothing\n", "nothing: 1\n", "a: [\n"):
            (project_folder / "kr.yaml").write_text(text)
            done = kr("doctor")
            assert done.code == 2, done
            assert "fault" in done.out
            assert "kr.yaml:" in done.out
            assert done.err == ""

    def test_init(self, kr, project_folder):
        """A configuration to start from, which is valid, and never overwrites what is there."""
        done = kr("init")
        assert done.code == 0
        assert kr("doctor").code == 0
        (project_folder / "kr.yaml").write_text("# mine\n")
        refused = kr("init")
        assert refused.code == 2
        assert (project_folder / "kr.yaml").read_text() == "# mine\n"
        assert kr("init", "--force").code == 0
        assert (project_folder / "kr.yaml").read_text() != "# mine\n"

    def test_help_and_version(self, kr):
        """Help tells the exit codes; the version is one line."""
        assert "exit codes: 0 an answer" in kr("--help").out
        assert kr("research", "--help").code == 0
        assert kr("--version").out.startswith("kr 0.")
        assert kr("-V", "--json").code in {0, 2}


SHOW = """
import atexit, sys
atexit.register(lambda: print("loaded:", *sorted(sys.modules), file=sys.stderr))
from kr_core.cli import main
sys.exit(main(sys.argv[1:]))
"""


class TestImports:
    @pytest.fixture
    def loaded(self, project_folder, environ):
        """The modules that a command line has loaded when it ends."""

        def run(*arguments):
            command = [sys.executable, "-c", SHOW, *arguments]
            done = subprocess.run(
                command, cwd=project_folder, env=environ, capture_output=True, text=True, check=True
            )
            return set(done.stderr.rpartition("loaded: ")[2].split())

        return run

    @pytest.mark.req("S1")
    def test_the_version_loads_nothing(self, loaded):
        """`kr --version` loads neither a dependency nor a slow module of Python's own."""
        heavy = {
            "pluggy",
            "pydantic",
            "yaml",
            "importlib.metadata",
            "asyncio",
            "argparse",
            "typing",
            "pathlib",
            "json",
        }
        before = set(
            subprocess.run(
                [sys.executable, "-c", "import sys; print(*sys.modules)"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout.split()
        )
        assert not loaded("--version") & heavy - before

    @pytest.mark.req("R4", "S1")
    @pytest.mark.parametrize("way", ["repeated", "looked up"])
    def test_a_hit_loads_no_event_loop(self, loaded, way):
        """A hit loads neither asyncio nor an HTTP client, a template engine or what composes answers, repeated or looked up.

        An answer that needs no network loads no HTTP client either.
        """
        first = loaded(*ASK)
        assert "asyncio" in first
        assert "httpx" not in first
        names = loaded(*ASK, *(("-v",) if way == "looked up" else ()))
        assert not names & {"asyncio", "httpx", "jinja2", "rich", "kr_core.research.report"}
        assert ("pydantic" in names) == (way == "looked up")


@pytest.mark.req("R5", "R14")
def test_done_when(tmp_path, kr):
    """The pair of commands on httpx itself: success with every citation resolving, then a hit with no source asked."""
    httpx = pytest.importorskip("httpx")
    empty = tmp_path / "empty"
    empty.mkdir()
    command = ("research", "How do I set a timeout for a single request in httpx?", "--json")
    first = kr(*command, cwd=empty)
    assert (first.code, first.json["status"]) == (0, "success")
    assert "timeout=" in first.json["results"]["summary"][:600]
    citations = first.json["results"]["citations"]
    assert citations
    for citation in citations:
        assert citation["url"] == f"pkg:pypi/httpx@{httpx.__version__}"
        path, _, line = citation["locator"].partition(":")
        lines = (Path(httpx.__file__).parents[1] / path).read_text().split("\n")
        prompts = str.maketrans("", "", ">.")  # those of an example are no part of its code
        below = " ".join(" ".join(lines[int(line) - 1 :]).translate(prompts).split())
        assert " ".join(citation["quote"].translate(prompts).split()[:3]) in below
    second = kr(*command, cwd=empty)
    assert (second.code, second.json["status"]) == (0, "cache-hit")
    assert second.json["results"]["sources_consulted"] == []
    report = first.json["results"]["report_path"]
    assert kr("verify", report, cwd=empty).code == 0


@pytest.mark.req("R14")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    ("output", "code", "said"),
    [("> /dev/full", 1, "no room is left"), (">&-", 0, ""), ("2>&-", 0, ""), (">&- 2>&-", 0, "")],
)
def test_output_that_cannot_be_written(project_folder, output, code, said):
    """A full disk is told with what to do; who closes an output does not want it."""
    command = f'exec "{sys.executable}" -m kr_core plugins {output}'
    done = subprocess.run(
        ["sh", "-c", command], cwd=project_folder, stderr=subprocess.PIPE, text=True, check=False
    )
    assert (done.returncode, "unforeseen" in done.stderr) == (code, False)
    assert done.stderr.startswith(f"kr: {said}" if said else "")


@pytest.mark.req("R14")
def test_a_working_folder_that_is_gone(tmp_path):
    """Somebody has removed it under the shell."""
    (tmp_path / "gone").mkdir()
    command = f'rmdir "$PWD"; exec "{sys.executable}" -m kr_core plugins'
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path / "gone", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "working folder is not there any more" in done.stderr
