"""KR in a project of BMAD's: its configuration, its knowledge base, the reports and lessons of its own agent."""

from __future__ import annotations

import re
import subprocess
from datetime import date, timedelta
from pathlib import Path

import pytest
import yaml

from kr_core.team.assembler import MessageAssembler

pytestmark = pytest.mark.req("P7", "K2")

CONFIGURATION = """\
# Модуль BSO: порядок спринтов -- 冲刺编排的配置
# إعدادات الوحدة
module: bso
version: 1.0.0
user_name: "Ада"
communication_language: 中文
output_folder: "{project-root}/_bmad-output"

role_mapping:  # 角色映射
  knowledge_researcher_persona: "bmad:bmm:agents:architect"
  developer_persona: "bmad:bmm:agents:dev"
  reviewers: [bmad:bmm:agents:qa, {persona: x, weight: 0.5}]

defaults:
  parallel: 2
  review_strictness: strict
  agent_timeout_seconds: {knowledge_research: 300, dev_execution: 1800, e2e: null}
  agent_timeout_action: tell_the_lead  # a word of the orchestrator's own

knowledge_research:
  enabled: true
  knowledge_base_path: "{project-root}/_bmad-output/knowledge-base"
  cache_ttl_days: 30
  max_calls_per_story: 3
  timeout_seconds: 600
  cache_fuzzy_match: true
  sources: [installed_docs, context7, deepwiki, web_search]
  fallback_if_mcp_unavailable: web_search
  lru_policy: {by: last_accessed, batch: 1}

status_file_search_paths:
  - "{project-root}/_bmad-output/sprint-status.yaml"
logs: {level: debug, since: 2026-01-01}
agents:
  - {id: knowledge-researcher, path: "{project-root}/_bmad/bso/agents/knowledge-researcher.md"}
"""
INDEX = """\
# Knowledge cache index -- 知识缓存索引
# kept by the knowledge researcher; do not sort

bso_module_version: "1.0.0"
schema_version: 1
maintainer: winston
created: "2026-01-02"
max_entries: 200
cache_ttl_days: 30
entries:
  - id: "parcel-insurance"
    framework: "parcel"
    framework_version: "1.x"
    topic: "insurance of a parcel"
    tags: ["insurance", "loss"]
    path: "frameworks/parcel/insurance.md"
    created: "{long_ago}"
    last_accessed: "{lately}"
    status: "fresh"
    story: "2-4"
  - id: "parcel-timeouts"
    story: "2-5"
    framework: "parcel"
    framework_version: "0.9"
    topic: "timeout of a parcel"
    tags: ["timeout"]
    path: "frameworks/parcel/timeouts.md"
    created: "{long_ago}"
    last_accessed: "{lately}"
    status: "fresh"
"""
ARCHIVE = """\
schema_version: 1
archived_entries:
  - {id: parcel-labels, framework: parcel, framework_version: "0.5", topic: labels, tags: [label],
     path: frameworks/parcel/labels.md, created: "2025-06-01", last_accessed: "2025-07-01", status: archived}
"""
REPORT = """\
# parcel - {topic}

**Framework:** parcel
**Version:** {version}
**Research Date:** {long_ago}
**Confidence:** medium
**Sources:** https://docs.example/parcel

## Summary
{summary}

## Details
As above.

## Code Examples

## Caveats & Version-Specific Notes
None.

## Source Attribution
- Source 1: https://docs.example/parcel (via deepwiki)
"""
LESSONS = "# 经验教训\n\n- [2026-01-20] [dev-execution] Keep it small. Ref: src/a.py:3\n"
REQUEST = """\
story_key: "3-1"
mode: research
session_id: sprint-2026-02-07-001
research_query:
  framework: parcel
  framework_version: "1.4.0"
  topic: "{topic}"
  tags: ["{tag}"]
  question: "{question}"
"""


@pytest.fixture
def kr(kr_here):
    """The commands run in this process: that they do so as programs is tried elsewhere, and takes ten times as long."""
    return kr_here


@pytest.fixture
def environ(environ, tmp_path):
    """Git with a name, and nothing of the tester's own configuration."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    names = {
        f"GIT_{who}_{what}": "w@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    return {**kept, **names, "HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def git(project_folder, environ):
    """Git in the project."""

    def run(*arguments):
        done = subprocess.run(
            ["git", *arguments], check=True, capture_output=True, cwd=project_folder, env=environ
        )
        return done.stdout.decode()

    return run


@pytest.fixture
def base(project_folder, git):
    """The knowledge base of a project that BMAD's own agent has worked in, in git."""
    today = date.today()
    dates = {"long_ago": str(today - timedelta(days=300)), "lately": str(today - timedelta(days=5))}
    base = project_folder / "_bmad-output/knowledge-base"
    insurance = {
        "topic": "insurance of a parcel",
        "version": "1.x",
        "summary": "Pass `insured=True` to `send`.",
    }
    timeouts = {"topic": "timeout of a parcel", "version": "0.9", "summary": "There are none."}
    files = {
        project_folder / ".gitignore": ".venv/\n",
        project_folder / "_bmad/bso/config.yaml": CONFIGURATION,
        project_folder / "_bmad/bmm/agents/architect.md": "# Architect\n",
        base / "index.yaml": INDEX.format(**dates),
        base / "_archived-index.yaml": ARCHIVE,
        base / "frameworks/parcel/insurance.md": REPORT.format(**insurance, **dates),
        base / "frameworks/parcel/timeouts.md": REPORT.format(**timeouts, **dates),
        base / "lessons/_lessons-learned.md": LESSONS,
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    git("init", "-q", ".")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    return base


@pytest.fixture
def ask(kr, base, tmp_path):
    """A request in the published form, from somewhere in the project."""

    def run(topic, tag, question, **options):
        request = tmp_path / "request.yaml"
        request.write_text(REQUEST.format(topic=topic, tag=tag, question=question))
        return kr("research", "--request", request, "--json", **options)

    return run


@pytest.mark.req("K3", "K5", "R4")
def test_an_answer_of_bmads_agent_is_found(ask, base, git):
    """Its report serves as it stands, also one researched long ago; git and the rest of the index are left alone."""
    before = (base / "index.yaml").read_text()
    done = ask("insurance of a parcel", "insurance", "How do I insure a parcel?")
    results = done.json["results"]
    assert (done.code, done.json["status"]) == (0, "cache-hit"), done
    assert (results["cache_entry_id"], results["confidence"]) == ("parcel-insurance", "medium")
    assert results["summary"] == "Pass `insured=True` to `send`."
    lately, today = (f'last_accessed: "{date.today() - timedelta(days=days)}"' for days in (5, 0))
    assert (base / "index.yaml").read_text() == before.replace(lately, today, 1)
    assert git("log", "--format=%s").splitlines() == ["first"]


@pytest.mark.req("K2", "K4", "K10")
def test_a_stale_one_is_researched_anew_in_its_place(ask, base, git):
    """The entry keeps its id, path, date, own keys and their order; comments and header stay; the change is committed."""
    before = (base / "index.yaml").read_text()
    done = ask("timeout of a parcel", "timeout", "What is the default of timeout in parcel.send?")
    assert done.json["status"] == "success", done
    assert done.json["results"]["report_path"] == "frameworks/parcel/timeouts.md"
    after = (base / "index.yaml").read_text()
    comment = before.split("bso_module_version")[0]
    assert after.startswith(comment)
    old, new = yaml.safe_load(before), yaml.safe_load(after)
    assert list(new) == list(old)
    assert {**new, "entries": []} == {**old, "entries": []}
    assert new["entries"][0] == old["entries"][0]
    changed = {"framework_version": "1.4.0", "last_accessed": str(date.today())}
    assert new["entries"][1] == {**old["entries"][1], **changed}
    assert "timeout=" in (base / "frameworks/parcel/timeouts.md").read_text()
    place = "_bmad-output/knowledge-base"
    assert git("show", "--format=", "--name-only").split() == [
        f"{place}/frameworks/parcel/timeouts.evidence.json",
        f"{place}/frameworks/parcel/timeouts.md",
        f"{place}/index.yaml",
    ]
    assert git("status", "--porcelain") == ""
    assert (base / "lessons/_lessons-learned.md").read_text() == LESSONS
    assert (base / "_archived-index.yaml").read_text() == ARCHIVE


def test_new_research_beside_bmads_own(ask, base, project_folder):
    """A new entry is added behind the others; KR's own state lies beside the project's files, out of git."""
    before = yaml.safe_load((base / "index.yaml").read_text())["entries"]
    done = ask("tracking by number", "track", "How do I follow a parcel by its number?", cwd=base.parent)
    assert done.json["status"] == "success", done
    after = yaml.safe_load((base / "index.yaml").read_text())["entries"]
    assert (after[:2], len(after)) == (before, 3)
    assert {path.name for path in project_folder.iterdir()} == {
        ".git", ".gitignore", ".kr", ".venv", "_bmad", "_bmad-output"
    }  # fmt: skip
    assert (project_folder / "_bmad/bso/config.yaml").read_text() == CONFIGURATION


def test_the_doctor_is_content(kr, base):
    """No fault: what KR does not know is others' own, what it lacks is passed by, and it says where it commits."""
    done = kr("doctor", "--json")
    assert done.code == 0, done
    said = [(check["name"], check["state"], check["message"]) for check in done.json]
    notes = [(name, text) for name, state, text in said if state == "note"]
    kinds = ("source ", "agent ")  # what is installed of them differs from machine to machine
    assert [name for name, _text in notes if not name.startswith(kinds)] == ["configuration"] * 3
    assert "config.yaml:18: `defaults.agent_timeout_action` has a value that KR does not know" in notes[0][1]
    for key in ("logs", "agents"):  # BMAD's own
        assert any(f"`{key}` has a value that KR does not know" in text for _name, text in notes), notes
    assert not any("lru_policy" in text or "reviewers" in text for _name, _state, text in said)
    assert ("knowledge base", "ok", f"2 entries in {base}") in said
    assert ("git", "ok", f"what changes in {base} is committed in {base.parents[1]}") in said


@pytest.mark.req("K9")
def test_what_reads_the_project_works(kr, base):
    """`kr versions`, `kr cache list` and `kr cache show` read the project and the knowledge base as they are."""
    assert kr("versions", "--json").json == [{"name": "parcel", "version": "1.4.0", "from": ".venv"}]
    assert [entry["id"] for entry in kr("cache", "list", "--json").json] == [
        "parcel-insurance",
        "parcel-timeouts",
    ]
    assert (
        kr("cache", "show", "parcel-insurance").out == (base / "frameworks/parcel/insurance.md").read_text()
    )


def test_sources_that_are_not_there_yet(ask, base, project_folder):
    """With BMAD's own chain alone, of which nothing is installed, the stale report serves and says so."""
    config = project_folder / "_bmad/bso/config.yaml"
    config.write_text(CONFIGURATION.replace("[installed_docs, ", "["), "utf-8")
    done = ask("timeout of a parcel", "timeout", "How do I set a timeout for a parcel?")
    assert (done.code, done.json["status"]) == (0, "degraded"), done
    assert "all_sources_unavailable: using stale cache" in done.json["results"]["degradation_notes"]
    assert [line["status"] for line in done.json["results"]["sources_consulted"]] == ["unavailable"] * 3
    assert (
        Path(base, "frameworks/parcel/timeouts.md").read_text().startswith("# parcel - timeout of a parcel")
    )


AGENTS = ("_bmad/kr/agents/knowledge-researcher.md", ".claude/agents/kr-knowledge-researcher.md")


def blocks_of(text):
    """The here-documents of an agent file, with the command of each."""
    return re.findall(r"```sh\nkr (.+?) <<'(\w+)'\n(.*?)\n\2\n```", text, re.DOTALL)


@pytest.mark.req("I1", "P7")
def test_an_agent_file_for_bmad_is_written_and_taken_back(kr, base, project_folder):
    """It lies beside BMAD's own agents, which stay as they are; for Claude Code too, where the project has it."""
    mine = project_folder / "_bmad/bso/agents/knowledge-researcher.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("# Mine\n")
    done = kr("init", "--client", "bmad", "--yes")
    assert done.code == 0, done
    agent = project_folder / AGENTS[0]
    text = agent.read_text()
    assert text.startswith('---\nname: "kr-knowledge-researcher"\n')
    assert "(`_bmad-output/knowledge-base/`)" in text
    assert not (project_folder / ".claude").exists()
    assert not (project_folder / "kr.yaml").exists()
    (project_folder / ".claude/agents").mkdir(parents=True)
    assert kr("init", "--client", "bmad", "--yes").code == 0
    other = (project_folder / AGENTS[1]).read_text()  # the last line says which folders KR made
    assert other.rpartition("<!--")[0] == text.rpartition("<!--")[0]
    assert "there already" in kr("init", "--client", "bmad", "--yes").out
    assert kr("init", "--client", "bmad", "--undo", "--yes").code == 0
    assert not (project_folder / "_bmad/kr").exists()
    assert list((project_folder / ".claude").rglob("*")) == [project_folder / ".claude/agents"]
    assert (mine.read_text(), (project_folder / "_bmad").is_dir()) == ("# Mine\n", True)
    assert "nothing to undo" in kr("init", "--client", "bmad", "--undo", "--yes").out


@pytest.mark.req("I1")
def test_an_agent_file_that_is_not_krs_is_never_overwritten(kr, base, project_folder):
    """A file of that name that another wrote, or that was changed, stays, also when it is taken back."""
    agent = project_folder / AGENTS[0]
    agent.parent.mkdir(parents=True)
    agent.write_text("# Mine\n")
    for options in (("--yes",), ("--undo", "--yes")):
        done = kr("init", "--client", "bmad", *options)
        assert (done.code, agent.read_text()) == (0, "# Mine\n")
        assert f"{AGENTS[0]} is not KR's, or was changed; it stays as it is" in done.out


@pytest.mark.req("I1")
def test_without_a_bmad_project_no_agent_file_is_written(kr, project_folder):
    """The error names the folder that is missing; beside a BMAD configuration, `kr init` names the option."""
    done = kr("init", "--client", "bmad", "--yes")
    assert (done.code, "has no `_bmad/`" in done.err) == (2, True)
    (project_folder / "_bmad").mkdir()
    assert "`kr init --client bmad`" in kr("init").out


@pytest.mark.req("I1", "R1", "L1", "T1")
def test_the_commands_of_the_agent_file_do_what_it_says(kr, base, project_folder):
    """Each command with its request is run as it stands in the file, and prints what the agent hands back."""
    kr("init", "--client", "bmad", "--yes")
    (research, _, request), (lessons, _, phase), (team, _, message) = blocks_of(
        (project_folder / AGENTS[0]).read_text()
    )
    done = yaml.safe_load(kr(*research.split(), input=request.encode()).out)
    assert done["status"] in {"success", "partial", "degraded"}
    assert (done["mode"], done["session_id"]) == ("research", "sprint-2026-02-07-001")
    done = yaml.safe_load(kr(*lessons.split(), input=phase.encode()).out)
    assert done["results"]["injection_block"].startswith("[LESSONS] dev-execution")
    assembler = MessageAssembler()
    (asked,) = (one for line in message.splitlines() for one in assembler.take(line))
    assert asked.body["requesting_agent"] == "dev-runner-3-1"
    assert team.startswith("team --session ")
