"""KR's contract for sources, for a server and, where ChromaDB is installed, for a folder."""

import shutil
from typing import ClassVar

import pytest
from chromas import KNOWN, UNKNOWN, Answers

from kr_core.testing import SourceContract


class TestServer(SourceContract):
    module = "kr_source_chroma"
    settings: ClassVar = {"url": "http://chroma.example:8000", "collection": "handbook"}
    known = KNOWN
    unknown = UNKNOWN

    def respond(self, request):
        return Answers()(request)


@pytest.mark.usefixtures("chromadb")
class TestFolder(SourceContract):
    module = "kr_source_chroma"
    settings: ClassVar = {"folder": "data/chroma", "collection": "handbook"}
    known = KNOWN
    unknown = UNKNOWN

    @pytest.fixture(autouse=True)
    def _filled(self, filled):
        type(self).from_ = filled

    def prepare(self, project):
        shutil.copytree(self.from_, project / "data/chroma")
