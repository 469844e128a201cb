"""A project on PostgreSQL: moved there and back with everything kept, and shared by machines, each with a folder of its own."""

import asyncio
import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.asked import Says, said
from support.postgres_server import postgres_server
from support.projects import DAY, QUESTION, Bench, Given, found

from kr_core import HumanResponse, KnowledgeRouterService, Pipeline, Question
from kr_core.config import load
from kr_core.project.project import LocalProject

pytestmark = pytest.mark.req("S3")


TOPICS = ("timeout", "retries", "insurance", "labels", "tracking")


@pytest.fixture(scope="module")
def server():
    return postgres_server()


@pytest.fixture
def shared(server):
    """The configuration of a project in the database."""
    return {
        "store": "postgres",
        "journal": "postgres",
        "plugins": {"postgres": server.settings()},
    }


@pytest.fixture
def machine(tmp_path, shared):
    """Opens a pipeline as another machine does: the same configuration, a folder of its own."""
    made = []

    def open_it(name, source, **components):
        folder = tmp_path / name / "shop"
        folder.mkdir(parents=True)
        (folder / "kr.yaml").write_text(json.dumps(shared))
        config = load(folder, environ={"KR_CACHE_DIR": str(tmp_path / name / "cache"), "KR_TRUST": "all"})
        project = LocalProject(config.root, folder, {}, own_prefix=None)
        made.append(
            Pipeline(config, project=project, sources={"docs": source}, today=lambda: DAY, **components)
        )
        return made[-1]

    yield open_it
    for one in made:
        one.close()


def ask(pipeline, **query):
    return pipeline.research(pipeline.read_request(Bench.request(**query))).result


def ask_about(pipeline, topic):
    return ask(pipeline, topic=topic, tags=[topic])


def test_what_one_machine_found_another_serves(machine):
    """The sources of the second are not asked."""
    here, there = Given(found()), Given(found())
    one, other = machine("a", here), machine("b", there)
    assert ask(one).status == "success"
    again = ask(other, session="s2")
    assert (again.status, there.asked) == ("cache-hit", 0)
    assert [entry.id for entry in other.store.entries()] == ["parcel-timeout-of-a-parcel"]
    assert not one.journal.verify()


def test_the_same_question_is_researched_once_by_all_machines(machine):
    """Two machines ask at once: one of them asks its sources, and the other waits for it."""

    async def slowly(_query, _context):
        await asyncio.sleep(0.5)
        return found()

    sources = [Given(slowly), Given(slowly)]
    pipelines = [machine(name, source) for name, source in zip("ab", sources, strict=True)]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(ask, pipelines))
    assert sum(source.asked for source in sources) == 1
    assert sorted(one.status for one in answers) == ["cache-hit", "success"]


def test_a_budget_is_shared(machine):
    """A story has three calls on all machines together."""
    sources = [Given(found(), external=True), Given(found(), external=True)]
    pipelines = [machine(name, source) for name, source in zip("ab", sources, strict=True)]
    for number, topic in enumerate(TOPICS):
        ask_about(pipelines[number % 2], topic)
    assert sum(source.asked for source in sources) == 3


def test_each_machine_has_the_whole_log(machine):
    """`log.jsonl` is a file of each machine: every event is in each, once and in order."""
    pipelines = [machine(name, Given(found())) for name in "ab"]
    for number, topic in enumerate(TOPICS[:4]):
        ask_about(pipelines[number % 2], topic)
        pipelines[number % 2].deliver_logs()
    for pipeline in pipelines:
        pipeline.deliver_logs()
        lines = (pipeline.config.state_folder / "log.jsonl").read_text().splitlines()
        numbers = [json.loads(line)["number"] for line in lines]
        assert numbers == [number for number, _ in pipeline.journal.read(0, 1000)]


@pytest.mark.req("H7")
def test_any_machine_takes_the_reply(machine):
    """A question that waits for a human on one machine is answered on another, and the first sees it."""
    services = [
        KnowledgeRouterService(machine(name, Given(found()), agents={"duc": Says(said(confidence=10))}))
        for name in "ab"
    ]
    question = Question(id="Q1", text="Which session store?", suggested_target="duc")
    waiting = services[0].ask(question)
    assert waiting.status == "escalated"
    services[1].reply(waiting.escalation.id, HumanResponse(action="correct", content="Redis.", by="ann"))
    assert services[0].result_of(waiting.escalation.id).answer.content == "Redis."
    for one in services:
        one.close()


@pytest.mark.req("G2", "K12")
def test_there_and_back_everything_stays(kr_here, project_folder, shared, tmp_path):
    """Reports, log entries, cases, budgets and noted facts go from files and SQLite to PostgreSQL, and from there to files again."""
    local = json.dumps({"knowledge_research": {"sources": ["installed_docs"]}})
    remote = json.dumps({**json.loads(local), **shared})

    def kr(*arguments, folder=project_folder, code=0):
        done = kr_here(*arguments, cwd=folder)
        assert done.code == code, done.out + done.err
        return done.out

    (project_folder / "kr.yaml").write_text(local)
    kr("research", QUESTION)
    kr("ask", "Which session store should we use?", "--topic", "authentication", code=5)
    kr(
        "expedition",
        "run",
        "How do I set the timeout for a parcel, and what does None mean?",
        "--max-cycles",
        "2",
    )
    shown = [
        ("cache", "list", "--json"),
        ("log", "--json"),
        ("inbox", "show", "E1", "--json"),
        ("expedition", "list"),
        ("expedition", "show", "X1"),
    ]
    before = [kr(*one) for one in shown]
    kr("journal", "export", "../record.jsonl")
    kr("cache", "export", "../knowledge")

    (project_folder / "kr.yaml").write_text(remote)
    kr("cache", "import", "../knowledge")
    kr("journal", "import", "../record.jsonl")
    assert "all in order" in kr("log", "--verify")
    shutil.rmtree(project_folder / "knowledge-base")
    assert [kr(*one) for one in shown] == before
    (entry,) = json.loads(before[0])
    assert "timeout" in kr("cache", "show", entry["id"])
    assert "verified" in kr("verify", entry["id"])
    kr("inbox", "correct", "E1", "Redis.")
    kr("journal", "export", "../back.jsonl")
    kr("cache", "export", "knowledge-base")

    (project_folder / "kr.yaml").write_text(local)
    (project_folder / ".kr").rename(tmp_path / "old-state")
    kr("journal", "import", "../back.jsonl")
    assert "all in order" in kr("log", "--verify")
    assert json.loads(kr("cache", "list", "--json")) == [entry]
    assert kr("log", "--json").startswith(before[1])
    assert [kr(*one) for one in shown[3:]] == before[3:]
    assert "**Answered** by" in kr("inbox", "show", "E1")
    assert "From the knowledge base" in kr("research", QUESTION)


def test_an_export_that_was_cut_off_is_not_imported(kr_here, project_folder, shared):
    """Of the knowledge base, of which a mark stays; and of the record, whose end is missing."""
    (project_folder / "kr.yaml").write_text(json.dumps(shared))
    folder = project_folder / "knowledge"
    folder.mkdir()
    (folder / "index.yaml").write_text("schema_version: 1\nentries: []\n")
    (folder / "_export-unfinished").write_text("")
    done = kr_here("cache", "import", "knowledge", cwd=project_folder)
    assert done.code == 1
    assert "was cut off" in done.err
    kr_here("journal", "export", "record.jsonl", cwd=project_folder)
    record = project_folder / "record.jsonl"
    record.write_bytes(record.read_bytes()[:-20])
    done = kr_here("journal", "import", "record.jsonl", cwd=project_folder)
    assert done.code == 1
    assert "was cut off" in done.err
    assert "nothing was imported" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("cache", "import", "nowhere"), "has no index.yaml"),
        (("cache", "export", "knowledge-base"), "is the knowledge base itself"),
        (("journal", "import", "nowhere"), "cannot be read"),
        (("journal", "export", "no/where"), "cannot be written"),
    ],
)
def test_a_wrong_place_is_named(kr_here, project_folder, arguments, said):
    done = kr_here(*arguments, cwd=project_folder)
    assert done.code in {1, 2}
    assert said in done.err


def test_doctor_says_where_things_are(kr_here, project_folder, shared):
    (project_folder / "kr.yaml").write_text(json.dumps(shared))
    out = kr_here("doctor", cwd=project_folder).out
    assert out.count("in PostgreSQL 127.0.0.1:") == 2
