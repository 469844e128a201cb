"""Where a question is looked up: the packages that it names, or those that describe themselves so."""

import pytest
from support.projects import install, make_environment

from kr_core.project.project import LocalProject
from kr_core.question.packages import subjects_of

PACKAGES = {
    "parcel": "Send parcels and follow them, for asyncio.",
    "lantern": "A lightweight web framework with streaming responses.",
    "beacon": "A web framework for building APIs with server-sent events.",
    "tokens": "Reads tokens from a stream.",
}


@pytest.fixture
def project(tmp_path):
    site = make_environment(tmp_path)
    for name, summary in PACKAGES.items():
        folder = install(site, name, "1.0", {f"{name}/__init__.py": ""})
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nSummary: {summary}\n"
        )
    return LocalProject(tmp_path, tmp_path, {}, own_prefix=None)


@pytest.mark.req("E1")
@pytest.mark.parametrize(
    ("question", "named", "subjects"),
    [
        ("How do I send a parcel with parcel?", "parcel", ["parcel"]),
        ("How do lantern and beacon differ?", "lantern", ["lantern", "beacon"]),
        ("Which Python web framework has server-sent events?", "", ["beacon"]),
        ("How does `asyncio.TaskGroup` cancel its tasks?", "python", ["python"]),
        ("How is brass polished?", "", []),
    ],
)
def test_where_it_looks(project, question, named, subjects):
    """A library that is named is looked in alone; else those whose summary speaks of the question; Python where a module is named."""
    assert subjects_of(question, project) == (named, subjects)


@pytest.mark.req("E1")
def test_what_only_the_sources_say(project, tmp_path):
    """A package that is near the question and whose sources speak of what it spells as a name is looked in too."""
    question = "Which Python web framework has server-sent events?"
    source = next(tmp_path.rglob("lantern/__init__.py"))
    source.write_text("class ServerSentEvent:\n    pass\n")
    assert subjects_of(question, project) == ("", ["beacon", "lantern"])
    source.write_text("class SentServer:\n    pass\n")
    assert subjects_of(question, project) == ("", ["beacon"])
    source.unlink()
    assert subjects_of(question, project) == ("", ["beacon"])


@pytest.mark.req("E1")
@pytest.mark.parametrize(
    ("inside", "own", "subjects"),
    [(False, False, ["beacon"]), (True, False, ["lantern", "beacon"]), (False, True, [])],
)
def test_what_is_installed_for_kr_alone(tmp_path, inside, own, subjects):
    """KR and what it requires, in an environment outside of the project, are looked in only where the question names them."""
    folder = tmp_path / "project"
    folder.mkdir()
    site = make_environment(folder if inside else tmp_path / "tools")
    packages = {**PACKAGES, "kr-core": "Answers of web frameworks to events."}
    for name, summary in packages.items():
        metadata = install(site, name, "1.0", {}) / "METADATA"
        required = "Requires-Dist: Lantern>=1\nRequires-Dist: tokens\n" if name == "kr-core" else ""
        metadata.write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nSummary: {summary}\n{required}"
        )
    prefix = next(parent for parent in site.parents if (parent / "pyvenv.cfg").exists())
    environ = {} if own or inside else {"VIRTUAL_ENV": str(prefix)}
    project = LocalProject(folder, folder, environ, own_prefix=prefix if own else None)
    _named, found = subjects_of("Which web frameworks are there?", project)
    assert sorted(found) == sorted(subjects)
    assert subjects_of("How do I use the lantern library?", project) == ("lantern", ["lantern"])
