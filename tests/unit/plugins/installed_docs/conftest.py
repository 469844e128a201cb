"""Small packages written as files, and what is made of them."""

import asyncio
import json
import textwrap
from datetime import date
from pathlib import Path

import pytest
from support.source_context import SourceContext

from kr_core.evidence.verification import verify
from kr_core.model import Attribution, Report, ResearchQuery
from kr_core.project.project import LocalProject
from kr_core.research.report import draft_of, evidence_of, summary_text, told_with_doubt
from kr_plugins.renderers.markdown import Markdown
from kr_plugins.scorers.evidence import Evidence
from kr_plugins.sources.installed_docs import InstalledDocs
from kr_plugins.sources.installed_docs.package_index import python_files
from kr_plugins.sources.installed_docs.python.module_parser import read_module
from kr_plugins.sources.installed_docs.python.module_passages import make
from kr_plugins.sources.installed_docs.python.public_names import PublicNames
from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget


def write(folder, files):
    """Write files, their text dedented."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            (folder / path).write_bytes(content)
        else:
            (folder / path).write_text(textwrap.dedent(content), encoding="utf-8", newline="")


class Package:
    """The package `box`, written into a folder and read."""

    def __init__(self, folder: Path, files):
        self.folder = folder
        write(folder, {f"box/{path}": content for path, content in files.items()})
        self.modules = {
            name: read_module(file, name, file.relative_to(folder).as_posix())
            for file, name in python_files(folder / "box", "box")
        }
        self.names = PublicNames(self.modules, ["box"])
        self.passages = make(self.modules, self.names, ReadingBudget())

    def definition(self, name):
        module = max((one for one in self.modules if name.startswith(f"{one}.")), key=len)
        return self.modules[module].definitions[name.removeprefix(f"{module}.")]

    def name(self, where):
        return self.names.of(self.definition(where)).name

    def passage(self, title):
        return next(one for one in self.passages if one.title == title)

    @property
    def titles(self):
        return [passage.title for passage in self.passages]


@pytest.fixture
def package(tmp_path):
    """Writes and reads the package `box`."""
    return lambda files: Package(tmp_path, files)


@pytest.fixture
def read(tmp_path):
    """Reads one module."""

    def reading(content, name="box", file="box.py"):
        write(tmp_path, {file: content})
        return read_module(tmp_path / file, name, file)

    return reading


@pytest.fixture
def site(tmp_path):
    """The site-packages of the project in the temporary folder."""
    folder = tmp_path / ".venv/lib/python3.12/site-packages"
    folder.mkdir(parents=True)
    (tmp_path / ".venv/pyvenv.cfg").write_text(f"home = {tmp_path}/nowhere\nversion_info = 3.12.4\n")
    return folder


@pytest.fixture
def install(site):
    """Installs a distribution: files, and metadata with the files' names."""

    def installing(name, files, version="1.2.0", readme="", record=None):
        write(site, files)
        folder = site / f"{name}-{version}.dist-info"
        folder.mkdir(exist_ok=True)
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + (f"\n{readme}" if readme else "")
        )
        listed = [*files, f"{folder.name}/METADATA"] if record is None else record
        (folder / "RECORD").write_text("".join(f"{path},,\n" for path in listed))
        return folder

    return installing


@pytest.fixture
def project(tmp_path):
    """Opens the project in the temporary folder, without KR's own environment."""
    return lambda: LocalProject(tmp_path, tmp_path, {}, own_prefix=None)


@pytest.fixture
def ask_about(tmp_path, project):
    """Asks about a package: the answer as a reader sees it, and its level."""

    def asking(framework, question, *names):
        query = ResearchQuery(
            framework=framework, framework_version="1.2.0", topic="t", tags=("t",), question=question,
            names=names,
        )  # fmt: skip
        finding = asyncio.run(InstalledDocs(tmp_path / "cache").query(query, SourceContext(project())))
        found = [("installed_docs", finding)]
        draft = draft_of(query, found)
        score = Evidence().score(query, found, draft)
        shown = told_with_doubt(query, found, draft, score)
        report = Report(
            query=query, research_date=date(2026, 1, 2), score=score, draft=shown,
            sources=tuple(
                Attribution(url=url, via="installed_docs", finding="verified via official docs")
                for url in dict.fromkeys(one.url for one in shown.citations)
            ),
        )  # fmt: skip
        evidence = json.loads(json.dumps(evidence_of(report, query, "r.md")))
        assert verify(Markdown(()).render(report), evidence) == []
        return summary_text(shown), score.level

    return asking
