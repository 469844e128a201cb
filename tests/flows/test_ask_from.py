"""`kr ask --from`: what spec-kit left open in a file is asked, and answered in the file; by whole processes."""

import json
import os
import re
import sys

import pytest

pytestmark = pytest.mark.req("Q15")

AGENT = """
import json, os, re, sys, time
prompt = sys.stdin.read()
question = re.search(r"# Question.*?```text\\n(.*?)\\n```", prompt, re.DOTALL)[1]
open(sys.argv[1], "a").write(json.dumps(question) + chr(10))
answer, confidence = "OAuth", 92
if "retention" in question:
    answer, confidence = "30 days", 65
choices = re.findall(r"^- (?!`)(.*)$", prompt.partition("# Choices")[2], re.MULTILINE)
if choices:
    answer = choices[1]
if "slow" in question:
    while not os.path.exists(sys.argv[1] + ".go"):
        time.sleep(0.01)
print(json.dumps({"answer": answer, "rationale": "", "confidence": confidence, "uncertainty_reasons": []}))
"""
SPEC = """\
# Feature Specification: Sessions

## Requirements *(mandatory)*

- **FR-006**: System MUST authenticate users via [NEEDS CLARIFICATION: which method?]
- **FR-007**: System MUST keep data for [NEEDS CLARIFICATION: retention period not specified]
"""
BLOCKS = """\
## Question 1: Method

**What we need to know**: Which method do users sign in with?

| Option | Answer | Implications |
|--------|--------|--------------|
| A | Password | none |
| B | OAuth | none |
| Custom | Your own | none |

**Your choice**: _[Wait for user response]_

## Question 2: Name

**What we need to know**: What is it called?

| Option | Answer | Implications |
|--------|--------|--------------|
| A | Login | none |
| B | Sign in | none |
"""


@pytest.fixture
def kr(kr_here):
    """The commands run in this process: that they do so as programs is tried elsewhere, and takes ten times as long."""
    return kr_here


@pytest.fixture
def spec(project_folder):
    """The file of a feature, in a project whose agents answer; retention is what they are not sure of."""
    log = project_folder / "asked.jsonl"
    (project_folder / "agent.py").write_text(AGENT)
    config = {
        "agents": {name: {"plugin": "command"} for name in ("duc", "veuve")},
        "plugins": {
            "command": {"argv": [sys.executable, "-I", "-S", str(project_folder / "agent.py"), str(log)]}
        },
    }
    (project_folder / "kr.yaml").write_text(json.dumps(config))
    file = project_folder / "specs/004-sessions/spec.md"
    file.parent.mkdir(parents=True)
    file.write_text(SPEC)
    return file


@pytest.fixture
def ask(kr, spec):
    def run(*arguments, file=None):
        return kr("ask", "--from", file or spec, *arguments, env={"KR_TRUST": "all"})

    return run


def asked(spec):
    log = spec.parents[2] / "asked.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_answers_are_written_and_what_is_doubtful_waits(ask, spec, kr):
    """What is accepted stands in the file; what is escalated waits, is not asked twice, and is written once a human has said."""
    done = ask()
    assert done.code == 5, done
    assert re.search(
        r"spec\.md:6: retention period not specified\n  put to a human as E1: confidence 65 is below 80\n",
        done.out,
    )
    assert "spec.md: 1 answer written" in done.out
    session = re.compile(r"## Clarifications\n\n### Session \d{4}-\d\d-\d\d\n\n((?:- .*\n)*)\n")
    assert session.sub("", spec.read_text()) == SPEC.replace("[NEEDS CLARIFICATION: which method?]", "OAuth")
    assert session.search(spec.read_text())[1] == "- Q: which method? → A: OAuth\n"
    again = ask()
    assert again.code == 5, again
    assert "still waits for a human as E1" in again.out
    assert len(asked(spec)) == 2
    assert kr("inbox", "correct", "E1", "90 days", "--by", "ada").code == 0
    last = ask("--json")
    assert last.code == 0, last
    (result,) = last.json["results"]
    assert (result["status"], result["answer"]["content"], result["answer"]["validated_by"]) == (
        "answered",
        "90 days",
        "human",
    )
    assert (result["question"], last.json["written"]) == ("retention period not specified", 1)
    assert (
        session.search(spec.read_text())[1]
        == "- Q: which method? → A: OAuth\n- Q: retention period not specified → A: 90 days\n"
    )
    finished = ask()
    assert (finished.code, "all questions are answered" in finished.out) == (0, True)
    assert len(asked(spec)) == 2
    entries = [json.loads(line) for line in kr("log", "004-sessions", "--json").out.splitlines()]
    assert {entry["feature_id"] for entry in entries} == {"004-sessions"}


def test_the_reply_to_blocks_is_printed(ask, spec):
    """Letters, as spec-kit's commands read them; with -q nothing else."""
    spec.write_text(BLOCKS)
    done = ask("--target", "duc", "-q")
    assert done.code == 0, done
    assert done.out == "Q1: B, Q2: B\n"
    assert (
        "- Q: Which method do users sign in with? → A: OAuth\n- Q: What is it called? → A: Sign in\n"
        in spec.read_text()
    )


def test_what_a_plan_leaves_open_goes_to_the_architect(ask, spec):
    """Its technical context is a technical topic."""
    plan = spec.with_name("plan.md")
    plan.write_text(
        "# Plan\n\n## Technical Context\n\n**Storage**: NEEDS CLARIFICATION\n**Testing**: pytest\n"
    )
    done = ask("--json", file=plan)
    assert done.code == 0, done
    (result,) = done.json["results"]
    assert (result["route"]["agent"], result["line"]) == ("duc", 5)


def test_a_plan_of_answered_fields_has_no_marker_left(ask, spec):
    """`/plan` stops on markers: answered ones leave the file, also those that it answers itself; the rest is named."""
    plan = spec.with_name("plan.md")
    plan.write_text(
        "# Plan\n\n## Clarifications\n\n- Q: Language: what should it be? → A: Python\n\n## Technical Context\n\n"
        "**Language**: NEEDS CLARIFICATION\n**Scale**: [domain-specific, e.g., 9 users or NEEDS CLARIFICATION]\n"
        "**Storage**: [if applicable, e.g., files or N/A]\n"
    )
    done = ask(file=plan)
    assert done.code == 0, done
    assert "NEEDS CLARIFICATION" not in plan.read_text()
    assert "**Language**: Python\n**Scale**: OAuth\n**Storage**: [if" in plan.read_text()
    assert (
        "plan.md:11: looks open, but is not asked: Storage: [if applicable, e.g., files or N/A]" in done.err
    )
    again = ask(file=plan)
    assert (again.code, "looks open" in again.err) == (0, True)
    assert "all questions are answered" in again.out


def test_a_template_of_next_year_is_refused_with_what_looks_open(ask, spec):
    """Where nothing is understood, each line that looks open is named, and nothing is said to be answered."""
    spec.write_text("# Blueprint\n\n**Store**: {NEEDS DECISION}\n\nBy {{NEEDS CLARIFICATION: which?}}\n")
    done = ask()
    assert done.code == 2, done
    assert "spec.md:3: looks open, but is not asked: Store: {NEEDS DECISION}\n" in done.err
    assert "spec.md:5: looks open, but is not asked: By {{NEEDS CLARIFICATION: which?}}\n" in done.err
    assert "there is no question in it" in done.err


def test_crlf_the_byte_order_mark_and_the_mode_stay(ask, spec):
    """Nothing of the file changes but the answered marker and the lines that are added; a link stays a link."""
    before = b"\xef\xbb\xbf" + SPEC.replace("\n", "\r\n").encode()
    target = spec.with_name("real.md")
    target.write_bytes(before)
    target.chmod(0o640)
    spec.unlink()
    spec.symlink_to(target)
    assert ask("--target", "duc").code == 5
    after = target.read_bytes()
    rest = re.sub(rb"## Clarifications\r\n\r\n### Session [\d-]+\r\n\r\n- [^\n]*\r\n\r\n", b"", after)
    assert rest == before.replace(b"[NEEDS CLARIFICATION: which method?]", b"OAuth")
    assert target.stat().st_mode & 0o777 == 0o640
    assert spec.is_symlink()


def test_what_is_changed_meanwhile_is_not_lost(ask, spec, project_folder):
    """The file is read again before it is written: what an editor has saved while agents were thinking stays."""
    import threading

    spec.write_text(SPEC.replace("which method?", "which slow method?"))
    came = []
    thread = threading.Thread(target=lambda: came.append(ask("--target", "duc")))
    thread.start()
    while not any("slow" in question for question in asked(spec)):
        threading.Event().wait(0.01)
    spec.write_text(spec.read_text() + "\n## Added meanwhile\n")
    (project_folder / "asked.jsonl.go").touch()
    thread.join()
    assert came[0].code == 5, came
    assert spec.read_text().endswith("\n## Added meanwhile\n")
    assert "- Q: which slow method? → A: OAuth\n" in spec.read_text()


def test_who_should_answer_may_be_said_later(ask, spec, kr):
    """What waits because no rule was for it is asked when the caller names a target; the case is superseded."""
    spec.write_text("# Spec\n\n[NEEDS CLARIFICATION: which method?]\n")
    assert ask().code == 5
    assert asked(spec) == []
    assert ask("--target", "duc").code == 0
    assert kr("inbox", "show", "E1", "--json").json["status"] == "superseded"
    entries = [json.loads(line) for line in kr("log", "--json").out.splitlines()]
    (superseded,) = (one for one in entries if one["kind"] == "escalation.superseded")
    assert superseded["data"]["escalation_id"] == "E1"
    assert superseded["data"]["successor"] in {one["exchange_id"] for one in entries}
    assert kr("inbox", "list", "--json").json == []
    assert kr("log", "--verify").code == 0


def test_a_list_of_questions(ask, spec):
    """A JSON list is asked as it is, with dependencies; nothing is written."""
    file = spec.with_name("questions.json")
    text = json.dumps(
        [
            {"id": "Q2", "text": "Which key?", "topic": "storage", "depends_on": ["Q1"]},
            {"id": "Q1", "text": "Which store?", "topic": "storage"},
        ]
    )
    file.write_text(text)
    done = ask("--json", file=file)
    assert done.code == 0, done
    assert [result["question_id"] for result in done.json["results"]] == ["Q2", "Q1"]
    assert asked(spec) == ["Which store?", "Which key?"]
    assert file.read_text() == text


@pytest.mark.parametrize("name", ["questions.yaml", "questions.yml", "questions.json"])
def test_a_list_in_yaml_with_the_target_of_a_question(ask, spec, name):
    """A list is read as YAML too, where numbers are text; `target` says who is asked, one or several."""
    text = json.dumps(
        [
            {"id": 1, "text": "Which store?", "target": "veuve", "choices": ["5", 10]},
            {"text": "Who?", "target": ["duc", "veuve"]},
        ]
    )
    if not name.endswith("json"):
        text = "# open\n- id: 1\n  text: Which store?\n  target: veuve\n  choices: [5, 10]\n- text: Who?\n  target: [duc, veuve]\n"
    file = spec.with_name(name)
    file.write_text(text)
    done = ask("--json", file=file)
    assert done.code == 0, done
    one, several = done.json["results"]
    assert (one["question_id"], one["route"]["agent"], one["answer"]["content"]) == ("1", "veuve", "10")
    assert several["route"]["agent"] == "duc"
    assert asked(spec).count("Who?") == 2
    assert file.read_text() == text


def test_what_a_list_does_not_say_is_said_beside_it(ask, spec, kr):
    """Feature, topic and target hold for the questions that have none; who waits for another is put to nobody."""
    file = spec.with_name("questions.json")
    file.write_text(
        json.dumps(
            [
                {"id": "Q1", "text": "Which store?"},
                {"id": "Q2", "text": "Who decides?", "feature_id": "F-2", "suggested_target": "human"},
                {"id": "Q3", "text": "Who pays?", "feature_id": "F-2", "depends_on": ["Q2"]},
            ]
        )
    )
    done = ask("--feature", "F-1", "--target", "duc", "--topic", "storage", file=file)
    assert done.code == 5, done
    assert asked(spec) == ["Which store?"]
    assert "  not asked: it depends on `Q2`" in done.out
    assert "note: not asked" not in done.out
    assert "put to a human as E1" in done.out
    for feature, topics in {"F-1": ["storage"], "F-2": ["storage", "storage"]}.items():
        entries = map(json.loads, kr("log", feature, "--kind", "question.asked", "--json").out.splitlines())
        assert [entry["data"]["topic"] for entry in entries] == topics


@pytest.mark.req("Q8", "G1")
def test_a_list_is_not_asked_twice(ask, spec, kr):
    """A second run takes what has its answer from the record, and puts nothing to a human twice; another text is asked."""
    questions = [
        {"id": "Q1", "text": "Which store?", "topic": "storage"},
        {"id": "Q2", "text": "Who decides?", "suggested_target": "human"},
        {"id": "Q3", "text": "Which key?", "topic": "storage", "depends_on": ["Q2"]},
        {"id": "Q1", "feature_id": "F-2", "text": "Which store there?", "topic": "storage"},
    ]
    file = spec.with_name("questions.json")
    file.write_text(json.dumps(questions))
    first = ask("--json", file=file)
    assert first.code == 5, first
    assert sorted(asked(spec)) == ["Which store there?", "Which store?"]
    second = ask("--json", file=file)
    assert second.code == 5, second
    assert len(asked(spec)) == 2
    for name in ("status", "answer", "question_id"):
        assert [one[name] for one in second.json["results"]] == [one[name] for one in first.json["results"]]
    assert len(kr("inbox", "list", "--json").json) == 1
    kr("inbox", "correct", "E1", "The customer.")
    third = ask("--json", file=file)
    assert third.code == 0, third
    assert [one["status"] for one in third.json["results"]] == [
        "accepted",
        "answered",
        "accepted",
        "accepted",
    ]
    assert asked(spec)[2:] == ["Which key?"]
    questions[0]["text"] = "Which store now?"
    file.write_text(json.dumps(questions))
    assert ask("--json", file=file).code == 0
    assert asked(spec)[3:] == ["Which store now?"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "a.md",
            b"# Spec\n\nNothing is open.\n",
            "there is no question in it; KR looks for [NEEDS CLARIFICATION: ...]",
        ),
        ("a.md", b"", "there is no question in it"),
        ("a.md", b"\x7fELF\xff\xfe", "is not UTF-8 text (byte 4)"),
        ("a.md", b"# Spec\n\0", "it has zero bytes"),
        ("a.md", b"[NEEDS CLARIFICATION: x]\n" * 400_000, "has more than 5,000,000 bytes"),
        ("a.json", b"{", "Invalid JSON"),
        ("a.json", b'[{"id": "Q1"}]', "0.text: Field required"),
        ("a.yaml", b"- id: Q1\n", "0.text: Field required"),
        ("a.yaml", b"- id: Q1\n  text: {\n", "a.yaml:3"),
        ("a.yaml", b"- text: !!int ''\n", "is neither YAML nor JSON"),
        ("a.yml", b"text: x\n", "valid list"),
        ("a.yaml", b"- text: x\n  target: duc\n  suggested_target: veuve\n", "give one of them"),
        ("a.yaml", b"- text: x\n  target: {a: b}\n", "suggested_target"),
        ("a.json", b'[{"id": "Q1", "text": "?", "depends_on": ["Q1"]}]', "wait for each other: Q1 -> Q1"),
        (None, b"", "No such file"),
        (".", b"", "cannot be read"),
    ],
)
def test_bad_files_are_refused(ask, spec, name, content, told):
    """Named, with what is wrong; exit code 2, nobody asked, nothing written."""
    file = spec.parent / (name or "missing.md")
    if name and name != ".":
        file.write_bytes(content)
    done = ask(file=file)
    assert done.code == 2, done
    assert told in done.err, done
    assert done.out == ""
    assert len(done.err) < 500
    assert asked(spec) == []


@pytest.mark.parametrize(
    "more", [("Which?",), ("--choice", "A"), ("--id", "Q1"), ("--depends-on", "Q1"), ("--wait",)]
)
def test_what_is_about_one_question_is_refused_beside_a_file(ask, spec, more):
    """It would be passed over in silence."""
    done = ask(*more)
    assert done.code == 2, done
    assert "beside --from; give one of them" in done.err
    assert asked(spec) == []


def test_a_file_that_cannot_be_written_keeps_what_it_has(ask, spec):
    """The answers are told all the same, and are in the log."""
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    spec.parent.chmod(0o500)
    try:
        done = ask("--target", "duc")
    finally:
        spec.parent.chmod(0o700)
    assert done.code == 2
    assert "cannot be written" in done.err
    assert "duc, confidence 92: OAuth" in done.out
    assert spec.read_text() == SPEC
