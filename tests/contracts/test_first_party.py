"""The plugins that come with KR keep to the contracts, by the same door as anybody's."""

import io
import json
import sys
from typing import ClassVar

import httpx
import pytest
from mcp.server import MCPServer
from support.collector import collecting
from support.github_server import REPOSITORY, TOKEN, github_server
from support.inbox_page import OnPage
from support.loopback import Server
from support.model_files import make_model
from support.model_server import ANSWER
from support.postgres_server import postgres_server
from support.projects import PARCEL, QUESTION, install, make_environment
from support.projects import TEXT as HANDBOOK
from support.services import INFO, LIBRARY, SNIPPET
from support.webpages import SEARCH, Web

from kr_core import Passage, Question, ResearchResult
from kr_core.escalation.page_url import present
from kr_core.expedition.facts.axiom import of_quote
from kr_core.plugin import Settings
from kr_core.search.documents.indexer import update
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.testing import (
    AgentContract,
    EmbedderContract,
    EscalationContract,
    HookContract,
    JournalContract,
    LogContract,
    LookupContract,
    RendererContract,
    RouterContract,
    RuntimeContract,
    ScorerContract,
    SourceContract,
    StoreContract,
    surroundings,
)
from kr_core.toolkit import AxiomStore
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

pytestmark = pytest.mark.req("P1", "P4")

URL = "http://127.0.0.1:8420"


class TestFiles(StoreContract):
    module = "kr_plugins.stores.files"


class TestInstalledDocs(SourceContract):
    module = "kr_plugins.sources.installed_docs"
    framework = "parcel"
    known = QUESTION
    unknown = "What is the airspeed of a swallow?"

    def prepare(self, project):
        install(make_environment(project), "parcel", "1.4.0", {"parcel/__init__.py": PARCEL})


class TestContext7(SourceContract):
    module = "kr_plugins.sources.context7"
    framework = "parcel"
    known = QUESTION
    unknown = "What is the airspeed of a swallow?"

    def respond(self, request):
        if request.url.path == "/api/v2/libs/search":
            return httpx.Response(200, json={"results": [LIBRARY]})
        return httpx.Response(200, json={"codeSnippets": [SNIPPET], "infoSnippets": [INFO]})


class TestWebSearch(SourceContract):
    module = "kr_plugins.sources.web_search"
    settings: ClassVar = {"url": SEARCH}
    framework = "parcel"
    known = QUESTION
    unknown = "Which carrier of a parcel sings the loudest songs?"

    def respond(self, request):
        return Web().respond(request)


class TestAxioms(SourceContract):
    module = "kr_plugins.sources.axioms"
    framework = "parcel"
    known = QUESTION
    unknown = "What is the airspeed of a swallow?"

    def prepare(self, project):
        journal = SQLite(project / ".kr")
        told = Passage(
            text="The timeout of a parcel is set by `timeout`.",
            url="https://docs.example/parcel",
            title="Timeouts",
        )
        AxiomStore(journal).keep([of_quote(told, told.text, "web_search")], [told])
        journal.close()


class TestLocalDocs(SourceContract):
    module = "kr_plugins.sources.local_docs"
    framework = "parcel"
    known = QUESTION
    unknown = "What is the airspeed of a swallow?"

    def prepare(self, project):
        (project / "handbook.md").write_text(f"# Parcels\n\n## Timeouts\n\n{HANDBOOK}", "utf-8")
        store = DocumentStore(project / ".kr" / FILE_NAME, writable=True)
        update(store, project / "handbook.md", "handbook")
        store.close()


class TestMiniLM(EmbedderContract):
    module = "kr_plugins.embedders.minilm"
    settings: ClassVar = {"folder": "model"}

    def prepare(self, project):
        make_model(project / "model")


def counted(text):
    """A text as the counts of its words, by their first letters."""
    vector = [0.1] * 27
    for word in text.lower().split():
        vector[max(0, ord(word[0]) - 96) if word[0].isascii() and word[0].isalpha() else 0] += 1.0
    return vector


class TestOpenAICompatibleEmbedder(EmbedderContract):
    module = "kr_plugins.agents.openai_compatible"
    settings: ClassVar = {"base_url": "http://127.0.0.1:9/v1", "embedding_model": "vectors-1"}

    @pytest.fixture(autouse=True)
    def served(self):
        self.server = Server(self.respond)
        yield
        self.server.close()

    def respond(self, asked):
        texts = json.loads(asked.body)["input"]
        return {"data": [{"index": number, "embedding": counted(text)} for number, text in enumerate(texts)]}

    def build(self, project):
        settings = {**self.settings, "base_url": f"{self.server.url}/v1"}
        return surroundings.build(self.module, self.noun, settings, project)


class TestMatch(LookupContract):
    module = "kr_plugins.lookups.match"


class TestEvidence(ScorerContract):
    module = "kr_plugins.scorers.evidence"


class Seen(io.StringIO):
    """A terminal, as far as a channel can tell; what is shown stays."""

    def isatty(self):
        return True


class TestTerminal(EscalationContract):
    module = "kr_plugins.escalations.stdout"
    replies = False

    @pytest.fixture(autouse=True)
    def terminal(self, monkeypatch):
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.delenv("NO_COLOR", raising=False)
        self.patch = monkeypatch
        self.shown = Seen()

    def build(self, project):
        self.patch.setattr(sys, "stderr", self.shown)  # not earlier: pytest sets its own when the test begins
        return super().build(project)

    def seen(self, project):
        return self.shown.getvalue()


class TestGitHub(EscalationContract):
    module = "kr_plugins.escalations.github"
    settings: ClassVar = {"repository": REPOSITORY, "token": TOKEN}

    @pytest.fixture(autouse=True)
    def _github(self):
        with github_server() as self.github:
            self.github.permissions["ann"] = "write"
            yield

    def respond(self, request):
        return self.github.respond(request)

    def seen(self, project):
        return "\n".join(one["body"] for one in self.github.of_kr())

    def answer(self, project, case, text):
        self.github.write("ann", 1, text)


class TestPage(EscalationContract):
    module = "kr_plugins.escalations.web"
    replies = False

    @pytest.fixture(autouse=True)
    def _served(self, project):
        with present(project / ".kr", URL):
            yield

    def build(self, project):
        self.page = OnPage(super().build(project), project, URL)
        return self.page

    def seen(self, project):
        return self.page.text()


class TestRules(RouterContract):
    module = "kr_plugins.routers.rules"
    known = Question(text="Which session store should we use?", topic="authentication")


class TestMarkdown(RendererContract):
    module = "kr_plugins.renderers.markdown"


class TestOtel(LogContract):
    """A span that comes twice is the same span, as whoever receives it can tell."""

    module = "kr_plugins.logs.otel"
    about: ClassVar = {"exchange_id": "e1"}

    @pytest.fixture(autouse=True)
    def _collector(self, monkeypatch):
        with collecting() as self.collector:
            monkeypatch.setattr(type(self), "settings", {"endpoint": self.collector.url})
            yield

    def kept(self, project, kinds):
        names = {span.span_id: span.name for span in self.collector.spans()}
        return [name for name in names.values() if name in set(kinds)]


class TestSQLite(JournalContract):
    module = "kr_plugins.journals.sqlite"


def in_own_project(self, monkeypatch):
    """A project of the test's own in the server of all tests."""
    self.server = postgres_server()
    monkeypatch.setattr(type(self), "settings", self.server.settings())


class TestPostgresStore(StoreContract):
    module = "kr_plugins.postgres"
    _in_own_project = pytest.fixture(autouse=True)(in_own_project)

    def prepare(self, project):
        self.server.forget(self.settings["project"])


class TestPostgresJournal(JournalContract):
    module = "kr_plugins.postgres"
    _in_own_project = pytest.fixture(autouse=True)(in_own_project)

    def alter(self, project, old, new):
        changed = f"replace(data, '{old.decode()}', '{new.decode()}')"
        self.server.sql(f"UPDATE kr.events SET data = {changed}")


class TestProcrastinate(RuntimeContract):
    module = "kr_plugins.runtimes.procrastinate"

    @pytest.fixture(autouse=True)
    def _shared(self):
        self.journals = []
        self.shared = postgres_server().settings()
        yield
        for journal in self.journals:
            journal.close()

    def build(self, project):
        """Beside the journal in the database."""

        def journal():
            self.journals.append(surroundings.build("kr_plugins.postgres", "journal", self.shared, project))
            return self.journals[-1]

        setup = surroundings.setup_for(project, "procrastinate")._replace(journal=journal)
        return surroundings.provider_of(self.module, self.noun).build(Settings(), setup)


class TestJSONLines(LogContract):
    module = "kr_plugins.logs.jsonl"


PARCELS = """\
Pass `timeout` to `send` to set the timeout for a parcel.

## Example

```python
send("Paris", timeout=2.0)
```
"""


def parcels_server():
    """A server that knows about the timeouts of parcels, and says of anything else that it found nothing."""
    server = MCPServer("parcels", log_level="CRITICAL")

    @server.tool()
    def ask_question(question: str, repoName: str = "") -> str:
        """Answer a question."""
        return PARCELS if "parcel" in question else "No documentation found for this question."

    return server


class TestMCP(SourceContract):
    module = "kr_plugins.sources.mcp"
    settings: ClassVar = {
        "url": "https://mcp.example/mcp",
        "tool": "ask_question",
        "arguments": {"question": "{question}"},
    }
    known = QUESTION
    unknown = "What is the airspeed of a swallow?"
    mcp_server = parcels_server()


ANSWERING = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    method, params = asked["method"], asked.get("params", {})
    said = {"jsonrpc": "2.0", "id": asked.get("id")}
    if method == "initialize":
        said["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    elif method == "tools/list":
        said["result"] = {"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        text = PARCELS if "parcel" in params["arguments"]["question"] else "Nothing was found."
        said["result"] = {"content": [{"type": "text", "text": text}]}
    else:
        said["error"] = {"code": -32601, "message": "unknown"}
    if "id" in asked:
        print(json.dumps(said), flush=True)
""".replace("PARCELS", repr(PARCELS))
"""A server in plain Python, of the protocol of 2025: it starts in a few hundredths of a second."""


class TestMCPProgram(SourceContract):
    module = "kr_plugins.sources.mcp"
    settings: ClassVar = {
        "command": [sys.executable, "-I", "-S", "-c", ANSWERING],
        "tool": "ask",
        "arguments": {"question": "{question}"},
    }
    known = QUESTION
    unknown = "What is the airspeed of a swallow?"

    test_a_network_fault_is_no_answer = None
    """A program is reached without the network."""


class TestDeepWiki(SourceContract):
    module = "kr_plugins.sources.deepwiki"
    framework = "example/parcel"
    known = QUESTION
    unknown = "What is the airspeed of a swallow?"
    mcp_server = parcels_server()


KEY = "sk-test-a1b2c3d4e5f6a7b8"
SLEEPING = {"command": [sys.executable, "-I", "-S", "-c", "import time; time.sleep(3600)"]}


class TestOpenAICompatible(AgentContract):
    module = "kr_plugins.agents.openai_compatible"
    settings: ClassVar = {"api_key": KEY, "model": "scripted-1"}

    def respond(self, request):
        message = {"role": "assistant", "content": json.dumps(ANSWER)}
        return httpx.Response(200, json={"choices": [{"message": message, "finish_reason": "stop"}]})


class TestAnthropic(AgentContract):
    module = "kr_plugins.agents.anthropic"
    settings: ClassVar = {"api_key": KEY, "model": "scripted-1"}

    def respond(self, request):
        content = [{"type": "text", "text": json.dumps(ANSWER)}]
        return httpx.Response(200, json={"content": content, "stop_reason": "end_turn"})


class TestOllama(AgentContract):
    module = "kr_plugins.agents.ollama"
    settings: ClassVar = {"model": "scripted-1"}

    def respond(self, request):
        return httpx.Response(200, json={"message": {"content": json.dumps(ANSWER)}, "prompt_eval_count": 50})


class TestClaudeCLI(AgentContract):
    """The real program has tests of its own; this one says at once what that says."""

    module = "kr_plugins.agents.claude_cli"
    settings: ClassVar = {
        "command": [
            sys.executable, "-I", "-S", "-c",
            f"print({json.dumps({'type': 'result', 'is_error': False, 'structured_output': ANSWER})!r})",
        ],
        "api_key": KEY,
    }  # fmt: skip
    hanging: ClassVar = SLEEPING


class TestCommand(AgentContract):
    module = "kr_plugins.agents.command"
    settings: ClassVar = {
        "argv": [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys; sys.stdin.read(); print({json.dumps(ANSWER)!r})",
        ],
        "environment": {"API_KEY": KEY},
    }
    hanging: ClassVar = {"argv": SLEEPING["command"]}


class TestResearch(AgentContract):
    module = "kr_plugins.agents.research"

    async def research(self, question, **options):
        cited = {
            "n": 1,
            "source": "docs",
            "url": "https://docs.example/redis",
            "locator": "",
            "quote": "Use Redis.",
        }
        results = {"summary": "Use Redis. [1]", "score": 82, "confidence": "high", "citations": [cited]}
        return ResearchResult(status="success", story_key="ask", session_id="s", results=results)


class TestDeprecation(HookContract):
    module = "kr_plugins.hooks.deprecation_note"
