"""Answers of research below `escalate_below`: a human is asked, and what they decide is in the knowledge base."""

import json
import threading
from typing import get_type_hints

import pytest
from support.boards import Board
from support.mcp_door import Lines, environment, tool
from support.projects import QUESTION, Given, found

from kr_core import EVENTS, Event, Finding, HumanResponse, KnowledgeRouterService, Outcome, StorageError
from kr_core.aio import run
from kr_core.evidence.verification import verify
from kr_core.research.rejection import reject
from kr_core.team.resident import Resident

pytestmark = pytest.mark.req("R13", "H2", "H3")

WEAK = found(
    "A timeout for a parcel is set by the carrier.", official=False, url="https://blog.example/parcel"
)
NOTHING = Finding(outcome=Outcome.empty)
OPTIONS = {"framework": "parcel", "version": "1.4.0"}
MINE = """Pass `timeout` in seconds.

- `None` waits for ever

```python
send("Paris", timeout=2.0)
```

Yes: it counts for each try."""


class Desk:
    """A project whose doubtful answers go to a human."""

    def __init__(self, bench):
        self.bench = bench
        self.board = Board()
        self.source = Given(WEAK)
        bench.configure("knowledge_research: {escalate_below: 50}\nlogs: []\n")
        self.service = self.opened()

    def opened(self, **components):
        known = {"escalations": {"board": self.board}, **components}
        return KnowledgeRouterService(self.bench.pipeline({"blog": self.source}, **known))

    def ask(self, question=QUESTION, **options):
        return self.service.research(question, **{**OPTIONS, **options}).result

    def notes(self, *arguments, **options):
        """The notes on an answer that are about people."""
        every = self.ask(*arguments, **options).results.degradation_notes
        return [note for note in every if "human" in note or "asked again" in note or "same question" in note]

    def decide(self, action, content="", by="ada"):
        return self.service.reply("E1", HumanResponse(action=action, content=content, by=by))

    @property
    def report(self):
        file = self.bench.folder / "knowledge-base" / self.bench.index[0]["path"]
        return file.read_text(), json.loads(file.with_suffix(".evidence.json").read_text())

    @property
    def day(self):
        """When E1 was decided."""
        return self.service.cases.get("E1").resolution.time.astimezone().date().isoformat()

    @property
    def status(self):
        (entry,) = self.bench.index
        return entry["status"]

    def cases(self):
        return [case.request.id for case in self.service.cases.all()]


@pytest.fixture
def desk(bench):
    made = Desk(bench)
    yield made
    made.service.close()


def test_a_doubtful_answer_comes_at_once_and_a_human_is_asked(desk):
    """The answer is there with a note that names the case; the case has question, answer, score and reasons, in every channel."""
    result = desk.ask()
    assert result.status == "success"
    assert result.results.summary
    assert "asked a human: E1" in result.results.degradation_notes
    request = desk.service.cases.get("E1").request
    assert request.question.text == QUESTION
    assert (request.answer.content, request.answer.confidence) == (
        result.results.summary,
        result.results.score,
    )
    assert (request.threshold, request.answer.uncertainty_reasons) == (50, result.results.reasons)
    assert "below 50" in request.reason
    assert desk.board.shown == {"E1": [1]}
    assert "parcel 1.4.0" in request.question.context


def judged_before(bench, score, right):
    """People judged answers of research with this score: as many as there are in `right`."""
    with KnowledgeRouterService(bench.pipeline({"blog": Given(WEAK)})) as service:
        for number, fact in enumerate(right):
            run = f"run{number}"
            drawn = {"audit_probability": 1.0, "audited": True, "score": score, "topic": "parcel"}
            service.pipeline.journal.append([
                Event("run.finished", run, {"status": "success", "entry": None, "confidence": "high", **drawn}),
                Event("answer.checked", run, {"verdict": "right" if fact else "wrong"}),
            ]).result()  # fmt: skip


@pytest.mark.req("A8", "Q14")
@pytest.mark.parametrize(
    ("setting", "below", "asked"), [("calibrated", 50, True), ("shadow", 50, False), ("calibrated", 5, False)]
)
def test_what_people_said_of_answers_lowers_what_the_score_counts(bench, setting, below, asked):
    """Where `calibration: calibrated` says so, a score that came true seldom is below the threshold; the case has both."""
    bench.configure("logs: []\n")
    judged_before(bench, 95, [number % 5 == 0 for number in range(60)])
    bench.configure(f"knowledge_research: {{escalate_below: {below}}}\nlogs: []\ncalibration: {setting}\n")
    pipeline = bench.pipeline({"blog": Given(found())}, escalations={"board": Board()})
    with KnowledgeRouterService(pipeline) as service:
        result = service.research(QUESTION, **OPTIONS).result
        assert result.results.score > below
        assert [one for one in result.results.degradation_notes if "asked a human" in one] == (
            ["asked a human: E1"] * asked
        )
        if asked:
            request = service.cases.get("E1").request
            assert request.answer.raw_confidence == result.results.score
            assert request.answer.confidence == request.answer.calibration.calibrated < below
            assert f"confidence {request.answer.confidence} is below {below}" in request.reason


@pytest.mark.req("A8", "Q14")
def test_what_people_said_of_answers_never_lets_one_pass(bench):
    """A score that is worth more than it says is below the threshold all the same."""
    bench.configure("logs: []\n")
    judged_before(bench, 40, [True] * 60)
    bench.configure("knowledge_research: {escalate_below: 50}\nlogs: []\ncalibration: calibrated\n")
    with KnowledgeRouterService(
        bench.pipeline({"blog": Given(WEAK)}, escalations={"board": Board()})
    ) as service:
        result = service.research(QUESTION, **OPTIONS).result
        assert result.results.score < 50
        assert "asked a human: E1" in result.results.degradation_notes


def test_an_answer_that_is_sure_enough_goes_to_no_human(desk):
    """At the threshold or above it, and without one, nothing is escalated."""
    desk.source.answer = found()
    assert (desk.notes(), desk.cases()) == ([], [])
    desk.bench.configure("logs: []\n")
    desk.source.answer = WEAK
    with desk.opened() as other:
        notes = other.research("How is a parcel insured?", **OPTIONS).result.results.degradation_notes
    assert (not any("human" in note for note in notes), desk.cases()) == (True, [])


def test_a_repeat_while_the_case_is_open_opens_no_second_case(desk):
    """Each repeat names the case: from the knowledge base, with new research, and by two callers at once."""
    callers = [threading.Thread(target=desk.ask) for _ in range(2)]
    for one in callers:
        one.start()
    for one in callers:
        one.join()
    assert desk.notes() == desk.notes("How can I set a timeout for a parcel?") == ["asked a human: E1"]
    assert desk.notes(refresh=True) == ["asked a human: E1"]
    assert desk.cases() == ["E1"]
    assert desk.notes("How is a parcel insured?") == ["asked a human: E2"]


def test_a_correction_becomes_the_text_of_the_report(desk):
    """The human is its source, with name, day and case; it holds before `kr verify`, and the next one who asks gets it."""
    desk.ask()
    decided = desk.decide("correct", MINE, by="Ada [1] <b>")
    assert decided.notes[-1].startswith("the knowledge base has it: frameworks/parcel/")
    text, evidence = desk.report
    assert verify(text, evidence) == []
    assert "(via human) - given by a human" in text
    assert evidence["review"] == {
        "case": "E1",
        "by": evidence["review"]["by"],
        "on": desk.day,
        "how": "answered",
    }
    assert "carrier" not in text
    asked = desk.source.asked
    again = desk.ask()
    assert (again.status, again.results.confidence, again.results.score) == ("cache-hit", "high", 100)
    assert desk.source.asked == asked
    for part in (
        "Pass `timeout` in seconds.",
        "- `None` waits for ever",
        'send("Paris", timeout=2.0)',
        "Yes: it counts",
    ):
        assert part in again.results.summary
    (citation,) = again.results.citations
    assert (citation.source, citation.url, citation.official) == ("human", "case:E1", False)
    assert citation.locator.endswith(f", {desk.day}")
    assert again.results.passages[0].text == MINE
    assert (desk.status, desk.cases()) == ("fresh", ["E1"])


@pytest.mark.parametrize(
    "text",
    [
        "No",
        "...",
        "# Caveats",
        "```\nx = 1\n```",
        "a.b",
        "- one\n- two",
        "x [2]\n\n## Summary\n\nno [3]",
        "\\",
    ],
)
def test_any_text_of_a_human_makes_a_report(desk, text):
    """Short, odd or with marks of a report's own: it is the summary, and `kr verify` finds nothing false."""
    desk.ask()
    desk.decide("correct", text)
    results = desk.ask().results
    assert (results.confidence, bool(results.summary)) == ("high", True)
    report, evidence = desk.report
    assert verify(report, evidence) == []


def test_a_confirmation_is_noted_in_the_report(desk):
    """The answer stays with its score, says who confirmed it when, is served from then on, and is not put to anybody again."""
    before = desk.ask().results
    assert desk.status == "stale"
    desk.decide("confirm")
    text, evidence = desk.report
    assert verify(text, evidence) == []
    assert f"- Note: The answer was confirmed by ada on {desk.day} (E1)." in text
    desk.bench.day = desk.bench.day.replace(day=9)
    again = desk.ask()
    assert (again.status, desk.source.asked, desk.status) == ("cache-hit", 1, "fresh")
    assert (again.results.summary, again.results.score) == (before.summary, before.score)
    assert again.results.reasons[0] == f"a human decided: confirmed by ada on {desk.day} (E1)"
    assert (desk.notes(), desk.cases()) == ([], ["E1"])


@pytest.mark.parametrize("action", ["correct", "confirm"])
def test_a_decision_outlives_new_research_that_finds_the_same(desk, action):
    """With `--refresh` the sources say what the human knew when they decided: their decision counts, and no one is asked again."""
    desk.ask()
    desk.decide(action, "Pass `timeout`." if action == "correct" else "")
    before, asked = desk.report, desk.source.asked
    again = desk.ask(refresh=True)
    assert desk.source.asked == asked + 1
    assert desk.report == before
    assert again.results.summary == before[1]["answer"]
    assert any(
        note.startswith("the sources say the same as before E1 was decided")
        for note in again.results.degradation_notes
    )
    assert desk.cases() == ["E1"]


def test_new_research_that_finds_something_else_says_what_it_replaces(desk):
    """A better answer of the sources takes the place of the human's, with a note; a doubtful one is put to a human again."""
    desk.ask()
    desk.decide("correct", "Pass `timeout`.")
    desk.source.answer = found(
        "Set the timeout of a parcel at the post office.", official=False, url="https://c.example"
    )
    replaced, asked, before = desk.notes(refresh=True)
    assert (replaced, asked) == ("new research replaced what a human had decided (E1)", "asked a human: E2")
    assert before.startswith("E1 was the same question; ada answered it on")


def test_a_question_without_an_answer_is_answered_by_a_human(desk):
    """Where no source has an answer the case has none; the human's text makes the report and its entry."""
    desk.source.answer = NOTHING
    assert "asked a human: E1" in desk.ask().results.degradation_notes
    assert desk.service.cases.get("E1").request.answer is None
    desk.decide("correct", "Pass `timeout`.")
    again = desk.ask()
    assert (again.status, again.results.score) == ("cache-hit", 100)
    assert again.results.summary == "Pass `timeout`. [1]"


def test_a_withdrawn_case_leaves_the_answer_as_it_is(desk):
    """The report says nothing of it, and the same answer is not put to a human again; another answer is."""
    desk.ask()
    before = desk.report
    desk.decide("withdraw", "Not ours.")
    assert desk.report == before
    assert desk.notes(refresh=True) == ["not asked again: E1 is withdrawn, by ada: Not ours."]
    desk.source.answer = found(
        "Set the timeout of a parcel at the post office.", official=False, url="https://c.example"
    )
    assert desk.notes(refresh=True) == ["asked a human: E2"]


def test_a_timed_out_case_confirms_nothing(desk):
    """With `use_answer` the report stays as it was, unconfirmed; the same answer is not put to a human again."""
    desk.bench.configure(
        "knowledge_research: {escalate_below: 50}\nlogs: []\nescalation: {timeout: 1s, on_timeout: use_answer}\n"
    )
    with desk.opened() as service:
        service.research(QUESTION, **OPTIONS)
        before = desk.report
        service._parts.worker._now = lambda: service.cases.get("E1").since.replace(year=2030)
        assert service.tend().expired == 1
        assert (service.cases.get("E1").status, desk.report) == ("expired", before)
        notes = service.research(QUESTION, **OPTIONS).result.results.degradation_notes
        assert any(note.startswith("not asked again: E1 is expired") for note in notes)


def test_a_rejected_answer_is_not_brought_back_by_a_confirmation(desk):
    """An answer that a reader took out of the knowledge base stays out; a correction makes a new entry."""
    desk.ask()
    pipeline = desk.service.pipeline
    reject(pipeline.components, pipeline.store.entries()[0], "It is about letters.")
    assert (
        desk.decide("confirm").notes[-1]
        == "E1: the answer is not in the knowledge base any more; nothing is noted"
    )
    assert desk.bench.index == []


def test_a_refused_reply_changes_no_report(desk):
    """A reply to an older revision, and one to a decided case, leave the report as it is."""
    desk.ask()
    before = desk.report
    with pytest.raises(Exception, match="there is no E1@7"):
        desk.service.reply("E1", HumanResponse(action="correct", content="x", by="eve", revision=7))
    assert desk.report == before
    desk.decide("confirm")
    before = desk.report
    with pytest.raises(Exception, match="resolved already"):
        desk.decide("correct", "x", by="eve")
    assert desk.report == before


def test_a_decision_by_a_channel_reaches_the_report(desk):
    """What somebody writes on a board becomes the report's text when it is read, once."""
    desk.ask()
    desk.board.write("E1", "correct", "Pass `timeout`.", by="ann")
    assert desk.service.tend().applied == 1
    assert desk.ask().results.summary == "Pass `timeout`. [1]"
    before = desk.report
    desk.service.tend()
    assert desk.report == before
    events = [event for _number, event in desk.service.pipeline.journal.read(0, 1000)]
    (reviewed,) = [event.data for event in events if event.kind == "report.reviewed"]
    assert set(reviewed) == set(get_type_hints(EVENTS["report.reviewed"]))
    assert (reviewed["escalation_id"], reviewed["by"]) == ("E1", "ann")


def test_a_report_that_cannot_be_written_is_written_later(desk):
    """The decision stands and says so; the next look writes the report, also of another process."""
    desk.ask()
    store = desk.service.pipeline.store

    def refuse(*_arguments, **_options):
        raise StorageError("no room", where="kb", hint="make room")

    class Full:
        def __getattr__(self, name):
            return refuse if name == "write" else getattr(store, name)

    with desk.opened(store=Full()) as full:
        said = full.reply("E1", HumanResponse(action="correct", content="Pass `timeout`.", by="ada"))
        assert said.status == "answered"
        assert said.notes[-1] == "E1: its report is not written yet; `kr inbox poll` tries again"
        assert "E1: its report was not written: kb: no room; make room" in full.tend().notes
    desk.service.tend()
    assert desk.ask().results.summary == "Pass `timeout`. [1]"
    assert desk.service.result_of("E1").notes[-1].startswith("the knowledge base has it")


def test_without_a_channel_the_note_says_so(desk):
    """No case is opened, and the answer says why no human was asked."""
    desk.bench.configure("knowledge_research: {escalate_below: 50}\nlogs: []\nescalations: []\n")
    with desk.opened(escalations={}) as service:
        notes = service.research(QUESTION, **OPTIONS).result.results.degradation_notes
    assert any("there is no channel to a human" in note for note in notes)
    assert desk.cases() == []


# -- wherever research is asked for -------------------------------------------------------------------------


@pytest.fixture
def strict(project_folder):
    """A project in which a human is asked about every answer of research."""
    (project_folder / "kr.yaml").write_text("knowledge_research: {escalate_below: 100}\nlogs: []\n")
    return project_folder


def test_kr_research_asks_a_human(strict, kr_here):
    """The command prints its answer and the note, each time; `kr inbox` shows and answers the case, and the next answer is the human's."""
    first, second = (kr_here("research", QUESTION) for _ in range(2))
    assert first.code == second.code == 0
    assert "timeout" in first.out
    for done in (first, second):
        assert "note: asked a human: E1\n" in done.err
    shown = kr_here("inbox", "show", "E1")
    assert "parcel 1.4.0" in shown.out
    assert "kr inbox chat" not in shown.out
    done = kr_here("inbox", "correct", "E1", "Ask", "the", "carrier.", "--by", "ada")
    assert (done.code, "the knowledge base has it" in done.err) == (0, True)
    again = kr_here("research", QUESTION)
    assert "Ask the carrier." in again.out
    assert "asked a human" not in again.err
    report = kr_here("research", QUESTION, "--json").json["results"]["report_path"]
    assert kr_here("verify", report).code == 0
    assert kr_here("log", "--verify").code == 0


def test_a_batch_asks_a_human(strict, kr_here):
    """Each line of a batch says which case it opened; the same question twice opens one."""
    lines = "\n".join(map(json.dumps, [QUESTION, QUESTION, "How do I track a parcel?"]))
    done = kr_here("research", "--batch", "-", input=lines.encode())
    told = [json.loads(line)["results"]["degradation_notes"][-1] for line in done.out.splitlines()]
    assert told[0] == told[1]
    assert {note.partition(": ")[0] for note in told} == {"asked a human"}
    assert len(kr_here("inbox", "list", "--json").json) == 2


def test_the_resident_of_a_team_asks_a_human(bench):
    """What is researched for a team, and what it has in the knowledge base, names the case in its notes."""
    bench.configure("knowledge_research: {escalate_below: 50}\nlogs: []\n")
    query = {
        "query": QUESTION,
        "framework": "parcel",
        "framework_version": "1.4.0",
        "topic": "timeout",
        "tags": ["timeout"],
    }

    async def ask():
        resident = Resident(
            bench.pipeline({"blog": Given(WEAK)}, escalations={"board": Board()}), tell=lambda _line: None
        )
        await resident.start()
        try:
            asked = {"story_key": "3-1", "requesting_agent": "dev", "queries": [query]}
            return [await resident.research(asked) for _ in range(2)]
        finally:
            await resident.shut_down()

    for came in run(ask()):
        assert "asked a human: E1" in came["results"][0]["notes"]


def test_the_tools_of_mcp_ask_a_human(strict, environ):
    """`research` over MCP returns the answer at once with the note, and asks nothing of its client."""
    lines = Lines(strict, environment(environ))
    try:
        came = lines.ask(tool(1, "research", question=QUESTION))
        assert "asked a human: E1" in came["result"]["structuredContent"]["results"]["degradation_notes"]
        assert "asked a human: E1" in came["result"]["content"][0]["text"]
    finally:
        lines.process.kill()
        lines.process.communicate()
