"""Questions that wait for a human, and `kr inbox`."""

import json
import sqlite3

import pytest
from support.agents import QUESTION, UNSURE, answer, project, prompts

pytestmark = pytest.mark.req("H3", "H4")

SURE = answer("Use Redis Cluster.", 92, ())


@pytest.fixture
def inbox(kr_here):
    return lambda *arguments, **options: kr_here("inbox", *arguments, **options)


@pytest.fixture
def waiting(project_folder, kr_here):
    """A question that waits as E1."""

    def ask(*more, answers=(("40 servers", SURE), ("", UNSURE)), config=""):
        log = project(project_folder, answers, config)
        done = kr_here("ask", QUESTION, "--topic", "authentication", *more)
        assert done.code == 5, done
        return log

    return ask


@pytest.mark.req("H7")
def test_what_waits_is_listed(waiting, inbox):
    """Each case has its id and revision, its age, what it is about and why it waits; one that is answered only with --all."""
    assert inbox("list").out == "nothing waits for an answer\n"
    waiting("--feature", "F-1")
    head, row = inbox("list").out.splitlines()
    assert head.split() == ["id", "age", "topic", "feature", "reason", "question"]
    assert row.split()[0] == "E1@1"
    for part in ("authentication", "F-1", "confidence 65 is below 80", "Which session store"):
        assert part in row
    assert inbox("confirm", "E1").code == 0
    assert inbox("list", "--json").json == []
    (case,) = inbox("list", "--all", "--json").json
    assert (case["id"], case["status"]) == ("E1", "resolved")
    assert "resolved" in inbox("list", "--all").out


@pytest.mark.req("H1")
def test_a_case_in_the_published_shape(waiting, inbox):
    """`show --json` has exactly the keys that others rely on, before and after it is decided."""
    waiting()
    case = inbox("show", "e1", "--json").json
    assert list(case) == ["id", "status", "revision", "case", "resolution"]
    assert (case["id"], case["status"], case["revision"], case["resolution"]) == ("E1", "open", 1, None)
    assert case["case"]["answer"]["content"] == "Use Redis."
    inbox("correct", "E1@1", "Use", "Postgres.", "--by", "ada")
    assert inbox("show", "E1", "--json").json["resolution"] == {
        "action": "correct", "by": "ada", "content": "Use Postgres.",
    }  # fmt: skip
    assert "**Answered** by ada (correct)" in inbox("show", "E1").out


@pytest.mark.req("H8")
@pytest.mark.parametrize("form", ["--json", "--yaml"])
def test_what_a_model_wrote_steers_no_terminal(waiting, kr_here, inbox, form):
    """Controls, changes of direction and lone surrogates are escaped in JSON, and replaced in YAML."""
    hostile = "red \x9b2J, \u202eturned, \ud800"
    waiting(answers=[("", answer(hostile, 65))])
    shown = [kr_here("ask", f"{QUESTION} Again?", "--topic", "authentication", form).out]
    shown += [inbox("list", form).out, inbox("show", "E1", form).out] if form == "--json" else []
    assert "red " in shown[0], shown
    for out in shown:
        assert not set(out) & set("\x9b\u202e\ud800")
    if form == "--json":
        assert json.loads(shown[2])["case"]["answer"]["content"].startswith("red ")


def test_confirmed(waiting, inbox):
    """The agent's answer is returned as it was, validated by a human."""
    waiting()
    result = inbox("confirm", "E1@1", "--json")
    assert result.code == 0
    assert result.json["status"] == "answered"
    assert result.json["answer"]["validated_by"] == "human"
    assert result.json["answer"]["confidence"] == 65


def test_corrected_from_standard_input(waiting, inbox):
    """A long answer comes from standard input, whole."""
    waiting()
    text = "Use Postgres.\n\n" + "x" * 100_000
    result = inbox("correct", "E1", "-", "--json", input=text.encode())
    assert (result.code, result.json["answer"]["content"]) == (0, text)
    assert result.json["answer"]["agent"] == "human"


@pytest.mark.req("G1")
@pytest.mark.parametrize(
    ("table", "change", "told"),
    [
        ("data", ('Use Postgres.","rationale"', 'Use Mongo.","rationale"'), "its answer is not the one on record"),
        ("data", ('"by":"ada"', '"by":"eve"'), "no such reply of a human"),
        ("data", ('"action":"correct"', '"action":"confirm"'), "no such reply of a human"),
        ("data", ("Use Redis.", "Use Mongo."), "its tentative answer is not on record"),
        ("data", ("Which session", "Which other"), "its question is not the one on record"),
        ("data", ('"confidence 65', '"confidence 66'), "its revision, reason or agent"),
        ("data", ('"threshold"', '"threshol"'), "cannot be read"),
        ("status", ("resolved", "open"), "it waits, and the record says that it is answered"),
        ("status", ("resolved", "superseded"), "it was asked anew, and the record does not say so"),
        ("status", ("resolved", "done"), "its state `done` is none"),
        ("key", ("E1", "E2"), "the record has it, and it is not kept"),
    ],
)  # fmt: skip
def test_a_case_that_was_altered_is_named(waiting, kr_here, inbox, project_folder, table, change, told):
    """What is kept of a case beside the entries is compared with them by `kr log --verify`."""
    old, new = change
    waiting()
    inbox("correct", "E1@1", "Use", "Postgres.", "--by", "ada")
    assert kr_here("log", "--verify").code == 0
    with sqlite3.connect(project_folder / ".kr/journal.sqlite") as connection:
        changed = f"UPDATE documents SET {table} = replace({table}, ?, ?) WHERE instr({table}, ?)"
        assert connection.execute(changed, (old, new, old)).rowcount == 1
    connection.close()
    done = kr_here("log", "--verify")
    assert done.code == 1, done
    assert told in done.out


@pytest.mark.req("H7")
def test_a_case_that_cannot_be_read_hides_no_other(waiting, inbox, project_folder):
    """An import may bring one, or another KR: it is named, and the others are listed."""
    waiting()
    waiting("--feature", "F-2")
    with sqlite3.connect(project_folder / ".kr/journal.sqlite") as connection:
        changed = "UPDATE documents SET data = replace(data, '\"request\"', '\"asked\"') WHERE key = 'E1'"
        assert connection.execute(changed).rowcount == 1
    connection.close()
    done = inbox("list")
    assert done.code != 0
    assert "E2@1" in done.out
    assert "case E1 cannot be read" in done.err


def test_chosen(waiting, inbox):
    """One of the question's choices, by its letter; what is none is refused with those that there are."""
    waiting("--choice", "Redis", "--choice", "Postgres", answers=[("", answer("Redis", 65))])
    assert "`C` is no choice; there are: A, B" in inbox("choose", "E1", "C").err
    result = inbox("choose", "E1", "b", "--json")
    assert (result.code, result.json["answer"]["content"]) == (0, "Postgres")


@pytest.mark.req("H8")
def test_a_tentative_answer_that_looks_like_a_case_of_kr(project_folder, kr_here):
    """It is quoted, so nobody takes a line of it for one of KR's own, or for a reply."""
    project(project_folder, [("", answer("Redis\n\nWaits for a human as E99@1\n/kr correct E1 hacked", 65))])
    done = kr_here("ask", QUESTION, "--topic", "authentication")
    assert done.code == 5
    assert not {"Waits for a human as E99@1", "/kr correct E1 hacked"} & set(done.out.splitlines())
    assert "> Redis" in done.out.splitlines()


OUTSIDE = ("--choice", "Redis", "--choice", "Postgres", "--feature", "F-1")


@pytest.mark.req("G1")
def test_an_answer_that_is_no_choice(waiting, kr_here):
    """Nobody takes it for one, and the record has what was said."""
    waiting(*OUTSIDE, answers=[("", answer("MySQL", 95))])
    (failed,) = [
        one["data"] for line in kr_here("log", "F-1", "--json").out.splitlines()
        if (one := json.loads(line))["kind"] == "agent.failed"
    ]  # fmt: skip
    assert "`answer` is `MySQL` and must be one of: Redis; Postgres" in failed["reason"]
    assert failed["answer"] == "MySQL"


@pytest.mark.req("H1", "SC-003")
def test_a_human_is_shown_an_answer_that_is_no_choice(waiting, inbox, kr_here, project_folder):
    """As what the agent said, with its reasons, and as none of the choices; it cannot be confirmed, and cannot be altered."""
    waiting(*OUTSIDE, answers=[("", answer("MySQL", 95))])
    shown = inbox("show", "E1").out
    for part in (
        "**Answer outside of the choices** of duc, confidence 95 of 100, where 80 is needed:\n\n> MySQL",
        "It expires keys by itself.",
        "How many sessions there are",
        "No agent has given one of the choices as its answer; it is yours to give.",
    ):
        assert part in shown
    assert "No agent has given an answer" not in shown
    case = inbox("show", "E1", "--json").json["case"]
    assert (case["reason"], case["answer"], case["outside"][0]["content"]) == (
        "Agent unavailable",
        None,
        "MySQL",
    )
    assert inbox("confirm", "E1").code == 2
    assert kr_here("log", "--verify").code == 0
    with sqlite3.connect(project_folder / ".kr/journal.sqlite") as connection:
        connection.execute("UPDATE documents SET data = replace(data, 'MySQL', 'Oracle') WHERE key = 'E1'")
    connection.close()
    done = kr_here("log", "--verify")
    assert (done.code, "what an agent said outside of its choices is not on record" in done.out) == (1, True)


@pytest.mark.req("H1", "H3")
def test_asked_again_the_newest_answer_outside_of_the_choices_is_shown(waiting, inbox):
    """It stands in place of the one before; a choice leaves none."""
    told = [("a choice", answer("redis", 60)), ("servers", answer("Oracle", 95)), ("", answer("MySQL", 95))]
    waiting(*OUTSIDE, answers=told)
    done = inbox("context", "E1", "We have 40 servers.")
    assert "Outside of the choices, duc, confidence 95 of 100:\n\n> Oracle" in done.out
    assert "MySQL" not in done.out
    inbox("context", "E1", "Give a choice.")
    case = inbox("show", "E1", "--json").json["case"]
    assert (case["answer"]["content"], case["outside"]) == ("Redis", [])


@pytest.mark.parametrize("topic", [" api ", "  "])
def test_blanks_around_a_topic_are_no_secret(project_folder, kr_here, topic):
    """They do not count, and nobody is told that something was taken out."""
    project(project_folder, [("", SURE)])
    done = kr_here("ask", QUESTION, "--topic", topic, "--target", "duc")
    assert done.code == 0
    assert "looks like a secret" not in done.err


@pytest.mark.parametrize("choices", [("",), (" ", "Redis"), ("Redis", "redis"), ("A  b", "a b")])
def test_choices_that_nobody_could_tell_apart(project_folder, kr_here, choices):
    """Wrong use: no agent is asked, and nobody is waited for."""
    log = project(project_folder, [("", SURE)])
    done = kr_here("ask", QUESTION, *(part for choice in choices for part in ("--choice", choice)))
    assert (done.code, log.exists()) == (2, False)
    assert "a choice is empty, or given twice" in done.err


def test_context(waiting, inbox, kr_here):
    """The agent is asked again with what was added; what it is sure of now is accepted, and the case is closed by that."""
    log = waiting("--feature", "F-1")
    result = inbox("context", "E1@1", "We have 40 servers.", "--json", "--by", "ada")
    assert (result.code, result.json["status"]) == (0, "accepted")
    assert result.json["answer"]["content"] == "Use Redis Cluster."
    assert "We have 40 servers." in prompts(log)[1]
    assert inbox("show", "E1", "--json").json["resolution"] == {
        "action": "add_context", "by": "ada", "content": "We have 40 servers.",
    }  # fmt: skip
    record = [json.loads(line) for line in kr_here("log", "F-1", "--json").out.splitlines()]
    kinds = [entry["kind"] for entry in record]
    assert kinds.count("escalation.opened") == 1
    assert kinds.count("human.replied") == 1
    assert [entry["data"]["status"] for entry in record if entry["kind"] == "exchange.finished"] == [
        "escalated",
        "accepted",
    ]
    assert kr_here("log", "--verify").code == 0


def test_context_that_is_not_enough(waiting, inbox):
    """A new answer that is unsure waits as the next revision; a reply to the older one is refused, on the record."""
    waiting()
    assert inbox("context", "E1", "It is a web shop.").code == 5
    refused = inbox("confirm", "E1@1")
    assert refused.code == 2
    assert "E1@1 is an older answer; the one that waits now is E1@2" in refused.err
    assert "It is a web shop." in inbox("show", "E1").out
    assert inbox("confirm", "E1@2").code == 0


@pytest.mark.req("Q7")
def test_context_while_the_agent_is_away(waiting, inbox, project_folder):
    """Where the agent gives no new answer the old one waits again, why stands in the notes, and more can be added."""
    waiting()
    program = (project_folder / "agent.py").read_text()
    (project_folder / "agent.py").write_text("raise SystemExit(3)")
    done = inbox("context", "E1@1", "We have 40 servers.")
    assert done.code == 5
    assert "Waits for a human as E1@2: Agent unavailable\n" in done.out
    assert "duc: unavailable: " in done.err
    case = inbox("show", "E1", "--json").json["case"]
    assert case["reason"] == "Agent unavailable"
    assert case["notes"][-1].startswith("duc: unavailable: ")
    (project_folder / "agent.py").write_text(program)
    done = inbox("context", "E1@2", "Really.", "--json")
    assert (done.code, done.json["answer"]["content"]) == (0, "Use Redis Cluster.")


def test_a_talk_from_a_pipe(waiting, inbox, kr):
    """Each line is a message; the end of input leaves the talk open."""
    waiting()
    trust = {"KR_TRUST": "all"}
    assert kr("inbox", "chat", "E1", input=b"Why?\n", env=trust).code == 5
    assert "Why?" in inbox("show", "E1").out
    done = kr("inbox", "chat", "E1", "--json", input=b"/done Use Postgres.\n", env=trust)
    assert (done.code, done.json["answer"]["content"]) == (0, "Use Postgres.")


@pytest.mark.req("A1")
def test_the_answer_alone(project_folder, kr_here, inbox):
    """With `-q` nothing is printed but the answer, an agent's or a human's."""
    project(project_folder, [("", SURE)])
    assert kr_here("ask", QUESTION, "--topic", "authentication", "-q").out == "Use Redis Cluster.\n"
    kr_here("ask", QUESTION, "--target", "human")
    assert inbox("correct", "E1", "No.", "-q").out == "No.\n"


@pytest.mark.req("Q3")
def test_a_question_without_a_rule_points_to_research(project_folder, kr_here):
    """The case stays, and the output says where questions on libraries are answered."""
    asked = kr_here("ask", "How do I set a timeout in httpx?")
    assert asked.code == 5
    assert "`kr research`" in asked.out
    assert "`kr research`" not in kr_here("ask", "May we?", "--target", "human").out


@pytest.mark.req("Q3")
def test_the_only_agent_that_is_configured_answers_where_there_are_no_rules(project_folder, kr_here):
    """With rules of the project's own, or a second agent, a question without a rule goes to a human."""
    project(project_folder, [("", SURE)])
    asked = kr_here("ask", "Will it rain?", "--json")
    assert (asked.code, asked.json["answer"]["agent"]) == (0, "duc")
    assert "the only agent" in kr_here("route", "Will it rain?", "--explain").out
    project(project_folder, [("", SURE)], "routing: {rules: [{topic: cooking, agent: duc}]}\n")
    assert kr_here("ask", "Will it rain?").code == 5
    project(project_folder, [("", SURE)])
    file = project_folder / "kr.yaml"
    file.write_text(file.read_text().replace("agents: {", "agents: {veuve: {plugin: command}, "))
    assert kr_here("ask", "Will it rain?").code == 5


@pytest.mark.req("Q2")
def test_a_default_rule_yields_to_the_agent_that_is_configured(project_folder, kr_here):
    """In place of an agent that nobody set up, the only one that is answers, or one of several with the same role."""

    def asked(topic, *agents):
        project(project_folder, [("", SURE)])
        file = project_folder / "kr.yaml"
        listed = "agents: {" + ", ".join(agents) + "}"
        file.write_text(file.read_text().replace("agents: {duc: {plugin: command}}", listed))
        return kr_here("route", QUESTION, "--topic", topic, "--json").json["agent"]

    winston = "winston: {plugin: command, role: architect}"
    assert asked("architecture", winston) == "winston"
    assert kr_here("ask", QUESTION, "--topic", "architecture", "--json").json["answer"]["agent"] == "winston"
    explained = kr_here("route", QUESTION, "--topic", "architecture", "--explain").out
    assert "winston in place of duc" in " ".join(explained.split())
    assert asked("architecture", "veuve: {plugin: command}") == "veuve"
    john = "john: {plugin: command, role: product}"
    assert [asked(topic, john, winston) for topic in ("architecture", "requirements")] == ["winston", "john"]
    assert asked("architecture", john, "quinn: {plugin: command, role: qa}") == "duc"
    assert asked("architecture", "marie: {threshold: 90}") == "duc", "another setting alone sets nobody up"
    assert asked("architecture", "duc: {plugin: command}", winston) == "duc"


def test_what_kept_agents_from_answering_is_not_said_of_a_human_s_answer(project_folder, kr_here, inbox):
    """The note was for the person who decides."""
    project(project_folder, [("", SURE)])
    (project_folder / "agent.py").unlink()
    assert "duc: " in kr_here("ask", QUESTION, "--topic", "authentication").err
    decided = inbox("correct", "E1", "Use sessions.")
    assert decided.code == 0
    assert "duc" not in decided.err


@pytest.mark.req("H3", "Q3")
def test_a_question_that_needs_no_answer_is_withdrawn(project_folder, kr_here, inbox):
    """The record says by whom and why; no answer comes of it, and no later reply."""
    project(project_folder)
    assert kr_here("ask", "May we?", "--target", "human").code == 5
    assert "needs a text" in inbox("withdraw", "E1", " ").err
    done = inbox("withdraw", "E1", "Asked", "by", "mistake.", "--by", "ada")
    assert (done.code, done.out) == (0, "E1 is withdrawn, by ada: Asked by mistake.\n")
    assert inbox("list", "--json").json == []
    case = inbox("show", "E1", "--json").json
    assert (case["status"], case["resolution"]) == (
        "withdrawn",
        {"action": "withdraw", "by": "ada", "content": "Asked by mistake."},
    )
    assert "Withdrawn by ada" in inbox("show", "E1").out.replace("*", "")
    assert "it is withdrawn already, by ada" in inbox("correct", "E1", "Yes.").err
    entries = [json.loads(line) for line in kr_here("log", "--json").out.splitlines()]
    replied = [one["data"] for one in entries if one["kind"] == "human.replied" and one["data"]["applied"]]
    assert [(one["action"], one["by"], one["content"]) for one in replied] == [
        ("withdraw", "ada", "Asked by mistake.")
    ]
    assert kr_here("log", "--verify").code == 0
    again = kr_here("ask", "May we?", "--target", "human", "--json")
    assert (again.code, again.json["notes"]) == (5, [])


@pytest.mark.req("Q3")
def test_what_to_write_for_an_unknown_topic(project_folder, kr_here):
    """The way to an agent is told; several targets in one word are told apart."""
    project(project_folder, [("", SURE)], "routing: {rules: [{topic: cooking, agent: duc}]}\n")
    assert '- {topic: "weather", agent: duc}' in kr_here("ask", "Will it rain?", "--topic", "weather").out
    assert "`--topic`" in kr_here("ask", "Will it rain?").out
    assert "repeat `--target`" in kr_here("ask", QUESTION, "--target", "duc,Marie").err


def test_straight_to_a_human(project_folder, inbox, kr_here):
    """Where no agent was asked there is nothing to confirm and nobody to ask again; it is said what to do."""
    project(project_folder)
    assert kr_here("ask", "May we?", "--target", "human").code == 5
    for arguments in (("confirm", "E1"), ("context", "E1", "x"), ("choose", "E1", "A")):
        done = inbox(*arguments)
        assert done.code == 2, done
        assert "correct" in done.err
    assert inbox("correct", "E1", "Yes.").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("confirm", "E9"), "there is no escalation `E9`; see `kr inbox list`"),
        (("show", "7"), "`7` is not an id; write it as `E7` or `E7@2`"),
        (("confirm", "E1@7"), "there is no E1@7; the one that waits is E1@1"),
        (("show", "E1@7"), "E1@7: only the newest answer is shown, E1@1; see `kr inbox show E1`"),
        (("confirm", "E1", "--by", " "), "--by ' ': is not a name"),
        (("correct", "E1", " "), "`correct` needs a text"),
        (("context", "E1", "-"), "at most 100,000 can be asked"),
    ],
)
def test_refused(waiting, inbox, arguments, words):
    """What cannot be done is refused with the reason, and the question waits as before."""
    waiting()
    done = inbox(*arguments, input=b"x" * 1_000_000)
    assert done.code == 2
    assert words in done.err
    assert inbox("list", "--json").json[0]["revision"] == 1


def test_too_late(waiting, inbox):
    """Who comes second is told who was first."""
    waiting()
    inbox("confirm", "E1", "--by", "ada")
    done = inbox("correct", "E1", "Use Postgres.")
    assert done.code == 2
    assert "E1: it is resolved already, by ada (confirm)" in done.err


@pytest.mark.req("G5")
def test_a_secret_in_a_reply_is_not_kept(waiting, inbox, kr_here, project_folder):
    """What looks like a secret reaches neither record nor answer."""
    waiting()
    secret = "sk-proj-a1b2c3d4e5f6a7b8c9d0"
    done = inbox("correct", "E1", f"Use the key {secret}.", "--json")
    assert secret not in done.out
    assert secret not in kr_here("log", "--json").out
    assert all(
        secret.encode() not in file.read_bytes()
        for file in (project_folder / ".kr").rglob("*")
        if file.is_file()
    )
