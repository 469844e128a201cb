"""The plugins that come with KR keep to the contracts, by the same door as anybody's."""

import httpx
import pytest
from services import INFO, LIBRARY, SNIPPET
from support import PARCEL, QUESTION, install, make_environment

from kr_core.testing import (
    JournalContract,
    LogContract,
    RendererContract,
    ScorerContract,
    SourceContract,
    StoreContract,
)

pytestmark = pytest.mark.req("P1", "P4")


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


class TestEvidence(ScorerContract):
    module = "kr_plugins.scorers.evidence"


class TestMarkdown(RendererContract):
    module = "kr_plugins.renderers.markdown"


class TestSQLite(JournalContract):
    module = "kr_plugins.journals.sqlite"


class TestJSONLines(LogContract):
    module = "kr_plugins.logs.jsonl"
