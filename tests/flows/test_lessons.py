"""Lessons from end to end: handed out by phase, recorded once, and a file that is never spoilt."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import yaml

from kr_core.errors import ConfigError
from kr_core.model.lessons import PHASES

FILE = "knowledge-base/lessons/_lessons-learned.md"
TEXT = """\
# Lessons Learned

- [2026-02-01] [dev-execution, vue] Rows need an explicit height. Ref: src/Grid.vue:12
- [2026-02-03] [code-review] Close the cursor. Ref: src/db.py:7
### [2026-02-02] [dev-execution] [3-1]
Responses are unwrapped already | src/http.ts
"""
BLOCK = """\
[LESSONS] dev-execution phase warnings:
1. Responses are unwrapped already -- src/http.ts
2. Rows need an explicit height -- src/Grid.vue:12
"""
SHOW = ("lessons", "show", "--phase", "dev-execution")
ADD = ("lessons", "add", "--phase", "dev-execution", "--ref", "src/a.py:1")


@pytest.fixture
def kr(kr_here):
    """The commands run in this process: that they do so as programs is tried elsewhere, and takes ten times as long."""
    return kr_here


@pytest.fixture
def lessons(project_folder):
    """The file of lessons, with three in it."""
    file = project_folder / FILE
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)
    return file


def request(**values):
    """A request in the published form."""
    known = {
        "story_key": "3-1",
        "mode": "lessons-inject",
        "session_id": "sprint-1",
        "lessons_inject": {"phase": "dev-execution"},
        "config_overrides": {},
    }
    return {**known, **values}


# -- handed out ------------------------------------------------------------------------------------------


@pytest.mark.req("L1", "L2", "L3", "L4", "R14")
def test_a_request_in_a_file(kr, lessons, project_folder):
    """A request file gives the published result, as JSON and as YAML, and writes nothing."""
    before = sorted(project_folder.rglob("*"))
    done = kr("research", "--request", "-", "--json", input=json.dumps(request()).encode())
    assert done.code == 0, done
    assert list(done.json) == ["status", "story_key", "mode", "session_id", "results", "errors"]
    assert done.json == {
        "status": "success",
        "story_key": "3-1",
        "mode": "lessons-inject",
        "session_id": "sprint-1",
        "results": {
            "phase": "dev-execution",
            "total_lessons_found": 3,
            "phase_filtered_count": 2,
            "injected_count": 2,
            "injection_block": BLOCK,
            "notes": [],
        },
        "errors": [],
    }
    shown = kr("research", "--request", "-", "--yaml", input=json.dumps(request()).encode())
    assert yaml.safe_load(shown.out) == done.json
    assert "  injection_block: |\n    [LESSONS] dev-execution phase warnings:\n    1. Responses" in shown.out
    assert kr("research", "--request", "-", input=json.dumps(request()).encode()).out == BLOCK
    assert sorted(project_folder.rglob("*")) == before
    assert lessons.read_text() == TEXT


@pytest.mark.req("L1", "L3")
def test_the_command(kr, lessons):
    """`kr lessons show` prints the block; what the caller is about ranks lessons of one day."""
    assert kr(*SHOW).out == BLOCK
    lessons.write_text(TEXT + "- [2026-02-02] [dev-execution, httpx] Retry a request once.\n")
    assert kr(*SHOW).out.splitlines()[1] == "1. Retry a request once"
    assert kr(*SHOW, "--topic", "unwrapping a response").out.splitlines()[1].startswith("1. Responses")
    assert kr(*SHOW, "--framework", "httpx", "--text", "retries").out.splitlines()[1].startswith("1. Retry")
    assert kr(*SHOW, "--json").json["results"]["injected_count"] == 3


@pytest.mark.req("L3")
@pytest.mark.parametrize("place", ["inside", "beside"])
def test_hints_of_a_request(kr, lessons, place):
    """Hints stand beside the phase or beside `lessons_inject`; one that is not understood is left out and noted."""
    lessons.write_text(
        "- [dev-execution] Retry a request.\n- [dev-execution] Rows.\n- [dev-execution] Close it.\n"
    )
    hints = {"context_hints": {"framework": "httpx", "topic": "retries", "colour": [1]}}
    phase = {"phase": "dev-execution", **(hints if place == "inside" else {})}
    asked = request(lessons_inject=phase, **(hints if place == "beside" else {}))
    results = kr("research", "--request", "-", "--json", input=json.dumps(asked).encode()).json["results"]
    assert results["injection_block"].splitlines()[1] == "1. Retry a request"
    assert results["notes"] == ["context_hints.colour: not understood, left out"]


@pytest.mark.req("L3", "P7")
def test_the_budget(kr, lessons, project_folder):
    """At most `lessons_injection_budget` are handed out, ten if nothing is said."""
    lessons.write_text("".join(f"- [2026-02-{n:02}] [dev-execution] Lesson {n}.\n" for n in range(1, 16)))
    results = kr(*SHOW, "--json").json["results"]
    assert (results["phase_filtered_count"], results["injected_count"]) == (15, 10)
    (project_folder / "kr.yaml").write_text("knowledge_research: {lessons_injection_budget: 2}\n")
    assert kr(*SHOW).out == "[LESSONS] dev-execution phase warnings:\n1. Lesson 15\n2. Lesson 14\n"


@pytest.mark.req("L2", "L3")
@pytest.mark.parametrize(
    "text", [None, "", "\ufeff", "# Lessons Learned\n", "- [2026-02-01] [code-review] Other.\n"]
)
def test_nothing_to_hand_out(kr, project_folder, text):
    """A file that is missing, empty or without the phase is `empty`: no block, exit 0, and a note says so."""
    if text is not None:
        (project_folder / FILE).parent.mkdir(parents=True)
        (project_folder / FILE).write_text(text)
    done = kr(*SHOW)
    assert (done.code, done.out) == (0, "")
    assert done.err == "note: No lessons found for phase 'dev-execution'\n"
    result = kr(*SHOW, "--json").json
    assert result["status"] == "empty"
    assert result["results"] == {
        "phase": "dev-execution",
        "total_lessons_found": int(text is not None and "Other" in text),
        "phase_filtered_count": 0,
        "injected_count": 0,
        "injection_block": "",
        "notes": ["No lessons found for phase 'dev-execution'"],
    }
    assert text is not None or not (project_folder / "knowledge-base").exists()


@pytest.mark.req("L1", "R2")
@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"lessons_inject": {"phase": "dev"}}, "lessons_inject.phase", "Invalid phase tag"),
        ({"lessons_inject": {}}, "lessons_inject.phase", "Invalid phase tag"),
        ({"lessons_inject": None}, "lessons_inject.phase", "Invalid phase tag"),
        ({"lessons_inject": {"phase": ["dev-execution"]}}, "lessons_inject.phase", "Invalid phase tag"),
        ({"story_key": "3"}, "story_key", "Validation failed: story_key: must look like 3-1 (epic, hyphen, story)"),
        ({"session_id": " "}, "session_id", "Validation failed: session_id: must not be empty"),
        ({"lessons": 1}, "lessons", None),
        ({"lessons_inject": {"phase": "dev-execution", "fase": 1}}, "lessons_inject.fase", None),
    ],
)  # fmt: skip
def test_requests_that_are_none(bench, change, field, message):
    """Each wrong field is a validation error of its own, and the result keeps its form."""
    result = bench.pipeline().lessons.inject(request(**change)).to_dict()
    assert (result["status"], result["mode"]) == ("failure", "lessons-inject")
    (error,) = result["errors"]
    assert (error["type"], error["field"]) == ("validation_error", field)
    assert message is None or error["message"] == message
    assert result["results"]["injection_block"] == ""


@pytest.mark.req("L1", "R2")
def test_an_invalid_request(kr):
    """It ends with 2; the result keeps its form, and nothing is written."""
    done = kr("research", "--request", "-", "--json", input=json.dumps(request(story_key="x")).encode())
    assert (done.code, done.json["status"]) == (2, "failure")


@pytest.mark.req("L1")
def test_a_phase_that_is_none(kr, lessons):
    """The command says which phases there are."""
    done = kr("lessons", "show", "--phase", "testing")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"kr: Invalid phase tag; use one of {', '.join(PHASES)}\n"


@pytest.mark.req("R3", "L1")
def test_disabled(kr, lessons, project_folder):
    """Where research is disabled no lesson is handed out."""
    (project_folder / "kr.yaml").write_text("knowledge_research: {enabled: false}\n")
    done = kr(*SHOW, "--json")
    assert done.code == 2
    assert done.json["errors"][0]["message"] == "Knowledge research disabled in config"


@pytest.mark.req("L1", "S4")
def test_a_batch(kr, lessons, project_folder):
    """Requests for lessons stand among questions; by themselves they leave not even a journal."""
    lines = [json.dumps(request()), json.dumps(request(lessons_inject={"phase": "x"}))]
    done = kr("research", "--batch", "-", input="\n".join(lines).encode())
    assert done.code == 2
    assert [json.loads(line)["status"] for line in done.out.splitlines()] == ["success", "failure"]
    assert not (project_folder / ".kr").exists()
    question = json.dumps({"question": "How do I set the timeout of a parcel?", "framework": "parcel"})
    done = kr("research", "--batch", "-", input="\n".join([question, lines[0]]).encode())
    assert [json.loads(line)["mode"] for line in done.out.splitlines()] == ["research", "lessons-inject"]


@pytest.mark.req("L1", "P7")
def test_no_loop_and_no_plugin(lessons, project_folder, environ):
    """Handing out lessons starts no event loop and imports no plugin."""
    code = (
        f"import sys; from kr_core.cli import main; main({list(SHOW)!r})\n"
        "print([name for name in sys.modules if name == 'asyncio' or name.startswith('kr_plugins.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project_folder, env=environ, capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout == f"{BLOCK}[]\n"


def spoil(file, how):
    """Put something in the place of the file that cannot be read as one."""
    file.unlink()
    if how == "folder":
        file.mkdir()
    elif how == "pipe":
        os.mkfifo(file)
    elif how == "latin-1":
        file.write_bytes(b"# Lessons\n- [2026-02-01] [dev-execution] caf\xe9\n")
    elif how == "link":
        (file.parents[2] / "elsewhere.md").write_text(TEXT)
        file.symlink_to("../../elsewhere.md")


@pytest.mark.req("L2", "Z1")
@pytest.mark.parametrize(
    ("how", "detail"),
    [("folder", "is no file"), ("pipe", "is no file"), ("latin-1", "line 2 is not UTF-8 text"),
     ("link", "is a link that leads out of the knowledge base")],
)  # fmt: skip
def test_a_file_that_cannot_be_read(kr, lessons, how, detail):
    """It is a failure with its reason, and nothing is recorded over it."""
    spoil(lessons, how)
    done = kr(*SHOW, "--json")
    assert done.code == 1
    assert done.json["status"] == "failure"
    assert done.json["errors"] == [
        {"type": "file_read_error", "message": f"Failed to read _lessons-learned.md: {detail}", "field": None}
    ]
    for command in (("lessons", "list"), (*ADD, "A lesson")):
        refused = kr(*command)
        assert (refused.code, refused.out) == (1, "")
        assert FILE in refused.err
        assert detail in refused.err
    assert how != "link" or lessons.readlink()
    assert how != "latin-1" or lessons.read_bytes().endswith(b"caf\xe9\n")


@pytest.mark.req("L2", "K7")
def test_a_merge_conflict(kr, lessons):
    """The lessons of both sides are handed out, and a note names file and line."""
    lessons.write_text(f"<<<<<<< HEAD\n{TEXT}=======\n>>>>>>> other\n")
    said = f"{FILE}:1: a merge conflict begins here; lessons of both sides count until it is resolved"
    done = kr(*SHOW)
    assert (done.out, done.err) == (BLOCK, f"note: {said}\n")
    assert kr(*SHOW, "--json").json["results"]["notes"] == [said]
    assert kr("lessons", "list").err == f"note: {said}\n"


@pytest.mark.req("L2")
def test_ten_megabytes(bench):
    """A file of 10 MB is read in time that grows with its size only."""
    entry = "- [2026-02-01] [dev-execution, vue] Rows need an explicit height, and more words. Ref: src/Grid.vue:12\n"
    file = bench.folder / FILE
    file.parent.mkdir(parents=True)
    file.write_text("prose\n" + entry * (10_000_000 // len(entry)) + "x" * 1_000_000)
    started = time.process_time()
    result = bench.pipeline().lessons.inject("dev-execution", text="Which rows have a height?")
    assert time.process_time() - started < 20  # one or two on a machine with nothing else to do
    assert result.results.total_lessons_found == 10_000_000 // len(entry)
    assert result.results.injected_count == 10


# -- recorded --------------------------------------------------------------------------------------------


@pytest.mark.req("L5", "K1")
def test_the_first_lesson(kr, project_folder):
    """The file is made with its folders, and what was recorded is listed and handed out."""
    done = kr(*ADD, "--tag", "vue", "Rows need\na height.")
    assert done.code == 0, done
    today = time.strftime("%Y-%m-%d")
    line = f"- [{today}] [dev-execution, vue] Rows need a height. Ref: src/a.py:1\n"
    assert (project_folder / FILE).read_text() == f"# Lessons Learned\n{line}"
    row = f"{FILE}:2  {today}  dev-execution, vue  Rows need a height -- src/a.py:1\n"
    assert done.out == f"recorded: {row}"
    assert kr("lessons", "list").out == row
    (listed,) = kr("lessons", "list", "--json").json
    assert listed == {
        "line": 2,
        "date": today,
        "tags": ["dev-execution", "vue"],
        "summary": "Rows need a height",
        "path": "src/a.py:1",
    }
    assert kr(*SHOW).out.splitlines()[1] == "1. Rows need a height -- src/a.py:1"


@pytest.mark.req("L5")
def test_an_empty_list(kr):
    """Where there is none, the list says so."""
    assert kr("lessons", "list").out == f"there are no lessons in {FILE}\n"
    assert kr("lessons", "list", "--json").json == []


@pytest.mark.req("L5")
@pytest.mark.parametrize(
    ("before", "end"),
    [(b"", b"\n"), (b"# L\n", b"\n"), (b"\xef\xbb\xbf# L\r\n\r\nprose, no end", b"\r\n"), (b"prose", b"\n"), (b"a\rb", b"\r"),
     (b"a\r\nb\n", b"\n"), (b"```\nopen block\n", b"\n"), (b"\t- [2026-02-01] [code-review] x  \n\n\n", b"\n"),
     (b"### [2026-02-07] [dev-execution] [3-1]\ntext", b"\n"), (b"<<<<<<< a\n", b"\n"), (b"\x00\x1b\n", b"\n")],
)  # fmt: skip
def test_nothing_else_changes(bench, before, end):
    """The bytes that are there stay, whatever they are; the lesson follows with the same line ends."""
    file = bench.folder / FILE
    file.parent.mkdir(parents=True)
    file.write_bytes(before)
    lessons = bench.pipeline().lessons
    assert lessons.add("Rows need a height", phase="dev-execution").added
    after = file.read_bytes()
    start = before or b"# Lessons Learned\n"
    line = b"- [2026-02-05] [dev-execution] Rows need a height." + end
    assert after == start + (b"" if start.endswith((b"\n", b"\r")) else end) + line
    found = lessons.read().lessons[-1]
    assert found.summary == "Rows need a height"
    assert not lessons.add("Rows need a height", phase="dev-execution").added
    assert lessons.add("Rows need a height", phase="code-review").lesson.line == found.line + 1
    assert lessons.read().lessons[-1].line == found.line + 1


@pytest.mark.req("L5")
def test_the_same_lesson_again(kr, lessons):
    """The same words in the same phase are not recorded twice; it is said where they stand, and that is no error."""
    done = kr("lessons", "add", "--phase", "dev-execution", "--tag", "x", "rows need an EXPLICIT  height")
    assert done.code == 0
    assert done.out.startswith(f"already there: {FILE}:3  2026-02-01  ")
    assert lessons.read_text() == TEXT
    assert kr("lessons", "add", "--phase", "code-review", "Rows need an explicit height").code == 0
    assert lessons.read_text().startswith(TEXT + "- [")


@pytest.mark.req("L5", "Z1")
@pytest.mark.parametrize(
    ("summary", "values", "said"),
    [
        ("text", {"phase": "testing"}, "Invalid phase tag; use one of story-creation"),
        (" . \n", {}, "the lesson: is empty"),
        ("word " * 40, {}, "takes 3 lines of 80 characters"),
        ("a\nb\nc", {}, "takes 3 lines of 80 characters"),
        ("caf\udce9", {}, "the lesson: holds control characters or is no text"),
        ("a\x1b[2J", {}, "the lesson: holds control characters or is no text"),
        ("see Ref: a.py", {}, "give what follows it with --ref"),
        ("text", {"ref": ""}, "write it as src/app.py:12"),
        ("text", {"ref": "a Ref: b"}, "write it as src/app.py:12"),
        ("text", {"ref": "a/" * 60}, "write it as src/app.py:12"),
        ("text", {"tags": ["a, b"]}, "one --tag for each"),
        ("text", {"tags": ["a] [b"]}, "one --tag for each"),
        ("text", {"tags": ["2026-02-01"]}, "one --tag for each"),
        ("text", {"tags": [""]}, "one --tag for each"),
    ],
)
def test_what_is_not_recorded(bench, summary, values, said):
    """What would not be read again as it is, or not fit, is refused with what to do, and nothing is written."""
    with pytest.raises(ConfigError) as refused:
        bench.pipeline().lessons.add(summary, **{"phase": "dev-execution", **values})
    assert said in str(refused.value)
    assert bench.files == []


@pytest.mark.req("L5")
def test_a_refusal_on_the_command_line(kr, project_folder):
    """It is one line, and exit 2."""
    done = kr(*ADD, b"caf\xe9")
    assert (done.code, done.out) == (2, "")
    assert done.err == "kr: the lesson: holds control characters or is no text; leave them out\n"
    assert not (project_folder / "knowledge-base").exists()


@pytest.mark.req("L5", "K1")
def test_beside_the_store(kr, project_folder):
    """A lesson recorded before the first report stays when the store furnishes its folder."""
    kr(*ADD, "Rows need a height")
    before = (project_folder / FILE).read_text()
    assert kr("research", "How do I set the timeout of a parcel?", "--framework", "parcel").code == 0
    assert (project_folder / FILE).read_text() == before


WRITER = """
import sys
from kr_core import Pipeline
who, count = sys.argv[1], int(sys.argv[2])
with Pipeline.open() as pipeline:
    for n in range(count):
        print(pipeline.lessons.add(f"Lesson {n} of {who}", phase="dev-execution").lesson.summary, flush=True)
"""


@pytest.mark.req("L5", "K8")
def test_many_processes(lessons, project_folder, environ):
    """Whatever many processes record at once is there, also where some are killed; no line is torn."""
    command = [sys.executable, "-c", WRITER]
    writers = [
        subprocess.Popen(
            [*command, str(who), "12" if who < 3 else "100000"], cwd=project_folder, env=environ, stdout=subprocess.PIPE, text=True
        )
        for who in range(6)
    ]  # fmt: skip
    recorded = []
    for writer in writers[3:]:  # killed after some, wherever it is then
        recorded += [writer.stdout.readline().strip() for _ in range(7)]
        writer.send_signal(signal.SIGKILL)
    for writer in writers:
        recorded += [
            line.strip() for line in writer.communicate()[0].splitlines(keepends=True) if line.endswith("\n")
        ]
    assert [writer.returncode for writer in writers] == [0, 0, 0, -9, -9, -9]
    text = lessons.read_text()
    assert text.startswith(TEXT)
    lines = text.removeprefix(TEXT).splitlines()
    assert all(line.startswith("- [2") and line.endswith(".") for line in lines)
    there = [line.partition("] [dev-execution] ")[2].removesuffix(".") for line in lines]
    assert len(set(there)) == len(there)
    assert set(recorded) <= set(there)
    assert len(recorded) >= 3 * 12 + 3 * 7


@pytest.mark.req("L5", "P5")
def test_a_program_records_and_asks(bench):
    """A program that embeds KR records lessons and is handed them; options beside a request are an error."""
    lessons = bench.pipeline().lessons
    first = lessons.add(
        "Rows need a height", phase="code-review", tags=["vue", "code-review"], ref="./src/a.py:3"
    )
    assert (first.lesson.tags, first.lesson.path, first.lesson.line) == (
        ("code-review", "vue"),
        "./src/a.py:3",
        2,
    )
    assert lessons.read().lessons == (first.lesson,)
    result = lessons.inject("code-review", framework="vue", story_key="3-1", session_id="s")
    assert (result.status, result.story_key, result.session_id) == ("success", "3-1", "s")
    assert lessons.inject("nothing").errors[0].message == "Invalid phase tag"
    assert lessons.inject({"mode": "research"}).errors[0].message == "Invalid mode"
    refused = bench.pipeline().research(request())
    assert "Pipeline.lessons" in refused.result.errors[0].message
    with pytest.raises(TypeError, match="topic"):
        lessons.inject(request(), topic="x")
    with pytest.raises(ConfigError, match="Invalid phase tag"):
        lessons.add("Rows", phase="x")
    assert bench.files == [FILE]


# -- kr doctor -------------------------------------------------------------------------------------------


@pytest.mark.req("L2")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, [("ok", f"0 in {FILE}")]),
        (TEXT, [("ok", f"3 in {FILE}")]),
        (
            f"prose\n- odd\n{TEXT}",
            [("ok", f"3 in {FILE}"), ("note", f"{FILE}:1: from here on 2 lines are no lesson; write it as")],
        ),
        (
            f"<<<<<<< HEAD\n{TEXT}",
            [("ok", f"3 in {FILE}"), ("note", f"{FILE}:1: a merge conflict begins here")],
        ),
        (b"\xff", [("fault", f"{FILE}:1: line 1 is not UTF-8 text; save the file in UTF-8")]),
    ],
)
def test_the_doctor(kr, project_folder, text, said):
    """It counts lessons and lines that are none, and names file and line of what is wrong."""
    if text is not None:
        (project_folder / FILE).parent.mkdir(parents=True)
        (project_folder / FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    found = [check for check in kr("doctor", "--json").json if check["name"] == "lessons"]
    assert [check["state"] for check in found] == [state for state, _ in said]
    assert all(check["message"].startswith(start) for check, (_, start) in zip(found, said, strict=True))
