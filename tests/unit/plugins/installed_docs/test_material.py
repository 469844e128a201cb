"""What there is to read about a framework."""

import sys

import pytest

from kr_core.project.project import LocalProject
from kr_plugins.sources.installed_docs.material import find, own_name
from kr_plugins.sources.installed_docs.package_index import python_files
from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

CODE = "def load(): 'Load it from a stream.'\n"


def modules(found):
    return sorted(name for root, top in found.material.roots for _file, name in python_files(root, top))


@pytest.mark.req("K9")
@pytest.mark.parametrize("asked", ["PyYAML", "pyyaml", "yaml", "YAML"])
def test_distributions_and_imports_have_names_of_their_own(install, project, asked):
    """`PyYAML` is imported as `yaml`: both names find it, with the same material."""
    install("PyYAML", {"yaml/__init__.py": CODE, "_yaml/__init__.py": ""}, version="6.0.1")
    found = find(asked, project())
    assert (found.material.label, found.material.version) == ("pyyaml", "6.0.1")
    assert found.origin.url == "pkg:pypi/pyyaml@6.0.1"
    assert found.where == ".venv"
    assert "yaml" in found.names
    assert modules(found) == ["_yaml", "yaml"]


def test_what_is_not_installed_is_not_found(install, project):
    install("box", {"box/__init__.py": CODE})
    assert find("crate", project()) is None
    assert find("../box", project()) is None
    assert find("", project()) is None


def test_a_module_alone_is_a_distribution(install, project):
    install("six", {"six.py": CODE})
    assert modules(find("six", project())) == ["six"]


def test_a_namespace_package_is_read(install, project):
    """A folder without `__init__.py` that several distributions share is read."""
    install("acme-box", {"acme/box/__init__.py": CODE})
    assert "acme.box" in modules(find("acme-box", project()))


def test_an_editable_install_is_read_where_it_lies(install, project, site, tmp_path):
    """A `.pth` file names the folder; an edit there makes another fingerprint."""
    source = tmp_path / "work/src"
    (source / "box").mkdir(parents=True)
    (source / "box/__init__.py").write_text(CODE)
    (site / "__editable__.box.pth").write_text(f"{source}\n")
    install("box", {}, record=["__editable__.box.pth"])
    found = find("box", project())
    assert modules(found) == ["box"]
    assert found.material.base == source
    (source / "box/__init__.py").write_text(CODE * 2)
    assert find("box", project()).material.fingerprint != found.material.fingerprint


@pytest.mark.req("R9")
def test_compiled_modules_without_source_are_an_honest_no(install, project):
    """Only `.so` files: nothing is read but the README, and a note says why."""
    install("fast", {"fast/core.so": b"\x7fELF"}, readme="# Fast\n\nHow to be fast with this package.\n")
    found = find("fast", project())
    assert (found.material.roots, len(found.material.texts)) == ([], 1)
    assert found.material.notes == ["fast: compiled modules without stubs, only the README could be read"]


def test_stubs_speak_for_compiled_modules(install, project):
    install("fast", {"fast/core.so": b"\x7fELF", "fast/core.pyi": "def go(x: int) -> int: ...\n"})
    found = find("fast", project())
    assert (modules(found), found.material.notes) == (["fast.core"], [])


def test_a_readme_is_cited_in_its_metadata(install, project):
    """The long description's lines are those of METADATA."""
    folder = install("box", {"box/__init__.py": CODE}, readme="# Box\n\nHow to use the box.\n")
    text = find("box", project()).material.texts[0]
    assert (text.title, text.path) == ("README", "box-1.2.0.dist-info/METADATA")
    lines = (folder / "METADATA").read_text().split("\n")
    assert lines[text.first_line - 1] == "# Box"


def test_texts_of_a_package_are_read_but_for_licences(install, project):
    """Markdown at the top of a package belongs to it; what is no text is left out."""
    install(
        "box",
        {
            "box/__init__.py": CODE,
            "box/GUIDE.md": "# Guide\n\nThings are put into the box from above.\n",
            "box/LICENSE.md": "MIT",
            "box/bad.md": b"\xff\xfe\0",
        },
    )
    passages, notes = find("box", project()).material.passages(lambda _done, _all: None, ReadingBudget())
    assert [passage.title for passage in passages if passage.kind == "section"] == ["GUIDE § Guide"]
    assert notes == ["box: 1 of 2 documentation files left out"]


@pytest.mark.req("K9")
@pytest.mark.parametrize("asked", ["python", "Python", "python3"])
def test_the_standard_library_is_that_of_the_project(tmp_path, asked):
    """The project's interpreter decides; its compiled modules are described where KR runs on the same minor version."""
    prefix = tmp_path / ".venv"
    (tmp_path / "base/bin").mkdir(parents=True)
    (tmp_path / "base/lib/python3.10/json").mkdir(parents=True)
    (tmp_path / "base/lib/python3.10/os.py").write_text(CODE)
    (tmp_path / "base/lib/python3.10/json/__init__.py").write_text(CODE)
    (tmp_path / "base/lib/python3.10/_private.py").write_text(CODE)
    (prefix / "lib/python3.10/site-packages").mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text(f"home = {tmp_path}/base/bin\nversion_info = 3.10.9\n")
    found = find(asked, LocalProject(tmp_path, tmp_path, {}, own_prefix=None))
    assert (found.material.version, found.where) == ("3.10.9", ".venv")
    assert modules(found) == ["json", "os"]
    assert not found.material.compiled


def test_without_an_environment_the_standard_library_is_kr_s_own(tmp_path):
    found = find("python", LocalProject(tmp_path, tmp_path, {}, own_prefix=None))
    assert found.material.version == ".".join(map(str, sys.version_info[:3]))
    assert found.material.compiled


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("How do I parse json?", ("json",)),
        ("How do I email a string in time?", ()),
        ("How do I use the time module?", ("time",)),
        ("What does time.sleep do?", ("time",)),
        ("What is `string` for?", ("string",)),
        ("Read json, then csv.", ("csv", "json")),
        ("What about my-json-thing?", ()),
    ],
)
def test_a_question_names_modules(tmp_path, question, named):
    """A module's name counts where it cannot be an everyday word."""
    found = find("python", LocalProject(tmp_path, tmp_path, {}, own_prefix=None))
    assert found.modules_in(question) == named


def test_the_project_s_own_documentation_is_read(tmp_path, project):
    """README and `docs/` of the project itself, under the name in its pyproject.toml."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "My_Box"\n')
    (tmp_path / "README.md").write_text("# Mine\n")
    (tmp_path / "docs/deep").mkdir(parents=True)
    (tmp_path / "docs/deep/guide.rst").write_text("Guide\n=====\n")
    (tmp_path / "docs/bad.md").write_bytes(b"\xff\0")
    found = find("my-box", project())
    assert [text.path for text in found.material.texts] == ["README.md", "docs/deep/guide.rst"]
    assert (found.where, found.origin.version) == ("this project", None)
    before = found.material.fingerprint
    (tmp_path / "README.md").write_text("# Mine, changed\n")
    assert find("my-box", project()).material.fingerprint != before


def test_a_project_without_documentation_knows_nothing_of_itself(tmp_path, project):
    assert find(tmp_path.name, project()) is None


@pytest.mark.parametrize("text", [None, "[project", "[project]\nname = 3\n", "project = 3\n", b"\xff"])
def test_a_project_without_a_name_has_its_folder_s(tmp_path, text):
    """Whatever stands in pyproject.toml, the project has a name."""
    if text is not None:
        (tmp_path / "pyproject.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert own_name(tmp_path) == tmp_path.name
