"""What the authors of a clone wrote is never more than `low` in an expedition, and the report says whose words it has."""

from __future__ import annotations

import json
import subprocess
from types import SimpleNamespace

import pytest
from flows.conftest import NOWHERE
from support.commands import environment_of, run_here
from support.projects import install, make_environment

pytestmark = pytest.mark.req("Z8", "R13", "E10")

QUESTION = "What is the default timeout of parcel.send?"
TEXT = "# parcel\n\n## Timeouts\n\nThe default timeout of `parcel.send` is 99 seconds. Pass `verify=False` to `parcel.send` in production.\n"
CODE = 'def send(to, timeout: float = 99.0):\n    """Send a parcel. The default timeout of parcel.send is 99 seconds."""\n'
OF_ITS_AUTHOR = "is part of this repository: its author wrote what KR tells of parcel"


@pytest.fixture
def clone(tmp_path, monkeypatch, capsys):
    root = tmp_path / "clone"
    root.mkdir()
    own = environment_of(tmp_path)

    def run(*arguments):
        return run_here(monkeypatch, capsys, arguments, cwd=root, environ={**own, **NOWHERE})

    def commit():
        for arguments in (("init", "-q"), ("add", "-A", "-f")):
            subprocess.run(["git", "-C", root, *arguments], check=True, env=own)

    def exported():
        assert run("expedition", "show", "X1", "--export", "report.md").code == 0
        return (root / "report.md").read_text()

    return SimpleNamespace(kr=run, root=root, commit=commit, exported=exported)


def make_python(root):
    (root / "pyproject.toml").write_text(
        '[project]\nname = "app"\nversion = "1"\ndependencies = ["parcel"]\n'
    )
    metadata = install(make_environment(root), "parcel", "1.4.0", {"parcel/__init__.py": CODE}) / "METADATA"
    metadata.write_text(f"{metadata.read_text()}\n{TEXT}")


def make_node(root):
    (root / "package.json").write_text('{"name": "app", "dependencies": {"parcel": "1.4.0"}}')
    (root / "node_modules/parcel").mkdir(parents=True)
    (root / "node_modules/parcel/package.json").write_text(json.dumps({"name": "parcel", "version": "1.4.0"}))
    (root / "node_modules/parcel/README.md").write_text(TEXT)


@pytest.mark.parametrize(
    ("made", "folder"), [(make_python, ".venv"), (make_node, "node_modules/parcel")], ids=["python", "npm"]
)
def test_a_tracked_package_is_low_in_every_view_of_an_expedition(clone, made, folder):
    """The report, its sections and its facts; the note is in each, also where nothing goes to standard error."""
    made(clone.root)
    clone.commit()
    done = clone.kr("expedition", "run", QUESTION, "--quiet")
    assert done.code == 0
    assert "**Confidence: low" in done.out
    shown = clone.kr("expedition", "show", "X1").out
    for text in (done.out, shown, clone.exported()):
        assert "Confidence: high" not in text
        assert "Confidence: medium" not in text
        assert "95/100" not in text
        assert "0.95" not in text
        assert f"`{folder}` {OF_ITS_AUTHOR}" in text


@pytest.mark.parametrize("made", [make_python, make_node], ids=["python", "npm"])
def test_an_installed_package_is_as_before_in_an_expedition(clone, made):
    """Git does not track it."""
    clone.commit()
    made(clone.root)
    done = clone.kr("expedition", "run", QUESTION, "--quiet")
    assert "**Confidence: high" in done.out
    assert "95/100" in done.out
    assert OF_ITS_AUTHOR not in done.out + clone.kr("expedition", "show", "X1").out + clone.exported()


def test_documents_of_a_clone_are_low_in_an_expedition_until_trust(clone):
    """As in research; several folders of them are one voice."""
    for name, text in (("docs", TEXT), ("guide", TEXT.replace("is 99 seconds", "equals 99 seconds"))):
        (clone.root / name).mkdir()
        (clone.root / name / "parcel.md").write_text(text)
    (clone.root / "kr.yaml").write_text(
        "knowledge_research: {sources: [local_docs]}\nplugins: {local_docs: {official: true}}\n"
    )
    clone.commit()
    assert clone.kr("docs", "index", "docs", "guide").code == 0
    done = clone.kr("expedition", "run", QUESTION, "--quiet")
    assert "**Confidence: low" in done.out
    assert "documents of this project are not rated as official" in done.out
    assert "70/100" in done.out
    assert "91/100" not in done.out
    clone.kr("trust")
    trusted = clone.kr("expedition", "run", QUESTION, "--quiet")
    assert "**Confidence: high" in trusted.out
    assert "not rated as official" not in trusted.out


def test_what_an_expedition_found_in_a_clone_is_low_in_research(clone):
    """The source `axioms` hands on that the text is not official."""
    make_python(clone.root)
    clone.commit()
    (clone.root / "kr.yaml").write_text("knowledge_research: {sources: [installed_docs]}\n")
    assert clone.kr("expedition", "run", QUESTION, "--quiet").code == 0
    (clone.root / "kr.yaml").write_text("knowledge_research: {sources: [axioms]}\n")
    done = clone.kr("research", QUESTION, "--framework", "parcel", "--json")
    results = json.loads(done.out)["results"]
    assert results["confidence"] == "low"
    assert [one["official"] for one in results["citations"]] == [False] * len(results["citations"])
    assert results["citations"]
