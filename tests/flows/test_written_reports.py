"""Reports whose Summary and Details an agent wrote: checked, counted, and whole without it."""

import json
import sys

import pytest

WRITER = """
import json, re, sys
prompt = sys.stdin.read()
with open({kept!r}, "w") as file:
    file.write(prompt)
passage = re.search(r"## Passage 1.*?`{{3,}}text\\n(.*?)\\n`{{3,}}", prompt, re.S)[1]
line = next(line.strip() for line in passage.splitlines() if len(line.split()) > 4)
quote = f'[1: "{{line}}"]'
print(json.dumps({{"summary": [f"{{line}} {{quote}}", f"It was invented in 1805. {{quote}}"], "details": []}}))
"""
QUESTION = "How do I send a parcel with parcel?"


@pytest.fixture
def kr(kr_here):
    """The commands run in this process: that they do so as programs is tried elsewhere, and takes ten times as long."""
    return kr_here


@pytest.fixture
def writes(project_folder, tmp_path):
    """Configures the agent duc as a program."""

    def configured(program, **research):
        (tmp_path / "writer.py").write_text(program)
        (project_folder / "kr.yaml").write_text(
            json.dumps(
                {
                    "knowledge_research": {"agent": "duc", "sources": ["installed_docs"]} | research,
                    "agents": {"duc": {"plugin": "command", "timeout_seconds": 20}},
                    "plugins": {"command": {"argv": [sys.executable, str(tmp_path / "writer.py")]}},
                }
            )
        )

    return configured


def asked(kr, *more):
    done = kr("research", QUESTION, "--json", *more, env={"KR_TRUST": "all"})
    return json.loads(done.out)["results"], done


@pytest.mark.req("R17", "R18")
def test_sentences_without_support_are_dropped_and_counted_and_the_rest_verifies(kr, writes, tmp_path):
    writes(WRITER.format(kept=str(tmp_path / "prompt")))
    results, _done = asked(kr)
    assert results["written_by"]["agent"] == "duc"
    assert results["written_by"]["dropped"] == 1
    assert "1805" not in results["summary"]
    assert "duc: dropped 1 sentence without support" in results["degradation_notes"]
    verified = kr("verify", results["cache_entry_id"])
    assert verified.code == 0, verified.out + verified.err


@pytest.mark.req("R17", "R18")
def test_a_sentence_that_is_changed_afterwards_does_not_verify(kr, writes, project_folder, tmp_path):
    writes(WRITER.format(kept=str(tmp_path / "prompt")))
    results, _done = asked(kr)
    beside = (project_folder / "knowledge-base" / results["report_path"]).with_suffix(".evidence.json")
    evidence = json.loads(beside.read_text())
    claim = next(claim for claim in evidence["summary"] if claim["written"])
    said = claim["text"].partition(" [")[0]
    forged = claim["text"].replace(said, f"{said} Since 1805 everybody does so.")
    for file in (beside, beside.with_name(beside.name.replace(".evidence.json", ".md"))):
        file.write_text(
            file.read_text()
            .replace(json.dumps(claim["text"])[1:-1], json.dumps(forged)[1:-1])
            .replace(claim["text"], forged)
        )
    verified = kr("verify", results["cache_entry_id"])
    assert verified.code == 1
    assert "1805" in verified.out + verified.err


@pytest.mark.req("R17", "R9")
@pytest.mark.parametrize(
    ("program", "note"),
    [
        ("import sys; sys.exit(3)", "duc: unavailable"),
        ("print('no JSON at all')", "duc: bad_answer: no valid answer"),
        ('print(\'{"summary": [], "details": []}\')', "duc: wrote no summary; composed by rule (duc)"),
        (
            """print('{"summary": ["It was invented in 1805."], "details": []}')""",
            "duc: dropped 1 sentence without support; composed by rule (duc)",
        ),
    ],
)
def test_without_the_agent_the_report_is_made_by_rule(kr, writes, program, note):
    writes(program)
    results, _done = asked(kr)
    assert results["summary"]
    assert results["report_path"]
    notes = results["degradation_notes"]
    assert any(one.startswith(note) and "; composed by rule" in one for one in notes), notes
    assert results["written_by"] is None
    verified = kr("verify", results["cache_entry_id"])
    assert verified.code == 0, verified.out + verified.err


@pytest.mark.req("R17")
def test_what_is_kept_is_served_without_asking_the_agent_again(kr, writes, tmp_path):
    writes(WRITER.format(kept=str(tmp_path / "prompt")))
    asked(kr)
    (tmp_path / "prompt").unlink()
    results, _done = asked(kr, "--session", "another")
    assert results["cache_hit"]
    assert not (tmp_path / "prompt").exists()


@pytest.mark.req("K4", "R17")
def test_the_agent_reads_the_stale_answer_that_it_replaces_and_the_gap_is_noted(
    kr, writes, project_folder, tmp_path
):
    """It is data beside the passages, with the reason why it is stale; a first answer has none beside it."""
    prompt = tmp_path / "prompt"
    writes(WRITER.format(kept=str(prompt)))
    results, _done = asked(kr)
    assert "# An earlier answer" not in prompt.read_text()
    index = project_folder / "knowledge-base" / "index.yaml"
    index.write_text(index.read_text().replace("status: fresh", "status: stale"))
    report = project_folder / "knowledge-base" / results["report_path"]
    evidence = report.with_suffix(".evidence.json")
    for file in (report, evidence):
        file.write_text(file.read_text().replace(results["summary"].split(" [")[0], "Send it by pigeon."))
    evidence.write_text(evidence.read_text().replace('"level": "low"', '"level": "medium"'))
    again, _done = asked(kr)
    sent = prompt.read_text()
    assert 'It is stale: "marked stale"' in sent
    assert "Send it by pigeon." in sent.partition("# An earlier answer")[2].partition("# Passages")[0]
    assert "pigeon" not in again["summary"]
    assert "an earlier report was replaced: marked stale" in again["degradation_notes"]
    assert kr("verify", again["cache_entry_id"]).code == 0


@pytest.mark.req("R17")
def test_an_agent_that_is_none_is_refused_with_file_and_line(kr, project_folder):
    (project_folder / "kr.yaml").write_text("knowledge_research:\n  agent: dac\n")
    done = kr("research", QUESTION)
    assert done.code == 2
    assert "kr.yaml:2" in done.err
    assert "did you mean `duc`?" in done.err


BMAD_COMMAND = """---
name: 'architect'
description: 'architect agent'
---

You must fully embody this agent's persona and follow all activation instructions exactly as specified.

<agent-activation CRITICAL="TRUE">
1. LOAD the FULL agent file from @_bmad/bmm/agents/architect.md
2. READ its entire contents - this contains the complete agent persona, menu, and instructions
</agent-activation>
"""

BMAD_AGENT = """---
name: architect
---
You must fully embody this agent's persona and follow all activation instructions exactly.
```xml
<agent id="architect.md" name="Winston">
<activation critical="MANDATORY"><step n="1">Load {project-root}/config.yaml NOW</step></activation>
<persona><role>System Architect</role><principles>Boring technology wins.</principles></persona>
<menu><item cmd="*help">Show menu</item></menu>
</agent>
```
"""


@pytest.mark.req("R11")
def test_the_persona_of_the_project_is_in_the_prompt_without_its_menu(kr, writes, project_folder, tmp_path):
    writes(WRITER.format(kept=str(tmp_path / "prompt")))
    name_persona(project_folder)
    file = project_folder / "_bmad" / "bmm" / "agents" / "architect.md"
    file.parent.mkdir(parents=True)
    file.write_text(BMAD_AGENT)
    results, _done = asked(kr)
    prompt = (tmp_path / "prompt").read_text()
    assert "Boring technology wins." in prompt
    assert not any(
        word in prompt
        for word in ("MANDATORY", "*help", "fully embody", "name: architect", "<agent", "</agent>")
    )
    assert "persona_load_failed: using lean persona" not in results["degradation_notes"]


@pytest.mark.req("R11")
def test_a_persona_that_cannot_be_loaded_is_noted_and_a_lean_one_serves(kr, writes, project_folder, tmp_path):
    writes(WRITER.format(kept=str(tmp_path / "prompt")))
    name_persona(project_folder)
    results, _done = asked(kr)
    assert "persona_load_failed: using lean persona" in results["degradation_notes"]
    assert "technical researcher" in (tmp_path / "prompt").read_text()


@pytest.mark.req("R11")
def test_a_command_that_only_starts_an_agent_is_no_persona(kr, writes, project_folder, tmp_path):
    """BMAD's command for a chat program has orders to load the agent's file, and nothing of who the agent is."""
    writes(WRITER.format(kept=str(tmp_path / "prompt")))
    name_persona(project_folder)
    file = project_folder / ".claude" / "commands" / "bmad" / "bmm" / "agents" / "architect.md"
    file.parent.mkdir(parents=True)
    file.write_text(BMAD_COMMAND)
    results, _done = asked(kr)
    assert "LOAD the FULL" not in (tmp_path / "prompt").read_text()
    assert "technical researcher" in (tmp_path / "prompt").read_text()
    assert "persona_load_failed: using lean persona" in results["degradation_notes"]


@pytest.mark.req("R11")
def test_without_an_agent_that_writes_a_missing_persona_is_noted_on_a_miss_alone(kr, project_folder):
    """A team's configuration names its persona; that it is not there is said when KR researches, and not of a hit."""
    (project_folder / "kr.yaml").write_text("{}")
    name_persona(project_folder)
    results, _done = asked(kr)
    assert results["degradation_notes"].count("persona_load_failed: using lean persona") == 1
    results, _done = asked(kr)
    assert results["cache_hit"]
    assert "persona_load_failed: using lean persona" not in results["degradation_notes"]


@pytest.mark.req("R11", "Z1")
def test_a_persona_outside_of_the_project_is_not_sent_to_a_model(kr, writes, project_folder, tmp_path):
    (tmp_path / "secret.md").write_text("the family silver")
    writes(WRITER.format(kept=str(tmp_path / "prompt")))
    name_persona(project_folder, "../secret.md")
    results, _done = asked(kr)
    assert "silver" not in (tmp_path / "prompt").read_text()
    assert "persona_load_failed: using lean persona" in results["degradation_notes"]


def name_persona(project_folder, name="bmad:bmm:agents:architect"):
    file = project_folder / "kr.yaml"
    config = json.loads(file.read_text())
    file.write_text(json.dumps(config | {"role_mapping": {"knowledge_researcher_persona": name}}))
