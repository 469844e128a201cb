"""Documents searched by the vectors of a service: `embedder: openai_compatible`, against a server on loopback."""

import io
import json

import pytest
from support.loopback import Answer, Server

from kr_core.cli import main

KEY = "sk-test-" + "a1b2c3d4" * 4


def vector(text):
    """A van is a lorry, a letter is not."""
    return [float("van" in text or "lorry" in text), float("letter" in text), 0.1]


def told(body):
    data = [
        {"object": "embedding", "index": number, "embedding": vector(text)}
        for number, text in enumerate(body["input"])
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}


class Embeddings(Server):
    """As OpenAI's; `change` may change the answer."""

    def __init__(self, change=lambda answer: answer):
        self.bodies = []
        self._change = change
        super().__init__(self._say)

    def _say(self, asked):
        if asked.path != "/v1/embeddings":
            return Answer(404, {"error": {"message": "not found"}})
        self.bodies.append(json.loads(asked.body))
        return self._change(told(self.bodies[-1]))


@pytest.fixture
def serving():
    servers = []

    def serve(change=lambda answer: answer):
        servers.append(Embeddings(change))
        return servers[-1]

    yield serve
    for server in servers:
        server.close()


@pytest.fixture
def kr(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KR_TRUST", "all")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "van.md").write_text(
        "# Van\n\nThe van leaves at nine; token=hunter2secret9 opens it.\n"
    )
    (tmp_path / "docs" / "letter.md").write_text("# Letter\n\nA letter leaves at ten.\n")

    def run(server, *arguments, **settings):
        plugin = {"base_url": f"{server.url}/v1", "model": "vectors-1", **settings}
        configuration = {"embedder": "openai_compatible", "plugins": {"openai_compatible": plugin}}
        (tmp_path / "kr.yaml").write_text(json.dumps(configuration))
        code = main(["docs", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def searched(kr, server, query, **settings):
    """The files found, best first, and what is said beside them."""
    assert kr(server, "index", "docs", **settings)[0] == 0
    code, out, err = kr(server, "search", query, "--json", **settings)
    assert code == 0
    return [hit["path"] for hit in json.loads(out)["hits"]], err


@pytest.mark.req("E6")
def test_what_means_the_same_is_found_by_a_services_vectors(kr, serving):
    """Vectors come back in any order; they are kept; what looks like a secret is not sent."""
    server = serving()
    assert searched(kr, server, "lorry") == (["docs/van.md", "docs/letter.md"], "")
    sent = [text for body in server.bodies for text in body["input"]]
    assert not [text for text in sent if "hunter2" in text]
    assert {(body["model"], body["encoding_format"]) for body in server.bodies} == {("vectors-1", "float")}
    assert "authorization" not in {name.lower() for one in server.asked for name in one.headers}
    server.bodies.clear()
    assert searched(kr, server, "lorry")[0][0] == "docs/van.md"
    assert [body["input"] for body in server.bodies] == [["lorry"]]


class Terminal(io.StringIO):
    """What somebody sees who looks on."""

    def isatty(self):
        return True


@pytest.mark.req("I1")
def test_people_see_how_far_the_vectors_are(kr, serving, tmp_path, monkeypatch):
    """A few passages at a time; the line is gone before an answer is shown, and where nobody looks on nothing is said."""
    server = serving()
    for number in range(23):
        (tmp_path / "docs" / f"{number}.md").write_text(f"# Van {number}\n\nVan {number} leaves at ten.\n")
    assert kr(server, "index", "docs")[0] == 0
    with monkeypatch.context() as context:
        context.setattr("sys.stderr", seen := Terminal())
        assert kr(server, "search", "van")[0] == 0
    assert seen.getvalue() == "".join(
        [f"\rmaking vectors, {done} of 25" for done in (0, 10, 20)] + ["\r\x1b[2K"]
    )
    assert [len(body["input"]) for body in server.bodies] == [1, 10, 10, 5]
    (tmp_path / "docs" / "new.md").write_text("# New\n\nNo van.\n")
    kr(server, "index")
    server.bodies.clear()
    assert kr(server, "search", "van")[2] == ""
    assert [len(body["input"]) for body in server.bodies] == [1, 1]


def test_vectors_have_a_model_of_their_own(kr, serving):
    """Where the same entry serves agents."""
    server = serving()
    assert searched(kr, server, "lorry", embedding_model="vectors-2")[0][0] == "docs/van.md"
    assert {body["model"] for body in server.bodies} == {"vectors-2"}


@pytest.mark.req("Z4")
def test_a_key_goes_only_where_it_was_allowed_to(kr, serving, monkeypatch):
    """Before `kr trust`, nothing is sent."""
    monkeypatch.setenv("VECTORS_KEY", KEY)
    monkeypatch.delenv("KR_TRUST", raising=False)
    server = serving()
    code, _out, err = kr(server, "index", "docs", api_key={"env": "VECTORS_KEY"})
    code, _out, err = kr(server, "search", "van", api_key={"env": "VECTORS_KEY"})
    assert server.asked == []
    assert "kr trust" in err, (code, err)


@pytest.mark.req("Z8", "R19")
def test_documents_go_nowhere_before_the_file_is_trusted(kr, serving, monkeypatch, capsys):
    """A project that came from elsewhere would have the user's code sent to its own address, with no key at all."""
    monkeypatch.delenv("KR_TRUST")
    server = serving()
    paths, err = searched(kr, server, "van")
    assert (paths, server.asked) == (["docs/van.md"], [])
    assert (
        f"`plugins.openai_compatible.base_url` sends the text of indexed documents to `{server.url}/v1`"
        in err
    )
    assert "`kr trust`" in err
    assert "words alone were searched" in err
    assert main(["doctor"]) == 2
    assert "sends the text of indexed documents" in capsys.readouterr().out
    assert main(["trust"]) == 0
    assert "base_url sends the text of indexed documents" in capsys.readouterr().out
    assert searched(kr, server, "van") == (["docs/van.md", "docs/letter.md"], "")


def without_last(answer):
    return {**answer, "data": answer["data"][:-1] if len(answer["data"]) > 1 else []}


def with_values(values):
    return lambda answer: {**answer, "data": [{**one, "embedding": values} for one in answer["data"]]}


def of_changing_length(answer):
    data = [{**one, "embedding": [1.0] * (2 + len(answer["data"]) % 2 + number)} for number, one in enumerate(answer["data"])]  # fmt: skip
    return {**answer, "data": data}


@pytest.mark.req("E6")
@pytest.mark.parametrize(
    "change",
    [
        without_last,
        of_changing_length,
        with_values([float("nan"), 1.0, 2.0]),
        with_values([]),
        with_values(["one", "two"]),
        with_values("AAAA"),
        lambda answer: {**answer, "data": [{**one, "index": 7} for one in answer["data"]]},
        lambda answer: {**answer, "data": None},
        lambda _answer: Answer(200, "<html>", {"Content-Type": "text/html"}),
        lambda _answer: Answer(
            400, {"error": {"message": "input is too long", "type": "invalid_request_error"}}
        ),
        lambda _answer: Answer(401, {"error": {"message": "wrong key"}}),
        lambda _answer: Answer(reset=True),
    ],
)
def test_whatever_a_service_answers_words_are_searched(kr, serving, change):
    """With a note that says what was wrong."""
    found, err = searched(kr, serving(change), "van leaves")
    assert found[0] == "docs/van.md"
    assert "note: embedder: " in err
    assert "words alone were searched" in err


def test_the_official_client_reads_the_same_server(serving):
    """So that the server above is one that a real client knows."""
    import openai  # which takes half a second, in each process that collects the tests

    client = openai.OpenAI(base_url=f"{serving().url}/v1", api_key="key", max_retries=0)
    made = client.embeddings.create(model="vectors-1", input=["a van", "a letter"], encoding_format="float")
    assert {one.index: one.embedding for one in made.data} == {0: vector("a van"), 1: vector("a letter")}
    client.close()
