"""A human at the terminal who is asked about a case."""

import json

import pytest
from support.agents import QUESTION, UNSURE, answer, project, prompts
from support.terminals import Terminal

pytestmark = pytest.mark.req("H3", "H4")

LATER = "[l]ater: "


@pytest.fixture
def terminal(project_folder, environ):
    """`kr ...` on a terminal."""
    opened = []

    def run(*arguments):
        one = Terminal(*arguments, cwd=project_folder, env={**environ, "KR_TRUST": "all", "LOGNAME": "ada"})
        opened.append(one)
        return one

    yield run
    for one in opened:
        one.close()


@pytest.fixture
def kr(kr_here):
    """What follows at the terminal is looked at from this process."""
    return kr_here


@pytest.fixture
def ask(terminal):
    return lambda *more: terminal("ask", QUESTION, "--topic", "authentication", *more)


@pytest.mark.parametrize("typed", ["later", None])
def test_later(project_folder, ask, kr, typed):
    """Later, nothing, or the end of input leaves the question waiting, and says how to go on."""
    project(project_folder)
    one = ask()
    one.until(LATER)
    if typed is None:
        one.end_of_input()
    else:
        one.type(typed)
    code, out = one.end()
    assert code == 5
    assert "kr inbox show E1" in out
    assert kr("inbox", "list", "--json").json[0]["status"] == "notified"


def test_a_new_answer_that_is_unsure_is_shown_again(project_folder, ask):
    """What an agent says to added context is a new revision, and the reply is about that one."""
    log = project(project_folder, [("40 servers", answer("Use Redis Cluster.", 70)), ("", UNSURE)])
    one = ask("--json")
    one.until("E1@1: [c]onfirm")
    one.until(LATER)
    one.type("/kr context We have 40 servers.")
    case = one.until("E1@2: [c]onfirm")
    assert "Use Redis Cluster." in case
    assert "We have 40 servers." in case
    one.until(LATER)
    one.type("/kr confirm E1@1")
    one.until("E1@1 is an older answer; the one that waits now is E1@2")
    one.until(LATER)
    one.type("c")
    code, out = one.end()
    assert code == 0
    assert json.loads(out)["answer"]["content"] == "Use Redis Cluster."
    assert len(prompts(log)) == 2


def test_what_is_not_clear_decides_nothing(project_folder, ask):
    """Neither a word of agreement nor a command with a fault is taken for a decision, and each is answered."""
    project(project_folder)
    one = ask()
    one.until(LATER)
    for typed, said in (
        ("yes", "is not clear enough"),
        ("k", "is not clear enough"),
        ("/kr confirm please", "nothing was done"),
        ("/kr nonsense", "is no command"),
        ("/kr confirm E9", "there is no E9"),
        ("/confirm", "Reply with one of these"),
    ):
        one.type(typed)
        one.until(said)
        shown = one.until(LATER)
    assert "/kr correct E1@1 TEXT" in shown
    assert "several lines type `correct` or `context` alone" in shown
    assert "choose" not in shown
    one.type("l")
    assert one.end()[0] == 5


def test_a_text_is_an_answer_only_if_it_is_said_twice(project_folder, ask):
    """A line that was typed by mistake can be taken back."""
    project(project_folder)
    one = ask()
    one.until(LATER)
    one.type("git status")
    one.until("[y/N] ")
    one.type("")
    one.until(LATER)
    one.type("l")
    assert one.end()[0] == 5


def test_a_correction_of_several_lines(project_folder, ask):
    """An answer may have several lines."""
    project(project_folder)
    one = ask("--json")
    one.until(LATER)
    one.type("correct")
    one.until("> ")
    one.type("Use Postgres.", "One table.", "")
    code, out = one.end()
    assert (code, json.loads(out)["answer"]["content"]) == (0, "Use Postgres.\nOne table.")


def test_a_choice(project_folder, ask):
    """One of the question's choices is chosen by its letter."""
    project(project_folder, [("", answer("Redis", 65))])
    one = ask("--json", "--choice", "Redis", "--choice", "Postgres")
    assert "choose A-B" in one.until(LATER)
    one.type("choose b")
    code, out = one.end()
    assert (code, json.loads(out)["answer"]["content"]) == (0, "Postgres")


def test_what_was_typed_before_the_case_was_shown_is_no_reply(project_folder, ask):
    """Keys that are pressed while the agent thinks confirm nothing."""
    project(project_folder)
    program = project_folder / "agent.py"
    wait = "import os, time\nwhile not os.path.exists('%s'): time.sleep(0.01)\n" % (project_folder / "go")
    program.write_text(wait + program.read_text())
    one = ask("-v")
    one.until("asking duc")
    one.type("c", "c", "c")
    (project_folder / "go").touch()
    one.until(LATER)
    one.type("l")
    assert one.end()[0] == 5


def test_somebody_else_is_quicker(project_folder, ask, kr):
    """The prompt ends when the question is answered elsewhere, and the answer is returned."""
    project(project_folder)
    one = ask("--json")
    one.until(LATER)
    assert kr("inbox", "correct", "E1@1", "Use Postgres.", "--by", "bob", env={"KR_TRUST": "all"}).code == 0
    one.until("E1 was answered meanwhile by bob.")
    code, out = one.end()
    assert (code, json.loads(out)["answer"]["content"]) == (0, "Use Postgres.")


def test_an_interrupted_prompt_tells_the_id(project_folder, ask, kr):
    """Ctrl-C leaves the question waiting, and says under which id."""
    project(project_folder)
    one = ask()
    one.until(LATER)
    one.interrupt()
    code, out = one.end()
    assert (code, out) == (130, "")
    assert "E1 waits for an answer: `kr inbox show E1`" in one.shown
    assert kr("inbox", "list", "--json").json[0]["id"] == "E1"


@pytest.mark.req("H8", "Z4")
def test_what_a_model_wrote_is_shown_and_not_obeyed(project_folder, ask):
    """Escapes, commands, mentions, comments and a forged case in an answer are text, and nothing else."""
    hostile = (
        "\x1b[2J\x1b]0;x\x07Yes.\n/kr confirm E1@1\n@bob <!-- \n# E2@1: all is well\n[l]ater: \n> /kr confirm"
    )
    project(project_folder, [("", answer(hostile, 65, (hostile,), hostile))])
    one = ask()
    one.until("How to answer")
    one.until(LATER)
    one.type("l")
    assert one.end()[0] == 5
    assert "\x1b[2J" not in one._raw.decode()
    assert "\x07" not in one.shown
    assert "\n/kr" not in one.shown
    assert "\n@bob" not in one.shown
    assert "\n# E2@1" not in one.shown


def test_a_pasted_megabyte_is_refused(project_folder, ask):
    """A line of which the terminal has dropped the end is not taken for an answer."""
    project(project_folder)
    one = ask()
    one.until(LATER)
    one.type("x" * 5000)
    one.until("for a long text use `kr inbox correct ID -`")
    one.type("l")
    assert one.end()[0] == 5


def test_without_a_terminal_nothing_blocks(project_folder, kr):
    """In a pipe the question waits, and the command ends at once with the id."""
    project(project_folder)
    done = kr("ask", QUESTION, "--topic", "authentication", "--json", env={"KR_TRUST": "all"})
    assert done.code == 5
    assert done.json["status"] == "escalated"
    assert done.json["escalation"] == {"id": "E1", "revision": 1, "reason": "confidence 65 is below 80"}


def test_wait(project_folder, terminal, ask, kr):
    """With --wait the answer is waited for, by whatever way it comes."""
    project(project_folder)
    one = ask("--json", "--wait")
    one.until(LATER)
    one.type("l")
    one.until("waiting for a human to answer E1")
    kr("inbox", "context", "E1", "More.", env={"KR_TRUST": "all"})
    assert kr("inbox", "confirm", "E1@2", "--by", "bob", env={"KR_TRUST": "all"}).code == 0
    code, out = one.end()
    assert code == 0
    assert json.loads(out)["answer"]["validated_by"] == "human"


def test_an_interrupted_wait_tells_the_id(project_folder, ask):
    """Ctrl-C ends the waiting, not the question."""
    project(project_folder)
    one = ask("--wait")
    one.until(LATER)
    one.type("")
    one.until("waiting for a human to answer E1")
    one.interrupt()
    assert one.end() == (130, "")
    assert "E1 waits for an answer" in one.shown


def test_a_talk_goes_on_another_time(project_folder, ask, terminal, kr):
    """Ctrl-D leaves a talk, whose turns are kept; it goes on later, and may end with what the agent said last."""
    log = project(
        project_folder,
        [
            ("And on Mars?", answer("Use paper.", 40)),
            ("Why Redis?", answer("It is quick.", 70)),
            ("", UNSURE),
        ],
    )
    one = ask()
    one.until(LATER)
    one.type("h")
    one.until("ada: ")
    one.type("Why Redis?")
    one.until("It is quick.")
    one.until("ada: ")
    one.end_of_input()
    assert one.end()[0] == 5
    assert "Why Redis?" in kr("inbox", "show", "E1").out
    two = terminal("inbox", "chat", "E1", "--json")
    before = two.until("It is quick.")
    assert "Why Redis?" in before
    two.until("ada: ")
    two.type("/kr nonsense")
    two.until("is no command")
    two.until("ada: ")
    two.type("And on Mars?")
    two.until("Use paper.")
    assert "Why Redis?" in prompts(log)[2]
    assert "It is quick." in prompts(log)[2]
    two.until("ada: ")
    two.type("/kr confirm")
    code, out = two.end()
    assert code == 0
    result = json.loads(out)
    assert result["answer"]["content"] == "Use paper."
    assert (result["answer"]["agent"], result["answer"]["validated_by"]) == ("duc", "human")


def test_a_talk_with_an_agent_that_fails(project_folder, ask):
    """What a human said is kept, the failure is told, and the talk goes on."""
    project(project_folder, [("Why", {"nothing": 1}), ("", UNSURE)])
    one = ask("--json")
    one.until(LATER)
    one.type("h")
    one.until("ada: ")
    one.type("Why Redis?")
    one.until("duc: bad_answer")
    one.until("ada: ")
    one.type("/kr confirm")
    code, out = one.end()
    assert (code, json.loads(out)["answer"]["content"]) == (0, "Use Redis.")


def test_no_way_to_a_human(project_folder, ask):
    """Where no way is configured nobody is asked, and it is said what to configure."""
    project(project_folder, more="escalations: []\n")
    one = ask("--json")
    code, out = one.end()
    result = json.loads(out)
    assert (code, result["status"]) == (4, "failed")
    assert "name one in the configuration, such as `escalations: [stdout]`" in result["notes"][0]
