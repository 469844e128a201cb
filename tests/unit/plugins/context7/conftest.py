"""Context7 on loopback, and the source asked as the engine asks it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.loopback import Answer, Server

from kr_core.net.shared_resources import SharedResources
from kr_core.net.source_context import ConsultationContext
from kr_core.plugin import ResearchQuery
from kr_core.project.project import LocalProject
from kr_plugins.sources.context7 import Context7

QUESTION = "How do I set the row height?"


class Backend:
    """A service whose answers a test gives: `libraries` and `context` are bodies, answers, or functions of what is asked."""

    libraries: Any
    context: Any

    def __init__(self):
        self.server = Server(self._answer)
        self.reset()

    def reset(self):
        """Answer well again, and forget what was asked."""
        self.libraries = {"results": [library()], "searchFilterApplied": False}
        self.context = {"codeSnippets": [code_snippet()], "infoSnippets": [info_snippet()]}
        self.server.asked.clear()

    @property
    def searches(self):
        """The names that were looked for."""
        return [
            asked.query["libraryName"][0]
            for asked in self.server.asked
            if asked.path == "/api/v2/libs/search"
        ]

    @property
    def places(self):
        """What documentation was asked for."""
        return [asked.query["libraryId"][0] for asked in self.server.asked if asked.path == "/api/v2/context"]

    def _answer(self, asked):
        given = {"/api/v2/libs/search": self.libraries, "/api/v2/context": self.context}[asked.path]
        given = given(asked) if callable(given) else given
        return given if isinstance(given, Answer) else Answer(200, given)


def library(name="/acme/widget", **values):
    return {
        "id": name, "title": "Widget", "description": "Tables.", "branch": "main", "state": "finalized", "totalTokens": 81234,
        "totalSnippets": 412, "stars": 9021, "trustScore": 9, "benchmarkScore": 87.5, "versions": ["v3.1.0", "v2.9.4"], **values,
    }  # fmt: skip


def code_snippet(**values):
    return {
        "codeTitle": "Set the row height", "codeLanguage": "ts", "codeTokens": 80, "pageTitle": "Rows", "isDynamic": False,
        "codeDescription": "Set the height of all rows with the `rowHeight` option.",
        "codeId": "https://github.com/acme/widget/blob/main/docs/rows.md#_snippet_0",
        "codeList": [{"language": "ts", "code": "new Widget(element, {\n  rowHeight: 40,\n});"}], **values,
    }  # fmt: skip


def info_snippet(**values):
    return {
        "pageId": "https://github.com/acme/widget/blob/main/docs/rows.md", "breadcrumb": "Guide > Rows", "contentTokens": 120,
        "content": "A row has a fixed height of 32 pixels, unless you set another height.", **values,
    }  # fmt: skip


def refusal(status, code, message="No.", headers=None, **more):
    return Answer(status, {"error": code, "message": message, **more}, headers or {})


@pytest.fixture
def backend():
    made = Backend()
    yield made
    made.server.close()


@pytest.fixture
def ask(tmp_path, backend):
    """Ask the source one question; what it remembers lasts as long as the test."""

    def ask(question=QUESTION, framework="widget", version="latest", seconds=10.0, key="", base_url=None):
        async def asked():
            outside = SharedResources(tmp_path / "answers")
            deadline = asyncio.get_running_loop().time() + seconds
            project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
            context = ConsultationContext(project, lambda _kind, _data: None, deadline, outside, "context7")
            query = ResearchQuery(
                framework=framework, framework_version=version, topic="row height", tags=(), question=question
            )
            try:
                source = Context7(base_url or f"{backend.server.url}/api", key)
                return await source.query(query, context)
            finally:
                await context.close()
                outside.close()

        return asyncio.run(asked())

    return ask
