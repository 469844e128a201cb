"""The record of questions from end to end: `kr log` in all its forms, its filters, and whether it is whole."""

import csv
import io
import json
import os
import signal
import sqlite3
import subprocess
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from support.fork_server import kr_argv

from kr_core import Event
from kr_core.cli import log
from kr_core.errors import ConfigError, PluginError
from kr_core.escalation.case import Case
from kr_core.escalation.case_repository import CaseRepository
from kr_core.model.questions import Answer, EscalationRequest, Question
from kr_core.model.routing import Route
from kr_core.plugin import LogRecord
from kr_core.qalog import reader as record
from kr_core.qalog.reader import LogFilter
from kr_plugins.journals.sqlite.sqlite_journal import SQLite
from kr_plugins.logs.jsonl import JSONLines

BEGIN = datetime(2026, 2, 5, 10, tzinfo=UTC)
HOSTILE = "red \x1b[31m, \x9b2J, \u202eturned"


@pytest.fixture
def kr(kr_here):
    """The commands run in this process; `--follow` alone needs one that can be interrupted."""
    return kr_here


class Record:
    """Exchanges written as questions write them, a second between entries."""

    def __init__(self, journal):
        self.journal = journal
        self._seconds = count()

    def say(self, kind, exchange, *, feature="login", parent=None, **data):
        about = {
            "exchange_id": exchange,
            "parent_id": parent,
            "feature_id": feature,
            "question_id": f"q-{exchange}",
        }
        time = BEGIN + timedelta(seconds=next(self._seconds))
        self.journal.append([Event(kind, exchange, {**about, **data}, time=time)]).result()

    def asked(self, exchange, text, *, topic="authentication", **about):
        self.say("question.asked", exchange, topic=topic, text=text, **about)
        self.say(
            "question.routed", exchange, topic=topic, target="architect", agent="baron", threshold=80, **about
        )
        self.say("agent.started", exchange, agent="baron", **about)

    def answered(self, exchange, content, confidence, **about):
        self.say("answer.received", exchange, agent="baron", content=content, confidence=confidence, **about)
        accepted = confidence >= 80
        self.say("answer.gated", exchange, accepted=accepted, confidence=confidence, threshold=80, **about)

    def finished(self, exchange, status, **about):
        self.say("exchange.finished", exchange, status=status, **about)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "work"


@pytest.fixture
def journal(folder):
    journal = SQLite(folder / ".kr")
    yield journal
    journal.close()


@pytest.fixture
def written(journal):
    """Two features; in `login` an exchange that a human answered after another had been in between, and one that follows it."""
    record = Record(journal)
    record.asked("e1", "Which session store should we use?")
    record.asked("e2", "How long is a token valid?", topic="authentication/tokens")
    record.answered("e1", "Redis.", 60)
    record.answered("e2", "=1 hour", 95)
    opened = {"revision": 1, "reason": "60 is below 80", "agent": "baron"}
    record.say("escalation.opened", "e1", escalation_id="E1", **opened)
    CaseRepository(journal).keep(
        Case(
            EscalationRequest(
                id="E1",
                exchange_id="e1",
                question=Question(id="q-e1", feature_id="login", text="Which session store should we use?"),
                answer=Answer(question_id="q-e1", content="Redis.", confidence=60, agent="baron"),
                threshold=80,
                **opened,
            ),
            Route(target="architect", agent="baron", reason="a rule", threshold=80),
            "open",
            1,
        )
    )
    record.finished("e1", "escalated")
    record.finished("e2", "accepted")
    record.asked("e3", "Which colour has the button?", topic="design", feature="search")
    record.say(
        "human.replied",
        "e1",
        escalation_id="E1",
        action="add_context",
        by="ann",
        content="There is no Redis.",
    )
    record.asked("e4", "Which session store should we use?", parent="e1")
    record.answered("e4", "The database.", 90, parent="e1")
    record.finished("e4", "accepted", parent="e1")
    return record


@pytest.fixture
def told(kr, folder, written):
    """Run `kr log`."""
    written.journal.close()
    return lambda *arguments: kr("log", *arguments, cwd=folder)


def kinds(found):
    return [(entry.exchange_id, entry.kind) for entry in found]


# -- for programs ----------------------------------------------------------------------------------------


@pytest.mark.req("G1", "G4", "Q13")
def test_the_log_of_a_feature(journal, written):
    """Every question, way, answer, gate, escalation and human action of a feature is there, with time and id, in order."""
    found = record.qa_log(journal, "login")
    assert {one.feature_id for one in found} == {"login"}
    assert [one.number for one in found] == sorted(one.number for one in found)
    assert len(found) == 20
    assert [kind for exchange, kind in kinds(found) if exchange == "e1"] == [
        "question.asked", "question.routed", "agent.started", "answer.received", "answer.gated", "escalation.opened",
        "exchange.finished", "human.replied",
    ]  # fmt: skip
    assert {one.parent_id for one in found if one.exchange_id == "e4"} == {"e1"}
    asked = found[0]
    assert (asked.time, asked.question_id, asked.data["text"]) == (
        BEGIN, "q-e1", "Which session store should we use?",
    )  # fmt: skip
    assert record.qa_log(journal, "nothing") == []


@pytest.mark.req("G4")
def test_page_by_page(journal, monkeypatch):
    """A record that is longer than a page is read whole."""
    monkeypatch.setattr(record, "_PAGE", 7)
    written = Record(journal)
    for number in range(30):
        written.asked(f"e{number}", "What?")
    assert len(record.qa_log(journal, "login")) == 90
    assert len(record.exchanges(journal, LogFilter())) == 30


@pytest.mark.req("G4")
@pytest.mark.parametrize(
    ("wanted", "exchanges"),
    [
        (LogFilter(), ["e1", "e4", "e2", "e3"]),
        (LogFilter("login"), ["e1", "e4", "e2"]),
        (LogFilter("search"), ["e3"]),
        (LogFilter(exchange="e4"), ["e4"]),
        (LogFilter(topic="authentication"), ["e1", "e4", "e2"]),
        (LogFilter(topic="authentication/tokens"), ["e2"]),
        (LogFilter(topic="auth"), []),
        (LogFilter(agent="ann"), ["e1"]),
        (LogFilter(agent="human"), ["e1"]),
        (LogFilter(agent="baron", text="DATABASE"), ["e4"]),
        (LogFilter(text="no redis"), ["e1"]),
        (LogFilter(kinds=("human.*",)), ["e1"]),
        (LogFilter(until=BEGIN + timedelta(seconds=3)), ["e1"]),
        (LogFilter(since=BEGIN + timedelta(seconds=17)), ["e4"]),
    ],
)
def test_filters(journal, written, wanted, exchanges):
    """Exchanges are chosen by what they are about, who has a part, a text, kinds and times; followers come after theirs."""
    assert [one.id for one in record.exchanges(journal, wanted)] == exchanges
    assert {one.exchange_id for one in record.entries(journal, wanted)} == set(exchanges)


@pytest.mark.req("G4")
@pytest.mark.parametrize(
    ("seconds", "answer", "sure", "result"),
    [
        (6, "", None, ""),
        (7, "Redis.", 60, ""),
        (12, "Redis.", 60, "escalated"),
        (99, "Redis.", 60, "escalated"),
    ],
)
def test_as_it_was_then(journal, written, seconds, answer, sure, result):
    """Up to a time an exchange is told as it stood then, however it went on; nor is it chosen by what came later."""
    then = BEGIN + timedelta(seconds=seconds)
    first = record.exchanges(journal, LogFilter(until=then))[0]
    assert (first.id, first.answer, first.confidence, first.result) == ("e1", answer, sure, result)
    chosen = record.exchanges(journal, LogFilter(until=then, agent="ann"))
    assert [one.id for one in chosen] == (["e1"] if seconds == 99 else [])


@pytest.mark.req("G4")
def test_entries_of_kinds(journal, written):
    """Kinds and times choose entries; what an exchange is about chooses all of its entries."""
    found = record.entries(journal, LogFilter(topic="authentication", kinds=("answer.received", "human.*")))
    assert kinds(found) == [
        ("e1", "answer.received"), ("e2", "answer.received"), ("e1", "human.replied"), ("e4", "answer.received"),
    ]  # fmt: skip


@pytest.mark.req("G1", "G4")
def test_what_an_exchange_came_to(journal, written):
    """An exchange tells who had a part, how sure, what came of it and what it follows, as far as it is."""
    first, follower, _, open_one = record.exchanges(journal, LogFilter())
    assert (first.agents, first.confidence, first.threshold) == (["baron", "ann"], 60, 80)
    assert (first.result, first.escalation_id, first.depth) == ("escalated", "E1", 0)
    assert (follower.parent_id, follower.depth, follower.answer) == ("e1", 1, "The database.")
    assert (open_one.result, open_one.confidence, open_one.topic) == ("", None, "design")


@pytest.mark.req("G4")
def test_strange_data(journal):
    """What others wrote, with values of any kind, links in circles and to nowhere, is shown as far as it can be."""
    written = Record(journal)
    written.say("question.asked", "a", parent="b", text=["no", "text"], topic=7)
    written.say("exchange.finished", "b", parent="a", status=None, confidence="85%", threshold=True)
    written.say("other.kind", "c", parent="nowhere", agent={"x": 1})
    journal.append([Event("own.kind", "r9", {"feature_id": "login"})]).result()
    found = record.exchanges(journal, LogFilter())
    assert [(one.id, one.depth) for one in found] == [("a", 0), ("b", 1), ("c", 0), ("r9", 0)]
    assert [(one.question, one.confidence, one.threshold, one.agents) for one in found] == [
        ("", None, None, [])
    ] * 4


@pytest.mark.req("G4")
def test_following(journal, written):
    """Entries come as they are written, from the beginning of an exchange once it is one of those that are chosen."""
    following = record.follow(journal, LogFilter(agent="carla", kinds=("question.*", "human.*")))
    assert next(following) is None
    written.say("question.asked", "e5", text="?")
    assert next(following) is None
    written.say("human.replied", "e5", by="carla")
    assert kinds([next(following), next(following)]) == [("e5", "question.asked"), ("e5", "human.replied")]
    assert next(following) is None
    written.say("human.replied", "e5", by="carla")
    assert next(following).kind == "human.replied"


# -- for people ------------------------------------------------------------------------------------------


@pytest.mark.req("G4", "A1")
def test_the_table(told):
    """A line for each exchange: when, about what, who, how sure, what came of it, and the question; followers indented."""
    done = told("login")
    assert done.code == 0
    head, *lines = done.out.splitlines()
    assert head.split() == ["time", "exchange", "topic", "who", "sure", "result", "question"]
    assert len(lines) == 3
    assert "e1" in lines[0]
    assert "baron, ann" in lines[0]
    assert "60/80  escalated" in lines[0]
    assert lines[0].endswith("Which session store should we use?")
    assert lines[1].startswith("  20")
    assert lines[2].split()[2:] == [
        "e2", "authentication/tokens", "baron", "95/80", "accepted", "How", "long", "is", "a", "token", "valid?",
    ]  # fmt: skip


@pytest.mark.req("G4", "A1")
def test_all_features(told):
    """Without a feature all are shown, each exchange with its own; one that has no result yet is under way."""
    head, *lines = told().out.splitlines()
    assert head.split()[2] == "feature"
    assert len(lines) == 4
    assert "search" in lines[3]
    assert "under way" in lines[3]


@pytest.mark.req("G4", "A1")
def test_json(told):
    """Each entry is a line of JSON with the same keys."""
    lines = [json.loads(line) for line in told("login", "--json").out.splitlines()]
    assert len(lines) == 20
    assert all(
        list(line)
        == ["number", "id", "time", "kind", "exchange_id", "parent_id", "feature_id", "question_id", "data"]
        for line in lines
    )
    some = told("--json", "--kind", "human.*", "--since", "2026-02-05T10:00:00+00:00").out.splitlines()
    assert [json.loads(line)["data"]["content"] for line in some] == ["There is no Redis."]


@pytest.mark.req("G4", "A1")
def test_csv(told):
    """Each exchange is a line of CSV under stable columns; no cell is a formula."""
    rows = list(csv.DictReader(io.StringIO(told("login", "--csv").out)))
    assert list(rows[0]) == [
        "time", "exchange_id", "parent_id", "feature_id", "question_id", "topic", "agents", "confidence", "threshold",
        "result", "escalation_id", "question", "answer",
    ]  # fmt: skip
    assert [(row["exchange_id"], row["parent_id"], row["agents"]) for row in rows] == [
        ("e1", "", "baron, ann"), ("e4", "e1", "baron"), ("e2", "", "baron"),
    ]  # fmt: skip
    assert rows[2]["answer"] == "'=1 hour"


@pytest.mark.req("G4")
@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_nothing_steers_the_terminal(kr, journal, folder, form):
    """Control characters and changes of direction in what a model wrote are not printed in any form."""
    written = Record(journal)
    written.asked("e1", HOSTILE, topic=HOSTILE)
    written.say("exchange.finished", "e1", status=HOSTILE)
    written.say("human.replied", "e1", by=HOSTILE)
    journal.close()
    done = kr("log", *form, cwd=folder)
    assert done.code == 0
    assert not set(done.out) & set("\x1b\x9b\u202e")
    if form == ("--json",):
        assert json.loads(done.out.splitlines()[0])["data"]["text"] == HOSTILE


@pytest.mark.req("G4", "A1")
def test_nothing_there(kr, folder, told):
    """Where there is nothing to show the exit code is 4; JSON and CSV are empty."""
    done, empty = told("another"), told("another", "--json")
    assert (done.code, done.out) == (4, "nothing is on the record that was asked for\n")
    assert (empty.code, empty.out) == (4, "")
    table = told("another", "--csv")
    assert (table.code, len(table.out.splitlines())) == (4, 1)


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    "wrong",
    [
        ("--since", "yesterday"),
        ("--kind", "nonsense"),
        ("--kind", "nonsense.*"),
        ("--follow", "--csv"),
        ("--follow", "--verify"),
    ],
)
def test_wrong_use(told, wrong):
    """A time that is none, and forms that cannot be followed, are told."""
    done = told(*wrong)
    assert done.code == ConfigError.exit_code
    assert wrong[0] in done.err


def test_a_kind_that_is_none(told):
    """The nearest one is told; one with which nothing has been said yet is one."""
    assert "did you mean `answer.received`?" in told("--kind", "answer.recieved").err
    assert told("--kind", "answers.compared").code == 4


@pytest.mark.req("G1")
def test_verified(told, folder):
    """`--verify` says how many entries are in order; or each flaw with the entry's number, and exits with 1."""
    done = told("--verify")
    assert (done.code, done.out) == (0, "23 entries, all in order\n")
    with sqlite3.connect(folder / ".kr/journal.sqlite") as connection:
        connection.execute("UPDATE events SET data = replace(data, 'Redis', 'Valkey') WHERE number = 7")
        connection.execute("DELETE FROM events WHERE number > 21")
    connection.close()
    done = told("--verify")
    assert done.code == 1
    assert [line.split(":")[0] for line in done.out.splitlines()] == ["entry 7", "entry 22"]


@pytest.mark.req("G1")
def test_a_case_that_was_copied(told, folder):
    """What is kept under the id of another case is named by that id, whether the record has such a case or not."""
    with sqlite3.connect(folder / ".kr/journal.sqlite") as connection:
        connection.execute(
            "INSERT INTO documents (kind, key, status, version, data)"
            " SELECT kind, 'E2', status, version, data FROM documents WHERE key = 'E1'"
        )
    connection.close()
    done = told("--verify")
    assert done.code == 1
    assert done.out.startswith("E2: what is kept under it is E1; ")
    assert len(done.out.splitlines()) == 1


@pytest.mark.req("G1")
def test_a_log_that_has_more_than_the_journal(told, folder):
    """Where the end was taken out together with the count of entries, what a log has had already tells it."""
    with sqlite3.connect(folder / ".kr/journal.sqlite") as connection:
        connection.execute("INSERT INTO cursors VALUES ('jsonl', 23)")
        connection.execute("DELETE FROM events WHERE number > 21")
        connection.execute("UPDATE sqlite_sequence SET seq = 21 WHERE name = 'events'")
    connection.close()
    assert told("--verify").out.startswith("entry 22: it and those up to entry 23 are missing")


@pytest.mark.req("G1")
@pytest.mark.parametrize("entries", [0, 1, 2, 3, 64, 65])
def test_how_many_entries(journal, capsys, entries):
    """The number of entries is the right one."""
    journal.append([Event("k.v", "r") for _ in range(entries)]).result()
    assert log._verify(journal, {}) == 0
    assert capsys.readouterr().out.split()[0] == str(entries)


@pytest.mark.req("G4", "A1")
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_follow(tmp_path, environ, form):
    """`--follow` begins where there is no journal yet, shows entries as they come, and ends with Ctrl-C and 130."""
    folder = tmp_path / "new"
    folder.mkdir()
    process = subprocess.Popen(
        kr_argv(environ, "log", "--follow", *form), cwd=folder, env=environ,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        journal = SQLite(folder / ".kr")
        written = Record(journal)
        for number in range(3):
            written.say("question.asked", f"e{number}", text=f"Question {number}?")
            assert f"Question {number}?" in process.stdout.readline()
        journal.close()
        os.kill(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=30)
        assert (process.returncode, error) == (130, "kr: interrupted\n")
    finally:
        process.kill()
        process.communicate()


@pytest.mark.req("G1")
def test_a_journal_that_cannot_be_read(kr, folder):
    """A damaged journal is told in one line, with what to do."""
    (folder / ".kr").mkdir(parents=True)
    (folder / ".kr/journal.sqlite").write_bytes(b"no database" * 100)
    done = kr("log", cwd=folder)
    assert done.code == PluginError.exit_code
    assert "move it aside" in done.err


# -- what the record lost ------------------------------------------------------------------------------------


@pytest.mark.req("G1")
def test_a_write_ahead_log_that_was_cut(kr, folder, journal):
    """Nine cases that became one are told by the head beside the journal and by the log that has had their entries."""
    (folder / "kr.yaml").write_text("logs: [jsonl]\n")
    sizes = []
    for number in range(9):
        record = Record(journal)
        record.asked(f"e{number}", "Which session store should we use?")
        sizes.append((folder / ".kr/journal.sqlite-wal").stat().st_size)
    JSONLines(folder / ".kr").write([LogRecord(*one) for one in journal.read(0, 100)])
    files = {path.name: path.read_bytes() for path in (folder / ".kr").glob("journal.sqlite*")}
    journal.close()
    for name, content in files.items():
        (folder / ".kr" / name).write_bytes(content)
    (folder / ".kr/journal.sqlite-shm").unlink()
    os.truncate(folder / ".kr/journal.sqlite-wal", sizes[0])
    done = kr("log", "--verify", cwd=folder)
    assert done.code == 1
    first, second = done.out.splitlines()
    assert first.startswith("entry 4: it and those up to entry 27 are missing: KR wrote entry 27")
    assert second.startswith(
        "log jsonl: it ends with entry 27 of 2026-02-05 10:00:02, which the journal does not have;"
    )
    assert len(kr("log", cwd=folder).out.splitlines()) == 2
    (folder / ".kr/journal.sqlite-head").unlink()
    assert kr("log", "--verify", cwd=folder).out.startswith("log jsonl: it ends with entry 27")
    (folder / ".kr/log.jsonl").unlink()
    assert kr("log", "--verify", cwd=folder).out == "3 entries, all in order\n"


@pytest.mark.req("G1", "G3")
def test_a_log_that_cannot_be_compared(kr, folder, journal):
    """A log that lags behind is in order; one that cannot be read is named, with what to do."""
    (folder / "kr.yaml").write_text("logs: [jsonl]\n")
    Record(journal).asked("e1", "What?")
    log_file = JSONLines(folder / ".kr")
    log_file.write([LogRecord(*one) for one in journal.read(0, 2)])
    journal.close()
    assert kr("log", "--verify", cwd=folder).code == 0
    with (folder / ".kr/log.jsonl").open("a") as file:
        file.write('{"number": 3, "id": "torn')
    assert kr("log", "--verify", cwd=folder).code == 0
    with (folder / ".kr/log.jsonl").open("a") as file:
        file.write('\n{"number": 3, "id": "x", "time": "yesterday"}\n')
    done = kr("log", "--verify", cwd=folder)
    assert done.code == 1
    assert "log jsonl: " in done.out
    assert "the log cannot be read" in done.out
    assert "move it aside" in done.out


@pytest.mark.req("G1")
def test_side_tables_that_are_gone(told, folder, written):
    """Emptied tables are named with what it means; a dropped one with what to do. Neither ends in a traceback."""
    journal = SQLite(folder / ".kr")
    journal.keep_step("r1", "fetch", {"a": 1})
    journal.spend("s", "3-1", "g", 3)
    journal.number("escalation")
    journal.close()
    with sqlite3.connect(folder / ".kr/journal.sqlite") as connection:
        for table in ("steps", "grants", "counters", "chain"):
            connection.execute(f"DELETE FROM {table}")
    connection.close()
    done = told("--verify")
    assert done.code == 1
    assert {line.split(":")[0] for line in done.out.splitlines()} >= {
        "table steps", "table grants", "table chain", "counter escalation",
    }  # fmt: skip
    with sqlite3.connect(folder / ".kr/journal.sqlite") as connection:
        connection.execute("DROP TABLE steps")
    connection.close()
    done = told("--verify")
    assert done.code == PluginError.exit_code
    assert "lacks the table `steps`" in done.err
    assert "restore it from a backup" in done.err


@pytest.mark.req("Q3", "G1")
def test_counters_that_were_set_back(kr, folder):
    """A question gets a case with a number that no case has, and the check names the counter."""
    (folder).mkdir()
    ask = ("ask", "--target", "human", "--topic", "authentication", "--feature", "login")
    for number in range(3):
        assert kr(*ask, f"Which session store should we use, number {number}?", cwd=folder).code == 5
    with sqlite3.connect(folder / ".kr/journal.sqlite") as connection:
        connection.execute("UPDATE counters SET number = 0 WHERE kind = 'escalation'")
    connection.close()
    assert "counter escalation: it is at 0, and KR had written 3" in kr("log", "--verify", cwd=folder).out
    done = kr(*ask, "What is the last question?", cwd=folder)
    assert (done.code, "E4" in done.out + done.err) == (5, True), done
    assert kr("log", "--verify", cwd=folder).code == 0


@pytest.mark.req("G1")
def test_counters_of_budgets_are_mended_as_the_message_says(told, folder, written):
    """Counters of steps and grants that were set back are named with the file to remove; without it all is in order again."""
    journal = SQLite(folder / ".kr")
    for number in range(3):
        journal.keep_step("r1", f"fetch{number}", {"a": 1})
        journal.spend("s", "3-1", f"g{number}", 9)
    journal.close()
    with sqlite3.connect(folder / ".kr/journal.sqlite") as connection:
        connection.execute("UPDATE counters SET number = 1 WHERE kind IN ('@steps', '@grants')")
    connection.close()
    out = told("--verify").out
    assert [line.split(":")[0] for line in out.splitlines()] == ["counter grants", "counter steps"]
    assert out.count("to go on without, remove .kr/journal.sqlite-head") == 2
    (folder / ".kr/journal.sqlite-head").unlink()
    assert told("--verify").code == 0
    journal = SQLite(folder / ".kr")
    journal.keep_step("r1", "last", {"a": 1})
    journal.close()
    assert told("--verify").code == 0


@pytest.mark.req("Z7")
@pytest.mark.parametrize("command", [("inbox", "list"), ("inbox", "show", "E1"), ("log", "--verify")])
def test_a_case_in_the_form_of_another_kr(kr, folder, written, command):
    """A case with keys that this KR does not know is named, with what to do."""
    written.journal.close()
    with sqlite3.connect(folder / ".kr/journal.sqlite") as connection:
        connection.execute(
            "UPDATE documents SET data = json_set(data, '$.care', json('{\"sinks\": {}}')) WHERE key = 'E1'"
        )
    connection.close()
    done = kr(*command, cwd=folder)
    said = done.out + done.err
    assert done.code != 0
    assert "case E1 cannot be read, since it is not in the form that this KR writes" in said
    assert "sinks" in said
    assert "move the journal aside" in said
    assert "Traceback" not in said


# -- long records --------------------------------------------------------------------------------------------


@pytest.mark.req("G4")
def test_pages_are_told_as_the_whole_is(journal, written, monkeypatch):
    """However the record falls into pages, its exchanges come in the same order, with all that they came to."""
    for number in range(5, 12):
        written.asked(f"e{number}", "Which?")
        written.answered(f"e{number}", "This.", 90)
        written.finished(f"e{number}", "accepted")
    whole = record.exchanges(journal, LogFilter())
    assert [one.id for one in whole][:4] == ["e1", "e4", "e2", "e3"]
    for size in (1000, 50, 40, 23, 11, 7, 3):
        monkeypatch.setattr(record, "_PAGE", size)
        pages = list(record.exchange_pages(journal, LogFilter()))
        assert [one for page in pages for one in page] == whole
        assert len(pages) > 45 // size


@pytest.mark.req("G4")
def test_links_in_circles_end(journal, monkeypatch):
    """Exchanges that follow themselves, or each other, are read once."""
    monkeypatch.setattr(record, "_PAGE", 2)
    written = Record(journal)
    for name, parent in (("a", "b"), ("b", "a"), ("c", "c")):
        written.say("human.replied", name, parent=parent, action="add_context", by="ann")
        written.say("question.asked", name, parent=parent, text="?")
    pages = record.exchange_pages(journal, LogFilter())
    assert sorted(one.id for page in pages for one in page) == ["a", "b", "c"]


@pytest.mark.req("G4", "A1")
def test_the_first_page_is_printed_before_the_rest_is_read(told, folder, monkeypatch, capsys):
    """A long record is shown page by page, each under the same columns."""
    monkeypatch.setattr(record, "_PAGE", 8)
    shown = []
    read = SQLite.entries

    def entries(self, **wanted):
        shown.append(len(capsys.readouterr().out.splitlines()))
        return read(self, **wanted)

    monkeypatch.setattr(SQLite, "entries", entries)
    told()
    assert any(shown[:-1])
