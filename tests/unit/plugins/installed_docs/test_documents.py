"""Which documentation files of a package are read, in which order, and what is left out."""

import json

import pytest

from kr_core.project.project import LocalProject
from kr_plugins.sources.installed_docs import shipped_documents
from kr_plugins.sources.installed_docs.material import find
from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget
from kr_plugins.sources.installed_docs.shipped_documents import read_documents

pytestmark = pytest.mark.req("A7")
LINE = "Cranes lift crates onto the ships, one after the other.\n"


@pytest.fixture
def crate(tmp_path):
    """Writes files of the package `crate` and reads its documents."""

    def writing(*paths, text=LINE):
        for path in paths:
            file = tmp_path / "crate" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# {file.stem}\n\n{text}")
        return tmp_path / "crate"

    return writing


def read(folder, within=None):
    found = read_documents(folder, "crate/", "crate", within)
    return [text.path.removeprefix("crate/") for text in found.texts], found.notes


def test_all_that_a_package_ships_is_read(crate):
    """Guides, `docs`, `dist/docs`, texts for agents, skills and the changelog; the changelog last."""
    paths = [
        "MIGRATION_GUIDE.md", "AGENTS.md", "llms.txt", "docs/use.md", "docs/deep/more.mdx", "dist/docs/api.md",
        ".agents/skills/crate/SKILL.md", "skills/pack/SKILL.md", "CHANGELOG.md",
    ]  # fmt: skip
    found, notes = read(crate(*paths))
    assert sorted(found) == sorted(paths)
    assert (found[0], found[-1]) == ("MIGRATION_GUIDE.md", "CHANGELOG.md")
    assert notes == []


def test_what_documents_no_use_is_left_out(crate):
    """Licences, translations, tests, other texts, and the README, which is read apart."""
    folder = crate(
        "LICENSE.md", "README.md", "CONTRIBUTING.md", "notes.txt", "docs/zh-CN/use.md", "docs/tests/use.md", "src/use.md",
        "docs/data.json", "docs/use.md", "docs/go/use.md",
    )  # fmt: skip
    assert read(folder)[0] == ["docs/use.md", "docs/go/use.md"]


def test_beyond_the_limit_help_with_errors_and_upgrades_stays(crate, monkeypatch):
    """What is left out is counted and told; troubleshooting and migration pages are read before all others."""
    monkeypatch.setattr(shipped_documents, "MAX_TEXTS", 3)
    folder = crate(
        "CHANGELOG.md", "docs/a.md", "docs/b.md", "docs/z/troubleshooting.md", "docs/z/upgrading-to-5.md"
    )
    found, notes = read(folder)
    assert found == ["docs/z/troubleshooting.md", "docs/z/upgrading-to-5.md", "docs/a.md"]
    assert notes == ["crate: 2 of 5 documentation files left out"]


def test_the_title_of_front_matter_is_the_pages(crate):
    """Front matter gives the title and is no text; lines are counted from the file's beginning."""
    folder = crate("docs/use.md")
    (folder / "docs/use.md").write_text(f"---\ntitle: 'How to lift'\nnav: lift\n---\n\n{LINE}")
    [text] = read_documents(folder, "crate/", "crate", None).texts
    assert (text.title, text.first_line, text.text) == ("How to lift", 5, f"\n{LINE}")


def test_a_changelog_is_read_from_its_beginning(crate):
    """A long one is cut after its newest versions; its sections count less than documentation."""
    folder = crate("CHANGELOG.md", text=LINE * 5000)
    [text] = read_documents(folder, "crate/", "crate", None).texts
    assert len(text.text) <= 100_000


def test_a_package_of_python_has_its_documents_too(install, project):
    """`docs` and skills inside a package of Python are passages with the places of their sections."""
    install("crate", {"crate/__init__.py": "", "crate/docs/lifting.md": f"# Lifting\n\n## Cranes\n\n{LINE}"})
    passages, _notes = find("crate", project()).material.passages(lambda _done, _all: None, ReadingBudget())
    assert [(one.title, one.locator) for one in passages] == [
        ("lifting § Lifting § Cranes", "crate/docs/lifting.md:5")
    ]


def test_the_readmes_of_what_an_npm_package_uses_are_read_to_depth_two(tmp_path):
    """They are a material of their own, each under the name of its package; what is deeper is left out."""
    chain = {"crate": "crane", "crane": "hook", "hook": "steel", "steel": None}
    for name, needs in chain.items():
        folder = tmp_path / "node_modules" / name
        folder.mkdir(parents=True)
        data = {"name": name, "version": "1.0.0", "dependencies": {needs: "*"} if needs else {}}
        (folder / "package.json").write_text(json.dumps(data))
        (folder / "README.md").write_text(f"# {name}\n\n## Using {name}\n\n{LINE}")
    located = find("crate", LocalProject(tmp_path, tmp_path, {}, own_prefix=None))
    [readmes] = located.dependencies()
    passages, _notes = readmes.material.passages(lambda _done, _all: None, ReadingBudget())
    assert {one.data["url"] for one in passages} == {"pkg:npm/crane@1.0.0", "pkg:npm/hook@1.0.0"}
    assert passages[0].title.startswith("crane § ")
    before = readmes.material.fingerprint
    (tmp_path / "node_modules/hook/package.json").write_text('{"name": "hook", "version": "2.0.0"}')
    assert located.dependencies()[0].material.fingerprint != before
