"""The contract class of each right plugin; its mutants are tried with the same."""

from typing import ClassVar

import httpx

from kr_core import Question
from kr_core.testing import (
    AgentContract,
    EmbedderContract,
    EscalationContract,
    JournalContract,
    LogContract,
    LookupContract,
    RendererContract,
    RouterContract,
    RuntimeContract,
    ScorerContract,
    SourceContract,
    StoreContract,
)


class SourceTwin(SourceContract):
    module = "right_source"
    known = "How do I set the timeout of a parcel?"
    unknown = "What is the airspeed of a swallow?"

    def prepare(self, project):
        lines = "A parcel has a timeout of five seconds.\nA letter has none.\n"
        (project / "lines.txt").write_text(lines, "utf-8")


class ExternalSourceTwin(SourceContract):
    module = "right_external_source"
    known = "How do I set the timeout of a parcel?"
    unknown = "What is the airspeed of a swallow?"

    def prepare(self, project):
        (project / "uv.lock").write_text("version = 1\n", "utf-8")  # beside what it reads, which is elsewhere

    def respond(self, request):
        hit = {"text": "A parcel has a timeout of five seconds.", "url": "https://docs.example/parcel"}
        return httpx.Response(200, json={"hits": [hit] if "parcel" in request.url.params["q"] else []})


class CommandSourceTwin(SourceTwin):
    module = "right_command_source:plugin"
    settings: ClassVar = {"glob": "*.txt"}


class StoreTwin(StoreContract):
    module = "right_store"


class JournalTwin(JournalContract):
    module = "right_journal"


class LogTwin(LogContract):
    module = "right_log"


class PartialLogTwin(LogContract):
    module = "right_partial_log"
    kinds = ("run.*", "source.failed")


class LookupTwin(LookupContract):
    module = "right_lookup"


class ScorerTwin(ScorerContract):
    module = "right_scorer"


class RendererTwin(RendererContract):
    module = "right_renderer"


class EmbedderTwin(EmbedderContract):
    module = "right_embedder"


class RouterTwin(RouterContract):
    module = "right_router"
    settings: ClassVar = {"words": {"session": "architect", "price": "human"}}
    known = Question(text="Which session store should we use?")


class AgentTwin(AgentContract):
    module = "right_agent"
    settings: ClassVar = {"api_key": "key-of-a-test"}

    def respond(self, request):
        return httpx.Response(200, json={"text": '{"answer": "Redis."}', "tokens": 12})


class EscalationTwin(EscalationContract):
    module = "right_escalation"

    def answer(self, project, case, text):
        folder = project / ".kr" / "cases"
        number = len(list(folder.glob("*.reply")))
        (folder / f"{number}.reply").write_text(text, "utf-8")


class RuntimeTwin(RuntimeContract):
    module = "right_runtime"


TWINS = {
    "source": SourceTwin,
    "external_source": ExternalSourceTwin,
    "store": StoreTwin,
    "journal": JournalTwin,
    "log": LogTwin,
    "lookup": LookupTwin,
    "scorer": ScorerTwin,
    "renderer": RendererTwin,
    "embedder": EmbedderTwin,
    "agent": AgentTwin,
    "router": RouterTwin,
    "escalation": EscalationTwin,
    "runtime": RuntimeTwin,
}
